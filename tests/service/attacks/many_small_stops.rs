//! Cover in many small parts is replaced by few stops: cancels of it spend neither the minute's weight nor the account's
//! requests, and another client's exits go.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::loosened_stop::sell_stop;
use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, held, hold, placed_stops, stops};

const STOPS: usize = 64;
const ROUNDS: usize = 4;

#[test]
fn cancels_of_many_small_stops_cost_little() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "3.9");
    stand.start();
    covered(&stand, "ETH", "3.9");
    let before = placed_stops(&stand).len();
    for round in 0..ROUNDS {
        let orders: Vec<Value> =
            (0..STOPS).map(|at| sell_stop(&format!("{}.{}", 2460 + 10 * round + at / 10, at % 10), "0.0045")).collect();
        // Until a read shows the last ones gone they count as resting.
        let statuses = until("room for them", || {
            let reply = stand.send(&json!({"type": "order", "orders": orders, "grouping": "na"}));
            reply["response"]["data"]["statuses"].as_array().cloned()
        });
        let cancels: Vec<Value> =
            statuses.iter().map(|status| json!({"a": ETH, "o": status["resting"]["oid"].as_u64().unwrap()})).collect();
        let reply = stand.send(&json!({"type": "cancel", "cancels": cancels}));
        assert_eq!(reply["response"]["data"]["statuses"][0], "success", "round {round}: {reply}");
        let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.01"));
        assert!(filled(&reply).is_some(), "round {round}: {reply}");
    }
    let own = placed_stops(&stand).len() - before - ROUNDS;
    assert!(own <= 8 * ROUNDS, "{own} stops of the guard's for {ROUNDS} cancels");
    // A stop may be of what was held before the closes: it is for no less.
    let number = |text: &str| text.parse::<Decimal>().unwrap();
    let left = held(&stand, "ETH").unwrap();
    let of_stops = || stops(&stand, "ETH").iter().map(|stop| number(stop["sz"].as_str().unwrap())).sum::<Decimal>();
    until("stops for all of it", || (of_stops() >= number(&left)).then_some(()));
}
