//! The entries of the last minute, for the rules on how much may be asked.

use crate::base::address::Address;
use crate::record::minute_record::{EntryNote, MinuteRecord};
use std::collections::VecDeque;

pub(crate) const MINUTE_MS: u64 = 60_000;

/// A restart knows so many of each kind, the newest: as many as the rule lets a minute have.
const MOST_RECORDED: usize = 1_200;

/// The entries of the last minute, and what counts with them. Bounded by the rule on entries a minute.
#[derive(Debug, Clone, Default)]
pub(crate) struct Throttle {
    entries: VecDeque<(u64, EntryNote)>,
    /// When entries of batches went as requests of their own. Bounded by their part of the minute's weight.
    groups: VecDeque<u64>,
    /// Actions that open and reduce nothing, and whose they were.
    neutral: VecDeque<(u64, Address)>,
    /// Cancels of ids that no known order had: how many in a request, and whose. Bounded by their number.
    unknown: VecDeque<(u64, Address, usize)>,
    /// The last event whose requests a checkpoint has counted.
    pub(crate) covered_seq: u64,
}

impl Throttle {
    /// Counts the entries of a request that passed.
    pub(crate) fn note(&mut self, entries: Vec<EntryNote>, window_ms: u64, now_ms: u64) {
        let kept_ms = MINUTE_MS.max(window_ms);
        while self.entries.front().is_some_and(|(at_ms, _)| now_ms.saturating_sub(*at_ms) >= kept_ms) {
            self.entries.pop_front();
        }
        self.entries.extend(entries.into_iter().map(|entry| (now_ms, entry)));
    }

    /// Counts an action that opens and reduces nothing.
    pub(crate) fn note_neutral(&mut self, client: Address, now_ms: u64) {
        while self.neutral.front().is_some_and(|(at_ms, _)| now_ms.saturating_sub(*at_ms) >= MINUTE_MS) {
            self.neutral.pop_front();
        }
        self.neutral.push_back((now_ms, client));
    }

    /// The clients of such actions in the last minute.
    pub(crate) fn neutral_in_last_minute(&self, now_ms: u64) -> impl Iterator<Item = Address> {
        let recent = move |at_ms: u64| now_ms.saturating_sub(at_ms) < MINUTE_MS;
        self.neutral.iter().filter(move |(at_ms, _)| recent(*at_ms)).map(|(_, client)| *client)
    }

    /// Counts cancels of ids that no known order has.
    pub(crate) fn note_unknown(&mut self, client: Address, count: usize, now_ms: u64) {
        while self.unknown.front().is_some_and(|(at_ms, ..)| now_ms.saturating_sub(*at_ms) >= MINUTE_MS) {
            self.unknown.pop_front();
        }
        self.unknown.extend((count > 0).then_some((now_ms, client, count)));
    }

    /// How many of them a client sent in the last minute.
    pub(crate) fn unknown_in_last_minute(&self, client: Address, now_ms: u64) -> usize {
        let is_its =
            |(at_ms, other, _): &&(u64, Address, usize)| *other == client && now_ms.saturating_sub(*at_ms) < MINUTE_MS;
        self.unknown.iter().filter(is_its).fold(0, |sum, (_, _, count)| sum.saturating_add(*count))
    }

    pub(crate) fn in_last(&self, span_ms: u64, now_ms: u64) -> impl Iterator<Item = &EntryNote> {
        let recent = move |at_ms: u64| now_ms.saturating_sub(at_ms) < span_ms;
        self.entries.iter().filter(move |(at_ms, _)| recent(*at_ms)).map(|(_, entry)| entry)
    }

    /// Counts entries that go as requests of their own.
    pub(crate) fn note_groups(&mut self, count: usize, now_ms: u64) {
        while self.groups.front().is_some_and(|at_ms| now_ms.saturating_sub(*at_ms) >= MINUTE_MS) {
            self.groups.pop_front();
        }
        self.groups.extend(std::iter::repeat_n(now_ms, count));
    }

    /// How many there were in the last minute.
    pub(crate) fn groups_in_last_minute(&self, now_ms: u64) -> usize {
        self.groups.iter().filter(|at_ms| now_ms.saturating_sub(**at_ms) < MINUTE_MS).count()
    }

    /// What a restart must know of it; none where nothing counts.
    pub(crate) fn record(&self, window_ms: u64, now_ms: u64) -> Option<MinuteRecord> {
        let recent = |at_ms: u64| now_ms.saturating_sub(at_ms) < MINUTE_MS;
        let kept_ms = MINUTE_MS.max(window_ms);
        let record = MinuteRecord {
            entries: newest(&self.entries, |(at_ms, _)| now_ms.saturating_sub(*at_ms) < kept_ms),
            neutral: newest(&self.neutral, |(at_ms, _)| recent(*at_ms)),
            unknown: newest(&self.unknown, |(at_ms, ..)| recent(*at_ms)),
            groups: newest(&self.groups, |at_ms| recent(*at_ms)),
        };
        (record != MinuteRecord::default()).then_some(record)
    }

    /// Takes in what a checkpoint that covers the events up to `seq` carries.
    pub(crate) fn restore(&mut self, record: MinuteRecord, seq: u64) {
        let MinuteRecord { entries, neutral, unknown, groups } = record;
        *self = Self {
            entries: entries.into(),
            neutral: neutral.into(),
            unknown: unknown.into(),
            groups: groups.into(),
            covered_seq: seq,
        };
    }
}

/// The newest of those that still count.
fn newest<T: Clone>(all: &VecDeque<T>, counts: impl Fn(&T) -> bool) -> Vec<T> {
    let before = all.len().saturating_sub(MOST_RECORDED);
    all.iter().skip(before).filter(|one| counts(one)).cloned().collect()
}
