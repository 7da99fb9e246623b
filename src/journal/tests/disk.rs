//! A disk that fails: what was confirmed is there once, what was refused is written later, and nobody is told too early.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, mpsc};

use nix::libc::{EIO, ENOSPC};
use proptest::prelude::*;

use super::*;

/// Faults by how many steps of any kind were passed before.
fn script(faults: Vec<(usize, Fault)>) -> Switch {
    let met = Mutex::new(0);
    Arc::new(move |_| {
        let mut met = met.lock().unwrap();
        *met += 1;
        faults.iter().find(|(at, _)| *at == *met).map(|(_, fault)| *fault)
    })
}

fn fault() -> impl Strategy<Value = Fault> {
    (0..200_usize, prop::sample::select(vec![EIO, ENOSPC])).prop_map(|(after, errno)| Fault::Fail { after, errno })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Any schedule of failing steps, with and without a fallback folder.
    #[test]
    fn nothing_is_lost_or_doubled(
        faults in prop::collection::vec((1..90_usize, fault()), 0..24), spare in any::<bool>(), restart in 0..8_u64,
    ) {
        let place = Place::new();
        let fallback = spare.then(|| place.spare.clone());
        let mut options = Options { fallback: fallback.clone(), faults: Faults::new(script(faults)), ..Options::default() };
        let mut store = open(&place.dir, &options).unwrap().0;
        let (mut confirmed, mut last) = (0, 0);
        for n in 0..12 {
            if n == restart && confirmed == last {
                drop(store);
                options.faults = Faults::default();
                store = open(&place.dir, &options).unwrap().0;
            }
            let events = vec![event(2 * n + 1), event(2 * n + 2)];
            let risk = if n % 3 == 0 { vec![record(n + 1), checkpoint(2 * n + 2)] } else { vec![record(n + 1)] };
            last = n + 1;
            if store.append(NOON + n * DAY / 4, events, risk).is_ok() {
                confirmed = last;
                prop_assert!(store.health().condition() != Condition::Failing);
            } else {
                prop_assert!(store.health().condition() == Condition::Failing && store.health().error().is_some());
            }
        }
        drop(store);
        let (_store, opened) = open(&place.dir, &Options { fallback, ..Options::default() }).unwrap();
        let found = seqs(&opened);
        prop_assert!(found.len() as u64 >= 2 * confirmed);
        prop_assert_eq!(&found, &(1..=found.len() as u64).collect::<Vec<_>>());
        let found = numbers(&opened.risk);
        prop_assert!(found.len() as u64 > confirmed);
        prop_assert_eq!(&found, &(0..found.len() as u64).collect::<Vec<_>>());
        verify(&opened);
        let shown: Vec<String> = read_risk(&place.dir).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(numbers(&shown), found);
        let read: Vec<ChainedLine> = read_days(&place.dir, None).unwrap().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), seqs(&opened).len());
        prop_assert!(read.iter().all(|line| line.before.leads_to(&line.text)), "no seam of two files breaks the chain");
    }
}

#[test]
fn a_file_that_failed_once_is_left() {
    let place = Place::new();
    let mut store = place.open_with(once(Step::EventsSync, 1, Fault::Fail { after: 0, errno: EIO }));
    store.append(NOON, vec![event(1)], vec![]).unwrap();
    let before = place.read("events-2026-03-01.jsonl");
    store.append(NOON, vec![event(2)], vec![]).unwrap();
    store.append(NOON, vec![event(3)], vec![]).unwrap();
    assert_eq!(store.health().condition(), Condition::Good);
    assert_eq!(place.read("events-2026-03-01.jsonl"), before);
    let second = String::from_utf8(place.read("events-2026-03-01.1.jsonl")).unwrap();
    assert!(
        second.starts_with(&format!("{{\"follows\":\"events-2026-03-01.jsonl\",\"at\":{},", before.len())),
        "{second}"
    );
    drop(store);
    // What the disk made of the bytes that were never confirmed does not matter.
    let frayed = [before.as_slice(), b"{\"seq\":2,\"at"].concat();
    std::fs::write(place.file("events-2026-03-01.jsonl"), frayed).unwrap();
    assert_eq!(seqs(&place.open().1), [1, 2, 3]);
    // What was confirmed does.
    std::fs::write(place.file("events-2026-03-01.jsonl"), &before[..before.len() - 1]).unwrap();
    assert!(matches!(place.refusal(), OpenError::Damaged(_)));
}

#[test]
fn a_full_disk_is_bridged_by_the_reserve() {
    let place = Place::new();
    let full = Arc::new(AtomicBool::new(false));
    let (is_full, dir) = (Arc::clone(&full), place.dir.clone());
    let mut store = place.open_with(Arc::new(move |step| {
        let short = is_full.load(SeqCst)
            && match step {
                Step::EventsWrite | Step::RiskWrite => dir.join("reserve").exists(),
                step => step == Step::ReserveCreate,
            };
        short.then_some(Fault::Fail { after: 10, errno: ENOSPC })
    }));
    full.store(true, SeqCst);
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    assert_eq!(store.health().condition(), Condition::Degraded);
    assert!(!place.file("reserve").exists());
    store.append(NOON, vec![event(2)], vec![]).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1100));
    store.retry_backlog();
    assert_eq!(store.health().condition(), Condition::Degraded);
    full.store(false, SeqCst);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    store.retry_backlog();
    assert_eq!(store.health().condition(), Condition::Good);
    assert!(place.file("reserve").exists());
    drop(store);
    assert_eq!(seqs(&place.open().1), [1, 2]);
}

#[test]
fn the_fallback_takes_over_and_is_not_forgotten() {
    let place = Place::new();
    // The first write, and the one to each of the two new files begun after it.
    let failing = Arc::new(AtomicUsize::new(0));
    let left = Arc::clone(&failing);
    let faults = Faults::new(Arc::new(move |step| {
        let fails = step == Step::EventsWrite && left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
        fails.then_some(Fault::Fail { after: 3, errno: EIO })
    }));
    let options = Options { fallback: Some(place.spare.clone()), faults, ..Options::default() };
    let (mut store, _) = open(&place.dir, &options).unwrap();
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    failing.store(3, SeqCst);
    store.append(NOON, vec![event(2)], vec![]).unwrap();
    assert_eq!(store.health().condition(), Condition::Degraded);
    store.append(NOON, vec![event(3)], vec![record(2)]).unwrap();
    assert_eq!(store.health().condition(), Condition::Degraded);
    drop(store);
    assert!(place.spare.join("events-2026-03-01.1.jsonl").exists());
    assert!(place.spare.join("risk.1.jsonl").exists());

    // The folder is known without being configured, and cannot be left out.
    let (mut store, opened) = place.open();
    assert_eq!(seqs(&opened), [1, 2, 3]);
    assert_eq!(numbers(&opened.risk), [0, 1, 2]);
    store.append(NOON, vec![event(4)], vec![record(3)]).unwrap();
    assert_eq!(store.health().condition(), Condition::Good);
    drop(store);
    assert!(place.file("events-2026-03-01.2.jsonl").exists(), "back in the first folder");
    assert_eq!(numbers(&place.open().1.risk), [0, 1, 2, 3]);
    let other = Options { fallback: Some(place.spare.with_file_name("other")), ..Options::default() };
    assert!(matches!(open(&place.dir, &other).map(|_| ()), Err(OpenError::FallbackAway { .. })));
    std::fs::rename(&place.spare, place.spare.with_file_name("away")).unwrap();
    assert!(matches!(place.refusal(), OpenError::FallbackAway { .. }));
    assert!(matches!(read_risk(&place.dir).map(|_| ()), Err(OpenError::FallbackAway { .. })));
}

#[test]
fn batches_are_released_in_order_and_on_disk() {
    let place = Place::new();
    let (store, _) = place.open();
    let (tell, told) = mpsc::channel();
    let dir = place.dir.clone();
    let journal = start(store, None, 512, move |after: (u64, u64), result: Result<(), Arc<JournalError>>| {
        let (n, seq) = after;
        let files = std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().path());
        let there = files
            .filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("events-"))
            .any(|path| std::fs::read_to_string(path).unwrap().contains(&format!("{{\"seq\":{seq},")));
        tell.send((n, result.is_ok(), seq == 0 || there)).unwrap();
    });
    let queue = journal.queue();
    let mut seq = 0;
    for n in 0..400 {
        let events = if n % 3 == 0 { vec![] } else { vec![event(seq + 1)] };
        seq += events.len() as u64;
        let after = (n, if events.is_empty() { 0 } else { seq });
        queue.send(Batch { at_ms: NOON + n / 100 * DAY, events, risk: vec![], worth: Worth::Own, after }).unwrap();
    }
    let bad = Line { text: "{\"a\":\n1}".to_owned(), keys: Keys::default() };
    queue
        .send(Batch { at_ms: NOON + 4 * DAY, events: vec![bad], risk: vec![], worth: Worth::Own, after: (400, 0) })
        .unwrap();
    drop(queue);
    assert!(journal.is_alive());
    drop(journal);
    let told: Vec<_> = told.iter().collect();
    assert_eq!(told, (0..=400).map(|n| (n, n != 400, true)).collect::<Vec<_>>());
    assert_eq!(place.open().1.last_seq, seq);
    assert_eq!(place.event_files().len(), 4);
}

#[test]
fn a_failing_disk_is_told_to_all_who_wait_and_heals_by_itself() {
    let place = Place::new();
    let dead = Arc::new(AtomicBool::new(true));
    let is_dead = Arc::clone(&dead);
    let store = place.open_with(Arc::new(move |step| {
        let fails = step == Step::EventsSync && is_dead.load(SeqCst);
        fails.then_some(Fault::Fail { after: 0, errno: EIO })
    }));
    let (tell, told) = mpsc::channel();
    let journal = start(store, None, 16, move |n: u64, result| tell.send((n, result.is_ok())).unwrap());
    let queue = journal.queue();
    for n in 1..=3 {
        queue.send(Batch { at_ms: NOON, events: vec![event(n)], risk: vec![], worth: Worth::Own, after: n }).unwrap();
        assert_eq!(told.recv().unwrap(), (n, false));
    }
    assert_eq!(journal.health().condition(), Condition::Failing);
    dead.store(false, SeqCst);
    while journal.health().condition() != Condition::Good {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    queue.send(Batch { at_ms: NOON, events: vec![event(4)], risk: vec![], worth: Worth::Own, after: 4 }).unwrap();
    assert_eq!(told.recv().unwrap(), (4, true));
    drop((queue, journal));
    assert_eq!(seqs(&place.open().1), [1, 2, 3, 4]);
    assert_eq!(place.event_files().len(), 1, "files of failed tries are not left lying about");
}

#[test]
fn what_is_kept_for_a_failing_disk_is_bounded() {
    let place = Place::new();
    let dead = Arc::new(AtomicBool::new(true));
    let is_dead = Arc::clone(&dead);
    let mut store = place.open_with(Arc::new(move |step| {
        let fails = step == Step::RedoWrite && is_dead.load(SeqCst);
        fails.then_some(Fault::Fail { after: 0, errno: EIO })
    }));
    let big = |seq| line(&json!({"seq": seq, "kind": "error", "text": "x".repeat(1 << 20)}));
    for seq in 1..=10 {
        store.append(NOON, vec![big(seq)], vec![]).unwrap_err();
    }
    dead.store(false, SeqCst);
    store.append(NOON, vec![event(11)], vec![]).unwrap();
    drop(store);
    assert_eq!(seqs(&place.open().1), [1, 2, 3, 11], "4 MiB are kept");
}

#[test]
fn a_batch_too_large_is_refused_and_named() {
    let place = Place::new();
    let (mut store, _) = place.open();
    let text = format!("{{\"a\":\"{}\"}}", "x".repeat(3 << 20));
    let lines = vec![Line { text, keys: Keys::default() }; 6];
    let error = store.append(NOON, lines, vec![]).unwrap_err();
    assert!(matches!(*error, JournalError::TooLarge { limit: MAX_BATCH, .. }), "{error}");
    store.append(NOON, vec![event(1)], vec![]).unwrap();
}

/// A disk as full as its reserve is large: each part, given up, makes room for this many batches.
#[test]
fn the_reserve_is_for_what_is_worth_it() {
    let place = Place::new();
    let (dir, writes) = (place.dir.clone(), Arc::new(AtomicUsize::new(usize::MAX)));
    let left = Arc::clone(&writes);
    let store = place.open_with(Arc::new(move |step| {
        let room = |step: Step| match step {
            Step::ReserveCreate => left.load(SeqCst) == usize::MAX,
            Step::EventsWrite if left.load(SeqCst) == usize::MAX => true,
            Step::EventsWrite => {
                let given_up = ["reserve", "reserve-own"].iter().filter(|name| !dir.join(name).exists()).count();
                let has_room = left.load(SeqCst) < 2 * given_up;
                left.fetch_add(usize::from(has_room), SeqCst);
                has_room
            }
            _ => true,
        };
        (!room(step)).then_some(Fault::Fail { after: 0, errno: ENOSPC })
    }));
    let (tell, told) = mpsc::channel();
    let journal = start(store, None, 16, move |n: u64, result: Result<(), Arc<JournalError>>| {
        let let_go = matches!(result.as_ref().map_err(AsRef::as_ref), Err(JournalError::NoRoom(_)));
        tell.send((n, result.is_ok(), let_go)).unwrap();
    });
    let (queue, health) = (journal.queue(), journal.health());
    let write = |n: u64, worth: Worth| {
        queue.send(Batch { at_ms: NOON, events: vec![event(n)], risk: vec![], worth, after: n }).unwrap();
        told.recv().unwrap()
    };
    assert_eq!(write(1, Worth::Told), (1, true, false));
    writes.store(0, SeqCst);
    assert_eq!(write(2, Worth::Told), (2, false, true), "no byte of the reserve");
    assert!(health.is_full() && health.condition() == Condition::Degraded);
    assert_eq!(write(3, Worth::Exit(None)), (3, true, false));
    assert_eq!(write(4, Worth::Told), (4, false, true));
    assert_eq!(write(5, Worth::Exit(None)), (5, true, false));
    assert!(!write(6, Worth::Exit(None)).1, "the clients' part is used up");
    assert_eq!(write(7, Worth::Own), (7, true, false));
    assert_eq!(write(8, Worth::Exit(None)), (8, false, true), "the last part is the guard's own");
    writes.store(usize::MAX, SeqCst);
    while health.condition() != Condition::Good || health.is_full() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    assert_eq!(write(9, Worth::Told), (9, true, false));
    drop((queue, journal));
    let found = seqs(&place.open().1);
    assert!(found.ends_with(&[9]) && [1, 3, 5, 7].iter().all(|seq| found.contains(seq)), "{found:?}");
    assert!([2, 4, 8].iter().all(|seq| !found.contains(seq)), "{found:?}");
}
