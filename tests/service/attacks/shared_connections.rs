//! No process without a client's key keeps a bot, a kill or a health check out, however many connections it opens, leaves
//! idle or breaks off.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tungstenite::{Message, WebSocket};

use crate::http::Connection;
use crate::signing::signed;
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::Ends;

/// Connections that are opened again and again, and the threads that do it.
const REOPENED: usize = 300;
const OPENERS: usize = 4;
/// WebSockets that say nothing, more than there are places.
const IDLE: usize = 150;
/// Orders, each on a connection of its own.
const ORDERS: usize = 300;
/// How often each opener waits, so that all together open about a thousand in a second.
const PAUSE: Duration = Duration::from_millis(4);

fn socket(to: SocketAddr) -> tungstenite::Result<WebSocket<TcpStream>> {
    let stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    let opened = tungstenite::client(format!("ws://{to}/exchange"), stream);
    opened.map(|(socket, _)| socket).map_err(|error| match error {
        tungstenite::HandshakeError::Failure(error) => error,
        tungstenite::HandshakeError::Interrupted(_) => tungstenite::Error::ConnectionClosed,
    })
}

/// Opens connections of which some are silent, some break off and some ask, each in place of the one before.
fn reopen(to: SocketAddr, over: &AtomicBool, opened: &AtomicUsize) {
    let starts: [&[u8]; 4] = [
        b"",
        b"POST /exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /guard/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    let mut held: Vec<Option<TcpStream>> = (0..REOPENED / OPENERS).map(|_| None).collect();
    let mut starts = starts.iter().cycle();
    while !over.load(Ordering::SeqCst) {
        for place in &mut held {
            *place = TcpStream::connect(to).ok();
            if let (Some(stream), Some(start)) = (place.as_mut(), starts.next()) {
                // A connection that is closed at once is opened again.
                let _ = stream.write_all(start);
            }
            opened.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(PAUSE);
        }
    }
}

#[test]
fn strangers_keep_nobody_out() {
    let stand = Stand::up(Mode::Paper, "");
    let idle: Vec<_> = (0..IDLE).map(|_| socket(stand.address()).ok()).collect();
    let (over, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut served, mut refused) = ([0, 0, 0], Vec::new());
    std::thread::scope(|scope| {
        let _ends = Ends(&over);
        for _ in 0..OPENERS {
            scope.spawn(|| reopen(stand.address(), &over, &opened));
        }
        until("a flood", || (opened.load(Ordering::SeqCst) > REOPENED).then_some(()));
        for number in 0..ORDERS {
            let body = signed(&stand.client, &json!({"type": "noop"})).to_string();
            let ask = |path: &str| match Connection::try_open(stand.address()) {
                Ok(mut connection) if path == "/exchange" => connection.post(path, &body),
                Ok(mut connection) => connection.exchange(&crate::http::bare("GET", path), true),
                Err(error) => Err(error),
            };
            let mut count = |which: usize, answer: std::io::Result<crate::http::Response>| match answer {
                Ok(answer) if answer.status == 200 => served[which] += 1,
                other => refused.push(format!("{other:?}")),
            };
            count(0, ask("/exchange"));
            if number % 10 == 0 {
                count(1, ask("/healthz"));
                let body = signed(&stand.client, &json!({"type": "noop"})).to_string();
                let upgraded = socket(stand.address()).and_then(|mut socket| {
                    socket.send(Message::text(body))?;
                    socket.read()
                });
                served[2] += usize::from(
                    upgraded.is_ok_and(|reply| reply.to_text().is_ok_and(|text| text.contains("\"guard\""))),
                );
            }
        }
        let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
        assert_eq!(done.status.code(), Some(0));
        let body = signed(&stand.client, &json!({"type": "guardKill", "reason": "again"}));
        assert_eq!(stand.post("/guard/kill", &body).status, 200);
    });
    drop(idle);
    let told = format!(
        "of {ORDERS} orders {}, of {} health checks {}, of as many WebSockets {} were served beside {} connections: {:?}",
        served[0],
        ORDERS / 10,
        served[1],
        served[2],
        opened.load(Ordering::SeqCst),
        refused.first()
    );
    println!("{told}");
    assert!(served[0] * 100 >= ORDERS * 99, "{told}");
    assert!(served[1] * 100 >= ORDERS / 10 * 99 && served[2] * 100 >= ORDERS / 10 * 99, "{told}");
}

#[test]
fn a_bots_socket_stays_and_strangers_sockets_give_way() {
    let stand = Stand::up(Mode::Paper, "");
    let mut bot = socket(stand.address()).unwrap();
    let mut ask = || {
        bot.send(Message::text(signed(&stand.client, &json!({"type": "noop"})).to_string())).unwrap();
        let reply: serde_json::Value = serde_json::from_str(bot.read().unwrap().to_text().unwrap()).unwrap();
        assert_eq!(reply["guard"]["code"], "allowed", "{reply}");
    };
    ask();
    let mut strangers: Vec<_> = (0..IDLE).map(|_| socket(stand.address()).unwrap()).collect();
    ask();
    // The oldest is told why it had to go.
    let Ok(Message::Close(Some(frame))) = strangers[0].read() else { panic!("the oldest was not closed") };
    assert_eq!(u16::from(frame.code), 1013, "{frame:?}");
    assert!(stand.get("/healthz").status == 200);
}

#[test]
fn a_handshake_or_question_that_means_nothing_is_refused() {
    let stand = Stand::up(Mode::Paper, "");
    let shake = |key: &str| {
        let mut stream = TcpStream::connect(stand.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        write!(
            stream,
            "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        )
        .unwrap();
        let mut start = [0; 12];
        stream.read_exact(&mut start).unwrap();
        String::from_utf8(start.to_vec()).unwrap()
    };
    assert_eq!(shake("dGhlIHNhbXBsZSBub25jZQ=="), "HTTP/1.1 101");
    for key in ["x", "", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25jZ!=="] {
        assert_eq!(shake(key), "HTTP/1.1 400", "{key:?}");
    }
    for query in ["since=1&since=2", "since=0&limit=1&limit=1"] {
        let response = stand.get(&format!("/guard/events?{query}"));
        assert_eq!((response.status, response.json()["code"].as_str()), (400, Some("bad_request")), "{query}");
    }
    assert_eq!(stand.get("/guard/decision?nonce=1&nonce=2").status, 400);
}

/// Memory of the service in KiB.
fn resident_kib(stand: &Stand) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", stand.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Events that are as long as a refusal may make them, and readers who ask for all and take nothing.
#[test]
fn readers_of_events_take_little_memory() {
    const READERS: usize = 60;
    const MOST_KIB: u64 = 64 * 1024;
    let stand = Stand::up(Mode::Paper, "");
    let order = json!({"a": 999, "b": true, "p": "1", "s": "1", "r": false, "t": {"limit": {"tif": "Gtc"}}});
    let long = json!({"type": "order", "orders": vec![order; 100], "grouping": "na"});
    let mut connection = stand.connect();
    for _ in 0..1_000 {
        let body = signed(&stand.client, &long).to_string();
        assert_eq!(connection.post("/exchange", &body).unwrap().status, 200);
    }
    let before = resident_kib(&stand);
    let most = AtomicUsize::new(0);
    for _ in 0..3 {
        let readers: Vec<TcpStream> = (0..READERS)
            .map(|_| {
                let mut stream = TcpStream::connect(stand.address()).unwrap();
                // One that is turned away already has taken nothing.
                let _ = stream.write_all(b"GET /guard/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
                stream
            })
            .collect();
        for _ in 0..20 {
            most.fetch_max(usize::try_from(resident_kib(&stand)).unwrap(), Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(readers);
    }
    let most = u64::try_from(most.into_inner()).unwrap();
    println!("{before} KiB before {READERS} readers, {most} KiB at most while they read");
    assert!(most < before + MOST_KIB, "{before} KiB before, {most} KiB at most");
}
