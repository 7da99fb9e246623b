//! How old what is known may be: by reads as configured, and longer where the live feed has shown since that nothing has changed.

use crate::guard::state::guard::Guard;
use rust_decimal::Decimal;

/// What was told is as good as a read for three of the venue's cadences, and five seconds of what its times may be off.
const TOLD_MAX_AGE_MS: u64 = 20_000;
/// What was read beside a feed that tells is good until that must have told again: one cadence, and the same five seconds.
const READ_MAX_AGE_MS: u64 = 10_000;
/// What is read beside a feed that is believed is read so far apart at most.
const READ_MAX_GAP_MS: u64 = 40_000;

impl Guard {
    /// The venue's time, once it was read.
    #[must_use]
    pub fn venue_ms(&self) -> Option<u64> {
        self.clock.venue_ms()
    }

    /// The position of a market by the newest fill or read. A fill of the moment of the read that differs from it is newer.
    pub(in crate::guard) fn position_told(&self, asset: u32) -> Decimal {
        let read_ms = self.view.account.as_ref().map_or(0, |account| account.venue_ms);
        let told = self.feed.chains.get(&asset).filter(|(_, time_ms)| *time_ms >= read_ms);
        told.map_or_else(|| self.view.position(asset), |(size, _)| *size)
    }

    /// Whether fills have told of another position than is known in any market: what was read is from before them.
    pub(in crate::guard) fn is_behind_fills(&self) -> bool {
        self.feed.chains.keys().any(|asset| self.position_told(*asset) != self.view.position(*asset))
    }

    /// The positions that the newest fills make, where these are of after the read, with what answers have told beyond them.
    pub(in crate::guard) fn by_fills(&self) -> impl Iterator<Item = (u32, Decimal)> {
        let read_ms = self.view.account.as_ref().map_or(0, |account| account.venue_ms);
        let newer = self.feed.chains.iter().filter(move |(_, (_, time_ms))| *time_ms >= read_ms);
        newer.map(|(asset, (szi, _))| {
            let is_beyond = |oid: Option<u64>| oid.is_none_or(|oid| !self.feed.has_fill_of(oid));
            let orders = self.sent.orders.iter().filter(|order| order.asset == *asset && is_beyond(order.oid));
            (*asset, orders.fold(*szi, |szi, order| szi.saturating_add(order.unshown())))
        })
    }

    /// Whether something is not gone by before a read shows it: a fill or a price far from the known one, a position that no fill has
    /// told of, or a loss at a limit.
    pub(in crate::guard) fn waits_for_account(&self) -> bool {
        !self.feed.doubted.is_empty() || self.feed.has_shown_alone() || self.risk.is_in_doubt()
    }

    /// An account older than this is stale.
    pub(in crate::guard) fn account_max_age_ms(&self) -> u64 {
        let is_agreed = self.view.account.as_ref().is_some_and(|account| account.agreed_ms > account.begun_ms);
        let told_ms = if is_agreed && !self.waits_for_account() { TOLD_MAX_AGE_MS } else { READ_MAX_AGE_MS };
        max_age(self.config.account_max_age_ms, self.feed.tells_account().then_some(told_ms))
    }

    /// Prices older than this are stale.
    pub(in crate::guard) fn prices_max_age_ms(&self) -> u64 {
        max_age(self.config.prices_max_age_ms, self.feed.tells_prices().then_some(TOLD_MAX_AGE_MS))
    }

    /// Open orders older than this are stale.
    pub(in crate::guard) fn orders_max_age_ms(&self) -> u64 {
        let is_agreed = self.view.orders_agreed_ms > self.view.orders_ms;
        let told_ms = if is_agreed { TOLD_MAX_AGE_MS } else { READ_MAX_AGE_MS };
        max_age(self.config.orders_max_age_ms, self.feed.tells_orders().then_some(told_ms))
    }

    /// The account was not read for long where two reads are further apart than this.
    pub(in crate::guard) fn account_max_gap_ms(&self) -> u64 {
        let most_ms = if self.config.feed { READ_MAX_GAP_MS } else { 0 };
        self.config.account_max_age_ms.max(most_ms)
    }
}

/// The longer of what is configured and what the feed makes good.
fn max_age(configured_ms: u64, told_ms: Option<u64>) -> u64 {
    told_ms.map_or(configured_ms, |told_ms| configured_ms.max(told_ms))
}
