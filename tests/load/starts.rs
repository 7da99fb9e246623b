//! A start behind a million events: the time until the account is told, the memory then, and a decision looked up by nonce.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::guard::get;
use crate::history::{BATCH, fill};
use crate::phases::{ACCOUNT, Pair, Paper, now_ms, resident_kib};
use crate::samples::{Nanos, Samples};
use crate::watch::spread;

const EVENTS: u64 = 1_000_000;
/// Events since the last one, as a crash may leave them.
const TAIL: u64 = 4_998;
const TRIALS: u64 = 5;
const LOOK_UPS: u64 = 200;

/// Measures and prints.
pub(crate) fn print(program: &Path, folder: &Path) -> Result<(), String> {
    let mut pair = Pair::start(program, folder, true, 1)?;
    pair.venue.setting("weight_limit", Value::Null)?;
    Paper::prepare(&pair, 0)?;
    let events = get(&format!("{}/guard/events", pair.guard.url))?;
    pair.guard.terminate()?;
    let journal = pair.guard.file(&format!("journals/testnet-{ACCOUNT}"));
    let nonces = now_ms()? - 2 * EVENTS;
    fill(&journal, &events, nonces, (EVENTS / BATCH, BATCH), now_ms()?)?;
    let (mut started, mut found, mut resident) = (Samples::default(), Samples::default(), 0);
    for trial in 0..TRIALS {
        // Each start is the first of its minute.
        let _ = std::fs::remove_file(pair.guard.file("run/weight"));
        pair.guard.terminate()?;
        fill(&journal, &events, nonces + EVENTS + trial * TAIL, (1, TAIL), now_ms()?)?;
        let begun = Instant::now();
        pair.guard.restart()?;
        started.add(Nanos::of(begun.elapsed()));
        std::thread::sleep(Duration::from_secs(2));
        resident = resident.max(resident_kib(&pair.guard)?);
        for number in 0..LOOK_UPS {
            let nonce = nonces + (number * TRIALS + trial) * (EVENTS / 3) / (LOOK_UPS * TRIALS);
            let begun = Instant::now();
            get(&format!("{}/guard/decision?nonce={nonce}", pair.guard.url))?;
            found.add(Nanos::of(begun.elapsed()));
        }
    }
    println!("start behind {EVENTS} events, until the account is told, {TRIALS} trials, ms: {}", spread(&started));
    println!("resident 2 s later, KiB at most: {resident}");
    println!("decision by nonce, {} of them: p50 {}, p99 {}", found.len(), found.percentile(50), found.percentile(99));
    Ok(())
}
