//! Checkpoints: the part of earlier events that a restart must know, used nonces and client order ids.

use crate::base::address::Address;
use crate::guard::recovery::open_intents;
use crate::guard::state::guard::Guard;
use serde_json::{Value, json};

/// Client order ids in a checkpoint: those whose orders are likely still open.
const CHECKPOINT_CLOIDS: usize = 1000;

impl Guard {
    /// What a restart must know of all events so far, so that it need not read them: a `checkpoint` record.
    #[must_use]
    pub fn checkpoint(&self, now_ms: u64) -> String {
        let windows: serde_json::Map<String, Value> =
            self.windows.iter().map(|(client, window)| (client.to_string(), json!(window.nonces()))).collect();
        json!({
            "kind": "checkpoint",
            "at_ms": now_ms,
            "seq": self.seq,
            "own_nonce": self.own_nonces.last(),
            "client_nonces": windows,
            "open": open_intents::checkpoint_open(self),
            "client_cloids": self.client_cloids.last(CHECKPOINT_CLOIDS),
            "ledger_ms": self.risk.ledger_ms,
        })
        .to_string()
    }

    /// Takes in the last checkpoint, before the events that follow it.
    pub fn restore_checkpoint(&mut self, record: &Value) {
        if let Some(nonce) = record.get("own_nonce").and_then(Value::as_u64) {
            self.own_nonces.remember(nonce);
        }
        self.open_intents.restore_checkpointed(record);
        let windows = record.get("client_nonces").and_then(Value::as_object).into_iter().flatten();
        for (client, nonces) in windows {
            let Ok(client) = client.parse::<Address>() else { continue };
            let window = self.windows.entry(client).or_default();
            let nonces = nonces.as_array().into_iter().flatten().filter_map(Value::as_u64);
            nonces.for_each(|nonce| window.remember(nonce));
        }
        let cloids = record.get("client_cloids").and_then(Value::as_array).into_iter().flatten();
        let cloids = cloids.filter_map(|cloid| cloid.as_str()?.parse().ok());
        cloids.for_each(|cloid| self.client_cloids.insert(cloid));
    }

    /// Takes in an event of an earlier life, oldest first, before [`Guard::start`].
    pub fn restore(&mut self, event: &Value) {
        for nonce in event.get("nonces").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_u64) {
            self.own_nonces.remember(nonce);
        }
        self.open_intents.restore(event);
        if event.get("kind").and_then(Value::as_str) != Some("decision") {
            return;
        }
        let client: Option<Address> = event.get("client").and_then(Value::as_str).and_then(|text| text.parse().ok());
        let number = |key: &str| event.get(key).and_then(Value::as_u64);
        if let (Some(client), Some(nonce), Some(at_ms)) = (client, number("nonce"), number("at_ms")) {
            // What was out of the window then is again: one far ahead would stand as the highest for ever.
            let _refused = self.windows.entry(client).or_default().burn(nonce, at_ms);
        }
        if event.get("verdict").and_then(Value::as_str) == Some("veto") {
            return;
        }
        let orders = event.pointer("/request/orders").and_then(Value::as_array).into_iter().flatten();
        let cloids = orders.filter_map(|order| order.get("c")?.as_str()?.parse().ok());
        cloids.for_each(|cloid| self.client_cloids.insert(cloid));
    }
}
