//! A disk that hangs at bad moments: in the middle of a turn, at the index, at midnight, or just until another one takes over.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Condvar, OnceLock};
use std::thread::ThreadId;
use std::time::Duration;

use nix::libc::EIO;

use super::*;
use crate::journal::chain::Chain;
use crate::journal::index::table::FULL;
use crate::journal::segment::{Position, Segment, Stream};
use crate::journal::tail::Tail;

/// Long past the writer's patience.
const LONG: Duration = Duration::from_secs(30);
/// Within this a thread that need not wait for a disk is done.
pub(super) const SOON: Duration = Duration::from_millis(500);

/// What waits here goes on once it is opened.
#[derive(Default)]
pub(super) struct Latch(Mutex<bool>, Condvar);

impl Latch {
    pub(super) fn wait(&self) {
        let _open = self.1.wait_while(self.0.lock().unwrap(), |is_open| !*is_open).unwrap();
    }

    fn open(&self) {
        *self.0.lock().unwrap() = true;
        self.1.notify_all();
    }
}

/// Opens it also where a test fails: nobody is left waiting.
pub(super) struct Opens(pub(super) Arc<Latch>);

impl Drop for Opens {
    fn drop(&mut self) {
        self.0.open();
    }
}

pub(super) struct Desk {
    journal: Running<u64>,
    told: Receiver<(u64, bool)>,
    n: u64,
}

impl Desk {
    pub(super) fn new(place: &Place, switch: Switch) -> Desk {
        let options = options(place, Faults::new(switch));
        let (store, opened) = open(&place.dir, &options).unwrap();
        let (tell, told) = channel();
        let release = move |n: u64, result: Result<(), _>| tell.send((n, result.is_ok())).unwrap();
        Desk { journal: start(store, Some(opened.history), 8, release), told, n: 0 }
    }

    /// One decision and one risk record, which must get to a disk.
    pub(super) fn write(&mut self, at_ms: u64) {
        self.n += 1;
        let n = self.n;
        let events = vec![line(&json!({"seq": n, "kind": "decision", "nonce": 1_000 + n}))];
        self.give(Batch { at_ms, events, risk: vec![record(n)], worth: Worth::Own, after: n });
    }

    fn give(&self, batch: Batch<u64>) {
        let n = batch.after;
        self.journal.queue().send(batch).unwrap();
        assert_eq!(self.told.recv_timeout(LONG), Ok((n, true)));
    }

    fn each_is_found_once(&self) {
        for n in 1..=self.n {
            assert_eq!(self.journal.lookup().by_nonce(1_000 + n).unwrap().len(), 1, "{n}");
        }
    }

    /// Whether somebody still fills the index.
    fn fills_index(&self) -> bool {
        self.journal.history.as_ref().is_some_and(|history| !history.is_finished())
    }
}

pub(super) fn options(place: &Place, faults: Faults) -> Options {
    let witness = Some(place.dir.with_file_name("witness"));
    Options { fallback: Some(place.spare.clone()), witness, faults, ..Options::default() }
}

/// Copies the journal as it stands now, to be opened in another place.
pub(super) fn copy(place: &Place, to: &str) -> (PathBuf, PathBuf) {
    let (main, spare) = (place.dir.with_file_name(to), place.spare.with_file_name(to));
    copy_folder(&place.dir, &main);
    copy_folder(&place.spare, &spare);
    std::fs::write(main.join("fallback"), format!("{}\n", spare.display())).unwrap();
    (main, spare)
}

/// What a start finds in such a copy: the numbers of the events and of the risk records.
pub(super) fn found(place: &Place, (main, spare): (PathBuf, PathBuf)) -> (Vec<u64>, Vec<u64>) {
    let options = Options { fallback: Some(spare), ..options(place, Faults::default()) };
    // What the witness says is of the end, and not of a moment before.
    let options = Options { witness: None, ..options };
    let (_store, opened) = open(&main, &options).unwrap();
    verify(&opened);
    (seqs(&opened), numbers(&opened.risk))
}

/// Its events were on disk already, and looked up: they are written again, and found in one place.
#[test]
fn a_turn_that_is_done_again_is_found_once() {
    let place = Place::new();
    let latch = Arc::<Latch>::default();
    let hangs = once(Step::RiskSync, 2, Fault::Delay { ms: 0 });
    let at = Arc::clone(&latch);
    let mut desk = Desk::new(&place, Arc::new(move |step| hangs(step).inspect(|_| at.wait())));
    let _opens = Opens(Arc::clone(&latch));
    (0..4).for_each(|_| desk.write(NOON));
    desk.each_is_found_once();
    latch.open();
    std::thread::sleep(SOON);
    desk.write(NOON);
    desk.each_is_found_once();
}

/// A file of the index holds up neither the writer nor who looks something up, also where the disk has failed before.
#[test]
fn a_hang_at_the_index_holds_up_nobody() {
    for fails in [0, 3] {
        let place = Place::new();
        let latch = Arc::<Latch>::default();
        let (hangs, syncs) = (once(Step::IndexWrite, 0, Fault::Delay { ms: 0 }), AtomicU64::new(0));
        let at = Arc::clone(&latch);
        let desk = Desk::new(
            &place,
            Arc::new(move |step| match step {
                Step::EventsSync if syncs.fetch_add(1, Ordering::Relaxed) < fails => {
                    Some(Fault::Fail { after: 0, errno: EIO })
                }
                _ => hangs(step).inspect(|_| at.wait()),
            }),
        );
        let _opens = Opens(Arc::clone(&latch));
        fill_a_run(&desk);
    }
}

fn fill_a_run(desk: &Desk) {
    const PART: u64 = 100;
    let orders = |n: u64| (0..39).map(|order| json!({"c": format!("0x{n:016x}{order:016x}")})).collect::<Vec<_>>();
    let decision = |n: u64| {
        line(
            &json!({"seq": n, "kind": "decision", "nonce": 1000 + n, "request": {"type": "order", "orders": orders(n)}}),
        )
    };
    let full = FULL as u64 / 40 + 2 * PART;
    for first in (1..full).step_by(PART as usize) {
        let events = (first..first + PART).map(decision).collect();
        desk.give(Batch { at_ms: NOON, events, risk: Vec::new(), worth: Worth::Own, after: first });
    }
    let (lookup, (tell, told)) = (desk.journal.lookup(), channel());
    std::thread::spawn(move || {
        let found = [1, 900, full - PART].map(|n| lookup.by_nonce(1000 + n).unwrap().len());
        tell.send(found).unwrap();
    });
    assert_eq!(told.recv_timeout(LONG), Ok([1, 1, 1]));
}

/// Each file that the one which was given up may still begin has another name, also on a new day.
#[test]
fn no_two_begin_files_of_one_name() {
    let day = crate::base::day::day_of(NOON);
    let segment = Segment { day: Some(day), n: 4 };
    let end = Position { segment, offset: 100, chain: Chain::START };
    let end = Tail::new(Stream::Events, Some(end), Some(segment), None).end();
    for (day, first) in [(day, 5), (crate::base::day::day_of(NOON + DAY), 0)] {
        let plan = Tail::beyond(Stream::Events, end, day).plan(day).unwrap();
        // One a try: the first one and two more.
        assert!(plan.segment.day == Some(day) && plan.segment.n >= first + 3, "{:?}", plan.segment);
    }
}

/// The files of a new day get names that the other folder has not.
#[test]
fn a_disk_that_hangs_at_midnight_leaves_a_journal_that_starts() {
    for step in [Step::EventsCreate, Step::EventsSync] {
        let place = Place::new();
        let latch = Arc::<Latch>::default();
        let nth = if step == Step::EventsCreate { 1 } else { 2 };
        let (hangs, at) = (once(step, nth, Fault::Delay { ms: 0 }), Arc::clone(&latch));
        let mut desk = Desk::new(&place, Arc::new(move |step| hangs(step).inspect(|_| at.wait())));
        let opens = Opens(Arc::clone(&latch));
        [NOON, NOON, NOON + DAY, NOON + DAY].into_iter().for_each(|at_ms| desk.write(at_ms));
        desk.each_is_found_once();
        drop(opens);
        std::thread::sleep(SOON);
        desk.write(NOON + DAY);
        drop(desk);
        assert_eq!(found(&place, copy(&place, "moved")), ((1..=5).collect(), (0..=5).collect()), "{step:?}");
    }
}

/// It is back while the fallback folder is taken over already: it lets go of nothing that the other one needs.
#[test]
fn one_that_comes_back_while_another_takes_over_holds_what_it_held() {
    let place = Place::new();
    let latch = Arc::<Latch>::default();
    let hangs = once(Step::EventsSync, 2, Fault::Delay { ms: 0 });
    let (at, hung) = (Arc::clone(&latch), OnceLock::<ThreadId>::new());
    let mut desk = Desk::new(
        &place,
        Arc::new(move |step| {
            let thread = std::thread::current().id();
            if hangs(step).is_some() {
                hung.set(thread).unwrap();
                at.wait();
            } else if step == Step::RedoWrite && hung.get().is_some_and(|hung| *hung != thread) {
                // The other one is at work.
                at.open();
                std::thread::sleep(SOON);
            }
            None
        }),
    );
    let _opens = Opens(Arc::clone(&latch));
    (0..4).for_each(|_| desk.write(NOON));
    std::thread::sleep(SOON);
    desk.each_is_found_once();
    assert!(matches!(place.refusal(), OpenError::Locked { .. }));
    assert!(desk.fills_index());
    drop(desk);
    assert_eq!(found(&place, copy(&place, "moved")), ((1..=4).collect(), (0..=4).collect()));
}

/// One life after the other has its disk hang; each goes on from what the one before it left in both folders, and in no less.
#[test]
fn each_life_goes_on_from_both_folders() {
    let mut place = Place::new();
    for life in 1..=3 {
        let latch = Arc::<Latch>::default();
        let (hangs, at) = (once(Step::RiskWrite, 1, Fault::Delay { ms: 0 }), Arc::clone(&latch));
        let mut desk = Desk::new(&place, Arc::new(move |step| hangs(step).inspect(|_| at.wait())));
        let opens = Opens(Arc::clone(&latch));
        desk.n = 3 * (life - 1);
        (0..3).for_each(|_| desk.write(NOON));
        desk.each_is_found_once();
        drop(opens);
        std::thread::sleep(SOON);
        drop(desk);
        // This process keeps the lock of what was given up.
        let (dir, spare) = copy(&place, &format!("life{life}"));
        std::fs::write(dir.join("fallback"), "/nowhere\n").unwrap();
        assert!(matches!(open(&dir, &Options::default()), Err(OpenError::FallbackAway { .. })));
        std::fs::write(dir.join("fallback"), format!("{}\n", spare.display())).unwrap();
        place = Place { dir: dir.clone(), spare: spare.clone(), ..place };
        assert_eq!(found(&place, (dir, spare)), ((1..=3 * life).collect(), (0..=3 * life).collect()), "{life}");
    }
}

/// The home's disk fails, and then the fallback's takes its time: nobody else goes on, and nothing is closed.
#[test]
fn a_slow_fallback_is_waited_for() {
    let place = Place::new();
    let fails = once(Step::EventsSync, 2, Fault::Delay { ms: 0 });
    let (main, slow) = (OnceLock::<()>::new(), AtomicU64::new(0));
    let mut desk = Desk::new(
        &place,
        Arc::new(move |step| {
            if fails(step).is_some() {
                main.set(()).unwrap();
            }
            if step == Step::EventsSync && main.get().is_some() {
                // The first three tries fail in the home.
                match slow.fetch_add(1, Ordering::Relaxed) {
                    0..=2 => return Some(Fault::Fail { after: 0, errno: EIO }),
                    4 => return Some(Fault::Delay { ms: 6_500 }),
                    _ => {}
                }
            }
            None
        }),
    );
    (0..5).for_each(|_| desk.write(NOON));
    assert!(desk.journal.health().error().unwrap().contains("fallback folder"));
    assert!(desk.fills_index());
    desk.each_is_found_once();
}

/// Killed at any step of the turn that is done again, or of what the disk does when it is back: what was told is there, once.
#[test]
fn a_start_finds_all_that_was_told_whenever_a_takeover_ends() {
    let place = Arc::new(Place::new());
    let latch = Arc::<Latch>::default();
    let hangs = once(Step::EventsSync, 2, Fault::Delay { ms: 0 });
    let (at, has_hung, copies) = (Arc::clone(&latch), OnceLock::<()>::new(), Arc::<Mutex<Vec<_>>>::default());
    let (of, kept) = (Arc::clone(&place), Arc::clone(&copies));
    let mut desk = Desk::new(
        &place,
        Arc::new(move |step| {
            let is_first = hangs(step).is_some();
            if is_first || has_hung.get().is_some() {
                let mut kept = kept.lock().unwrap();
                let name = format!("copy{}", kept.len());
                kept.push((step, copy(&of, &name)));
            }
            if is_first {
                has_hung.set(()).unwrap();
                at.wait();
            }
            None
        }),
    );
    let _opens = Opens(Arc::clone(&latch));
    (0..3).for_each(|_| desk.write(NOON));
    latch.open();
    std::thread::sleep(SOON);
    desk.write(NOON);
    drop(desk);
    let copies = std::mem::take(&mut *copies.lock().unwrap());
    assert!(copies.len() > 8, "{}", copies.len());
    for (n, (step, copy)) in copies.into_iter().enumerate() {
        let (events, risk) = found(&place, copy);
        let last = events.len() as u64;
        assert!((2..=4).contains(&last), "{n} {step:?}: {events:?}");
        assert_eq!(events, (1..=last).collect::<Vec<_>>(), "{n} {step:?}");
        assert_eq!(risk, (0..=last).collect::<Vec<_>>(), "{n} {step:?}");
    }
}
