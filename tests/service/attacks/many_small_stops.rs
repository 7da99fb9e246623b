//! Cover in many small parts is replaced by few stops: cancels of it spend neither the minute's weight nor the account's
//! requests, and another client's exits go.

use serde_json::{Value, json};

use super::loosened_stop::sell_stop;
use crate::clients::{another, filled, send_as};
use crate::signing::{ETH, closing};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold, placed_stops};

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
        let reply = stand.send(&json!({"type": "order", "orders": orders, "grouping": "na"}));
        let statuses = reply["response"]["data"]["statuses"].as_array().unwrap();
        let cancels: Vec<Value> =
            statuses.iter().map(|status| json!({"a": ETH, "o": status["resting"]["oid"].as_u64().unwrap()})).collect();
        let reply = stand.send(&json!({"type": "cancel", "cancels": cancels}));
        assert_eq!(reply["response"]["data"]["statuses"][0], "success", "round {round}: {reply}");
        // Until a read shows them gone they count as resting.
        until("them to be gone", || (stand.status()["open_orders"].as_array()?.len() < STOPS).then_some(()));
        let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.01"));
        assert!(filled(&reply).is_some(), "round {round}: {reply}");
    }
    let own = placed_stops(&stand).len() - before - ROUNDS;
    assert!(own <= 8 * ROUNDS, "{own} stops of the guard's for {ROUNDS} cancels");
    covered(&stand, "ETH", "3.9");
}
