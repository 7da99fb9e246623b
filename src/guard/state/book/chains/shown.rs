//! Gaps that an answer shows to be none: fills of one moment that came late may have been put elsewhere than they belong, and an
//! answer has all that there are beside one another.

use super::{Chains, Gap};
use crate::venue::fill::Fill;

impl Chains {
    /// Forgets the gaps that an answer with all fills of between these times shows none in.
    pub(crate) fn show(&mut self, fills: &[Fill], since_ms: u64, up_to_ms: u64) {
        self.gaps.retain(|gap| {
            let is_within = since_ms <= gap.from_ms && gap.to_ms <= up_to_ms;
            !is_within || !gap.is_none_in(fills.iter().filter(|fill| fill.coin == gap.coin))
        });
    }
}

impl Gap {
    /// Whether these fills go all the way from the one before it to the one after it, each from where the one before it ended.
    fn is_none_in<'f>(&self, fills: impl Iterator<Item = &'f Fill>) -> bool {
        // What came before tells which of a moment's is the first.
        let mut way = Chains::default().in_order(fills.cloned().collect());
        way.retain(|fill| (self.from_ms..=self.to_ms).contains(&fill.time));
        let mut steps = way.iter().zip(way.iter().skip(1));
        let is_joined = steps.all(|(before, after)| before.position_after() == Some(after.start_position));
        let begins = way.first().is_some_and(|first| first.time == self.from_ms || first.start_position == self.from);
        begins && is_joined && way.last().is_some_and(|last| last.time == self.to_ms)
    }
}
