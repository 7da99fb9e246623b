//! Starts on a full disk: none pays with the reserve, none is refused for a batch that nobody was told of, and none leaves an
//! empty file.

use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;

use nix::libc::ENOSPC;

use super::*;

/// A disk with room for so many bytes in files of events and of risk records, and for no other file.
fn room(bytes: usize) -> (Switch, Arc<AtomicUsize>) {
    let left = Arc::new(AtomicUsize::new(bytes));
    let has = Arc::clone(&left);
    let switch: Switch = Arc::new(move |step| {
        match step {
            Step::EventsWrite | Step::RiskWrite => Some(has.load(SeqCst)).filter(|bytes| *bytes < usize::MAX),
            Step::ReserveCreate => Some(0).filter(|_| has.load(SeqCst) < usize::MAX),
            _ => None,
        }
        .map(|after| Fault::Fail { after, errno: ENOSPC })
    });
    (switch, left)
}

const ALL: usize = usize::MAX;

/// A journal with two batches, the second of which the disk refused after `written` bytes; `is_new` in a file of its own.
fn refused(written: usize, is_new: bool) -> Place {
    let place = Place::new();
    let (switch, left) = room(ALL);
    let mut store = place.open_with(switch);
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    for part in ["reserve", "reserve-own"] {
        std::fs::remove_file(place.file(part)).unwrap();
    }
    drop(store);
    let (switch, full) = room(0);
    let mut store = place.open_with(switch);
    store.append(NOON, vec![event(2)], vec![record(2)]).unwrap_err();
    full.store(written, SeqCst);
    if is_new {
        store.append(NOON, vec![event(3)], vec![record(3)]).unwrap_err();
    }
    drop((store, left));
    place
}

#[test]
fn a_batch_that_nobody_was_told_of_is_taken_back_where_there_is_no_room_for_it() {
    for (written, is_new) in [(0, false), (40, false), (0, true), (40, true)] {
        let place = refused(written, is_new);
        let before = place.read("events-2026-03-01.jsonl");
        let (switch, left) = room(written);
        let (mut store, opened) =
            open(&place.dir, &Options { faults: Faults::new(switch), ..Options::default() }).unwrap();
        assert_eq!((seqs(&opened), numbers(&opened.risk)), (vec![1], vec![0, 1]), "{written} {is_new}");
        assert_eq!(place.event_files(), ["events-2026-03-01.jsonl"], "no empty file is left");
        assert_eq!(place.read("events-2026-03-01.jsonl"), before);
        store.append(NOON, vec![event(2)], vec![record(2)]).unwrap_err();
        left.store(ALL, SeqCst);
        store.append(NOON, vec![event(3)], vec![record(3)]).unwrap();
        drop(store);
        let (_, opened) = place.open();
        assert_eq!((seqs(&opened), numbers(&opened.risk)), (vec![1, 2, 3], vec![0, 1, 2, 3]));
        verify(&opened);
    }
}

#[test]
fn with_room_it_is_completed() {
    let place = refused(40, true);
    assert_eq!(seqs(&place.open().1), [1, 2, 3]);
}

/// The events of a batch stand, and the risk records have no room: what names them would be missing.
#[test]
fn risk_records_without_room_are_taken_back_alone() {
    let place = Place::new();
    let full = |step| matches!(step, Step::RiskWrite | Step::ReserveCreate);
    let mut store =
        place.open_with(Arc::new(move |step| full(step).then_some(Fault::Fail { after: 10, errno: ENOSPC })));
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap_err();
    drop(store);
    let (store, opened) = open(&place.dir, &Options { faults: Faults::new(room(0).0), ..Options::default() }).unwrap();
    assert_eq!((seqs(&opened), numbers(&opened.risk)), (vec![1], vec![0]));
    drop(store);
    assert_eq!(seqs(&place.open().1), [1]);
}

#[test]
fn a_reserve_that_is_whole_is_kept_as_it_is() {
    let place = Place::new();
    drop(place.open());
    let store = place.open_with(room(0).0);
    assert_eq!(store.health().condition(), Condition::Good);
    drop(store);
    // Half a reserve is no reserve.
    std::fs::write(place.file("reserve"), [0; 4096]).unwrap();
    let store = place.open_with(room(0).0);
    assert_eq!(store.health().condition(), Condition::Degraded);
    assert!(!place.file("reserve").exists() && place.file("reserve-own").exists());
}

#[test]
fn what_a_start_says_of_itself_waits_and_takes_no_byte_of_the_reserve() {
    let place = Place::new();
    drop(place.open());
    let (switch, left) = room(0);
    let dir = place.dir.clone();
    let reserve: Switch = {
        let switch = Arc::clone(&switch);
        // A part of the reserve that was given up is room enough.
        Arc::new(move |step| if dir.join("reserve").exists() { switch(step) } else { None })
    };
    let (tell, told) = mpsc::channel();
    let journal = start(place.open_with(reserve), None, 16, move |n: u64, result: Result<(), Arc<JournalError>>| {
        tell.send((n, result.is_ok())).unwrap();
    });
    let queue = journal.queue();
    let write = |n: u64, risk: Vec<RiskLine>, worth: Worth| {
        queue.send(Batch { at_ms: NOON, events: vec![event(n)], risk, worth, after: n }).unwrap();
        told.recv().unwrap()
    };
    assert_eq!(write(1, vec![record(1)], Worth::Later), (1, false));
    assert!(place.file("reserve").exists() && place.file("reserve-own").exists());
    assert_eq!(journal.health().condition(), Condition::Failing);
    assert_eq!(write(2, vec![], Worth::Told), (2, false));
    assert!(place.file("reserve").exists(), "a refusal takes none of it either");
    // What is the guard's own takes it, and what waited goes ahead of it.
    assert_eq!(write(3, vec![], Worth::Own), (3, true));
    assert!(!place.file("reserve").exists() && place.file("reserve-own").exists());
    left.store(ALL, SeqCst);
    drop((queue, journal));
    let (_, opened) = place.open();
    assert_eq!((seqs(&opened), numbers(&opened.risk)), (vec![1, 3], vec![0, 1]));
}
