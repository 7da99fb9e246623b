//! A venue that takes questions and never answers holds up nothing but questions.

use serde_json::{Value, json};

use crate::http::post;
use crate::signing::signed;
use crate::stand::{ACCOUNT, Mode, Stand, until};

/// More questions than there are threads of any kind, and fewer than there are connections.
const QUESTIONS: u64 = 40;

#[test]
fn questions_without_an_answer_hold_up_no_kill_and_no_read() {
    let stand = Stand::up(Mode::Paper, "");
    let question = |oid: u64| json!({"type": "orderStatus", "user": ACCOUNT, "oid": oid}).to_string();
    stand.venue.control(&json!({"op": "fault", "on": "orderStatus", "kind": "stall", "times": QUESTIONS})).unwrap();
    std::thread::scope(|scope| {
        let asked: Vec<_> = (0..QUESTIONS)
            .map(|oid| {
                let mut connection = stand.connect();
                scope.spawn(move || {
                    connection.exchange(&post("/info", "application/json", question(oid).as_bytes()), true)
                })
            })
            .collect();
        let unasked = || {
            let truth = stand.venue.truth();
            truth["faults"].as_array().unwrap().iter().map(|fault| fault["times"].as_u64().unwrap()).sum::<u64>()
        };
        until("the questions to be at the venue", || (unasked() <= QUESTIONS - 32).then_some(()));
        for path in ["/healthz", "/guard/status", "/guard/events", "/metrics", "/"] {
            assert_eq!(stand.get(path).status, 200, "{path}");
        }
        // What the guard has read itself, and what is no question, need no venue.
        assert_eq!(stand.post("/info", &json!({"type": "meta"})).status, 200);
        assert_eq!(stand.post("/info", &json!({})).status, 422);
        let kill = signed(&stand.client, &json!({"type": "guardKill", "reason": "enough"}));
        assert_eq!(stand.post("/guard/kill", &kill).json(), json!({"killed": "enough"}));
        assert_eq!(stand.status()["killed"], Value::from("enough"));
        for asked in asked {
            let answer = asked.join().unwrap().unwrap();
            assert_eq!((answer.status, &answer.json()["code"]), (502, &json!("venue_away")), "{answer:?}");
        }
    });
}
