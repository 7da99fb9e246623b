//! A doubt that nobody answers is given up, and not forgotten.

use serde_json::json;

use super::fixture::*;
use super::settling::{asked, duplicate, in_doubt, kind, seq, status, taken_back};
use crate::guard::Input;

/// A doubt that was asked about for two minutes, and its answer never came.
fn given_up() -> (Desk, Decided) {
    let (mut desk, decided, burn) = in_doubt();
    desk.answer(seq(&burn), 0, duplicate(&burn));
    desk.now += 1_000;
    assert_eq!(asked(&desk.step(Input::Tick)), 1);
    let begun_ms = desk.now;
    let cloid = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
    let look = |desk: &mut Desk| {
        desk.read();
        let recovered = kind(&desk.step(Input::Tick), "recovered");
        desk.step(Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer: None });
        recovered
    };
    while desk.now < begun_ms + 119_000 {
        desk.now += 1_000;
        assert!(look(&mut desk).is_none());
    }
    assert!(!is_unsettled(&desk));
    let recovered = (0..5).find_map(|_| {
        desk.now += 1_000;
        look(&mut desk)
    });
    assert_eq!(recovered.unwrap()["outcome"], "unknown");
    (desk, decided)
}

/// Given up by time, though no question was ever answered; what has an expiry not before that is over.
#[test]
fn a_doubt_that_nobody_answers_has_an_end() {
    let (desk, _) = given_up();
    assert!(is_unsettled(&desk));
}

/// Given up is not forgotten: the order is asked about now and then, and the alert goes with its answer.
#[test]
fn an_answer_that_comes_late_settles_it() {
    let (mut desk, decided) = given_up();
    let asks = |desk: &mut Desk| asked(&desk.step(Input::Tick));
    desk.now += 29_999;
    desk.read();
    assert_eq!(asks(&mut desk), 0);
    desk.now += 1;
    assert_eq!(asks(&mut desk), 1);
    assert!(is_unsettled(&desk) && desk.guard.gauges(desk.now).alerts.iter().any(|code| code == "unsettled"));
    // No answer: asked once more.
    let cloid = decided.sent_order(0)["c"].as_str().unwrap().parse().unwrap();
    desk.step(Input::OrderStatus { intent: decided.seq(), index: 0, cloid, answer: None });
    assert_eq!(asks(&mut desk), 0);
    desk.now += 30_000;
    desk.read();
    assert_eq!(asks(&mut desk), 1);
    let unknown = json!({"status": "unknownOid"});
    for _ in 0..2 {
        assert!(kind(&status(&mut desk, &decided, unknown.clone()), "recovered").is_none());
    }
    let told = taken_back(&mut desk, &decided);
    assert_eq!((&told["outcome"], &told["intent"]), (&json!("did_not_happen"), &json!(decided.seq())));
    assert!(!is_unsettled(&desk));
    assert!(desk.guard.exposure().totals().notional.is_zero(), "what it had reserved is free");
    desk.now += 60_000;
    assert_eq!(asks(&mut desk), 0);
}

fn is_unsettled(desk: &Desk) -> bool {
    let status = desk.guard.status_json(desk.now, (0, 0));
    let found = status["alerts"].as_array().unwrap().iter().find(|alert| alert["code"] == "unsettled");
    // One each time here.
    found.inspect(|alert| assert!(alert["text"].as_str().unwrap().starts_with("1 action whose"), "{alert}")).is_some()
}
