//! How the send of one action ended, as far as it is known.

use crate::guard::code::Code;
use crate::guard::input::SendOutcome;
use crate::venue::reply::{Reply, Status};
use serde_json::Value;

/// How an action ended, as far as it is known.
pub(crate) enum SendResult {
    Answered(Reply, Value),
    /// By a code, where there was no room for it.
    NotSent(Option<Code>, String),
    Unknown(String),
}

impl SendResult {
    pub(crate) fn of(outcome: SendOutcome) -> Self {
        match outcome {
            SendOutcome::Answered(value) => match Reply::read(&value) {
                Some(reply) => SendResult::Answered(reply, value),
                None => SendResult::Unknown(format!("an answer that cannot be read: {value}")),
            },
            SendOutcome::NotSent(text) => SendResult::NotSent(None, text),
            SendOutcome::NoRoom(code, text) => SendResult::NotSent(Some(code), text),
            SendOutcome::Unrecorded(error) => {
                SendResult::NotSent(None, format!("the event that names it is not on disk: {error}"))
            }
            SendOutcome::NoAnswer(text) => SendResult::Unknown(text),
        }
    }

    /// Whether the venue filled an order of it, as far as that is known.
    pub(crate) fn may_have_filled(&self) -> bool {
        match self {
            SendResult::Answered(Reply::Statuses(statuses), _) => {
                statuses.iter().any(|status| matches!(status, Status::Filled(..) | Status::Other))
            }
            SendResult::Answered(..) | SendResult::NotSent(..) => false,
            SendResult::Unknown(_) => true,
        }
    }
}
