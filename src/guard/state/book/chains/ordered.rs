//! Fills put in their order before they go on record: by time, and those of one moment by where each begins.

use std::collections::BTreeMap;

use rust_decimal::Decimal;

use super::Chains;
use crate::guard::state::book::moment::{Moment, chained};
use crate::venue::fill::Fill;

impl Chains {
    /// The position that a market's fills of a moment begin at, as far as those on record tell.
    fn held_before(&self, coin: &str, time_ms: u64) -> Option<Decimal> {
        let last = self.last.get(coin)?;
        if time_ms > last.time_ms {
            return Some(last.after);
        }
        if time_ms == last.time_ms {
            return self.moments.get(coin).map_or(Some(last.after), Moment::from);
        }
        let gap = self.gaps.iter().find(|gap| gap.coin == coin && (gap.from_ms..=gap.to_ms).contains(&time_ms))?;
        Some(gap.to.saturating_sub(gap.left))
    }

    /// Puts fills in their order: by time, and those of one moment and market by where each begins.
    pub(crate) fn in_order(&self, mut fills: Vec<Fill>) -> Vec<Fill> {
        if fills.first().map(|fill| fill.time) > fills.last().map(|fill| fill.time) {
            fills.reverse();
        }
        fills.sort_by_key(|fill| fill.time);
        let mut held: BTreeMap<String, Decimal> = BTreeMap::new();
        let mut ordered = Vec::with_capacity(fills.len());
        let mut rest = fills.into_iter().peekable();
        while let Some(first) = rest.next() {
            let mut moment: Vec<(String, Vec<Fill>)> = vec![(first.coin.clone(), vec![first])];
            while let Some(next) = rest.next_if(|next| moment.iter().any(|(_, of)| is_of_time(of, next.time))) {
                match moment.iter_mut().find(|(coin, _)| *coin == next.coin) {
                    Some((_, of)) => of.push(next),
                    None => moment.push((next.coin.clone(), vec![next])),
                }
            }
            for (coin, of) in moment {
                let time_ms = of.first().map_or(0, |first| first.time);
                let from = held.get(&coin).copied().or_else(|| self.held_before(&coin, time_ms));
                let chain = linked(of, from);
                let after = chain.last().and_then(Fill::position_after);
                after.into_iter().for_each(|after| _ = held.insert(coin.clone(), after));
                ordered.extend(chain);
            }
        }
        ordered
    }
}

fn is_of_time(fills: &[Fill], time_ms: u64) -> bool {
    fills.first().is_some_and(|first| first.time == time_ms)
}

/// The fills of one market and moment, each from where the one before it ended; the first one begins where `held` is, if one does.
fn linked(fills: Vec<Fill>, held: Option<Decimal>) -> Vec<Fill> {
    if fills.len() < 2 {
        return fills;
    }
    let end = |fill: &Fill| (fill.start_position, fill.position_after().unwrap_or(fill.start_position));
    let ends: Vec<(Decimal, Decimal)> = fills.iter().map(end).collect();
    let mut fills: Vec<Option<Fill>> = fills.into_iter().map(Some).collect();
    chained(&ends, held).into_iter().filter_map(|place| fills.get_mut(place)?.take()).collect()
}
