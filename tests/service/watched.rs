//! Shared by the tests of the watch: the account moved by hand, and the venue's record of what the guard did.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::stand::{Stand, run_with, until};

/// Rules under which the sizes of these tests are small, and each limit is named by the test that reaches it.
pub(crate) const WIDE: &str = "loss_per_trade = \"50\"\nopen_risk = \"60\"\nposition = \"400\"\nexposure = \"800\"\n\
    daily_loss = \"90\"\ndrawdown = \"95\"\norders_per_minute = 1200\nduplicate_window = \"0\"\n";

impl Stand {
    /// Pulls the kill switch. The file comes with its reason: one that is still empty is a kill as well, without any.
    pub(crate) fn pull(&self, reason: &str) {
        let aside = self.home().with_file_name("kill");
        std::fs::write(&aside, format!("{reason}\n")).unwrap();
        std::fs::rename(aside, self.home().join("kill")).unwrap();
    }

    /// From now on no price comes: none is answered, and no feed tells one.
    pub(crate) fn without_prices(&self) {
        self.without("allMids");
    }

    /// From now on no question of this kind is answered, and no feed tells anything.
    pub(crate) fn without(&self, question: &str) {
        let fault = json!({"op": "fault", "on": question, "kind": "http_502", "times": 1_000_000});
        self.venue.control(&fault).unwrap();
        self.without_feed();
    }

    /// From now on no feed tells anything.
    pub(crate) fn without_feed(&self) {
        self.venue.control(&json!([{"op": "feed", "kind": "refuse"}, {"op": "feed", "kind": "drop"}])).unwrap();
    }
}

/// The account trades by hand until it holds `szi`, at the price that the coin has.
pub(crate) fn hold(stand: &Stand, coin: &str, szi: &str) {
    let px = stand.venue.truth()["prices"][coin]["mid"].as_str().unwrap().to_owned();
    stand.venue.control(&json!({"op": "position", "coin": coin, "szi": szi, "entry_px": px})).unwrap();
}

/// Money goes, and no row that the venue shows tells of it.
pub(crate) fn lose_unseen(stand: &Stand, usd: &str) {
    stand.venue.control(&json!({"op": "ledger", "usd": format!("-{usd}"), "delta": {"type": "spotGenesis"}})).unwrap();
}

/// Holds a position and waits until the guard's stop covers it.
pub(crate) fn hold_covered(stand: &Stand, coin: &str, szi: &str) -> Value {
    hold(stand, coin, szi);
    covered(stand, coin, szi)
}

/// The stop for all of `szi`, once it is armed.
pub(crate) fn covered(stand: &Stand, coin: &str, szi: &str) -> Value {
    let size = szi.trim_start_matches('-');
    let is_it = |stop: &Value| stop["sz"].as_str().is_some_and(|sz| is_same(sz, size));
    until("a stop for all of it", || stops(stand, coin).into_iter().find(is_it))
}

/// Whether two decimals are the same number.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    let number = |text: &str| text.parse::<rust_decimal::Decimal>().unwrap();
    number(one) == number(other)
}

/// The armed market stops of a coin, at the venue.
pub(crate) fn stops(stand: &Stand, coin: &str) -> Vec<Value> {
    let orders = stand.venue.truth()["orders"].as_array().unwrap().clone();
    let is_stop = |order: &Value| {
        order["coin"] == coin
            && order["stage"] == "armed"
            && order["orderType"] == "Stop Market"
            && order["reduceOnly"] == true
    };
    orders.into_iter().filter(is_stop).collect()
}

/// What the account holds of a coin, at the venue; `None` where it holds nothing.
pub(crate) fn held(stand: &Stand, coin: &str) -> Option<String> {
    let positions = stand.venue.truth()["positions"].as_array().unwrap().clone();
    positions.into_iter().find(|held| held["coin"] == coin).map(|held| held["szi"].as_str().unwrap().to_owned())
}

/// Nothing is held and nothing rests.
pub(crate) fn is_flat(stand: &Stand) -> bool {
    let truth = stand.venue.truth();
    truth["positions"].as_array().unwrap().is_empty() && truth["orders"].as_array().unwrap().is_empty()
}

pub(crate) fn until_flat(stand: &Stand) {
    until("the account to be flat", || is_flat(stand).then_some(()));
}

/// The requests that placed a reduce-only order which fills at once: closes.
pub(crate) fn closes(stand: &Stand) -> Vec<Value> {
    let is_close = |request: &Value| {
        let order = &request["action"]["orders"][0];
        order["r"] == true && order["t"]["limit"]["tif"] == "Ioc"
    };
    stand.venue_saw().into_iter().filter(is_close).collect()
}

/// The requests that placed a stop.
pub(crate) fn placed_stops(stand: &Stand) -> Vec<Value> {
    let is_stop = |request: &Value| request["action"]["orders"][0]["t"]["trigger"]["tpsl"] == "sl";
    stand.venue_saw().into_iter().filter(is_stop).collect()
}

/// The event of this kind, once there is one.
pub(crate) fn first(stand: &Stand, kind: &str) -> Value {
    until(&format!("an event of the kind {kind}"), || stand.events_of(kind).into_iter().next())
}

/// Every send names an event that was written before it, and a place among its actions.
pub(crate) fn sends_are_named(stand: &Stand) {
    let events = stand.events();
    for sent in events.iter().filter(|event| event["kind"] == "sent") {
        let of = events.iter().find(|event| event["seq"] == sent["decision"]).unwrap();
        assert!(of["seq"].as_u64() < sent["seq"].as_u64());
        let index = usize::try_from(sent["index"].as_u64().unwrap()).unwrap();
        assert_eq!(of["nonces"][index], sent["nonce"], "{of} {sent}");
    }
}

/// Sets a fault.
pub(crate) fn fault(stand: &Stand, on: &str, kind: &str, times: u64, text: &str) {
    let fault = json!({"op": "fault", "on": on, "kind": kind, "times": times, "text": text, "ms": 300});
    stand.venue.control(&fault).unwrap();
}

/// Ends a flood when the test does, also by failing.
pub(crate) struct Ends<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The service is healthy, and says why it opens nothing, where it does not.
pub(crate) fn trades(stand: &Stand, reason: Option<&str>) {
    let health = stand.get("/healthz");
    let told = health.json()["not_trading"].as_array().cloned().unwrap_or_default();
    assert_eq!((health.status, told.len()), (200, usize::from(reason.is_some())), "{told:?}");
    let listen = stand.address().to_string();
    let asked = |more: &[&str]| run_with(&stand.home(), &[&["health", "--listen", &listen], more].concat(), "");
    assert_eq!(asked(&[]).status.code(), Some(0), "it is well");
    let trading = asked(&["--trading"]);
    let said = String::from_utf8(trading.stderr).unwrap();
    assert_eq!(trading.status.code(), Some(i32::from(reason.is_some())), "{said}");
    let is_told = |reason: &str| told[0].as_str().unwrap().contains(reason) && said.contains(reason);
    assert!(reason.is_none_or(is_told), "{told:?} {said}");
}
