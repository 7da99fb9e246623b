//! A long while beside a venue whose feed has troubles at random, while the account trades by hand: at every read of the
//! account and of the open orders, the guard's picture is held against the venue's own, and every position against its stop.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::guard::get;
use crate::orders;
use crate::phases::{Pair, Way, resident_kib};
use crate::watch::hold;

/// How often the venue is asked what was read.
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// What is not settled in this time after a read is a difference.
const SETTLED_WITHIN: Duration = Duration::from_secs(5);
/// A trouble comes after some seconds, this many at most.
const SECONDS: u64 = 24;
const MARKETS: [(&str, Decimal); 2] = [("BTC", dec!(60000)), ("ETH", dec!(2500))];

/// Feeds that suffer something alone.
const FEEDS: [&str; 8] = [
    "userFills",
    "userEvents",
    "orderUpdates",
    "clearinghouseState",
    "openOrders",
    "userNonFundingLedgerUpdates",
    "webData3",
    "allMids",
];
const KINDS: [&str; 12] =
    ["none", "drop", "rotate", "half_open", "dead", "garbage", "refuse", "mute", "lose", "duplicate", "reorder", "lag"];

/// Numbers that look drawn, the same ones from the same seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.checked_rem(bound).unwrap_or_default()
    }

    fn of<T: Copy>(&mut self, all: &[T], none: T) -> T {
        let index = self.below(all.len() as u64);
        usize::try_from(index).ok().and_then(|index| all.get(index)).copied().unwrap_or(none)
    }
}

/// What was counted.
#[derive(Default)]
struct Counts {
    troubles: BTreeMap<&'static str, u64>,
    trades: u64,
    /// Reads while the feed told everything, and others.
    audits: Compared,
    polls: Compared,
}

/// What reads showed.
#[derive(Default)]
struct Compared {
    /// The guard's picture was the venue's already.
    at_once: u64,
    /// It was before long, and after how long at most.
    soon: u64,
    slowest: Duration,
    /// The account moved meanwhile, so that nothing can be said of it.
    moved: u64,
    differ: u64,
}

/// Positions and orders by coin and size, and what stops cover.
#[derive(Default, PartialEq, Eq, Clone, Debug)]
struct Picture {
    positions: Vec<(String, Decimal)>,
    orders: Vec<(String, Decimal)>,
}

/// Goes on for so many minutes, and prints what was counted.
pub(crate) fn print(program: &Path, folder: &Path, minutes: u64, seed: u64) -> Result<(), String> {
    let way = Way { is_live: true, clients: 1, share: "1", rules: orders::rules() };
    let pair = Pair::start_as(program, folder, &way)?;
    for name in ["feed_new_connections", "feed_connections"] {
        pair.venue.setting(name, Value::Null)?;
    }
    let (mut dice, mut counts) = (Dice(seed.max(1)), Counts::default());
    let end = Instant::now() + Duration::from_secs(60) * u32::try_from(minutes).unwrap_or(u32::MAX);
    let (mut due, mut seen) = (Instant::now(), reads(&pair.venue.truth_since(u64::MAX)));
    while Instant::now() < end {
        if Instant::now() >= due {
            act(&pair, &mut dice, &mut counts)?;
            due = Instant::now() + Duration::from_millis(1_000 + dice.below(SECONDS * 1_000));
        }
        std::thread::sleep(LOOK_AGAIN);
        let truth = pair.venue.truth_since(u64::MAX);
        let now = reads(&truth);
        if now != seen {
            compare(&pair, &truth, &mut counts)?;
            seen = now;
        }
    }
    show(&pair, &counts, (minutes, seed))
}

/// How often account and open orders were read.
fn reads(truth: &Value) -> [u64; 2] {
    ["clearinghouseState", "frontendOpenOrders"]
        .map(|kind| truth.pointer(&format!("/reads/{kind}")).and_then(Value::as_u64).unwrap_or_default())
}

/// A trouble of the feed, and something that happens to the account.
fn act(pair: &Pair, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    let (kind, feed) = (dice.of(&KINDS, "none"), dice.of(&FEEDS, "userFills"));
    pair.venue.control(&json!({"op": "feed", "kind": "heal"}))?;
    let (times, ms) = (1 + dice.below(4), 200 + dice.below(9_000));
    let trouble = match kind {
        "drop" | "rotate" | "half_open" | "garbage" => json!({"op": "feed", "kind": kind}),
        "refuse" => json!([{"op": "feed", "kind": "refuse", "times": times}, {"op": "feed", "kind": "drop"}]),
        "lag" => json!({"op": "feed", "kind": kind, "on": feed, "ms": ms}),
        "dead" | "mute" => json!({"op": "feed", "kind": kind, "on": feed}),
        _ => json!({"op": "feed", "kind": kind, "on": feed, "times": times}),
    };
    if kind != "none" {
        pair.venue.control(&trouble)?;
    }
    *counts.troubles.entry(kind).or_default() += 1;
    if dice.below(8) == 0 {
        let op = if dice.below(2) == 0 { "deposit" } else { "withdraw" };
        pair.venue.control(&json!({"op": op, "usd": "5"}))?;
    }
    for _ in 0..dice.below(3) {
        let (coin, px) = dice.of(&MARKETS, ("BTC", Decimal::ONE_HUNDRED));
        let px = px * (Decimal::from(9_900 + dice.below(200)) / Decimal::from(10_000));
        pair.venue.price(coin, &px.round().to_string())?;
        let size = Decimal::from(dice.below(9)) * Decimal::from(500) / px;
        let size = if dice.below(2) == 0 { size } else { -size };
        hold(pair, coin, &size.round_dp(3).normalize().to_string(), &px.round().to_string())?;
        counts.trades += 1;
        std::thread::sleep(Duration::from_millis(dice.below(300)));
    }
    Ok(())
}

/// Holds the guard's picture against the venue's as it was at a read, until both are the same and all is covered.
fn compare(pair: &Pair, truth: &Value, counts: &mut Counts) -> Result<(), String> {
    let (venue, begun) = (of_venue(truth), Instant::now());
    let status = || get(&format!("{}/guard/status", pair.guard.url));
    let mut shown = status()?;
    let is_audit = shown.pointer("/venue/feed/audited") == Some(&json!(true));
    let compared = if is_audit { &mut counts.audits } else { &mut counts.polls };
    let mut is_first = true;
    loop {
        let now = pair.venue.truth_since(u64::MAX);
        let guard = of_guard(&shown);
        if of_venue(&now) != venue {
            compared.moved += 1;
            return Ok(());
        }
        if guard == venue && is_covered(&now) {
            *(if is_first { &mut compared.at_once } else { &mut compared.soon }) += 1;
            compared.slowest = compared.slowest.max(if is_first { Duration::ZERO } else { begun.elapsed() });
            return Ok(());
        }
        if begun.elapsed() > SETTLED_WITHIN {
            compared.differ += 1;
            let (feed, troubles) = (shown.pointer("/venue/feed"), now.pointer("/feed/troubles"));
            eprintln!("load: a difference: venue {venue:?}, guard {guard:?}, troubles {troubles:?}, feed {feed:?}");
            return Ok(());
        }
        is_first = false;
        std::thread::sleep(LOOK_AGAIN);
        shown = status()?;
    }
}

fn of_venue(truth: &Value) -> Picture {
    Picture { positions: sizes(truth.get("positions"), "szi"), orders: sizes(truth.get("orders"), "sz") }
}

fn of_guard(status: &Value) -> Picture {
    Picture { positions: sizes(status.get("positions"), "size"), orders: sizes(status.get("open_orders"), "size") }
}

fn sizes(list: Option<&Value>, key: &str) -> Vec<(String, Decimal)> {
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let size = |row: &Value| text(row, key)?.parse::<Decimal>().ok().map(|size| size.abs().normalize());
    let rows = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut sizes: Vec<_> = rows.iter().filter_map(|row| Some((text(row, "coin")?, size(row)?))).collect();
    sizes.sort();
    sizes
}

/// Whether armed stops at the venue cover all of each position.
fn is_covered(truth: &Value) -> bool {
    let is_stop = |order: &&Value| {
        let has = |key: &str, value: &str| order.get(key).and_then(Value::as_str) == Some(value);
        has("stage", "armed") && has("orderType", "Stop Market")
    };
    let orders = truth.get("orders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let stops = sizes(Some(&orders.iter().filter(is_stop).cloned().collect()), "sz");
    let covered = |coin: &str| stops.iter().filter(|(of, _)| of == coin).map(|(_, size)| *size).sum::<Decimal>();
    sizes(truth.get("positions"), "szi").iter().all(|(coin, size)| covered(coin) >= *size)
}

fn show(pair: &Pair, counts: &Counts, (minutes, seed): (u64, u64)) -> Result<(), String> {
    let status = get(&format!("{}/guard/status", pair.guard.url))?;
    let feed = status.pointer("/venue/feed").cloned().unwrap_or_default();
    let Counts { troubles, trades, audits, polls } = counts;
    println!("{minutes} minutes, seed {seed}; troubles {troubles:?}; {trades} trades by hand");
    for (what, reads) in [("while only audited", audits), ("else", polls)] {
        let Compared { at_once, soon, slowest, moved, differ } = reads;
        println!(
            "reads {what}: the same at once {at_once}, before long {soon} (at most {} ms), moved meanwhile {moved}, \
             differences {differ}",
            slowest.as_millis()
        );
    }
    println!("the feed at the end {feed}; resident {} KiB", resident_kib(&pair.guard)?);
    let differ = audits.differ + polls.differ;
    if differ == 0 { Ok(()) } else { Err(format!("{differ} differences")) }
}
