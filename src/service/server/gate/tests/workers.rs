//! The road to the workers, the one past them, and the shutdown.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use crossbeam_channel::bounded;

use super::super::limits::Limits;
use super::test_server::{handler, limits, no_upgrades, open, open_with, read_all, read_head, read_one};
use crate::service::server::types::{Request, Response};

#[test]
fn a_late_answer_goes_to_nobody() {
    let (release, gate_closed) = bounded::<()>(0);
    let slow = move |request: Request| {
        if request.query == "slow" {
            let _ = gate_closed.recv();
        }
        Response::json(200, request.query.into_bytes())
    };
    let server = open_with(Limits { answer: Duration::from_millis(100), ..limits() }, 2, &handler(slow), no_upgrades());
    let late = server.ask(b"GET /guard/status?slow HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(late.starts_with("HTTP/1.1 504 ") && late.contains("may have been judged"), "{late}");
    release.send(()).unwrap();
    for number in 0..20 {
        let ask = format!("GET /guard/status?{number} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        // On a busy machine an answer may be late as well: then it is asked again, and has to be its own.
        let answer = std::iter::repeat_with(|| server.ask(ask.as_bytes()))
            .take(100)
            .find(|answer| !answer.starts_with("HTTP/1.1 504 "));
        let answer = answer.expect("one of a hundred answers is in time");
        assert!(answer.ends_with(&format!("\r\n\r\n{number}")), "{number}: {answer}");
    }
}

/// Where the disk of the workers' socket hangs, its name leads nowhere: here it is gone.
#[test]
fn what_was_opened_ahead_needs_no_name() {
    let server = open(limits());
    server.gate.as_ref().unwrap().open_ahead();
    std::fs::remove_file(server.folder.path().join("http.sock")).unwrap();
    for _ in 0..100 {
        let answer = server.ask(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    assert!(server.heard.is_empty());
}

#[test]
fn lost_workers_are_the_gates_death() {
    let mut server = open(limits());
    server.workers.take().unwrap().shut_down();
    assert!(server.ask(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\n\r\n").starts_with("HTTP/1.1 503 "));
    assert_eq!(server.heard.recv().unwrap().thread, "gate");
}

#[test]
fn a_shutdown_lets_the_request_at_work_finish_and_no_other_begin() {
    let (started, starts) = bounded(0);
    let (release, released) = bounded::<()>(0);
    let slow = move |request: Request| {
        if request.query == "slow" {
            started.send(()).unwrap();
            released.recv().unwrap();
        }
        Response::json(200, Vec::new())
    };
    let mut server = open_with(limits(), 2, &handler(slow), no_upgrades());
    let gate = server.gate.take().unwrap();
    let mut at_work = server.connect();
    let mut halfway = server.connect();
    let mut idle = server.connect();
    at_work.write_all(b"GET /guard/status?slow HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    halfway.write_all(b"GET /guard/status HTTP/1.1\r\nHo").unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    read_one(&mut idle);
    starts.recv().unwrap();
    let shutdown = std::thread::spawn(move || gate.shut_down(Duration::from_secs(60)));
    assert_eq!(read_all(&mut idle), "");
    assert!(read_all(&mut halfway).starts_with("HTTP/1.1 503 "));
    release.send(()).unwrap();
    assert!(shutdown.join().unwrap());
    assert!(read_one(&mut at_work).0.starts_with("HTTP/1.1 200 "));
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn a_shutdown_gives_up_on_what_does_not_end() {
    let (started, starts) = bounded(1);
    let (release, released) = bounded::<()>(1);
    let stuck = move |_: Request| {
        started.send(()).unwrap();
        released.recv().unwrap();
        Response::json(200, Vec::new())
    };
    let mut server = open_with(limits(), 1, &handler(stuck), no_upgrades());
    let mut stream = server.connect();
    stream.write_all(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    starts.recv().unwrap();
    assert!(!server.gate.take().unwrap().shut_down(Duration::from_millis(50)));
    release.send(()).unwrap();
}

/// What protects the account must not wait for pages and reads.
#[test]
fn kills_and_health_checks_are_answered_while_every_worker_is_stuck() {
    const WORKERS: usize = 2;
    let (started, starts) = bounded(WORKERS);
    let (release, released) = bounded::<()>(WORKERS);
    let stuck = move |request: Request| {
        if request.path == "/guard/status" {
            started.send(()).unwrap();
            released.recv().unwrap();
        }
        Response::json(200, request.path.into_bytes())
    };
    let server = open_with(limits(), WORKERS, &handler(stuck), no_upgrades());
    // Dropped before the server where this fails, so that its workers end.
    let release = release;
    let mut waiting: Vec<TcpStream> = (0..WORKERS).map(|_| server.connect()).collect();
    for stream in &mut waiting {
        stream.write_all(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        starts.recv().unwrap();
    }
    let headers = "Host: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    let mut client = server.connect();
    for (ask, path) in [("POST /guard/kill", "/guard/kill"), ("POST /exchange", "/exchange")] {
        client.write_all(format!("{ask} HTTP/1.1\r\n{headers}").as_bytes()).unwrap();
        assert_eq!(read_one(&mut client).1, path);
    }
    client.write_all(b"GET /healthz?x HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    assert_eq!(read_one(&mut client).1, "/healthz");
    (0..WORKERS).for_each(|_| release.send(()).unwrap());
    for stream in &mut waiting {
        assert_eq!(read_one(stream).1, "/guard/status");
    }
}

/// A client cannot tell which road its answer took.
#[test]
fn an_answer_of_the_connections_own_thread_has_the_headers_of_a_workers() {
    let plain = |_: Request| Response::json(503, b"{}".to_vec()).with_header("Retry-After", "1".to_owned());
    let server = open_with(limits(), 1, &handler(plain), no_upgrades());
    let mut client = server.connect();
    let mut head = |request: &str, has_body: bool| {
        client.write_all(format!("{request} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        let head = if has_body { read_one(&mut client).0 } else { read_head(&mut client) };
        let (before, date) = head.split_once("Date: ").unwrap();
        let (date, after) = date.split_once("\r\n").unwrap();
        assert!(date.ends_with(" GMT") && date.len() == "Sun, 06 Nov 1994 08:49:37 GMT".len(), "{head}");
        format!("{before}{after}")
    };
    let workers = head("GET /guard/status", true);
    assert_eq!(head("GET /healthz", true), workers);
    assert_eq!(head("HEAD /healthz", false), workers);
    assert_eq!(head("HEAD /guard/status", false), workers);
}
