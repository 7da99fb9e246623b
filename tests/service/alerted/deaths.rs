//! Deaths of notifier and guard between an event and its delivery: each event that is wanted arrives, in order.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::hook::{Hook, Manner};
use super::notifier::{Notifier, start_on};
use crate::signing::{BTC, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::is_flat;

/// The numbers of the requests that were refused, as told: each text names its own price.
pub(super) fn heard(hook: &Hook) -> Vec<usize> {
    let mut first = Vec::new();
    for sent in hook.sent() {
        let text = sent.json()["happened"].as_str().unwrap_or_default().to_owned();
        let Some((_, after)) = text.split_once("59800.") else { continue };
        let digits: String = after.chars().take_while(char::is_ascii_digit).collect();
        // .10123, .11123, ...
        let number = digits[..2].parse::<usize>().unwrap() - 10;
        if !first.contains(&number) {
            first.push(number);
        }
    }
    first
}

/// Has one more request refused, which names its number.
pub(super) fn refuse(stand: &Stand, number: usize) {
    let reply = stand.send(&place(&limit(BTC, true, &format!("59800.{}123", number + 10), "0.01")));
    assert_eq!(reply["guard"]["code"], "price_invalid", "{reply}");
}

/// Every few requests either process is killed, at another moment each time; the target fails now and then.
#[test]
fn every_event_arrives_at_least_once_and_in_order_over_deaths_of_both() {
    const EVENTS: usize = 20;
    let mut stand = Stand::up(Mode::Paper, "orders_per_minute = 1200\nduplicate_window = \"0\"\n");
    let port = stand.address().port();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "kinds = [\"decision\"]\ncooldown = { default = \"0s\" }\n");
    notifier.start(&stand);
    let guard = format!("http://127.0.0.1:{port}");
    stand.kill();
    start_on(&mut stand, port);
    for number in 0..EVENTS {
        refuse(&stand, number);
        let pause = Duration::from_millis(u64::try_from(number * 37 % 400).unwrap());
        match number % 5 {
            1 => {
                std::thread::sleep(pause);
                notifier.kill();
                notifier.start_at(&stand.home(), &guard);
            }
            3 => {
                stand.kill();
                start_on(&mut stand, port);
            }
            4 => {
                // It dies while its target has heard it and said nothing yet.
                let before = hook.sent().len();
                hook.manner(Manner::Hang);
                until("a message on its way", || (hook.sent().len() > before).then_some(()));
                notifier.kill();
                hook.manner(Manner::Status(200));
                notifier.start_at(&stand.home(), &guard);
            }
            _ => {}
        }
    }
    let wanted: Vec<usize> = (0..EVENTS).collect();
    until("the last of them", || (heard(&hook).len() == EVENTS).then_some(()));
    assert_eq!(heard(&hook), wanted);
}

#[test]
fn a_kill_and_its_flat_account_are_told_over_deaths_of_the_guard() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let port = stand.address().port();
    stand
        .venue
        .control(&serde_json::json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"}))
        .unwrap();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    stand.kill();
    start_on(&mut stand, port);
    notifier.kill();
    notifier.start_at(&stand.home(), &format!("http://127.0.0.1:{port}"));
    stand.pull("enough");
    hook.hears("kill");
    let closing = hook.hears("flatten");
    assert!(closing["did"].as_str().unwrap().starts_with("1 action goes to the venue."), "{closing}");
    let flat = hook.hears("flat");
    let happened = flat["happened"].as_str().unwrap();
    assert!(happened.starts_with("0 positions, 0 orders, checked at 20"), "{happened}");
    assert!(is_flat(&stand), "{}", stand.venue.truth());
    let mut order: Vec<String> =
        hook.codes().into_iter().filter(|code| ["kill", "flatten", "flat"].contains(&code.as_str())).collect();
    // At least once, where a notifier died.
    order.dedup();
    assert_eq!(order, ["kill", "flatten", "flat"]);
    let account: &Value = &flat["account"];
    assert_eq!(account, crate::stand::ACCOUNT);
}

/// A guard with a position, and a notifier that is told of it.
fn told_of_a_position() -> (Stand, Hook, Notifier) {
    let stand = Stand::up(Mode::Testnet, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    (stand, hook, notifier)
}

/// A kill, an end of the guard as soon as it says that it is flat, and a start without the kill file: all of it while nobody
/// listens. No status that the notifier sees says a word of it.
#[test]
fn a_flat_account_is_told_after_the_guard_ended_and_the_kill_is_over() {
    for is_stopped in [true, false] {
        let (mut stand, hook, mut notifier) = told_of_a_position();
        let port = stand.address().port();
        notifier.kill();
        stand.pull("enough");
        until("a flat account", || stand.status()["closing"]["flat"].as_bool().filter(|flat| *flat));
        match is_stopped {
            true => _ = stand.stop(Signal::SIGTERM),
            false => stand.kill(),
        }
        std::fs::remove_file(stand.home().join("kill")).unwrap();
        start_on(&mut stand, port);
        notifier.start_at(&stand.home(), &format!("http://127.0.0.1:{port}"));
        let flat = hook.hears("flat");
        assert!(flat["happened"].as_str().unwrap().starts_with("0 positions, 0 orders, checked at 20"), "{flat}");
        assert!(is_flat(&stand), "{}", stand.venue.truth());
        until("the end of the kill", || {
            hook.sent().iter().any(|sent| sent.json()["code"] == "kill" && sent.json()["turn"] == "over").then_some(())
        });
        assert!(!hook.codes().contains(&"flat_unconfirmed".to_owned()), "{:?}", hook.codes());
    }
}

#[test]
fn a_guard_that_ended_before_the_account_was_flat_is_told_as_such_once_the_kill_is_over() {
    let (mut stand, hook, _notifier) = told_of_a_position();
    let port = stand.address().port();
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    stand.pull("enough");
    hook.hears("flatten");
    stand.kill();
    std::fs::remove_file(stand.home().join("kill")).unwrap();
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    start_on(&mut stand, port);
    let told = hook.hears("flat_unconfirmed");
    assert_eq!(told["severity"], "critical");
    assert!(told["happened"].as_str().unwrap().contains("enough. That is over"), "{told}");
    assert!(!hook.codes().contains(&"flat".to_owned()), "{:?}", hook.codes());
}

/// The account is flat, another hand opens a position, and no close gets through until the guard is gone: "Flat" is not the last
/// word of it.
#[test]
fn what_another_hand_opened_after_the_account_was_flat_is_told() {
    for is_stopped in [true, false] {
        let mut stand = Stand::up(Mode::Testnet, "");
        let port = stand.address().port();
        let hook = Hook::new();
        let mut notifier = Notifier::telling(&hook.url(), "cooldown = { default = \"0s\" }\n");
        notifier.start(&stand);
        stand.pull("enough");
        hook.hears("flat");
        stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
        stand.venue.control(&json!({"op": "position", "coin": "BTC", "szi": "0.1", "entry_px": "50000"})).unwrap();
        let told = hook.hears("flat_ended");
        assert_eq!((&told["severity"], &told["kind"]), (&json!("critical"), &json!("status")), "{told}");
        hook.hears("close_refused");
        match is_stopped {
            true => _ = stand.stop(Signal::SIGTERM),
            false => stand.kill(),
        }
        std::fs::remove_file(stand.home().join("kill")).unwrap();
        stand.venue.control(&json!({"op": "clear"})).unwrap();
        start_on(&mut stand, port);
        let told = hook.hears("flat_unconfirmed");
        assert!(
            told["happened"].as_str().unwrap().contains("the account was flat, and something was opened"),
            "{told}"
        );
        let codes = hook.codes();
        let place = |code: &str| codes.iter().rposition(|told| told == code);
        assert!(place("flat") < place("flat_ended") && place("flat_ended") < place("flat_unconfirmed"), "{codes:?}");
        if is_stopped {
            let stopped = hook.hears("service_stopped");
            assert!(stopped["happened"].as_str().unwrap().ends_with("was not seen flat again."), "{stopped}");
        }
        assert!(!is_flat(&stand), "{}", stand.venue.truth());
    }
}

/// A notifier that is new, or lost its state, while a killed guard is flat.
#[test]
fn a_first_look_at_a_flat_account_tells_so() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let port = stand.address().port();
    stand.pull("enough");
    until("a flat account", || stand.status()["closing"]["flat"].as_bool().filter(|flat| *flat));
    // Nothing of later tells it once more: the venue is gone, and what it told still counts.
    let fault = json!({"op": "fault", "on": "info", "kind": "http_502", "times": 1_000_000});
    stand.venue.control(&json!([fault, {"op": "feed", "kind": "refuse"}, {"op": "feed", "kind": "drop"}])).unwrap();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    hook.hears("kill");
    hook.hears("flat");
    stand.stop(Signal::SIGTERM);
    std::fs::remove_file(stand.home().join("kill")).unwrap();
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    start_on(&mut stand, port);
    until("the end of the kill", || {
        hook.sent().iter().any(|sent| sent.json()["code"] == "kill" && sent.json()["turn"] == "over").then_some(())
    });
    assert!(!hook.codes().contains(&"flat_unconfirmed".to_owned()), "{:?}", hook.codes());
    let stopped = hook.hears("service_stopped");
    assert!(!stopped["happened"].as_str().unwrap().contains("closing"), "{stopped}");
}

/// Nobody listens from the end of a guard that was killed and not flat to the end of another kill that was.
#[test]
fn the_end_of_a_kill_is_told_before_the_next_one() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let port = stand.address().port();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    stand.venue.control(&json!({"op": "fault", "on": "exchange", "kind": "http_502", "times": 1_000_000})).unwrap();
    stand.pull("first");
    hook.hears("flatten");
    // In order: what it told is on its disk, and told once.
    notifier.stop();
    // The same kill goes on in the next life, whose start finds its file.
    stand.kill();
    start_on(&mut stand, port);
    until("a kill of before", || stand.status()["killed"].as_str().map(drop));
    stand.stop(Signal::SIGTERM);
    std::fs::remove_file(stand.home().join("kill")).unwrap();
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    start_on(&mut stand, port);
    stand.pull("second");
    until("a flat account", || stand.status()["closing"]["flat"].as_bool().filter(|flat| *flat));
    notifier.start_at(&stand.home(), &format!("http://127.0.0.1:{port}"));
    hook.hears("flat");
    let told: Vec<String> = hook
        .sent()
        .iter()
        .map(|sent| format!("{} {}", sent.json()["code"], sent.json()["turn"]).replace('"', ""))
        .collect();
    let told: Vec<&str> =
        told.iter().map(String::as_str).filter(|told| told.starts_with("kill ") || told.starts_with("flat")).collect();
    let wanted = [
        "kill begins",
        "flatten once",
        "kill begins",
        "flatten_again once",
        "kill over",
        "flat_unconfirmed once",
        "kill begins",
        "flatten once",
        "flat once",
    ];
    assert_eq!(told, wanted);
}
