//! Entries at rest with stops that wait for them. A stop that came alive proves that its entry filled in full, also where what it
//! bought and what another stop sold went between two reads of the account.

use crate::base::amount::percent_of;
use crate::guard::state::cover::{LinePart, sort_parts, take_front, total_size};
use crate::guard::state::view::{Resting, View};
use crate::venue::info::OpenOrder;
use crate::venue::side::PositionSide;
use rust_decimal::{Decimal, dec};

/// What the rounding of the venue's prices leaves between two that are one, percent.
pub(crate) const TOLD_AWAY_PCT: Decimal = dec!(0.02);

/// The account shows what filled this long after the open orders at the latest, or they this long after it.
const SHOWN_WITHIN_MS: u64 = 10_000;

/// A stop that waits for its entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AwaitedStop {
    oid: u64,
    /// What its entry had still to fill.
    size: Decimal,
    /// The limit of its entry, which fills there.
    entry_px: Decimal,
    stop_px: Decimal,
}

/// A position of before it changed.
#[derive(Debug, Clone)]
pub(crate) struct Before {
    pub(crate) held: Decimal,
    pub(crate) entry_px: Option<Decimal>,
    pub(crate) parts: Vec<LinePart>,
    /// Of what came since, the stops that the price had passed by then.
    pub(crate) passed: Vec<LinePart>,
    /// What may have filled explains how it changed: it is no other.
    pub(crate) has_grown: bool,
    /// When it was last seen to change: only open orders that are read after that tell of it.
    pub(crate) changed_ms: u64,
    /// The venue told of entries that come to just what it grew by.
    pub(crate) is_told: bool,
}

/// The entries of one side that have rested with a stop, and those of them that have filled.
#[derive(Debug, Clone, Default)]
pub(crate) struct FilledEntries {
    awaited: Vec<AwaitedStop>,
    /// Those whose stop came alive, with when the read began that showed it.
    filled: Vec<(AwaitedStop, u64)>,
    /// When open orders were read that told nothing of a change, which nothing else tells of either: they may have lagged.
    untold_ms: Option<u64>,
}

impl Before {
    /// The stops that the price had passed of entries other than these.
    fn passed_beside(&self, filled: &[AwaitedStop]) -> impl Iterator<Item = LinePart> {
        let counted =
            |px: Decimal| filled.iter().filter(|stop| stop.stop_px == px).map(|stop| stop.size).sum::<Decimal>();
        let left = self
            .passed
            .iter()
            .map(move |part| LinePart { px: part.px, size: part.size.saturating_sub(counted(part.px)) });
        left.filter(|part| part.size > Decimal::ZERO)
    }
}

impl FilledEntries {
    /// Takes in the open orders.
    pub(crate) fn on_orders(&mut self, view: &View, asset: u32, side: PositionSide, begun_ms: u64) {
        let is_alive = |stop: &AwaitedStop| view.orders.get(&stop.oid).is_some_and(|order| order.stop_px.is_some());
        self.filled.retain(|(_, seen_ms)| begun_ms.saturating_sub(*seen_ms) <= SHOWN_WITHIN_MS);
        // What comes alive behind such a change may be what made it, and counts once.
        self.untold_ms = self.untold_ms.filter(|untold_ms| begun_ms.saturating_sub(*untold_ms) <= SHOWN_WITHIN_MS);
        let new = self.awaited.iter().filter(|stop| self.untold_ms.is_none() && is_alive(stop));
        self.filled.extend(new.map(|stop| (*stop, begun_ms)));
        let is_here = |order: &&Resting| order.asset == asset && order.is_entry();
        let entries = view.orders.values().filter(is_here).filter(|order| order.is_buy == side.opening().is_buy());
        self.awaited = entries.flat_map(awaited).collect();
    }

    /// Takes note of open orders that tell nothing of a change.
    pub(crate) fn on_untold(&mut self, before: &Before, (held, entry_px): (Decimal, Option<Decimal>), begun_ms: u64) {
        // What closes a part and nothing else leaves the entry price as it was.
        if (held > before.held || has_moved(before, entry_px)) && !before.is_told {
            self.untold_ms = Some(begun_ms);
        }
    }

    /// The line of a position that changed, with what filled counted as if a read had shown it in between: the nearest stops
    /// were hit first. `None` where nothing is known to have filled, or the entry price does not show it.
    pub(crate) fn line_since(
        &mut self,
        before: &Before,
        side: PositionSide,
        (held, entry_px): (Decimal, Option<Decimal>),
    ) -> Option<Vec<LinePart>> {
        let filled: Vec<AwaitedStop> = std::mem::take(&mut self.filled).into_iter().map(|(stop, _)| stop).collect();
        let added = filled.iter().fold(Decimal::ZERO, |sum, stop| sum.saturating_add(stop.size));
        let paid = |stop: &AwaitedStop| stop.size.saturating_mul(stop.entry_px);
        let paid = filled.iter().map(paid).fold(Decimal::ZERO, Decimal::saturating_add);
        let (from_px, entry_px) = (before.entry_px?, entry_px?);
        let together = before.held.saturating_mul(from_px).saturating_add(paid);
        let least_px = together.checked_div(before.held.saturating_add(added))?;
        let (least, moved) = (least_px.saturating_sub(from_px), entry_px.saturating_sub(from_px));
        let rounding = percent_of(from_px, TOLD_AWAY_PCT);
        let is_shown = least.abs() >= rounding
            && moved.is_sign_negative() == least.is_sign_negative()
            && moved.abs().saturating_add(rounding) >= least.abs();
        let new = filled.iter().map(|stop| LinePart { px: stop.stop_px, size: stop.size });
        let mut line: Vec<LinePart> = before.parts.iter().copied().chain(new).collect();
        sort_parts(side, &mut line);
        // No stop stood for what the price has passed, so none of it was hit.
        let passed: Vec<LinePart> = before.passed_beside(&filled).collect();
        let over = total_size(&line).saturating_add(total_size(&passed)).saturating_sub(held);
        take_front(&mut line, over);
        line.extend(passed);
        is_shown.then_some(line)
    }
}

fn awaited(entry: &Resting) -> impl Iterator<Item = AwaitedStop> + '_ {
    entry.order.children.iter().filter_map(|child: &OpenOrder| {
        // What of the entry has filled already is in the line of the position.
        let (oid, size, stop_px) = (child.oid, child.sz.min(entry.size), child.market_stop_px()?);
        Some(AwaitedStop { oid, size, entry_px: entry.px, stop_px })
    })
}

/// Whether its entry price has moved, which selling does not do.
fn has_moved(before: &Before, entry_px: Option<Decimal>) -> bool {
    let prices = before.entry_px.zip(entry_px);
    prices.is_some_and(|(from_px, px)| px.saturating_sub(from_px).abs() >= percent_of(from_px, TOLD_AWAY_PCT))
}

/// Whether a position that changed while nobody watched is another: each of its stops was reached meanwhile, and its entry price
/// has moved, and nothing that may have filled explains that.
pub(crate) fn is_another(before: &Before, side: PositionSide, entry_px: Option<Decimal>, mark: Decimal) -> bool {
    let is_all_hit = before.parts.iter().all(|part| !side.losing(part.px, mark));
    has_moved(before, entry_px) && !before.has_grown && is_all_hit
}
