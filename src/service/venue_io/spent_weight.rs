//! The weight of the last minute in a small file of the home, so that the next life knows what this one spent: starts may
//! follow each other within a minute, and the venue counts them as one. Failing to read or write it does no harm.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::carried::Carried;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::files::read_trusted;
use crate::base::ip_share::IP_BUDGET;
use crate::base::sync::lock;
use crate::base::unsynced::replace_unsynced;
use crate::faults::{Faults, Step};
use crate::home::Home;
use crate::venue::weight::{Priority, info_weight};
use crate::venue::weight_ledger::Ledger;

/// How often it is written.
const EVERY: Duration = Duration::from_secs(1);
const MINUTE_MS: u64 = 60_000;
/// What a start asks for before the file is written for the first time: mode, markets, prices, account, open orders, limits
/// and the API wallet's approval, and the first early reads.
const OF_A_START: u32 = 210;
/// The same where earlier lives took more than half of the minute: without what can come later.
const OF_A_LATE_START: u32 = 110;
/// And where it goes by what an earlier life has read: prices, account and open orders.
const OF_A_START_BY_OTHERS: u32 = 50;
/// A minute of seconds and their weights is far below.
const MAX_BYTES: u64 = 16 * 1024;

/// The file.
pub(in crate::service) struct SpentWeight {
    path: PathBuf,
}

impl SpentWeight {
    /// The file of a home, among what is the service's own.
    pub(in crate::service) fn of(home: &Home) -> Self {
        Self { path: home.run_dir().join("weight") }
    }

    /// Books what was spent before this life.
    pub(in crate::service) fn recall(&self, budget: &mut Ledger) {
        let now_steady_ms = steady_ms();
        for (ago_ms, priority, weight) in self.read(now_ms()) {
            budget.charge(priority, None, weight, now_steady_ms.saturating_sub(ago_ms));
        }
    }

    /// Writes what a start is about to spend beside what was spent before it: a life that ends within its first second
    /// leaves no other word, and several of them would use the address up.
    pub(in crate::service) fn foresee(&self, budget: &Ledger, goes_by_others: bool) {
        let now_ms = now_ms();
        let spent = budget.last_minute(steady_ms()).into_iter();
        let spent = spent.map(|(ago_ms, by, weight)| (now_ms.saturating_sub(ago_ms), by, weight));
        let more = match (goes_by_others, self.is_over_half()) {
            (true, _) => OF_A_START_BY_OTHERS,
            (false, true) => OF_A_LATE_START,
            (false, false) => OF_A_START,
        };
        _ = self.write(spent.chain([(now_ms, Priority::Read, more)]));
    }

    /// Whether the lives before this one have left less than half of the address's weight of the minute.
    pub(in crate::service) fn is_over_half(&self) -> bool {
        let spent = self.read(now_ms()).into_iter().fold(0_u32, |sum, (.., weight)| sum.saturating_add(weight));
        spent > IP_BUDGET / 2
    }

    /// Writes it every second, and what else the next life can go by, for as long as the service runs.
    ///
    /// # Errors
    /// None but what a test asks for.
    pub(in crate::service) fn keep(
        &self,
        budget: &Mutex<Ledger>,
        carried: &Carried,
        faults: &Faults,
    ) -> Result<(), String> {
        let mut before = Vec::new();
        loop {
            faults.pass(Step::WeightKept).map_err(|error| error.to_string())?;
            // What is foreseen stands there for the first second. What the next life goes by cannot be foreseen: a life may be shorter.
            let begun = Instant::now();
            while carried.wait(EVERY.saturating_sub(begun.elapsed())) {
                carried.save();
            }
            carried.save();
            let spent = lock(budget).last_minute(steady_ms());
            if spent != before {
                let now_ms = now_ms();
                let at = |(ago_ms, by, weight): &(u64, Priority, u32)| (now_ms.saturating_sub(*ago_ms), *by, *weight);
                _ = self.write(spent.iter().map(at));
                before = spent;
            }
        }
    }

    /// What still counts: how long ago, oldest first, for what, and the weight.
    fn read(&self, now_ms: u64) -> Vec<(u64, Priority, u32)> {
        let text = read_trusted(&self.path, &[nix::unistd::geteuid().as_raw()], MAX_BYTES).unwrap_or_default();
        let parse = |line: &str| {
            let mut parts = line.split(' ');
            let (at_ms, weight) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
            // A time ahead of the clock says nothing.
            let ago_ms = now_ms.checked_sub(at_ms).filter(|ago_ms| *ago_ms < MINUTE_MS)?;
            // What names none of these is nobody's: what is kept for each is kept again.
            let is_its = |priority: &Priority| parts.clone().eq([priority.name()]);
            let priority = Priority::ALL.into_iter().find(is_its).unwrap_or(Priority::PassThrough);
            Some((ago_ms, priority, weight))
        };
        let mut spent: Vec<(u64, Priority, u32)> = text.lines().filter_map(parse).collect();
        spent.sort_unstable_by_key(|(ago_ms, ..)| std::cmp::Reverse(*ago_ms));
        spent
    }

    /// Replaces the file. It is not synced: what a power failure takes along is a minute old by the next start.
    fn write(&self, spent: impl Iterator<Item = (u64, Priority, u32)>) -> std::io::Result<()> {
        let text: String = spent.map(|(at_ms, by, weight)| format!("{at_ms} {weight} {}\n", by.name())).collect();
        replace_unsynced(&self.path, text.as_bytes())
    }
}

/// Takes note that a set-up has just asked the venue about a key.
pub fn note_key_check(home: &Home) {
    let file = SpentWeight::of(home);
    let now_ms = now_ms();
    let before = file.read(now_ms).into_iter().map(|(ago_ms, by, weight)| (now_ms.saturating_sub(ago_ms), by, weight));
    _ = file.write(before.chain([(now_ms, Priority::EarlyRead, info_weight("userRole"))]));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn at(folder: &Path) -> SpentWeight {
        SpentWeight { path: folder.join("weight") }
    }

    #[test]
    fn what_was_spent_within_the_minute_is_recalled() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path());
        let now_ms = now_ms();
        let spent =
            [(70_000, 7), (30_000, 60), (10_000, 20)].map(|(ago, weight)| (now_ms - ago, Priority::Read, weight));
        file.write(spent.into_iter()).unwrap();
        let mut budget = Ledger::new(150, []);
        file.recall(&mut budget);
        let now_steady_ms = steady_ms();
        assert_eq!(budget.used(now_steady_ms), 80);
        assert_eq!(budget.used(now_steady_ms + 32_000), 20, "it passes as it would have");
        assert_eq!(budget.last_minute(now_steady_ms).iter().map(|(.., weight)| weight).sum::<u32>(), 80);
    }

    #[test]
    fn what_a_start_will_spend_stands_there_before_it_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path());
        // Each life ends before it writes a word of its own.
        for (spent, is_over_half) in [(0, false), (210, false), (420, true), (630, true), (740, true), (850, true)] {
            let mut budget = Ledger::new(1_200, []);
            file.recall(&mut budget);
            assert_eq!(budget.used(steady_ms()), spent);
            file.foresee(&budget, false);
            assert_eq!(file.is_over_half(), is_over_half, "{spent}");
        }
    }

    /// What the last life spent of a reserve is not kept back a second time.
    #[test]
    fn it_is_recalled_as_what_it_was_spent_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path());
        for (by, has_room) in [(Priority::PassThrough, false), (Priority::Read, true)] {
            file.write([(now_ms() - 5_000, by, 60)].into_iter()).unwrap();
            let mut budget = Ledger::new(150, []);
            file.recall(&mut budget);
            assert_eq!(budget.wait_ms(Priority::EarlyRead, 20, steady_ms()) == 0, has_room, "{by:?}");
            let recalled: Vec<Priority> = budget.last_minute(steady_ms()).iter().map(|(_, by, _)| *by).collect();
            assert!(recalled.contains(&by), "{recalled:?}");
        }
        // As a version without priorities wrote it.
        fs::write(&file.path, format!("{} 33\n", now_ms() - 5_000)).unwrap();
        let mut budget = Ledger::new(150, []);
        file.recall(&mut budget);
        assert_eq!(
            budget.last_minute(steady_ms()).iter().map(|(_, by, weight)| (*by, *weight)).collect::<Vec<_>>(),
            [(Priority::PassThrough, 33)]
        );
    }

    #[test]
    fn what_cannot_be_read_is_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path());
        let mut budget = Ledger::new(150, []);
        file.recall(&mut budget);
        let ahead_ms = now_ms() + 3_600_000;
        for text in ["", "x", "1 2 3\n", "5\n", &format!("{ahead_ms} 20\n"), "99999999999999999999 1\n"] {
            fs::write(&file.path, text).unwrap();
            file.recall(&mut budget);
        }
        assert_eq!(budget.used(steady_ms()), 0);
        // Neither can it be written where there is no folder.
        assert!(at(&folder.path().join("nowhere")).write([(1, Priority::Read, 1)].into_iter()).is_err());
    }
}
