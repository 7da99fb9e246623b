//! TWAP orders while everything must go: found whenever they were begun, stopped until they are, and told of while nobody
//! can say whether any runs.

use serde_json::json;
use svc_guard::base::key::SecretKey;

use crate::alerted::{Hook, Notifier};
use crate::http::Connection;
use crate::signing::{ETH, signed};
use crate::stand::{Mode, Stand, WALLET_KEY, run_with, until};
use crate::watched::{WIDE, fault, hold_covered, is_flat, until_flat};

fn pull(stand: &Stand) {
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
}

/// Another program with a key of the account's starts a TWAP at the venue itself.
fn twap_by_hand(stand: &Stand) {
    let key = SecretKey::parse(WALLET_KEY).unwrap();
    let twap = json!({"a": ETH, "b": true, "s": "1", "r": false, "m": 30, "t": false});
    let body = signed(&key, &json!({"type": "twapOrder", "twap": twap})).to_string();
    let answer = Connection::open(stand.venue.addr()).post("/exchange", &body).unwrap().json();
    assert!(answer["response"]["data"]["status"]["running"].is_object(), "{answer}");
}

fn until_none_runs(stand: &Stand) {
    until("the TWAP to stop", || {
        let twaps = stand.venue.truth()["twaps"].as_array().unwrap().clone();
        twaps.iter().all(|twap| twap["status"] != "activated").then_some(())
    });
    until_flat(stand);
}

fn has_alert(stand: &Stand, code: &str) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == code)
}

#[test]
fn one_read_that_fails_leaves_no_twap_running() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    twap_by_hand(&stand);
    fault(&stand, "twapHistory", "http_502", 1, "");
    pull(&stand);
    until_none_runs(&stand);
}

#[test]
fn a_cancel_without_an_answer_is_followed_by_another() {
    for kind in ["drop_before", "http_502", "error"] {
        let stand = Stand::up(Mode::Testnet, WIDE);
        twap_by_hand(&stand);
        fault(&stand, "twapCancel", kind, 1, "not now");
        pull(&stand);
        until_none_runs(&stand);
    }
}

#[test]
fn one_begun_elsewhere_while_killed_is_stopped() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    pull(&stand);
    until_flat(&stand);
    twap_by_hand(&stand);
    assert!(!is_flat(&stand) || !stand.venue.truth()["twaps"].as_array().unwrap().is_empty());
    until_none_runs(&stand);
}

/// A life that finds the account halted asks too: what runs at the venue may have been begun while nobody watched.
#[test]
fn one_that_runs_while_a_halted_guard_starts_is_stopped() {
    let rules = WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\"");
    let mut stand = Stand::up(Mode::Testnet, &rules);
    hold_covered(&stand, "ETH", "4");
    stand.venue.price("ETH", "2360").unwrap();
    until("the halt", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
    until_flat(&stand);
    for is_killed in [false, true] {
        if is_killed {
            pull(&stand);
        }
        stand.kill();
        twap_by_hand(&stand);
        stand.forget_spent_weight();
        stand.launch();
        until_none_runs(&stand);
        until("the halt to be known", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
    }
}

#[test]
fn it_is_told_while_nobody_can_say_whether_one_runs() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    fault(&stand, "twapHistory", "http_502", 1_000_000, "");
    pull(&stand);
    until("an alert", || has_alert(&stand, "twaps_unread").then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("the alert to end", || (!has_alert(&stand, "twaps_unread")).then_some(()));
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
    // A failure that lasts is told of once.
    let told = stand.events_of("error").into_iter().filter(|event| event["text"].as_str().unwrap().contains("TWAP"));
    assert_eq!(told.count(), 1);
}

fn kill_and_wait(stand: &Stand, seconds: &str) -> (Option<i32>, String) {
    let done = run_with(&stand.home(), &["kill", "--reason", "enough", "--wait", seconds], "");
    let said = [done.stdout, done.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
    (done.status.code(), said)
}

/// Nobody is told that all is flat while a TWAP order runs, or may.
#[test]
fn no_account_is_called_flat_before_its_twaps_are_known_to_be_gone() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    hold_covered(&stand, "ETH", "0.4");
    twap_by_hand(&stand);
    fault(&stand, "twapHistory", "error", 1_000_000, "no");
    let (code, said) = kill_and_wait(&stand, "4");
    assert!(code == Some(1) && said.contains("whether a TWAP order runs is not known"), "{said}");
    hook.hears("twaps_unread");
    assert!(!hook.codes().contains(&"flat".to_owned()), "{:?}", hook.codes());
    // It is known now, and the venue does not end it.
    let known = || (stand.status()["closing"]["twaps"] == 1).then_some(());
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    fault(&stand, "twapCancel", "error", 1_000_000, "no");
    until("it to be known", known);
    let (code, said) = kill_and_wait(&stand, "4");
    assert!(code == Some(1) && said.contains("1 TWAP order left"), "{said}");
    assert!(!hook.codes().contains(&"flat".to_owned()), "{:?}", hook.codes());
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until_none_runs(&stand);
    hook.hears("flat");
    let (code, said) = kill_and_wait(&stand, "60");
    assert!(code == Some(0) && said.contains("flat: 0 positions, 0 orders"), "{said}");
}
