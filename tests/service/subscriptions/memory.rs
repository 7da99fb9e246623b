//! Connections on which nobody signed, and what they can have the service keep: messages that never end, frames and answers
//! that nobody takes. All of it together has a bound.

use std::fs;
use std::io::Write;
use std::sync::Barrier;

use nix::sys::socket::{setsockopt, sockopt::RcvBuf};

use super::*;
use crate::signing::{limit, place, signed};

/// By how much memory grows, at most, KiB: what may be held, twice.
const MOST: u64 = 32 * 1024;

/// The most memory that the service ever had, KiB, more than before.
fn grown(stand: &Stand, before: u64) -> u64 {
    peak(stand).saturating_sub(before)
}

/// The most memory that the service ever had, KiB.
fn peak(stand: &Stand) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", stand.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The first part of a message, without a mask that changes it, and nothing after.
fn begun(length: usize) -> Vec<u8> {
    let mut bytes = vec![0x01, 0x80 | 127];
    bytes.extend(u64::try_from(length).unwrap().to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(vec![b'x'; length]);
    bytes
}

/// Says something that may be refused midway.
fn send(stream: &mut TcpStream, bytes: &[u8]) {
    stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    // It may be closed by now, which is the point.
    let _ = stream.write_all(bytes);
}

#[test]
fn messages_that_never_end_cost_a_bounded_memory() {
    let stand = stand();
    // A client that signed and is in the middle of a message keeps it.
    let mut bot = Subscriber::at_guard(&stand);
    let order = signed(&stand.client, &place(&limit(crate::signing::BTC, true, "59000", "0.001")));
    let post =
        |id: u64| json!({"method": "post", "id": id, "request": {"type": "action", "payload": order}}).to_string();
    bot.say(&post(1));
    bot.hear_on("post");
    send(bot.socket.get_mut(), &begun(200_000));
    let before = peak(&stand);
    let mut kept = Vec::new();
    for _ in 0..140 {
        let mut client = Subscriber::at_guard(&stand);
        send(client.socket.get_mut(), &begun(255 * 1024));
        kept.push(client.socket);
    }
    let mut bodies = Vec::new();
    for _ in 0..140 {
        let mut stream = TcpStream::connect(stand.address()).unwrap();
        let head = format!(
            "POST /exchange HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 262144\r\n\r\n",
            stand.address()
        );
        send(&mut stream, &[head.into_bytes(), vec![b'x'; 262_000]].concat());
        bodies.push(stream);
    }
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
    // The rest of the bot's message: what it says is no request, and it is told so.
    send(bot.socket.get_mut(), &[0x80, 0x80, 0, 0, 0, 0]);
    bot.hear_on("error");
    let mut other = Subscriber::at_guard(&stand);
    other.say(r#"{"method":"ping"}"#);
    other.hear_on("pong");
    // Who gave way is told so where it reads on.
    let codes = kept.iter_mut().filter_map(|socket| {
        loop {
            match socket.read() {
                Ok(Message::Close(close)) => break close.map(|close| close.code),
                Ok(_) => {}
                Err(_) => break None,
            }
        }
    });
    assert!(codes.take(1).all(|code| code == tungstenite::protocol::frame::coding::CloseCode::Again));
}

/// The client's address with its letters in the cases that a number says: each way to write it is a text of its own.
fn spelling(stand: &Stand, number: u32) -> String {
    let mut letters = 0;
    let digits = stand.client.address().to_string();
    let spelled = digits.trim_start_matches("0x").chars().map(|digit| {
        letters += u32::from(digit.is_ascii_alphabetic());
        let is_upper = digit.is_ascii_alphabetic() && letters < 32 && number >> letters & 1 == 1;
        if is_upper { digit.to_ascii_uppercase() } else { digit }
    });
    format!("0x{}", spelled.collect::<String>())
}

/// A frame of the account's fills that is as long as a market's may be.
fn long_fills(number: usize) -> String {
    let padding = "x".repeat(800_000);
    json!({"channel": "userFills", "data": {"user": ACCOUNT, "n": number, "fills": [], "padding": padding}}).to_string()
}

#[test]
fn frames_that_nobody_takes_cost_a_bounded_memory() {
    let stand = stand();
    let mut reader = Subscriber::at_guard(&stand);
    reader.subscribed(&of_account("userFills"));
    let mut deaf = Vec::new();
    for number in 0..80 {
        let mut client = Subscriber::at_guard(&stand);
        client.subscribed(&json!({"type": "userFills", "user": spelling(&stand, number)}));
        setsockopt(client.socket.get_ref(), RcvBuf, &8_192).unwrap();
        deaf.push(client);
    }
    let before = peak(&stand);
    for number in 0..12 {
        trouble(&stand, json!({"kind": "garbage", "text": long_fills(number), "on": "userFills"}));
        while !reader.hear_on("userFills").contains(&format!("\"n\":{number},")) {}
    }
    until("somebody who takes nothing to be sent away", || (count(&stand, "slow") > 0).then_some(()));
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
    fill(&stand, "0.25");
    while !reader.hear_on("userFills").contains("\"0.25\"") {}
    drop(deaf);
}

#[test]
fn answers_that_nobody_takes_cost_a_bounded_memory() {
    let stand = stand();
    // An answer of some hundred bytes each, which is given again without asking the venue.
    let orders = (0..300).map(|n| limit(crate::signing::BTC, true, &(55_000 + n).to_string(), "0.0003"));
    stand.venue.control(&json!({"op": "order", "order": orders.collect::<Vec<_>>()})).unwrap();
    let asked = json!({"type": "info", "payload": {"type": "frontendOpenOrders", "user": ACCOUNT}});
    let posts: Vec<String> =
        (0..60).map(|id| json!({"method": "post", "id": id, "request": asked}).to_string()).collect();
    let mut deaf: Vec<Subscriber> = (0..100).map(|_| Subscriber::at_guard(&stand)).collect();
    let before = peak(&stand);
    std::thread::scope(|scope| {
        for some in deaf.chunks_mut(10) {
            let posts = &posts;
            scope.spawn(move || {
                for client in some {
                    setsockopt(client.socket.get_ref(), RcvBuf, &8_192).unwrap();
                    client.socket.get_mut().set_write_timeout(Some(Duration::from_secs(1))).unwrap();
                    // It may be closed by now.
                    posts.iter().for_each(|post| drop(client.socket.write(Message::text(post.clone()))));
                    let _ = client.socket.flush();
                }
            });
        }
    });
    let mut other = Subscriber::at_guard(&stand);
    other.say(r#"{"method":"ping"}"#);
    other.hear_on("pong");
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
}

/// A list that fills what is left of the longest message: read as values it would take seventy times its length.
fn long_list() -> String {
    format!("[{}]", vec!["0"; 120_000].join(","))
}

/// What is answered to a long text, unless another's took the room for what has not come in whole.
fn heard(client: &mut Subscriber, text: &str) -> Option<String> {
    client.socket.send(Message::text(text)).ok()?;
    match client.socket.read().ok()? {
        Message::Text(answer) => Some(answer.to_string()),
        _ => None,
    }
}

/// What connections say, each four times, and what each of them hears: how often this.
fn heard_by_many(stand: &Stand, text: &str, expected: &str) -> usize {
    std::thread::scope(|scope| {
        let said = (0..12).map(|_| {
            scope.spawn(|| {
                let mut client = Subscriber::at_guard(stand);
                (0..4).filter(|_| heard(&mut client, text).is_some_and(|answer| answer.contains(expected))).count()
            })
        });
        let said: Vec<_> = said.collect();
        said.into_iter().map(|heard| heard.join().unwrap()).sum()
    })
}

/// A state of one coin, as long as one may be.
fn long_bbo(coin: &str) -> String {
    let padding = "x".repeat(2_000_000);
    json!({"channel": "bbo", "data": {"coin": coin, "time": 1, "bbo": [null, null], "padding": padding}}).to_string()
}

/// More is told than is kept for who comes late. What is kept makes nobody slow who reads.
#[test]
fn long_states_cost_a_bounded_memory_and_no_reader_its_connection() {
    const COINS: [&str; 7] = ["BTC", "ETH", "SOL", "DOGE", "XRP", "HYPE", "VVV"];
    let stand = stand();
    let (mut reader, before) = (Subscriber::at_guard(&stand), peak(&stand));
    for coin in COINS {
        reader.subscribed(&of_coin("bbo", coin));
    }
    for coin in COINS {
        trouble(&stand, json!({"kind": "garbage", "on": "bbo", "coin": coin, "text": long_bbo(coin)}));
        while !reader.hear_on("bbo").contains("padding") {}
    }
    let mut late = Subscriber::at_guard(&stand);
    COINS.iter().for_each(|coin| late.subscribe(&of_coin("bbo", coin)));
    let mut firsts = BTreeMap::new();
    while firsts.len() < COINS.len() {
        let frame = late.hear_on("bbo");
        firsts.insert(value(&frame)["data"]["coin"].to_string(), frame.len());
    }
    assert!(firsts.values().any(|length| *length > 2_000_000), "some are kept: {firsts:?}");
    assert_eq!(count(&stand, "slow"), 0);
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
}

/// As much as a request may be, none of it signed, from many connections at once: it is read one after another.
#[test]
fn long_requests_that_nobody_signed_cost_a_bounded_memory() {
    const CONNECTIONS: usize = 40;
    let stand = stand();
    let before = peak(&stand);
    let members: Vec<String> = (0..60).map(|member| format!(r#""k{member}":0"#)).collect();
    let orders = vec![format!("[{{{}}}]", members.join(",")); 400].join(",");
    let signature = r#"{"r":"0x1","s":"0x1","v":27}"#;
    let action = format!(r#"{{"action":{{"type":"order","orders":[{orders}]}},"nonce":1,"signature":{signature}}}"#);
    let post = format!(r#"{{"method":"post","id":1,"request":{{"type":"action","payload":{action}}}}}"#);
    let all_are_there = Barrier::new(CONNECTIONS);
    std::thread::scope(|scope| {
        for number in 0..CONNECTIONS {
            let (stand, post, action, all_are_there) = (&stand, &post, &action, &all_are_there);
            scope.spawn(move || {
                let mut client = Subscriber::at_guard(stand);
                all_are_there.wait();
                for _ in 0..3 {
                    match number % 4 {
                        0 => drop(stand.post("/exchange", &value(action))),
                        _ => drop(heard(&mut client, post)),
                    }
                }
            });
        }
    });
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
    let mut other = Subscriber::at_guard(&stand);
    other.say(r#"{"method":"ping"}"#);
    other.hear_on("pong");
}

#[test]
fn long_lists_that_nobody_reads_cost_a_bounded_memory() {
    let stand = stand();
    let mut reader = Subscriber::at_guard(&stand);
    reader.subscribed(&of_account("userFills"));
    let before = peak(&stand);
    let list = long_list();
    let post = |kind: &str, payload: String| {
        format!(r#"{{"method":"post","id":1,"request":{{"type":"{kind}","payload":{payload}}}}}"#)
    };
    let signature = r#"{"r":"0x1","s":"0x1","v":27}"#;
    for (text, expected) in [
        (
            format!(r#"{{"method":"subscribe","subscription":{{"type":"allMids","x":{list}}}}}"#),
            "Error parsing JSON into valid websocket request: ",
        ),
        (post("info", format!(r#"{{"type":"meta","x":{list}}}"#)), "bytes; at most 4096 are read"),
    ] {
        assert_eq!(heard_by_many(&stand, &text, expected), 48, "{expected}");
    }
    // These are let through one after another, or turned away.
    let action = format!(r#"{{"action":{{"type":"order","orders":{list}}},"nonce":1,"signature":{signature}}}"#);
    let refused = heard_by_many(&stand, &post("action", action.clone()), "more than 1024 items");
    assert!((1..=48).contains(&refused), "{refused}");
    let kill = stand.post("/guard/kill", &value(&action));
    assert!(kill.status == 422 && kill.body.contains("a kill has "), "{}", kill.body);
    let question = stand.post("/info", &value(&format!(r#"{{"type":"meta","x":{list}}}"#)));
    assert!(question.status == 400 && question.body.contains("at most 4096 are read"), "{}", question.body);
    assert!(grown(&stand, before) <= MOST, "{} KiB", grown(&stand, before));
    fill(&stand, "0.25");
    while !reader.hear_on("userFills").contains("\"0.25\"") {}
}
