//! A guard that says nothing is told of, and the heartbeat stops when either is unwell.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use super::hook::{Hook, Manner};
use super::notifier::Notifier;
use crate::stand::{Mode, Stand, until};

/// How many beats came in a while.
fn beats_in(heart: &Hook, while_ms: u64) -> usize {
    let before = heart.sent().len();
    std::thread::sleep(Duration::from_millis(while_ms));
    heart.sent().len() - before
}

/// Before it was ever heard, too: without its home the commands would act on another one's.
#[test]
fn a_guard_that_was_never_heard_is_told_of_with_its_commands() {
    let stand = Stand::set_up(Mode::Testnet, "");
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start_at(&stand.home(), "http://127.0.0.1:9");
    let told = hook.hears("unreachable");
    let (todo, home) = (told["todo"].as_str().unwrap(), stand.home());
    let home = home.display();
    assert!(todo.contains(&format!("svc-guard --home {home} health")), "{told}");
    assert!(todo.contains(&format!("`svc-guard --home {home} run --network testnet`")), "{told}");
}

#[test]
fn a_guard_that_hangs_is_told_within_45_seconds_and_the_heart_stops() {
    let stand = Stand::up(Mode::Paper, "");
    let [hook, heart] = std::array::from_fn(|_| Hook::new());
    let mut notifier = Notifier::set_up(&format!(
        "heartbeat = \"{}\"\nheartbeat_every = \"1s\"\n[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{}\"\nquiet = \"00:00-23:59\"\n",
        heart.url(),
        hook.url()
    ));
    notifier.start(&stand);
    until("a beat", || (!heart.sent().is_empty()).then_some(()));
    assert_eq!(heart.sent()[0].line, "GET /in/secret-path HTTP/1.1");
    stand.signal(Signal::SIGSTOP);
    let begun = Instant::now();
    let told = hook.hears("unreachable");
    assert!(begun.elapsed() < Duration::from_secs(45), "promised: {:?}", begun.elapsed());
    assert!(told["happened"].as_str().unwrap().contains("did not answer in time"), "{told}");
    assert!(told["todo"].as_str().unwrap().contains("health"), "{told}");
    assert_eq!(beats_in(&heart, 2_500), 0, "a guard that hangs");
    stand.signal(Signal::SIGCONT);
    until("its end", || {
        hook.sent()
            .iter()
            .any(|sent| sent.json()["code"] == "unreachable" && sent.json()["turn"] == "over")
            .then_some(())
    });
    until("a beat again", || (beats_in(&heart, 500) > 0).then_some(()));
    // The notifier itself: it hangs, and then it cannot keep its state.
    notifier.signal(Signal::SIGSTOP);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(beats_in(&heart, 2_500), 0, "a notifier that hangs");
    notifier.signal(Signal::SIGCONT);
    until("a beat again", || (beats_in(&heart, 500) > 0).then_some(()));
    std::fs::rename(notifier.path("state"), notifier.path("away")).unwrap();
    stand.pull("enough");
    until("the state's trouble", || notifier.log().contains("the state cannot be written").then_some(()));
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(beats_in(&heart, 2_500), 0, "a notifier that cannot keep its place");
    assert!(!notifier.log().contains("secret-path"), "{}", notifier.log());
}

#[test]
fn a_heart_that_is_not_heard_is_said_in_the_log_and_tried_again() {
    let stand = Stand::up(Mode::Paper, "");
    let [hook, heart] = std::array::from_fn(|_| Hook::new());
    heart.manner(Manner::Status(500));
    let mut notifier = Notifier::set_up(&format!(
        "heartbeat = \"{}\"\nheartbeat_every = \"1s\"\n[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{}\"\n",
        heart.url(),
        hook.url()
    ));
    notifier.start(&stand);
    until("the trouble", || notifier.log().contains("the heartbeat's URL answers HTTP 500").then_some(()));
    heart.manner(Manner::Status(200));
    until("its end", || notifier.log().contains("the heartbeat's URL answers again").then_some(()));
}
