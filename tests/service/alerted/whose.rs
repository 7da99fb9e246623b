//! The notifier of a home whose guard is away, where another home's guard answers at the address: that one's news is not told as
//! this home's, and that its own is away is told.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::Value;

use super::hook::Hook;
use super::notifier::{Notifier, start_on};
use crate::stand::{Mode, Stand, run_with, until};

fn codes(hook: &Hook) -> Vec<String> {
    hook.sent().iter().map(|sent| sent.json()["code"].as_str().unwrap().to_owned()).collect()
}

/// It says which guard answers there, and how this home's comes to an address of its own.
fn names_both(told: &Value, own: &Stand, other: &Stand) {
    let happened = told["happened"].as_str().unwrap();
    let answers = format!("what answers at http://{} is the guard of {}", other.address(), other.home().display());
    assert!(happened.contains(&answers) && happened.contains("0x"), "{told}");
    let todo = told["todo"].as_str().unwrap();
    let own = own.home().display().to_string();
    assert!(todo.contains(&format!("`svc-guard --home {own} config set listen 127.0.0.1:PORT`")), "{told}");
    assert!(todo.contains(&format!("`svc-guard --home {own} run --network testnet`")), "{told}");
}

/// Its own guard comes back at another address: it is heard again, and its news is told.
fn goes_on_with_its_own(hook: &Hook, own: &mut Stand) {
    own.start();
    let is_over = |sent: &Value| sent["code"] == "unreachable" && sent["turn"] == "over";
    until("its guard again", || hook.sent().iter().any(|sent| is_over(&sent.json())).then_some(()));
    own.pull("enough");
    let told = hook.hears("kill");
    assert!(told["todo"].as_str().unwrap().contains(&own.home().display().to_string()), "{told}");
}

#[test]
fn another_homes_guard_at_the_address_of_one_that_is_down_is_not_taken_for_it() {
    let (mut own, other) = (Stand::up(Mode::Testnet, ""), Stand::up(Mode::Testnet, ""));
    assert_eq!(own.stop(Signal::SIGTERM), Some(0));
    let listen = other.address().to_string();
    let done = run_with(&own.home(), &["config", "set", "listen", &listen], "");
    assert!(done.status.success(), "{done:?}");
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "cooldown = { default = \"0s\" }\n");
    notifier.start_for(&own.home());
    until("its first look", || notifier.log().contains(&listen).then_some(()));
    std::thread::sleep(Duration::from_secs(4));
    other.pull("not this home's");
    names_both(&hook.hears("unreachable"), &own, &other);
    assert_eq!(codes(&hook), ["unreachable"]);
    goes_on_with_its_own(&hook, &mut own);
    assert!(!hook.sent().iter().any(|sent| sent.json().to_string().contains("not this home's")));
}

#[test]
fn another_homes_guard_that_takes_the_address_of_one_that_was_heard_is_not_taken_for_it() {
    let (mut own, mut other) = (Stand::up(Mode::Testnet, ""), Stand::set_up(Mode::Testnet, ""));
    let port = own.address().port();
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "cooldown = { default = \"0s\" }\n");
    notifier.start_for(&own.home());
    notifier.has_its_place();
    assert_eq!(own.stop(Signal::SIGTERM), Some(0));
    start_on(&mut other, port);
    hook.hears("service_stopped");
    other.pull("not this home's");
    names_both(&hook.hears("unreachable"), &own, &other);
    assert_eq!(codes(&hook), ["service_stopped", "unreachable"]);
    goes_on_with_its_own(&hook, &mut own);
    assert!(!hook.sent().iter().any(|sent| sent.json().to_string().contains("not this home's")));
}

/// Where its address was named by hand, whatever guard answers there is the one that is meant.
#[test]
fn a_guard_whose_address_was_named_is_told_of_from_any_home() {
    let (mut own, other) = (Stand::up(Mode::Testnet, ""), Stand::up(Mode::Testnet, ""));
    assert_eq!(own.stop(Signal::SIGTERM), Some(0));
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "cooldown = { default = \"0s\" }\n");
    notifier.start_in(&own.home(), &other);
    other.pull("the one that was named");
    assert!(hook.hears("kill")["happened"].as_str().unwrap().contains("the one that was named"));
}
