//! A process really killed at every step, in the middle of every write.

use std::process::{Command, Stdio};

use super::*;

const DIR: &str = "JOURNAL_CRASH_DIR";
const STEP: &str = "JOURNAL_CRASH_STEP";

/// Batches the child writes; over three days.
const BATCHES: u64 = 6;

fn options(switch: Switch) -> Options {
    Options { faults: Faults::new(switch), ..Options::default() }
}

/// Not a test by itself: the process that is killed. Says on its output which batches are on disk.
#[test]
fn child() {
    let (Ok(dir), Ok(at)) = (std::env::var(DIR), std::env::var(STEP)) else { return };
    let numbers: Vec<usize> = at.split(' ').map(|number| number.parse().unwrap()).collect();
    let [step, nth, after] = numbers[..] else { panic!("{at}") };
    let (mut store, _) = open(Path::new(&dir), &options(once(Step::ALL[step], nth, Fault::Kill { after }))).unwrap();
    for n in 0..BATCHES {
        let risk = if n % 2 == 0 { vec![record(n + 1), checkpoint(2 * n + 2)] } else { vec![record(n + 1)] };
        store.append(NOON + n / 2 * DAY, vec![event(2 * n + 1), event(2 * n + 2)], risk).unwrap();
        println!("\nconfirmed {}", n + 1);
    }
}

#[test]
fn a_kill_at_any_step_loses_and_doubles_nothing() {
    // Those after the release are not the journal's.
    let own = Step::ALL.iter().take_while(|step| **step <= Step::Release);
    for (step, name) in own.enumerate() {
        for (nth, after) in [(0, 0), (0, 40), (1, 100), (2, 1), (3, 250), (4, 77)] {
            let place = Place::new();
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "journal::tests::crash::child", "--nocapture"])
                .env(DIR, &place.dir)
                .env(STEP, format!("{step} {nth} {after}"))
                .stderr(Stdio::null())
                .output()
                .unwrap();
            let told = String::from_utf8(output.stdout).unwrap();
            let confirmed = told.lines().filter(|line| line.starts_with("confirmed ")).count() as u64;
            let (mut store, opened) = place.open();
            let found = opened.last_seq / 2;
            assert!(found == confirmed || found == confirmed + 1, "{name:?} {nth} {after}: {found} of {confirmed}");
            assert_eq!(seqs(&opened), (1..=2 * found).collect::<Vec<_>>(), "{name:?} {nth} {after}");
            let risk = numbers(&opened.risk);
            assert_eq!(risk, (0..=found).collect::<Vec<_>>(), "{name:?} {nth} {after}");
            verify(&opened);
            store.append(NOON + 3 * DAY, vec![event(2 * found + 1)], vec![]).unwrap();
            drop(store);
            assert_eq!(place.open().1.last_seq, 2 * found + 1);
        }
    }
}
