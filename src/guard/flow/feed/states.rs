//! The account as the feed tells it, beside how it was read: where both agree nothing has changed since, and where they do not
//! it is read.

use crate::base::amount::percent_of;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::feed::distrust::differ;
use crate::guard::flow::feed::fills;
use crate::guard::flow::feed::shown::{READ_WITHIN_MS, take_for_told};
use crate::guard::flow::risk::witness;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::venue::info::{AccountMode, ClearinghouseState};
use rust_decimal::{Decimal, dec};
use std::collections::BTreeMap;

/// Where the equity is off by more than this, more than prices have moved.
const CASH_PCT: Decimal = dec!(1);

/// Takes in the account as it was at a time of the venue's.
pub(super) fn on_account(step: &mut Step<'_>, state: &ClearinghouseState) {
    // By whichever clock makes it older: when it was heard says nothing of when it was.
    let late_ms = step.guard.moment(step.now_ms).venue_ms.saturating_sub(state.time);
    let as_of_ms = step.now_ms.saturating_sub(late_ms);
    step.guard.feed.as_of_ms = step.guard.feed.as_of_ms.max(as_of_ms);
    let Some((read_ms, begun_ms)) = step.guard.view.account.as_ref().map(|held| (held.venue_ms, held.begun_ms)) else {
        return;
    };
    // One that is not believed has everything read already, and says nothing of what the reads show.
    if state.time < read_ms || !step.guard.feed.is_trusted(step.now_ms) {
        return;
    }
    if step.guard.risk.mode == Some(AccountMode::Standard) {
        witness::hear_told(step, state);
    }
    let shown = sizes(step.guard, state).collect();
    take_for_told(step.guard, &shown, state.time, step.now_ms);
    let unread_ms = step.guard.feed.unread_ms;
    // Each market for itself: another one may never be as it is known.
    if unread_ms.is_some_and(|unread_ms| step.now_ms.saturating_sub(unread_ms) > READ_WITHIN_MS) {
        fills::take_in_unread(step, &shown);
    }
    step.guard.view.show_fills(&shown, as_of_ms);
    if is_as_told(step.guard, state) {
        step.guard.feed.account_differs_ms = None;
        if is_as_known(step.guard, state) {
            step.guard.feed.agreed_ms = step.guard.feed.agreed_ms.max(as_of_ms);
            // What waits for a read is not known by the feed's word, however often that is told.
            if !step.guard.waits_for_account() {
                let account = step.guard.view.account.as_mut();
                account.into_iter().for_each(|account| account.agreed_ms = account.agreed_ms.max(as_of_ms));
            }
        }
        let marks = marks(step.guard, state);
        fills::take_in_doubted(step, state.time, &marks);
        return ask_about_cash(step, state);
    }
    let feed = &mut step.guard.feed;
    let before_ms = feed.account_differs_ms.replace(step.now_ms);
    // Nothing was told to have happened since the read, and it was read since they differed.
    let is_quiet = feed.filled_ms < begun_ms;
    if is_quiet && before_ms.is_some_and(|before_ms| begun_ms > before_ms) {
        feed.account_differs_ms = None;
        return differ(step, "its account is not the one that is read", "twice in a row");
    }
    step.effects.immediate.push(Command::Read(Read::AccountNow));
}

/// Whether a state shows the positions that cover and halts go by, but for those that a later fill has changed: what fills have told
/// beside them is not known before a read.
fn is_as_known(guard: &Guard, state: &ClearinghouseState) -> bool {
    let is_later = |asset: u32| guard.feed.chains.get(&asset).is_some_and(|(_, time_ms)| *time_ms > state.time);
    let shown: BTreeMap<u32, Decimal> = sizes(guard, state).collect();
    let size = |asset: u32| shown.get(&asset).copied().unwrap_or_default();
    let known = guard.view.account.iter().flat_map(|account| account.positions.keys());
    known.chain(shown.keys()).all(|asset| is_later(*asset) || guard.view.position(*asset) == size(*asset))
}

/// The sizes of its positions in known markets, signed.
fn sizes(guard: &Guard, state: &ClearinghouseState) -> impl Iterator<Item = (u32, Decimal)> {
    let told = state.asset_positions.iter().map(|element| &element.position);
    told.filter_map(|held| Some((guard.view.universe.by_coin(&held.coin)?.asset, held.szi)))
}

/// Whether a state shows the positions that reads and fills have told, but for those that a later fill has changed.
fn is_as_told(guard: &Guard, state: &ClearinghouseState) -> bool {
    let positions = state.asset_positions.iter().map(|element| &element.position);
    let told: BTreeMap<&str, Decimal> =
        positions.filter(|held| !held.szi.is_zero()).map(|held| (held.coin.as_str(), held.szi)).collect();
    let is_later = |asset: u32| guard.feed.chains.get(&asset).is_some_and(|(_, time_ms)| *time_ms > state.time);
    let Some(account) = &guard.view.account else { return false };
    let asset_of = |coin: &str| guard.view.universe.by_coin(coin).map(|market| market.asset);
    let is_known = |coin: &str, size: Decimal| match asset_of(coin) {
        Some(asset) => is_later(asset) || guard.position_told(asset) == size,
        None => account.unknown.get(coin).is_some_and(|position| position.szi == size),
    };
    let is_closed = |asset: u32| guard.position_told(asset).is_zero();
    let is_shown = |asset: u32, coin: &str| is_later(asset) || told.contains_key(coin) || is_closed(asset);
    told.iter().all(|(coin, size)| is_known(coin, *size))
        && account.positions.iter().all(|(asset, held)| is_shown(*asset, &held.coin))
        && account.unknown.keys().all(|coin| told.contains_key(coin.as_str()))
}

/// The marks that its positions are valued at.
fn marks(guard: &Guard, state: &ClearinghouseState) -> BTreeMap<u32, Decimal> {
    let positions = state.asset_positions.iter().map(|element| &element.position);
    let marks = positions.filter_map(|held| {
        let mark = held.position_value.checked_div(held.szi.abs()).filter(|mark| *mark > Decimal::ZERO)?;
        Some((guard.view.universe.by_coin(&held.coin)?.asset, mark))
    });
    marks.collect()
}

/// Has the account read where its equity is not what the positions make of it: cash has moved.
fn ask_about_cash(step: &mut Step<'_>, state: &ClearinghouseState) {
    let Some(account) = &step.guard.view.account else { return };
    let (told, known) = (state.margin_summary.account_value, account.equity_now());
    let is_off = told.saturating_sub(known).abs() > percent_of(known, CASH_PCT);
    if is_off && step.guard.risk.mode == Some(AccountMode::Standard) {
        step.effects.immediate.push(Command::Read(Read::Account));
    }
}
