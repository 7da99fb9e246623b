//! The journal's figures at a million events: printed, never asserted. By hand, in a release build:
//! `cargo test --release --lib journal::tests::figures -- --ignored --nocapture`.

use std::time::{Duration, Instant};

use super::*;

const EVENTS: u64 = 1_000_000;
const BATCH: u64 = 500;

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn spread(mut took: Vec<Duration>) -> String {
    took.sort_unstable();
    format!("median {:?}, 99 of 100 {:?}, most {:?}", took[took.len() / 2], took[took.len() * 99 / 100], took.last())
}

/// A decision, its send and its end, as they come in.
fn event_of(seq: u64) -> Line {
    let of = (seq - 1) / 3 * 3 + 1;
    let at_ms = NOON + seq;
    line(&match seq - of {
        0 => {
            let cloid = format!("0x{:016x}{seq:016x}", seq.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let order = json!({"a": 3, "b": true, "p": "2450.5", "s": "0.02", "r": false, "t": {"limit": {"tif": "Gtc"}}, "c": cloid});
            json!({"seq": seq, "at_ms": at_ms, "kind": "decision", "client": "0x1111111111111111111111111111111111111111",
                "nonce": at_ms, "verdict": "allow", "request": {"type": "order", "orders": [order], "grouping": "na"},
                "forward": {"type": "order", "orders": [order], "grouping": "na"}, "nonces": [at_ms]})
        }
        1 => json!({"seq": seq, "at_ms": at_ms, "kind": "sent", "decision": of, "index": 0, "nonce": at_ms, "ok": true,
            "reply": {"status": "ok", "response": {"type": "order", "data": {"statuses": [{"resting": {"oid": seq}}]}}}}),
        _ => json!({"seq": seq, "at_ms": at_ms, "kind": "done", "intent": of}),
    })
}

fn cloid_of(seq: u64) -> String {
    format!("0x{:016x}{seq:016x}", seq.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn look_up(lookup: &Lookup, what: &str) {
    let asked = (1..EVENTS).step_by(2997).map(|seq| (seq - 1) / 3 * 3 + 1);
    let (mut by_nonce, mut by_cloid) = (Vec::new(), Vec::new());
    for seq in asked {
        let begun = Instant::now();
        let found = lookup.by_nonce(NOON + seq).unwrap();
        by_nonce.push(begun.elapsed());
        assert_eq!(found[0].decision["seq"], seq);
        let begun = Instant::now();
        let found = lookup.by_cloid(&cloid_of(seq)).unwrap();
        by_cloid.push(begun.elapsed());
        assert_eq!(found[0].decision["seq"], seq);
    }
    println!("{what}: by nonce {}; by cloid {}", spread(by_nonce), spread(by_cloid));
}

fn catch_up(lookup: &Lookup, what: &str) {
    let begun = Instant::now();
    assert_eq!(lookup.by_nonce(NOON + EVENTS / 3).unwrap().len(), usize::from(EVENTS / 3 % 3 == 1));
    println!("{what}: the first look-up is answered after {:?}", begun.elapsed());
    while lookup.is_behind() {
        std::thread::sleep(Duration::from_millis(5));
    }
    println!("{what}: the index is whole after {:?}", begun.elapsed());
}

/// Writes the events over so many days, and prints the figures of look-ups then, after a restart, and after a rebuild.
fn print_figures(days: u64) {
    let place = Place::new();
    let before = resident_kib();
    let (mut store, _) = place.open();
    let commits = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&commits);
    store.on_commit(move |commit| told.lock().unwrap().push(commit.took));
    let lookup = store.lookup();
    let journal = start(store, None, 8, |(), result| assert!(result.is_ok()));
    let queue = journal.queue();
    for part in 0..EVENTS / BATCH {
        let events = (1..=BATCH).map(|n| event_of(part * BATCH + n)).collect();
        let risk = vec![checkpoint(part * BATCH + BATCH)];
        queue
            .send(Batch {
                at_ms: NOON + part * days / (EVENTS / BATCH) * DAY,
                events,
                risk,
                worth: Worth::Own,
                after: (),
            })
            .unwrap();
    }
    drop((queue, journal));
    println!("resident: {before} KiB before, {} KiB after", resident_kib());
    println!("commits: {}", spread(commits.lock().unwrap().clone()));
    look_up(&lookup, "written");
    for what in ["restarted", "rebuilt"] {
        let begun = Instant::now();
        let (store, opened) = place.open();
        println!("{what}: open took {:?}", begun.elapsed());
        let lookup = store.lookup();
        let journal = start(store, Some(opened.history), 1, |(), _| ());
        catch_up(&lookup, what);
        look_up(&lookup, what);
        drop(journal);
        let sizes: Vec<_> = place.runs().iter().map(|run| run.metadata().unwrap().len()).collect();
        println!("{what}: {} runs, {} bytes, resident {} KiB", sizes.len(), sizes.iter().sum::<u64>(), resident_kib());
        std::fs::remove_dir_all(place.file("index")).unwrap();
    }
}

#[test]
#[ignore = "writes half a gigabyte, to print figures"]
fn one_busy_day() {
    print_figures(1);
}

#[test]
#[ignore = "writes half a gigabyte, to print figures"]
fn three_years_of_quiet_days() {
    print_figures(1000);
}
