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
