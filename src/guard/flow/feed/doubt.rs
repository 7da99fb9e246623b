//! Prices that are further from what is known than a price moves between two frames. A market may have leapt, or the feed may
//! tell nonsense: nothing is made of such a price, the account is read, and what that shows decides.

use crate::base::amount::{percent_of, to_wire};
use crate::guard::effects::{Command, Read};
use crate::guard::flow::feed::distrust::distrust;
use crate::guard::flow::step_context::Step;
use crate::guard::state::feed::DoubtedPrice;
use crate::guard::state::guard::Guard;
use rust_decimal::{Decimal, dec};

/// A price moves by no more than this between two frames.
const OFF_PCT: Decimal = dec!(20);
/// Answers of a time before the price was told decide nothing for so long.
const LATE_MS: u64 = 5_000;

/// Whether a price is too far from the one that is known to be believed at once.
pub(super) fn is_off(guard: &Guard, asset: u32, price: Decimal) -> bool {
    let known = guard.view.last_mark(asset).map(|(mark, _)| mark).or_else(|| guard.view.price(asset));
    known.is_some_and(|known| is_far(price, known))
}

/// Whether one price is further from another than a price moves between two frames.
pub(super) fn is_far(price: Decimal, known: Decimal) -> bool {
    price.saturating_sub(known).abs() > percent_of(known, OFF_PCT)
}

/// Keeps such a price in mind until the account was read.
pub(super) fn doubt(step: &mut Step<'_>, asset: u32, price: Decimal, reason: &'static str) {
    let (now_ms, venue_ms) = (step.now_ms, step.guard.clock.earliest_ms());
    let doubted = DoubtedPrice { price, reason, at_ms: now_ms, venue_ms, fill: None };
    step.guard.feed.doubted.entry(asset).or_insert(doubted);
    step.effects.immediate.push(Command::Read(Read::AccountNow));
}

/// Takes in an account read: a price that it shows as well was none that cannot be.
pub(super) fn on_account_read(step: &mut Step<'_>) {
    let Some((begun_ms, venue_ms)) = step.guard.view.account.as_ref().map(|read| (read.begun_ms, read.venue_ms)) else {
        return;
    };
    let is_later = |doubted: &DoubtedPrice| {
        let is_of_its_time = venue_ms >= doubted.venue_ms || begun_ms >= doubted.at_ms.saturating_add(LATE_MS);
        begun_ms > doubted.at_ms && is_of_its_time
    };
    let doubted = std::mem::take(&mut step.guard.feed.doubted);
    let (judged, waiting) = doubted.into_iter().partition(|(_, doubted)| is_later(doubted));
    step.guard.feed.doubted = waiting;
    if !step.guard.feed.doubted.is_empty() {
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
    for (asset, DoubtedPrice { price, reason, .. }) in judged {
        if is_off(step.guard, asset, price) {
            let coin = step.guard.view.market(asset).map_or_else(|| asset.to_string(), |market| market.coin.clone());
            distrust(step, reason, &format!("{coin} at {}", to_wire(price)));
        }
    }
}
