//! The lines of all positions: kept while a position lasts, forgotten with it, and what is on disk of them.

use crate::guard::state::cover_line::CoverLine;
use crate::guard::state::ended_lines::EndedLines;
use crate::guard::state::held_now::HeldNow;
use crate::record::risk_record::PositionLine;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The lines of all positions by market.
#[derive(Debug, Clone, Default)]
pub(crate) struct CoverLines {
    lines: BTreeMap<u32, CoverLine>,
    /// What is on disk of them.
    written: BTreeMap<u32, PositionLine>,
    /// When an earlier life wrote those that it remembered.
    recorded_ms: BTreeMap<u32, u64>,
    /// Those of which one read alone has shown the end.
    pub(crate) ended: EndedLines<CoverLine>,
}

impl CoverLines {
    pub(crate) fn get(&self, asset: u32) -> Option<&CoverLine> {
        self.lines.get(&asset)
    }

    pub(crate) fn get_mut(&mut self, asset: u32) -> Option<&mut CoverLine> {
        self.lines.get_mut(&asset)
    }

    /// Remembers a line of an earlier life, which wrote it then.
    pub(crate) fn restore(&mut self, record: PositionLine, at_ms: u64) {
        let asset = record.asset;
        self.recorded_ms.insert(asset, at_ms);
        if record.parts.is_empty() {
            self.lines.remove(&asset);
        } else {
            self.lines.insert(asset, CoverLine::restored(&record));
        }
        self.written.insert(asset, record);
    }

    /// The same of a checkpoint: what was written of a line by itself is no older.
    pub(crate) fn restore_checkpointed(&mut self, record: PositionLine, at_ms: u64) {
        if !self.written.contains_key(&record.asset) {
            self.restore(record, at_ms);
        }
    }

    /// When an earlier life wrote the line of a market.
    pub(crate) fn recorded_ms(&self, asset: u32) -> u64 {
        self.recorded_ms.get(&asset).copied().unwrap_or_default()
    }

    /// The lines that moved since they were written last, and count as written from now on.
    pub(crate) fn take_moved(&mut self) -> Vec<PositionLine> {
        let known: BTreeMap<u32, PositionLine> =
            self.known().map(|(asset, line)| (asset, line.record(asset))).collect();
        let gone = self.written.values_mut().filter(|old| !old.parts.is_empty() && !known.contains_key(&old.asset));
        let gone = gone.map(|old| {
            (old.held, old.entry_px) = (Decimal::ZERO, None);
            old.parts.clear();
            old.clone()
        });
        let mut moved: Vec<PositionLine> = gone.collect();
        for (asset, now) in known {
            let old = self.written.get(&asset);
            let is_same = |old: &PositionLine| (old.is_long, &old.parts) == (now.is_long, &now.parts);
            if old.map_or(!now.parts.is_empty(), |old| !is_same(old)) {
                self.written.insert(asset, now.clone());
                moved.push(now);
            }
        }
        moved
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &CoverLine)> {
        self.lines.iter().map(|(asset, line)| (*asset, line))
    }

    /// All that a later life must know.
    pub(crate) fn known(&self) -> impl Iterator<Item = (u32, &CoverLine)> {
        self.iter().chain(self.ended.iter().filter(|(asset, _)| !self.lines.contains_key(asset)))
    }

    /// Forgets a position whose end is known.
    pub(crate) fn forget(&mut self, asset: u32) {
        self.lines.remove(&asset);
        self.ended.forget(asset);
    }

    /// Takes in all positions, by market and side, as a read of this time of the venue's shows them. A side that is flat has
    /// no line any more, once a second read shows it as well.
    pub(crate) fn set_positions(
        &mut self,
        positions: &BTreeMap<u32, (PositionSide, HeldNow)>,
        (read_ms, now_ms): (u64, u64),
    ) {
        let is_held = |asset: u32, side: PositionSide| positions.get(&asset).is_some_and(|(held, _)| *held == side);
        self.ended.believe_before(read_ms, is_held);
        let (kept, gone) =
            std::mem::take(&mut self.lines).into_iter().partition(|(asset, line)| is_held(*asset, line.side));
        self.lines = kept;
        let gone: BTreeMap<u32, CoverLine> = gone;
        gone.into_iter().for_each(|(asset, line)| self.ended.add((asset, line.side), line, read_ms));
        for (asset, (side, now)) in positions {
            // Was it there all along, or opened since?
            let back = self.ended.take((*asset, *side)).filter(|line| !line.is_priced_anew(now));
            let new = || CoverLine::opened(*side, now);
            self.lines.entry(*asset).or_insert_with(|| back.unwrap_or_else(new)).resize(now, now_ms);
        }
    }
}
