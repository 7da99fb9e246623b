//! Prices as the feed tells them: the account is valued at them at once. What they show of a loss or a new peak is believed when
//! a read shows it as well.

use crate::base::amount::percent_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::feed::doubt::{doubt, is_off};
use crate::guard::flow::feed::fills;
use crate::guard::flow::requests;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::equity_peaks::EquitySample;
use rust_decimal::{Decimal, dec};
use std::collections::BTreeMap;

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
    if is_doubted(step, marks.iter().chain(mids)) {
        return;
    }
    step.guard.view.move_mids(mids, begun_ms);
    step.guard.view.set_marks(marks, begun_ms);
    step.guard.view.revalue();
    note_value(step, begun_ms);
    step.guard.paper.cross(&step.guard.view);
    requests::on_marks_read(step);
    fills::take_in_doubted(step, begun_ms, &BTreeMap::new());
    ask_about_value(step);
}

/// Takes in the mids of all markets.
pub(super) fn on_mids(step: &mut Step<'_>, mids: &BTreeMap<String, Decimal>, begun_ms: u64) {
    if !is_doubted(step, mids.iter()) {
        step.guard.view.set_mids(mids, begun_ms);
        step.guard.paper.cross(&step.guard.view);
        fills::take_in_doubted(step, begun_ms, &BTreeMap::new());
    }
}

/// Whether a price of what is held is too far from the known one; then nothing of it is taken in before a read.
fn is_doubted<'a>(step: &mut Step<'_>, prices: impl Iterator<Item = (&'a String, &'a Decimal)>) -> bool {
    let guard = &*step.guard;
    let odd = prices.filter_map(|(coin, price)| {
        let asset = guard.view.universe.by_coin(coin)?.asset;
        let is_odd = !guard.view.position(asset).is_zero() && is_off(guard, asset, *price);
        is_odd.then_some((asset, *price))
    });
    let odd: Vec<(u32, Decimal)> = odd.collect();
    odd.iter().for_each(|(asset, price)| doubt(step, *asset, *price, "a price cannot be"));
    !odd.is_empty()
}

/// Keeps what the account is worth at these marks: a deposit or withdrawal is measured by what it was worth just before. Not
/// where a fill has moved the cash since the read, or the purse may be another one.
fn note_value(step: &mut Step<'_>, begun_ms: u64) {
    let at_ms = step.guard.clock.earliest_ms().saturating_sub(step.now_ms.saturating_sub(begun_ms));
    let Guard { view, feed, risk, .. } = &mut *step.guard;
    let is_of_read = feed.chains.is_empty() && !risk.mode_changed && !risk.is_mode_unread;
    if let Some(equity) = view.account.as_ref().and_then(|account| account.marked).filter(|_| is_of_read) {
        risk.equities.add_marked(EquitySample { at_ms, equity });
    }
}

/// Has the account read where marks make another equity of it: peaks, and what a deposit or withdrawal is measured by, are
/// what was read.
fn ask_about_value(step: &mut Step<'_>) {
    let Some(account) = &step.guard.view.account else { return };
    let Some((read, marked)) = account.marked.map(|marked| (account.equity, marked)) else { return };
    let is_off = marked.saturating_sub(read).abs() > percent_of(read, MOVED_PCT);
    let is_peak = step.guard.risk.marks.peaks.highest().is_some_and(|peak| marked > peak.equity);
    let asked_ms = step.guard.feed.value_asked_ms;
    let is_due = asked_ms.is_none_or(|asked_ms| step.now_ms.saturating_sub(asked_ms) >= VALUE_PAUSE_MS);
    if is_due && (is_off || is_peak) {
        step.guard.feed.value_asked_ms = Some(step.now_ms);
        step.effects.immediate.push(Command::Read(Read::Account));
    }
}
