//! Equity by the minute: taken in where it is measured, put into its file by a thread of its own, and told of from both.
//!
//! Nothing here is a source of truth for any rule, and no disk that is full or hangs holds anybody up but that thread, and of
//! those who ask at most [`MOST_READERS`].

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::reporting::level::Level;
use super::reporting::log;
use crate::base::files::FileError;
use crate::base::sync::lock;
use crate::equity::{KEPT_MINUTES, MINUTE_MS, Point, Ring, Runs};
use crate::guard::Measured;
use crate::record::equity_page::{EquityPage, EquityPoint};
use crate::record::status::SCHEMA;

/// How often what is new goes to the file.
const EVERY: Duration = Duration::from_secs(1);
/// Minutes that wait for a disk: a day.
const MOST_WAITING: usize = 24 * 60;
/// Points of one answer.
const MOST_POINTS: usize = 1_500;
/// The widest point that can be asked for: a day.
const MOST_STEP: u64 = 24 * 60;
/// Minutes that are read from the file at once.
const AT_ONCE: u64 = 24 * 60;
/// Answers that may wait for the disk together: the other HTTP workers are for other questions.
const MOST_READERS: usize = 2;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// Too many ask at once.
    #[error("{MOST_READERS} others are reading the equity's file; ask again soon")]
    Busy,
    /// The question makes no sense.
    #[error("`step` must be from 1 to {MOST_STEP} minutes")]
    Step,
    /// The file cannot be read.
    #[error("the equity's file: {0}")]
    File(#[from] FileError),
}

/// What is kept.
#[derive(Debug)]
pub(super) struct EquityKeeper {
    ring: Ring,
    minutes: Mutex<Minutes>,
    readers: AtomicUsize,
}

/// What the file does not have, and the newest minute.
#[derive(Debug, Default)]
struct Minutes {
    /// The last measurement.
    last: Option<Measured>,
    /// This life's first minute: an earlier life may have measured in it as well.
    first: Option<u64>,
    /// Each with whether the file has it.
    waiting: BTreeMap<u64, (Point, bool)>,
}

impl Minutes {
    /// Takes in what is known now, where it is new.
    fn take(&mut self, measured: Measured, now_ms: u64) {
        if !measured.is_new(self.last.as_ref()) {
            return;
        }
        self.last = Some(measured);
        let point = Point::of(now_ms, measured.equity);
        self.first.get_or_insert(point.minute);
        let (known, is_kept) = self.waiting.entry(point.minute).or_insert((point, false));
        known.take(&point);
        *is_kept = false;
        while self.waiting.len() > MOST_WAITING {
            self.waiting.pop_first();
        }
    }

    /// What the file should have.
    fn unkept(&self) -> Vec<Point> {
        self.waiting.values().filter(|(_, is_kept)| !is_kept).map(|(point, _)| *point).collect()
    }

    /// The file has this one.
    fn kept(&mut self, point: &Point) {
        if let Some((known, is_kept)) = self.waiting.get_mut(&point.minute) {
            *is_kept = known == point;
        }
        let newest = self.waiting.last_key_value().map(|(minute, _)| *minute);
        self.waiting.retain(|minute, (_, is_kept)| !*is_kept || Some(*minute) == newest);
    }

    /// A minute by what the file and this life know of it.
    fn with(&self, before: Option<&Point>, point: &Point) -> Point {
        match before {
            Some(before) if self.first == Some(point.minute) => {
                let mut whole = *before;
                whole.take(point);
                whole
            }
            _ => *point,
        }
    }
}

impl EquityKeeper {
    /// What stands in this file, and what comes.
    pub(super) fn new(ring: Ring) -> Self {
        Self { ring, minutes: Mutex::default(), readers: AtomicUsize::default() }
    }

    /// Takes in what the core knows now. It waits for no disk.
    pub(super) fn take(&self, measured: Option<Measured>, now_ms: u64) {
        if let Some(measured) = measured {
            lock(&self.minutes).take(measured, now_ms);
        }
    }

    /// Keeps the file, for as long as the service runs.
    pub(super) fn run(&self) -> ! {
        let mut is_failing = false;
        loop {
            std::thread::sleep(EVERY);
            let kept = self.keep();
            match &kept {
                Err(error) if !is_failing => {
                    log::line(Level::Warning, format_args!("the equity of this time is not kept: {error}"));
                }
                Ok(()) if is_failing => log::line(Level::Info, "the equity is kept again"),
                _ => {}
            }
            is_failing = kept.is_err();
        }
    }

    /// Puts into the file what it lacks.
    fn keep(&self) -> Result<(), FileError> {
        let unkept = lock(&self.minutes).unkept();
        for point in unkept {
            let before = self.ring.read(point.minute, point.minute)?;
            let whole = lock(&self.minutes).with(before.first(), &point);
            self.ring.write(&whole)?;
            lock(&self.minutes).kept(&point);
        }
        Ok(())
    }

    /// What is known from one time to another, a point for at most `step` minutes.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub(super) fn page(
        &self,
        (since_ms, until_ms): (u64, u64),
        step: u64,
        now_ms: u64,
    ) -> Result<EquityPage, NoAnswer> {
        if !(1..=MOST_STEP).contains(&step) {
            return Err(NoAnswer::Step);
        }
        let _place = Reader::of(&self.readers).ok_or(NoAnswer::Busy)?;
        let now = now_ms / MINUTE_MS;
        let (last, oldest) = ((until_ms / MINUTE_MS).min(now), now.saturating_sub(KEPT_MINUTES - 1));
        let mut first = (since_ms / MINUTE_MS).max(oldest);
        let mut runs = Runs::new(step, MOST_POINTS);
        while first <= last && runs.next.is_none() {
            let end = last.min(first.saturating_add(AT_ONCE - 1));
            self.minutes_of(first, end)?.values().for_each(|point| runs.push(point));
            first = end.saturating_add(1);
        }
        let point = |run: &crate::equity::Run| EquityPoint {
            at_ms: run.first.saturating_mul(MINUTE_MS),
            minutes: run.minutes,
            equity: run.last,
            low: run.low,
            high: run.high,
        };
        let next = runs.next.map(|minute| minute.saturating_mul(MINUTE_MS));
        Ok(EquityPage { schema: SCHEMA, step, points: runs.runs.iter().map(point).collect(), next })
    }

    /// Some minutes, of the file and of what it lacks.
    fn minutes_of(&self, first: u64, last: u64) -> Result<BTreeMap<u64, Point>, FileError> {
        // Before the file is read: what it gets meanwhile stands in both.
        let waiting: Vec<Point> =
            lock(&self.minutes).waiting.range(first..=last).map(|(_, (point, _))| *point).collect();
        let mut found: BTreeMap<u64, Point> =
            self.ring.read(first, last)?.into_iter().map(|point| (point.minute, point)).collect();
        let minutes = lock(&self.minutes);
        for point in waiting {
            let whole = minutes.with(found.get(&point.minute), &point);
            found.insert(point.minute, whole);
        }
        Ok(found)
    }
}

/// A place among those who read the file.
struct Reader<'a>(&'a AtomicUsize);

impl<'a> Reader<'a> {
    fn of(readers: &'a AtomicUsize) -> Option<Self> {
        let place = Self(readers);
        (readers.fetch_add(1, Ordering::SeqCst) < MOST_READERS).then_some(place)
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests;
