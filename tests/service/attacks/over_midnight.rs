//! A restart after midnight: what was lost since then counts in the next life too, or each start would let as much be lost
//! again.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{hold_covered, until_flat};

const DAY_MS: u64 = 86_400_000;
const RULES: &str = "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\n";

/// The venue's clock goes on.
fn pass(stand: &Stand, ms: u64) {
    stand.venue.control(&json!({"op": "clock", "advance_ms": ms})).unwrap();
}

fn risk(stand: &Stand) -> Value {
    stand.status()["risk"].clone()
}

#[test]
fn a_restart_forgets_no_loss_of_the_day() {
    let mut stand = Stand::set_up(Mode::Testnet, RULES);
    let to_midnight = DAY_MS - stand.venue.truth()["now_ms"].as_u64().unwrap() % DAY_MS;
    if to_midnight > 60_000 {
        pass(&stand, to_midnight - 60_000);
    }
    // This machine's clock is off the venue's by now, which is no good health.
    stand.launch();
    until("the account to be read", || stand.status()["equity"].is_string().then_some(()));
    hold_covered(&stand, "ETH", "12");
    let day_before = risk(&stand)["day"].clone();
    pass(&stand, 61_000);
    // A day that is far ahead of this machine's is believed after a minute.
    let is_next = || risk(&stand)["day"] != day_before;
    let begun = Instant::now();
    while !is_next() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(200));
    }
    until("the next day", || is_next().then_some(()));
    // 3.4% of the day's start, where 5% fire.
    stand.venue.price("ETH", "2472").unwrap();
    until("the loss to be seen", || (risk(&stand)["day_pnl"] == "-336").then_some(()));
    let today = risk(&stand)["day"].clone();
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        stand.stop(signal);
        stand.forget_spent_weight();
        stand.launch();
        let seen = until("the account to be read", || Some(risk(&stand)).filter(|risk| risk["day_pnl"].is_string()));
        assert_eq!(
            (&seen["day"], &seen["day_start_equity"], &seen["day_pnl"]),
            (&today, &json!("10000"), &json!("-336")),
            "{signal}"
        );
    }
    // Over the limit only with what was lost before the restart, and short of the stop.
    stand.venue.price("ETH", "2455").unwrap();
    until("the halt", || (risk(&stand)["state"] == "halted_for_day").then_some(()));
    until_flat(&stand);
}
