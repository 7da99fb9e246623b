//! `/ws`: posts, pings and subscriptions.
//!
//! A subscription is acknowledged as the venue does and answered with its first message where it has one; the feeds
//! that follow are not modelled.

use super::http::{Outcome, Reply};
use super::info::{self, Answer};
use super::service::Service;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::net::TcpStream;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocket};
use tungstenite::{Message, Utf8Bytes};

/// Serves one connection until it ends.
pub(crate) fn serve(service: &Service, mut stream: TcpStream, key: &str, early: Vec<u8>) {
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: \
         {accept}\r\n\r\n"
    );
    if stream.write_all(head.as_bytes()).is_err() {
        return;
    }
    let mut socket = WebSocket::from_partially_read(stream, early, Role::Server, None);
    let mut subscribed: Vec<Value> = Vec::new();
    while let Ok(message) = socket.read() {
        let Message::Text(text) = message else {
            if message.is_close() {
                return;
            }
            continue;
        };
        let Some(frames) = answer(service, &text, &mut subscribed) else { return };
        for frame in frames {
            if socket.send(Message::Text(Utf8Bytes::from(frame.to_string()))).is_err() {
                return;
            }
        }
    }
}

/// The frames that answer one frame; none when a fault closes the connection.
fn answer(service: &Service, text: &str, subscribed: &mut Vec<Value>) -> Option<Vec<Value>> {
    let unreadable = || error(&format!("Error parsing JSON into valid websocket request: {text}"));
    let Ok(frame) = serde_json::from_str::<Value>(text) else { return Some(vec![unreadable()]) };
    let subscription = frame.get("subscription").filter(|subscription| subscription.get("type").is_some());
    Some(match (frame.get("method").and_then(Value::as_str), subscription) {
        (Some("ping"), _) => vec![json!({"channel": "pong"})],
        (Some("post"), _) => match post(service, &frame)? {
            Some(reply) => vec![reply],
            None => vec![unreadable()],
        },
        (Some("subscribe"), Some(subscription)) => subscribe(service, subscription, subscribed),
        (Some("unsubscribe"), Some(subscription)) => match subscribed.iter().position(|known| known == subscription) {
            Some(index) => {
                subscribed.remove(index);
                vec![ack("unsubscribe", subscription)]
            }
            None => vec![error(&format!("Already unsubscribed: {subscription}"))],
        },
        _ => vec![unreadable()],
    })
}

/// The outer none closes the connection, the inner is a post that cannot be read.
#[allow(clippy::option_option, reason = "two different absences, told apart by the one caller")]
fn post(service: &Service, frame: &Value) -> Option<Option<Value>> {
    let (Some(id), Some(request)) = (frame.get("id").and_then(Value::as_u64), frame.get("request")) else {
        return Some(None);
    };
    let Some(payload) = request.get("payload") else { return Some(None) };
    let body = payload.to_string().into_bytes();
    let (kind, outcome) = match request.get("type").and_then(Value::as_str) {
        Some("action") => ("action", service.exchange(&body, "websocket")),
        Some("info") => ("info", service.info(&body)),
        _ => return Some(None),
    };
    let Outcome::Reply(Reply { status, body, .. }) = outcome else { return None };
    let response = match serde_json::from_slice::<Value>(&body) {
        Ok(data) if status == 200 && kind == "info" => {
            json!({"type": "info", "payload": {"type": payload.get("type"), "data": data}})
        }
        Ok(reply) if status == 200 => json!({"type": "action", "payload": reply}),
        _ => json!({"type": "error", "payload": format!("{status} {}", String::from_utf8_lossy(&body))}),
    };
    Some(Some(json!({"channel": "post", "data": {"id": id, "response": response}})))
}

fn subscribe(service: &Service, subscription: &Value, subscribed: &mut Vec<Value>) -> Vec<Value> {
    if subscribed.contains(subscription) {
        return vec![error(&format!("Already subscribed: {subscription}"))];
    }
    let kind = subscription.get("type").and_then(Value::as_str).unwrap_or_default();
    let first = match kind {
        "allMids" => read(service, "allMids", subscription).map(|mids| json!({"mids": mids})),
        "l2Book" => read(service, "l2Book", subscription),
        "activeAssetData" => read(service, "activeAssetData", subscription),
        "userFills" => read(service, "userFills", subscription)
            .map(|fills| json!({"isSnapshot": true, "user": subscription.get("user"), "fills": fills})),
        "clearinghouseState" => read(service, kind, subscription)
            .map(|state| json!({"dex": "", "user": subscription.get("user"), "clearinghouseState": state})),
        "openOrders" => read(service, "frontendOpenOrders", subscription)
            .map(|orders| json!({"dex": "", "user": subscription.get("user"), "orders": orders})),
        "bbo"
        | "trades"
        | "candle"
        | "activeAssetCtx"
        | "orderUpdates"
        | "userEvents"
        | "userFundings"
        | "userNonFundingLedgerUpdates"
        | "notification"
        | "spotState"
        | "twapStates"
        | "webData3" => None,
        _ => return vec![error(&format!("Error parsing JSON into valid websocket request: {subscription}"))],
    };
    subscribed.push(subscription.clone());
    let mut frames = vec![ack("subscribe", &normalised(kind, subscription))];
    frames.extend(first.map(|data| json!({"channel": kind, "data": data})));
    frames
}

fn read(service: &Service, kind: &str, subscription: &Value) -> Option<Value> {
    let mut request = subscription.clone();
    request.as_object_mut()?.insert("type".into(), json!(kind));
    let venue = service.venue();
    match info::answer(&venue, &venue.engine, &request) {
        Answer::Json(answer) => Some(answer),
        Answer::Shape | Answer::Failed => None,
    }
}

/// The subscription as the acknowledgement echoes it: with its defaults filled in.
fn normalised(kind: &str, subscription: &Value) -> Value {
    let defaults = match kind {
        "l2Book" => json!({"nSigFigs": null, "mantissa": null, "fast": false}),
        "userFills" => json!({"aggregateByTime": false}),
        "clearinghouseState" | "openOrders" | "twapStates" => json!({"dex": ""}),
        _ => return subscription.clone(),
    };
    let mut filled = Map::new();
    for (key, value) in [subscription, &defaults].into_iter().filter_map(Value::as_object).flatten() {
        filled.entry(key.clone()).or_insert_with(|| value.clone());
    }
    Value::Object(filled)
}

fn ack(method: &str, subscription: &Value) -> Value {
    json!({"channel": "subscriptionResponse", "data": {"method": method, "subscription": subscription}})
}

fn error(text: &str) -> Value {
    json!({"channel": "error", "data": text})
}
