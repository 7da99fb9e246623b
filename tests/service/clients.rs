//! Further clients of a service: what one of them does must leave another its part.

use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::signing::signed;
use crate::stand::{Stand, run_with};

/// A further client of a service that does not run yet.
pub(crate) fn another(stand: &Stand) -> SecretKey {
    let file = stand.home().join("second");
    let done = run_with(&stand.home(), &["client", "add", "--out", file.to_str().unwrap()], "");
    assert_eq!(done.status.code(), Some(0));
    SecretKey::parse(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// Has a client sign an action and post it.
pub(crate) fn send_as(stand: &Stand, client: &SecretKey, action: &Value) -> Value {
    let response = stand.post("/exchange", &signed(client, action));
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

/// Leaves the account so many of the requests that the venue takes from it: it starts with 10,000, and volume earns more.
pub(crate) fn leave_requests(stand: &Stand, left: u64) {
    let account = stand.venue.truth()["account"].clone();
    let whole = |name: &str| account[name].as_str().map_or(account[name].to_string(), str::to_owned);
    let number = |name: &str| whole(name).split('.').next().unwrap().parse::<u64>().unwrap();
    let before = 10_000 + number("volume") - number("requests_used");
    let setting = json!({"op": "setting", "name": "prior_requests", "value": before - left});
    stand.venue.control(&setting).unwrap();
}

/// The requests that the account has spent, at the venue.
pub(crate) fn requests_used(stand: &Stand) -> u64 {
    let used = stand.venue.truth()["account"]["requests_used"].clone();
    used.as_u64().or_else(|| used.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{used}"))
}

/// What the guard decided on a request, by its code.
pub(crate) fn code(reply: &Value) -> &str {
    reply["guard"]["code"].as_str().unwrap_or_else(|| panic!("{reply}"))
}

/// How much of the order that a reply tells of has filled.
pub(crate) fn filled(reply: &Value) -> Option<&str> {
    reply["response"]["data"]["statuses"][0]["filled"]["totalSz"].as_str()
}
