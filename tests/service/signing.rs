//! Requests as a bot makes them: actions, and the bodies that carry them signed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;
use svc_guard::venue::envelope;
use svc_guard::venue::json;
use svc_guard::venue::signing::{Source, Terms, sign_action};

/// Asset ids of the simulated venue's test network.
pub(crate) const BTC: u32 = 3;
pub(crate) const ETH: u32 = 4;

/// The machine's clock. Nonces may be ahead of it: all tests at once ask for more than one a millisecond.
pub(crate) fn clock_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(since.as_millis()).unwrap()
}

/// A nonce that no other call of this process gives.
pub(crate) fn fresh_nonce() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let now = clock_ms();
    LAST.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |last| Some(now.max(last + 1))).unwrap();
    LAST.load(Ordering::SeqCst)
}

pub(crate) fn node(value: &Value) -> Value {
    json::parse(value.to_string().as_bytes()).unwrap()
}

/// The body of an action, signed by `key` over exactly these bytes' order.
pub(crate) fn signed_with(key: &SecretKey, action: &Value, nonce: u64, source: Source) -> Value {
    signed_for(key, action, &Terms { nonce, vault: None, expires_after_ms: None }, source)
}

/// The same on other terms.
pub(crate) fn signed_for(key: &SecretKey, action: &Value, terms: &Terms, source: Source) -> Value {
    let action = node(action);
    let signature = sign_action(key, &action, terms, source).unwrap();
    serde_json::from_str(&envelope::body(&action, terms, &signature)).unwrap()
}

/// The same as the test network's SDKs sign, with a nonce of its own.
pub(crate) fn signed(key: &SecretKey, action: &Value) -> Value {
    let nonce = fresh_nonce();
    signed_with(key, action, nonce, Source::Testnet)
}

/// One order without further orders.
pub(crate) fn place(order: &Value) -> Value {
    json!({"type": "order", "orders": [order], "grouping": "na"})
}

/// A resting limit order.
pub(crate) fn limit(asset: u32, is_buy: bool, px: &str, size: &str) -> Value {
    json!({"a": asset, "b": is_buy, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Gtc"}}})
}

/// A buy of 0.01 BTC far enough from the mid of 60000 to rest.
pub(crate) fn resting() -> Value {
    place(&limit(BTC, true, "59800", "0.01"))
}

/// A reduce-only sale that would fill at once.
pub(crate) fn closing(asset: u32, px: &str, size: &str) -> Value {
    place(&json!({"a": asset, "b": false, "p": px, "s": size, "r": true, "t": {"limit": {"tif": "Ioc"}}}))
}
