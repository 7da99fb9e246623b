//! The record at the end of a game, held to the venue's own.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::book::{kept, number};
use crate::book_games::{Game, wait};

/// How the ids of the guard's own orders begin, and those that it gives orders of clients.
const GUARDS: &str = "0x73766367726401";
const DERIVED: &str = "0x737663677264";

/// A first life has read the account's mode so long after it began.
const KNOWN_WITHIN_MS: u64 = 5_000;

impl Game {
    fn truth(&self, kind: &str) -> Vec<Value> {
        self.stand.venue.truth()[kind].as_array().unwrap().clone()
    }

    /// Waits until all is on record, and holds it to the venue's.
    pub(crate) fn hold(&mut self) {
        wait("all rows on record", || {
            let count = |what: &str, kind: &str| (self.of_book(what).len(), kept(&self.stand, kind).len());
            let counts = [count("fills", "fill"), count("funding", "funding"), count("ledger", "transfer")];
            counts.iter().all(|(truth, kept)| kept >= truth).then_some(())
        });
        let started = kept(&self.stand, "started").pop().unwrap()["seq"].as_u64();
        wait("a sum of the last life", || {
            let sum = kept(&self.stand, "balance").pop().filter(|sum| sum["seq"].as_u64() > started);
            (self.is_short || sum.is_some()).then_some(())
        });
        let reads = |game: &Game| game.stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
        let before = reads(self);
        wait("another look at the account", || {
            if self.is_short {
                // A new socket is not believed before the account was read.
                self.stand.venue.control(&json!([{"op": "feed", "kind": "drop"}])).unwrap();
            }
            (reads(self) >= before + 2).then_some(())
        });
        // The guard may have traded since.
        let fills = self.of_book("fills");
        let (payments, transfers) = (self.expected_fundings(), self.expected_transfers());
        self.same_fills(&fills);
        assert_eq!(sorted(kept(&self.stand, "funding").iter().map(funding_kept)), payments);
        let transfers = self.same_transfers(transfers);
        let is_told = transfers.iter().all(|moved| moved.2.is_some());
        self.attributed();
        let errors: Vec<String> = kept(&self.stand, "error").iter().map(|error| error["text"].to_string()).collect();
        let of_book = |text: &&String| text.contains("book") || text.contains("missing") || text.contains("add up");
        assert!(!is_told || !errors.iter().any(|text| of_book(&text)), "{errors:?}");
        self.reported(&fills, &payments, &transfers);
        assert_eq!(self.stand.stop(Signal::SIGTERM), Some(0));
        if is_told {
            self.adds_up();
        }
        self.reported_by_command(&fills);
    }

    /// The venue's rows of a kind from when the book was begun on.
    fn of_book(&self, kind: &str) -> Vec<Value> {
        let begin_ms = self.begin_ms();
        self.truth(kind).into_iter().filter(|row| row["time"].as_u64().unwrap() >= begin_ms).collect()
    }

    fn begin_ms(&self) -> u64 {
        // What is of before the first start of all is none of the book's.
        kept(&self.stand, "started")[0]["at_ms"].as_u64().unwrap().min(self.first_row_ms())
    }

    fn first_row_ms(&self) -> u64 {
        let times = ["fill", "funding", "transfer"].into_iter().flat_map(|kind| kept(&self.stand, kind));
        times.map(|row| row["time"].as_u64().unwrap()).min().unwrap_or(u64::MAX)
    }

    fn expected_fundings(&self) -> Vec<(u64, String, [Decimal; 3])> {
        sorted(self.of_book("funding").iter().map(|row| {
            let of = &row["delta"];
            let amounts = ["usdc", "szi", "fundingRate"].map(|key| number(&of[key]));
            (row["time"].as_u64().unwrap(), of["coin"].as_str().unwrap().to_owned(), amounts)
        }))
    }

    fn expected_transfers(&self) -> Vec<(u64, String, Option<Decimal>)> {
        let (begin_ms, rows) = (self.begin_ms(), self.truth("ledger"));
        assert_eq!(rows.len(), self.moved.len());
        let rows = rows.into_iter().zip(&self.moved).filter(|(row, _)| row["time"].as_u64().unwrap() >= begin_ms);
        sorted(rows.map(|(row, moved)| {
            (row["time"].as_u64().unwrap(), row["delta"]["type"].as_str().unwrap().to_owned(), *moved)
        }))
    }

    /// What is on record is what moved; where the mode around that time tells how much, and is not known, that may be unknown.
    fn same_transfers(&self, truth: Vec<(u64, String, Option<Decimal>)>) -> Vec<(u64, String, Option<Decimal>)> {
        let kept = sorted(kept(&self.stand, "transfer").iter().map(transfer_kept));
        let is_open = |row: &(u64, String, Option<Decimal>)| row.2.is_none() && row.1 == "accountClassTransfer";
        let blind = |row: &(u64, String, Option<Decimal>)| (row.0, row.1.clone(), None);
        let expected = sorted(truth.into_iter().map(|row| {
            let is_early = row.0 < self.born_ms + KNOWN_WITHIN_MS;
            let is_unknown = (self.changes > 0 || is_early)
                && kept.iter().any(|kept| is_open(kept) && kept.0 == row.0 && kept.1 == row.1);
            if is_unknown { blind(&row) } else { row }
        }));
        assert_eq!(kept, expected);
        kept
    }

    fn same_fills(&self, truth: &[Value]) {
        let ids = |fill: &Value| ["time", "tid", "oid"].map(|key| fill[key].as_u64().unwrap());
        let kept = kept(&self.stand, "fill");
        let told = sorted(kept.iter().map(|fill| {
            let amounts = ["px", "size", "fee", "closed_pnl", "position_before"].map(|key| number(&fill[key]));
            (ids(fill), fill["coin"].to_string(), fill["side"] == "buy", amounts, fill["cloid"].to_string())
        }));
        let expected = sorted(truth.iter().map(|fill| {
            let amounts = ["px", "sz", "fee", "closedPnl", "startPosition"].map(|key| number(&fill[key]));
            (ids(fill), fill["coin"].to_string(), fill["side"] == "B", amounts, fill["cloid"].to_string())
        }));
        assert_eq!(told, expected);
    }

    /// Each fill names the event whose action, by its nonce, the venue took for this order, and whose it was.
    fn attributed(&self) {
        let (events, requests) = (self.stand.on_disk(), self.truth("requests"));
        let by_seq: BTreeMap<u64, &Value> =
            events.iter().map(|event| (event["seq"].as_u64().unwrap(), event)).collect();
        let [first, second] = [&self.stand.client, &self.other].map(|key| json!(key.address()));
        for fill in events.iter().filter(|event| event["kind"] == "fill") {
            let Some(cloid) = fill["cloid"].as_str() else {
                assert!(fill["intent"].is_null() && fill["client"].is_null(), "{fill}");
                continue;
            };
            let intent = by_seq.get(&fill["intent"].as_u64().unwrap_or_else(|| panic!("of nobody: {fill}")));
            let intent = intent.unwrap_or_else(|| panic!("of no event: {fill}"));
            let sent = requests.iter().filter(|seen| seen["action"].to_string().contains(cloid));
            let nonces: Vec<&Value> = sent.map(|seen| &seen["nonce"]).collect();
            let is_named = intent["nonces"].as_array().unwrap().iter().any(|nonce| nonces.contains(&nonce));
            assert!(is_named, "{fill}: {intent}");
            let whose = if cloid.starts_with("0xbb") {
                second.clone()
            } else if cloid.starts_with(GUARDS) {
                json!("guard")
            } else {
                assert!(cloid.starts_with(DERIVED), "{fill}");
                let client = by_client(&by_seq, intent);
                assert!(client == first || client == second, "{fill}: {intent}");
                client
            };
            assert_eq!(fill["client"], whose, "{fill}: {intent}");
        }
    }

    /// The last sum is the venue's own, made from the rows on record.
    fn adds_up(&self) {
        let last = kept(&self.stand, "balance").pop().unwrap();
        let equity = number(&self.stand.venue.truth()["account"]["account_value"]);
        assert!(last["why"].is_null(), "{last}");
        let off = number(&last["difference"]);
        assert!(off.abs() < dec!(0.01), "{last}");
        assert!((number(&last["equity"]) - equity).abs() < dec!(0.01), "{equity}: {last}");
    }

    fn reported(
        &self,
        fills: &[Value],
        payments: &[(u64, String, [Decimal; 3])],
        transfers: &[(u64, String, Option<Decimal>)],
    ) {
        for by in ["day", "market", "client"] {
            let report = self.stand.get(&format!("/guard/report?from=2020-01-01&by={by}")).json();
            let total = &report["total"];
            let in_usdc = |fill: &&Value| fill["feeToken"] == "USDC";
            let paid_fees = fills.iter().filter(in_usdc).map(|fill| number(&fill["fee"])).sum::<Decimal>();
            let sum = |key: &str| fills.iter().map(|fill| number(&fill[key])).sum::<Decimal>();
            let volume: Decimal = fills.iter().map(|fill| number(&fill["px"]) * number(&fill["sz"])).sum();
            let paid: Decimal = payments.iter().map(|paid| paid.2[0]).sum();
            let moved: Decimal = transfers.iter().filter_map(|moved| moved.2).sum();
            let expected = [volume, sum("closedPnl"), paid_fees, paid, moved];
            if fills.len() + payments.len() + transfers.len() > 0 {
                let told = ["volume", "gross", "fees", "funding", "transfers"].map(|key| number(&total[key]));
                assert_eq!(told, expected, "{by}: {report}");
            }
            assert_eq!(total["fills"], json!(fills.len()), "{report}");
            let rows = report["rows"].as_array().unwrap();
            let keys: &[&str] = match by {
                "day" => &["volume", "gross", "fees", "funding", "transfers", "net"],
                _ => &["volume", "gross", "fees", "funding"],
            };
            for key in keys {
                let row = |row: &Value| if row[key].is_string() { number(&row[key]) } else { Decimal::ZERO };
                assert_eq!(rows.iter().map(row).sum::<Decimal>(), row(total), "{by} {key}: {report}");
            }
        }
    }

    fn reported_by_command(&self, fills: &[Value]) {
        let args = ["report", "--mode", "testnet", "--format", "json", "--by", "day"];
        let done = crate::stand::run_with(&self.stand.home(), &args, "");
        let report: Value = serde_json::from_slice(&done.stdout).unwrap();
        let equity = number(&self.stand.venue.truth()["account"]["account_value"]);
        let total = &report["total"];
        assert!((number(&total["equity_end"]) - equity).abs() < dec!(0.01), "{equity}: {report}");
        assert_eq!(total["fills"], json!(fills.len()));
        for name in
            ["missing_events", "unreadable_lines", "changed_lines", "doubled_lines", "left_out_rows", "book_lacks"]
        {
            assert_eq!(report[name], json!(0), "{name}: {report}");
        }
    }
}

/// The client of a decision, or of the one that an event goes on with.
fn by_client(by_seq: &BTreeMap<u64, &Value>, event: &Value) -> Value {
    if event["client"].is_string() {
        return event["client"].clone();
    }
    let of = ["decision", "of"].into_iter().find_map(|key| event[key].as_u64());
    of.and_then(|seq| by_seq.get(&seq)).map_or(Value::Null, |event| by_client(by_seq, event))
}

fn funding_kept(row: &Value) -> (u64, String, [Decimal; 3]) {
    let amounts = ["usdc", "size", "rate"].map(|key| number(&row[key]));
    (row["time"].as_u64().unwrap(), row["coin"].as_str().unwrap().to_owned(), amounts)
}

fn transfer_kept(row: &Value) -> (u64, String, Option<Decimal>) {
    let usdc = row["usdc"].as_str().map(|text| text.parse().unwrap());
    (row["time"].as_u64().unwrap(), row["type"].as_str().unwrap().to_owned(), usdc)
}

fn sorted<T: Ord>(rows: impl Iterator<Item = T>) -> Vec<T> {
    let mut rows: Vec<T> = rows.collect();
    rows.sort();
    rows
}
