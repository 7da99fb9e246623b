//! How connections end: with a word where somebody can hear it, and without harm where nobody reads.

use std::fs;
use std::io::Write;

use nix::sys::signal::Signal;
use nix::sys::socket::{setsockopt, sockopt::RcvBuf};
use tungstenite::protocol::frame::coding::CloseCode;

use super::*;

#[test]
fn a_guard_that_stops_says_goodbye() {
    let mut stand = stand();
    let mut clients: Vec<Subscriber> = (0..8).map(|_| Subscriber::at_guard(&stand)).collect();
    for client in clients.iter_mut().skip(4) {
        client.subscribed(&of_account("userFills"));
        client.subscribed(&of_coin("bbo", "BTC"));
    }
    // One waits for an answer that does not come.
    stand.venue.control(&json!({"op": "fault", "on": "candleSnapshot", "kind": "stall", "times": 10})).unwrap();
    let asked = json!({"coin": "BTC", "interval": "1m", "startTime": 0, "endTime": 1});
    let asked = json!({"type": "info", "payload": {"type": "candleSnapshot", "req": asked}});
    clients[0].say(&json!({"method": "post", "id": 1, "request": asked}).to_string());
    clients[0].say(r#"{"method":"ping"}"#);
    clients[0].hear_on("pong");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    for client in &mut clients {
        assert_eq!(client.closed(), (u16::from(CloseCode::Away), "the guard is stopping".to_owned()));
    }
}

/// The most memory that the service ever had, KiB.
fn peak(stand: &Stand) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", stand.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Sends questions that get long errors, and reads none of them; the end of it is the service's to find.
fn flood(stand: &Stand) -> Subscriber {
    let mut deaf = Subscriber::at_guard(stand);
    let frame = json!({"method": "subscribe", "subscription": {"type": "nothing", "x": "x".repeat(4_000)}}).to_string();
    setsockopt(deaf.socket.get_ref(), RcvBuf, &16_384).unwrap();
    deaf.socket.get_mut().set_write_timeout(Some(Duration::from_millis(500))).unwrap();
    for _ in 0..2_500 {
        if deaf.socket.send(Message::text(frame.clone())).is_err() {
            break;
        }
    }
    let _ = deaf.socket.get_mut().flush();
    deaf
}

#[test]
fn who_reads_no_answers_costs_little_memory() {
    let stand = stand();
    let before = peak(&stand);
    let deaf: Vec<Subscriber> = std::thread::scope(|scope| {
        let floods: Vec<_> = (0..16).map(|_| scope.spawn(|| flood(&stand))).collect();
        floods.into_iter().map(|flood| flood.join().unwrap()).collect()
    });
    let grown = peak(&stand).saturating_sub(before);
    assert!(grown < 32 * 1024, "{grown} KiB for 16 connections");
    // Each is let go, with a word where it comes to read it.
    until("them to be let go", || (metric(&stand, "svc_guard_connections") <= 2).then_some(()));
    for mut client in deaf {
        loop {
            match client.socket.read() {
                Ok(Message::Close(Some(close))) => assert_eq!(close.code, CloseCode::Policy),
                Ok(_) => {}
                Err(_) => break,
            }
        }
    }
    let mut other = Subscriber::at_guard(&stand);
    other.say(r#"{"method":"ping"}"#);
    other.hear_on("pong");
}
