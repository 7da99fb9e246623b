//! The guard's own stops and closes: what the venue made of each.

use super::*;

fn protect(watch: &mut Watch, seq: u64, stops: usize) {
    let actions = vec![json!({"type": "order"}); stops];
    event(watch, seq, json!({"kind": "protect", "coins": ["ETH"], "actions": actions, "sent": true}));
}

fn sent(watch: &mut Watch, seq: u64, decision: u64, index: usize, ok: bool) {
    let reply = if ok { json!({"status": "ok"}) } else { json!({"status": "err", "response": "no"}) };
    event(watch, seq, json!({"kind": "sent", "decision": decision, "index": index, "ok": ok, "reply": reply}));
}

#[test]
fn the_guards_own_refused_stops_are_told_and_a_bots_orders_are_not() {
    let mut watch = watch();
    protect(&mut watch, 1, 1);
    sent(&mut watch, 2, 1, 0, false);
    sent(&mut watch, 3, 77, 0, false);
    event(&mut watch, 4, json!({"kind": "flatten", "reason": "kill", "sent": true}));
    sent(&mut watch, 5, 4, 0, false);
    sent(&mut watch, 6, 4, 0, true);
    let left = json!([{"coin": "X", "text": "dust"}]);
    event(&mut watch, 7, json!({"kind": "flatten", "reason": "kill", "sent": true, "problems": left}));
    assert_eq!(
        told(&mut watch),
        ["stop_refused once", "flatten once", "close_refused once", "flatten_again once"],
        "a refused stop was never placed"
    );
}

#[test]
fn a_stop_is_told_to_be_placed_when_the_venue_took_the_last_of_them() {
    let mut watch = watch();
    protect(&mut watch, 1, 2);
    sent(&mut watch, 2, 1, 1, true);
    sent(&mut watch, 3, 1, 1, true);
    assert_eq!(told(&mut watch), [""; 0], "one of two");
    sent(&mut watch, 4, 1, 0, true);
    let notices = watch.take();
    assert_eq!((notices.len(), notices[0].code.as_str(), notices[0].about.as_str()), (1, "stop_placed", "ETH"));
    sent(&mut watch, 5, 1, 0, true);
    assert_eq!(told(&mut watch), [""; 0], "once");
    // The next try is another event.
    protect(&mut watch, 6, 1);
    sent(&mut watch, 7, 6, 0, false);
    protect(&mut watch, 8, 1);
    sent(&mut watch, 9, 8, 0, true);
    assert_eq!(told(&mut watch), ["stop_refused once", "stop_placed once"]);
}

#[test]
fn a_stop_without_an_answer_is_placed_when_that_is_found_out() {
    for (outcome, wanted) in [("happened", vec!["stop_placed once"]), ("did_not_happen", vec![])] {
        let mut watch = watch();
        protect(&mut watch, 1, 1);
        event(&mut watch, 2, json!({"kind": "sent", "decision": 1, "ok": false, "reply": {"error": "timed out"}}));
        let notices = watch.take();
        assert_eq!((notices.len(), notices[0].title.as_str()), (1, "A stop may not have been taken"));
        assert!(notices[0].happened.starts_with("No answer came") && notices[0].happened.contains("timed out"));
        // It is kept over a restart of the notifier.
        let mut watch: Watch = serde_json::from_str(&serde_json::to_string(&watch).unwrap()).unwrap();
        event(&mut watch, 3, json!({"kind": "recovered", "intent": 1, "index": 0, "outcome": outcome}));
        assert_eq!(told(&mut watch), wanted, "{outcome}");
    }
}

#[test]
fn on_paper_nothing_is_told_to_be_placed() {
    let mut watch = watch();
    event(&mut watch, 1, json!({"kind": "protect", "coins": ["ETH"], "actions": [{}], "sent": false}));
    let notices = watch.take();
    assert_eq!((notices.len(), notices[0].title.as_str()), (1, "Guard would place its own stop"));
    let refused = json!([{"coin": "ETH", "text": "there is no price to close it at"}]);
    event(&mut watch, 2, json!({"kind": "protect", "coins": ["ETH"], "sent": true, "problems": refused}));
    assert_eq!(told(&mut watch), ["stop_not_possible once"]);
}

#[test]
fn a_refused_close_of_a_later_round_is_told_as_one() {
    let mut watch = watch();
    event(&mut watch, 1, json!({"kind": "flatten", "reason": "kill", "sent": true}));
    let intent = |watch: &mut Watch, seq: u64, of: u64, action: &str| {
        event(watch, seq, json!({"kind": "intent", "of": of, "action": {"type": action}}));
    };
    intent(&mut watch, 2, 1, "order");
    sent(&mut watch, 3, 2, 0, false);
    assert_eq!(told(&mut watch), ["flatten once", "close_refused once"]);
    // What comes of that round, and a TWAP order that is not ended: the same again is no news, another answer is.
    intent(&mut watch, 4, 2, "order");
    intent(&mut watch, 5, 1, "twapCancel");
    sent(&mut watch, 6, 4, 0, false);
    assert_eq!(told(&mut watch), [""; 0]);
    event(&mut watch, 7, json!({"kind": "sent", "decision": 5, "ok": false, "reply": {"error": "timed out"}}));
    assert_eq!(told(&mut watch), ["close_refused once"]);
    // An order that was gone already, and a client's own.
    intent(&mut watch, 8, 1, "cancel");
    intent(&mut watch, 9, 77, "order");
    sent(&mut watch, 10, 8, 0, false);
    sent(&mut watch, 11, 9, 0, false);
    assert_eq!(told(&mut watch), [""; 0]);
}
