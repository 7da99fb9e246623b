//! Whether something may be held in a market, read or not.

use crate::guard::input::RequestBody;
use crate::guard::state::guard::Guard;
use crate::venue::side::PositionSide;

impl Guard {
    /// Whether a position may be there: as read, through an entry on its way or at rest, or because the last read is old.
    pub(in crate::guard) fn may_hold(&self, asset: u32, now_ms: u64) -> bool {
        let Some(account) = &self.view.account else { return true };
        let is_old = account.age_ms(now_ms) > self.account_max_age_ms();
        let is_shown = !self.view.position(asset).is_zero() || self.lines.ended.may_hold(asset);
        is_old || self.is_account_older() || is_shown || self.may_open(asset)
    }

    /// Whether anything is held on one side, as read or by what the venue told to have filled since.
    pub(in crate::guard) fn may_be_held(&self, asset: u32, side: PositionSide) -> bool {
        let read = self.view.position(asset);
        let told = read.saturating_add(self.sent.told(asset));
        [read, told].into_iter().any(|szi| !side.held(szi).is_zero())
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
