//! Fills that the feed has told since the account was read, where the newest position alone does not say enough: those that do not
//! follow on what is known, and what they have opened while something else was closed.

use crate::guard::state::held_now::Told;
use crate::venue::fill::Fill;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Fills of a market that wait for the one before them, and orders whose fills are told apart.
const MOST_WAITING: usize = 64;

/// What they have told, by market.
#[derive(Debug, Default)]
pub(crate) struct FillsTold {
    missed: BTreeMap<u32, Missed>,
    /// What was opened on a side, up to which of the venue's times.
    opened: BTreeMap<(u32, PositionSide), (Decimal, u64)>,
    /// Positions that began from nothing since the account was read.
    begun: BTreeMap<(u32, PositionSide), Begun>,
    /// Fills without a gap since the account was read, by market.
    runs: BTreeMap<u32, Run>,
}

/// Fills that follow on one another.
#[derive(Debug)]
struct Run {
    /// The position, signed, before them and after them.
    from: Decimal,
    held: Decimal,
    newest_ms: u64,
    /// What opened, by order id, since there was last nothing.
    opened: BTreeMap<u64, Decimal>,
    /// When there was nothing in between, or another side, by the venue's time, and no read has shown what came after.
    anew_ms: Option<u64>,
}

/// A position that began from nothing.
#[derive(Debug, Clone, Copy)]
struct Begun {
    held: Decimal,
    /// The price of all that, USDC.
    paid: Decimal,
    /// When its first fill was at the venue, and its newest.
    first_ms: u64,
    newest_ms: u64,
}

/// A market in which a fill is missing: what is held there is not known before a read of after the newest.
#[derive(Debug, Default)]
struct Missed {
    newest_ms: u64,
    /// Those that begin where no other ended: those of one moment are told in any order.
    waiting: Vec<Fill>,
    is_more: bool,
}

impl FillsTold {
    /// Keeps a fill that does not follow on what is known.
    pub(crate) fn miss(&mut self, asset: u32, fill: &Fill) {
        let missed = self.missed.entry(asset).or_default();
        missed.newest_ms = missed.newest_ms.max(fill.time);
        if missed.waiting.len() < MOST_WAITING {
            missed.waiting.push(fill.clone());
        } else {
            missed.is_more = true;
        }
    }

    /// Takes out one that follows on what is known now; where it was the last one, nothing is missing any more.
    pub(crate) fn following(&mut self, asset: u32, (held, time_ms): (Decimal, u64)) -> Option<Fill> {
        let missed = self.missed.get_mut(&asset)?;
        let place = missed.waiting.iter().position(|fill| fill.start_position == held && fill.time >= time_ms)?;
        let fill = missed.waiting.remove(place);
        if missed.waiting.is_empty() && !missed.is_more {
            self.missed.remove(&asset);
        }
        Some(fill)
    }

    /// Whether a fill is missing in a market.
    pub(crate) fn is_missing(&self, asset: u32) -> bool {
        self.missed.contains_key(&asset)
    }

    /// Takes note of what a fill opened.
    pub(crate) fn note_opened(&mut self, asset: u32, fill: &Fill, after: Decimal) {
        let side = PositionSide::opened_by(fill.side);
        let opened = side.held(after).saturating_sub(side.held(fill.start_position));
        if opened > Decimal::ZERO {
            let (sum, newest_ms) = self.opened.entry((asset, side)).or_default();
            (*sum, *newest_ms) = (sum.saturating_add(opened), fill.time.max(*newest_ms));
        }
    }

    /// What was opened on a side.
    pub(crate) fn opened(&self, asset: u32, side: PositionSide) -> Decimal {
        self.opened.get(&(asset, side)).map_or(Decimal::ZERO, |(sum, _)| *sum)
    }

    /// Takes note of a fill that began a position from nothing, or went on with one that did.
    pub(crate) fn note_begun(&mut self, asset: u32, fill: &Fill, after: Decimal) {
        let Some(side) = PositionSide::of(after) else { return };
        let (before, held) = (side.held(fill.start_position), side.held(after));
        let begun = match self.begun.get(&(asset, side)) {
            _ if before.is_zero() => {
                Begun { held: Decimal::ZERO, paid: Decimal::ZERO, first_ms: fill.time, newest_ms: fill.time }
            }
            Some(begun) if begun.held == before => *begun,
            _ => return,
        };
        let more = held.saturating_sub(begun.held);
        // What is closed of it leaves its price as it was.
        let px = if more > Decimal::ZERO { Some(fill.px) } else { begun.paid.checked_div(begun.held) };
        let paid = begun.paid.saturating_add(more.saturating_mul(px.unwrap_or_default()));
        self.begun.insert((asset, side), Begun { held, paid, newest_ms: fill.time, ..begun });
    }

    /// How much is held, and at which price in the mean, of a position that began from nothing before a read of this time.
    pub(crate) fn begun(&self, asset: u32, side: PositionSide, venue_ms: u64) -> Option<Told> {
        let Begun { held, paid, .. } = self.begun.get(&(asset, side)).filter(|begun| begun.newest_ms < venue_ms)?;
        Some(Told { size: *held, px: paid.checked_div(*held)? })
    }

    /// Takes note of a fill that follows on what is known.
    pub(crate) fn note_following(&mut self, asset: u32, fill: &Fill, after: Decimal) {
        let from = fill.start_position;
        let new = || Run { from, held: from, newest_ms: 0, opened: BTreeMap::new(), anew_ms: None };
        let run = self.runs.entry(asset).or_insert_with(new);
        if run.held != from {
            *run = new();
        }
        let side = PositionSide::of(after);
        if side != PositionSide::of(from) {
            run.opened.clear();
            run.anew_ms = if from.is_zero() { run.anew_ms } else { Some(fill.time) };
        }
        let opened = side.map(|side| side.held(after).saturating_sub(side.held(from))).unwrap_or_default();
        if opened > Decimal::ZERO {
            let sum = run.opened.entry(fill.oid).or_default();
            *sum = sum.saturating_add(opened);
        }
        (run.held, run.newest_ms) = (after, run.newest_ms.max(fill.time));
        if run.opened.len() > MOST_WAITING {
            self.runs.remove(&asset);
        }
    }

    /// Takes note that the feed's account alone shows that the one position, signed, has become the other by this time of the venue's.
    pub(crate) fn note_shown(&mut self, asset: u32, (from, held): (Decimal, Decimal), time_ms: u64) {
        let is_turned = !from.is_zero() && PositionSide::of(held) != PositionSide::of(from);
        let before_ms = self.runs.get(&asset).filter(|run| run.held == from).and_then(|run| run.anew_ms);
        let anew_ms = if is_turned { Some(time_ms) } else { before_ms };
        self.runs.insert(asset, Run { from, held, newest_ms: time_ms, opened: BTreeMap::new(), anew_ms });
    }

    /// Whether what is held was opened since the account was read, and something else was held then.
    pub(crate) fn is_anew(&self, asset: u32) -> bool {
        self.runs.get(&asset).is_some_and(|run| run.anew_ms.is_some() && !run.held.is_zero())
    }

    /// The newest order that opened anything.
    pub(crate) fn newest_of(&self, asset: u32) -> Option<u64> {
        self.runs.get(&asset)?.opened.keys().next_back().copied()
    }

    /// The orders that opened what a read shows since the one before it, each with how much; `None` where fills do not tell of just
    /// that change.
    pub(crate) fn opened_by(&self, asset: u32, (before, now): (Decimal, Decimal)) -> Option<&BTreeMap<u64, Decimal>> {
        let run = self.runs.get(&asset).filter(|run| (run.from, run.held) == (before, now))?;
        (!run.opened.is_empty()).then_some(&run.opened)
    }

    /// Forgets what a read of this time of the venue's shows. One of the same moment may be from before it.
    pub(crate) fn forget_before(&mut self, venue_ms: u64) {
        self.missed.retain(|_, missed| missed.newest_ms >= venue_ms);
        for missed in self.missed.values_mut() {
            let before = missed.waiting.len();
            missed.waiting.retain(|fill| fill.time >= venue_ms);
            // One that begins where those ended is no proof any more that none is missing.
            missed.is_more |= missed.waiting.len() < before;
        }
        self.opened.retain(|_, (_, newest_ms)| *newest_ms >= venue_ms);
        // What a read can have shown of it has a line of its own by then.
        self.begun.retain(|_, begun| begun.first_ms > venue_ms);
        self.runs.retain(|_, run| run.newest_ms >= venue_ms);
        // Its later fills may be told faster than reads come: what it was before is known by then.
        self.runs.values_mut().for_each(|run| run.anew_ms = run.anew_ms.filter(|anew_ms| *anew_ms >= venue_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;
    use serde_json::json;

    const ETH: u32 = 1;

    /// A position opened anew that goes on to fill faster than reads come is another until one of after that shows it.
    #[test]
    fn it_is_another_until_a_read_shows_it() {
        let mut told = FillsTold::default();
        let follow = |told: &mut FillsTold, time: u64, before: Decimal, after: Decimal| {
            let side = if after > before { "B" } else { "A" };
            let fill = json!({"coin": "ETH", "px": "2000", "sz": (after - before).abs(), "side": side, "time": time,
                "startPosition": before, "closedPnl": "0", "oid": time, "tid": time, "crossed": false, "fee": "0", "feeToken": "USDC"});
            told.note_following(ETH, &serde_json::from_value(fill).unwrap(), after);
        };
        follow(&mut told, 10, dec!(2), dec!(0));
        assert!(!told.is_anew(ETH), "nothing is held");
        follow(&mut told, 11, dec!(0), dec!(1));
        assert!(told.is_anew(ETH));
        told.forget_before(10);
        assert!(told.is_anew(ETH), "of the same moment, and maybe from before it");
        follow(&mut told, 20, dec!(1), dec!(3));
        told.forget_before(15);
        assert!(!told.is_anew(ETH), "it was read");
        follow(&mut told, 21, dec!(3), dec!(-1));
        assert!(told.is_anew(ETH), "turned since");
    }
}
