//! The market stops that stand for a position, and those on their way to or from the venue.
//!
//! Whether a position is bare is decided with everything that may rest; whether a stop is spare only with what a read
//! showed to rest and nobody is cancelling. Both mistakes then leave a stop too many rather than one too few.

use crate::guard::state::cover::{CoverSize, of_resting, side_covered, total_size};
use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::state::watch::Reached;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// A stop that may have fired, or gone with its position, and of which nothing has told since counts for so long after that: by then
/// the open orders cannot be read.
const GONE_AFTER_MS: u64 = 5_000;

/// The open orders are asked for so often, and so far apart, while the mark stays at a stop that is shown to stand.
const MOST_ASKED: u32 = 5;
const ASKED_AGAIN_MS: u64 = 900;

/// A market and a side of it.
type Key = (u32, PositionSide);

/// A market stop that may stand for a position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandingStop {
    pub(crate) px: Decimal,
    pub(crate) size: CoverSize,
    pub(crate) is_own: bool,
    /// The order and the time when it was first seen, for one that a read showed.
    pub(crate) shown: Option<(u64, u64)>,
    /// The venue has it: a read showed it, or the venue said that it rests.
    pub(crate) is_live: bool,
    /// Its order, where the venue has it, and since when that is known; a read tells it anew.
    known: Option<(u64, u64)>,
}

impl StandingStop {
    /// Its trigger and size.
    pub(crate) fn cover(&self) -> (Decimal, CoverSize) {
        (self.px, self.size)
    }
}

/// The market stops that may stand for one side of a market, and are not on their way out.
pub(crate) fn stops_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<StandingStop> {
    let stops = all(guard, |other, is_buy| other == asset && side_covered(is_buy) == side);
    stops.map(|(_, stop)| stop).filter(|stop| !is_gone(guard, stop)).collect()
}

/// Those of which nothing shows that they are gone, here.
fn all(guard: &Guard, is_here: impl Fn(u32, bool) -> bool + Copy) -> impl Iterator<Item = (Key, StandingStop)> {
    let shown = guard.view.orders.values().filter(move |order| is_here(order.asset, order.is_buy));
    let shown = shown.filter(|order| !guard.sent.is_being_cancelled(order.oid, order.cloid)).filter_map(|order| {
        let shown = Some((order.oid, order.seen_ms));
        let (px, size) = (order.stop_px?, of_resting(order)?);
        let known = guard.view.orders_known_ms().map(|known_ms| (order.oid, known_ms));
        let stop = StandingStop { px, size, is_own: order.is_guards(), shown, is_live: true, known };
        Some(((order.asset, side_covered(order.is_buy)), stop))
    });
    let sent = guard.sent.standing_triggers().filter(move |sent| is_here(sent.asset, sent.is_buy));
    let sent = sent.filter(|sent| !sent.cloid.is_some_and(|cloid| guard.view.shows(&cloid))).filter_map(|sent| {
        let (px, size) = sent.stop?;
        let is_own = sent.cloid.is_some_and(|cloid| is_guard_stop(&cloid));
        let known = sent.resting.as_ref().map(|resting| resting.oid).zip(sent.live_ms());
        let stop = StandingStop { px, size, is_own, shown: None, is_live: known.is_some(), known };
        Some(((sent.asset, side_covered(sent.is_buy)), stop))
    });
    shown.chain(sent)
}

/// Takes note of the stops that may have fired, or gone with their position: the mark has come to them, or less is held, and nothing
/// that was sent tells why. A thin book leaves some of a position when its stop fires. Returns whether the open orders are to be read
/// for one that the mark has come to: they tell what became of it, and nothing else may for seconds.
pub(crate) fn note_doubted(guard: &mut Guard, now_ms: u64) -> bool {
    let (less, marked_ms) = (std::mem::take(&mut guard.watch.less_held), guard.watch.marked_ms);
    let before = std::mem::take(&mut guard.watch.reached);
    let (mut doubted, mut reached, mut is_new) = (BTreeMap::new(), BTreeMap::new(), false);
    for (key, stop) in all(guard, |_, _| true) {
        let Some((oid, known_ms)) = stop.known else { continue };
        let since_ms = guard.watch.doubted.get(&oid).copied().filter(|since_ms| known_ms <= *since_ms);
        let is_reached = guard.view.mark(key.0).is_some_and(|mark| !key.1.losing(stop.px, mark));
        let reached_ms = (is_reached && known_ms <= marked_ms).then_some(marked_ms);
        if let Some(since_ms) = since_ms.or(reached_ms).or(less.contains(&key).then_some(now_ms)) {
            doubted.insert(oid, since_ms);
        }
        let was = before.get(&oid).copied();
        let was_there = was.filter(|was| was.is_there);
        let is_there = reached_ms.is_some() || is_reached && was_there.is_some();
        let (mut asked, mut asked_ms) = was_there.map_or((0, 0), |was| (was.asked, was.asked_ms));
        // One that was read to stand there fires within the moment, and may find nobody then. While the mark stays it is asked for a
        // few times.
        let is_due = asked == 0 || asked < MOST_ASKED && now_ms.saturating_sub(asked_ms) >= ASKED_AGAIN_MS;
        if is_there && is_due {
            (asked, asked_ms, is_new) = (asked.saturating_add(1), now_ms, true);
        }
        if is_there || was.is_some() && since_ms.is_some() {
            reached.insert(oid, Reached { is_there, asked, asked_ms });
        }
    }
    (guard.watch.doubted, guard.watch.reached) = (doubted, reached);
    is_new
}

/// Since when a stop may have fired or gone, where nothing has told of it since.
fn doubted_ms(guard: &Guard, stop: &StandingStop) -> Option<u64> {
    let (oid, known_ms) = stop.known?;
    guard.watch.doubted.get(&oid).copied().filter(|since_ms| known_ms <= *since_ms)
}

/// Whether the mark has come to a stop, of which nothing has told since.
fn may_have_fired(guard: &Guard, stop: &StandingStop) -> bool {
    let is_reached = stop.known.is_some_and(|(oid, _)| guard.watch.reached.contains_key(&oid));
    is_reached && doubted_ms(guard, stop).is_some()
}

/// Whether a stop may have gone so long ago that the open orders should have told.
fn is_gone(guard: &Guard, stop: &StandingStop) -> bool {
    let begun_ms = guard.view.account.as_ref().map(|account| account.begun_ms);
    doubted_ms(guard, stop).is_some_and(|since_ms| begun_ms >= Some(since_ms.saturating_add(GONE_AFTER_MS)))
}

/// Trigger and size of those of them that the venue has.
pub(crate) fn live_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    stops_for(guard, asset, side).iter().filter(|stop| stop.is_live).map(StandingStop::cover).collect()
}

/// The same without those that may have fired, or gone with a position which has ended, since they were last heard of.
pub(crate) fn lasting_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    let ended_ms = guard.watch.ended_ms.get(&(asset, side)).copied();
    let lasts = |stop: &StandingStop| {
        let is_later = ended_ms.is_none() || stop.known.map(|(_, known_ms)| known_ms) > ended_ms;
        stop.is_live && is_later && !may_have_fired(guard, stop)
    };
    stops_for(guard, asset, side).iter().filter(|stop| lasts(stop)).map(StandingStop::cover).collect()
}

/// Those of them that more than one read tells of, each as far as both do: the farther trigger, and the smaller size. One whose
/// answer alone is known is as the venue said.
pub(crate) fn sure_for(guard: &Guard, asset: u32, side: PositionSide) -> Vec<(Decimal, CoverSize)> {
    let live = stops_for(guard, asset, side).into_iter().filter(|stop| stop.is_live);
    let sure = live.filter_map(|stop| {
        let Some((oid, _)) = stop.shown else { return Some(stop.cover()) };
        let (px, size) = guard.view.orders.get(&oid)?.before?;
        let size = match stop.size {
            CoverSize::Part(now) => CoverSize::Part(now.min(size)),
            CoverSize::Whole => CoverSize::Whole,
        };
        Some((side.further_of(px, stop.px), size))
    });
    sure.collect()
}

/// The nearest stop that the venue has for a market's position and that stands beyond its line, where it covers none of it.
pub(crate) fn too_far(guard: &Guard, asset: u32) -> Option<Decimal> {
    let line = guard.lines.get(asset)?;
    let live = live_for(guard, asset, line.side).into_iter().map(|(px, _)| px);
    line.side.nearest(live.filter(|px| !line.counts(*px)))
}

/// How much of a market's position the stops that the venue has leave without cover.
pub(crate) fn bare_size(guard: &Guard, asset: u32) -> Decimal {
    let Some(line) = guard.lines.get(asset) else { return guard.view.position(asset).abs() };
    total_size(&line.bare(&live_for(guard, asset, line.side), Decimal::ZERO))
}
