//! Access to the venue within the request budget.

use std::sync::{Arc, Mutex};

use super::info_cache::InfoCache;
use crate::base::address::Address;
use crate::base::clock::steady_ms;
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

    /// Books weight that was spent already, or must be.
    pub(in crate::service) fn charge(&self, priority: Priority, weight: u32) {
        lock(&self.budget).charge(priority, None, weight, steady_ms());
    }
}
