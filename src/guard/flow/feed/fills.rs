//! Fills as the feed tells them: what they open or enlarge is covered at once, and a read follows and proves it.

use crate::base::amount::to_wire;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::cover;
use crate::guard::flow::feed::distrust::{differ, distrust};
use crate::guard::flow::feed::doubt::{self, doubt, is_far, is_off};
use crate::guard::flow::feed::shown::is_within;
use crate::guard::flow::step_context::Step;
use crate::guard::state::exposure::Exposure;
use crate::guard::state::feed::DoubtedFill;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::key::Moment;
use crate::record::events::Trouble;
use crate::venue::fill::Fill;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// No fill is of a time further ahead of the venue's than this.
const AHEAD_MS: u64 = 5_000;
/// A position that a read shows changed has its fill by then.
const TOLD_WITHIN_MS: u64 = 5_000;
/// Coins in no known market whose fills are kept in mind: the other ones' are read.
const MOST_UNLISTED: usize = 64;
/// Fills that were missed are told of so far apart.
const AGAIN_MS: u64 = 10_000;

/// Takes in fills in the order in which they were told.
pub(super) fn on_fills(step: &mut Step<'_>, fills: &[Fill]) {
    let mut is_any = false;
    for fill in fills {
        is_any |= on_fill(step, fill);
    }
    if is_any {
        cover_moved(step);
    }
}

/// Covers what fills have opened or enlarged.
fn cover_moved(step: &mut Step<'_>) {
    cover::refresh(step);
    cover::record_moved(step);
    let Guard { view, lines, config, .. } = &*step.guard;
    step.guard.read_exposure = Exposure::of_reads(view, lines, config.rules.stop);
}

/// Takes in fills at a price that was too far off to be believed, where no read has judged it for want of an answer: the known
/// price has come to it, or the feed's account as of `told_ms` shows the position that it made, at one of these marks.
pub(super) fn take_in_doubted(step: &mut Step<'_>, told_ms: u64, marks: &BTreeMap<u32, Decimal>) {
    let mut is_any = false;
    for (asset, doubted) in step.guard.feed.doubted.clone() {
        let told = marks.get(&asset).copied();
        let Some(DoubtedFill { fill, held }) = doubted.fill else { continue };
        if told.is_some() && told_ms < fill.time {
            continue;
        }
        let is_near = !is_off(step.guard, asset, doubted.price);
        let told = told.filter(|mark| !is_far(*mark, doubted.price) || !is_off(step.guard, asset, *mark));
        let Some(px) = Some(doubted.price).filter(|_| is_near).or(told) else { continue };
        if let Some((mark, market)) = told.zip(step.guard.view.market(asset)) {
            let mark = BTreeMap::from([(market.coin.clone(), mark)]);
            step.guard.view.set_marks(&mark, step.now_ms);
        }
        let after = step.guard.position_told(asset);
        is_any |= take_in(step, asset, &fill, (held, after, px));
        step.guard.feed.doubted.get_mut(&asset).into_iter().for_each(|doubted| doubted.fill = None);
    }
    if is_any {
        cover_moved(step);
    }
}

/// Takes in what fills have opened, enlarged or opened anew, where no read shows it for want of an answer, and the feed's account
/// does: a kill must close it, and what takes its stop away must leave another. What is closed and no more waits for the read.
pub(super) fn take_in_unread(step: &mut Step<'_>, shown: &BTreeMap<u32, Decimal>) {
    let mut is_any = false;
    for (asset, (size, time_ms)) in step.guard.feed.chains.clone() {
        let held = step.guard.view.position(asset);
        let is_same_side = held.is_zero() || held.is_sign_positive() == size.is_sign_positive();
        let is_anew = step.guard.feed.told.is_anew(asset) && !step.guard.view.is_another(asset, size);
        let is_new = is_anew || is_same_side && size.abs() > held.abs();
        let is_in_doubt = step.guard.feed.doubted.get(&asset).is_some_and(|doubted| doubted.fill.is_some());
        // Of what the account alone has told more may be shown by now.
        let is_by_account = step.guard.feed.by_account.contains(&asset);
        let is_within = |shown: Decimal| is_by_account && is_within(size, shown);
        let is_shown = shown.get(&asset).is_some_and(|shown| *shown == size || is_within(*shown)) && !is_in_doubt;
        let Some(px) = step.guard.view.price(asset).filter(|_| is_new && is_shown) else { continue };
        let (now, newest) = (step.guard.moment(step.now_ms), step.guard.feed.told.newest_of(asset));
        if is_anew {
            // It has a line of its own.
            step.guard.lines.forget(asset);
            step.guard.view.on_opened_anew(asset, (size, px), time_ms, step.now_ms);
            cover::note_filled(step.guard, (asset, size), newest.unwrap_or_default(), now);
            is_any = true;
        } else {
            cover::note_filled(step.guard, (asset, size.saturating_sub(held)), newest.unwrap_or_default(), now);
            is_any |= step.guard.view.on_filled(asset, (size, px), time_ms, step.now_ms);
        }
    }
    if is_any {
        cover_moved(step);
    }
}

/// Takes in one; whether it has opened or enlarged a position.
fn on_fill(step: &mut Step<'_>, fill: &Fill) -> bool {
    let Some(asset) = step.guard.view.universe.by_coin(&fill.coin).map(|market| market.asset) else {
        note_unlisted(step.guard, fill);
        return false;
    };
    let Some(read) = Moment::of_account(&step.guard.view) else { return false };
    let read_ms = read.venue_ms;
    if !step.guard.feed.is_new(fill.id()) {
        return false;
    }
    // Late, and what it did was read already.
    let explains = |size: &Decimal| fill.position_after() == Some(*size);
    if step.guard.feed.unexplained.get(&asset).is_some_and(|(size, _)| explains(size)) {
        step.guard.feed.unexplained.remove(&asset);
    }
    if fill.time < read_ms {
        step.guard.sent.note_shown(fill.oid, fill.sz, read);
        return false;
    }
    let after = match after(step.guard, fill) {
        Ok(after) => after,
        Err(what) => {
            distrust(step, "a fill cannot be", &format!("{} {}: {what}", fill.coin, fill.tid));
            return false;
        }
    };
    // The read is of the same moment, and shows it.
    if fill.time == read_ms && step.guard.view.position_read(asset) == after {
        step.guard.feed.chains.remove(&asset);
        return false;
    }
    step.guard.feed.filled_ms = step.now_ms;
    step.guard.feed.unread_ms.get_or_insert(step.now_ms);
    step.guard.risk.traded(step.now_ms);
    step.effects.immediate.push(Command::Read(Read::AccountNow));
    // Where no line is known of that side the fill makes one, and there is no other position's to be told from it.
    let has_line = step.guard.lines.get(asset).is_some_and(|line| Some(line.side) == PositionSide::of(after));
    if has_line && !is_off(step.guard, asset, fill.px) {
        step.guard.feed.told.note_begun(asset, fill, after);
    }
    // What is on its way counts as a whole.
    if !is_expected(step.guard, asset, fill) {
        step.guard.feed.told.note_opened(asset, fill, after);
    }
    let mut is_any = follow(step, asset, fill, after);
    while let Some((next, after)) = following(step.guard, asset) {
        is_any |= follow(step, asset, &next, after);
    }
    is_any
}

/// Whether the feed's account has shown what a fill of this time did, which was lost or comes late.
fn is_shown_alone(guard: &Guard, asset: u32, time_ms: u64) -> bool {
    let is_by_account = guard.feed.by_account.contains(&asset);
    is_by_account && guard.feed.chains.get(&asset).is_some_and(|(_, shown_ms)| time_ms <= *shown_ms)
}

/// One that was told before this and follows on it, with the position after it.
fn following(guard: &mut Guard, asset: u32) -> Option<(Fill, Decimal)> {
    let held = guard.position_told(asset);
    let time_ms = guard.feed.chains.get(&asset).map_or(0, |(_, time_ms)| *time_ms);
    let fill = guard.feed.told.following(asset, (held, time_ms))?;
    let after = fill.position_after()?;
    Some((fill, after))
}

/// Takes in one where it follows on what is known; whether it has opened or enlarged a position.
fn follow(step: &mut Step<'_>, asset: u32, fill: &Fill, after: Decimal) -> bool {
    let held = step.guard.position_told(asset);
    step.guard.view.note_oid(fill.oid);
    if is_shown_alone(step.guard, asset, fill.time) {
        return false;
    }
    if fill.start_position != held {
        on_missed(step, fill, (asset, held));
        return false;
    }
    step.guard.feed.chains.insert(asset, (after, fill.time));
    step.guard.feed.told.note_following(asset, fill, after);
    if is_off(step.guard, asset, fill.px) {
        doubt(step, asset, fill.px, "a fill cannot be");
        let of = DoubtedFill { fill: fill.clone(), held };
        if let Some(doubted) = step.guard.feed.doubted.get_mut(&asset) {
            doubted.fill.get_or_insert(of);
        }
        return false;
    }
    take_in(step, asset, fill, (held, after, fill.px))
}

/// Takes in that a fill at this price made the one position into the other; whether it has opened or enlarged it.
fn take_in(step: &mut Step<'_>, asset: u32, fill: &Fill, (held, after, px): (Decimal, Decimal, Decimal)) -> bool {
    if !step.guard.view.orders.contains_key(&fill.oid) {
        step.guard.sent.elsewhere.note((asset, fill.oid), after.saturating_sub(held), fill.time);
    }
    // Its own stop comes with it: the reads show that.
    let has_child = step.guard.view.orders.get(&fill.oid).is_some_and(|order| order.child_stop_px.is_some());
    if has_child || is_expected(step.guard, asset, fill) {
        step.guard.sent.note_fill(fill.oid);
        // What can have lost its stop its own answer tells, or the account.
        step.effects.immediate.push(Command::Read(if has_child { Read::OrdersNow } else { Read::Orders }));
        return false;
    }
    let side = PositionSide::opened_by(fill.side);
    if side.held(after) <= side.held(held) {
        // What closes a part enlarges nothing, whatever else has filled that no read shows.
        return false;
    }
    let now = step.guard.moment(step.now_ms);
    cover::note_filled(step.guard, (asset, after.saturating_sub(held)), fill.oid, now);
    step.guard.view.on_filled(asset, (after, px), fill.time, step.now_ms)
}

/// Keeps what a fill in no known market has told of: once the market is known, its position is no surprise.
fn note_unlisted(guard: &mut Guard, fill: &Fill) {
    let unlisted = &mut guard.feed.unlisted;
    if let Some(after) = fill.position_after()
        && (unlisted.len() < MOST_UNLISTED || unlisted.contains_key(&fill.coin))
    {
        unlisted.insert(fill.coin.clone(), after);
    }
}

/// Whether an entry is on its way that this fill may be of: that counts as held already, with its stop, until a read shows it. Of what
/// rests by the last read, or is another order by its id, it is not.
fn is_expected(guard: &Guard, asset: u32, fill: &Fill) -> bool {
    let (is_buy, is_shown) = (fill.side == Side::Buy, guard.view.orders.contains_key(&fill.oid));
    let mut entries = guard
        .sent
        .orders
        .iter()
        .filter(|order| (order.asset, order.is_buy, order.reduce_only) == (asset, is_buy, false));
    entries.any(|order| order.oid.map_or(!is_shown, |oid| oid == fill.oid))
}

/// The position after a fill, or why it cannot be.
fn after(guard: &Guard, fill: &Fill) -> Result<Decimal, String> {
    if fill.px <= Decimal::ZERO || fill.sz <= Decimal::ZERO {
        return Err(format!("{} at {}", to_wire(fill.sz), to_wire(fill.px)));
    }
    if fill.time > guard.clock.latest_ms().saturating_add(AHEAD_MS) {
        return Err(format!("its time {} is yet to come", fill.time));
    }
    fill.position_after().ok_or_else(|| format!("it began at {}", to_wire(fill.start_position)))
}

/// A fill begins where the one before it did not end: one is missing, and nothing is made of this one before a read, but that
/// something may be held there.
fn on_missed(step: &mut Step<'_>, fill: &Fill, (asset, held): (u32, Decimal)) {
    let read_ms = step.guard.view.account.as_ref().map(|account| account.venue_ms);
    let feed = &mut step.guard.feed;
    feed.told.miss(asset, fill);
    if Some(fill.time) == read_ms {
        // The read of that moment may show it, and others beside it.
        return;
    }
    feed.missed = feed.missed.saturating_add(1);
    if feed.missed_told_ms.is_none_or(|told_ms| step.now_ms.saturating_sub(told_ms) >= AGAIN_MS) {
        feed.missed_told_ms = Some(step.now_ms);
        let (coin, began, held) = (&fill.coin, to_wire(fill.start_position), to_wire(held));
        let text = format!("a fill in {coin} began at {began} where {held} is known to be held; the account is read");
        step.record(Trouble::new(text));
    }
}

/// Takes in an account read: the chains begin anew from what it shows, and what no fill has told of waits for its fill.
pub(super) fn on_account_read(step: &mut Step<'_>, changes: &BTreeMap<u32, Decimal>) {
    doubt::on_account_read(step);
    let Guard { view, feed, .. } = &mut *step.guard;
    let Some(account) = &view.account else { return };
    let size = |asset: &u32| account.positions.get(asset).map_or(Decimal::ZERO, |position| position.szi);
    for asset in changes.keys() {
        let size = size(asset);
        let is_told =
            feed.chains.get(asset).is_some_and(|(after, time_ms)| *after == size || *time_ms >= account.venue_ms);
        let coin = view.universe.get(*asset).map(|market| &market.coin);
        let is_new = coin.and_then(|coin| feed.unlisted.remove(coin)).is_some_and(|after| after == size);
        if feed.tells_account() && !is_told && !is_new {
            feed.unexplained.insert(*asset, (size, step.now_ms));
        }
    }
    // A read of the same moment that does not show it may be from before it.
    feed.chains.retain(|asset, (after, time_ms)| {
        *time_ms > account.venue_ms || *time_ms == account.venue_ms && *after != size(asset)
    });
    feed.told.forget_before(account.venue_ms);
    feed.shown_alone.clear();
    feed.by_account.retain(|asset| feed.chains.get(asset).is_some_and(|(_, time_ms)| *time_ms > account.venue_ms));
    let (begun_ms, is_by_fill) = (account.begun_ms, !account.by_fill.is_empty());
    // However late it was asked for, it is older than what it does not show.
    let is_behind = is_by_fill || step.guard.is_behind_fills();
    let feed = &mut step.guard.feed;
    let unread_ms = feed.unread_ms.filter(|_| is_behind);
    feed.unread_ms = unread_ms.or((is_behind || feed.filled_ms >= begun_ms).then_some(begun_ms));
    if is_behind {
        step.effects.immediate.push(Command::Read(Read::AccountNow));
    }
}

/// A position changed, and no fill was told of that: the feed loses what happens.
pub(super) fn look_for_missed(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    if !step.guard.feed.tells_account() {
        step.guard.feed.unexplained.clear();
    }
    let mut unexplained = step.guard.feed.unexplained.iter();
    let due = unexplained.find(|(_, (_, since_ms))| now_ms.saturating_sub(*since_ms) >= TOLD_WITHIN_MS);
    let Some((asset, size)) = due.map(|(asset, (size, _))| (*asset, *size)) else { return };
    let coin = step.guard.view.market(asset).map_or_else(|| asset.to_string(), |market| market.coin.clone());
    step.guard.feed.unexplained.clear();
    step.guard.feed.missed = step.guard.feed.missed.saturating_add(1);
    differ(step, "a fill was not told", &format!("the position in {coin} is {}", to_wire(size)));
}
