//! A restart gives nobody a new minute: what was asked for before it counts, whether the service was stopped or died.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::clients::code;
use crate::signing::{BTC, limit, place};
use crate::stand::{Mode, Stand, until};

/// Entries, and as many settings and noops.
const A_MINUTE: usize = 2;
const MINUTE_MS: u64 = 60_000;

fn entry(number: usize) -> Value {
    place(&limit(BTC, true, &(59_800 + number).to_string(), "0.01"))
}

fn decided_ms(stand: &Stand, reply: &Value) -> u64 {
    stand.event(&reply["guard"]["seq"])["at_ms"].as_u64().unwrap()
}

/// Asks for what the minute holds before the service ends, and for more of it after the next start.
fn more_is_refused(end: impl Fn(&mut Stand)) {
    let mut stand = Stand::up(Mode::Testnet, &format!("orders_per_minute = {A_MINUTE}\n"));
    let mut last_ms = 0;
    for number in 0..A_MINUTE {
        let entry = stand.send(&entry(number));
        let noop = stand.send(&json!({"type": "noop"}));
        assert_eq!((code(&entry), code(&noop)), ("resized", "allowed"), "{entry} {noop}");
        last_ms = decided_ms(&stand, &entry);
    }
    end(&mut stand);
    stand.start();
    let more = until("the reads of a start", || {
        let reply = stand.send(&entry(A_MINUTE));
        (!["starting", "account_stale", "price_stale"].contains(&code(&reply))).then_some(reply)
    });
    let noop = stand.send(&json!({"type": "noop"}));
    let since_ms = decided_ms(&stand, &noop) - last_ms;
    // A start that took the minute tells nothing.
    if since_ms < MINUTE_MS {
        assert_eq!((code(&more), code(&noop)), ("order_rate_limit", "order_rate_limit"), "{more} {noop}");
        let truth = stand.venue.truth();
        let orders = truth["orders"].as_array().unwrap();
        assert_eq!(orders.iter().filter(|order| order["reduceOnly"] == false).count(), A_MINUTE, "{truth}");
    }
}

#[test]
fn a_stop_gives_no_new_minute() {
    more_is_refused(|stand| assert_eq!(stand.stop(Signal::SIGTERM), Some(0)));
}

#[test]
fn a_death_gives_no_new_minute() {
    more_is_refused(Stand::kill);
}
