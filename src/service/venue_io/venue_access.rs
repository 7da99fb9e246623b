//! Access to the venue within the request budget.

use std::sync::{Arc, Mutex};

use super::info_cache::InfoCache;
use crate::base::address::Address;
use crate::base::clock::steady_ms;
use crate::base::ip_share::IP_BUDGET;
use crate::base::sync::lock;
use crate::faults::Faults;
use crate::service::metrics::Metrics;
use crate::venue::client::Client;
use crate::venue::weight::{Denied, Priority};
use crate::venue::weight_ledger::{Claim, Ledger, OnWay};

/// What is left of the address's whole budget by whoever spends beyond the share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::service) enum Leaves {
    /// By most: what an earlier life spent must not make this one blind, and one start after another must not use the
    /// address up.
    Half,
    /// By a life that has seen nothing yet, and by the steady reads at their own pace, which is a sixteenth of that budget at
    /// most where the share is small.
    Eighth,
    /// By the prices and the account at their own pace: whoever sees neither can use nothing else that is kept. It is what all
    /// that weighs more leaves, and they come more seldom in it.
    Nothing,
    /// By what ends a doubt or takes back what is over a limit: it is little, and reads that want all they can get must not
    /// keep it waiting for ever.
    Sixteenth,
}

impl Leaves {
    fn has_room(self, used: u32, weight: u32) -> bool {
        let left = match self {
            Self::Half => IP_BUDGET / 2,
            Self::Eighth => IP_BUDGET / 8,
            Self::Nothing => 0,
            Self::Sixteenth => IP_BUDGET / 16,
        };
        used.saturating_add(weight) <= IP_BUDGET - left
    }
}

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

    /// Spends weight beyond the share, as long as the address's whole budget keeps what must be left of it.
    pub(in crate::service) fn overdraw(&self, weight: u32, leaves: Leaves) -> bool {
        let (mut budget, now_ms) = (lock(&self.budget), steady_ms());
        let has_room = leaves.has_room(budget.used(now_ms), weight);
        if has_room {
            budget.charge(Priority::Read, None, weight, now_ms);
        }
        has_room
    }

    /// Whether this service leaves half of the address's whole budget with so much more: what a start or an earlier life
    /// spent holds up no stop and no close.
    pub(in crate::service) fn is_address_free_for(&self, weight: u32) -> bool {
        Leaves::Half.has_room(lock(&self.budget).used(steady_ms()), weight)
    }

    /// What the address has left of its whole budget, as far as this service knows.
    pub(in crate::service) fn left_of_address(&self) -> u32 {
        IP_BUDGET.saturating_sub(lock(&self.budget).used(steady_ms()))
    }

    /// Spends weight for what must come some time although nothing is kept for it.
    pub(in crate::service) fn try_claim(&self, weight: u32, claim: Claim) -> Result<(), Denied> {
        lock(&self.budget).try_claim(weight, claim, steady_ms())
    }

    /// Spends the weight of a client's question, and keeps what the length of its answer may add until that is settled.
    pub(in crate::service) fn try_ask(&self, priority: Priority, weight: u32, most: u32) -> Result<OnWay, Denied> {
        lock(&self.budget).try_ask(priority, weight, most, steady_ms())
    }

    /// Books what the length of an answer added; all that it could where none came.
    pub(in crate::service) fn settle(&self, asked: OnWay, weight: Option<u32>) {
        lock(&self.budget).settle(asked, weight, steady_ms());
    }

    /// Books weight that was spent already, or must be.
    pub(in crate::service) fn charge(&self, priority: Priority, weight: u32) {
        lock(&self.budget).charge(priority, None, weight, steady_ms());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_the_address_is_kept_exactly() {
        let all = [(Leaves::Half, 600), (Leaves::Eighth, 1_050), (Leaves::Sixteenth, 1_125), (Leaves::Nothing, 1_200)];
        for (leaves, most) in all {
            assert!(leaves.has_room(0, 1) && leaves.has_room(most - 2, 2) && leaves.has_room(most - 1, 1));
            assert!(!leaves.has_room(most - 1, 2) && !leaves.has_room(most, 1) && !leaves.has_room(u32::MAX, 1));
        }
    }
}
