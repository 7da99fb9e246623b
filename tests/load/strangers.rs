//! How many of a bot's orders are served, each on a connection of its own, beside connections that strangers open again and
//! again and WebSockets of theirs that say nothing.

use std::io::Write;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::orders::{exit, pairs};
use crate::phases::{Pair, now_ms};
use crate::samples::{Nanos, Samples};
use crate::wire::Connection;

/// Connections that are opened again and again, about a thousand in a second, and the threads that do it.
const REOPENED: usize = 300;
const OPENERS: usize = 4;
const PAUSE: Duration = Duration::from_millis(4);
/// WebSockets that say nothing.
const IDLE: usize = 56;
/// Orders and their cancels.
const ORDERS: u64 = 1_000;

/// What strangers begin a connection with: nothing, half a request, a whole one.
const STARTS: [&[u8]; 4] = [
    b"",
    b"POST /exchange HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000\r\n\r\n{",
    b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /guard/events HTTP/1.1\r\nHost: localhost\r\n\r\n",
];

/// Measures and prints.
pub(crate) fn print(pair: &Pair) -> Result<(), String> {
    let requests = pairs(pair.key()?, now_ms()?, ORDERS / 2, |number| exit(pair.asset, number))?;
    let url = pair.guard.url.as_str();
    let idle: Vec<TcpStream> = (0..IDLE).filter_map(|_| upgraded(url).ok()).collect();
    let (is_over, opened) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut served, mut refused) = (Samples::default(), Vec::new());
    let took = std::thread::scope(|scope| {
        for _ in 0..OPENERS {
            scope.spawn(|| reopen(url, &is_over, &opened));
        }
        while opened.load(Ordering::Relaxed) < REOPENED {
            std::thread::sleep(PAUSE);
        }
        let begun = Instant::now();
        for request in requests.iter().flatten() {
            let begun = Instant::now();
            match Connection::open(url).and_then(|mut connection| connection.time(request)) {
                Ok(_) => served.add(Nanos::of(begun.elapsed())),
                Err(error) => refused.push(error),
            }
        }
        is_over.store(true, Ordering::Relaxed);
        begun.elapsed()
    });
    let (strangers, seconds) = (opened.into_inner(), took.as_secs().max(1));
    println!(
        "{} of {ORDERS} orders served in {seconds} s, p50 {}, p99 {}; {strangers} strange connections, {} idle sockets",
        served.len(),
        served.percentile(50),
        served.percentile(99),
        idle.len()
    );
    refused.iter().take(3).for_each(|error| println!("refused: {error}"));
    Ok(())
}

/// A WebSocket that was asked for; the answer is left unread.
fn upgraded(url: &str) -> std::io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address(url))?;
    stream.write_all(
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    )?;
    Ok(stream)
}

/// Opens connections one after the other, each in place of the one that is held longest.
fn reopen(url: &str, is_over: &AtomicBool, opened: &AtomicUsize) {
    let mut held: Vec<Option<TcpStream>> = (0..REOPENED / OPENERS).map(|_| None).collect();
    let mut starts = STARTS.iter().cycle();
    while !is_over.load(Ordering::Relaxed) {
        for place in &mut held {
            *place = TcpStream::connect(address(url)).ok();
            if let (Some(stream), Some(start)) = (place.as_mut(), starts.next()) {
                // One that is closed at once is opened again.
                let _ = stream.write_all(start);
            }
            opened.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(PAUSE);
        }
    }
}

fn address(url: &str) -> &str {
    url.strip_prefix("http://").unwrap_or(url)
}
