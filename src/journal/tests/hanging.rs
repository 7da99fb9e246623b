//! A disk that hangs: the fallback folder takes over, and what the disk still does later is left out.

use std::sync::mpsc;
use std::time::Duration;

use super::*;

/// Longer than the writer waits for the home's disk.
const HANG_MS: u64 = 6_500;

/// The home's disk hangs at this step of one of the first three batches, and goes on with it later.
fn hang_at((step, nth): (Step, usize)) {
    let place = Place::new();
    let faults = Faults::new(once(step, nth, Fault::Delay { ms: HANG_MS }));
    let witness = Some(place.dir.with_file_name("witness"));
    let options =
        Options { fallback: Some(place.spare.clone()), witness: witness.clone(), faults, ..Options::default() };
    let (store, _) = open(&place.dir, &options).unwrap();
    let (tell, told) = mpsc::channel();
    let journal = start(store, None, 8, move |n: u64, result| tell.send((n, result.is_ok())).unwrap());
    let send = |n: u64| {
        let (events, risk) = (vec![event(2 * n + 1), event(2 * n + 2)], vec![record(n + 1)]);
        journal.queue().send(Batch { at_ms: NOON, events, risk, worth: Worth::Own, after: n }).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(60)).unwrap(), (n, true), "{step:?}");
    };
    for n in 0..3 {
        assert_eq!(journal.health().condition() == Condition::Good, n <= nth as u64, "{step:?}");
        send(n);
    }
    let health = journal.health();
    assert_eq!(health.condition(), Condition::Degraded);
    assert!(health.error().unwrap().contains("does not answer"), "{:?}", health.error());
    (3..5).for_each(send);
    let said = || std::fs::read_to_string(witness.clone().unwrap()).unwrap_or_default();
    for patience in (0..100).rev() {
        let is_of_fallback = place.spare.join(said().split(' ').next().unwrap()).is_file();
        assert!(is_of_fallback || patience > 0, "{step:?}: {}", said());
        if is_of_fallback {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    // The other one is done with its turn by now, and nobody hears of it.
    std::thread::sleep(Duration::from_millis(HANG_MS));
    send(5);
    assert_eq!(journal.health().condition(), Condition::Degraded);
    assert!(told.try_recv().is_err());
    drop(journal);
    // The lock is held for as long as the process lives.
    assert!(matches!(place.refusal(), OpenError::Locked { .. }));
    let moved = place.dir.with_file_name("moved");
    copy_folder(&place.dir, &moved);
    let options = Options { fallback: Some(place.spare.clone()), witness: witness.clone(), ..Options::default() };
    let without_spare = |begin: &dyn Fn() -> bool| {
        let away = place.spare.with_file_name("away");
        copy_folder(&place.spare, &away);
        let lines = std::fs::read_dir(&place.spare).unwrap().map(|file| file.unwrap().path());
        lines
            .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
            .for_each(|file| std::fs::remove_file(file).unwrap());
        _ = std::fs::remove_file(place.spare.join("tail.redo"));
        assert!(!begin(), "{step:?}: without what was written there");
        copy_folder(&away, &place.spare);
    };
    without_spare(&|| open(&moved, &options).is_ok());
    let (_store, opened) = open(&moved, &options).unwrap();
    assert_eq!(seqs(&opened), (1..=12).collect::<Vec<_>>(), "{step:?}");
    assert_eq!(numbers(&opened.risk), (0..=6).collect::<Vec<_>>(), "{step:?}");
    verify(&opened);
}

#[test]
fn the_fallback_takes_over_from_a_disk_that_hangs() {
    // The first batch begins the day's file; that of the risk journal is there.
    let first = [Step::EventsCreate, Step::EventsFolderSync].map(|step| (step, 0));
    let third = [Step::RedoWrite, Step::EventsWrite, Step::EventsSync, Step::RiskWrite, Step::RiskSync];
    let steps = first.into_iter().chain(third.map(|step| (step, 2)));
    std::thread::scope(|scope| steps.into_iter().for_each(|step| drop(scope.spawn(move || hang_at(step)))));
}

/// One that hangs and then fails goes nowhere: another one writes in the fallback folder already.
#[test]
fn one_that_was_given_up_keeps_out_of_the_fallback() {
    let place = Place::new();
    let hangs = once(Step::EventsSync, 0, Fault::Delay { ms: HANG_MS });
    let has_hung = once(Step::EventsSync, 0, Fault::Delay { ms: 0 });
    let main = Mutex::new(None);
    let faults = Faults::new(Arc::new(move |step| {
        // Once it is back, all that its thread tries fails.
        let thread = std::thread::current().id();
        if has_hung(step).is_some() {
            *main.lock().unwrap() = Some(thread);
            return hangs(step);
        }
        (*main.lock().unwrap() == Some(thread)).then_some(Fault::Fail { after: 3, errno: nix::libc::EIO })
    }));
    let options = Options { fallback: Some(place.spare.clone()), faults, ..Options::default() };
    let (store, _) = open(&place.dir, &options).unwrap();
    let (tell, told) = mpsc::channel();
    let journal = start(store, None, 8, move |n: u64, result| tell.send((n, result.is_ok())).unwrap());
    let send = |n: u64| {
        let batch = Batch { at_ms: NOON, events: vec![event(n)], risk: vec![record(n)], worth: Worth::Own, after: n };
        journal.queue().send(batch).unwrap();
        assert_eq!(told.recv_timeout(Duration::from_secs(60)).unwrap(), (n, true));
    };
    send(1);
    std::thread::sleep(Duration::from_millis(HANG_MS));
    (2..5).for_each(send);
    drop(journal);
    let moved = place.dir.with_file_name("moved");
    copy_folder(&place.dir, &moved);
    let (_store, opened) = open(&moved, &Options { fallback: Some(place.spare), ..Options::default() }).unwrap();
    assert_eq!(seqs(&opened), [1, 2, 3, 4]);
    assert_eq!(numbers(&opened.risk), [0, 1, 2, 3, 4]);
    verify(&opened);
}
