//! Orders that cancels are on their way for, or have taken: which of them a cancel names.

use super::cancel::SentCancel;
use super::ledger::SentOrders;
use crate::base::address::Cloid;
use crate::guard::state::view::{Resting, View};
use crate::venue::action::Target;

impl SentOrders {
    /// Whether a cancel of this order is on its way, or was taken since the orders were read.
    pub(crate) fn is_being_cancelled(&self, oid: u64, cloid: Option<Cloid>) -> bool {
        self.cancels.iter().any(|cancel| cancel.takes(oid, cloid))
    }

    /// Whether the venue said since that a cancel took it: a read may show it still.
    pub(crate) fn is_told_gone(&self, oid: u64, cloid: Option<Cloid>) -> bool {
        self.cancels.iter().any(|cancel| cancel.done.is_some() && cancel.takes(oid, cloid))
    }

    /// The first of them for an order whose id is not known yet.
    pub(crate) fn is_cloid_being_cancelled(&self, cloid: Option<Cloid>) -> bool {
        let names = |cancel: &SentCancel| matches!(cancel.target, Target::Cloid(target) if Some(target) == cloid);
        self.cancels.iter().any(names)
    }

    /// Whether a cancel is on its way that takes whatever gets the next order id of the venue's.
    pub(crate) fn may_cancel_next(&self, view: &View) -> bool {
        let may = |cancel: &SentCancel| matches!(cancel.target, Target::Oid(oid) if view.may_be_next(oid));
        self.cancels.iter().any(|cancel| cancel.accepted_ms.is_none() && may(cancel))
    }

    /// The open orders of which [`Self::is_being_cancelled`] holds.
    pub(crate) fn being_cancelled<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Resting> {
        let is_any = !self.cancels.is_empty();
        let orders = is_any.then(|| view.orders.values()).into_iter().flatten();
        orders.filter(|order| self.is_being_cancelled(order.oid, order.cloid))
    }
}
