//! Prices as the feed tells them: the account is valued at them at once. What they show of a loss or a new peak is believed when
//! a read shows it as well.

use crate::base::amount::{percent_of, to_wire};
use crate::guard::effects::{Command, Read};
use crate::guard::flow::feed::distrust::distrust;
use crate::guard::flow::requests;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use rust_decimal::{Decimal, dec};
use std::collections::BTreeMap;

/// The price of what is held does not move by more than this between two frames.
const OFF_PCT: Decimal = dec!(20);
/// An equity that marks have moved by more than this is read.
const MOVED_PCT: Decimal = dec!(0.25);
/// It is read for that so far apart.
const VALUE_PAUSE_MS: u64 = 10_000;

/// Takes in marks and mids of single markets.
pub(super) fn on_prices(
    step: &mut Step<'_>,
    marks: &BTreeMap<String, Decimal>,
    mids: &BTreeMap<String, Decimal>,
    begun_ms: u64,
) {
    if is_nonsense(step, marks.iter().chain(mids)) {
        return;
    }
    step.guard.view.move_mids(mids, begun_ms);
    step.guard.view.set_marks(marks, begun_ms);
    step.guard.view.revalue();
    step.guard.paper.cross(&step.guard.view);
    requests::on_marks_read(step);
    ask_about_value(step);
}

/// Takes in the mids of all markets.
pub(super) fn on_mids(step: &mut Step<'_>, mids: &BTreeMap<String, Decimal>, begun_ms: u64) {
    if !is_nonsense(step, mids.iter()) {
        step.guard.view.set_mids(mids, begun_ms);
        step.guard.paper.cross(&step.guard.view);
    }
}

/// Whether a price of what is held cannot be; then nothing of it is taken in.
fn is_nonsense<'a>(step: &mut Step<'_>, prices: impl Iterator<Item = (&'a String, &'a Decimal)>) -> bool {
    let mut odd = prices.filter(|(coin, price)| !is_plausible(step.guard, coin, **price));
    let odd = odd.next().map(|(coin, price)| format!("{coin} at {}", to_wire(*price)));
    odd.iter().for_each(|what| distrust(step, "a price cannot be", what));
    odd.is_some()
}

fn is_plausible(guard: &Guard, coin: &str, price: Decimal) -> bool {
    let asset = guard.view.universe.by_coin(coin).map(|market| market.asset);
    let Some(asset) = asset.filter(|asset| !guard.view.position(*asset).is_zero()) else { return true };
    let known = guard.view.last_mark(asset).map(|(mark, _)| mark).or_else(|| guard.view.price(asset));
    known.is_none_or(|known| price.saturating_sub(known).abs() <= percent_of(known, OFF_PCT))
}

/// Has the account read where marks make another equity of it: peaks, and what a deposit or withdrawal is measured by, are
/// what was read.
fn ask_about_value(step: &mut Step<'_>) {
    let Some(account) = &step.guard.view.account else { return };
    let Some((read, marked)) = account.marked.map(|marked| (account.equity, marked)) else { return };
    let is_off = marked.saturating_sub(read).abs() > percent_of(read, MOVED_PCT);
    let is_peak = step.guard.risk.peaks.highest().is_some_and(|peak| marked > peak.equity);
    let asked_ms = step.guard.feed.value_asked_ms;
    let is_due = asked_ms.is_none_or(|asked_ms| step.now_ms.saturating_sub(asked_ms) >= VALUE_PAUSE_MS);
    if is_due && (is_off || is_peak) {
        step.guard.feed.value_asked_ms = Some(step.now_ms);
        step.effects.immediate.push(Command::Read(Read::Account));
    }
}
