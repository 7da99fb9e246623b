//! Frames of any sort from a client.

use super::{End, Socket, quiet_venue};
use serde_json::json;
use tungstenite::Message;

#[test]
fn what_is_no_request_is_quoted_back() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    for text in [
        "",
        "[]",
        "null",
        "{\"method\":\"subscribe\"}",
        "{\"method\":\"subscribe\",\"subscription\":{\"type\":\"userFills\"}}",
        "{\"method\":\"subscribe\",\"subscription\":{\"type\":\"userFills\",\"user\":\"0x12\"}}",
        "{\"method\":\"subscribe\",\"subscription\":{\"type\":\"candle\",\"coin\":\"BTC\",\"interval\":\"7m\"}}",
        "{\"method\":\"subscribe\",\"subscription\":{\"type\":\"l2Book\",\"coin\":7}}",
        "{\"method\":\"subscribe\",\"subscription\":{\"type\":\"allDexsOrderUpdates\",\"user\":7}}",
        "{\"method\":\"post\",\"request\":{\"type\":\"info\",\"payload\":{}}}",
        "{\"method\":\"post\",\"id\":1,\"request\":{\"type\":\"explorer\",\"payload\":{}}}",
    ] {
        socket.say(text);
        let said = format!("Error parsing JSON into valid websocket request: {text}");
        assert_eq!(socket.hear_on("error"), said);
    }
}

#[test]
fn the_protocols_own_pings_and_closes_are_answered() {
    let sim = quiet_venue();
    let mut socket = Socket::open(&sim);
    socket.0.send(Message::Ping("are you there".into())).unwrap();
    assert_eq!(socket.0.read().unwrap(), Message::Pong("are you there".into()));
    socket.0.send(Message::Binary(vec![0xff, 0x00].into())).unwrap();
    socket.hears_nothing();
    socket.0.close(None).unwrap();
    assert_eq!(socket.end(), End::Cut);
    super::until(&sim, "it has left", |feed| feed["sockets"] == json!([]));
}
