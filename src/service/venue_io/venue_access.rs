//! Access to the venue within the request budget.

use std::sync::{Arc, Mutex};

use super::info_cache::InfoCache;
use crate::base::address::Address;
use crate::base::clock::steady_ms;
use crate::base::ip_share::{IP_BUDGET, SMALLEST_BUDGET};
use crate::base::sync::lock;
use crate::faults::Faults;
use crate::service::metrics::Metrics;
use crate::venue::client::Client;
use crate::venue::weight::{Denied, Priority};
use crate::venue::weight_ledger::Ledger;

/// Shared by all that call the venue.
#[derive(Clone)]
pub(in crate::service) struct VenueAccess {
    pub(in crate::service) client: Arc<Client>,
    pub(in crate::service) budget: Arc<Mutex<Ledger>>,
    pub(in crate::service) cache: Arc<InfoCache>,
    pub(in crate::service) metrics: Arc<Metrics>,
    /// Makes calls fail, in builds that can.
    pub(in crate::service) faults: Faults,
}

impl VenueAccess {
    /// Spends weight, if there is any left for this priority.
    pub(in crate::service) fn try_spend(&self, priority: Priority, weight: u32) -> Result<(), Denied> {
        lock(&self.budget).try_spend(priority, None, weight, steady_ms())
    }

    /// The same for a client, within its share of what is kept for clients.
    pub(in crate::service) fn try_spend_for(
        &self,
        client: Option<&Address>,
        priority: Priority,
        weight: u32,
    ) -> Result<(), Denied> {
        lock(&self.budget).try_spend(priority, client, weight, steady_ms())
    }

    /// Spends weight beyond the share, as long as half of the address's whole budget is not reached: what an earlier life
    /// spent must not make this one blind, and one start after another must not use the address up. A life that has seen
    /// nothing yet, and the steady reads at their own pace, which is a sixteenth of that budget at most where the share is
    /// small, may take what is left of it but for an eighth.
    pub(in crate::service) fn overdraw(&self, weight: u32, keeps_sight: bool) -> bool {
        let (mut budget, now_ms) = (lock(&self.budget), steady_ms());
        let used = budget.used(now_ms);
        let has_room = if keeps_sight { leaves_an_eighth(used, weight) } else { leaves_half(used, weight) };
        if has_room {
            budget.charge(Priority::Read, None, weight, now_ms);
        }
        has_room
    }

    /// Whether this service leaves half of the address's whole budget with so much more: what a start or an earlier life
    /// spent holds up no stop and no close.
    pub(in crate::service) fn is_address_free_for(&self, weight: u32) -> bool {
        leaves_half(lock(&self.budget).used(steady_ms()), weight)
    }

    /// Spends weight for what must come some time although nothing is kept for it.
    pub(in crate::service) fn try_claim(&self, weight: u32) -> Result<(), Denied> {
        lock(&self.budget).try_claim(weight, steady_ms())
    }

    /// Books weight that was spent already, or must be.
    pub(in crate::service) fn charge(&self, priority: Priority, weight: u32) {
        lock(&self.budget).charge(priority, None, weight, steady_ms());
    }
}

fn leaves_an_eighth(used: u32, weight: u32) -> bool {
    used.saturating_add(weight) <= IP_BUDGET - SMALLEST_BUDGET
}

fn leaves_half(used: u32, weight: u32) -> bool {
    used.saturating_add(weight) <= IP_BUDGET / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_address_is_left_to_others() {
        assert!(leaves_half(0, 1) && leaves_half(599, 1));
        assert!(!leaves_half(600, 1) && !leaves_half(u32::MAX, 1));
    }

    #[test]
    fn an_eighth_of_the_address_is_left_by_what_the_guard_sees_by() {
        assert!(leaves_an_eighth(600, 2) && leaves_an_eighth(1_048, 2));
        assert!(!leaves_an_eighth(1_049, 2) && !leaves_an_eighth(u32::MAX, 1));
    }
}
