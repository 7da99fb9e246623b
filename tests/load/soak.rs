//! A long while beside a venue whose feed has troubles at random, while the account trades by hand: at every read of the
//! account and of the open orders, the guard's picture is held against the venue's own, before the read where the feed alone
//! has told of all, and after it everywhere; and every position against its stop.

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
/// Nothing that has happened so long ago may be unknown while the guard trusts its feed: one that is silent is found by then.
const KNOWN_WITHIN: Duration = Duration::from_secs(20);
/// Something comes after some seconds, this many at most.
const SECONDS: u64 = 24;
/// Now and then no trouble comes for so long, and up to as long again: the feed is trusted, and only audits are read.
const CALM_SECONDS: u64 = 50;
const MARKETS: [(&str, Decimal); 2] = [("BTC", dec!(60000)), ("ETH", dec!(2500))];

/// Feeds that suffer something alone.
const FEEDS: [&str; 12] = [
    "userFills",
    "userEvents",
    "orderUpdates",
    "clearinghouseState",
    "openOrders",
    "spotState",
    "userFundings",
    "userNonFundingLedgerUpdates",
    "webData3",
    "allMids",
    "bbo",
    "activeAssetCtx",
];
const KINDS: [&str; 13] = [
    "drop",
    "rotate",
    "half_open",
    "dead",
    "garbage",
    "refuse",
    "mute",
    "lose",
    "duplicate",
    "reorder",
    "lag",
    "all_lag",
    "short_snapshot",
];

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
    orders: u64,
    /// Before a read, while the feed told everything and the account had been at rest: how often the guard's picture was the
    /// venue's, and was not.
    kept: [u64; 2],
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

/// Positions and orders by coin, order id and size: what is short or sells is below zero.
#[derive(Default, PartialEq, Eq, Clone, Debug)]
struct Picture {
    positions: Vec<(String, u64, Decimal)>,
    orders: Vec<(String, u64, Decimal)>,
}

/// What was seen last before a read.
struct Look {
    venue: Picture,
    /// Since when the venue has shown that.
    since: Instant,
    guard: Picture,
    is_audited: bool,
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
    let (mut due, mut calm_until) = (Instant::now(), Instant::now());
    let (mut seen, mut last) = (reads(&pair.venue.truth_since(u64::MAX)), None);
    while Instant::now() < end {
        if Instant::now() >= due {
            if Instant::now() >= calm_until && trouble(&pair, &mut dice, &mut counts)? == Weather::Calm {
                calm_until = Instant::now() + Duration::from_secs(CALM_SECONDS + dice.below(CALM_SECONDS));
            }
            act(&pair, &mut dice, &mut counts)?;
            due = Instant::now() + Duration::from_millis(1_000 + dice.below(SECONDS * 1_000));
        }
        std::thread::sleep(LOOK_AGAIN);
        let truth = pair.venue.truth_since(u64::MAX);
        let now = reads(&truth);
        if now != seen {
            if let Some(look) = &last {
                hold_to_before(look, &truth, &mut counts);
            }
            let was_read = [now[0] != seen[0], now[1] != seen[1]];
            compare(&pair, &truth, was_read, &mut counts)?;
            seen = now;
        }
        last = Some(look(&pair, &truth, last)?);
    }
    show(&pair, &counts, (minutes, seed))
}

/// How often account and open orders were read.
fn reads(truth: &Value) -> [u64; 2] {
    ["clearinghouseState", "frontendOpenOrders"]
        .map(|kind| truth.pointer(&format!("/reads/{kind}")).and_then(Value::as_u64).unwrap_or_default())
}

/// Whether troubles go on.
#[derive(PartialEq, Eq)]
enum Weather {
    Calm,
    Rough,
}

/// One more trouble of the feed, beside those that go on or after their end; or the end of all for a while.
fn trouble(pair: &Pair, dice: &mut Dice, counts: &mut Counts) -> Result<Weather, String> {
    let is_calm = dice.below(8) == 0;
    if is_calm || dice.below(3) == 0 {
        pair.venue.control(&json!({"op": "feed", "kind": "heal"}))?;
    }
    let kind = if is_calm { "none" } else { dice.of(&KINDS, "none") };
    *counts.troubles.entry(kind).or_default() += 1;
    if is_calm {
        return Ok(Weather::Calm);
    }
    let feed = dice.of(&FEEDS, "userFills");
    let (times, ms) = (1 + dice.below(4), 200 + dice.below(9_000));
    let of = |kind: &str| json!({"op": "feed", "kind": kind});
    let trouble = match kind {
        "drop" | "rotate" | "half_open" => of(kind),
        "garbage" => match dice.below(3) {
            0 => of(kind),
            1 => json!({"op": "feed", "kind": kind, "on": feed, "form": "binary"}),
            _ => json!({"op": "feed", "kind": kind, "on": feed, "form": "wire", "hex": "ffff"}),
        },
        "refuse" => {
            let how = dice.of(&["http", "close", "hang"], "http");
            json!([{"op": "feed", "kind": kind, "how": how, "times": times}, of("drop")])
        }
        "all_lag" => json!({"op": "feed", "kind": "lag", "ms": ms}),
        "lag" => json!({"op": "feed", "kind": kind, "on": feed, "ms": ms}),
        "dead" => {
            let until = dice.of(&["subscribe", "socket"], "subscribe");
            json!({"op": "feed", "kind": kind, "on": feed, "until": until})
        }
        "mute" => json!({"op": "feed", "kind": kind, "on": feed}),
        // It tells on a new socket.
        "short_snapshot" => json!([{"op": "feed", "kind": kind, "keep": dice.below(3), "times": times}, of("drop")]),
        _ => json!({"op": "feed", "kind": kind, "on": feed, "times": times}),
    };
    pair.venue.control(&trouble)?;
    Ok(Weather::Rough)
}

/// Something that happens to the account: money comes, goes or is paid, a position changes, an order is left to rest.
fn act(pair: &Pair, dice: &mut Dice, counts: &mut Counts) -> Result<(), String> {
    match dice.below(12) {
        0 => drop(pair.venue.control(&json!({"op": "deposit", "usd": "5"}))?),
        1 => drop(pair.venue.control(&json!({"op": "withdraw", "usd": "5"}))?),
        2 => drop(pair.venue.control(&json!({"op": "funding", "rate": "0.00001"}))?),
        _ => {}
    }
    for _ in 0..dice.below(3) {
        let (coin, usual) = dice.of(&MARKETS, ("BTC", Decimal::ONE_HUNDRED));
        let px = usual * (Decimal::from(9_900 + dice.below(200)) / Decimal::from(10_000));
        pair.venue.price(coin, &px.round().to_string())?;
        let size = Decimal::from(dice.below(9)) * Decimal::from(500) / px;
        let size = if dice.below(2) == 0 { size } else { -size };
        hold(pair, coin, &size.round_dp(3).normalize().to_string(), &px.round().to_string())?;
        counts.trades += 1;
        std::thread::sleep(Duration::from_millis(dice.below(300)));
    }
    if dice.below(4) == 0 {
        rest(pair, dice)?;
        counts.orders += 1;
    }
    Ok(())
}

/// An order by hand that rests until the price comes to it.
fn rest(pair: &Pair, dice: &mut Dice) -> Result<(), String> {
    let px = dec!(60000) + if dice.below(2) == 0 { dec!(-420) } else { dec!(420) };
    let mid = pair.venue.truth_since(u64::MAX);
    let mid = mid.pointer("/prices/BTC/mid").and_then(Value::as_str).and_then(|text| text.parse::<Decimal>().ok());
    let is_buy = px < mid.ok_or("no price of BTC")?;
    let px = px.normalize().to_string();
    pair.venue
        .control(&json!({"op": "order", "order": {"a": pair.asset, "b": is_buy, "p": px, "s": "0.002", "r": false,
        "t": {"limit": {"tif": "Gtc"}}}}))?;
    Ok(())
}

/// What both show now.
fn look(pair: &Pair, truth: &Value, before: Option<Look>) -> Result<Look, String> {
    let venue = of_venue(truth);
    let since = before.filter(|before| before.venue == venue).map_or_else(Instant::now, |before| before.since);
    let status = get(&format!("{}/guard/status", pair.guard.url))?;
    Ok(Look { venue, since, guard: of_guard(&status), is_audited: is_audited(&status) })
}

/// Whether the guard took the feed's word for everything, so that a read is an audit.
fn is_audited(status: &Value) -> bool {
    status.pointer("/venue/feed/audited") == Some(&json!(true))
}

/// Holds what the guard showed before a read against the venue, where the account had been at rest: nothing but the feed can have
/// told it of that.
fn hold_to_before(look: &Look, truth: &Value, counts: &mut Counts) {
    if !look.is_audited || look.since.elapsed() < KNOWN_WITHIN || of_venue(truth) != look.venue {
        return;
    }
    let [same, differ] = &mut counts.kept;
    if look.guard == look.venue {
        *same += 1;
    } else {
        *differ += 1;
        let (Look { venue, guard, .. }, troubles) = (look, truth.pointer("/feed/troubles"));
        eprintln!("load: a difference before an audit: venue {venue:?}, guard {guard:?}, troubles {troubles:?}");
    }
}

/// Holds the guard's picture against the venue's as it was at a read, until both are the same and all is covered: of the
/// positions where the account was read, and of the orders where they were. What a read of the others cannot tell may be on its way.
fn compare(pair: &Pair, truth: &Value, [account, orders]: [bool; 2], counts: &mut Counts) -> Result<(), String> {
    let (venue, begun) = (of_venue(truth), Instant::now());
    let is_same =
        |guard: &Picture| (!account || guard.positions == venue.positions) && (!orders || guard.orders == venue.orders);
    let status = || get(&format!("{}/guard/status", pair.guard.url));
    let mut shown = status()?;
    let compared = if is_audited(&shown) { &mut counts.audits } else { &mut counts.polls };
    let mut is_first = true;
    loop {
        let now = pair.venue.truth_since(u64::MAX);
        let guard = of_guard(&shown);
        if of_venue(&now) != venue {
            compared.moved += 1;
            return Ok(());
        }
        if is_same(&guard) && (!account || is_covered(&now)) {
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

/// Sizes as they are shown, with the sign that a side gives them: the venue and the guard each name sides in their own words.
fn sizes(list: Option<&Value>, key: &str) -> Vec<(String, u64, Decimal)> {
    let text = |row: &Value, key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let is_down = |row: &Value| matches!(text(row, "side").as_deref(), Some("A" | "sell" | "short"));
    let size = |row: &Value| {
        let size = text(row, key)?.parse::<Decimal>().ok()?.normalize();
        Some(if is_down(row) { -size } else { size })
    };
    let oid = |row: &Value| row.get("oid").and_then(Value::as_u64).unwrap_or_default();
    let rows = list.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut sizes: Vec<_> = rows.iter().filter_map(|row| Some((text(row, "coin")?, oid(row), size(row)?))).collect();
    sizes.sort();
    sizes
}

/// Whether armed stops at the venue cover all of each position: those of a long one sell.
fn is_covered(truth: &Value) -> bool {
    let is_stop = |order: &&Value| {
        let has = |key: &str, value: &str| order.get(key).and_then(Value::as_str) == Some(value);
        has("stage", "armed") && has("orderType", "Stop Market")
    };
    let orders = truth.get("orders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let stops = sizes(Some(&orders.iter().filter(is_stop).cloned().collect()), "sz");
    let is_of = |coin: &str, held: Decimal, of: &str, size: Decimal| {
        of == coin && size.is_sign_negative() != held.is_sign_negative()
    };
    sizes(truth.get("positions"), "szi").iter().all(|(coin, _, held)| {
        let stops = stops.iter().filter(|(of, _, size)| is_of(coin, *held, of, *size));
        stops.map(|(_, _, size)| size.abs()).sum::<Decimal>() >= held.abs()
    })
}

fn show(pair: &Pair, counts: &Counts, (minutes, seed): (u64, u64)) -> Result<(), String> {
    let status = get(&format!("{}/guard/status", pair.guard.url))?;
    let feed = status.pointer("/venue/feed").cloned().unwrap_or_default();
    let risk = status.pointer("/risk/state").cloned().unwrap_or_default();
    let Counts { troubles, trades, orders, kept: [same, differ], audits, polls } = counts;
    println!("{minutes} minutes, seed {seed}; troubles {troubles:?}; {trades} trades and {orders} orders by hand");
    println!("before audits, with the account at rest: the same {same}, differences {differ}");
    for (what, reads) in [("while only audited", audits), ("else", polls)] {
        let Compared { at_once, soon, slowest, moved, differ } = reads;
        println!(
            "reads {what}: the same at once {at_once}, before long {soon} (at most {} ms), moved meanwhile {moved}, \
             differences {differ}",
            slowest.as_millis()
        );
    }
    println!("at the end {risk}, the feed {feed}; resident {} KiB", resident_kib(&pair.guard)?);
    let compared = |reads: &Compared| reads.at_once + reads.soon + reads.differ;
    match differ + audits.differ + polls.differ {
        0 if same + differ == 0 || compared(audits) == 0 || compared(polls) == 0 => {
            Err("nothing was compared at audits, or at other reads: nothing is shown by that; give it more minutes"
                .into())
        }
        0 => Ok(()),
        differ => Err(format!("{differ} differences")),
    }
}
