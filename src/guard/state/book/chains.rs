//! Chains of fills: in each market a fill begins at the position at which the one before it ended. So fills of one millisecond
//! have an order, and one that is missing shows.

use crate::guard::state::book::held::{Held, Link};
use crate::guard::state::book::moment::Moment;
use crate::venue::fill::{Fill, FillId};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

mod ordered;
mod recorded;
mod shown;
#[cfg(test)]
mod tests;

/// Breaks that are kept in mind at once: the oldest goes first.
const MOST_GAPS: usize = 64;
/// Places of one moment at which fills are missing: with more of them it is not linked anew any more.
const MOST_OF_MOMENT: usize = 16;
/// Fills that are remembered of one of them: it is not looked for further behind what is read then.
const MOST_FOUND: usize = 10_000;
/// Markets whose position is kept in mind: more than there are.
const MOST_COINS: usize = 1_024;

/// A place where fills are missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) coin: String,
    /// When the fills before and after it were.
    pub(crate) from_ms: u64,
    pub(crate) to_ms: u64,
    /// The position after the one before it.
    pub(crate) from: Decimal,
    /// The position that the one after it began at.
    pub(crate) to: Decimal,
    /// What of the way between both no fill has shown yet.
    left: Decimal,
    /// When it was found.
    pub(crate) found_ms: u64,
    /// Reads since then that have not closed it.
    pub(crate) reads: u32,
    /// Answers have shown what there is of it up to this time: it is asked for once, also where it lies before all that is read.
    looked_ms: u64,
    /// Fills that have shown a part of it.
    found: Vec<FillId>,
}

impl Gap {
    /// What is missing before a fill where this was held before it, and `late` has come since; none where nothing is.
    fn between(coin: &str, held: Held, link: &Link, late: Decimal, now_ms: u64) -> Option<Self> {
        let left = link.before.saturating_sub(held.after).saturating_sub(late);
        (!left.is_zero()).then(|| Self {
            coin: coin.to_owned(),
            from_ms: held.time_ms,
            to_ms: link.id.time,
            from: held.after,
            to: link.before,
            left,
            found_ms: now_ms,
            reads: 0,
            looked_ms: held.time_ms,
            found: Vec::new(),
        })
    }

    /// What of the way between both no fill has shown yet.
    pub(crate) fn left(&self) -> Decimal {
        self.left
    }

    fn take(&mut self, link: &Link) {
        self.left = self.left.saturating_sub(link.after.saturating_sub(link.before));
        self.note(link.id);
    }

    /// Remembers a fill in it that is on record.
    fn note(&mut self, id: FillId) {
        self.found.push(id);
        if self.found.len() >= MOST_FOUND {
            self.looked_ms = u64::MAX;
        }
    }

    /// Whether a fill of this time may be one that is missing.
    fn spans(&self, time_ms: u64) -> bool {
        (self.from_ms..=self.to_ms).contains(&time_ms)
    }

    /// How well a fill fits in, the best first: where it joins either end, and then between the moments of both.
    fn fit(&self, link: &Link) -> u8 {
        let is_between = self.from_ms < link.id.time && link.id.time < self.to_ms;
        if link.before == self.from || link.after == self.to { 0 } else { 2_u8.saturating_sub(u8::from(is_between)) }
    }

    /// Whether a fill lies in it that is not on record: of the moments of both ends nobody knows.
    fn lacks(&self, fill: &Fill) -> bool {
        let is_within = self.from_ms < fill.time && fill.time < self.to_ms;
        self.coin == fill.coin && is_within && self.looked_ms < self.to_ms && !self.found.contains(&fill.id())
    }
}

/// Each market's position after its newest fill, with the places where fills are missing.
#[derive(Debug, Default)]
pub(crate) struct Chains {
    last: BTreeMap<String, Held>,
    /// The fills of each market's newest moment, where all that were told of it are known.
    moments: BTreeMap<String, Moment>,
    /// Markets whose newest moment has fills that are not linked yet: however many come at once, it is linked once.
    unlinked: BTreeSet<String>,
    pub(crate) gaps: Vec<Gap>,
    /// Those before the newest moments that what has come since has filled by its sum: that may be by chance, and one opens anew then.
    /// What was found of it and looked through stays known.
    filled: Vec<Gap>,
}

/// Whether a market's positions change by fills alone: tokens come and go otherwise.
pub(crate) fn is_perp(coin: &str) -> bool {
    !coin.starts_with(['@', '#', '+']) && !coin.contains('/')
}

impl Chains {
    /// The venue's time of the newest fill that is on record.
    pub(crate) fn newest_ms(&self) -> Option<u64> {
        self.last.values().map(|held| held.time_ms).max()
    }

    /// Takes in fills that are on record now; whether one is missing before any of them.
    pub(crate) fn add<'f>(&mut self, fills: impl IntoIterator<Item = &'f Fill>, now_ms: u64) -> bool {
        let mut is_broken = false;
        for fill in fills {
            if let Some(after) = fill.position_after() {
                is_broken |= self.link(&fill.coin, &Link { id: fill.id(), before: fill.start_position, after }, now_ms);
            }
        }
        self.settle(now_ms) || is_broken
    }

    /// The same of what one fill made of a market's position, which [`Self::settle`] has to follow.
    pub(crate) fn link(&mut self, coin: &str, link: &Link, now_ms: u64) -> bool {
        if !is_perp(coin) {
            return false;
        }
        let (last, time_ms) = (self.last.get(coin).copied(), link.id.time);
        if last.is_some_and(|held| time_ms < held.time_ms) {
            self.take_late(coin, link);
            return false;
        }
        if last.is_some_and(|held| time_ms == held.time_ms) {
            return self.take_within(coin, link, now_ms);
        }
        let was_broken = self.settle_moment(coin, now_ms);
        let last = self.last.get(coin).copied();
        let gap = last.and_then(|held| Gap::between(coin, held, link, Decimal::ZERO, now_ms));
        let is_broken = gap.is_some();
        gap.into_iter().for_each(|gap| self.add_gap(gap));
        self.restore(coin.to_owned(), Held::next(last, link));
        self.moments.insert(coin.to_owned(), Moment::new(last, *link));
        self.filled.retain(|gap| gap.coin != coin);
        was_broken || is_broken
    }

    /// Links what was taken in and is not linked yet; whether more is missing now.
    pub(crate) fn settle(&mut self, now_ms: u64) -> bool {
        let mut is_broken = false;
        while let Some(coin) = self.unlinked.first().cloned() {
            is_broken |= self.settle_moment(&coin, now_ms);
        }
        is_broken
    }

    /// Takes in one of before a market's newest moment: a part of what was missing. That moment is linked anew, for it begins
    /// elsewhere than it was thought to.
    fn take_late(&mut self, coin: &str, link: &Link) {
        let time_ms = link.id.time;
        let within = self.gaps.iter_mut().filter(|gap| gap.coin == coin && gap.spans(time_ms));
        let taken_to_ms = within.min_by_key(|gap| gap.fit(link)).map(|gap| {
            gap.take(link);
            gap.to_ms
        });
        if taken_to_ms.is_none() {
            let filled = self.filled.iter_mut().find(|gap| gap.coin == coin && gap.spans(time_ms));
            filled.into_iter().for_each(|gap| gap.note(link.id));
        }
        let (filled, open) = std::mem::take(&mut self.gaps).into_iter().partition(|gap| gap.left.is_zero());
        self.gaps = open;
        self.keep_filled(filled);
        let Some(moment) = self.moments.get_mut(coin) else { return };
        // One that was missing up to the moment before is in what that has left.
        let is_since = moment.before.is_some_and(|before| {
            time_ms > before.time_ms || time_ms == before.time_ms && taken_to_ms.is_none_or(|to_ms| to_ms > time_ms)
        });
        if is_since {
            moment.late = moment.late.saturating_add(link.after.saturating_sub(link.before));
            self.unlinked.insert(coin.to_owned());
        }
    }

    /// Takes in one of a market's newest moment, told in whatever order; whether one is missing that was not before.
    fn take_within(&mut self, coin: &str, link: &Link, now_ms: u64) -> bool {
        let has_room = self.moments.get_mut(coin).map(|moment| moment.push(*link));
        // What came before is linked while its moment is known.
        let is_broken = has_room == Some(false) && self.settle_moment(coin, now_ms);
        if has_room == Some(false) {
            self.moments.remove(coin);
        }
        let last = self.last.get(coin).copied();
        let is_of = |gap: &Gap| gap.coin == coin && gap.to_ms == link.id.time;
        let is_next = last.is_some_and(|held| held.after == link.before);
        let is_whole = has_room == Some(true);
        let is_open = is_whole && (self.unlinked.contains(coin) || self.gaps.iter().any(is_of));
        if is_next && !is_open {
            self.restore(coin.to_owned(), Held::next(last, link));
        } else if is_whole {
            self.unlinked.insert(coin.to_owned());
        } else {
            // Of one that an earlier life began nobody knows the others.
            self.take_late(coin, link);
        }
        is_broken
    }

    /// Links a market's newest moment anew, where it has fills that are not linked; whether more is missing now.
    fn settle_moment(&mut self, coin: &str, now_ms: u64) -> bool {
        let time_ms = self.last.get(coin).map(|held| held.time_ms);
        if !self.unlinked.remove(coin) {
            return false;
        }
        let is_of = |gap: &Gap| gap.coin == coin && Some(gap.to_ms) == time_ms;
        let (old, others) = std::mem::take(&mut self.gaps).into_iter().partition::<Vec<Gap>, _>(is_of);
        self.gaps = others;
        let (filled, others) = std::mem::take(&mut self.filled).into_iter().partition::<Vec<Gap>, _>(is_of);
        self.filled = others;
        let open = old.len();
        let known: Vec<Gap> = old.into_iter().chain(filled).collect();
        let is_broken = self.link_anew(coin, (&known, open), now_ms);
        let is_open = |gap: &Gap| self.gaps.iter().any(|open| is_of(open) && open.from_ms == gap.from_ms);
        let filled = known.into_iter().filter(|gap| !is_open(gap)).collect();
        self.keep_filled(filled);
        is_broken
    }

    /// Keeps in mind what was found of places that were filled, as long as their market's newest moment may open them anew.
    fn keep_filled(&mut self, filled: Vec<Gap>) {
        let newest_ms = |coin: &str| self.last.get(coin).map(|held| held.time_ms);
        let may_open = |gap: &Gap| newest_ms(&gap.coin) == Some(gap.to_ms);
        let filled = filled.into_iter().filter(may_open).map(|gap| Gap { left: Decimal::ZERO, ..gap });
        self.filled.extend(filled.collect::<Vec<_>>());
        let over = self.filled.len().saturating_sub(MOST_GAPS);
        self.filled.drain(..over);
    }

    /// Links a market's newest moment anew; `old` was missing in it and before it, the first `open` of them until now. Whether more is
    /// missing now.
    fn link_anew(&mut self, coin: &str, (old, open): (&[Gap], usize), now_ms: u64) -> bool {
        let Some(moment) = self.moments.get(coin) else { return false };
        let (mut held, mut late, mut gaps) = (moment.before, moment.late, Vec::new());
        for link in moment.in_order() {
            let gap = held.and_then(|held| Gap::between(coin, held, link, late, now_ms));
            // Reads that have looked for it count on.
            let known = |gap: &Gap| old.iter().find(|old| old.from_ms == gap.from_ms).cloned();
            gaps.extend(gap.map(|gap| match known(&gap) {
                Some(old) => Gap { to: gap.to, from: gap.from, left: gap.left, ..old },
                None => gap,
            }));
            (held, late) = (Some(Held::next(held, link)), Decimal::ZERO);
        }
        let is_broken = gaps.len() > open;
        if gaps.len() > MOST_OF_MOMENT {
            self.moments.remove(coin);
        }
        gaps.into_iter().for_each(|gap| self.add_gap(gap));
        held.into_iter().for_each(|held| self.restore(coin.to_owned(), held));
        is_broken
    }

    /// Keeps in mind that fills are missing.
    pub(crate) fn add_gap(&mut self, gap: Gap) {
        self.gaps.push(gap);
        let over = self.gaps.len().saturating_sub(MOST_GAPS);
        self.gaps.drain(..over);
    }

    /// Whether a fill of before all that is read is one of those that are missing.
    pub(crate) fn lacks(&self, fill: &Fill) -> bool {
        self.gaps.iter().any(|gap| gap.lacks(fill))
    }

    /// From when on the next read has to show fills, where those from `read_ms` on are wanted anyway.
    pub(crate) fn look_from_ms(&self, read_ms: u64) -> u64 {
        let unseen = self.gaps.iter().filter(|gap| gap.looked_ms < gap.to_ms).map(|gap| gap.looked_ms);
        unseen.min().map_or(read_ms, |looked_ms| looked_ms.min(read_ms))
    }

    /// An answer has shown all there is between these times.
    pub(crate) fn looked(&mut self, since_ms: u64, up_to_ms: u64) {
        let gaps = self.gaps.iter_mut().chain(&mut self.filled).filter(|gap| since_ms <= gap.looked_ms);
        gaps.for_each(|gap| gap.looked_ms = gap.looked_ms.max(up_to_ms));
    }

    /// An earlier life has told that fills are missing between these times.
    pub(crate) fn forget_gap(&mut self, from_ms: u64, to_ms: u64) {
        self.gaps.retain(|gap| (gap.from_ms, gap.to_ms) != (from_ms, to_ms));
    }

    /// The position after a market's newest fill.
    pub(crate) fn restore(&mut self, coin: String, held: Held) {
        self.last.insert(coin, held);
        if self.last.len() > MOST_COINS {
            let oldest = self.last.iter().min_by_key(|(_, held)| held.time_ms).map(|(coin, _)| coin.clone());
            if let Some(coin) = oldest {
                self.last.remove(&coin);
                self.moments.remove(&coin);
                self.unlinked.remove(&coin);
            }
        }
    }

    /// The same of a market of which no fill is known.
    pub(crate) fn restore_unknown(&mut self, coin: &str, held: Decimal, time_ms: u64) {
        if is_perp(coin) && !self.last.contains_key(coin) {
            self.restore(coin.to_owned(), Held::unknown(held, time_ms));
        }
    }

    /// Whether something is held in the perps of another dex.
    pub(crate) fn holds_elsewhere(&self) -> bool {
        self.last.iter().any(|(coin, held)| coin.contains(':') && !held.after.is_zero())
    }

    /// The position after a market's newest fill.
    pub(crate) fn held(&self, coin: &str) -> Option<&Held> {
        self.last.get(coin)
    }

    /// Each market's position after its newest fill.
    pub(crate) fn positions(&self) -> impl Iterator<Item = (&String, &Held)> + Clone {
        self.last.iter()
    }

    /// Since when a position of this size is open, where its fills tell of it.
    pub(crate) fn opened_ms(&self, coin: &str, size: Decimal) -> Option<u64> {
        // Where the account shows another size some fills are not on record yet.
        self.last.get(coin).filter(|held| held.after == size)?.opened_ms
    }

    /// Since when fills are missing.
    pub(crate) fn missing_since_ms(&self) -> Option<u64> {
        self.gaps.iter().map(|gap| gap.from_ms).min()
    }
}
