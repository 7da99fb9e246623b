//! Counters and histograms that many threads count on at once, without a lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::text::{Family, seconds};

/// Something counted.
#[derive(Debug, Default)]
pub(in crate::service) struct Counter(AtomicU64);

impl Counter {
    /// Counts one more.
    pub(in crate::service) fn add(&self) {
        self.add_many(1);
    }

    /// Counts so many more. Over the largest number it begins anew, which readers take for a restart.
    pub(super) fn add_many(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The count.
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Upper bounds of the buckets, nanoseconds: from what a sync of a fast disk takes to the venue's time-out.
const BOUNDS: [u64; 18] = [
    50_000,
    100_000,
    200_000,
    300_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
    2_000_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Times, counted by how long they were.
#[derive(Debug, Default)]
pub(in crate::service) struct Histogram {
    /// Not cumulative: a scrape sums them up, so that what it shows is consistent whatever is counted meanwhile.
    buckets: [Counter; BOUNDS.len()],
    /// Longer than the last bound.
    over: Counter,
    sum_nanos: Counter,
}

impl Histogram {
    /// Counts one time.
    pub(in crate::service) fn observe(&self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.partition_point(|bound| *bound < nanos);
        self.buckets.get(bucket).unwrap_or(&self.over).add();
        self.sum_nanos.add_many(nanos);
    }

    /// Writes its samples.
    pub(super) fn write(&self, family: &mut Family<'_>) {
        let mut count = 0_u64;
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS) {
            count = count.saturating_add(bucket.get());
            family.suffixed("_bucket", &[("le", &seconds(bound).to_string())], count);
        }
        count = count.saturating_add(self.over.get());
        family.suffixed("_bucket", &[("le", "+Inf")], count);
        family.suffixed("_sum", &[], seconds(self.sum_nanos.get()));
        family.suffixed("_count", &[], count);
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::{Kind, Page};
    use super::*;

    fn lines(histogram: &Histogram) -> Vec<String> {
        let mut page = Page::default();
        histogram.write(&mut page.family("t", Kind::Histogram, "T."));
        let text = String::from_utf8(page.into_bytes()).unwrap();
        text.lines().skip(2).map(str::to_owned).collect()
    }

    fn counts(lines: &[String]) -> Vec<u64> {
        let buckets = lines.iter().filter(|line| line.starts_with("t_bucket"));
        buckets.map(|line| line.rsplit_once(' ').unwrap().1.parse().unwrap()).collect()
    }

    #[test]
    fn bounds_grow() {
        assert!(BOUNDS.is_sorted_by(|a, b| a < b));
    }

    #[test]
    fn a_time_counts_in_every_bucket_that_it_fits_in() {
        let histogram = Histogram::default();
        for nanos in [0, 50_000, 50_001, 1_000_000_000, 10_000_000_000, 10_000_000_001] {
            histogram.observe(Duration::from_nanos(nanos));
        }
        let lines = lines(&histogram);
        assert_eq!(lines[0], "t_bucket{le=\"0.00005\"} 2", "a bound belongs to its bucket");
        assert_eq!(lines[1], "t_bucket{le=\"0.0001\"} 3");
        assert_eq!(lines[BOUNDS.len() - 1], "t_bucket{le=\"10\"} 5");
        let end = ["t_bucket{le=\"+Inf\"} 6", "t_sum 21.000100002", "t_count 6"];
        assert_eq!(lines[BOUNDS.len()..], end);
        assert!(counts(&lines).is_sorted());
    }

    /// Counted on while it is read: what one reading shows agrees with itself, and nothing is lost.
    #[test]
    fn a_reading_agrees_with_itself_under_load() {
        const EACH: u64 = 20_000;
        let histogram = Histogram::default();
        let count_on = || (0..EACH).for_each(|n| histogram.observe(Duration::from_nanos(n * 700_001)));
        std::thread::scope(|scope| {
            let threads = [scope.spawn(count_on), scope.spawn(count_on)];
            let mut last = 0;
            while !threads.iter().all(std::thread::ScopedJoinHandle::is_finished) {
                let lines = lines(&histogram);
                let counts = counts(&lines);
                assert!(counts.is_sorted(), "{lines:?}");
                let whole = *counts.last().unwrap();
                assert_eq!(lines.last(), Some(&format!("t_count {whole}")));
                assert!(whole >= last, "it never shrinks");
                last = whole;
            }
        });
        assert_eq!(counts(&lines(&histogram)).last(), Some(&(2 * EACH)));
    }
}
