//! The end of a position is believed on the second read that shows it, or where it is known by itself; until then its line and
//! its stops stay.

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::protecting::protected;
use crate::guard::{Effects, Input, Read};
use crate::venue::side::PositionSide;

/// A long whose stop of the guard's at 1960 was read, with the price a little above that.
fn near_its_stop() -> Desk {
    let mut desk = protected("ETH", dec!(1));
    desk.mids.insert("ETH".into(), dec!(1970));
    desk.wait(1_000);
    assert_eq!(line(&desk), Some(dec!(1960)));
    desk
}

/// Where the line of ETH stands.
fn line(desk: &Desk) -> Option<Decimal> {
    desk.guard.lines.get(ETH)?.covered_parts().first().map(|part| part.px)
}

/// All is read `ms` later; what goes out.
fn sent_after(desk: &mut Desk, ms: u64) -> Vec<Value> {
    desk.now += ms;
    let read = [desk.read_mids(desk.now), desk.read_account(desk.now), desk.read_orders(desk.now)];
    let ticked = desk.step(Input::Tick);
    let sent = |effects: &Effects| sends(effects).into_iter().map(|send| json_of(&send.action)).collect::<Vec<_>>();
    read.iter().chain([&ticked]).flat_map(sent).collect()
}

fn types(sent: &[Value]) -> Vec<&str> {
    sent.iter().map(|action| action["type"].as_str().unwrap()).collect()
}

/// Two reads are needed, of two moments of the venue's.
#[test]
fn one_read_without_the_position_takes_neither_stop_nor_line() {
    let mut desk = near_its_stop();
    desk.positions.clear();
    assert!(sent_after(&mut desk, 1_000).is_empty());
    assert!(desk.guard.lines.ended.may_be_held(ETH, PositionSide::Long));
    desk.order(close(ETH, false, "1960", "1")).reduces();
    // The same moment once more is the same witness.
    let still = desk.state(desk.now);
    desk.now += 2_000;
    let equity = desk.equity;
    let again = desk.step(Input::Account { state: still, equity, begun_ms: desk.now });
    assert!(sends(&again).is_empty());
    // A read that shows it again: all is as before.
    desk.positions.insert("ETH", dec!(1));
    assert!(sent_after(&mut desk, 1_000).is_empty());
    assert_eq!((line(&desk), desk.guard.lines.ended.is_empty()), (Some(dec!(1960)), true));
    // A second one without it: the stop goes.
    desk.positions.clear();
    assert!(sent_after(&mut desk, 1_000).is_empty());
    let sent = sent_after(&mut desk, 11_000);
    assert_eq!(types(&sent), ["cancel"], "{sent:?}");
    assert!(desk.guard.lines.ended.is_empty());
}

/// A read with the other side of it is no better.
#[test]
fn one_read_of_the_other_side_moves_no_line() {
    let mut desk = near_its_stop();
    desk.positions.insert("ETH", dec!(-1));
    let sent = sent_after(&mut desk, 1_000);
    assert!(!types(&sent).contains(&"cancel"), "{sent:?}");
    desk.positions.insert("ETH", dec!(1));
    desk.now += 1_000;
    desk.read_account(desk.now);
    assert_eq!(line(&desk), Some(dec!(1960)));
}

/// While all must be closed the next read is asked for at once; elsewhere it costs the weight of entries, and harms nobody later.
#[test]
fn a_doubted_end_is_looked_at_again() {
    for is_killed in [true, false] {
        let mut desk = near_its_stop();
        if is_killed {
            desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None });
        }
        desk.positions.clear();
        desk.now += 1_000;
        assert_eq!(reads(&desk.read_account(desk.now)).contains(&&Read::AccountNow), is_killed);
    }
}

/// What the venue told to have filled explains it, if it comes to all of it; and so does a price at its line.
#[test]
fn an_end_that_is_known_is_believed_at_once() {
    for (filled, is_known) in [("1", true), ("0.99", false)] {
        let mut desk = near_its_stop();
        let seq = desk.order(close(ETH, false, "1965", "1")).seq();
        desk.now += 100;
        desk.answer(seq, 0, statuses(json!([{"filled": {"totalSz": filled, "avgPx": "1970", "oid": 9}}])));
        desk.positions.clear();
        desk.now += 100;
        desk.read_account(desk.now);
        assert_eq!((line(&desk), desk.guard.lines.ended.is_empty()), (None, is_known), "{filled}");
    }
    for (px, is_known) in [(dec!(1960), true), (dec!(1960.1), false)] {
        let mut desk = near_its_stop();
        desk.mids.insert("ETH".into(), px);
        desk.positions.clear();
        desk.now += 1_000;
        desk.read_mids(desk.now);
        desk.read_account(desk.now);
        assert_eq!(desk.guard.lines.ended.is_empty(), is_known, "{px}");
    }
}

/// Closed and opened anew around one read: the entry price tells, which has gone to the market's.
#[test]
fn a_position_opened_anew_has_a_line_of_its_own() {
    for (entry_px, is_kept) in [("2000", true), ("1973.1", true), ("1973", false), ("1970", false)] {
        let mut desk = near_its_stop();
        let entered = |desk: &Desk, px: &str| {
            let mut state = desk.state(desk.now);
            state.asset_positions[0].position.entry_px = Some(px.parse().unwrap());
            state
        };
        let equity = desk.equity;
        desk.now += 1_000;
        desk.step(Input::Account { state: entered(&desk, "2000"), equity, begun_ms: desk.now });
        desk.positions.clear();
        desk.now += 1_000;
        desk.read_account(desk.now);
        // Of another size, and the stop is gone with the first.
        desk.orders.clear();
        desk.read_orders(desk.now);
        desk.positions.insert("ETH", dec!(0.5));
        desk.now += 1_000;
        desk.step(Input::Account { state: entered(&desk, entry_px), equity, begun_ms: desk.now });
        assert_eq!(line(&desk), is_kept.then_some(dec!(1960)), "{entry_px}");
    }
}

/// While all must be closed as well.
#[test]
fn a_flatten_waits_for_the_second_read_before_it_takes_the_stops() {
    let mut desk = near_its_stop();
    let effects = desk.step(Input::Kill { reason: "enough".into(), by: None, write_file: false, request: None });
    let flatten = events(&effects).into_iter().find(|event| event["kind"] == "flatten").unwrap();
    desk.answer(flatten["seq"].as_u64().unwrap(), 0, statuses(json!([{"error": "there is no liquidity"}])));
    desk.positions.clear();
    for (read, cancels) in [0, 1, 0].into_iter().enumerate() {
        desk.now += 1_000;
        let sent = [desk.read_account(desk.now), desk.read_orders(desk.now)];
        let sent: Vec<Value> = sent.iter().flat_map(sends).map(|send| json_of(&send.action)).collect();
        assert_eq!(types(&sent), vec!["cancel"; cancels], "{read}: {sent:?}");
    }
}

/// A life that ends between the two reads leaves the line to the next one.
#[test]
fn a_checkpoint_holds_the_line_of_a_doubted_end() {
    let mut desk = near_its_stop();
    desk.positions.clear();
    desk.now += 1_000;
    desk.read_account(desk.now);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    assert_eq!(checkpoint["lines"].as_array().unwrap().len(), 1, "{checkpoint}");
    desk.now += 1_000;
    desk.read_account(desk.now);
    let checkpoint: Value = serde_json::from_str(&desk.guard.checkpoint(desk.now)).unwrap();
    assert!(checkpoint["lines"].as_array().is_none_or(Vec::is_empty), "{checkpoint}");
}

/// A cancel that the venue refuses, however often, is not sent again without a pause.
#[test]
fn an_idle_stop_that_reads_go_on_showing_is_cancelled_with_pauses() {
    let gone = statuses(json!([{"error": "Order was never placed, already canceled, or filled."}]));
    let none = json!({"status": "err", "response": "User or API Wallet does not exist."});
    for reply in [gone, none] {
        let mut desk = near_its_stop();
        desk.positions.clear();
        sent_after(&mut desk, 1_000);
        let cancels = |desk: &mut Desk, ms: u64| -> usize {
            desk.now += ms;
            let read = [desk.read_account(desk.now), desk.read_orders(desk.now), desk.step(Input::Tick)];
            let sent: Vec<_> = read.iter().flat_map(sends).collect();
            for send in &sent {
                assert_eq!(json_of(&send.action)["type"], "cancel");
                desk.answer(send.intent, send.index, reply.clone());
            }
            sent.len()
        };
        assert_eq!(cancels(&mut desk, 11_000), 1);
        for pause_ms in [1_000, 2_000, 4_000] {
            assert_eq!([cancels(&mut desk, pause_ms - 1), cancels(&mut desk, 1)], [0, 1], "{pause_ms}");
        }
    }
}
