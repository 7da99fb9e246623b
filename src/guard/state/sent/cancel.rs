//! A cancel that was sent and may take an order away, although the last reads still show it.

use super::key::{Moment, SentKey};
use crate::base::address::Cloid;
use crate::venue::action::{Action, Target};

/// What the venue says of a cancel for which nothing rests.
pub(super) const NOT_THERE: &str = "never placed, already canceled, or filled";

/// A cancel, or the part of a modify that takes the old order away.
#[derive(Debug, Clone)]
pub(crate) struct SentCancel {
    pub(crate) key: SentKey,
    /// By client order id it takes whatever carries that id when it arrives, also what nobody has seen yet.
    pub(crate) target: Target,
    /// When it was decided on.
    pub(super) sent_ms: u64,
    /// When the venue took it; an orders read begun since shows what became of the order.
    pub(crate) accepted_ms: Option<u64>,
    /// When the venue said that it took the order away: what that did is in any account read begun since.
    pub(crate) done: Option<Moment>,
}

impl SentCancel {
    /// Whether it takes the order with these ids away.
    pub(crate) fn takes(&self, oid: u64, cloid: Option<Cloid>) -> bool {
        match self.target {
            Target::Oid(target) => target == oid,
            Target::Cloid(target) => Some(target) == cloid,
        }
    }
}

/// What an action takes away, in its order.
pub(crate) fn targets(action: &Action) -> Vec<Target> {
    match action {
        Action::Modify { modify, .. } => vec![modify.target],
        Action::BatchModify { modifies, .. } => modifies.iter().map(|modify| modify.target).collect(),
        Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| Target::Oid(cancel.oid)).collect(),
        Action::CancelByCloid { cancels, .. } => cancels.iter().map(|cancel| Target::Cloid(cancel.cloid)).collect(),
        _ => Vec::new(),
    }
}
