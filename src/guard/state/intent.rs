//! An intent: the actions that one event named, and how far sending them has come.

use crate::base::address::Address;
use crate::guard::effects::{Command, SendAction, Urgency};
use crate::guard::state::merged_reply::MergedReply;
use crate::record::reply_summary::Summary;
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::reply::{Reply, Status};
use crate::venue::signing::Terms;

/// What is forwarded is refused by the venue after this: nothing lands late.
pub(crate) const FORWARD_LIFE_MS: u64 = 15_000;

/// An event whose actions are being sent.
#[derive(Debug)]
pub(crate) struct Intent {
    pub(crate) actions: Vec<Planned>,
    /// The client that waits, until it is answered.
    pub(crate) waiting: Option<PendingReply>,
    pub(crate) urgency: Urgency,
    /// The client that it is sent for; none for the guard's own.
    pub(crate) client: Option<Address>,
    /// The action that is sent or waits for its answer.
    pub(crate) at: usize,
    /// What became of `forward`, once it was answered.
    pub(crate) forwarded: Option<Reply>,
    /// The action in doubt whose nonce this one burns.
    pub(crate) settles: Option<(u64, usize)>,
}

/// A client that waits for the venue's answer.
#[derive(Debug)]
pub(crate) struct PendingReply {
    pub(crate) request: u64,
    /// The client's own orders: the first so many of `forward`.
    pub(crate) orders: usize,
    pub(crate) summary: Summary,
    /// What a first answer already says, where some orders were sent again.
    pub(crate) merge: Option<MergedReply>,
}

/// One action of an intent.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) role: Role,
    pub(crate) action: Action,
    pub(crate) node: Node,
    pub(crate) terms: Terms,
}

/// What an action is for, and when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// First; its failure stops the rest, but for what only reduces.
    Pre,
    /// The client's own.
    Forward,
    /// Only if the order at this place of `forward` was accepted.
    Post(usize),
    /// The guard's own, whatever became of the one before.
    Guard,
}

impl Intent {
    pub(crate) fn new(actions: Vec<Planned>, waiting: Option<PendingReply>, urgency: Urgency) -> Self {
        Self { actions, waiting, urgency, client: None, at: 0, forwarded: None, settles: None }
    }

    /// The same, sent for this client.
    pub(crate) fn for_client(self, client: Option<Address>) -> Self {
        Self { client, ..self }
    }

    /// The send of the action at `index`.
    pub(crate) fn send(&self, intent: u64, index: usize) -> Option<Command> {
        let planned = self.actions.get(index)?;
        Some(Command::Send(SendAction {
            intent,
            index,
            action: planned.node.clone(),
            terms: planned.terms,
            batch_len: planned.action.batch_len(),
            urgency: self.urgency,
            client: self.client,
        }))
    }

    /// The next action to send after `index`, given what became of `forward`.
    pub(crate) fn next(&self, index: usize) -> Option<usize> {
        self.actions.iter().enumerate().skip(index.saturating_add(1)).find_map(|(next, planned)| {
            let wanted = match (planned.role, &self.forwarded) {
                (Role::Pre | Role::Forward | Role::Guard, _) => true,
                (Role::Post(place), Some(reply)) => match reply.status(place) {
                    Status::Error(_) => false,
                    // It stands for nothing yet, so nothing may go for its sake.
                    Status::WaitingForFill => !matches!(planned.action, Action::Cancel { .. }),
                    _ => true,
                },
                (Role::Post(_), None) => false,
            };
            wanted.then_some(next)
        })
    }

    /// The next action where the one at `index` got no answer: what follows `forward`, and what the guard does of its
    /// own accord, does not hang on one another.
    pub(crate) fn next_after_failure(&self, index: usize) -> Option<usize> {
        let role = self.actions.get(index).map(|planned| planned.role);
        if matches!(role, Some(Role::Post(_) | Role::Guard)) { self.next(index) } else { None }
    }
}
