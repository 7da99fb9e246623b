//! The book of money from outside: what stands in the journal is the venue's own record, each row once, and adds up to its equity.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::http::Connection;
use crate::signing::{BTC, ETH, closing, limit, place, signed};
use crate::stand::{Mode, Stand, WALLET_KEY};
use crate::watched::{WIDE, hold, hold_covered, lose_unseen};

/// A book that does not come to its sums fails its test.
const PATIENCE: Duration = Duration::from_secs(240);

pub(crate) fn number(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

/// What a fill is told by, on record and at the venue.
type Row = ([u64; 3], String, bool, [Decimal; 5], Value);

fn on_record(fill: &Value) -> Row {
    let ids = ["time", "tid", "oid"].map(|key| fill[key].as_u64().unwrap());
    let amounts = ["px", "size", "fee", "closed_pnl", "position_before"].map(|key| number(&fill[key]));
    (ids, fill["coin"].as_str().unwrap().to_owned(), fill["side"] == "buy", amounts, fill["cloid"].clone())
}

fn at_venue(fill: &Value) -> Row {
    let ids = ["time", "tid", "oid"].map(|key| fill[key].as_u64().unwrap());
    let amounts = ["px", "sz", "fee", "closedPnl", "startPosition"].map(|key| number(&fill[key]));
    (ids, fill["coin"].as_str().unwrap().to_owned(), fill["side"] == "B", amounts, fill["cloid"].clone())
}

/// Waits for what the book has read: it reads when nothing else needs the weight of a start's minute, and compares after that.
pub(crate) fn in_time<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        sleep(Duration::from_millis(50));
    }
}

pub(crate) fn kept(stand: &Stand, kind: &str) -> Vec<Value> {
    stand.on_disk().into_iter().filter(|event| event["kind"] == kind).collect()
}

/// Waits until the venue's fills are on record, each once and to the last digit.
pub(crate) fn all_on_record(stand: &Stand) -> Vec<Value> {
    let truth: Vec<Row> = stand.venue.truth()["fills"].as_array().unwrap().iter().map(at_venue).collect();
    in_time("the fills on record", || (kept(stand, "fill").len() >= truth.len()).then_some(()));
    let fills = kept(stand, "fill");
    let mut rows: Vec<Row> = fills.iter().map(on_record).collect();
    let mut expected = truth;
    rows.sort_by_key(|row| row.0);
    expected.sort_by_key(|row| row.0);
    assert_eq!(rows, expected);
    fills
}

pub(crate) fn buy(asset: u32, px: &str, size: &str) -> Value {
    place(&json!({"a": asset, "b": true, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Ioc"}}}))
}

/// The event that decided on a request.
fn seq(reply: &Value) -> Value {
    reply["guard"]["seq"].clone()
}

/// The last sum, of a service that has ended.
fn last_balance(stand: &Stand) -> Value {
    kept(stand, "balance").pop().unwrap()
}

/// The last sum is the venue's own, made from the rows on record.
fn adds_up(stand: &Stand) {
    let last = last_balance(stand);
    let (opened_ms, truth) = (last["opened_ms"].as_u64().unwrap(), stand.venue.truth());
    let sum = |rows: &Value, amount: &dyn Fn(&Value) -> Decimal| -> Decimal {
        let rows = rows.as_array().unwrap().iter();
        rows.filter(|row| row["time"].as_u64().unwrap() > opened_ms).map(amount).sum()
    };
    let usd = |row: &Value| {
        let usd = number(&row["delta"]["usdc"]);
        if row["delta"]["type"] == "withdraw" { -usd } else { usd }
    };
    let gross = sum(&truth["fills"], &|fill| number(&fill["closedPnl"]));
    let fees = sum(&truth["fills"], &|fill| number(&fill["fee"]));
    let funding = sum(&truth["funding"], &|row| number(&row["delta"]["usdc"]));
    let transfers = sum(&truth["ledger"], &usd);
    let told = ["gross", "fees", "funding", "transfers"].map(|key| number(&last[key]));
    assert_eq!(told, [gross, fees, funding, transfers], "{last}");
    let off = number(&last["difference"]);
    assert!(off.abs() < dec!(0.01) && last["why"].is_null(), "{last}");
    let equity = number(&truth["account"]["account_value"]);
    assert!((number(&last["equity"]) - equity).abs() < dec!(0.01), "{equity}: {last}");
    let errors = kept(stand, "error");
    assert!(errors.iter().all(|error| !error["text"].as_str().unwrap().contains("book")), "{errors:?}");
}

/// A bot trades, the program is killed in the middle of it, others trade while it is away, money moves: all of it is on record.
#[test]
fn the_journal_is_the_venues_record_over_every_death() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    // A life that does not know what those before it asked would ask for more than the venue grants a minute.
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    stand.start();
    let client = json!(stand.client.address());
    in_time("the first sum", || stand.events_of("balance").pop());
    for round in 0..3 {
        let bought = seq(&stand.send(&buy(ETH, "2510", "0.1")));
        stand.send(&buy(BTC, "60200", "0.001"));
        let sold = seq(&stand.send(&closing(ETH, "2490", "0.04")));
        if round == 1 {
            all_on_record(&stand);
            stand
                .venue
                .control(&json!([{"op": "funding", "rate": "0.0001"}, {"op": "deposit", "usd": "250.5"}]))
                .unwrap();
        }
        stand.kill();
        hold(&stand, "SOL", if round == 1 { "-3" } else { "2" });
        stand.venue.control(&json!([{"op": "funding", "rate": "0.0001"}, {"op": "withdraw", "usd": "10"}])).unwrap();
        stand.forget_spent_weight();
        stand.start();
        let fills = all_on_record(&stand);
        for (intent, side) in [(&bought, "buy"), (&sold, "sell")] {
            let caused: Vec<&Value> = fills.iter().filter(|fill| fill["intent"] == *intent).collect();
            assert!(!caused.is_empty(), "{intent}: {fills:?}");
            assert!(caused.iter().all(|fill| fill["client"] == client && fill["side"] == side), "{caused:?}");
        }
        let strange = fills.iter().filter(|fill| fill["coin"] == "SOL");
        for fill in strange {
            assert_eq!((&fill["intent"], &fill["client"], &fill["late"]), (&Value::Null, &Value::Null, &json!(true)));
        }
    }
    let payments = stand.venue.truth()["funding"].as_array().unwrap().len();
    in_time("all funding on record", || (kept(&stand, "funding").len() >= payments).then_some(()));
    let ids: BTreeSet<_> =
        kept(&stand, "funding").iter().map(|row| (row["time"].as_u64(), row["coin"].to_string())).collect();
    assert_eq!((ids.len(), kept(&stand, "funding").len()), (payments, payments));
    in_time("all transfers on record", || (kept(&stand, "transfer").len() == 4).then_some(()));
    // The last life has compared everything once more.
    let started = kept(&stand, "started").pop().unwrap()["seq"].as_u64();
    in_time("the sum of this life", || Some(last_balance(&stand)).filter(|last| last["seq"].as_u64() > started));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    adds_up(&stand);
}

/// More than the venue shows at once moved while nobody watched, and what went is behind what came: all of it is on record, and
/// none of it is a loss.
#[test]
fn what_moved_while_away_is_read_to_its_end() {
    let mut stand = Stand::up(Mode::Testnet, "");
    in_time("the first sum", || stand.events_of("balance").pop());
    stand.kill();
    let flow = |op: &str, usd: &str| json!([{"op": op, "usd": usd}, {"op": "clock", "advance_ms": 1}]);
    let moves = std::iter::repeat_n(flow("deposit", "1"), 600).chain(std::iter::repeat_n(flow("withdraw", "60"), 100));
    let all: Vec<Value> = moves.flat_map(|both| both.as_array().unwrap().clone()).collect();
    stand.venue.control(&json!(all)).unwrap();
    stand.forget_spent_weight();
    stand.start();
    let at_venue = |row: &Value| {
        let usd = number(&row["delta"]["usdc"]);
        let is_gone = row["delta"]["type"] == "withdraw";
        (row["time"].as_u64(), if is_gone { -usd } else { usd })
    };
    let truth: Vec<_> = stand.venue.truth()["ledger"].as_array().unwrap().iter().map(at_venue).collect();
    in_time("all that moved on record", || (kept(&stand, "transfer").len() >= truth.len()).then_some(()));
    let rows = kept(&stand, "transfer");
    let told: Vec<_> = rows.iter().map(|row| (row["time"].as_u64(), number(&row["usdc"]))).collect();
    assert_eq!((told.len(), told == truth), (700, true));
    let started = kept(&stand, "started").pop().unwrap()["seq"].as_u64();
    in_time("the sum of this life", || Some(last_balance(&stand)).filter(|last| last["seq"].as_u64() > started));
    let risk = stand.status()["risk"].clone();
    assert_eq!((&risk["state"], &risk["day_pnl"]), (&json!("active"), &json!("0")), "{risk}");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    assert!(kept(&stand, "flatten").is_empty());
    adds_up(&stand);
}

/// A TWAP order begun at the venue's own page and ended after its first slice.
pub(crate) fn one_slice(stand: &Stand) {
    let key = SecretKey::parse(WALLET_KEY).unwrap();
    let post = |action: &Value| {
        let body = signed(&key, action).to_string();
        Connection::open(stand.venue.addr()).post("/exchange", &body).unwrap().json()
    };
    let twap = json!({"a": ETH, "b": true, "s": "1", "r": false, "m": 30, "t": false});
    // The guard signs with the same wallet: what bears the nonce of its own in one millisecond is refused.
    let id = in_time("a TWAP order to run", || {
        let begun = post(&json!({"type": "twapOrder", "twap": twap}));
        begun["response"]["data"]["status"]["running"]["twapId"].as_u64()
    });
    in_time("its end", || {
        let ended = post(&json!({"type": "twapCancel", "a": ETH, "t": id}));
        (ended["response"]["data"]["status"] == "success").then_some(())
    });
}

/// A liquidation, a rebate and a slice of a TWAP order are rows like others, and the sum knows of each.
#[test]
fn liquidations_rebates_and_slices_add_up() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    in_time("the first sum", || stand.events_of("balance").pop());
    stand.venue.setting("maker_fee", json!("-0.0001")).unwrap();
    let reply = stand.send(&place(&limit(BTC, true, "59800", "0.001")));
    assert_ne!(reply["guard"]["verdict"], "veto", "{reply}");
    stand.venue.price("BTC", "59700").unwrap();
    all_on_record(&stand);
    // Before any stop could stand: 4,800 are left behind a position that needs 4,896.
    let sunk = json!([{"op": "position", "coin": "ETH", "szi": "100", "entry_px": "2500"}, {"op": "price", "coin": "ETH",
        "px": "2448"}, {"op": "price", "coin": "ETH", "px": "2500"}]);
    stand.venue.control(&sunk).unwrap();
    one_slice(&stand);
    let fills = all_on_record(&stand);
    let count = |is_it: &dyn Fn(&Value) -> bool| fills.iter().filter(|fill| is_it(fill)).count();
    let is_nobodys = |fill: &Value| fill["client"].is_null() && fill["intent"].is_null();
    assert!(count(&|fill| fill["liquidation"]["mark_px"] == "2448" && is_nobodys(fill)) > 0, "{fills:?}");
    let rebates = count(&|fill| number(&fill["fee"]).is_sign_negative() && fill["crossed"] == false);
    assert!(rebates > 0, "{fills:?}");
    let truth = stand.venue.truth();
    let slices: Vec<&Value> =
        truth["fills"].as_array().unwrap().iter().filter(|fill| fill["twapId"].is_u64()).collect();
    let is_slice = |fill: &Value| slices.iter().any(|slice| slice["tid"] == fill["tid"]) && is_nobodys(fill);
    assert!(!slices.is_empty() && count(&is_slice) == slices.len(), "{fills:?}");
    // The account has been read since: that is what the end of the service compares.
    let reads = |stand: &Stand| stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    let before = reads(&stand);
    in_time("another look at the account", || (reads(&stand) >= before + 2).then_some(()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    adds_up(&stand);
}

/// The guard's own stop is its own decision.
#[test]
fn a_stop_that_fires_is_the_guards() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    in_time("the first sum", || stand.events_of("balance").pop());
    hold_covered(&stand, "ETH", "0.4");
    stand.venue.price("ETH", "2000").unwrap();
    let fired = in_time("the stop's fill", || kept(&stand, "fill").into_iter().find(|fill| fill["side"] == "sell"));
    // The account has been read since: that is what the end of the service compares.
    let reads = |stand: &Stand| stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default();
    let before = reads(&stand);
    in_time("another look at the account", || (reads(&stand) >= before + 2).then_some(()));
    assert_eq!(fired["client"], "guard");
    let cause = stand.event(&fired["intent"]);
    assert!(cause["kind"] == "protect" || cause["kind"] == "flatten", "{cause}");
    all_on_record(&stand);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    adds_up(&stand);
}

/// Without a feed everything is read.
#[test]
fn a_venue_without_a_feed() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.without_feed();
    stand.start();
    in_time("the first sum", || stand.events_of("balance").pop());
    stand.send(&buy(ETH, "2510", "0.1"));
    stand.send(&place(&limit(BTC, true, "59800", "0.001")));
    stand.venue.price("BTC", "59700").unwrap();
    all_on_record(&stand);
    stand.venue.control(&json!({"op": "deposit", "usd": "7"})).unwrap();
    in_time("the transfer", || kept(&stand, "transfer").pop());
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    adds_up(&stand);
}

/// Fills that the venue shows nobody are found by the sum.
#[test]
fn what_the_venue_hides_is_a_discrepancy() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    in_time("the first sum", || stand.events_of("balance").pop());
    let reads = |what: &str| stand.venue.truth()["reads"][what].as_u64().unwrap_or_default();
    let [paid, moved] = ["userFunding", "userNonFundingLedgerUpdates"];
    let (paid_before, moved_before) = (reads(paid), reads(moved));
    lose_unseen(&stand, "5");
    // Three looks at everything, which wait for the room that a start leaves.
    for look in 1..=3 {
        in_time("another look at what was paid", || (reads(paid) >= paid_before + look).then_some(()));
        in_time("another look at what was moved", || (reads(moved) >= moved_before + look).then_some(()));
    }
    let told = in_time("the discrepancy", || {
        stand.events_of("error").into_iter().find(|error| error["text"].as_str().unwrap().contains("does not add up"))
    });
    assert!(told["text"].as_str().unwrap().contains(" is -5 USDC off"), "{told}");
    let stands =
        |status: &Value| status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "book_differs");
    assert!(stands(&stand.status()));
    let page = stand.get("/metrics").body;
    assert!(page.contains("\nsvc_guard_book_discrepancies_total 1\n"), "{page}");
    let balances = stand.events_of("balance");
    assert_eq!(balances.iter().filter(|balance| balance["difference"] == "-5").count(), 1, "{balances:?}");
    assert_eq!(stand.get("/healthz").status, 200, "it is no ill health");
}
