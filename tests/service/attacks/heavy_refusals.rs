//! Refused requests of any size: what is kept of them is little, on disk and in the memory of the next start.

use std::fs;
use std::time::Instant;

use serde_json::{Value, json};

use crate::signing::{ETH, limit, signed};
use crate::stand::{Mode, Stand};

/// Requests of about 200 KB each that are refused, each for another reason.
fn refused(stand: &Stand) -> Vec<Value> {
    let long = "x".repeat(180_000);
    let unsigned = |action: Value| json!({"action": action, "nonce": 1, "signature": {"r": "0x1", "s": "0x1", "v": 27}, "vaultAddress": null});
    let orders = vec![limit(ETH, true, "1", "0.000001"); 1_000];
    vec![
        unsigned(json!({"type": long})),
        unsigned(json!({"type": "order", "orders": long})),
        unsigned(json!({"type": "cancel", "cancels": [], (&long[..]): 1})),
        json!({"action": {"type": "noop"}, "nonce": long}),
        json!(long),
        signed(&stand.client, &json!({"type": "x", "note": long})),
        signed(&stand.client, &json!({"type": "order", "orders": orders, "grouping": "na"})),
    ]
}

/// Each has its decision and its nonce on record, and little else.
#[test]
fn many_refusals_of_one_client_keep_less_of_each() {
    let stand = Stand::up(Mode::Paper, "");
    let file = || stand.events_files().iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>();
    let (before, begun, many) = (file(), Instant::now(), 600);
    let orders = vec![limit(ETH, true, "1", "0.000001"); 60];
    let action = json!({"type": "order", "orders": orders, "grouping": "na"});
    let bodies: Vec<String> = (0..many).map(|_| signed(&stand.client, &action).to_string()).collect();
    std::thread::scope(|scope| {
        for bodies in bodies.chunks(bodies.len() / 6) {
            let mut connection = stand.connect();
            scope.spawn(move || {
                for body in bodies {
                    let reply = connection.post("/exchange", body).unwrap();
                    assert_eq!(reply.json()["guard"]["verdict"], "veto", "{reply:?}");
                }
            });
        }
    });
    // A hundred of each minute are kept at length.
    let at_length = 100 * (begun.elapsed().as_secs() / 60 + 2);
    let (grown, most) = (file() - before, 8_192 * at_length + 2_048 * many);
    assert!(grown <= most, "{grown} bytes, not {most}");
}

/// Resident memory, KiB.
fn resident(stand: &Stand) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", stand.pid())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_refusal_keeps_little_of_its_request() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let on_disk =
        |stand: &Stand| stand.events_files().iter().map(|file| fs::metadata(file).unwrap().len()).sum::<u64>();
    for body in refused(&stand) {
        let before = on_disk(&stand);
        let reply = stand.post("/exchange", &body);
        assert!([200, 422, 429].contains(&reply.status), "{}", reply.status);
        // The decision, and whatever the watch had to tell meanwhile.
        let grown = on_disk(&stand) - before;
        assert!(grown <= 8_192, "{grown} bytes for {}", &reply.body[..reply.body.len().min(300)]);
    }
    let mut connection = stand.connect();
    for _ in 0..100 {
        let body = signed(&stand.client, &json!({"type": "x", "note": "y".repeat(180_000)}));
        assert_eq!(connection.post("/exchange", &body.to_string()).unwrap().status, 200);
    }
    assert!(on_disk(&stand) < 1_000_000, "{} bytes", on_disk(&stand));
    let last = stand.events_of("decision").pop().unwrap();
    assert_eq!((&last["code"], &last["request"]["type"]), (&json!("action_not_allowed"), &json!("x")));
    assert!(last["request"]["bytes"].as_u64().unwrap() > 180_000 && last["request"]["unparsed"].is_string(), "{last}");

    stand.kill();
    stand.start();
    let resident = resident(&stand);
    assert!(resident < 40 * 1024, "{resident} KiB");
}
