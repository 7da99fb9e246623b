//! Scenes that the guard is in the middle of when a fault hits it.

use serde_json::{Value, json};

use crate::http::Connection;
use crate::signing::{BTC, ETH, limit, place, signed};
use crate::stand::{Stand, until};

/// The kinds of action that a fault meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// An entry that fills at once, with the stop that the guard attaches, after a leverage update.
    Entry,
    /// A resting order moved.
    Modify,
    /// The client's stop cancelled: the guard's own goes first.
    Cancel,
    /// A position that somebody opened by hand.
    Protect,
    /// The daily loss stop.
    Flatten,
    /// The kill switch, pulled by a client.
    Kill,
}

impl Act {
    pub(crate) const ALL: [Act; 6] = [Act::Entry, Act::Modify, Act::Cancel, Act::Protect, Act::Flatten, Act::Kill];

    /// What must stand before it begins. Returns the body that begins it, where a client does.
    pub(crate) fn prepare(self, stand: &Stand) -> Option<(&'static str, Value)> {
        match self {
            Act::Entry => Some(("/exchange", signed(&stand.client, &place(&limit(BTC, true, "60100", "0.01"))))),
            Act::Modify => {
                leverage(stand);
                let placed = stand.send(&place(&limit(BTC, true, "59800", "0.01")));
                let oid = &placed["response"]["data"]["statuses"][0]["resting"]["oid"];
                let order = limit(BTC, true, "59850", "0.01");
                let modify = json!({"type": "modify", "oid": oid, "order": order});
                Some(("/exchange", signed(&stand.client, &modify)))
            }
            Act::Cancel => {
                leverage(stand);
                let stop = json!({"a": BTC, "b": false, "p": "58000", "s": "0.01", "r": true,
                    "t": {"trigger": {"isMarket": true, "triggerPx": "59000", "tpsl": "sl"}}});
                let entry = limit(BTC, true, "60100", "0.01");
                let placed = stand.send(&json!({"type": "order", "orders": [entry, stop], "grouping": "normalTpsl"}));
                assert_eq!(placed["status"], "ok", "{placed}");
                let oid = until("the client's stop to rest", || {
                    let status = stand.status();
                    let orders = status["open_orders"].as_array().unwrap();
                    orders.iter().find(|order| order["owner"] == "bot").map(|order| order["oid"].clone())
                });
                let cancel = json!({"type": "cancel", "cancels": [{"a": BTC, "o": oid}]});
                Some(("/exchange", signed(&stand.client, &cancel)))
            }
            Act::Protect => None,
            Act::Flatten => {
                leverage(stand);
                stand.send(&place(&limit(BTC, true, "59800", "0.01")));
                None
            }
            Act::Kill => {
                leverage(stand);
                let placed = stand.send(&place(&limit(BTC, true, "60100", "0.01")));
                assert_eq!(placed["status"], "ok", "{placed}");
                let action = json!({"type": "guardKill", "reason": "enough"});
                Some(("/guard/kill", signed(&stand.client, &action)))
            }
        }
    }

    /// Begins it. Whoever answers may die over it.
    pub(crate) fn begin(self, stand: &Stand, body: Option<&(&str, Value)>) -> Option<Value> {
        let position = |szi: &str, entry_px: &str| {
            let op = json!({"op": "position", "coin": "ETH", "szi": szi, "entry_px": entry_px});
            stand.venue.control(&op).unwrap();
        };
        match self {
            Act::Protect => position("0.4", "2500"),
            // Bought far over the price: an eighth of the account is lost at once.
            Act::Flatten => position("0.5", "5000"),
            _ => {
                let (path, body) = body?;
                let mut connection = Connection::try_open(stand.address()).ok()?;
                return Some(connection.post(path, &body.to_string()).ok()?.json());
            }
        }
        None
    }

    /// Whether the venue shows that it was carried out.
    pub(crate) fn is_done(self, truth: &Value) -> bool {
        let orders = truth["orders"].as_array().unwrap();
        let guards = |order: &&Value| order["cloid"].as_str().is_some_and(|cloid| cloid.starts_with(GUARDS));
        match self {
            Act::Protect => orders.iter().any(|order| guards(&order)),
            Act::Flatten | Act::Kill => is_flat(truth),
            Act::Entry | Act::Modify | Act::Cancel => true,
        }
    }
}

/// How the ids of the guard's own orders begin.
const GUARDS: &str = "0x73766367726401";

pub(crate) fn is_flat(truth: &Value) -> bool {
    ["positions", "orders"].iter().all(|what| truth[what].as_array().unwrap().is_empty())
}

/// So that what follows needs nothing else sent first.
fn leverage(stand: &Stand) {
    for asset in [BTC, ETH] {
        let reply = stand.send(&json!({"type": "updateLeverage", "asset": asset, "isCross": true, "leverage": 5}));
        assert_eq!(reply["status"], "ok", "{reply}");
    }
}
