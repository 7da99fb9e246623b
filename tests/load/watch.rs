//! How long a position stays bare, and a kill or a halt takes until the account is flat: while the venue is well, and while
//! one kind of read hangs. Each trial has a guard and a venue of its own; what counts is what the venue holds.

use std::path::Path;
use std::time::{Duration, Instant};

use rust_decimal::dec;
use serde_json::{Value, json};
use svc_guard::rules::Rules;

use crate::bot;
use crate::orders::{self, entry};
use crate::phases::{Pair, Way, now_ms, resident_kib};
use crate::samples::{Nanos, Samples};
use crate::wire::{Connection, request};

const TRIALS: u32 = 5;
/// As often as anybody asks.
const FOR_GOOD: u64 = 1_000_000;
/// What takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(120);
/// A read that hangs is waited for at most this long: some are asked for only when they are needed.
const ASKED_WITHIN: Duration = Duration::from_secs(31);
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Reads that hang, and how many of each: without the account nothing can be known, so of that only the one on its way.
const WORLDS: [(&str, u64); 9] = [
    ("quiet", 0),
    ("orderStatus", FOR_GOOD),
    ("frontendOpenOrders", FOR_GOOD),
    ("clearinghouseState", 1),
    ("allMids", FOR_GOOD),
    ("userNonFundingLedgerUpdates", FOR_GOOD),
    ("userAbstraction", FOR_GOOD),
    ("twapHistory", FOR_GOOD),
    ("userRateLimit", FOR_GOOD),
];
/// Those that are asked for all the time, or as soon as there is a doubt.
const ASKED: [&str; 4] = ["orderStatus", "frontendOpenOrders", "clearinghouseState", "allMids"];

/// What was measured in one world.
#[derive(Default)]
struct Measured {
    cover: Samples,
    kill: Samples,
    halt: Samples,
    resident_kib: u64,
}

/// Measures at one share, with guards that have run for so long, and prints a line a world.
pub(crate) fn print(program: &Path, folder: &Path, share: &str, after: Duration) -> Result<(), String> {
    println!("{TRIALS} trials each, min / median / max, ms; {} s after a start", after.as_secs());
    let [of, hangs, cover, kill, halt] = ["share", "hangs", "cover", "kill to flat", "halt to flat"];
    println!("{of:<8}{hangs:<30}{cover:<24}{kill:<24}{halt:<24}KiB at most");
    let all = std::thread::scope(|scope| {
        let worlds = WORLDS.map(|world| scope.spawn(move || measure(program, folder, (share, after), world)));
        worlds.map(|world| world.join().map_err(|_| "a trial panicked".to_owned())?)
    });
    for ((name, _), measured) in WORLDS.iter().zip(all) {
        let Measured { cover, kill, halt, resident_kib } = measured.map_err(|error| format!("{name}: {error}"))?;
        let [cover, kill, halt] = [cover, kill, halt].map(|samples| spread(&samples));
        println!("{share:<8}{name:<30}{cover:<24}{kill:<24}{halt:<24}{resident_kib}");
    }
    Ok(())
}

/// The least, the middle and the most, in milliseconds.
pub(crate) fn spread(samples: &Samples) -> String {
    let [least, middle, most] = [0, 50, 100].map(|percent| samples.percentile(percent).0 / 1_000_000);
    format!("{least} / {middle} / {most}")
}

fn measure(
    program: &Path,
    folder: &Path,
    (share, after): (&str, Duration),
    world: (&str, u64),
) -> Result<Measured, String> {
    let mut measured = Measured::default();
    for trial in 0..TRIALS {
        let trial = Trial { program, folder, share, after, world, number: trial };
        trial.cover_and_kill(&mut measured)?;
        measured.halt.add(trial.halt()?);
    }
    Ok(measured)
}

struct Trial<'a> {
    program: &'a Path,
    folder: &'a Path,
    share: &'a str,
    after: Duration,
    world: (&'a str, u64),
    number: u32,
}

impl Trial<'_> {
    /// A pair that holds nothing and has run for a while, each trial's a little longer than the last one's.
    fn pair(&self) -> Result<Pair, String> {
        let rules = Rules { daily_loss: dec!(5), ..orders::rules() };
        let pair =
            Pair::start_as(self.program, self.folder, &Way { is_live: true, clients: 1, share: self.share, rules })?;
        std::thread::sleep(self.after + Duration::from_millis(370) * self.number);
        Ok(pair)
    }

    fn cover_and_kill(&self, measured: &mut Measured) -> Result<(), String> {
        let pair = self.pair()?;
        self.doubt(&pair)?;
        self.hang(&pair)?;
        let begun = Instant::now();
        hold(&pair, "ETH", "1", "2500")?;
        until("cover", || is_covered(&pair, "ETH"))?;
        measured.cover.add(Nanos::of(begun.elapsed()));
        self.hang(&pair)?;
        let begun = Instant::now();
        std::fs::write(pair.guard.file("kill"), "measured\n").map_err(|error| format!("the kill file: {error}"))?;
        until("a flat account after a kill", || is_flat(&pair))?;
        measured.kill.add(Nanos::of(begun.elapsed()));
        measured.resident_kib = measured.resident_kib.max(resident_kib(&pair.guard)?);
        Ok(())
    }

    /// A stop that is hit loses more than a day may; what else is held is closed.
    fn halt(&self) -> Result<Nanos, String> {
        let pair = self.pair()?;
        self.doubt(&pair)?;
        hold(&pair, "ETH", "4", "2500")?;
        hold(&pair, "BTC", "0.01", "60000")?;
        until("cover", || is_covered(&pair, "ETH") && is_covered(&pair, "BTC"))?;
        self.hang(&pair)?;
        let begun = Instant::now();
        pair.venue.price("ETH", "2360")?;
        until("a flat account after a halt", || is_flat(&pair))?;
        Ok(Nanos::of(begun.elapsed()))
    }

    /// An order whose answer is lost, where what is asked about it is to hang.
    fn doubt(&self, pair: &Pair) -> Result<(), String> {
        if self.world.0 != "orderStatus" {
            return Ok(());
        }
        self.set(pair)?;
        pair.venue.fault("order", "apply_then_drop", 1)?;
        let body = bot::signed(pair.key()?, &entry(pair.asset, 1), now_ms()?)?;
        // What is told of an order without an answer is no success.
        let _ = Connection::open(&pair.guard.url)?.time(&request(&body));
        Ok(())
    }

    fn set(&self, pair: &Pair) -> Result<(), String> {
        let (on, times) = self.world;
        pair.venue.control(&json!({"op": "clear"}))?;
        if times > 0 {
            pair.venue.fault(on, "stall", times)?;
        }
        Ok(())
    }

    /// From here on the read hangs, and one is on its way where it is asked for in time.
    fn hang(&self, pair: &Pair) -> Result<(), String> {
        self.set(pair)?;
        let (on, times) = self.world;
        let begun = Instant::now();
        let is_asked = || {
            let faults = pair.venue.truth_since(u64::MAX);
            let left = faults.pointer("/faults/0/times").and_then(Value::as_u64).unwrap_or_default();
            left < times
        };
        while ASKED.contains(&on) && !is_asked() && begun.elapsed() < ASKED_WITHIN {
            std::thread::sleep(LOOK_AGAIN);
        }
        Ok(())
    }
}

pub(crate) fn hold(pair: &Pair, coin: &str, szi: &str, px: &str) -> Result<(), String> {
    pair.venue.control(&json!({"op": "position", "coin": coin, "szi": szi, "entry_px": px})).map(drop)
}

/// The members of a list of the truth.
fn list(pair: &Pair, name: &str) -> Vec<Value> {
    let truth = pair.venue.truth_since(u64::MAX);
    truth.get(name).and_then(Value::as_array).cloned().unwrap_or_default()
}

pub(crate) fn is_covered(pair: &Pair, coin: &str) -> bool {
    let is_stop = |order: &Value| {
        let has = |key: &str, value: &str| order.get(key).and_then(Value::as_str) == Some(value);
        has("coin", coin) && has("stage", "armed") && has("orderType", "Stop Market")
    };
    list(pair, "orders").iter().any(is_stop)
}

pub(crate) fn is_flat(pair: &Pair) -> bool {
    list(pair, "positions").is_empty()
}

pub(crate) fn until(what: &str, is_so: impl Fn() -> bool) -> Result<(), String> {
    let begun = Instant::now();
    while !is_so() {
        if begun.elapsed() > PATIENCE {
            return Err(format!("waited in vain for {what}"));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
    Ok(())
}
