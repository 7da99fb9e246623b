//! The relay's figures at a venue without delay: how much later than the venue's own client a client of the guard's hears a frame,
//! and what fifty clients of twenty feeds each take of the guard's time and memory.

use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::phases::{Pair, resident_kib};
use crate::samples::{Nanos, Samples};

/// Frames that are timed, and the pause before each.
const FRAMES: u32 = 1_000;
const PAUSE: Duration = Duration::from_millis(5);
const CLIENTS: usize = 50;
/// How often each of the twenty feeds speaks: a hundred frames a second in all, and a hundred each.
const RATES_MS: [u64; 2] = [200, 10];
const LOADED_FOR: Duration = Duration::from_secs(10);
/// A frame takes no longer, or the run is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// Measures, and prints a line each.
pub(crate) fn print(program: &Path, folder: &Path) -> Result<(), String> {
    let pair = Pair::start(program, folder, true, 1)?;
    added(&pair, "alone")?;
    for every_ms in RATES_MS {
        for name in ["feed_ctx_ms", "feed_book_ms", "feed_mids_ms", "feed_ctxs_ms"] {
            pair.venue.control(&json!({"op": "setting", "name": name, "value": every_ms}))?;
        }
        beside_clients(&pair, every_ms)?;
    }
    pair.guard.stop()?;
    Ok(())
}

/// Twenty feeds: every coin's context and book, what tells of all of them, and the one that is timed.
fn feeds() -> Vec<Value> {
    let of_coin = |kind: &'static str| move |coin: &str| json!({"type": kind, "coin": coin});
    let coins = ["BTC", "ETH", "SOL", "DOGE", "XRP", "HYPE", "VVV"];
    let all = ["allMids", "assetCtxs", "spotAssetCtxs", "allDexsAssetCtxs"].map(|kind| json!({"type": kind}));
    let contexts = coins.into_iter().chain(["PURR/USDC"]).map(of_coin("activeAssetCtx"));
    contexts.chain(coins.into_iter().map(of_coin("l2Book"))).chain(all).chain([timed()]).collect()
}

/// A frame of it comes with each price.
fn timed() -> Value {
    json!({"type": "bbo", "coin": "BTC"})
}

fn beside_clients(pair: &Pair, every_ms: u64) -> Result<(), String> {
    let (is_over, heard) = (AtomicBool::new(false), AtomicU64::new(0));
    let mut clients = Vec::new();
    for _ in 0..CLIENTS {
        let mut client = open(&pair.guard.url)?;
        feeds().iter().try_for_each(|feed| subscribe(&mut client, feed))?;
        clients.push(client);
    }
    std::thread::scope(|scope| {
        for mut client in clients {
            let (is_over, heard) = (&is_over, &heard);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) && client.read().is_ok() {
                    heard.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let measured = loaded(pair, every_ms, &heard);
        is_over.store(true, Ordering::Relaxed);
        measured
    })
}

fn loaded(pair: &Pair, every_ms: u64, heard: &AtomicU64) -> Result<(), String> {
    std::thread::sleep(Duration::from_secs(2));
    let (cpu, frames, begun) = (cpu_ns(pair)?, heard.load(Ordering::Relaxed), Instant::now());
    std::thread::sleep(LOADED_FOR);
    let took = Nanos::of(begun.elapsed()).0.max(1);
    let cpu = cpu_ns(pair)?.saturating_sub(cpu);
    let frames = heard.load(Ordering::Relaxed).saturating_sub(frames);
    let per_second = frames.saturating_mul(1_000_000_000).checked_div(took).unwrap_or_default();
    let each = Nanos(cpu.checked_div(frames).unwrap_or_default());
    let percent = cpu.saturating_mul(100).checked_div(took).unwrap_or_default();
    println!("{CLIENTS} clients of {} feeds, each every {every_ms} ms:", feeds().len());
    println!("  {per_second} frames a second to clients, {percent}% of a core, {each} each (figure: 50%)");
    println!("  resident memory {} KiB (figure: 65536)", resident_kib(&pair.guard)?);
    added(pair, "  beside them")
}

/// The time that each thread of the guard has run.
fn cpu_ns(pair: &Pair) -> Result<u64, String> {
    let path = format!("/proc/{}/task", pair.guard.pid());
    let tasks = std::fs::read_dir(&path).map_err(|error| format!("{path}: {error}"))?;
    // A thread may be gone by now.
    let run = tasks.flatten().filter_map(|task| std::fs::read_to_string(task.path().join("schedstat")).ok());
    Ok(run.filter_map(|told| told.split(' ').next()?.parse::<u64>().ok()).sum())
}

/// The same frames heard at the venue and through the guard, and how much later.
fn added(pair: &Pair, how: &str) -> Result<(), String> {
    let mut sockets = Vec::new();
    for url in [pair.venue.url(), pair.guard.url.clone()] {
        let mut socket = open(&url)?;
        subscribe(&mut socket, &timed())?;
        sockets.push(socket);
    }
    let mut samples = Samples::default();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let heard: Vec<_> = sockets.into_iter().map(|socket| hear(scope, socket, &is_over)).collect();
        let [direct, through] = heard.as_slice() else { return Err("two sockets".to_owned()) };
        let measured = (0..FRAMES).try_for_each(|number| {
            std::thread::sleep(PAUSE);
            let px = 60_001 + number;
            pair.venue.price("BTC", &px.to_string())?;
            let [there, here] = [at(direct, px)?, at(through, px)?];
            samples.add(Nanos::of(here.saturating_duration_since(there)));
            Ok::<_, String>(())
        });
        is_over.store(true, Ordering::Relaxed);
        pair.venue.price("BTC", "60000")?;
        measured
    })?;
    let [half, most] = [50, 99].map(|percent| samples.percentile(percent));
    println!("{how}: {} frames, added {half} (p50), {most} (p99) (figures: 200 us, 2000 us)", samples.len());
    Ok(())
}

type Heard = Receiver<(Instant, String)>;

/// Hears frames in a thread of its own until all is over.
fn hear<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    mut socket: WebSocket<TcpStream>,
    is_over: &'scope AtomicBool,
) -> Heard {
    let (sender, receiver) = channel();
    scope.spawn(move || {
        while let Ok(frame) = socket.read() {
            let at = Instant::now();
            let text = frame.into_text().map(|text| text.as_str().to_owned()).unwrap_or_default();
            if is_over.load(Ordering::Relaxed) || sender.send((at, text)).is_err() {
                break;
            }
        }
    });
    receiver
}

/// When the frame of a price came.
fn at(heard: &Heard, px: u32) -> Result<Instant, String> {
    let best = format!("\"px\":\"{}.0\"", px - 1);
    loop {
        let (at, text) = heard.recv_timeout(PATIENCE).map_err(|error| format!("the frame of {px}: {error}"))?;
        if text.contains("\"channel\":\"bbo\"") && text.contains(&best) {
            return Ok(at);
        }
    }
}

fn open(url: &str) -> Result<WebSocket<TcpStream>, String> {
    let address = url.strip_prefix("http://").unwrap_or(url);
    let stream = TcpStream::connect(address).map_err(|error| format!("{url}: {error}"))?;
    let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(PATIENCE)));
    set.map_err(|error| format!("{url}: {error}"))?;
    let (socket, _) =
        tungstenite::client(format!("ws://{address}/ws"), stream).map_err(|error| format!("{url}: {error}"))?;
    Ok(socket)
}

fn subscribe(socket: &mut WebSocket<TcpStream>, feed: &Value) -> Result<(), String> {
    let frame = json!({"method": "subscribe", "subscription": feed}).to_string();
    socket.send(Message::text(frame)).map_err(|error| error.to_string())
}
