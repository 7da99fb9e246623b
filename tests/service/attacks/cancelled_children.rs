//! A client cancels the children of entries that rest, and the price falls through them: each is stopped out where it was judged to
//! be, and a market loses no more than the rules let.

use std::thread::sleep;
use std::time::Duration;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::signing::{ETH, limit};
use crate::stand::{Mode, Stand, until};
use crate::watched::{is_flat, is_same};

/// A market may lose 50 of 10,000.
const RULES: &str = "order_value = \"2500\"\nloss_per_trade = \"0.5\"\n";
/// By then what was sent is settled, and the open orders were read without the children.
const SETTLED: Duration = Duration::from_secs(7);
/// How fast it falls, two dollars a step.
const STEP: Duration = Duration::from_millis(150);

fn enter(stand: &Stand, px: &str, size: &str, stop_px: &str) {
    let worst = (stop_px.parse::<Decimal>().unwrap() * dec!(0.9)).round().to_string();
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": stop_px, "tpsl": "sl"}});
    let stop = json!({"a": ETH, "b": false, "p": worst, "s": size, "r": true, "t": trigger});
    let action = json!({"type": "order", "orders": [limit(ETH, true, px, size), stop], "grouping": "normalTpsl"});
    let reply = stand.send(&action);
    assert_eq!(reply["status"], "ok", "{reply}");
}

fn account(stand: &Stand, name: &str) -> Decimal {
    stand.venue.truth()["account"][name].as_str().unwrap().parse().unwrap()
}

/// Entries rest, and their client cancels the children with these triggers.
pub(super) fn rest_without_children(stand: &Stand, entries: &[(&str, &str, &str)], cancelled: &[&str]) {
    for (px, size, stop_px) in entries {
        enter(stand, px, size, stop_px);
    }
    sleep(SETTLED);
    let truth = stand.venue.truth();
    let is_child = |order: &&Value| cancelled.iter().any(|px| is_same(px, order["triggerPx"].as_str().unwrap()));
    let entries = truth["orders"].as_array().unwrap().iter().filter_map(|order| order["children"].as_array());
    let cancels: Vec<Value> =
        entries.flatten().filter(is_child).map(|child| json!({"a": ETH, "o": child["oid"]})).collect();
    assert_eq!(cancels.len(), cancelled.len(), "{truth}");
    stand.send(&json!({"type": "cancel", "cancels": cancels}));
    sleep(SETTLED);
}

/// The price falls over all that is held, two dollars a step; what is lost by then beside fees.
fn lost_in_a_fall(stand: &Stand, from: u32, to: u32) -> Decimal {
    for px in (to / 2..from / 2).rev() {
        stand.venue.price("ETH", &(2 * px).to_string()).unwrap();
        sleep(STEP);
    }
    until("a flat account", || is_flat(stand).then_some(()));
    let truth = stand.venue.truth();
    let fees = truth["fills"].as_array().unwrap().iter().map(|fill| fill["fee"].as_str().unwrap());
    let fees: Decimal = fees.map(|fee| fee.parse::<Decimal>().unwrap()).sum();
    dec!(10_000) - account(stand, "account_value") - fees
}

#[test]
fn what_rested_is_stopped_out_where_it_was_judged_to_be() {
    let stand = Stand::up(Mode::Testnet, RULES);
    let entries = [("2500.5", "0.55", "2462.8"), ("2484.4", "0.67", "2481"), ("2476", "0.455", "2451.3")];
    rest_without_children(&stand, &entries, &["2481", "2451.3"]);
    let lost = lost_in_a_fall(&stand, 2_500, 2_396);
    assert!(lost <= dec!(50), "{lost} lost");
}

/// The price leaps over four entries at once, over the stops of three of them as well. Those lose what the leap takes, and the fourth
/// goes by its own stop: all of them by one that is farther would lose twice what the rules let.
#[test]
fn what_a_leap_fills_together_goes_part_by_part_by_its_own_stops() {
    let stand = Stand::up(Mode::Testnet, RULES);
    let entries =
        [("2499", "0.95", "2497"), ("2489", "0.95", "2487"), ("2479", "0.95", "2477"), ("2476", "0.455", "2390")];
    rest_without_children(&stand, &entries, &["2497", "2487", "2477", "2390"]);
    stand.venue.price("ETH", "2472").unwrap();
    sleep(SETTLED);
    let lost = lost_in_a_fall(&stand, 2_472, 2_380);
    // 49 by the leap, and 39 from 2476 to 2390.
    assert!(lost <= dec!(90), "{lost} lost");
}
