//! The index covers the journal without a gap, in bounded memory, and nothing in it is believed that is not as written.

use nix::libc::EIO;

use super::*;
use crate::journal::index::Index;
use crate::journal::index::entry::{Entry, Location, Tag, entries, entry};
use crate::journal::index::table::FULL;
use crate::journal::segment::{Position, Segment};
use crate::record::decision_view::DecisionRecord;

fn cloid(n: u64, order: u64) -> String {
    format!("0x{n:016x}{order:016x}")
}

/// A decision with 39 orders, so that few of them fill a run.
fn decision(n: u64) -> Line {
    let orders: Vec<_> = (0..39).map(|order| json!({"c": cloid(n, order)})).collect();
    line(&json!({"seq": n, "kind": "decision", "nonce": 1000 + n, "request": {"type": "order", "orders": orders}}))
}

/// Entries of a decision.
const ENTRIES: u64 = 40;
/// Decisions that fill a run.
const RUN: u64 = (FULL as u64).div_ceil(ENTRIES);

/// Writes so many decisions in each life of the journal, over a day or two. Gives the number of the last.
fn write_lives(place: &Place, counts: &[u64]) -> u64 {
    let mut last = 0;
    for count in counts {
        let mut store = place.open().0;
        for part in 0..count.div_ceil(100) {
            let end = (last + 100).min(last + count - part * 100);
            store
                .append(NOON + part * DAY / 20, (last + 1..=end).map(decision).collect(), vec![checkpoint(end)])
                .unwrap();
            last = end;
        }
    }
    last
}

/// Every decision is found, and no other, once the index has caught up.
fn check(place: &Place, last: u64) {
    let (store, opened) = place.open();
    let lookup = store.lookup();
    let _journal = start(store, Some(opened.history), 1, |(), _| ());
    while lookup.is_behind() {
        lookup.by_nonce(1).unwrap();
    }
    let find = |key: &dyn Fn() -> Result<Vec<DecisionRecord<Value>>, LookupError>| key().unwrap();
    for n in (1..=last).step_by(37).chain([last]) {
        // Among the first and among the last entries of a run.
        for found in [find(&|| lookup.by_nonce(1000 + n)), find(&|| lookup.by_cloid(&cloid(n, 38)))] {
            assert_eq!(found.len(), 1, "{n}");
            assert_eq!(found[0].decision["seq"], n);
        }
    }
    assert!(find(&|| lookup.by_nonce(1000)).is_empty() && find(&|| lookup.by_cloid(&cloid(last + 1, 0))).is_empty());
}

#[test]
fn restarts_leave_no_trail_of_small_runs() {
    let place = Place::new();
    let last = write_lives(&place, &[300, 200, RUN, 10, 500, RUN]);
    assert_eq!(place.runs().len(), 3);
    check(&place, last);
    assert_eq!(place.runs().len(), 3);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    check(&place, last);
    assert_eq!(place.runs().len(), 3);
}

/// The service is killed, so that the live end was never written.
#[test]
fn the_live_end_of_a_killed_service_is_read_from_the_journal() {
    let place = Place::new();
    write_lives(&place, &[RUN + 500]);
    let kept = place.dir.join("kept");
    copy_folder(&place.file("index"), &kept);
    let (mut store, _) = place.open();
    for n in 0..3 {
        let first = RUN + 501 + n * 400;
        store
            .append(NOON + 2 * DAY, (first..first + 400).map(decision).collect(), vec![checkpoint(first + 399)])
            .unwrap();
    }
    drop(store);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    copy_folder(&kept, &place.file("index"));
    check(&place, RUN + 1700);
}

#[test]
fn whatever_is_spoiled_in_a_run_is_dropped_and_made_again() {
    let place = Place::new();
    let last = write_lives(&place, &[RUN + 1200]);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    check(&place, last);
    let whole: Vec<_> = place.runs().iter().map(|run| std::fs::read(run).unwrap()).collect();
    assert_eq!(whole.len(), 2);
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
    for (n, spoil) in spoil.iter().enumerate() {
        for (run, whole) in place.runs().iter().zip(&whole) {
            let mut bytes = whole.clone();
            spoil(&mut bytes);
            std::fs::write(run, &bytes).unwrap();
        }
        check(&place, last);
        let again: Vec<_> = place.runs().iter().map(|run| std::fs::read(run).unwrap()).collect();
        assert!(again == whole, "{n}");
    }
}

#[test]
fn a_run_spoiled_while_the_service_runs_is_made_again() {
    let place = Place::new();
    write_lives(&place, &[RUN + 1200]);
    let (store, opened) = place.open();
    let lookup = store.lookup();
    let _journal = start(store, Some(opened.history), 1, |(), _| ());
    let first = place.file("index/first.run");
    let whole = std::fs::read(&first).unwrap();
    std::fs::write(&first, vec![b'x'; whole.len()]).unwrap();
    assert_eq!(lookup.by_nonce(1007).unwrap()[0].decision["seq"], 7);
    while lookup.is_behind() {}
    assert!(std::fs::read(&first).unwrap() == whole);
}

/// As the index of before was: other names, another header, and leftovers of a write.
#[test]
fn files_of_another_format_are_removed() {
    let place = Place::new();
    let last = write_lives(&place, &[1500]);
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

/// However many events there are, memory is bounded: a full table becomes a run.
#[test]
fn memory_is_bounded() {
    let place = Place::new();
    let (store, opened) = place.open();
    drop((store, opened));
    let folders = crate::journal::folders::Folders::of(&place.dir).unwrap();
    let index = Index::open(&folders, Faults::default()).unwrap();
    index.begin(None).unwrap();
    let segment = Segment { day: Some(crate::base::day::day_of(NOON)), n: 0 };
    let keys = |n: u64| Keys { nonce: Some(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)), ..Keys::default() };
    let count = 3 * FULL as u64 + 10;
    for n in 0..count {
        let to = Position { segment, offset: n + 1, chain: Chain::START };
        index.add(entries(&keys(n), Location { segment, offset: n }), to);
        index.write_full();
    }
    assert_eq!(place.runs().len(), 3);
    for n in (0..count).step_by(1009) {
        let key = keys(n).nonce.unwrap();
        assert_eq!(index.search(Tag::Nonce, key, None, 10).unwrap().unwrap().0, [Location { segment, offset: n }]);
    }
    let at = |offset| -> Entry { entry(Tag::Nonce, 7, Location { segment, offset }) };
    for n in 0..5000 {
        index.add(std::iter::once(at(n)), Position { segment, offset: count + n, chain: Chain::START });
    }
    assert_eq!(index.search(Tag::Nonce, 7, None, 4000).unwrap().map(|(found, _)| found.len()), Some(4000));
}

/// A run that cannot be written costs nothing but the reading of its stretch.
#[test]
fn a_run_that_could_not_be_written_is_read_from_the_journal() {
    let place = Place::new();
    let mut store = place.open_with(once(Step::IndexWrite, 0, Fault::Fail { after: 2000, errno: EIO }));
    store.append(NOON, (1..=RUN).map(decision).collect(), vec![checkpoint(RUN)]).unwrap();
    store.append(NOON, (RUN + 1..=RUN + 10).map(decision).collect(), vec![checkpoint(RUN + 10)]).unwrap();
    assert!(place.runs().is_empty());
    assert!(store.lookup().is_behind());
    assert_eq!(store.lookup().by_nonce(1007).unwrap()[0].decision["seq"], 7);
    drop(store);
    assert_eq!(place.runs().len(), 1);
    check(&place, RUN + 10);
}

/// Nobody fills the index here, and every look-up answers all the same, with what the filled index would give.
#[test]
fn decisions_are_found_while_the_index_is_made_again() {
    let place = Place::new();
    let mut store = place.open().0;
    let mut append = |part: u64, events: &[Value]| {
        store.append(NOON + part * DAY, events.iter().map(line).collect(), vec![checkpoint(part)]).unwrap();
    };
    let decision = |seq: u64, nonce: u64, cloid: &str| json!({"seq": seq, "kind": "decision", "nonce": nonce, "text": "\u{1f6d1}", "request": {"orders": [{"c": cloid}]}});
    let mixed = format!("0x{}", "aB".repeat(16));
    append(0, &[decision(1, 70, &mixed), decision(2, 7, &mixed.to_uppercase().replace('X', "x"))]);
    append(1, &[json!({"seq": 3, "kind": "sent", "decision": 2}), json!({"seq": 4, "kind": "intent", "of": 2})]);
    append(2, &[json!({"seq": 5, "kind": "sent", "decision": 20}), json!({"seq": 6, "kind": "sent", "decision": 4})]);
    append(2, &[json!({"seq": 7, "kind": "done", "intent": 2}), decision(8, 7, "0x00000000000000000000000000000001")]);
    // A start reads the last thousand itself; these come before.
    store.append(NOON + 2 * DAY, (100..1300).map(super::event).collect(), vec![checkpoint(1299)]).unwrap();
    // What comes once the service runs again is indexed, and stands beside what is not.
    drop(store);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    let (mut store, _no_history) = place.open();
    store.append(NOON + 3 * DAY, vec![line(&decision(1300, 7, &mixed))], vec![]).unwrap();
    let lookup = store.lookup();
    assert!(lookup.is_behind());
    let seqs = |found: Vec<DecisionRecord<Value>>| -> Vec<u64> {
        found.iter().map(|found| found.decision["seq"].as_u64().unwrap()).collect()
    };
    let found = lookup.by_nonce(7).unwrap();
    assert_eq!(
        json!(found[0].sent),
        json!([{"seq": 3, "kind": "sent", "decision": 2}, {"seq": 6, "kind": "sent", "decision": 4}])
    );
    assert_eq!(found[0].done.as_ref().unwrap()["seq"], 7);
    assert_eq!(seqs(found), [2, 8, 1300]);
    assert_eq!(seqs(lookup.by_cloid(&mixed).unwrap()), [1, 2, 1300]);
    assert_eq!(seqs(lookup.by_nonce(70).unwrap()), [1]);
    assert!(lookup.by_nonce(700).unwrap().is_empty());
    assert!(lookup.is_behind());
}
