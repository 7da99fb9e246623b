//! The watch: what happens whenever something was read, answered or waited for. Everything that moves the account
//! without a client's asking starts here.

use std::collections::{BTreeMap, BTreeSet};

use rust_decimal::Decimal;

use super::care::Care;
use super::cover::InFlight;
use super::effect::{Deed, Effects, Read};
use super::flatten::Flatten;
use super::state::Guard;
use super::view::Resting;

/// A read that should settle a question is waited for this long; then what is known must do.
const MAX_WAIT_MS: u64 = 3_000;

/// What the watch keeps in mind.
#[derive(Debug, Default)]
pub(super) struct Watch {
    pub(super) in_flight: InFlight,
    pub(super) flatten: Flatten,
    /// The bare positions last told of in paper mode.
    pub(super) told_bare: BTreeSet<(u32, bool)>,
    care: BTreeMap<u32, Care>,
    /// When a market's position was last seen to change, and when one of its stops was last seen gone.
    changed_ms: BTreeMap<u32, u64>,
    gone_ms: BTreeMap<u32, u64>,
}

impl Watch {
    /// The efforts in one market.
    pub(super) fn care_of(&mut self, asset: u32) -> &mut Care {
        self.care.entry(asset).or_default()
    }

    /// The efforts in one market, if there are any.
    pub(super) fn care(&self, asset: u32) -> Option<&Care> {
        self.care.get(&asset)
    }

    /// Forgets the efforts in a market that needs none, but for what was learnt about its size.
    pub(super) fn settle(&mut self, asset: u32) {
        match self.care.get_mut(&asset) {
            Some(care) if care.dust.is_some() => care.settle(),
            Some(_) => drop(self.care.remove(&asset)),
            None => {}
        }
    }

    /// Sizes found too small to be closed, by market.
    pub(super) fn dust(&self) -> impl Iterator<Item = (u32, Decimal)> {
        self.care.iter().filter_map(|(asset, care)| Some((*asset, care.dust?)))
    }

    /// Markets with efforts.
    pub(super) fn cared_for(&self) -> Vec<u32> {
        self.care.keys().copied().collect()
    }
}

impl Guard {
    /// Takes note of positions that a read showed changed.
    pub(super) fn positions_changed(&mut self, effects: &mut Effects, changed: BTreeSet<u32>, now_ms: u64) {
        if !changed.is_empty() {
            self.risk.traded(now_ms);
            effects.at_once.push(Deed::Read(Read::OrdersNow));
        }
        self.watch.changed_ms.extend(changed.into_iter().map(|asset| (asset, now_ms)));
        let view = &self.view;
        let is_held = |asset: &u32| !view.position(*asset).is_zero();
        self.watch.changed_ms.retain(|asset, _| is_held(asset));
    }

    /// Takes note of orders that a read no longer showed, and has the account read to see what they did.
    pub(super) fn orders_vanished(&mut self, effects: &mut Effects, vanished: &[Resting], now_ms: u64) {
        if vanished.is_empty() {
            return;
        }
        self.risk.traded(now_ms);
        let view = &self.view;
        // Only a stop on the losing side can have taken the position along.
        let covered = |order: &&Resting| {
            let held = view.position(order.asset);
            order.stop_px.is_some() && if order.is_buy { held < Decimal::ZERO } else { held > Decimal::ZERO }
        };
        let gone: Vec<u32> = vanished.iter().filter(covered).map(|order| order.asset).collect();
        effects.at_once.push(Deed::Read(if gone.is_empty() { Read::Account } else { Read::AccountNow }));
        self.watch.gone_ms.extend(gone.into_iter().map(|asset| (asset, now_ms)));
        let is_held = |asset: &u32| !view.position(*asset).is_zero();
        self.watch.gone_ms.retain(|asset, _| is_held(asset));
    }

    /// Whether account and orders were read late enough to say whether a market's position is bare: a position seen to
    /// grow may have got its stop with it, and a stop seen gone may have taken the position along.
    pub(super) fn is_settled(&self, asset: u32, now_ms: u64) -> bool {
        let account_ms = self.view.account.as_ref().map(|account| account.begun_ms);
        let known = |read_ms: Option<u64>, since_ms: Option<u64>| {
            since_ms.is_none_or(|since_ms| read_ms >= Some(since_ms) || now_ms.saturating_sub(since_ms) > MAX_WAIT_MS)
        };
        let tried_ms = self.watch.care(asset).map(|care| care.reads_since_ms);
        // A young doubt may be settled by the venue's own word in a moment; an old one holds up nothing.
        known(None, self.in_doubt_since(asset))
            && known(self.view.orders_ms, self.watch.changed_ms.get(&asset).copied())
            && known(account_ms, self.watch.gone_ms.get(&asset).copied())
            && known(account_ms, tried_ms)
            && known(self.view.orders_ms, tried_ms)
    }

    /// Whether a read of the account and one of the orders began after `since_ms`, or were waited for long enough.
    pub(super) fn is_read_since(&self, since_ms: u64, now_ms: u64) -> bool {
        let account_ms = self.view.account.as_ref().map(|account| account.begun_ms);
        let late = now_ms.saturating_sub(since_ms) > MAX_WAIT_MS;
        account_ms >= Some(since_ms) && (self.view.orders_ms >= Some(since_ms) || late)
    }

    /// Looks after the account: the risk state first, then flat or covered.
    pub(super) fn look_after(&mut self, effects: &mut Effects, now_ms: u64) {
        self.watch_risk(effects, now_ms);
        if !self.can_act() || self.view.account.is_none() {
            return;
        }
        if self.must_be_flat() {
            self.flatten(effects, now_ms);
        } else {
            self.protect(effects, now_ms);
        }
    }
}
