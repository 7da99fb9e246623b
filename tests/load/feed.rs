//! The live feed's figures, at a venue without delay: how long after a position is made elsewhere its stop rests at the venue,
//! after the marks lose what a day may lose the first close has gone through, after the kill file is there all is closed, and
//! after the socket is cut the feed is proved again, and after a feed of it falls silent alone it is not believed any more; and
//! what the guard's own reads weigh in a minute of a healthy feed.

use std::path::Path;
use std::time::{Duration, Instant};

use rust_decimal::dec;
use serde_json::{Value, json};
use svc_guard::rules::Rules;

use crate::guard::get;
use crate::orders;
use crate::phases::{Pair, Way};
use crate::samples::{Nanos, Samples};
use crate::table::Table;
use crate::watch::{hold, is_covered, is_flat, spread, until};

const TRIALS: u32 = 20;
/// Minutes of a healthy feed, after a first one that is not counted.
const MINUTES: u32 = 5;
const MINUTE: Duration = Duration::from_secs(60);
/// How often the venue tells of a market whose price is about to move.
const TOLD_EVERY_MS: u64 = 10;
/// So many more frames show that it does: without, that many take seconds.
const TOLD_OFTEN: u64 = 40;

/// What is measured, the percentiles that have a figure, and that in milliseconds.
const FIGURES: [(&str, &[(usize, u64)]); 5] = [
    ("position elsewhere to stop", &[(50, 20), (99, 60)]),
    ("kill file to flat", &[(50, 60)]),
    ("marks to first close", &[(50, 50)]),
    ("cut to proved again", &[(100, 2_000)]),
    ("a silent feed to found", &[(100, 16_000)]),
];
/// Shares, and what the guard's own reads may weigh in a minute of each.
const WEIGHTS: [(&str, u64); 2] = [("1", 60), ("1/8", 30)];

/// Measures, and prints a line each.
pub(crate) fn print(program: &Path, folder: &Path) -> Result<(), String> {
    let (weights, measured) = std::thread::scope(|scope| {
        let weights = WEIGHTS.map(|(share, _)| scope.spawn(move || weight(program, folder, share)));
        let measured = (0..TRIALS).try_fold([(); 5].map(|()| Samples::default()), |mut all, _| {
            trial(program, folder, &mut all)?;
            Ok::<_, String>(all)
        });
        (weights.map(|weight| weight.join().map_err(|_| "it panicked".to_owned())?), measured)
    });
    let mut table = Table::default();
    println!("{TRIALS} trials each, min / median / max, ms");
    for ((name, figures), samples) in FIGURES.into_iter().zip(measured?) {
        println!("{name:<32}{}", spread(&samples));
        for (percent, most) in figures {
            let what = if *percent == 100 { format!("{name}, at most") } else { format!("{name}, p{percent}") };
            table.most(&what, samples.percentile(*percent).0 / 1_000_000, "ms", *most);
        }
    }
    for ((share, most_weight), weight) in WEIGHTS.into_iter().zip(weights) {
        let minutes = weight?;
        let [least, median, most] =
            [0, minutes.len() / 2, minutes.len() - 1].map(|at| minutes.get(at).copied().unwrap_or_default());
        let name = format!("own reads a minute, share {share}");
        println!("{name:<32}{least} / {median} / {most}, {} in {MINUTES} minutes", minutes.iter().sum::<u64>());
        table.most(&name, median, "weight", most_weight);
    }
    println!("{table}");
    Ok(())
}

fn pair(program: &Path, folder: &Path, share: &str) -> Result<Pair, String> {
    let rules = Rules { daily_loss: dec!(5), ..orders::rules() };
    let pair = Pair::start_as(program, folder, &Way { is_live: true, clients: 1, share, rules })?;
    until("reads that are audits", || feed(&pair, "audited") == json!(true))?;
    Ok(pair)
}

fn feed(pair: &Pair, key: &str) -> Value {
    let status = get(&format!("{}/guard/status", pair.guard.url)).unwrap_or_default();
    status.pointer(&format!("/venue/feed/{key}")).cloned().unwrap_or_default()
}

fn trial(program: &Path, folder: &Path, [cover, kill, halt, cut, silent]: &mut [Samples; 5]) -> Result<(), String> {
    let two = pair(program, folder, "1")?;
    let begun = Instant::now();
    two.venue.control(&json!({"op": "feed", "kind": "dead", "on": "clearinghouseState"}))?;
    until("a feed that is not believed", || feed(&two, "proved") == json!(false))?;
    silent.add(Nanos::of(begun.elapsed()));
    until("reads that are audits", || feed(&two, "audited") == json!(true))?;

    let sockets = feed(&two, "sockets");
    let begun = Instant::now();
    two.venue.control(&json!({"op": "feed", "kind": "drop"}))?;
    until("another socket", || feed(&two, "sockets") != sockets && feed(&two, "proved") == json!(true))?;
    cut.add(Nanos::of(begun.elapsed()));

    let begun = Instant::now();
    hold(&two, "ETH", "1", "2500")?;
    until("cover", || is_covered(&two, "ETH"))?;
    cover.add(Nanos::of(begun.elapsed()));

    let begun = Instant::now();
    std::fs::write(two.guard.file("kill"), "measured\n").map_err(|error| format!("the kill file: {error}"))?;
    until("a flat account after a kill", || is_flat(&two))?;
    kill.add(Nanos::of(begun.elapsed()));

    // Six percent of the equity, and no stop is reached.
    let one = pair(program, folder, "1")?;
    hold(&one, "ETH", "30", "2500")?;
    until("cover", || is_covered(&one, "ETH"))?;
    until("reads that are audits", || feed(&one, "audited") == json!(true))?;
    // The venue tells of a market twice a second. What it waits until it tells is its own time, not the guard's, and so is
    // what it waits until it tells more often.
    one.venue.control(&json!({"op": "setting", "name": "feed_ctx_ms", "value": TOLD_EVERY_MS}))?;
    let frames = || feed(&one, "frames").as_u64().unwrap_or_default();
    let before = frames();
    until("frames as often as they are told", || frames() >= before + TOLD_OFTEN)?;
    let begun = Instant::now();
    one.venue.price("ETH", "2480")?;
    until("a flat account after a halt", || is_flat(&one))?;
    halt.add(Nanos::of(begun.elapsed()));
    Ok(())
}

/// What the reads of each minute weigh, with a position held, the least first.
fn weight(program: &Path, folder: &Path, share: &str) -> Result<Vec<u64>, String> {
    let pair = pair(program, folder, share)?;
    hold(&pair, "ETH", "1", "2500")?;
    until("cover", || is_covered(&pair, "ETH"))?;
    until("reads that are audits", || feed(&pair, "audited") == json!(true))
        .map_err(|error| format!("{error}: {:?}", get(&format!("{}/guard/status", pair.guard.url))))?;
    let weighed = || {
        let truth = pair.venue.truth_since(u64::MAX);
        let reads = truth.get("reads").and_then(Value::as_object).cloned().unwrap_or_default();
        reads.iter().map(|(kind, count)| info_weight(kind) * count.as_u64().unwrap_or_default()).sum::<u64>()
    };
    std::thread::sleep(MINUTE);
    let mut minutes: Vec<u64> = Vec::new();
    for _ in 0..MINUTES {
        let before = weighed();
        std::thread::sleep(MINUTE);
        minutes.push(weighed() - before);
    }
    minutes.sort_unstable();
    Ok(minutes)
}

/// What the venue takes of the minute's budget for an answer.
fn info_weight(kind: &str) -> u64 {
    match kind {
        "l2Book" | "allMids" | "clearinghouseState" | "orderStatus" | "spotClearinghouseState" | "exchangeStatus" => 2,
        "userRole" => 60,
        _ => 20,
    }
}
