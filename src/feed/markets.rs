//! Which markets are watched. Never one that the venue does not have: it drops the whole socket for an unknown coin
//! (observed).

use std::collections::{BTreeMap, BTreeSet};

/// A market is watched so long after it was wanted last.
const KEEP_MS: u64 = 600_000;
/// The markets of the rules are watched while they are no more than these.
const MOST_RULED: usize = 50;
/// The set is looked over so often.
const LOOK_MS: u64 = 1_000;

/// The markets that are watched.
#[derive(Debug)]
pub(super) struct Markets {
    universe: BTreeSet<String>,
    ruled: Vec<String>,
    wanted: BTreeSet<String>,
    /// When a market was wanted last.
    last_ms: BTreeMap<String, u64>,
    most: usize,
    watched: BTreeSet<String>,
    looked_ms: u64,
}

impl Markets {
    pub(super) fn new(ruled: Vec<String>, most: usize) -> Self {
        let ruled = if ruled.len() <= MOST_RULED { ruled } else { Vec::new() };
        Self {
            universe: BTreeSet::new(),
            ruled,
            wanted: BTreeSet::new(),
            last_ms: BTreeMap::new(),
            most,
            watched: BTreeSet::new(),
            looked_ms: 0,
        }
    }

    /// The coins that the venue has.
    pub(super) fn set_universe(&mut self, coins: BTreeSet<String>, now_ms: u64) {
        self.universe = coins;
        self.look(now_ms);
    }

    /// The coins that are wanted now.
    pub(super) fn want(&mut self, coins: BTreeSet<String>, now_ms: u64) {
        self.wanted = coins;
        self.look(now_ms);
    }

    /// The coins to watch.
    pub(super) fn watched(&mut self, now_ms: u64) -> &BTreeSet<String> {
        if now_ms.saturating_sub(self.looked_ms) >= LOOK_MS {
            self.look(now_ms);
        }
        &self.watched
    }

    fn look(&mut self, now_ms: u64) {
        self.looked_ms = now_ms;
        self.wanted.retain(|coin| self.universe.is_empty() || self.universe.contains(coin));
        self.last_ms.extend(self.wanted.iter().map(|coin| (coin.clone(), now_ms)));
        self.last_ms.retain(|coin, last_ms| self.universe.contains(coin) && now_ms.saturating_sub(*last_ms) < KEEP_MS);
        // Where there are too many, what is at stake comes first, then what was wanted last.
        let mut recent: Vec<(&String, u64)> = self.last_ms.iter().map(|(coin, last_ms)| (coin, *last_ms)).collect();
        recent.sort_by_key(|(coin, last_ms)| (!self.wanted.contains(*coin), std::cmp::Reverse(*last_ms)));
        let ruled = self.ruled.iter().filter(|coin| self.universe.contains(*coin));
        let mut watched = BTreeSet::new();
        for coin in recent.into_iter().map(|(coin, _)| coin).chain(ruled) {
            if watched.len() < self.most {
                watched.insert(coin.clone());
            }
        }
        self.watched = watched;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coins(text: &str) -> BTreeSet<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn markets(ruled: &str, most: usize) -> Markets {
        Markets::new(ruled.split_whitespace().map(str::to_owned).collect(), most)
    }

    #[test]
    fn a_market_is_watched_for_ten_minutes_after_it_was_wanted() {
        let mut markets = markets("", 100);
        markets.want(coins("BTC ETH"), 1_000);
        assert_eq!(*markets.watched(1_000), coins(""), "nothing is known to exist");
        markets.set_universe(coins("BTC ETH SOL"), 2_000);
        assert_eq!(*markets.watched(900_000), coins("BTC ETH"));
        markets.want(coins("ETH"), 1_000_000);
        assert_eq!(*markets.watched(900_000 + KEEP_MS - 1), coins("BTC ETH"));
        assert_eq!(*markets.watched(900_000 + KEEP_MS + LOOK_MS), coins("ETH"));
    }

    #[test]
    fn no_coin_that_the_venue_does_not_have_is_watched() {
        let mut markets = markets("BTC NOPE", 100);
        markets.set_universe(coins("BTC ETH"), 0);
        markets.want(coins("ETH MADEUP"), 0);
        assert_eq!(*markets.watched(0), coins("BTC ETH"));
        assert_eq!(markets.last_ms.len(), 1);
        markets.set_universe(coins("ETH"), 10);
        assert_eq!(*markets.watched(10), coins("ETH"));
    }

    #[test]
    fn markets_of_the_rules_are_watched_while_they_are_few() {
        let named = |count: usize| (0..count).map(|coin| format!("C{coin} ")).collect::<String>();
        for (count, watched) in [(MOST_RULED, MOST_RULED), (MOST_RULED + 1, 0)] {
            let mut markets = markets(&named(count), 100);
            markets.set_universe(coins(&named(count)), 0);
            assert_eq!(markets.watched(0).len(), watched);
        }
    }

    #[test]
    fn where_there_are_too_many_what_is_at_stake_comes_first() {
        let mut markets = markets("A B", 2);
        markets.set_universe(coins("A B C D E"), 0);
        markets.want(coins("C"), 0);
        markets.want(coins("D"), 5_000);
        assert_eq!(*markets.watched(5_000), coins("C D"));
        markets.want(coins("E"), 6_000);
        assert_eq!(*markets.watched(6_000), coins("D E"));
        markets.want(coins("C"), 7_000);
        assert_eq!(*markets.watched(7_000), coins("C E"));
    }
}
