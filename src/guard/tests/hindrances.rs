//! The reasons that keep everything from being closed, as people are told of them.

use rust_decimal::dec;
use serde_json::{Value, json};

use super::fixture::*;
use super::flattening::kill;
use super::keeping_flat::{closes, come_to_rest, killed, pass};
use crate::guard::Input;

fn hindrances(desk: &Desk) -> Vec<String> {
    let closing = desk.guard.status_json(desk.now, (1_200, 0))["closing"].clone();
    serde_json::from_value(closing.get("hindrances").cloned().unwrap_or(json!([]))).unwrap()
}

/// With the venue's own words and a way out, at once: not only once it lasts.
#[test]
fn a_close_that_the_venue_refuses_is_told_of_until_one_is_taken() {
    let (mut desk, seq) = killed(dec!(1));
    desk.step(Input::Twaps(Ok(Vec::new())));
    assert_eq!(hindrances(&desk), [""; 0]);
    desk.answer(seq, 0, json!({"status": "err", "response": "User or API Wallet 0xa9 does not exist."}));
    let told = hindrances(&desk);
    assert_eq!(told.len(), 1);
    assert!(told[0].starts_with("1 of ETH stays: ") && told[0].contains("API Wallet 0xa9 does not exist."), "{told:?}");
    assert!(told[0].contains("at the venue's own page"), "{told:?}");
    desk.now = NOW + 10_001;
    let problems = desk.guard.problems(desk.now);
    assert!(problems.iter().any(|text| text.contains("is not: 1 position") && text.contains(&told[0])), "{problems:?}");
    let again = closes(&pass(&mut desk, 10_000)).pop().unwrap();
    desk.answer(again, 0, statuses(json!([{"filled": {"totalSz": "0.5", "avgPx": "2000", "oid": 9}}])));
    assert_eq!(hindrances(&desk), [""; 0]);
}

/// The venue's words may be anybody's: what they hold of a terminal's commands, or as of a key, is told to nobody.
#[test]
fn the_venues_words_are_words_alone() {
    let (mut desk, seq) = killed(dec!(1));
    let key = "ab".repeat(32);
    let answer = json!({"status": "err", "response": format!("no\u{1b}[2J \u{202e}0x{key} {}", "x".repeat(999))});
    desk.answer(seq, 0, answer);
    let told = hindrances(&desk).join("");
    assert!(told.contains("no[2J ") && !told.contains(['\u{1b}', '\u{202e}']) && !told.contains(&key), "{told:?}");
    assert!(told.contains('…') && told.chars().count() < 400, "{told:?}");
}

/// An order of a spot pair or of a builder's market: the account is not flat with it, and only a person ends it.
#[test]
fn an_order_that_cannot_be_cancelled_here_is_told_of() {
    for (orders, words) in [(1, "@107, no core perp, has an order"), (2, "@107, no core perp, has 2 orders")] {
        let (mut desk, _) = killed(dec!(1));
        desk.step(Input::Twaps(Ok(Vec::new())));
        come_to_rest(&mut desk);
        desk.orders = (0..orders).map(|oid| open("@107", "B", "1", "3", 70 + oid)).collect();
        pass(&mut desk, 1);
        let told = hindrances(&desk);
        assert!(told.len() == 1 && told[0].starts_with(words) && told[0].contains("venue's own page"), "{told:?}");
        pass(&mut desk, 10_001);
        let problems = desk.guard.problems(desk.now);
        assert!(problems.iter().any(|text| text.contains(&told[0])), "{problems:?}");
        assert_eq!(desk.guard.status_json(desk.now, (1_200, 0))["closing"]["flat"], false);
    }
}

#[test]
fn paper_closes_nothing_and_so_is_never_said_to_be_flat() {
    let mut desk = Desk::paper();
    desk.step(kill());
    assert_eq!(desk.guard.status_json(desk.now, (1_200, 0))["closing"].clone(), Value::Null);
}
