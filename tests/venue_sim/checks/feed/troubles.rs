//! Each trouble that a test can make, and that it ends.

use super::{ACCOUNT, End, Socket, hold, quiet_venue, trouble, until};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::{Error, Message};

/// A socket that follows fills and events, with its first message taken.
fn listener(sim: &crate::sim::SimHandle) -> Socket {
    let mut socket = Socket::open(sim);
    socket.follow("userFills");
    socket.hear_on("userFills");
    socket.follow("userEvents");
    socket
}

/// The position before the fill that the next message tells of, and its channel.
fn next(socket: &mut Socket) -> (String, Value) {
    let frame = socket.hear();
    let fill = &frame["data"]["fills"][0]["startPosition"];
    (frame["channel"].as_str().unwrap().to_owned(), fill.clone())
}

#[test]
fn a_muted_feed_says_nothing_until_it_is_healed() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "mute", "on": "userFills"}));
    hold(&sim, "1");
    assert_eq!(next(&mut socket), ("user".into(), json!("0.0")));
    socket.hears_nothing();
    trouble(&sim, &json!({"kind": "mute"}));
    hold(&sim, "2");
    socket.hears_nothing();
    trouble(&sim, &json!({"kind": "heal"}));
    hold(&sim, "3");
    assert_eq!(next(&mut socket), ("userFills".into(), json!("2.0")));
    assert_eq!(sim.truth()["feed"]["troubles"], json!([]));
}

#[test]
fn pongs_can_be_lost_by_themselves() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "lose", "on": "pong", "times": 1}));
    socket.ping();
    until(&sim, "the ping is heard", |feed| feed["troubles"] == json!([]));
    hold(&sim, "1");
    assert_eq!(next(&mut socket).0, "userFills");
    assert_eq!(next(&mut socket).0, "user");
    socket.hears_nothing();
}

#[test]
fn messages_are_lost_and_come_twice_as_often_as_it_says() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "lose", "on": "userFills", "times": 2}));
    for szi in ["1", "2", "3"] {
        hold(&sim, szi);
    }
    let heard: Vec<_> = (0..4).map(|_| next(&mut socket)).collect();
    let starts = [("user", "0.0"), ("user", "1.0"), ("userFills", "2.0"), ("user", "2.0")];
    assert_eq!(heard, starts.map(|(channel, start)| (channel.to_owned(), json!(start))));
    trouble(&sim, &json!({"kind": "duplicate", "on": "userEvents"}));
    hold(&sim, "4");
    let channels: Vec<_> = (0..3).map(|_| next(&mut socket).0).collect();
    assert_eq!(channels, ["userFills", "user", "user"]);
    socket.hears_nothing();
}

#[test]
fn a_reordered_message_follows_the_next_of_its_feed() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "reorder", "on": "userFills", "ms": 60_000}));
    hold(&sim, "1");
    hold(&sim, "2");
    let heard: Vec<_> = (0..4).map(|_| next(&mut socket)).collect();
    let starts = [("user", "0.0"), ("userFills", "1.0"), ("userFills", "0.0"), ("user", "1.0")];
    assert_eq!(heard, starts.map(|(channel, start)| (channel.to_owned(), json!(start))));
}

#[test]
fn a_reordered_message_that_nothing_overtakes_comes_late() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "reorder", "on": "userFills", "ms": 50}));
    hold(&sim, "1");
    assert_eq!([next(&mut socket).0, next(&mut socket).0], ["user", "userFills"]);
}

#[test]
fn a_feed_that_lags_is_overtaken_by_the_others() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "lag", "on": "userFills", "ms": 50}));
    hold(&sim, "1");
    let heard = [next(&mut socket), next(&mut socket)];
    assert_eq!(heard, [("user".to_owned(), json!("0.0")), ("userFills".to_owned(), json!("0.0"))]);
}

#[test]
fn a_socket_that_lags_keeps_its_order() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "lag", "ms": 100}));
    hold(&sim, "1");
    socket.ping();
    until(&sim, "the ping is heard", |feed| feed["limits"]["messages_last_minute"] == 3);
    trouble(&sim, &json!({"kind": "heal"}));
    hold(&sim, "2");
    let channels: Vec<_> = (0..5).map(|_| socket.hear()["channel"].clone()).collect();
    assert_eq!(channels, ["userFills", "user", "pong", "userFills", "user"]);
}

#[test]
fn a_half_open_socket_takes_everything_and_gives_nothing() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    assert_eq!(trouble(&sim, &json!({"kind": "half_open"})), 1);
    socket.ping();
    socket.0.send(Message::Ping("".into())).unwrap();
    hold(&sim, "1");
    until(&sim, "the ping is heard", |feed| feed["limits"]["messages_last_minute"] == 3);
    sim.control(&json!({"op": "clock", "advance_ms": 600_000, "sockets": true})).unwrap();
    until(&sim, "what was queued is gone", |feed| feed["sockets"][0]["queued"] == 0);
    // A new socket lives.
    let mut other = listener(&sim);
    other.hears_nothing();
    socket.0.get_ref().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    match socket.0.read() {
        Err(Error::Io(error)) => assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)),
        other => panic!("{other:?}"),
    }
    assert_eq!(sim.truth()["feed"]["sockets"][0]["half_open"], true);
}

#[test]
fn a_dead_subscription_lives_again_when_it_is_made_anew() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    assert_eq!(trouble(&sim, &json!({"kind": "dead", "on": "userFills"})), 1);
    hold(&sim, "1");
    assert_eq!(next(&mut socket).0, "user");
    socket.hears_nothing();
    renew(&mut socket);
    assert_eq!(socket.hear_on("userFills")["isSnapshot"], true);
    hold(&sim, "2");
    assert_eq!([next(&mut socket).0, next(&mut socket).0], ["user", "userFills"]);
}

#[test]
fn a_feed_may_stay_dead_until_there_is_a_new_socket() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "dead", "on": "userFills", "until": "socket"}));
    renew(&mut socket);
    hold(&sim, "1");
    assert_eq!(next(&mut socket).0, "user");
    socket.hears_nothing();
    let mut other = listener(&sim);
    hold(&sim, "2");
    assert_eq!(next(&mut other).0, "userFills");
}

fn renew(socket: &mut Socket) {
    let of = json!({"type": "userFills", "user": ACCOUNT});
    socket.say(&json!({"method": "unsubscribe", "subscription": of}).to_string());
    socket.hear_on("subscriptionResponse");
    socket.subscribe(&of);
}

#[test]
fn garbage_comes_in_any_form() {
    let sim = quiet_venue();
    let mut socket = listener(&sim);
    trouble(&sim, &json!({"kind": "garbage"}));
    assert!(serde_json::from_str::<Value>(&socket.hear_text()).is_err());
    trouble(&sim, &json!({"kind": "garbage", "text": "Websocket connection established."}));
    assert_eq!(socket.hear_text(), "Websocket connection established.");
    trouble(&sim, &json!({"kind": "garbage", "form": "binary", "hex": "00ff"}));
    assert_eq!(socket.0.read().unwrap(), Message::Binary(vec![0x00, 0xff].into()));
    socket.hears_nothing();
    trouble(&sim, &json!({"kind": "garbage", "form": "wire", "hex": "ff".repeat(32)}));
    assert!(matches!(socket.0.read(), Err(Error::Protocol(_))));
}

#[test]
fn new_sockets_are_refused_in_three_ways() {
    let sim = quiet_venue();
    let mut old = listener(&sim);
    trouble(&sim, &json!({"kind": "refuse", "times": 1}));
    assert!(Socket::try_open(&sim).is_none());
    Socket::open(&sim).hears_nothing();
    trouble(&sim, &json!({"kind": "refuse", "how": "close"}));
    for _ in 0..3 {
        assert!(Socket::try_open(&sim).is_none());
    }
    trouble(&sim, &json!({"kind": "heal"}));
    trouble(&sim, &json!({"kind": "refuse", "how": "hang", "times": 1}));
    let mut hung = TcpStream::connect(sim.addr()).unwrap();
    let head = "GET /ws HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-key: \
                AAAAAAAAAAAAAAAAAAAAAA==\r\nsec-websocket-version: 13\r\n\r\n";
    hung.write_all(head.as_bytes()).unwrap();
    until(&sim, "it is refused", |feed| feed["troubles"] == json!([]));
    hung.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(hung.read(&mut [0]).is_err(), "neither an answer nor an end");
    old.hears_nothing();
}

#[test]
fn a_dropped_socket_misses_what_happens_and_hears_of_it_in_the_next_first_message() {
    let sim = quiet_venue();
    let socket = listener(&sim);
    trouble(&sim, &json!({"kind": "drop"}));
    assert_eq!(socket.end(), End::Cut);
    hold(&sim, "1");
    let mut again = Socket::open(&sim);
    again.follow("userEvents");
    again.follow("userFills");
    assert_eq!(again.hear_on("userFills")["fills"].as_array().unwrap().len(), 1);
    again.hears_nothing();
}

#[test]
fn troubles_are_bounded_and_say_what_they_want() {
    let sim = quiet_venue();
    for (members, text) in [
        (json!({"kind": "mute", "on": "webData2"}), "op 0: no feed `webData2`"),
        (json!({"kind": "lag"}), "op 0: missing `ms`"),
        (json!({"kind": "lose", "times": "2"}), "op 0: `times`: a whole number"),
        (json!({"kind": "garbage", "hex": "0"}), "op 0: `hex`: pairs of hexadecimal digits"),
        (json!({"kind": "refuse", "how": "rudely"}), "op 0: `how`: http, close or hang, not `rudely`"),
        (json!({}), "op 0: missing `kind`"),
    ] {
        let mut op = members;
        op["op"] = json!("feed");
        assert_eq!(sim.control(&op).unwrap_err(), text);
    }
    for _ in 0..64 {
        trouble(&sim, &json!({"kind": "mute"}));
    }
    let more = sim.control(&json!({"op": "feed", "kind": "mute"}));
    assert_eq!(more.unwrap_err(), "op 0: no more than 64 troubles at once");
    sim.control(&json!({"op": "clear"})).unwrap();
    assert_eq!(sim.truth()["feed"]["troubles"], json!([]));
}
