//! Memory of the supervision of the account from one step to the next.

use crate::guard::state::flatten::Flatten;
use crate::guard::state::held_now::Enlarged;
use crate::guard::state::order_attempts::{Dust, RetryState};
use crate::guard::state::over_limit::OverLimit;
use crate::guard::state::own_cancels::OwnCancels;
use crate::guard::state::view::View;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// The pause before the markets are asked for again, and for how long they are.
const MARKETS_AGAIN_MS: u64 = 4_000;
const MARKETS_FOR_MS: u64 = 60_000;

/// What the watch keeps in mind.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) flatten: Flatten,
    pub(crate) over_limit: OverLimit,
    /// The bare positions last told of in paper mode.
    pub(crate) last_bare: BTreeSet<(u32, bool)>,
    /// Since when a market's position is not covered in full by stops that the venue has.
    pub(crate) bare_ms: BTreeMap<u32, u64>,
    /// What may have just enlarged a market's position, until its line takes it.
    pub(crate) enlarged: BTreeMap<u32, (PositionSide, Enlarged)>,
    pub(crate) own_cancels: OwnCancels,
    retry: BTreeMap<u32, RetryState>,
    /// Since when the markets are asked for because of a coin that is in none, and when they last were.
    markets_asked: Option<(u64, u64)>,
    /// When an entry in a market was last asked for, and when the marks of such markets were.
    pub(crate) entered_ms: BTreeMap<u32, u64>,
    pub(crate) marks_asked_ms: Option<u64>,
    /// When a market's position was last seen to change, and when one of its stops was last seen gone.
    pub(crate) changed_ms: BTreeMap<u32, u64>,
    pub(crate) gone_ms: BTreeMap<u32, u64>,
    /// When the last read of the account began before which all that was held on one side of a market ended, or may have: the
    /// venue takes the stops of a side that ends away.
    pub(crate) ended_ms: BTreeMap<(u32, PositionSide), u64>,
    /// The sides on which less is held than before by something that was not sent, until the stops are looked at.
    pub(crate) less_held: BTreeSet<(u32, PositionSide)>,
    /// When the marks of what is held were last taken in.
    pub(crate) marked_ms: u64,
    /// Since when a stop may have fired or gone, by its order.
    pub(crate) doubted: BTreeMap<u64, u64>,
    /// The stops that the mark has come to, by their orders, until it is not there and something has told of them.
    pub(crate) reached: BTreeMap<u64, Reached>,
}

/// A stop that the mark has come to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reached {
    /// Whether the mark is there now.
    pub(crate) is_there: bool,
    /// How often, and when last, the open orders were asked for since it is.
    pub(crate) asked: u32,
    pub(crate) asked_ms: u64,
}

impl Watch {
    /// Whether the markets are to be read for a coin that is in none: at once for a new one, and every few seconds for a minute;
    /// then their own interval does. Asked once a read.
    pub(crate) fn asks_for_markets(&mut self, has_unknown: bool, is_new: bool, now_ms: u64) -> bool {
        let known = self.markets_asked.filter(|_| has_unknown && !is_new);
        let (since_ms, is_due) = known.map_or((now_ms, has_unknown), |(since_ms, asked_ms)| {
            let is_soon = now_ms.saturating_sub(since_ms) <= MARKETS_FOR_MS;
            (since_ms, is_soon && now_ms.saturating_sub(asked_ms) >= MARKETS_AGAIN_MS)
        });
        if is_due || !has_unknown {
            self.markets_asked = has_unknown.then_some((since_ms, now_ms));
        }
        is_due
    }

    /// The efforts in one market.
    pub(crate) fn retry_mut(&mut self, asset: u32) -> &mut RetryState {
        self.retry.entry(asset).or_default()
    }

    /// The efforts in one market, if there are any.
    pub(crate) fn retry(&self, asset: u32) -> Option<&RetryState> {
        self.retry.get(&asset)
    }

    /// Whether a stop of the guard's waits for room among the open orders.
    pub(crate) fn waits_for_room(&self, now_ms: u64) -> bool {
        self.retry.values().any(|retry| retry.waits_for_room(now_ms))
    }

    /// Whether any order of the guard's was refused for want of room, and none was made for it yet.
    pub(crate) fn wants_room(&self) -> bool {
        self.retry.values().any(|retry| retry.wants_room)
    }

    /// Room is made for all of them.
    pub(crate) fn on_room_made(&mut self) {
        self.retry.values_mut().for_each(|retry| retry.wants_room = false);
    }

    /// The venue took an order, or a noop.
    pub(crate) fn on_venue_answers(&mut self) {
        self.retry.values_mut().for_each(RetryState::try_soon);
    }

    /// A read showed that a market's position was `before` and is `now`, signed. What was refused on the other side says
    /// nothing of this one; what was refused for another size is tried again soon.
    pub(crate) fn on_position_changed(&mut self, asset: u32, before: Decimal, now: Decimal) {
        if PositionSide::of(now).is_some_and(|side| PositionSide::of(before) == Some(side.opposite())) {
            self.settle(asset);
        } else if let Some(retry) = self.retry.get_mut(&asset) {
            retry.on_other_size();
        }
    }

    /// Forgets the efforts in a market that needs none, but for what was learnt about its size.
    pub(crate) fn settle(&mut self, asset: u32) {
        match self.retry.get_mut(&asset) {
            Some(retry) if retry.dust.is_some() => retry.settle(),
            Some(_) => drop(self.retry.remove(&asset)),
            None => {}
        }
    }

    /// Sizes found too small to be closed, by market.
    pub(crate) fn dust(&self) -> impl Iterator<Item = (u32, Decimal)> {
        self.retry.iter().filter_map(|(asset, retry)| Some((*asset, retry.dust?.size)))
    }

    /// Forgets dust that an account read shows to be gone, or to have grown.
    pub(crate) fn forget_dust(&mut self, view: &View) {
        let position = |asset: &u32| view.account.as_ref()?.positions.get(asset);
        for (asset, retry) in &mut self.retry {
            let holds = |dust: &Dust| {
                position(asset).is_some_and(|position| dust.holds(position.szi.abs(), position.position_value))
            };
            retry.dust = retry.dust.filter(holds);
        }
    }

    /// Markets with efforts.
    pub(crate) fn retried_markets(&self) -> Vec<u32> {
        self.retry.keys().copied().collect()
    }
}
