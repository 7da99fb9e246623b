//! Requests that wait until something is read, and those of their orders that a cancel has named meanwhile: they go no more.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::address::Cloid;
use crate::guard::effects::Record;
use crate::venue::action::Action;

#[derive(Debug, Default)]
pub(super) struct Waiting {
    /// Requests that are not decided yet, with the client order ids of their orders.
    requests: BTreeMap<u64, Vec<Cloid>>,
    cancelled: BTreeSet<Cloid>,
}

impl Waiting {
    /// A client posts this.
    pub(super) fn posted(&mut self, request: u64, action: &Action) {
        if let Action::CancelByCloid { cancels, .. } = action {
            let waiting: BTreeSet<Cloid> = self.requests.values().flatten().copied().collect();
            self.cancelled.extend(cancels.iter().map(|cancel| cancel.cloid).filter(|cloid| waiting.contains(cloid)));
        }
        let ids: Vec<Cloid> = action.orders().filter_map(|order| order.cloid).collect();
        ids.iter().for_each(|cloid| _ = self.cancelled.remove(cloid));
        if !ids.is_empty() {
            self.requests.insert(request, ids);
        }
    }

    /// The guard writes this down.
    pub(super) fn note(&mut self, record: &Record) {
        record.decided.iter().for_each(|decided| _ = self.requests.remove(&decided.request));
    }

    /// Whether an order of this was cancelled while it waited.
    pub(super) fn has_cancelled(&self, action: &Action) -> bool {
        let mut ids = action.orders().filter(|order| !order.reduce_only).filter_map(|order| order.cloid);
        ids.any(|cloid| self.cancelled.contains(&cloid))
    }
}

/// A trigger that a decision tells of as attached and does not send.
pub(super) fn told_in_vain(record: &Record) -> Option<String> {
    record.decided?;
    let told = record.text.split("market stop attached at ").skip(1);
    let px = |rest: &str| rest.chars().take_while(|one| one.is_ascii_digit() || *one == '.').collect::<String>();
    told.map(px).find(|px| !record.text.contains(&format!("\"triggerPx\":\"{px}\"")))
}
