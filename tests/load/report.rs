//! A report of a year with a million fills, of every row and as a list: its time and its memory. The year is written as the
//! guard writes it, a fourth as many orders with it, and what the report says of the money is held to what was written.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use svc_guard::journal::{Line, Options, open};
use svc_guard::record::event::Keys;

use crate::guard::get;
use crate::history::{line, templates};
use crate::phases::{ACCOUNT, Pair, Paper, kib_of, now_ms};
use crate::samples::Nanos;
use crate::table::Table;

const FILLS: u64 = 1_000_000;
const OF_AN_ORDER: u64 = 4;
const DAYS: u64 = 365;
const DAY_MS: u64 = 86_400_000;
const COINS: [&str; 5] = ["BTC", "ETH", "SOL", "HYPE", "xyz:TSLA"];
/// The questions: each has a way of its own through the lines.
const ASKED: [&[&str]; 5] = [
    &["--by", "day"],
    &["--by", "market", "--format", "json"],
    &["--by", "client", "--format", "csv"],
    &["--fills", "--format", "csv"],
    &["--fills", "--format", "json"],
];
const MOST_MS: u64 = 5_000;
const MOST_KIB: u64 = 64 * 1024;
/// What takes longer is broken.
const PATIENCE: Duration = Duration::from_secs(120);

/// What the fills and payments come to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Sums {
    fills: u64,
    gross: Decimal,
    fees: Decimal,
    funding: Decimal,
}

/// Measures and prints.
pub(crate) fn print(program: &Path, folder: &Path) -> Result<(), String> {
    let mut pair = Pair::start(program, folder, true, 1)?;
    Paper::prepare(&pair, 0)?;
    let events = get(&format!("{}/guard/events", pair.guard.url))?;
    pair.guard.terminate()?;
    let (home, journal) = (pair.guard.file(""), pair.guard.file(&format!("journals/testnet-{ACCOUNT}")));
    let by_market = ["--by", "market", "--format", "json"];
    let before = sums(&ask(program, &home, &by_market)?.text)?;
    let from_ms = (now_ms()? / DAY_MS + 2) * DAY_MS;
    let year = Year::write(&journal, &events, from_ms, before)?;
    let told = sums(&ask(program, &home, &by_market)?.text)?;
    if told != year.sums {
        return Err(format!("the report tells {told:?}, and written was {:?}", year.sums));
    }
    let mut table = Table::default();
    for asked in ASKED {
        let Answer { took, kib, .. } = ask(program, &home, asked)?;
        table.most(&format!("report {}", asked.join(" ")), Nanos::of(took).0 / 1_000_000, "ms", MOST_MS);
        table.most("    its memory", kib, "KiB", MOST_KIB);
    }
    println!("{FILLS} fills of {} orders in {DAYS} days, {} MiB", FILLS / OF_AN_ORDER, size_mib(&journal)?);
    println!("{table}");
    Ok(())
}

/// What it printed, how long it took, and the most memory that it had.
struct Answer {
    text: String,
    took: Duration,
    kib: u64,
}

/// Runs it.
fn ask(program: &Path, home: &Path, asked: &[&str]) -> Result<Answer, String> {
    let failed = |error: std::io::Error| format!("svc-guard report: {error}");
    let mut command = Command::new(program);
    command.env_clear().env("SVC_GUARD_HOME", home).args(["report", "--mode", "testnet"]).args(asked);
    let told = home.join("told");
    let out = File::create(&told).map_err(failed)?;
    let begun = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(out).spawn().map_err(failed)?;
    let mut kib = 0;
    while begun.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().map_err(failed)? {
            let took = begun.elapsed();
            let text = std::fs::read_to_string(&told).map_err(failed)?;
            return if status.success() {
                Ok(Answer { text, took, kib })
            } else {
                Err(format!("svc-guard report: {status}"))
            };
        }
        // It only grows, and is gone with the process.
        kib = kib_of(child.id(), "VmHWM:").unwrap_or(kib).max(kib);
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("svc-guard report runs on after {PATIENCE:?}"))
}

/// The totals of a report in JSON.
fn sums(text: &str) -> Result<Sums, String> {
    let report: Value = serde_json::from_str(text).map_err(|error| format!("the report: {error}"))?;
    let total = report.get("total").ok_or("no total")?;
    let amount = |key: &str| {
        let amount = total.get(key).and_then(Value::as_str).and_then(|text| text.parse::<Decimal>().ok());
        amount.ok_or_else(|| format!("no {key} in {total}"))
    };
    let fills = total.get("fills").and_then(Value::as_u64).ok_or("no fills")?;
    Ok(Sums { fills, gross: amount("gross")?, fees: amount("fees")?, funding: amount("funding")? })
}

/// A year that is being written.
struct Year {
    templates: [Value; 3],
    client: Value,
    opened_ms: u64,
    seq: u64,
    lines: Vec<Line>,
    sums: Sums,
}

impl Year {
    /// Writes it, a day at a time.
    fn write(journal: &Path, events: &Value, from_ms: u64, sums: Sums) -> Result<Self, String> {
        let (mut store, opened) = open(journal, &Options::default()).map_err(|error| error.to_string())?;
        let templates = templates(events)?;
        let client = templates.first().and_then(|decision| decision.get("client")).cloned().unwrap_or_default();
        let mut year = Self { templates, client, opened_ms: from_ms, seq: opened.last_seq, lines: Vec::new(), sums };
        let orders = FILLS / OF_AN_ORDER;
        for day in 0..DAYS {
            let start_ms = from_ms + day * DAY_MS;
            year.day(start_ms, day * orders / DAYS..(day + 1) * orders / DAYS);
            let lines = std::mem::take(&mut year.lines);
            store.append(start_ms, lines, Vec::new()).map_err(|error| error.to_string())?;
        }
        Ok(year)
    }

    fn add(&mut self, mut event: Value) {
        self.seq += 1;
        if let Some(members) = event.as_object_mut() {
            members.insert("seq".to_owned(), json!(self.seq));
        }
        self.lines.push(Line { text: event.to_string(), keys: Keys::default() });
    }

    fn day(&mut self, start_ms: u64, orders: Range<u64>) {
        let (first, count) = (orders.start, orders.end - orders.start);
        let mut hours = (0..DAY_MS).step_by(3_600_000).map(|of_day| start_ms + of_day).peekable();
        for order in orders {
            let at_ms = start_ms + (order - first) * (DAY_MS - 1) / count;
            while let Some(hour_ms) = hours.next_if(|hour_ms| *hour_ms <= at_ms) {
                self.hour(hour_ms);
            }
            let decision = self.seq + 1;
            for place in 0..3 {
                self.lines.push(line(&self.templates, decision, place, (self.opened_ms + order, at_ms)));
            }
            self.seq += 3;
            (0..OF_AN_ORDER).for_each(|nth| self.fill((order, nth), at_ms, decision));
        }
    }

    /// An hour's payments, and the sum of the book.
    fn hour(&mut self, at_ms: u64) {
        for coin in ["BTC", "ETH"] {
            let usdc = dec!(-0.012345);
            self.sums.funding += usdc;
            self.add(json!({"seq": 0, "at_ms": at_ms, "kind": "funding", "coin": coin, "usdc": usdc.to_string(),
                "size": "0.2", "rate": "0.0000125", "time": at_ms}));
        }
        let Sums { gross, fees, funding, .. } = self.sums;
        let amounts = [dec!(10000) + gross - fees + funding, gross, fees, funding];
        let [equity, gross, fees, funding] = amounts.map(|amount| amount.normalize().to_string());
        self.add(json!({"seq": 0, "at_ms": at_ms, "kind": "balance", "venue_ms": at_ms, "opened_ms": self.opened_ms,
            "opening_equity": "10000", "opening_unrealised": "0", "equity": equity, "unrealised": "0", "gross": gross,
            "fees": fees, "funding": funding, "transfers": "0", "difference": "0", "highest": equity, "lowest": equity,
            "worst_fall": "0"}));
    }

    /// A part of an order.
    fn fill(&mut self, (order, nth): (u64, u64), at_ms: u64, decision: u64) {
        let number = order * OF_AN_ORDER + nth;
        let coin = COINS.iter().zip(0..).find_map(|(coin, place)| (place == order % 5).then_some(*coin));
        let px = dec!(60000) + Decimal::from(number % 9_973) / dec!(10);
        let size = dec!(0.00101) + Decimal::from(number % 97) / dec!(100000);
        let fee = (px * size * dec!(0.00045)).round_dp(6);
        let is_buy = order % 10 < 5;
        let gross = if is_buy { Decimal::ZERO } else { Decimal::from(number % 2_003) / dec!(1000) - dec!(1.001) };
        self.sums.fills += 1;
        self.sums.gross += gross;
        self.sums.fees += fee;
        let before = dec!(0.01) * Decimal::from(nth);
        let after = if is_buy { before + size } else { before - size };
        let [px, size, fee, gross, before, after] =
            [px, size, fee, gross, before, after].map(|amount| amount.normalize().to_string());
        self.add(
            json!({"seq": 0, "at_ms": at_ms, "kind": "fill", "coin": coin, "side": if is_buy { "buy" } else { "sell" },
            "px": px, "size": size, "fee": fee, "fee_token": "USDC", "closed_pnl": gross, "position_before": before,
            "position_after": after, "oid": 77_000_000_000 + order, "cloid": format!("0x{:032x}", order + 1),
            "tid": number + 1, "time": at_ms, "crossed": nth % 2 == 0, "intent": decision, "client": self.client}),
        );
    }
}

fn size_mib(folder: &Path) -> Result<u64, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = std::fs::read_dir(folder).map_err(failed)?;
    let sizes = entries.flatten().filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len());
    Ok(sizes.sum::<u64>() / 1024 / 1024)
}
