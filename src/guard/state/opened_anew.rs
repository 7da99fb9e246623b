//! Whether a position that a read shows is the one that was held before, or another that was opened in its place: by what the venue
//! told, by what came to the change together, and by where its entry price went.

use crate::base::amount::percent_of;
use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::filled_entries::TOLD_AWAY_PCT;
use crate::guard::state::held_now::{ENTRY_ROUNDED_PCT, HeldNow, Moved, added_at};
use rust_decimal::{Decimal, dec};

/// The part of the way to the market's price that an entry price goes at least when a position is opened anew.
const ANEW: Decimal = dec!(0.9);

/// Where the market's price is nearer to the entry price than this, the line of either serves the other.
const AWAY_PCT: Decimal = dec!(0.2);

/// So far beyond the market's price may have been traded what a position grew by.
const SLIPPAGE_PCT: Decimal = dec!(1);

impl CoverLine {
    /// Whether this is another position: what was held was closed and this opened since the read before. One that only gave
    /// a part away and took it back keeps its line: trading to and fro loosens no stop.
    pub(super) fn is_opened_anew(&self, now: &HeldNow) -> bool {
        now.is_begun()
            || self.is_just_what_was_told(now)
            || self.is_what_opened(now)
            || self.is_priced_anew(now)
                && !self.may_have_grown(now)
                && !now.by.moved.is_some_and(|by| self.lasts(now, by))
    }

    /// Whether it is as large as what the venue told to have filled, at the price of that. Where that is too near to the price
    /// of before to tell, it is so once all the stops of what was held were hit.
    fn is_just_what_was_told(&self, now: &HeldNow) -> bool {
        let most_left = self.held.min(now.held).saturating_mul(Decimal::ONE.saturating_sub(ANEW));
        let Some(told) = now.by.told.filter(|told| told.size == now.held) else { return false };
        match self.left_of_it(now, told.px, TOLD_AWAY_PCT) {
            Some(left) => left.abs() <= most_left,
            None => self.is_hit(now.mark),
        }
    }

    /// Whether all that was held is known to have been closed, and its entry price is that of what opened in the same moment: what
    /// closes leaves that as it is.
    fn is_what_opened(&self, now: &HeldNow) -> bool {
        let most_left = now.held.saturating_mul(Decimal::ONE.saturating_sub(ANEW));
        let moved = now.by.moved.filter(|by| by.closed >= self.held);
        let opened_px = moved.and_then(|by| by.paid.checked_div(by.opened));
        let left = opened_px.and_then(|px| self.left_of_it(now, px, TOLD_AWAY_PCT));
        left.is_some_and(|left| left.abs() <= most_left)
    }

    /// Whether a part of it was held all along: what is known to have moved it comes to its size and its entry price, and closed
    /// less than was held.
    fn lasts(&self, now: &HeldNow, by: Moved) -> bool {
        let left = self.held.saturating_sub(by.closed);
        let is_it = left > Decimal::ZERO && left.saturating_add(by.opened) == now.held;
        let (Some(before), Some(entry_px)) = (self.entry_px.filter(|_| is_it), now.entry_px) else { return false };
        let px = left.saturating_mul(before).saturating_add(by.paid).checked_div(now.held);
        px.is_some_and(|px| px.saturating_sub(entry_px).abs() <= percent_of(entry_px, ENTRY_ROUNDED_PCT))
    }

    /// Whether the price has come to all the triggers that what was held was covered at.
    fn is_hit(&self, mark: Option<Decimal>) -> bool {
        let is_all = self.uncovered().is_zero() && !self.covered_parts().is_empty();
        is_all && mark.is_some_and(|mark| self.covered_parts().iter().all(|part| !self.side.losing(part.px, mark)))
    }

    /// Whether its entry price has gone nearly all the way to the market's.
    pub(crate) fn is_priced_anew(&self, now: &HeldNow) -> bool {
        let most_left = now.held.saturating_mul(Decimal::ONE.saturating_sub(ANEW));
        let left = now.mark.and_then(|mark| self.left_of_it(now, mark, AWAY_PCT));
        left.is_some_and(|left| left <= most_left)
    }

    /// How much of what was held before is in it, by its entry price, where the rest was traded at `px`; `None` where that is
    /// too near for the entry price to tell.
    fn left_of_it(&self, now: &HeldNow, px: Decimal, away_pct: Decimal) -> Option<Decimal> {
        let (before, entry_px) = (self.entry_px?, now.entry_px?);
        let whole = px.saturating_sub(before);
        let part = entry_px.saturating_sub(before).checked_div(whole)?;
        let is_away = whole.abs() >= percent_of(before, away_pct);
        is_away.then(|| Decimal::ONE.saturating_sub(part).saturating_mul(now.held))
    }

    /// Whether it is what was held before and more, by what filled: the venue told of just that, wherever it trades, or what may
    /// have filled is enough for that, and too little to be all of it.
    pub(super) fn has_surely_grown(&self, now: &HeldNow) -> bool {
        let grown = now.held.saturating_sub(self.held);
        let is_told = now.by.told.is_some_and(|told| told.size == grown);
        grown > Decimal::ZERO && (is_told || (grown..now.held).contains(&now.by.most))
    }

    /// The same by the price at which that was added as well: prices may have been there.
    fn may_have_grown(&self, now: &HeldNow) -> bool {
        let (Some(before), Some(mark)) = (self.entry_px, now.mark) else { return true };
        let added_px = added_at((self.held, self.entry_px), (now.held, now.entry_px));
        let prices = [mark, before].into_iter().chain(now.mid);
        let (least, most) = prices.fold((mark, mark), |(least, most), px| (least.min(px), most.max(px)));
        let off = percent_of(mark, SLIPPAGE_PCT);
        let there = least.saturating_sub(off)..=most.saturating_add(off);
        let is_there = now.held > self.held && added_px.is_some_and(|px| there.contains(&px));
        is_there || self.has_surely_grown(now)
    }
}
