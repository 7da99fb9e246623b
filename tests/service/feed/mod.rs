//! The live feed from outside: what it saves, what it covers, and what becomes of its troubles.

mod fills;
mod healthy;
mod nonsense;
mod room;
mod troubles;

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, stops};

/// A service that listens, beside a venue that tells its states every second.
fn listening() -> Stand {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    trouble(&stand, json!({"kind": "heal"}));
    for name in ["feed_state_ms", "feed_mids_ms"] {
        set(&stand, name, &json!(1_000));
    }
    // Tests cut more sockets than a venue would let open.
    for name in ["feed_new_connections", "feed_connections"] {
        set(&stand, name, &Value::Null);
    }
    stand.start();
    proved(&stand);
    stand
}

fn set(stand: &Stand, name: &str, value: &Value) {
    stand.venue.control(&json!({"op": "setting", "name": name, "value": value})).unwrap();
}

/// Has the feed suffer something.
fn trouble(stand: &Stand, trouble: Value) {
    let mut op = trouble;
    op["op"] = json!("feed");
    stand.venue.control(&op).unwrap();
}

fn feed(stand: &Stand) -> Value {
    stand.status()["venue"]["feed"].clone()
}

/// Waits until the feed proves everything.
fn proved(stand: &Stand) -> Value {
    until("a feed that proves itself", || Some(feed(stand)).filter(|feed| feed["proved"] == true))
}

/// Waits until the feed proves nothing.
fn unproved(stand: &Stand) -> Value {
    until("a feed that proves itself no more", || Some(feed(stand)).filter(|feed| feed["proved"] == false))
}

/// Waits until nothing is read but for audits.
fn audited(stand: &Stand) {
    until("reads that are audits", || (feed(stand)["audited"] == true).then_some(()));
}

/// How often the venue answered a kind of read.
fn reads(stand: &Stand, kind: &str) -> u64 {
    stand.venue.truth()["reads"][kind].as_u64().unwrap_or_default()
}

/// Waits for so many frames more.
fn frames(stand: &Stand, more: u64) {
    let count = || feed(stand)["frames"].as_u64().unwrap();
    let before = count();
    until("more frames", || (count() >= before + more).then_some(()));
}

/// What armed stops cover of a coin at the venue, all together.
fn stopped(stand: &Stand, coin: &str) -> Decimal {
    stops(stand, coin).iter().map(|stop| stop["sz"].as_str().unwrap().parse::<Decimal>().unwrap()).sum()
}

/// Waits until stops cover so much: one that no read has shown yet is not replaced, and the rest has one of its own.
pub(crate) fn covered_in_all(stand: &Stand, coin: &str, size: &str) {
    let size: Decimal = size.parse().unwrap();
    until("stops for all of it", || (stopped(stand, coin) >= size).then_some(()));
}

/// Waits until they cover just that, and no more.
pub(crate) fn covered_once(stand: &Stand, coin: &str, size: &str) {
    let size: Decimal = size.parse().unwrap();
    until("stops for no more than it", || (stopped(stand, coin) == size).then_some(()));
}

/// Waits until the guard shows the positions and orders that the venue has, on the same sides.
fn same_picture(stand: &Stand) {
    let sizes = |list: &Value, size: &str| {
        let is_down = |row: &Value| ["A", "sell", "short"].iter().any(|side| row["side"] == *side);
        let number = |row: &Value| {
            let size = row[size].as_str().unwrap().parse::<Decimal>().unwrap().normalize();
            if is_down(row) { -size } else { size }
        };
        let rows = list.as_array().unwrap().iter();
        let mut rows: Vec<_> =
            rows.map(|row| (row["coin"].as_str().unwrap().to_owned(), row["oid"].as_u64(), number(row))).collect();
        rows.sort();
        rows
    };
    until("the venue's picture", || {
        let (status, truth) = (stand.status(), stand.venue.truth());
        let positions = sizes(&status["positions"], "size") == sizes(&truth["positions"], "szi");
        let orders = sizes(&status["open_orders"], "size") == sizes(&truth["orders"], "sz");
        (positions && orders).then_some(())
    });
}
