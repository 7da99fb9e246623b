//! One client that fills what it can (connections, the decision loop's inbox, the send queue) leaves another its part.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use serde_json::json;
use tungstenite::{Message, WebSocket};

use crate::clients::another;
use crate::http::post;
use crate::signing::{BTC, ETH, closing, limit, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, held, hold};

fn hang(stand: &Stand, on: &str) {
    stand.venue.control(&json!({"op": "fault", "on": on, "kind": "stall", "times": 1_000_000})).unwrap();
}

/// Requests of one client that wait for the venue hold all its part of the connections, and no more.
#[test]
fn requests_that_wait_hold_no_more_than_their_clients_connections() {
    const CONNECTIONS: usize = 150;
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    stand.start();
    hang(&stand, "noop");
    let greedy: Vec<TcpStream> = (0..CONNECTIONS)
        .map(|_| {
            let mut stream = TcpStream::connect(stand.address()).unwrap();
            let body = signed(&stand.client, &json!({"type": "noop"})).to_string();
            // Where it was turned away already it holds nothing.
            let _ = stream.write_all(&post("/exchange", "application/json", body.as_bytes()));
            stream
        })
        .collect();
    // Refused as over its share, and told of together.
    let told = until("what was turned away", || {
        let events = stand.on_disk();
        events.into_iter().find(|event| event["kind"] == "decision" && event["count"].is_u64())
    });
    assert_eq!((&told["code"], &told["verdict"]), (&json!("busy"), &json!("veto")), "{told}");
    // The other's orders are judged and sent, each on a new connection.
    let order = place(&limit(BTC, true, "59000", "0.001"));
    for _ in 0..3 {
        let response = stand.post("/exchange", &signed(&second, &order));
        assert_eq!(response.status, 200, "{response:?}");
    }
    assert_eq!(stand.get("/healthz").status, 200);
    drop(greedy);
}

/// While the venue answers no one, one client queues all the exits that it may; another's exit still has a place in the
/// queue. Told by what the guard answers: an exit without a place is refused at once, one with a place waits.
#[test]
fn one_clients_exits_fill_no_more_than_its_part_of_the_send_queue() {
    const SOCKETS: usize = 4;
    const EACH: usize = 80;
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.4");
    stand.start();
    covered(&stand, "ETH", "0.4");
    hang(&stand, "order");
    let mut sockets: Vec<WebSocket<TcpStream>> = (0..SOCKETS)
        .map(|_| {
            let stream = TcpStream::connect(stand.address()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            tungstenite::client(format!("ws://{}/exchange", stand.address()), stream).unwrap().0
        })
        .collect();
    let exit = || closing(ETH, "2400", "0.001");
    for socket in &mut sockets {
        for _ in 0..EACH {
            socket.send(Message::text(signed(&stand.client, &exit()).to_string())).unwrap();
        }
    }
    let reply = sockets[SOCKETS - 1].read().unwrap();
    assert!(reply.to_text().unwrap().contains("too many actions wait to be sent"), "{reply}");
    let stream = TcpStream::connect(stand.address()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let mut other = tungstenite::client(format!("ws://{}/exchange", stand.address()), stream).unwrap().0;
    let body = signed(&second, &exit());
    other.send(Message::text(body.to_string())).unwrap();
    let target = format!("/guard/decision?nonce={}", body["nonce"]);
    let decided = until("the other's decision", || {
        let response = stand.get(&target);
        (response.status == 200).then(|| response.json())
    });
    assert_eq!(decided["decisions"][0]["decision"]["verdict"], "allow", "{decided}");
    // The venue answers again: it sees the other's exit.
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    let reply = other.read().unwrap();
    assert!(!reply.to_text().unwrap().contains("too many actions wait"), "{reply}");
}

/// The venue answers nothing that one client sends; the exit of another leaves all the same, while what is at the venue of
/// the first is still there.
#[test]
fn one_clients_slow_sends_hold_no_more_than_its_part_of_the_senders() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let second = another(&stand);
    hold(&stand, "ETH", "0.4");
    stand.start();
    covered(&stand, "ETH", "0.4");
    hang(&stand, "updateLeverage");
    let stream = TcpStream::connect(stand.address()).unwrap();
    let mut slow = tungstenite::client(format!("ws://{}/exchange", stand.address()), stream).unwrap().0;
    for leverage in 1..=8 {
        let setting = json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": leverage % 4 + 1});
        slow.send(Message::text(signed(&stand.client, &setting).to_string())).unwrap();
    }
    let hanging = || {
        let saw = stand.venue_saw();
        saw.iter().filter(|request| request["action"]["type"] == "updateLeverage").count()
    };
    until("the slow ones at the venue", || (hanging() >= 2).then_some(()));
    let reply = stand.post("/exchange", &signed(&second, &closing(ETH, "2400", "0.4"))).json();
    assert_eq!(reply["response"]["data"]["statuses"][0]["filled"]["totalSz"], "0.4", "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
    assert_eq!(hanging(), 2, "more than its part was at the venue when the other's exit left");
}
