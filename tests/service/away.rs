//! The guard's machine is gone for an hour of the venue's time while the market moves through every stop: no more is lost
//! than the status told beforehand, and the next life knows what stood.

use std::collections::BTreeMap;
use std::fs;

use nix::sys::signal::Signal;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, hold, hold_covered, is_flat, until_flat};

const SOL: u32 = 0;
const HYPE: u32 = 6;
const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
/// What the venue's figures are rounded to, with some room.
const ROUNDING: Decimal = dec!(0.01);

fn number(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

/// The venue's clock goes on.
fn pass(stand: &Stand, ms: u64) {
    stand.venue.control(&json!({"op": "clock", "advance_ms": ms})).unwrap();
}

/// A home whose venue has hours of its day before it: a day that ends would begin its figures anew.
fn set_up(rules: &str) -> Stand {
    let stand = Stand::set_up(Mode::Testnet, rules);
    let left_ms = DAY_MS - stand.venue.truth()["now_ms"].as_u64().unwrap() % DAY_MS;
    if left_ms < 180 * MINUTE_MS {
        pass(&stand, left_ms + MINUTE_MS);
    }
    stand
}

/// Starts the service, whose clock may be off the venue's by then, and waits until it has read the account.
fn launch(stand: &mut Stand) {
    stand.launch();
    until("the account to be read", || stand.status()["equity"].is_string().then_some(()));
}

/// An hour in which the price of each coin goes by `to` percent of where it was and, where it is so said, by as much to the
/// other side, a little at a time.
fn an_hour(stand: &Stand, moves: &[(&str, Decimal, bool)]) {
    const STEPS: u32 = 240;
    let before = stand.venue.truth()["prices"].clone();
    for step in 1..=STEPS {
        for (coin, to, returns) in moves {
            let start = number(&before[coin]["mid"]);
            let half = Decimal::from(STEPS / 2);
            let (at, legs) = (Decimal::from(step), if *returns { half } else { half + half });
            // There, back, and as far to the other side in half of the time that is left for it.
            let turn = if at <= legs { at / legs } else { dec!(1) - (at - legs) * dec!(2) / half };
            let px = (start * (dec!(1) + to / dec!(100) * turn)).round_sf(5).unwrap();
            stand.venue.control(&json!({"op": "price", "coin": coin, "px": px.normalize().to_string()})).unwrap();
        }
        pass(stand, 60 * MINUTE_MS / u64::from(STEPS));
    }
}

/// The triggers of all stops at the venue, those that wait for an entry among them, by order id.
fn triggers(truth: &Value) -> BTreeMap<u64, Decimal> {
    let orders = truth["orders"].as_array().unwrap();
    let stops = orders.iter().filter(|order| order["isTrigger"] == true);
    stops.map(|order| (order["oid"].as_u64().unwrap(), number(&order["triggerPx"]))).collect()
}

/// What these fills cost beyond the triggers of their stops, and their fees.
fn slippage_and_fees(fills: &[Value], triggers: &BTreeMap<u64, Decimal>) -> Decimal {
    let cost = |fill: &Value| {
        let trigger = triggers.get(&fill["oid"].as_u64().unwrap());
        let sign = if fill["side"] == "B" { dec!(1) } else { dec!(-1) };
        let slipped = trigger.map(|px| (number(&fill["px"]) - px) * sign * number(&fill["sz"]));
        slipped.unwrap_or_default() + number(&fill["fee"])
    };
    fills.iter().map(cost).sum()
}

/// What is held at the venue, by its marks: signed.
fn held_value(truth: &Value) -> Decimal {
    let positions = truth["positions"].as_array().unwrap();
    positions.iter().map(|held| number(&held["szi"]) * number(&held["mark_px"])).sum()
}

fn send_as(stand: &Stand, client: &SecretKey, action: &Value) {
    // Just after a start the account may still be read as of a time before it, and a market's leverage with the next read.
    let reply = until("the account to be read", || {
        let reply = stand.post("/exchange", &signed(client, action)).json();
        let code = &reply["guard"]["code"];
        (code != "starting" && code != "account_stale").then_some(reply)
    });
    assert_eq!(reply["status"], "ok", "{reply}");
}

fn at_once(asset: u32, is_buy: bool, px: &str, size: &str) -> Value {
    place(&json!({"a": asset, "b": is_buy, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Ioc"}}}))
}

/// Positions of two clients and of a person, entries on both sides with their stops, and a batch that came too fast to
/// bring any.
fn trade(stand: &Stand, second: &SecretKey) {
    send_as(stand, &stand.client, &at_once(ETH, true, "2505", "0.8"));
    send_as(stand, second, &at_once(BTC, false, "59900", "0.02"));
    hold_covered(stand, "SOL", "12");
    // A fill is covered before the account is read, which tells the market's leverage.
    until("the account to be read", || {
        let positions = stand.status()["positions"].as_array().unwrap().clone();
        positions.into_iter().find(|held| held["coin"] == "SOL" && held["leverage"] == 20)
    });
    send_as(stand, second, &place(&limit(ETH, true, "2480", "0.4")));
    send_as(stand, second, &place(&limit(BTC, false, "60600", "0.01")));
    // Against what is held there: by the time it fills that may be gone.
    send_as(stand, &stand.client, &place(&limit(SOL, false, "156", "20")));
    let quotes: Vec<Value> = (0..41).map(|at| limit(HYPE, true, &format!("39.{}", 40 + at), "0.5")).collect();
    send_as(stand, &stand.client, &json!({"type": "order", "orders": quotes, "grouping": "na"}));
    covered(stand, "ETH", "0.8");
    covered(stand, "BTC", "0.02");
}

/// What the status tells, once it has read all of it.
fn told(stand: &Stand) -> Value {
    until("all of it to be told", || {
        let away = stand.status()["if_away"].clone();
        let counts = ["positions", "entries", "unattended"].map(|part| away[part]["count"].as_u64());
        (counts == [Some(3), Some(3), Some(41)] && away["positions"]["without_stop"] == "0").then_some(away)
    })
}

#[test]
fn an_hour_away_loses_what_was_told_and_no_more() {
    for end in [Signal::SIGTERM, Signal::SIGKILL] {
        // A part of the open entries is kept for the second client.
        let mut stand = set_up(&format!("{WIDE}open_orders = 60\n"));
        let file = stand.home().join("second");
        run_with(&stand.home(), &["client", "add", "--out", file.to_str().unwrap()], "");
        let second = SecretKey::parse(&fs::read_to_string(file).unwrap()).unwrap();
        launch(&mut stand);
        trade(&stand, &second);
        // A gain makes a peak, which is given back in part.
        stand.venue.price("SOL", "151.5").unwrap();
        let is_peak = || number(&stand.status()["risk"]["peak_equity"]) > dec!(10000);
        until("a peak", || is_peak().then_some(()));
        stand.venue.price("SOL", "150.5").unwrap();
        until("the price to be read", || (stand.status()["positions"][0]["mark_px"] == "150.5").then_some(()));
        let away = told(&stand);
        let risk = stand.status()["risk"].clone();
        if end == Signal::SIGTERM {
            assert_eq!(stand.stop(end), Some(0));
        } else {
            stand.kill();
        }

        let before = stand.venue.truth();
        an_hour(&stand, &[("ETH", dec!(-7), true), ("BTC", dec!(7), true), ("SOL", dec!(-7), true)]);
        an_hour(&stand, &[("HYPE", dec!(-10), false)]);
        let after = stand.venue.truth();
        let coins: Vec<&Value> = after["positions"].as_array().unwrap().iter().map(|held| &held["coin"]).collect();
        assert_eq!(coins, ["HYPE"], "what had a stop is closed, and what had none is held");
        assert_eq!(after["orders"], json!([]));
        let lost = number(&before["account"]["account_value"]) - number(&after["account"]["account_value"]);
        let bare = number(&away["without_stop"]) - held_value(&after);
        let fills = &after["fills"].as_array().unwrap()[before["fills"].as_array().unwrap().len()..];
        let cost = slippage_and_fees(fills, &triggers(&before));
        let most = number(&away["loss"]) + bare + cost;
        assert!(lost <= most + ROUNDING, "{lost} lost, {most} told: {away}, bare {bare}, slippage and fees {cost}");
        assert!(lost >= most - ROUNDING, "every stop was hit: {lost} lost, {most} told");
        assert!(cost < number(&away["loss"]), "{cost}: the market moved a little at a time");

        launch(&mut stand);
        // What nothing bounded meanwhile has fallen past the stops that it was judged with: it is closed, not held on.
        until_flat(&stand);
        let equity = number(&stand.venue.truth()["account"]["account_value"]);
        let status = until("the account as it is", || {
            let status = stand.status();
            (number(&status["equity"]) == equity).then_some(status)
        });
        let now = &status["risk"];
        assert_eq!((&now["state"], &status["killed"]), (&json!("active"), &Value::Null));
        for kept in ["day", "day_start_equity", "peak_equity"] {
            assert_eq!(now[kept], risk[kept], "{kept}");
        }
        assert_eq!(number(&now["day_pnl"]), equity - number(&now["day_start_equity"]));
        assert_eq!(number(&now["drawdown"]), number(&now["peak_equity"]) - equity);
    }
}

/// What nothing bounded while nobody watched is seen by the first reads of the next life, and the halt outlasts another
/// hour.
#[test]
fn a_loss_of_that_hour_halts_the_next_life() {
    let mut stand = set_up("");
    launch(&mut stand);
    let bid = json!({"op": "order", "order": limit(SOL, true, "149", "50")});
    stand.venue.control(&bid).unwrap();
    let away = until("the order to be told of", || stand.status().get("if_away").cloned());
    assert_eq!((&away["loss"], &away["without_stop"]), (&json!("0"), &json!("7450")));
    let risk = stand.status()["risk"].clone();
    stand.kill();
    an_hour(&stand, &[("SOL", dec!(-10), false)]);
    assert_eq!(stand.venue.truth()["positions"].as_array().unwrap().len(), 1);

    launch(&mut stand);
    until("the halt", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
    until_flat(&stand);
    let halted = stand.status()["risk"].clone();
    assert_eq!((&halted["details"]["cause"], &halted["details"]["limit"]), (&json!("daily_loss"), &json!("500")));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    pass(&stand, 60 * MINUTE_MS);
    stand.venue.price("SOL", "150").unwrap();

    launch(&mut stand);
    let now = stand.status()["risk"].clone();
    for kept in ["day", "day_start_equity", "peak_equity"] {
        assert_eq!(now[kept], risk[kept], "{kept}");
    }
    for kept in ["state", "since_ms", "details"] {
        assert_eq!(now[kept], halted[kept], "{kept}");
    }
    let equity = number(&stand.venue.truth()["account"]["account_value"]);
    assert_eq!(number(&now["day_pnl"]), equity - number(&now["day_start_equity"]));
    let reply = stand.send(&at_once(ETH, true, "2505", "0.1"));
    assert_eq!((&reply["guard"]["verdict"], &reply["guard"]["code"]), (&json!("veto"), &json!("halted_for_day")));
    assert!(stand.venue.truth()["positions"].as_array().unwrap().is_empty());
    hold(&stand, "BTC", "0.01");
    until("what appears to be closed", || is_flat(&stand).then_some(()));
}
