//! Each measurement is told at once, goes to the file, and waits where that cannot be.

use std::fs;
use std::path::Path;

use rust_decimal::{Decimal, dec};

use super::*;

/// Some minute of 2027.
const NOW: u64 = 30_000_000;

fn keeper(folder: &Path) -> EquityKeeper {
    EquityKeeper::new(Ring::at(folder.join("equity")))
}

/// A read at this time.
fn read(at_ms: u64, equity: Decimal) -> Option<Measured> {
    Some(Measured { equity, read_ms: at_ms, marked: None })
}

fn take(keeper: &EquityKeeper, at_ms: u64, equity: Decimal) {
    keeper.take(read(at_ms, equity), at_ms);
}

/// Minute, last, lowest and highest of each point that is told.
fn told(keeper: &EquityKeeper, now: u64) -> Vec<(u64, Decimal, Decimal, Decimal)> {
    let page = keeper.page((0, u64::MAX), 1, now * MINUTE_MS).unwrap();
    page.points.iter().map(|point| (point.at_ms / MINUTE_MS, point.equity, point.low, point.high)).collect()
}

#[test]
fn a_minute_is_told_before_and_after_the_file_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path());
    let ms = NOW * MINUTE_MS;
    for (after_ms, equity) in [(0, dec!(10)), (30_000, dec!(12)), (59_999, dec!(11)), (60_000, dec!(13))] {
        take(&keeper, ms + after_ms, equity);
    }
    let wanted = [(NOW, dec!(11), dec!(10), dec!(12)), (NOW + 1, dec!(13), dec!(13), dec!(13))];
    assert_eq!(told(&keeper, NOW + 1), wanted);
    keeper.keep().unwrap();
    assert_eq!(told(&keeper, NOW + 1), wanted);
    assert_eq!(lock(&keeper.minutes).waiting.len(), 1, "the newest minute goes on");
    take(&keeper, ms + 61_000, dec!(9));
    keeper.keep().unwrap();
    assert_eq!(told(&self::keeper(folder.path()), NOW + 1)[1], (NOW + 1, dec!(9), dec!(9), dec!(13)));
}

#[test]
fn what_is_shown_on_is_no_measurement() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path());
    let ms = NOW * MINUTE_MS;
    for minute in 0..5 {
        keeper.take(read(ms, dec!(10)), ms + minute * MINUTE_MS);
        keeper.take(None, ms + minute * MINUTE_MS);
    }
    assert_eq!(told(&keeper, NOW + 9), [(NOW, dec!(10), dec!(10), dec!(10))]);
}

/// A life that ends and begins within a minute leaves one point of it; a clock that was ahead leaves none to mix with.
#[test]
fn a_minute_of_two_lives_is_whole_and_a_later_one_is_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let ms = NOW * MINUTE_MS;
    let before = keeper(folder.path());
    [(0, dec!(20)), (1, dec!(5)), (60_000, dec!(1)), (120_000, dec!(2))]
        .into_iter()
        .for_each(|(at, equity)| take(&before, ms + at, equity));
    before.keep().unwrap();
    let after = keeper(folder.path());
    take(&after, ms + 5_000, dec!(10));
    assert_eq!(told(&after, NOW), [(NOW, dec!(10), dec!(5), dec!(20))], "what lies ahead is not told");
    take(&after, ms + 60_000, dec!(11));
    for _ in 0..2 {
        let wanted = [(NOW, dec!(10), dec!(5), dec!(20)), (NOW + 1, dec!(11), dec!(11), dec!(11))];
        assert_eq!(told(&after, NOW + 1), wanted);
        after.keep().unwrap();
    }
    assert_eq!(told(&keeper(folder.path()), NOW + 1)[0], (NOW, dec!(10), dec!(5), dec!(20)));
}

#[test]
fn a_day_waits_for_a_disk_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path());
    fs::create_dir(folder.path().join("equity")).unwrap();
    let most = u64::try_from(MOST_WAITING).unwrap();
    for minute in NOW..=NOW + most {
        take(&keeper, minute * MINUTE_MS, dec!(1));
    }
    assert!(keeper.keep().is_err());
    assert!(matches!(keeper.page((0, u64::MAX), 1, NOW * MINUTE_MS), Err(NoAnswer::File(_))));
    fs::remove_dir(folder.path().join("equity")).unwrap();
    keeper.keep().unwrap();
    let kept = self::keeper(folder.path());
    let minutes: Vec<u64> = told(&kept, NOW + most).iter().map(|point| point.0).collect();
    assert_eq!(minutes, (NOW + 1..=NOW + most).collect::<Vec<_>>());
}

#[test]
fn few_wait_for_a_disk_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path());
    let ask = || keeper.page((0, u64::MAX), 1, NOW * MINUTE_MS);
    let mut waiting: Vec<_> = (0..MOST_READERS).map(|_| Reader::of(&keeper.readers).unwrap()).collect();
    assert!(matches!(ask(), Err(NoAnswer::Busy)));
    assert!(matches!(ask(), Err(NoAnswer::Busy)));
    waiting.pop();
    assert!(ask().is_ok() && ask().is_ok());
}

#[test]
fn an_answer_is_of_ninety_days_and_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let keeper = keeper(folder.path());
    let oldest = NOW - KEPT_MINUTES + 1;
    [oldest - 1, oldest, oldest + 1].into_iter().for_each(|minute| take(&keeper, minute * MINUTE_MS, dec!(7)));
    keeper.keep().unwrap();
    assert_eq!(told(&keeper, NOW).iter().map(|point| point.0).collect::<Vec<_>>(), [oldest, oldest + 1]);
    let ask = |since, until, step| keeper.page((since, until), step, NOW * MINUTE_MS);
    let firsts = |since: u64, until: u64| -> Vec<u64> {
        ask(since, until, 1).unwrap().points.iter().map(|point| point.at_ms / MINUTE_MS).collect()
    };
    let ms = (oldest + 1) * MINUTE_MS;
    assert_eq!(firsts(ms - 1, u64::MAX), [oldest, oldest + 1], "the minute that it lies in");
    assert_eq!(firsts(ms, u64::MAX), [oldest + 1]);
    assert_eq!(firsts(0, ms - 1), [oldest]);
    assert!(firsts(ms, ms - 1).is_empty() && firsts(u64::MAX, u64::MAX).is_empty());
    for step in [0, MOST_STEP + 1, u64::MAX] {
        assert!(matches!(ask(0, 0, step), Err(NoAnswer::Step)), "{step}");
    }
}
