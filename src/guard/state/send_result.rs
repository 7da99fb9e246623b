//! How the send of one action ended, as far as it is known.

use crate::guard::input::SendOutcome;
use crate::venue::reply::{Reply, Status};
use serde_json::Value;

/// How an action ended, as far as it is known.
pub(crate) enum Ending {
    Answered(Reply, Value),
    NotSent(String),
    Unknown(String),
}

impl Ending {
    pub(crate) fn of(outcome: SendOutcome) -> Self {
        match outcome {
            SendOutcome::Answered(value) => match Reply::read(&value) {
                Some(reply) => Ending::Answered(reply, value),
                None => Ending::Unknown(format!("an answer that cannot be read: {value}")),
            },
            SendOutcome::NotSent(text) => Ending::NotSent(text),
            SendOutcome::Unrecorded(error) => {
                Ending::NotSent(format!("the event that names it is not on disk: {error}"))
            }
            SendOutcome::NoAnswer(text) => Ending::Unknown(text),
        }
    }

    /// Whether the venue filled an order of it, as far as that is known.
    pub(crate) fn may_have_filled(&self) -> bool {
        match self {
            Ending::Answered(Reply::Statuses(statuses), _) => {
                statuses.iter().any(|status| matches!(status, Status::Filled(..) | Status::Other))
            }
            Ending::Answered(..) | Ending::NotSent(_) => false,
            Ending::Unknown(_) => true,
        }
    }
}
