//! One client's open entries use up no other client's part of `open_orders`.

use serde_json::Value;

use crate::clients::{another, code, send_as};
use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand};
use crate::watched::WIDE;

/// The entries that rest at the venue.
fn resting(stand: &Stand) -> usize {
    let truth = stand.venue.truth();
    truth["orders"].as_array().unwrap().iter().filter(|order| order["reduceOnly"] == false).count()
}

#[test]
fn a_client_that_rests_all_it_may_leaves_another_its_part() {
    let mut stand = Stand::set_up(Mode::Testnet, &format!("{WIDE}open_orders = 8\n"));
    let second = another(&stand);
    stand.start();
    let entry = |number: u32| place(&limit(ETH, true, &(2400 + number).to_string(), "0.01"));
    let refusal = |reply: &Value| (code(reply) == "open_orders_limit").then(|| reply["guard"]["text"].clone());
    // Half of it goes to whoever comes, and each one's part of the other half is its own.
    let told: Vec<Option<Value>> = (0..8).map(|number| refusal(&stand.send(&entry(number)))).collect();
    assert_eq!((told.iter().filter(|told| told.is_none()).count(), resting(&stand)), (6, 6), "{told:?}");
    let text = told[7].as_ref().unwrap().as_str().unwrap();
    assert!(text.contains("over 8") && text.contains("2 are kept for other clients"), "{text}");
    // A restart forgets of none whose it is.
    stand.kill();
    stand.start();
    assert!(refusal(&stand.send(&entry(8))).is_some());
    for number in 9..11 {
        let reply = send_as(&stand, &second, &entry(number));
        assert_eq!(refusal(&reply), None, "{reply}");
    }
    assert!(refusal(&send_as(&stand, &second, &entry(11))).is_some());
    assert_eq!(resting(&stand), 8);
}
