//! Actions of an earlier life without an answer: what they may still fill, or bring to rest.

use super::key::{Phase, SentKey};
use super::ledger::SentOrders;
use super::order::{MatchedBy, SentOrder};
use super::trigger::SentTrigger;
use crate::guard::state::earlier_stops::EarlierStops;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::action::Action;

impl SentOrders {
    /// Reserves what an action of an earlier life could still fill. Its cancels are in the first reads or nowhere, and so are
    /// its stops as cover: counted here, they would keep a position bare. Its clients' triggers count as orders that rest.
    pub(crate) fn reserve_recovered(&mut self, (intent, index): (u64, usize), action: &Action, stops: &EarlierStops) {
        // What a modify replaces carries the same id, and nobody remembers what the open orders showed before.
        let is_modify = matches!(action, Action::Modify { .. } | Action::BatchModify { .. });
        for (slot, order) in action.orders().enumerate() {
            let key = SentKey { intent, index, slot };
            if order.is_trigger() {
                let is_own = order.cloid.as_ref().is_some_and(is_guard_stop);
                self.triggers.extend((!is_own).then(|| SentTrigger::new(key, order, None, 0)));
                continue;
            }
            let others = self.orders.iter().filter(|other| other.cloid == order.cloid);
            let others = others.filter_map(|other| other.oid).collect();
            let matched_by = if is_modify { MatchedBy::Nothing } else { MatchedBy::CloidSince(0, others) };
            self.orders.push(SentOrder::new(key, order, stops.of(order), matched_by));
        }
    }

    /// Takes in that what is not known of an action by now never will be: of its triggers the next read of the orders tells.
    pub(crate) fn given_up(&mut self, key: (u64, usize), now_ms: u64) {
        let unanswered = self.triggers.iter_mut().filter(|trigger| trigger.key.is_of(key));
        unanswered.for_each(|trigger| trigger.phase = Phase::Accepted(now_ms));
    }
}
