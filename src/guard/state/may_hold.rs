//! Whether something may be held in a market, read or not.

use crate::guard::input::RequestBody;
use crate::guard::state::guard::Guard;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

impl Guard {
    /// Whether a position may be there: as read, as fills have told, through an entry on its way or at rest, or because the last
    /// read is old or nobody knows yet what rests. Who hears of a fill hears of it from the guard, and what closes it is not refused
    /// before a read shows it.
    pub(in crate::guard) fn may_hold(&self, asset: u32, now_ms: u64) -> bool {
        let Some(account) = &self.view.account else { return true };
        let is_old = account.age_ms(now_ms) > self.account_max_age_ms();
        let is_shown = !self.view.position(asset).is_zero() || self.lines.ended.may_hold(asset);
        let is_told = !self.position_told(asset).is_zero() || self.feed.told.is_missing(asset);
        // An entry of an earlier life may rest, or have filled.
        let is_unread = self.view.orders_ms.is_none() || self.is_account_older();
        is_old || is_unread || is_shown || is_told || self.may_open(asset)
    }

    /// Whether anything is held on one side, as far as is known; also as it was read, where only the feed's account shows otherwise.
    pub(in crate::guard) fn is_held(&self, asset: u32, side: PositionSide) -> bool {
        let read = self.feed.by_account.contains(&asset).then(|| self.view.position_read(asset));
        read.into_iter().chain([self.view.position(asset)]).any(|szi| !side.held(szi).is_zero())
    }

    /// The same, or by what the venue told to have filled since.
    pub(in crate::guard) fn may_be_held(&self, asset: u32, side: PositionSide) -> bool {
        let known = self.view.position(asset);
        let told = known.saturating_add(self.sent.told(&self.view, asset, known));
        let by_fills = self.position_told(asset);
        self.is_held(asset, side) || [told, by_fills].into_iter().any(|szi| !side.held(szi).is_zero())
    }

    /// How much of one side may have filled and is no part of what is held: of orders on their way, and by fills of the feed. What
    /// these close stays held until a read, and so does its cover, so that what they open is beside it.
    pub(in crate::guard) fn may_have_filled(&self, asset: u32, side: PositionSide) -> Decimal {
        let [read, held] = [self.view.position_read(asset), self.view.position(asset)].map(|szi| side.held(szi));
        let opened = self.feed.told.opened(asset, side);
        let beside = read.saturating_add(opened).saturating_sub(held).max(Decimal::ZERO);
        self.sent.may_have_filled(asset, side).saturating_add(beside)
    }

    /// Whether an order may still open or enlarge this side, or may have done so since what was read of the account.
    pub(in crate::guard) fn may_be_opening(&self, asset: u32, side: PositionSide) -> bool {
        let is_here = |other: u32, is_buy: bool| (other, is_buy) == (asset, side.opening().is_buy());
        let mut open = self.view.orders.values().chain(self.sent.resting());
        open.any(|order| is_here(order.asset, order.is_buy) && order.is_entry())
            || self.sent.orders.iter().any(|order| is_here(order.asset, order.is_buy) && !order.reduce_only)
    }

    /// Whether anything could have opened a position since the last read.
    fn may_open(&self, asset: u32) -> bool {
        let is_asked_for = |body: &RequestBody| match body {
            RequestBody::Signed { envelope, .. } => envelope.action.orders().any(|order| order.asset == asset),
            _ => false,
        };
        self.view.orders.values().any(|order| order.asset == asset && !order.reduce_only)
            || self.sent.orders.iter().any(|order| order.asset == asset && !order.reduce_only)
            || self.doubts.values().any(|doubt| doubt.is_about(asset))
            || self.parked.iter().any(|waiting| is_asked_for(&waiting.request.body))
    }
}
