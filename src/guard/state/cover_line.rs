//! The line of a position: the trigger that a stop must not be farther than to count as its cover.
//!
//! For what was ever covered it is the tightest trigger that it was covered at, and it never moves away while the position
//! lasts. For what was not yet covered it is the widest trigger that the rules allow, where prices are now.

use crate::guard::state::cover::{
    CoverSize, LinePart, bare_parts, bound_parts, sort_parts, take_front, take_out, tighter, total_size,
};
use crate::guard::state::filled_entries::{Before, FilledEntries, is_another};
use crate::guard::state::held_now::{HeldNow, added_at};
use crate::guard::state::judged_stops::JudgedStops;
use crate::guard::state::view::View;
use crate::record::risk_record::PositionLine;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// Where what was never covered may have its stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FirstStop {
    /// The widest trigger at which a stop counts.
    pub(crate) widest_px: Decimal,
    /// Where the guard's own goes; `None` where none can stand.
    pub(crate) own_px: Option<Decimal>,
}

/// The line of one market's position.
#[derive(Debug, Clone)]
pub(crate) struct CoverLine {
    pub(crate) side: PositionSide,
    pub(crate) held: Decimal,
    /// What was covered, the nearest trigger in front; never more than is held.
    parts: Vec<LinePart>,
    /// The price at which what was never covered was opened, as far as it is known.
    pub(crate) opened_px: Option<Decimal>,
    /// The stops that what was never covered was judged with, as far as it was opened through the guard.
    pub(crate) judged: JudgedStops,
    /// For what was never covered; `None` until prices are known.
    pub(crate) first_stop: Option<FirstStop>,
    /// Where the guard has sent a stop for what was never covered.
    pub(crate) sent_px: Option<Decimal>,
    /// A stop that is not hit before this price covers nothing.
    pub(crate) liquidation_px: Option<Decimal>,
    pub(super) entry_px: Option<Decimal>,
    /// Of before it changed, until the open orders are read that tell how it did.
    before: Option<Before>,
    entries: FilledEntries,
    /// An earlier life remembered it, and the open orders were not read since.
    is_restored: bool,
}

impl CoverLine {
    /// A position that was never covered.
    pub(crate) fn new(side: PositionSide, held: Decimal, entry_px: Option<Decimal>) -> Self {
        Self {
            side,
            held,
            parts: Vec::new(),
            opened_px: entry_px,
            judged: JudgedStops::default(),
            first_stop: None,
            sent_px: None,
            liquidation_px: None,
            entry_px,
            before: None,
            entries: FilledEntries::default(),
            is_restored: false,
        }
    }

    /// One that was opened since the read before.
    pub(crate) fn opened(side: PositionSide, now: &HeldNow) -> Self {
        Self { judged: now.by.judged.of_size(side, now.held), ..Self::new(side, now.held, now.entry_px) }
    }

    /// One that an earlier life remembered.
    pub(crate) fn restored(record: &PositionLine) -> Self {
        let side = if record.is_long { PositionSide::Long } else { PositionSide::Short };
        let parts = record.parts.iter().map(|(px, size)| LinePart { px: *px, size: *size }).collect();
        let mut line =
            Self { parts, opened_px: None, is_restored: true, ..Self::new(side, record.held, record.entry_px) };
        line.shrink_to(record.held);
        line
    }

    /// What a later life must know of it.
    pub(crate) fn record(&self, asset: u32) -> PositionLine {
        let parts = self.parts.iter().map(|part| (part.px, part.size)).collect();
        let Self { side, held, entry_px, .. } = self;
        PositionLine { asset, is_long: side.is_long(), held: *held, parts, entry_px: *entry_px }
    }

    /// The position as it is read now. What is left of one that shrank keeps the farther part of its line: the nearer
    /// stops are hit first.
    pub(crate) fn resize(&mut self, position: &HeldNow, now_ms: u64) {
        let HeldNow { held, entry_px, .. } = *position;
        let has_new = self.uncovered() > Decimal::ZERO;
        self.remember(position, now_ms);
        let is_anew = self.is_opened_anew(position);
        if is_anew {
            *self = Self { entries: std::mem::take(&mut self.entries), ..Self::opened(self.side, position) };
        } else if held > self.held {
            let px = added_at((self.held, self.entry_px), (held, entry_px)).or(entry_px);
            self.judged.add(self.side, position.by.judged.of_growth(self.side, held.saturating_sub(self.held)));
            self.opened_px = match (self.opened_px.filter(|_| has_new), px) {
                (Some(known), Some(px)) => Some(self.side.further_of(known, px)),
                (None, px) | (px, None) => px,
            };
            // What was sent for less says nothing of where more may have its stop.
            self.sent_px = None;
        }
        let grown = held.saturating_sub(self.held).max(Decimal::ZERO);
        (self.held, self.entry_px) = (held, entry_px);
        self.shrink_to(held);
        if !is_anew {
            self.replace_farther(position.by.judged.beyond_growth(self.side, grown, position.by.surely_closed()));
            self.hold_fired(&position.by.fired);
        }
        self.settle_judged(&[]);
    }

    /// Remembers what it was before it changed, until open orders are read that tell how it did.
    fn remember(&mut self, position: &HeldNow, now_ms: u64) {
        if (position.held, position.entry_px) == (self.held, self.entry_px) {
            return;
        }
        let (held, entry_px, parts) = (self.held, self.entry_px, self.parts.clone());
        let has_grown = self.has_surely_grown(position);
        let grown = position.held.saturating_sub(self.held);
        let is_told = position.by.told.is_some_and(|told| told.size == grown);
        let new = Before { held, entry_px, parts, passed: Vec::new(), has_grown, changed_ms: now_ms, is_told };
        let before = self.before.get_or_insert(new);
        (before.changed_ms, before.is_told) = (now_ms, before.is_told && is_told);
    }

    /// Whether a read shows it as large as before, and at another entry price.
    pub(crate) fn is_repriced(&self, position: &HeldNow) -> bool {
        position.held == self.held && position.entry_px != self.entry_px
    }

    /// Whether it changed, and nothing that was read since has told how.
    pub(crate) fn has_changed(&self) -> bool {
        self.before.is_some()
    }

    /// Takes in the open orders of a read. Those of after the last change tell of entries that filled, by stops that came alive.
    pub(crate) fn on_orders(&mut self, view: &View, asset: u32, begun_ms: u64, mark: Option<Decimal>) {
        self.entries.on_orders(view, asset, self.side, begun_ms);
        if self.before.as_ref().is_some_and(|before| begun_ms < before.changed_ms) {
            return;
        }
        let was_away = std::mem::take(&mut self.is_restored);
        let Some(before) = self.before.take() else { return };
        if let Some(parts) = self.entries.line_since(&before, self.side, (self.held, self.entry_px)) {
            self.parts = parts;
            sort_parts(self.side, &mut self.parts);
            self.shrink_to(self.held);
            bound_parts(&mut self.parts);
            self.settle_judged(&self.parts.clone());
        } else if was_away && mark.is_some_and(|mark| is_another(&before, self.side, self.entry_px, mark)) {
            let entries = std::mem::take(&mut self.entries);
            *self = Self { entries, ..Self::new(self.side, self.held, self.entry_px) };
        } else {
            self.entries.on_untold(&before, (self.held, self.entry_px), begun_ms);
        }
    }

    /// Something was closed in the moment in which these filled, and nobody knows whether before them or after: the nearer of both
    /// pictures holds, so they stand for as much of what was covered farther away.
    fn replace_farther(&mut self, filled: Vec<LinePart>) {
        for new in filled {
            let mut left = new.size;
            for part in self.parts.iter_mut().rev().filter(|part| self.side.nearer(new.px, part.px)) {
                let gone = left.min(part.size);
                (part.size, left) = (part.size.saturating_sub(gone), left.saturating_sub(gone));
            }
            self.parts.retain(|part| part.size > Decimal::ZERO);
            let taken = LinePart { size: new.size.saturating_sub(left), ..new };
            self.judged.add(self.side, JudgedStops::each((taken.size > Decimal::ZERO).then_some(taken)));
        }
    }

    /// Takes in the stops that parts of it were judged with, which turns out now: of what was never covered, and else of what is
    /// covered farther away.
    pub(crate) fn judge(&mut self, mut parts: Vec<LinePart>) {
        sort_parts(self.side, &mut parts);
        let mut left = self.uncovered();
        let new = parts.iter_mut().filter_map(|part| {
            let size = part.size.min(left);
            (part.size, left) = (part.size.saturating_sub(size), left.saturating_sub(size));
            (size > Decimal::ZERO).then_some(LinePart { px: part.px, size })
        });
        let new = JudgedStops::each(new.collect::<Vec<_>>());
        if new.size() > Decimal::ZERO {
            let others = std::mem::replace(&mut self.judged, new);
            if left > Decimal::ZERO {
                self.judged.add(self.side, others.of_size(self.side, left));
            }
        }
        self.replace_farther(parts);
    }

    /// Takes in what of it was covered so by an earlier life, as fills tell.
    pub(crate) fn keep(&mut self, kept: &[LinePart]) {
        self.parts = tighter(self.side, &self.parts, kept);
        self.shrink_to(self.held);
        self.settle_judged(&[]);
    }

    /// Stops that fired leave this much of what they would have closed: they stood for it.
    fn hold_fired(&mut self, left: &[LinePart]) {
        if !left.is_empty() {
            let stops: Vec<_> = left.iter().map(|part| (part.px, CoverSize::Part(part.size))).collect();
            self.tighten(&stops, Decimal::ZERO);
        }
    }

    fn shrink_to(&mut self, held: Decimal) {
        let over = self.remembered().saturating_sub(held);
        take_front(&mut self.parts, over);
    }

    /// What was ever covered, the nearest trigger in front.
    pub(crate) fn covered_parts(&self) -> &[LinePart] {
        &self.parts
    }

    fn remembered(&self) -> Decimal {
        total_size(&self.parts)
    }

    /// How much of it was never covered.
    pub(crate) fn uncovered(&self) -> Decimal {
        self.held.saturating_sub(self.remembered()).max(Decimal::ZERO)
    }

    /// The farthest trigger that it was covered at, or that what was never covered was judged with.
    pub(crate) fn farthest_px(&self) -> Option<Decimal> {
        self.side.furthest(self.parts.iter().map(|part| part.px).chain(self.judged.furthest(self.side)))
    }

    /// The widest trigger at which what was never covered has cover.
    pub(crate) fn widest_px(&self) -> Decimal {
        let unbounded = if self.side.is_long() { Decimal::ZERO } else { Decimal::MAX };
        let widest = self.first_stop.map_or(unbounded, |first| first.widest_px);
        self.sent_px.map_or(widest, |sent| self.side.further_of(widest, sent))
    }

    /// The position in parts, each with its line, the nearest in front; with `more` that may be held already.
    pub(crate) fn parts(&self, more: Decimal) -> Vec<LinePart> {
        let mut parts = self.parts.clone();
        let new = self.held.saturating_add(more).saturating_sub(self.remembered());
        parts.extend(self.judged.lines(self.side, new, self.widest_px()));
        sort_parts(self.side, &mut parts);
        parts
    }

    /// Whether a stop at `px` covers any part of it.
    pub(crate) fn counts(&self, px: Decimal) -> bool {
        self.counts_with(px, Decimal::ZERO)
    }

    /// The same with `more` that may be held already.
    pub(crate) fn counts_with(&self, px: Decimal, more: Decimal) -> bool {
        let farthest = self.side.furthest(self.parts(more).iter().map(|part| part.px));
        self.is_inside_liquidation(px) && farthest.is_none_or(|line_px| !self.side.nearer(line_px, px))
    }

    /// Whether a stop at `px` is hit before the position is liquidated.
    pub(crate) fn is_inside_liquidation(&self, px: Decimal) -> bool {
        self.liquidation_px.is_none_or(|liquidation_px| self.side.nearer(px, liquidation_px))
    }

    /// What these stops leave without cover, with `more` that may be held already.
    pub(crate) fn bare(&self, stops: &[(Decimal, CoverSize)], more: Decimal) -> Vec<LinePart> {
        let stops: Vec<(Decimal, CoverSize)> =
            stops.iter().copied().filter(|(px, _)| self.is_inside_liquidation(*px)).collect();
        bare_parts(self.side, &self.parts(more), &stops)
    }

    /// Where a part without cover gets the guard's own stop: at the line, or where a first one goes.
    pub(crate) fn own_px(&self, part: LinePart) -> Option<Decimal> {
        if self.parts.iter().any(|known| known.px == part.px) {
            return Some(part.px);
        }
        self.first_stop.map_or(Some(part.px), |first| first.own_px)
    }

    /// Moves the line to where these stops cover the position now, with `more` that may be held already, or less that was never
    /// covered, as far as they are tighter.
    pub(crate) fn tighten(&mut self, stops: &[(Decimal, CoverSize)], more: Decimal) {
        let held = self.held.saturating_add(more);
        let bare = self.bare(stops, more);
        let mut left = held.saturating_sub(total_size(&bare));
        let mut seen: Vec<LinePart> = Vec::new();
        let counting = stops.iter().filter(|(px, _)| self.counts_with(*px, more));
        seen.extend(counting.map(|(px, size)| LinePart { px: *px, size: size.of(held) }));
        sort_parts(self.side, &mut seen);
        seen.retain_mut(|part| {
            part.size = part.size.min(left);
            left = left.saturating_sub(part.size);
            part.size > Decimal::ZERO
        });
        // They cover what lies behind the parts that stay bare, and none of these.
        let still_bare = take_out(&mut self.parts, &bare);
        self.parts = tighter(self.side, &self.parts, &seen);
        self.parts.extend(still_bare);
        sort_parts(self.side, &mut self.parts);
        bound_parts(&mut self.parts);
        self.settle_judged(&seen);
    }

    /// Forgets what was judged of what is covered now, by these stops, or held no more.
    fn settle_judged(&mut self, covering: &[LinePart]) {
        let uncovered = self.uncovered();
        self.judged.shrink_to(self.side, uncovered, covering);
    }

    /// Takes the stops that what was never covered was judged with for its line, where the price has passed them already: no
    /// stop farther away takes their place.
    pub(crate) fn hold_judged(&mut self, mark: Decimal) {
        let passed = self.judged.take_passed(self.side, mark);
        // Other entries that turn out to have filled leave it in the line.
        self.before.iter_mut().for_each(|before| before.passed.extend(&passed));
        self.parts.extend(passed);
        sort_parts(self.side, &mut self.parts);
        bound_parts(&mut self.parts);
    }

    /// Forgets so much of what has the price beyond it, once that was closed. What the market did not take keeps its line.
    pub(crate) fn forget_closed(&mut self, px: Decimal, mut closed: Decimal) {
        for part in self.parts.iter_mut().filter(|part| !self.side.losing(part.px, px)) {
            let gone = closed.min(part.size);
            closed = closed.saturating_sub(gone);
            part.size = part.size.saturating_sub(gone);
        }
        self.parts.retain(|part| part.size > Decimal::ZERO);
    }
}
