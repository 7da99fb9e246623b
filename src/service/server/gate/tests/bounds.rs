//! Connections that are hoarded, silent or slow hold up nobody else.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crossbeam_channel::bounded;

use super::super::answer::{LARGE_ANSWERS, SMALL_ANSWER};
use super::super::limits::Limits;
use super::super::listener::accept_all;
use super::test_server::{handler, limits, no_upgrades, open, open_with, read_all, read_one};
use crate::service::server::types::{Request, Response};

const JSON_POST: &str = "HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";

#[test]
fn a_client_that_stops_halfway_is_told_and_holds_nobody() {
    let short = Duration::from_millis(100);
    let server = open(Limits { receive: short, linger: short, ..limits() });
    let halves = ["GET /heal", &format!("POST /exchange {JSON_POST}Content-Length: 100\r\n\r\n{{\"action\"")];
    let mut waiting: Vec<TcpStream> = halves
        .iter()
        .cycle()
        .take(20)
        .map(|half| {
            let mut stream = server.connect();
            stream.write_all(half.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert!(server.serves());
    for stream in &mut waiting {
        assert!(read_all(stream).starts_with("HTTP/1.1 408 "));
    }
    let mut trickle = server.connect();
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

const ASK: &[u8] = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const SIGN: &[u8] = b"GET /healthz?signed HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn hoarded_connections_give_way_and_a_clients_stays() {
    let server = open(Limits { connections: 4, asking: 2, signed: 2, ..limits() });
    let mut client = server.connect();
    client.write_all(SIGN).unwrap();
    read_one(&mut client);
    let mut hoard: Vec<TcpStream> = (0..20).map(|_| server.connect()).collect();
    for stream in &mut hoard {
        stream.write_all(ASK).unwrap();
        assert!(read_one(stream).0.starts_with("HTTP/1.1 200 "));
    }
    assert!(server.serves());
    // Idle, and nobody's: told nothing. Which of the last ones stay is open, since a thread may be slow to say that it is idle.
    hoard.iter().for_each(|stream| stream.set_nonblocking(true).unwrap());
    let is_over = |stream: &&TcpStream| matches!(stream.peek(&mut [0]), Ok(0));
    while hoard.iter().filter(is_over).count() < 17 {
        std::thread::sleep(Duration::from_millis(1));
    }
    client.write_all(SIGN).unwrap();
    assert!(read_one(&mut client).0.starts_with("HTTP/1.1 200 "));
}

#[test]
fn who_gives_way_with_half_a_request_is_told() {
    let server = open(Limits { connections: 1, ..limits() });
    let mut half = server.connect();
    half.write_all(b"GET /heal").unwrap();
    // Until the half has the place, there is nobody to give way.
    while server.gate.as_ref().unwrap().context.setup.slots.taken().0 == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(server.serves());
    let told = read_all(&mut half);
    assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("too many connections"), "{told}");
}

#[test]
fn silent_connections_take_no_place_and_the_oldest_is_told_to_go() {
    let server = open(Limits { connections: 1, silent: 3, ..limits() });
    let mut silent: Vec<TcpStream> = (0..4).map(|_| server.connect()).collect();
    assert!(server.serves());
    for stream in &mut silent[..2] {
        assert!(read_all(stream).starts_with("HTTP/1.1 503 "));
    }
    silent[3].write_all(ASK).unwrap();
    assert!(read_one(&mut silent[3]).0.starts_with("HTTP/1.1 200 "));
}

/// While all places are at work: one that sends everything before it reads gets to read why.
#[test]
fn who_finds_no_place_in_time_reads_why() {
    let (arrive, arrived) = bounded(1);
    let (release, released) = bounded::<()>(1);
    let stuck = move |request: Request| {
        if request.query == "stuck" {
            arrive.send(()).unwrap();
            released.recv().unwrap();
        }
        Response::json(200, Vec::new())
    };
    let small = Limits { connections: 1, asking: 1, place: Duration::from_millis(50), ..limits() };
    let server = open_with(small, 2, &handler(stuck), no_upgrades());
    let mut at_work = server.connect();
    at_work.write_all(b"GET /guard/status?stuck HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    arrived.recv_timeout(Duration::from_secs(60)).unwrap();
    let mut eager = server.connect();
    eager.write_all(format!("POST /exchange {JSON_POST}Content-Length: 200000\r\n\r\n").as_bytes()).unwrap();
    eager.write_all(&vec![b' '; 100_000]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    eager.write_all(&vec![b' '; 100_000]).unwrap();
    let told = read_one(&mut eager);
    assert!(told.0.starts_with("HTTP/1.1 503 ") && told.1.contains("too many connections"), "{told:?}");
    release.send(()).unwrap();
    assert!(read_one(&mut at_work).0.starts_with("HTTP/1.1 200 "));
    assert!(server.serves());
}

#[test]
fn clients_that_do_not_read_hold_no_worker_and_little_memory() {
    let long = |request: Request| {
        let bytes = match request.query.as_str() {
            "small" => SMALL_ANSWER,
            "large" => 8 * 1024 * 1024,
            _ => 2,
        };
        Response::json(200, vec![b' '; bytes])
    };
    let server = open_with(limits(), 1, &handler(long), no_upgrades());
    let unread = |kind: &str| {
        let mut stream = server.connect();
        stream.write_all(format!("GET /guard/events?{kind} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes()).unwrap();
        stream
    };
    let mut held: Vec<TcpStream> = (0..10).map(|_| unread("small")).collect();
    assert!(server.serves());
    held.extend((0..LARGE_ANSWERS).map(|_| {
        let mut stream = unread("large");
        stream.read_exact(&mut [0; 9]).unwrap();
        stream
    }));
    let mut over = unread("large");
    assert!(read_one(&mut over).0.starts_with("HTTP/1.1 503 "));
    assert!(server.serves());
    let mut last = held.pop().unwrap();
    assert_eq!(read_one(&mut last).1.len(), 8 * 1024 * 1024);
    // Its place is free once the server has seen it read, which may be a moment later.
    let is_served = || read_one(&mut unread("large")).1.len() == 8 * 1024 * 1024;
    assert!((0..500).any(|_| is_served() || {
        std::thread::sleep(std::time::Duration::from_millis(10));
        false
    }));
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
    let server = open_with(limits(), MANY, &handler(together), no_upgrades());
    let mut streams: Vec<TcpStream> = (0..MANY).map(|_| server.connect()).collect();
    for stream in &mut streams {
        stream.write_all(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
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
fn accept_errors_are_survived() {
    let server = open(limits());
    let context = Arc::clone(&server.gate.as_ref().unwrap().context);
    let calls = AtomicUsize::new(0);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(address).unwrap();
    client.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let done = Arc::clone(&context);
    let answered = std::thread::spawn(move || {
        let answer = read_all(&mut client);
        done.shutting_down.store(true, Ordering::SeqCst);
        answer
    });
    let next = || match calls.fetch_add(1, Ordering::SeqCst) {
        0 => Err(std::io::Error::from(nix::errno::Errno::EMFILE)),
        1 => Err(std::io::Error::from(nix::errno::Errno::ECONNABORTED)),
        2 => listener.accept().map(|(stream, _)| Some(stream)),
        _ => Ok(None),
    };
    assert_eq!(accept_all(&context, &server.deaths, &listener, next), Ok(()));
    assert!(answered.join().unwrap().starts_with("HTTP/1.1 200 "));
}
