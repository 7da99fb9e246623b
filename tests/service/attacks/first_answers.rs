//! The first answers of a life are what all the others are measured by. One of them that is wrong sets no mark, sends nothing to the
//! wrong market and holds up no start.

use serde_json::{Value, json};

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, hold, stops, until_flat};

/// How many reads of the account the venue has answered.
fn account_reads(stand: &Stand) -> u64 {
    stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap_or_default()
}

/// Waits until the account was read a few times more.
fn look_on(stand: &Stand) {
    let before = account_reads(stand);
    until("more reads of the account", || (account_reads(stand) >= before + 4).then_some(()));
}

fn is_met(stand: &Stand, on: &str) -> bool {
    stand.venue.truth()["faults"].as_array().unwrap().iter().all(|fault| fault["on"] != on)
}

/// A stand whose guard begins to run, for the first time or again, beside a position.
fn begun(is_again: bool, coin: &str, abstraction: &str, fault: &Value) -> Stand {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.venue.setting("abstraction", json!(abstraction)).unwrap();
    hold(&stand, coin, "0.4");
    if is_again {
        stand.launch();
        covered(&stand, coin, "0.4");
        until("good health", || (stand.get("/healthz").status == 200).then_some(()));
        look_on(&stand);
        stand.kill();
        stand.forget_spent_weight();
        hold(&stand, coin, "0.6");
    }
    stand.venue.control(fault).unwrap();
    stand.launch();
    stand
}

/// Neither the day nor the peak begins in a purse that is not the account's.
#[test]
fn one_wrong_answer_of_the_mode_at_a_start_sets_no_mark() {
    for is_again in [false, true] {
        let wrong = json!({"op": "fault", "on": "userAbstraction", "kind": "stranger", "times": 1});
        let stand = begun(is_again, "ETH", "unifiedAccount", &wrong);
        until("good health", || (stand.get("/healthz").status == 200).then_some(()));
        covered(&stand, "ETH", if is_again { "0.6" } else { "0.4" });
        // The very first life goes by it for some seconds.
        until("the account's own purse", || (stand.status()["risk"]["day_start_equity"] == "10000").then_some(()));
        look_on(&stand);
        let status = stand.status();
        let risk = &status["risk"];
        let alerts = status["alerts"].as_array().unwrap();
        // That is told there as a change of the mode.
        assert!(alerts.iter().all(|alert| alert["code"] == "ledger_odd" && !is_again), "{status}");
        assert_eq!((&risk["state"], &risk["peak_equity"]), (&json!("active"), &json!("10000")), "{status}");
        assert!(is_met(&stand, "userAbstraction") && stand.events_of("flatten").is_empty());
        let changed =
            stand.events_of("risk").iter().any(|event| event["discrepancies"].to_string().contains("mode changed"));
        assert!(!changed || !is_again, "{:?}", stand.events_of("risk"));
    }
}

/// No stop goes to another market, and a kill closes what is held: SOL, which is the first one and stands second in the wrong list.
#[test]
fn one_wrong_list_of_markets_at_a_start_sends_nothing_elsewhere() {
    let wrong = json!({"op": "fault", "on": "metaAndAssetCtxs", "kind": "swapped", "times": 1});
    let stand = begun(true, "SOL", "default", &wrong);
    covered(&stand, "SOL", "0.6");
    assert!(is_met(&stand, "metaAndAssetCtxs"));
    let orders: Vec<Value> =
        stand.venue_saw().iter().filter_map(|seen| seen["action"]["orders"].as_array().cloned()).flatten().collect();
    assert!(!orders.is_empty() && orders.iter().all(|order| order["a"] == orders[0]["a"]), "{orders:?}");
    assert!(stops(&stand, "BTC").is_empty());
    run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    until_flat(&stand);
}

/// A start waits for the word on a wallet that it knows no longer than a moment: that comes later. What is held does not wait.
#[test]
fn a_slow_word_on_a_known_wallet_is_not_waited_for() {
    let slow = json!({"op": "fault", "on": "userRole", "kind": "delay", "times": 1, "ms": 3_000});
    let stand = begun(true, "ETH", "default", &slow);
    covered(&stand, "ETH", "0.6");
    assert!(stand.log().contains("could not be asked about the API wallet"), "{}", stand.log());
}
