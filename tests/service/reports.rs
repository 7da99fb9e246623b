//! The report of a real life, held to the venue's own record: over the wire and from the command line, while the service runs and
//! after it.

use std::collections::BTreeMap;

use nix::sys::signal::Signal;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::book::{all_on_record, buy, in_time, kept, number};
use crate::signing::{BTC, ETH, closing};
use crate::stand::{Mode, Stand, run_with};
use crate::watched::{WIDE, covered, hold};

/// Earlier than any test.
const FROM: &str = "from=2020-01-01";

fn figure(row: &Value, key: &str) -> Decimal {
    assert!(row[key].is_string(), "{key}: {row}");
    number(&row[key])
}

/// The owner of a row: a client, the guard, or nobody that is known.
type Key = Option<String>;

/// What of a row the venue's record tells: fills, volume, gross, fees.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
struct Traded(u64, Decimal, Decimal, Decimal);

impl Traded {
    fn add(&mut self, fill: &Value) {
        let [px, size, gross, fee] = ["px", "sz", "closedPnl", "fee"].map(|key| number(&fill[key]));
        *self = Self(self.0 + 1, self.1 + px * size, self.2 + gross, self.3 + fee);
    }

    fn told(row: &Value) -> Self {
        let [volume, gross, fees] = ["volume", "gross", "fees"].map(|key| figure(row, key));
        Self(row["fills"].as_u64().unwrap(), volume, gross, fees)
    }
}

fn traded(rows: &Value) -> BTreeMap<Key, Traded> {
    let rows = rows.as_array().unwrap().iter();
    let traded = rows.map(|row| (row["key"].as_str().map(str::to_owned), Traded::told(row)));
    traded.filter(|(_, traded)| *traded != Traded::default()).collect()
}

/// A life in which a client, a person and the guard trade, money moves and funding is paid: what the venue has of it by whose
/// each fill is, and the verdicts that the client heard.
fn lived() -> (Stand, Vec<(Key, Value)>, Vec<String>) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    stand.start();
    in_time("the first sum", || stand.events_of("balance").pop());
    let asked = [
        buy(ETH, "2510", "0.1"),
        buy(BTC, "60200", "0.001"),
        closing(ETH, "2490", "0.04"),
        json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 6}),
    ];
    let heard = asked.map(|action| stand.send(&action)["guard"]["verdict"].as_str().unwrap().to_owned());
    let fills = |stand: &Stand| stand.venue.truth()["fills"].as_array().unwrap().clone();
    let client = Some(stand.client.address().to_string());
    let mut whose: Vec<Key> = vec![client; fills(&stand).len()];
    hold(&stand, "SOL", "2");
    whose.resize(fills(&stand).len(), None);
    let moves = json!([{"op": "funding", "rate": "0.0001"}, {"op": "deposit", "usd": "250.5"}, {"op": "withdraw", "usd": "10"}]);
    stand.venue.control(&moves).unwrap();
    covered(&stand, "ETH", "0.06");
    stand.venue.price("ETH", "2000").unwrap();
    in_time("the stop", || (fills(&stand).len() > whose.len()).then_some(()));
    all_on_record(&stand);
    whose.resize(fills(&stand).len(), Some("guard".to_owned()));
    let payments = stand.venue.truth()["funding"].as_array().unwrap().len();
    assert!(payments >= 3);
    in_time("all funding on record", || (kept(&stand, "funding").len() == payments).then_some(()));
    in_time("all transfers on record", || (kept(&stand, "transfer").len() == 2).then_some(()));
    let fills = fills(&stand);
    (stand, whose.into_iter().zip(fills).collect(), heard.to_vec())
}

fn by(fills: &[(Key, Value)], key: impl Fn(&(Key, Value)) -> Key) -> BTreeMap<Key, Traded> {
    let mut rows = BTreeMap::<Key, Traded>::new();
    fills.iter().for_each(|fill| rows.entry(key(fill)).or_default().add(&fill.1));
    rows
}

/// The total is the venue's record, and the verdicts are those that were heard.
fn holds_total(stand: &Stand, report: &Value, fills: &[(Key, Value)], heard: &[String]) {
    let (total, truth) = (&report["total"], stand.venue.truth());
    let all = by(fills, |_| None).remove(&None).unwrap();
    assert_eq!(Traded::told(total), all, "{total}");
    let paid = truth["funding"].as_array().unwrap().iter().map(|row| number(&row["delta"]["usdc"])).sum::<Decimal>();
    assert_eq!(["funding", "transfers"].map(|key| figure(total, key)), [paid, dec!(240.5)], "{total}");
    assert_eq!(figure(total, "net"), all.2 - all.3 + paid);
    assert_eq!((&total["stops_fired"], &total["liquidations"]), (&json!(1), &json!(0)), "{total}");
    for (column, verdict) in [("allowed", "allow"), ("resized", "resize"), ("vetoed", "veto")] {
        let count = heard.iter().filter(|heard| *heard == verdict).count();
        assert_eq!(total[column], json!(count), "{heard:?}: {total}");
    }
    for nothing in
        ["missing_events", "unreadable_lines", "changed_lines", "doubled_lines", "left_out_rows", "book_lacks"]
    {
        assert_eq!(report[nothing], json!(0), "{nothing}: {report}");
    }
}

#[test]
fn a_lifes_report_is_the_venues_record() {
    let (mut stand, fills, heard) = lived();
    assert!(heard.iter().any(|heard| heard == "veto") && heard.iter().any(|heard| heard != "veto"), "{heard:?}");
    let asked = |more: &str| stand.get(&format!("/guard/report?{FROM}&{more}")).json();
    let by_client = asked("by=client");
    holds_total(&stand, &by_client, &fills, &heard);
    let expected = by(&fills, |(whose, _)| whose.clone());
    assert_eq!(expected.len(), 3);
    assert_eq!(traded(&by_client["rows"]), expected, "{by_client}");
    let by_market = asked("by=market&fills=1000");
    let of_market = |(_, fill): &(Key, Value)| fill["coin"].as_str().map(str::to_owned);
    assert_eq!(traded(&by_market["rows"]), by(&fills, of_market), "{by_market}");
    let row = |fill: &Value, [size, gross, market]: [&str; 3]| {
        let ids = ["tid", "oid"].map(|key| fill[key].as_u64().unwrap());
        (ids, ["px", size, gross, "fee"].map(|key| number(&fill[key])), fill[market].as_str().unwrap().to_owned())
    };
    let listed = by_market["fills"].as_array().unwrap();
    let mut told: Vec<_> = listed
        .iter()
        .map(|fill| (row(fill, ["size", "closed_pnl", "market"]), fill["client"].as_str().map(str::to_owned)))
        .collect();
    let mut expected_fills: Vec<_> =
        fills.iter().map(|(whose, fill)| (row(fill, ["sz", "closedPnl", "coin"]), whose.clone())).collect();
    told.sort();
    expected_fills.sort();
    assert_eq!((told, &by_market["fills_left_out"]), (expected_fills, &json!(0)));
    let newest = asked("by=day&fills=1");
    assert_eq!(
        (&newest["fills"][0]["tid"], &newest["fills_left_out"]),
        (&fills.last().unwrap().1["tid"], &json!(fills.len() - 1))
    );
    holds_total(&stand, &newest, &fills, &heard);

    // The same by the command, beside the service and after it.
    let command = |stand: &Stand| -> Value {
        let args = ["report", "--mode", "testnet", "--format", "json", "--by", "client"];
        let done = run_with(&stand.home(), &args, "");
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice(&done.stdout).unwrap()
    };
    let beside = command(&stand);
    assert_eq!(beside["rows"], by_client["rows"]);
    holds_total(&stand, &beside, &fills, &heard);
    // The account has been read since: that is what the end of the service compares.
    let reads = |stand: &Stand| stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    let before = reads(&stand);
    in_time("another look at the account", || (reads(&stand) >= before + 2).then_some(()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let after = command(&stand);
    assert_eq!(after["rows"], by_client["rows"]);
    holds_total(&stand, &after, &fills, &heard);
    let equity = number(&stand.venue.truth()["account"]["account_value"]);
    let [end, difference] = ["equity_end", "difference"].map(|key| figure(&after["total"], key));
    assert!((end - equity).abs() < dec!(0.01) && difference.abs() < dec!(0.01), "{equity}: {}", after["total"]);
}
