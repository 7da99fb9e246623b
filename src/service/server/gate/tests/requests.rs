//! Requests of every kind: whole, hostile, halfway, and handshakes of WebSockets.

use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

use super::super::upgrade::Upgrade;
use super::test_server::{handler, limits, open, open_with, read_one};
use crate::service::server::gate::Limits;
use crate::service::server::types::{Request, Response};

const JSON_POST: &str = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

#[test]
fn requests_on_one_connection_are_answered_in_order_also_pipelined() {
    let server = open(limits());
    let mut stream = server.connect();
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
    let server = open(limits());
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
        (
            "a WebSocket without a key that is one",
            get(
                "Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n",
            ),
            "400",
        ),
        ("no WebSocket", get("Host: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"), "200"),
    ];
    for (name, bytes, status) in table {
        let answer = server.ask(&bytes);
        assert_eq!(answer.split(' ').nth(1).unwrap_or_default(), status, "{name}: {answer:.300}");
        assert!(!answer.contains("Access-Control"), "{name}");
        let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
        if status.starts_with('4') && !body.starts_with("POST") {
            let body: serde_json::Value = serde_json::from_str(body).unwrap();
            assert!(body["code"].is_string() && body["msg"].is_string() && body["data"].is_null(), "{name}: {body}");
            assert_eq!(body.as_object().unwrap().len(), 3, "{name}: {body}");
        }
        assert!(server.serves(), "{name}");
    }
    assert!(server.heard.is_empty());
}

#[test]
fn an_exchange_request_that_cannot_be_judged_still_reaches_its_handler() {
    let server = open(limits());
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
        let answer = server.ask(&post(headers));
        assert_eq!(answer.split(' ').nth(1), Some(status), "{headers}{answer:.300}");
        assert!(answer.ends_with(&format!("POST /exchange  {seen}")), "{headers}{answer:.300}");
    }
    // One that sends everything before it reads gets to send it, and then to read why.
    let mut eager = server.connect();
    eager.write_all(format!("POST /exchange {JSON_POST}Content-Length: 10000000\r\n\r\n").as_bytes()).unwrap();
    eager.write_all(&vec![b' '; 10_000_000]).unwrap();
    assert!(read_one(&mut eager).0.starts_with("HTTP/1.1 413 "));
}

#[test]
fn a_body_in_chunks_is_refused_at_its_end() {
    let server = open(Limits { receive: Duration::from_secs(600), ..limits() });
    let mut stream = server.connect();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let head = format!("POST /exchange {JSON_POST}Transfer-Encoding: chunked\r\n\r\n");
    stream.write_all(format!("{head}2\r\n{{}}\r\n0\r\n\r\n").as_bytes()).unwrap();
    assert!(read_one(&mut stream).0.starts_with("HTTP/1.1 411 "));
}

#[test]
fn a_client_that_waits_to_be_asked_for_its_body_is_asked() {
    let server = open(limits());
    let mut stream = server.connect();
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
fn upgrades_go_to_their_service_and_give_way_as_others_do() {
    let echo = |upgrade: Upgrade| {
        let path = upgrade.path.clone();
        let (mut socket, slot) =
            upgrade.accept(tungstenite::protocol::WebSocketConfig::default(), |stream, _| stream).unwrap();
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
    let small = Limits { connections: 2, ..limits() };
    let server = open_with(small, 1, &handler(describe), Arc::new(echo));
    let url = format!("ws://{}/exchange", server.address);
    let (mut socket, _) = tungstenite::client::client(&url, server.connect()).unwrap();
    assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), "/exchange");
    socket.send(tungstenite::Message::text("{}")).unwrap();
    assert_eq!(socket.read().unwrap().into_text().unwrap().as_str(), "{}");
    for _ in 0..3 {
        let (mut other, _) = tungstenite::client::client(&url, server.connect()).unwrap();
        assert_eq!(other.read().unwrap().into_text().unwrap().as_str(), "/exchange");
        assert!(server.serves());
    }
    assert!(socket.read().is_err());
    let foreign = "GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://e.example\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    assert!(server.ask(foreign.as_bytes()).starts_with("HTTP/1.1 403 "));
}

#[test]
fn an_upgrade_that_is_dropped_closes() {
    let server = open(limits());
    let url = format!("ws://{}/ws", server.address);
    assert!(tungstenite::client::client(&url, server.connect()).is_err());
    assert!(server.serves());
}
