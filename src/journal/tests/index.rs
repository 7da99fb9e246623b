//! The index covers the journal without a gap, in bounded memory, and nothing in it is believed that is not as written.

use nix::libc::EIO;

use super::*;
use crate::journal::index::Index;
use crate::journal::index::entry::{Entry, Keys, Location, Tag, entry};
use crate::journal::index::table::FULL;
use crate::journal::segment::{Position, Segment};

fn decision(n: u64) -> Line {
    line(&json!({"seq": n, "kind": "decision", "nonce": 1000 + n, "request": {}}))
}

/// Writes decisions 1.., so many on each day, and closes the journal.
fn write_days(place: &Place, counts: &[u64]) -> u64 {
    let (mut store, opened) = place.open();
    let mut seq = opened.last_seq;
    for (day, count) in (0..).zip(counts) {
        let events = (seq + 1..=seq + count).map(decision).collect();
        seq += count;
        store.append(NOON + day * DAY, events, vec![checkpoint(seq)]).unwrap();
    }
    seq
}

/// Every decision is found, and no other, once the index has caught up.
fn check(place: &Place, last: u64) {
    let (store, opened) = place.open();
    let lookup = store.lookup();
    let _journal = start(store, Some(opened.history), 1, |(), _| ());
    while matches!(lookup.by_nonce(1000), Err(LookupError::Rebuilding)) {}
    let find = |n: u64| loop {
        match lookup.by_nonce(1000 + n) {
            Err(LookupError::Rebuilding) => {}
            found => return found.unwrap(),
        }
    };
    for n in (1..=last).step_by(37).chain([last]) {
        let found = find(n);
        assert_eq!(found.len(), 1, "{n}");
        assert_eq!(found[0]["decision"]["seq"], n);
    }
    assert!(find(0).is_empty() && find(last + 1).is_empty());
}

#[test]
fn a_day_that_is_over_is_one_run() {
    let place = Place::new();
    let last = write_days(&place, &[3000, 2000, 10]);
    assert_eq!(place.runs().len(), 3);
    check(&place, last);
    assert_eq!(place.runs().len(), 3, "a restart leaves no further run");
    std::fs::remove_dir_all(place.file("index")).unwrap();
    check(&place, last);
    assert_eq!(place.runs().len(), 3, "made again from the journal as it was");
}

/// The service is killed, so that the live day was never written.
#[test]
fn the_day_of_a_killed_service_is_read_from_the_journal() {
    let place = Place::new();
    write_days(&place, &[3000, 500]);
    let kept = place.dir.join("kept");
    copy_folder(&place.file("index"), &kept);
    let (mut store, _) = place.open();
    store.append(NOON + DAY, (3501..=6000).map(decision).collect(), vec![checkpoint(6000)]).unwrap();
    store.append(NOON + DAY, (6001..=9000).map(decision).collect(), vec![checkpoint(9000)]).unwrap();
    drop(store);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    copy_folder(&kept, &place.file("index"));
    check(&place, 9000);
    assert_eq!(place.runs().len(), 2);
}

#[test]
fn whatever_is_spoiled_in_a_run_is_dropped_and_made_again() {
    let place = Place::new();
    let last = write_days(&place, &[1500, 700]);
    let whole: Vec<_> = place.runs().iter().map(|run| std::fs::read(run).unwrap()).collect();
    // Header, blocks and checksums; each run cut, empty, and with its blocks in a wrong order.
    let spoil: [fn(&mut Vec<u8>); 9] = [
        |bytes| bytes[0] ^= 1,
        |bytes| bytes[300] ^= 128,
        |bytes| bytes[1023] ^= 1,
        |bytes| bytes[1030] ^= 4,
        |bytes| bytes[5 * 1024 + 9] ^= 64,
        |bytes| *bytes.last_mut().unwrap() ^= 1,
        |bytes| bytes.truncate(bytes.len() - 1024),
        |bytes| bytes.clear(),
        |bytes| bytes[1024..].rotate_left(1024),
    ];
    for spoil in spoil {
        for (run, whole) in place.runs().iter().zip(&whole) {
            let mut bytes = whole.clone();
            spoil(&mut bytes);
            std::fs::write(run, &bytes).unwrap();
        }
        check(&place, last);
        let again: Vec<_> = place.runs().iter().map(|run| std::fs::read(run).unwrap()).collect();
        assert!(again == whole);
    }
}

#[test]
fn a_run_spoiled_while_the_service_runs_is_made_again() {
    let place = Place::new();
    write_days(&place, &[2000, 1200]);
    let (store, opened) = place.open();
    let lookup = store.lookup();
    let _journal = start(store, Some(opened.history), 1, |(), _| ());
    let first = place.file("index/first.run");
    let whole = std::fs::read(&first).unwrap();
    std::fs::write(&first, vec![b'x'; whole.len()]).unwrap();
    let found = loop {
        match lookup.by_nonce(1007) {
            Err(LookupError::Rebuilding) => {}
            found => break found.unwrap(),
        }
    };
    assert_eq!(found[0]["decision"]["seq"], 7);
    assert!(std::fs::read(&first).unwrap() == whole);
}

/// As the index of before was: other names, another header, and leftovers of a write.
#[test]
fn files_of_another_format_are_removed() {
    let place = Place::new();
    let last = write_days(&place, &[1200, 300]);
    let names = || place.runs().iter().map(|run| run.file_name().unwrap().to_owned()).collect::<Vec<_>>();
    let ours = names();
    std::fs::remove_dir_all(place.file("index")).unwrap();
    std::fs::create_dir(place.file("index")).unwrap();
    let old = [b"sg-idx-1".as_slice(), &[0; 87 + 20]].concat();
    for name in ["0000000000000000000000-0050490000000000000000.run", "first.run", "first.run.new", "notes"] {
        std::fs::write(place.file("index").join(name), &old).unwrap();
    }
    check(&place, last);
    assert_eq!(names(), ours);
}

/// A day of any length needs bounded memory: full tables become runs before it is over.
#[test]
fn a_long_day_is_cut_into_runs() {
    let place = Place::new();
    let (store, opened) = place.open();
    drop((store, opened));
    let folders = crate::journal::folder::Folders::of(&place.dir).unwrap();
    let index = Index::open(&folders, Faults::default()).unwrap();
    index.begin(None).unwrap();
    let segment = Segment { day: Some(crate::base::day::day_of(NOON)), n: 0 };
    let keys = |n: u64| Keys { nonce: Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)), ..Keys::default() };
    let count = 3 * FULL as u64 + 10;
    for n in 0..count {
        let to = Position { segment, offset: n + 1, chain: Chain::START };
        index.add(keys(n).entries(Location { segment, offset: n }), to);
    }
    assert_eq!(place.runs().len(), 3);
    for n in (0..count).step_by(1009) {
        let key = keys(n).nonce.unwrap();
        let hits = index.search(Tag::Nonce, key, None, 10).unwrap();
        assert!(hits.complete);
        assert_eq!(hits.locations, [Location { segment, offset: n }]);
    }
    let at = |offset| -> Entry { entry(Tag::Nonce, 7, Location { segment, offset }) };
    index.add((0..5000).map(at), Position { segment, offset: count + 5000, chain: Chain::START });
    assert_eq!(index.search(Tag::Nonce, 7, None, 4000).unwrap().locations.len(), 4000);
}

/// A run that cannot be written costs nothing but the reading of its day.
#[test]
fn a_day_that_could_not_be_written_is_read_from_the_journal() {
    let place = Place::new();
    let mut store = place.open_with(once(Step::IndexWrite, 0, Fault::Fail { after: 2000, errno: EIO }));
    store.append(NOON, (1..=1500).map(decision).collect(), vec![checkpoint(1500)]).unwrap();
    store.append(NOON + DAY, (1501..=3000).map(decision).collect(), vec![checkpoint(3000)]).unwrap();
    assert!(place.runs().is_empty());
    assert!(matches!(store.lookup().by_nonce(1007), Err(LookupError::Rebuilding)));
    drop(store);
    assert_eq!(place.runs().len(), 1);
    check(&place, 3000);
    assert_eq!(place.runs().len(), 2);
}
