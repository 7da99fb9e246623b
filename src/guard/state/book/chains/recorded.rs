//! Chains over a restart: the places where fills are missing, and the newest moments, of which others may come.

use super::{Chains, Gap};
use crate::guard::state::book::held::{Held, Link};
use crate::guard::state::book::moment::Moment;
use crate::record::book_record::{GapRecord, MomentRecord};
use crate::venue::fill::FillId;

impl Chains {
    /// The places where fills are missing, for the next life.
    pub(crate) fn gap_records(&self) -> Vec<GapRecord> {
        let gaps = self.gaps.iter().chain(&self.filled).cloned();
        let record = |Gap { coin, from_ms, to_ms, from, to, left, looked_ms, found, .. }| {
            let looked_ms = Some(if found.is_empty() { looked_ms } else { u64::MAX });
            GapRecord { coin, from_ms, to_ms, from, to, left, looked_ms }
        };
        gaps.map(record).collect()
    }

    /// Takes in one that an earlier life has found: it is looked for anew. Where a part of it was found nobody knows which, so it is
    /// not looked for behind what is read.
    pub(crate) fn restore_gap(&mut self, record: GapRecord) {
        let GapRecord { coin, from_ms, to_ms, from, to, left, looked_ms } = record;
        // Earlier versions did not say, and a part that adds up to nothing looks like none.
        let is_whole = || left == to.saturating_sub(from);
        let looked_ms = looked_ms.unwrap_or_else(|| if is_whole() { from_ms } else { u64::MAX });
        let found = Vec::new();
        let gap = Gap { coin, from_ms, to_ms, from, to, left, found_ms: 0, reads: 0, looked_ms, found };
        if left.is_zero() {
            self.filled.push(gap);
        } else {
            self.add_gap(gap);
        }
    }

    /// The newest moments, for the next life: of those before `read_ms` all is on record.
    pub(crate) fn moment_records(&self, read_ms: u64) -> Vec<MomentRecord> {
        let open = self.moments.iter().filter_map(|(coin, moment)| {
            let time_ms = self.last.get(coin).map(|held| held.time_ms).filter(|time_ms| *time_ms >= read_ms)?;
            let link = |link: &Link| (link.id.tid, link.id.oid, link.before, link.after);
            Some(MomentRecord {
                coin: coin.clone(),
                time_ms,
                before: moment.before.map(|held| (held.after, held.time_ms, held.opened_ms)),
                late: moment.late,
                links: moment.links().iter().map(link).collect(),
            })
        });
        open.collect()
    }

    /// Takes in a moment that an earlier life began, where it still is the newest one of its market.
    pub(crate) fn restore_moment(&mut self, MomentRecord { coin, time_ms, before, late, links }: MomentRecord) {
        let before = before.map(|(after, time_ms, opened_ms)| Held { after, time_ms, opened_ms });
        let link = |(tid, oid, before, after)| Link { id: FillId { time: time_ms, tid, oid }, before, after };
        let links: Vec<Link> = links.into_iter().map(link).collect();
        if self.last.get(&coin).is_some_and(|held| held.time_ms == time_ms) && !links.is_empty() {
            self.moments.insert(coin, Moment::restored(before, late, links));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::Decimal;

    /// The next life of a book, as a checkpoint has it.
    fn next(chains: &Chains) -> Chains {
        let mut next = Chains::default();
        chains.gap_records().into_iter().for_each(|gap| next.restore_gap(gap));
        chains.positions().for_each(|(coin, held)| next.restore(coin.clone(), *held));
        let text = serde_json::to_string(&chains.moment_records(0)).unwrap();
        let moments: Vec<MomentRecord> = serde_json::from_str(&text).unwrap();
        moments.into_iter().for_each(|moment| next.restore_moment(moment));
        next
    }

    /// Four fills of a moment are told in every order, with a restart between each two: no gap is left, and what comes later joins.
    #[test]
    fn fills_of_one_moment_are_linked_over_restarts() {
        let at = |time: u64, from: u64| {
            let (id, before) = (FillId { time, tid: from, oid: 1 }, Decimal::from(from));
            Link { id, before, after: before + Decimal::ONE }
        };
        for code in 0..24_u64 {
            let mut left = vec![1_u64, 2, 3, 4];
            let order: Vec<u64> = [code % 4, code / 4 % 3, code / 12, 0]
                .map(|place| left.remove(usize::try_from(place).unwrap()))
                .to_vec();
            let mut chains = Chains::default();
            chains.link("ETH", &at(5, 0), 100);
            for from in &order {
                chains.link("ETH", &at(7, *from), 100);
                chains.settle(100);
                chains = next(&chains);
            }
            assert!(chains.gaps.is_empty(), "{order:?}: {:?}", chains.gaps);
            assert!(!chains.link("ETH", &at(9, 5), 100) && !chains.settle(100), "{order:?}: {:?}", chains.gaps);
        }
        // Of a moment that is read through nothing is kept.
        let mut chains = Chains::default();
        chains.link("ETH", &at(5, 0), 100);
        assert_eq!((chains.moment_records(5).len(), chains.moment_records(6).len()), (1, 0));
    }
}
