//! When this server last changed something at the venue, by market.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::base::sync::lock;
use crate::venue::action::Action;

/// Times of the last actions. A market has one entry, so there are no more than markets.
#[derive(Debug, Default)]
pub(super) struct RecentActions(Mutex<Last>);

#[derive(Debug, Default)]
struct Last {
    action: Option<Instant>,
    /// Actions that may have changed a position, by market.
    trades: BTreeMap<u32, Instant>,
}

impl RecentActions {
    /// Records that an action was done just now, or may have been.
    pub(super) fn record(&self, action: &Action) {
        let now = Instant::now();
        let mut last = lock(&self.0);
        last.action = Some(now);
        last.trades.extend(action.orders().map(|order| (order.asset, now)));
    }

    /// Time since the last trade in a market, or the last action of any kind where none is named.
    pub(super) fn since(&self, asset: Option<u32>) -> Option<Duration> {
        let last = lock(&self.0);
        let at = asset.map_or(last.action, |asset| last.trades.get(&asset).copied());
        at.map(|at| at.elapsed())
    }
}
