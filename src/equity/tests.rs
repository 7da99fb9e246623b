//! Points come back from the file as they were, or not at all.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use rust_decimal::{Decimal, dec};

use super::point::SIZE;
use super::*;

/// Some minute of 2027.
const NOW: u64 = 30_000_000;

fn point(minute: u64, last: Decimal) -> Point {
    Point { minute, last, low: last - dec!(1.5), high: last + dec!(0.000001) }
}

/// A ring, its folder, and its file.
fn ring() -> (Ring, tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("equity");
    (Ring::at(path.clone()), folder, path)
}

#[test]
fn amounts_come_back_to_the_last_digit() {
    let (ring, _folder, _) = ring();
    let amounts = [
        dec!(0),
        dec!(-12.3400),
        dec!(10000.000000001),
        Decimal::MAX,
        Decimal::MIN,
        dec!(0.0000000000000000000000000001),
    ];
    for (minute, amount) in (NOW..).zip(amounts) {
        let point = Point::of(minute * MINUTE_MS + 59_999, amount);
        assert_eq!(point.minute, minute);
        ring.write(&point).unwrap();
        assert_eq!(ring.read(minute, minute).unwrap(), [point]);
    }
}

#[test]
fn a_minute_begins_with_its_first_millisecond_and_knows_its_bounds() {
    assert_eq!(Point::of(59_999, dec!(1)).minute, 0);
    assert_eq!(Point::of(60_000, dec!(1)).minute, 1);
    let mut minute = Point::of(60_000, dec!(10));
    for equity in [dec!(12), dec!(7), dec!(9)] {
        minute.take(&Point::of(119_999, equity));
    }
    assert_eq!((minute.last, minute.low, minute.high), (dec!(9), dec!(7), dec!(12)));
}

#[test]
fn what_was_not_written_is_not_there() {
    let (ring, _folder, path) = ring();
    assert_eq!(ring.read(NOW, NOW + 10).unwrap(), [], "no file");
    let written = [NOW, NOW + 1, NOW + 5];
    written.iter().for_each(|minute| ring.write(&point(*minute, dec!(10000))).unwrap());
    let read = |first, last| -> Vec<u64> { ring.read(first, last).unwrap().iter().map(|point| point.minute).collect() };
    assert_eq!(read(NOW - 1_000, NOW + 1_000), written);
    assert_eq!(read(NOW + 1, NOW + 4), [NOW + 1]);
    assert!(read(NOW + 2, NOW + 4).is_empty());
    assert!(read(NOW + 5, NOW).is_empty());
    assert!(fs::metadata(path).unwrap().len() <= KEPT_MINUTES * SIZE as u64);
}

#[test]
fn a_minute_lives_for_ninety_days_and_gives_its_place_to_the_next_one() {
    let (ring, _folder, path) = ring();
    let last = NOW + KEPT_MINUTES - 1;
    ring.write(&point(NOW, dec!(1))).unwrap();
    ring.write(&point(last, dec!(2))).unwrap();
    assert_eq!(ring.read(0, last).unwrap(), [point(NOW, dec!(1)), point(last, dec!(2))], "day 90");
    assert_eq!(ring.read(0, last + 1).unwrap(), [point(last, dec!(2))], "a minute past it");
    ring.write(&point(last + 1, dec!(3))).unwrap();
    assert_eq!(ring.read(0, last + 1).unwrap(), [point(last, dec!(2)), point(last + 1, dec!(3))]);
    assert_eq!(ring.read(0, last).unwrap(), [point(last, dec!(2))], "its place is taken");
    // However long it goes on, the file grows no further.
    for minute in (last..).step_by(7_919).take(100) {
        ring.write(&point(minute, dec!(4))).unwrap();
    }
    assert!(fs::metadata(path).unwrap().len() <= KEPT_MINUTES * SIZE as u64);
}

#[test]
fn no_damage_is_believed() {
    let (ring, _folder, path) = ring();
    let minutes = [NOW, NOW + 1, NOW + 2];
    minutes.iter().for_each(|minute| ring.write(&point(*minute, dec!(10000.25))).unwrap());
    let whole = fs::read(&path).unwrap();
    let place = whole.len() - 2 * SIZE;
    for byte in 0..SIZE {
        for change in [1, 0x80, 0xff] {
            let mut damaged = whole.clone();
            damaged[place + byte] ^= change;
            fs::write(&path, damaged).unwrap();
            assert_eq!(ring.read(NOW, NOW + 2).unwrap(), [point(NOW, dec!(10000.25)), point(NOW + 2, dec!(10000.25))]);
        }
    }
    // A point that was torn, at the end of the file and within it.
    for kept in 0..SIZE {
        fs::write(&path, &whole[..place + SIZE + kept]).unwrap();
        assert_eq!(ring.read(NOW + 1, NOW + 2).unwrap(), [point(NOW + 1, dec!(10000.25))], "{kept} bytes");
        let mut torn = whole.clone();
        torn[place + kept..place + SIZE].fill(0);
        fs::write(&path, torn).unwrap();
        assert_eq!(ring.read(NOW + 1, NOW + 2).unwrap(), [point(NOW + 2, dec!(10000.25))], "{kept} bytes");
    }
    // One that stands in another's place.
    fs::write(&path, &whole).unwrap();
    let file = fs::File::options().write(true).open(&path).unwrap();
    file.write_all_at(&point(NOW + 2, dec!(1)).to_bytes(), place as u64).unwrap();
    assert_eq!(ring.read(NOW, NOW + 1).unwrap(), [point(NOW, dec!(10000.25))]);
    // Whatever else stands there has no point, and what comes is kept all the same.
    for noise in [vec![0; 100_000], vec![0xff; 100_000], vec![7; 3]] {
        fs::write(&path, noise).unwrap();
        assert_eq!(ring.read(0, NOW).unwrap(), []);
        ring.write(&point(NOW, dec!(5))).unwrap();
        assert_eq!(ring.read(0, NOW).unwrap(), [point(NOW, dec!(5))]);
    }
}

#[test]
fn what_is_no_file_of_ours_is_neither_read_nor_written() {
    let (ring, folder, path) = ring();
    let other = folder.path().join("other");
    fs::write(&other, "x").unwrap();
    std::os::unix::fs::symlink(&other, &path).unwrap();
    assert!(ring.write(&point(NOW, dec!(1))).unwrap_err().to_string().contains("is a symbolic link"));
    assert!(ring.read(NOW, NOW).unwrap_err().to_string().contains("is a symbolic link"));
    assert_eq!(fs::read_to_string(other).unwrap(), "x");
    let nowhere = Ring::at(folder.path().join("nowhere").join("equity"));
    assert!(nowhere.write(&point(NOW, dec!(1))).is_err());
    assert_eq!(nowhere.read(NOW, NOW).unwrap(), []);
}

fn runs(step: u64, most: usize, minutes: &[u64]) -> Runs {
    let mut runs = Runs::new(step, most);
    minutes.iter().for_each(|minute| runs.push(&point(*minute, Decimal::from(*minute))));
    runs
}

fn spans(runs: &Runs) -> Vec<(u64, u64)> {
    runs.runs.iter().map(|run| (run.first, run.minutes)).collect()
}

#[test]
fn a_run_ends_at_a_gap_and_at_its_span() {
    let minutes = [0, 1, 2, 3, 4, 5, 7, 8, 10];
    assert_eq!(spans(&runs(4, 9, &minutes)), [(0, 4), (4, 2), (7, 1), (8, 1), (10, 1)]);
    assert_eq!(spans(&runs(1, 99, &minutes)), minutes.map(|minute| (minute, 1)));
    assert_eq!(spans(&runs(0, 99, &minutes)), minutes.map(|minute| (minute, 1)));
    let whole = runs(10, 9, &minutes).runs[0];
    assert_eq!((whole.last, whole.low, whole.high), (dec!(5), dec!(-1.5), dec!(5.000001)));
}

#[test]
fn an_answer_says_where_to_ask_on() {
    let minutes: Vec<u64> = (0..10).collect();
    let first = runs(2, 3, &minutes);
    assert_eq!((spans(&first), first.next), (vec![(0, 2), (2, 2), (4, 2)], Some(6)));
    let rest = runs(2, 3, &minutes[6..]);
    assert_eq!((spans(&rest), rest.next), (vec![(6, 2), (8, 2)], None));
}
