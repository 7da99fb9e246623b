//! The gate from outside, under clients of every kind.

mod house;

use std::io::{Read, Write};
use std::sync::atomic::AtomicUsize;

use crossbeam_channel::bounded;

use super::*;
use crate::service::http::types::Request;
use house::{handler, limits, open, open_with, read_all, read_one, refuse_upgrades};

const JSON_POST: &str = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

#[test]
fn requests_on_one_connection_are_answered_in_order_also_pipelined() {
    let house = open(limits());
    let mut stream = house.connect();
    for _ in 0..3 {
        let one = format!("POST /info?a=b {JSON_POST}Content-Length: 2\r\n\r\n{{}}");
        let two = "HEAD /healthz HTTP/1.1\r\nHost: [::1]\r\n\r\n";
        let three = format!("POST /exchange {JSON_POST}Content-Length: 4\r\n\r\nGET ");
        stream.write_all(format!("{one}{two}{three}").as_bytes()).unwrap();
        let (head, body) = read_one(&mut stream);
        assert!(
            head.starts_with("HTTP/1.1 200 OK\r\n") && head.contains("Content-Type: application/json\r\n"),
            "{head}"
        );
        assert!(
            !head.contains("Server:") && !head.contains("Access-Control") && !head.contains("Connection:"),
            "{head}"
        );
        assert_eq!(body, "POST /info a=b 2 None");
        let mut head_only = [0; 17];
        stream.read_exact(&mut head_only).unwrap();
        assert_eq!(&head_only, b"HTTP/1.1 200 OK\r\n");
        let mut rest = Vec::new();
        while !rest.ends_with(b"\r\n\r\n") {
            let mut byte = [0; 1];
            stream.read_exact(&mut byte).unwrap();
            rest.push(byte[0]);
        }
        assert!(String::from_utf8(rest).unwrap().contains("Content-Length: 20\r\n"));
        assert_eq!(read_one(&mut stream).1, "POST /exchange  4 None");
    }
}

#[test]
fn hostile_requests_are_answered_and_harm_nobody() {
    let house = open(limits());
    let get = |headers: &str| format!("GET /healthz HTTP/1.1\r\n{headers}\r\n").into_bytes();
    let post = |path: &str, headers: &str, body: &[u8]| {
        [format!("POST {path} {JSON_POST}{headers}\r\n").as_bytes(), body].concat()
    };
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("nothing", b"".to_vec(), ""),
        ("TLS", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), "400"),
        ("zeros", vec![0; 70_000], "400"),
        ("one endless line", vec![b'A'; 70_000], "431"),
        ("endless empty lines", b"\r\n".repeat(40_000), "431"),
        ("endless headers", [&b"GET / HTTP/1.1\r\n"[..], &b"X: y\r\n".repeat(9_000)].concat(), "431"),
        ("HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(), "400"),
        ("no host", get(""), "400"),
        ("another host", get("Host: evil.example\r\n"), "403"),
        ("unknown path", b"GET /guard/../etc HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), "404"),
        (
            "preflight",
            b"OPTIONS /exchange HTTP/1.1\r\nHost: localhost\r\nOrigin: http://e.example\r\n\r\n".to_vec(),
            "405",
        ),
        ("a page's post", post("/exchange", "Origin: http://e.example\r\nContent-Length: 2\r\n", b"{}"), "403"),
        ("huge length", post("/exchange", "Content-Length: 18446744073709551615\r\n", b"{}"), "413"),
        ("huger length", post("/info", "Content-Length: 99999999999999999999999\r\n", b"{}"), "413"),
        ("negative length", post("/exchange", "Content-Length: -5\r\n", b"{}"), "400"),
        ("two lengths", post("/exchange", "Content-Length: 2\r\nContent-Length: 3\r\n", b"{}"), "400"),
        (
            "two meanings",
            post("/exchange", "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"),
            "400",
        ),
        ("chunked", post("/exchange", "Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"), "411"),
        ("chunked", post("/info", "Transfer-Encoding: chunked\r\n", b"2\r\n{}\r\n0\r\n\r\n"), "411"),
        ("no length", post("/info", "", b"{}"), "411"),
        ("short body", post("/exchange", "Content-Length: 3\r\n", b"{}"), ""),
        ("another expectation", post("/exchange", "Expect: miracle\r\nContent-Length: 2\r\n", b"{}"), "417"),
        ("no WebSocket", get("Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), "200"),
    ];
    for (name, bytes, status) in table {
        let answer = house.ask(&bytes);
        assert_eq!(answer.split(' ').nth(1).unwrap_or_default(), status, "{name}: {answer:.300}");
        assert!(!answer.contains("Access-Control"), "{name}");
        let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        if status.starts_with('4') && !body.starts_with("POST") {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert!(body["code"].is_string() && body["msg"].is_string() && body["data"].is_null(), "{name}: {body}");
            assert_eq!(body.as_object().unwrap().len(), 3, "{name}: {body}");
        }
        assert!(house.healthy(), "{name}");
    }
    assert!(house.heard.is_empty());
}

#[test]
fn a_client_that_stops_halfway_is_told_and_holds_nobody() {
    let short = Duration::from_millis(100);
    let house = open(Limits { receive: short, linger: short, ..limits() });
    let halves = ["GET /heal", &format!("POST /exchange {JSON_POST}Content-Length: 100\r\n\r\n{{\"action\"")];
    let mut waiting: Vec<TcpStream> = halves
        .iter()
        .cycle()
        .take(20)
        .map(|half| {
            let mut stream = house.connect();
            stream.write_all(half.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert!(house.healthy());
    for stream in &mut waiting {
        assert!(read_all(stream).starts_with("HTTP/1.1 408 "));
    }
    let mut trickle = house.connect();
    trickle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ").unwrap();
    let mut sending = trickle.try_clone().unwrap();
    let drip = std::thread::spawn(move || {
        while sending.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    assert!(read_all(&mut trickle).starts_with("HTTP/1.1 408 "));
    drip.join().unwrap();
}

#[test]
fn an_exchange_request_that_cannot_be_judged_still_reaches_its_handler() {
    let house = open(limits());
    let body = vec![b' '; 1_000_000];
    let post = |headers: &str| {
        [format!("POST /exchange HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n").as_bytes(), &body].concat()
    };
    for (headers, status, seen) in [
        ("Content-Type: application/json\r\nContent-Length: 1000000\r\n", "413", "512 Some(TooLarge)"),
        ("Content-Type: text/plain\r\nContent-Length: 1000\r\nConnection: close\r\n", "415", "1000 Some(ContentType)"),
        ("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n", "411", "512 Some(NoLength)"),
        ("Content-Length: 1000000\r\n", "413", "512 Some(TooLarge)"),
    ] {
        let answer = house.ask(&post(headers));
        assert_eq!(answer.split(' ').nth(1), Some(status), "{headers}{answer:.300}");
        assert!(answer.ends_with(&format!("POST /exchange  {seen}")), "{headers}{answer:.300}");
    }
    // One that sends everything before it reads gets to send it, and then to read why.
    let mut eager = house.connect();
    eager.write_all(format!("POST /exchange {JSON_POST}Content-Length: 10000000\r\n\r\n").as_bytes()).unwrap();
    eager.write_all(&vec![b' '; 10_000_000]).unwrap();
    assert!(read_one(&mut eager).0.starts_with("HTTP/1.1 413 "));
}

#[test]
fn a_body_in_chunks_is_refused_at_its_end() {
    let house = open(Limits { receive: Duration::from_secs(600), ..limits() });
    let mut stream = house.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!("POST /exchange {JSON_POST}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(format!("{head}2\r\n{{}}\r\n0\r\n\r\n").as_bytes()).unwrap();
    assert!(read_one(&mut stream).0.starts_with("HTTP/1.1 411 "));
}

#[test]
fn a_client_that_waits_to_be_asked_for_its_body_is_asked() {
    let house = open(limits());
    let mut stream = house.connect();
    stream
        .write_all(format!("POST /info {JSON_POST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n").as_bytes())
        .unwrap();
    assert_eq!(read_one(&mut stream).0, "HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"{}").unwrap();
    assert_eq!(read_one(&mut stream).1, "POST /info  2 None");
    stream
        .write_all(
            format!("POST /exchange {JSON_POST}Expect: 100-continue\r\nContent-Length: 262145\r\n\r\n").as_bytes(),
        )
        .unwrap();
    let (head, body) = read_one(&mut stream);
    assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
    assert_eq!(body, "POST /exchange  0 Some(TooLarge)");
}

#[test]
fn hoarded_connections_leave_the_last_places_to_guests() {
    let house = open(Limits { connections: 6, guests: 2, guest: Duration::from_millis(200), ..limits() });
    let ask = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut hoard: Vec<TcpStream> = (0..4).map(|_| house.connect()).collect();
    for stream in &mut hoard {
        stream.write_all(ask).unwrap();
        assert!(!read_one(stream).0.contains("Connection: close"));
    }
    for _ in 0..10 {
        let mut guest = house.connect();
        guest.write_all(ask).unwrap();
        assert!(read_all(&mut guest).contains("\r\nConnection: close\r\n"));
    }
    // Guests that send nothing go by themselves; until then the next one is turned away with a reason.
    let silent: Vec<TcpStream> = (0..2).map(|_| house.connect()).collect();
    let mut refused = 0;
    while !house.healthy() {
        refused += 1;
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(refused > 0);
    drop(silent);
    for stream in &mut hoard {
        stream.write_all(ask).unwrap();
        assert!(read_one(stream).0.starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn a_full_gate_says_busy() {
    let house = open(Limits { connections: 1, guests: 0, ..limits() });
    let mut only = house.connect();
    only.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    read_one(&mut only);
    assert!(read_all(&mut house.connect()).starts_with("HTTP/1.1 503 "));
}

#[test]
fn clients_that_do_not_read_hold_no_worker_and_little_memory() {
    let long = |request: Request| {
        let bytes = match request.query.as_str() {
            "small" => pipes::SMALL_ANSWER,
            "large" => 8 * 1024 * 1024,
            _ => 2,
        };
        Response::json(200, vec![b' '; bytes])
    };
    let house = open_with(limits(), 1, &handler(long), refuse_upgrades());
    let unread = |kind: &str| {
        let mut stream = house.connect();
        stream.write_all(format!("GET /guard/events?{kind} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..10).map(|_| unread("small")).collect();
    assert!(house.healthy());
    held.extend((0..pipes::LARGE_ANSWERS).map(|_| {
        let mut stream = unread("large");
        stream.read_exact(&mut [0; 9]).unwrap();
        stream
    }));
    let mut over = unread("large");
    assert!(read_one(&mut over).0.starts_with("HTTP/1.1 503 "));
    assert!(house.healthy());
    let mut last = held.pop().unwrap();
    assert_eq!(read_one(&mut last).1.len(), 8 * 1024 * 1024);
    let mut again = unread("large");
    assert_eq!(read_one(&mut again).1.len(), 8 * 1024 * 1024);
}

#[test]
fn many_requests_are_at_work_at_once() {
    const MANY: usize = 40;
    let (arrive, arrived) = bounded(MANY);
    let (release, released) = bounded::<()>(MANY);
    let together = move |_: Request| {
        arrive.send(()).unwrap();
        released.recv().unwrap();
        Response::json(200, Vec::new())
    };
    let house = open_with(limits(), MANY, &handler(together), refuse_upgrades());
    let mut streams: Vec<TcpStream> = (0..MANY).map(|_| house.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    }
    for number in 0..MANY {
        assert!(arrived.recv_timeout(Duration::from_secs(20)).is_ok(), "only {number} are at work");
    }
    (0..MANY).for_each(|_| release.send(()).unwrap());
    for stream in &mut streams {
        assert!(read_one(stream).0.starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn a_late_answer_goes_to_nobody() {
    let (release, gate_closed) = bounded::<()>(0);
    let slow = move |request: Request| {
        if request.query == "slow" {
            let _ = gate_closed.recv();
        }
        Response::json(200, request.query.into_bytes())
    };
    let house =
        open_with(Limits { answer: Duration::from_millis(100), ..limits() }, 2, &handler(slow), refuse_upgrades());
    let late = house.ask(b"GET /guard/status?slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(late.starts_with("HTTP/1.1 504 ") && late.contains("may have been judged"), "{late}");
    release.send(()).unwrap();
    for number in 0..20 {
        let ask = format!("GET /guard/status?{number} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert!(house.ask(ask.as_bytes()).ends_with(&format!("\r\n\r\n{number}")));
    }
}

#[test]
fn lost_workers_are_the_gates_death() {
    let mut house = open(limits());
    house.workers.take().unwrap().stop();
    assert!(house.ask(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 503 "));
    assert_eq!(house.heard.recv().unwrap().thread, "gate");
}

#[test]
fn a_stop_lets_the_request_at_work_finish_and_no_other_begin() {
    let (started, starts) = bounded(0);
    let (release, released) = bounded::<()>(0);
    let slow = move |request: Request| {
        if request.query == "slow" {
            started.send(()).unwrap();
            released.recv().unwrap();
        }
        Response::json(200, Vec::new())
    };
    let mut house = open_with(limits(), 2, &handler(slow), refuse_upgrades());
    let gate = house.gate.take().unwrap();
    let mut at_work = house.connect();
    let mut halfway = house.connect();
    let mut idle = house.connect();
    at_work.write_all(b"GET /guard/status?slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    halfway.write_all(b"GET /guard/status HTTP/1.1\r\nHo").unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    read_one(&mut idle);
    starts.recv().unwrap();
    let stop = std::thread::spawn(move || gate.stop(Duration::from_secs(60)));
    assert_eq!(read_all(&mut idle), "");
    assert!(read_all(&mut halfway).starts_with("HTTP/1.1 503 "));
    release.send(()).unwrap();
    assert!(stop.join().unwrap());
    assert!(read_one(&mut at_work).0.starts_with("HTTP/1.1 200 "));
    assert!(TcpStream::connect(house.address).is_err());
}

#[test]
fn a_stop_gives_up_on_what_does_not_end() {
    let (started, starts) = bounded(1);
    let (release, released) = bounded::<()>(1);
    let stuck = move |_: Request| {
        started.send(()).unwrap();
        released.recv().unwrap();
        Response::json(200, Vec::new())
    };
    let mut house = open_with(limits(), 1, &handler(stuck), refuse_upgrades());
    let mut stream = house.connect();
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    starts.recv().unwrap();
    assert!(!house.gate.take().unwrap().stop(Duration::from_millis(50)));
    release.send(()).unwrap();
}

#[test]
fn accept_errors_are_survived() {
    let house = open(limits());
    let shared = Arc::clone(&house.gate.as_ref().unwrap().shared);
    let calls = AtomicUsize::new(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let next = || match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Err(std::io::Error::from(nix::errno::Errno::EMFILE)),
        1 => Err(std::io::Error::from(nix::errno::Errno::ECONNABORTED)),
        2 => listener.accept().map(|(stream, _)| Some(stream)),
        _ => {
            assert!(read_all(&mut client.try_clone().unwrap()).starts_with("HTTP/1.1 200 "));
            shared.stopping.store(true, Ordering::SeqCst);
            Ok(None)
        }
    };
    assert_eq!(accept_all(&shared, next), Ok(()));
}

#[test]
fn upgrades_go_to_their_service_and_never_take_a_guests_place() {
    let echo = |upgrade: Upgrade| {
        let path = upgrade.path.clone();
        let (mut socket, slot) = upgrade.accept(tungstenite::protocol::WebSocketConfig::default()).unwrap();
        socket.get_mut().set_read_timeout(None).unwrap();
        socket.send(tungstenite::Message::text(path)).unwrap();
        while let Ok(message) = socket.read() {
            if message.is_text() {
                socket.send(message).unwrap();
            }
        }
        drop(slot);
    };
    let describe = |_: Request| Response::json(200, Vec::new());
    let small = Limits { connections: 4, guests: 3, ..limits() };
    let house = open_with(small, 1, &handler(describe), Arc::new(echo));
    let url = format!("ws://{}/exchange", house.address);
    let (mut socket, _) = tungstenite::client::client(&url, house.connect()).unwrap();
    assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), "/exchange");
    socket.send(tungstenite::Message::text("{}")).unwrap();
    assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), "{}");
    let Err(error) = tungstenite::client::client(&url, house.connect()) else { panic!("a guest was upgraded") };
    assert!(error.to_string().contains("503"), "{error}");
    assert!(house.healthy());
    drop(socket);
    let foreign = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://e.example\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    assert!(house.ask(foreign.as_bytes()).starts_with("HTTP/1.1 403 "));
}

#[test]
fn without_a_service_an_upgrade_is_refused_in_plain_http() {
    let house = open(limits());
    let url = format!("ws://{}/ws", house.address);
    let Err(error) = tungstenite::client::client(&url, house.connect()) else { panic!("upgraded") };
    assert!(error.to_string().contains("501"), "{error}");
}
