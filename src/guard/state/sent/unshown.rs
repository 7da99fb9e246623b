//! Contradictions between what the venue said and what its reads show: a fill that no position shows, an order told to be
//! cancelled that goes on resting. Told of is only what nothing else could explain: an order that left the market meanwhile
//! may have filled, and so may one in doubt.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::key::Moment;
use super::order::{SHOWN_WITHIN_MS, SentOrder};
use crate::guard::state::view::{Resting, View};

/// As many fills and as many cancels are followed at most; the oldest go first.
const MOST: usize = 256;
/// A fill that is never shown is told of for so long: something else may have undone it in the same moment.
const TOLD_FOR_MS: u64 = 600_000;

/// What is followed until a read shows it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unshown {
    /// Fills that the venue told of and no position shows yet.
    pub(super) fills: Vec<SentOrder>,
    /// Markets whose position is not what the fills say.
    missing: BTreeMap<u32, Missing>,
    /// Orders that the venue said it cancelled, and when it did.
    cancelled: Vec<(u64, u64)>,
    /// Of these, those that it shows all the same: their market and since when that is wrong.
    lingering: BTreeMap<u64, (u32, u64)>,
    /// When an order last left a market's open orders.
    left_ms: BTreeMap<u32, u64>,
}

/// Fills of one market that are shown nowhere.
#[derive(Debug, Clone, Copy)]
struct Missing {
    /// Signed.
    size: Decimal,
    /// The position that is shown instead.
    position: Decimal,
    found_ms: u64,
    /// An orders read that began later shows nothing that explains it.
    is_sure: bool,
}

/// One contradiction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contradiction {
    /// So much, signed, was told to have filled in a market.
    Fill { asset: u32, size: Decimal },
    /// An order was told to be cancelled.
    Cancel { asset: u32, oid: u64 },
}

impl Unshown {
    /// Follows the fill of an order of which nothing else waits for the account any more.
    pub(super) fn follow(&mut self, order: SentOrder) {
        if !order.unmoved().is_zero() {
            push(&mut self.fills, order);
        }
    }

    /// Follows a cancel that the venue said it did.
    pub(super) fn on_cancelled(&mut self, oid: u64, now_ms: u64) {
        push(&mut self.cancelled, (oid, now_ms));
    }

    /// Takes in an account read, whose moves the fills have been told: a market whose fills it is late for and does not show
    /// is not as was said, unless something there is not known.
    pub(crate) fn on_account_read(&mut self, read: Moment, view: &View, now_ms: u64, is_unclear: impl Fn(u32) -> bool) {
        self.missing.retain(|asset, missing| {
            view.position(*asset) == missing.position && now_ms.saturating_sub(missing.found_ms) < TOLD_FOR_MS
        });
        let mut sums: BTreeMap<u32, (Decimal, bool)> = BTreeMap::new();
        for order in &self.fills {
            let (size, is_late) = sums.entry(order.asset).or_insert((Decimal::ZERO, true));
            *size = size.saturating_add(order.unmoved());
            *is_late &= order.is_late_for(read);
        }
        self.fills.retain(|order| !sums.get(&order.asset).is_some_and(|(size, is_late)| *is_late || size.is_zero()));
        for (asset, (size, is_late)) in sums {
            let has_left =
                self.left_ms.get(&asset).is_some_and(|at_ms| now_ms.saturating_sub(*at_ms) < SHOWN_WITHIN_MS);
            if is_late && !size.is_zero() && !has_left && !is_unclear(asset) {
                let position = view.position(asset);
                self.missing.insert(asset, Missing { size, position, found_ms: now_ms, is_sure: false });
            }
        }
    }

    /// Takes in an orders read; `left` is what it shows no more.
    pub(super) fn on_orders_read(&mut self, view: &View, left: &[Resting], begun_ms: u64, now_ms: u64) {
        // A stop that the venue said it cancelled did not fire.
        let has_fired =
            |order: &&Resting| !(order.is_trigger && self.cancelled.iter().any(|(oid, _)| *oid == order.oid));
        let left: Vec<&Resting> = left.iter().filter(has_fired).collect();
        for order in left {
            self.left_ms.insert(order.asset, now_ms);
            self.missing.remove(&order.asset);
        }
        self.left_ms.retain(|_, at_ms| now_ms.saturating_sub(*at_ms) < SHOWN_WITHIN_MS);
        self.missing.values_mut().for_each(|missing| missing.is_sure |= begun_ms > missing.found_ms);
        // A read that began before the cancel was answered tells nothing of it.
        self.cancelled.retain(|(oid, at_ms)| begun_ms < *at_ms || view.orders.contains_key(oid));
        self.lingering.retain(|oid, _| view.orders.contains_key(oid));
        for (oid, at_ms) in &self.cancelled {
            let due_ms = at_ms.saturating_add(SHOWN_WITHIN_MS);
            if let Some(order) = view.orders.get(oid).filter(|_| begun_ms >= due_ms) {
                self.lingering.insert(*oid, (order.asset, due_ms));
            }
        }
    }

    /// What stands, with since when.
    pub(crate) fn contradictions(&self) -> impl Iterator<Item = (Contradiction, u64)> {
        let fills = self.missing.iter().filter(|(_, missing)| missing.is_sure);
        let fills =
            fills.map(|(asset, missing)| (Contradiction::Fill { asset: *asset, size: missing.size }, missing.found_ms));
        let cancels = self.lingering.iter();
        fills.chain(
            cancels.map(|(oid, (asset, since_ms))| (Contradiction::Cancel { asset: *asset, oid: *oid }, *since_ms)),
        )
    }
}

fn push<T>(list: &mut Vec<T>, item: T) {
    if list.len() >= MOST {
        list.remove(0);
    }
    list.push(item);
}
