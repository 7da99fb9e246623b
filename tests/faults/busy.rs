//! A disk so slow that the journal's queue fills: entries are refused as busy, exits are not. And one that hangs is told of.

use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use svc_guard::faults::Step;
use tungstenite::{Message, WebSocket};

use crate::script::play;
use crate::signing::{BTC, ETH, closing, limit, place, signed};
use crate::stand::{Mode, Stand, until};

/// Connections, and posts that each may have at work: together more than the journal's queue takes.
const CONNECTIONS: usize = 14;
const AT_WORK: usize = 80;
/// How long the disk takes for one write.
const SLOW_MS: u64 = 12_000;
const PATIENCE: Duration = Duration::from_secs(60);

fn connect(stand: &Stand) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(stand.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let url = format!("ws://{}/exchange", stand.address());
    tungstenite::client(url, stream).unwrap().0
}

fn post(socket: &mut WebSocket<TcpStream>, stand: &Stand, action: &Value) {
    socket.send(Message::text(signed(&stand.client, action).to_string())).unwrap();
}

fn code(socket: &mut WebSocket<TcpStream>) -> String {
    let reply: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
    reply["guard"]["code"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// No error says so: nothing comes back from the disk at all.
#[test]
fn a_disk_that_hangs_is_ill_health_until_it_answers() {
    let stand = Stand::up(Mode::Paper, "");
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    let mut trader = connect(&stand);
    play(&stand, &[json!({"step": Step::EventsSync.name(), "times": 1, "do": "delay", "ms": SLOW_MS})]);
    post(&mut trader, &stand, &json!({"type": "noop"}));
    until("the disk to be told of", || {
        let health = stand.get("/healthz");
        (health.status == 503 && health.body.contains("does not answer")).then_some(())
    });
    let alerts = stand.status()["alerts"].clone();
    assert!(alerts.as_array().unwrap().iter().any(|alert| alert["code"] == "journal_error"), "{alerts}");
    assert_eq!(code(&mut trader), "allowed");
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
}

/// Longer than any test waits.
const FOR_GOOD_MS: u64 = 600_000;

/// A home's disk that hangs while a folder on another one stands by: what covers and closes goes on there, and the next start
/// finds it.
#[test]
fn a_disk_that_hangs_gives_way_to_the_fallback() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let spare = stand.home().with_file_name("spare");
    let config = stand.home().join("guard.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("journal_fallback = \"{}\"\n{text}", spare.display())).unwrap();
    stand.start();
    play(&stand, &[json!({"step": Step::EventsSync.name(), "times": 1, "do": "delay", "ms": FOR_GOOD_MS})]);
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let orders = |stand: &Stand| stand.venue.truth()["orders"].as_array().unwrap().clone();
    until("cover", || orders(&stand).iter().any(|order| order["stage"] == "armed").then_some(()));
    until("the disk to be told of", || {
        let told = stand.get("/healthz").body;
        (told.contains("does not answer") && told.contains("fallback")).then_some(())
    });
    // A client's kill is on record there, and closes.
    let body = signed(&stand.client, &json!({"type": "guardKill", "reason": "enough"})).to_string();
    assert_eq!(stand.connect().post("/guard/kill", &body).unwrap().status, 200);
    let is_flat = || stand.venue.truth()["positions"].as_array().unwrap().is_empty() && orders(&stand).is_empty();
    until("the account to be flat", || is_flat().then_some(()));
    let last = stand.events().last().unwrap()["seq"].as_u64().unwrap();
    stand.kill();
    play(&stand, &[]);
    stand.start();
    assert_eq!(stand.status()["killed"], "enough");
    let seqs: Vec<_> = stand.events().iter().filter_map(|event| event["seq"].as_u64()).collect();
    assert!(seqs.windows(2).all(|pair| pair[0] < pair[1]) && seqs.contains(&last), "{seqs:?}");
}

#[test]
fn entries_wait_for_a_slow_disk_and_exits_do_not() {
    let stand = Stand::up(Mode::Paper, "orders_per_minute = 1200\nopen_orders = 500\n");
    let mut sockets: Vec<_> = (0..CONNECTIONS).map(|_| connect(&stand)).collect();
    let mut trader = connect(&stand);
    let entry = |px: u32| place(&limit(BTC, true, &px.to_string(), "0.0002"));
    post(&mut trader, &stand, &entry(59_000));
    assert_eq!(code(&mut trader), "resized");

    play(&stand, &[json!({"step": Step::EventsSync.name(), "times": 1, "do": "delay", "ms": SLOW_MS})]);
    for socket in &mut sockets {
        for _ in 0..AT_WORK {
            post(socket, &stand, &json!({"type": "noop"}));
        }
    }
    // While the disk takes its time, a bot asks for both again and again.
    let turns = 40;
    for turn in 0..turns {
        post(&mut trader, &stand, &entry(59_001 + turn));
        post(&mut trader, &stand, &closing(ETH, "2400", "1"));
        std::thread::sleep(Duration::from_millis(200));
    }
    let codes: Vec<String> = (0..turns * 2).map(|_| code(&mut trader)).collect();
    assert!(codes.iter().any(|code| code == "busy"), "{codes:?}");
    let exits = codes.iter().filter(|code| *code == "reduces").count();
    assert_eq!(exits, usize::try_from(turns).unwrap(), "{codes:?}");
    for socket in &mut sockets {
        for _ in 0..AT_WORK {
            // So many connections are not taken in the order of their nonces.
            let code = code(socket);
            assert!(["allowed", "nonce_out_of_window"].contains(&code.as_str()), "{code}");
        }
    }
    // The disk keeps up again.
    post(&mut trader, &stand, &entry(59_100));
    assert_eq!(code(&mut trader), "resized");
}
