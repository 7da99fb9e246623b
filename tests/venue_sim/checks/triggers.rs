//! Triggers: arming, firing on the mark, and what they then do.

use super::*;
use crate::sim::engine::settings::{MetTrigger, TriggerLimit, TriggerReply};

fn long() -> Engine {
    let mut engine = engine();
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    engine
}

#[test]
fn a_stop_fires_at_its_price_and_not_before() {
    let mut engine = long();
    let order = oid(&place(&mut engine, stop(false, "0.1", "58000", true)));
    price(&mut engine, "58001");
    assert_eq!(engine.szi(BTC), dec("0.1"));
    price(&mut engine, "58000");
    assert_eq!(engine.szi(BTC), dec("0"));
    let statuses: Vec<_> =
        engine.history.iter().filter(|record| record.order.oid == order).map(|record| record.status).collect();
    assert_eq!(statuses, ["open", "triggered", "filled"]);
    assert_eq!(engine.records[&order].order.spec.px, dec("52200"), "a tenth below the mark at that time");
}

#[test]
fn a_take_profit_fires_on_the_other_side() {
    let mut engine = long();
    place(&mut engine, stop(false, "0.1", "62000", false));
    price(&mut engine, "61999");
    assert_eq!(engine.szi(BTC), dec("0.1"));
    price(&mut engine, "62000");
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn triggers_watch_the_mark_and_not_the_mid() {
    let mut engine = long();
    place(&mut engine, stop(false, "0.1", "58000", true));
    engine.set_price("BTC", dec("57000"), dec("58001"));
    assert_eq!(engine.szi(BTC), dec("0.1"));
}

#[test]
fn a_condition_already_met_is_refused_or_fires() {
    let mut engine = long();
    assert_eq!(error(&place(&mut engine, stop(false, "0.1", "60000", true))), "Invalid TP/SL price.");
    engine.settings.met_trigger = MetTrigger::Fire;
    place(&mut engine, stop(false, "0.1", "60000", true));
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn the_limit_price_lies_anywhere_or_beyond_the_trigger() {
    let short_of = |limit_px: &str| Spec { px: dec(limit_px), ..stop(false, "0.1", "58000", true) };
    let mut engine = long();
    assert!(matches!(place(&mut engine, short_of("59000")), Status::Resting { .. }));
    engine.settings.trigger_limit = TriggerLimit::Beyond;
    assert_eq!(error(&place(&mut engine, short_of("58001"))), "Invalid TP/SL price.");
    assert!(matches!(place(&mut engine, short_of("58000")), Status::Resting { .. }));
}

#[test]
fn a_reduce_only_trigger_needs_a_position_or_not() {
    let mut engine = engine();
    let refused = place(&mut engine, stop(false, "0.1", "58000", true));
    assert_eq!(error(&refused), "Reduce only order would increase position.");
    engine.settings.reduce_only_trigger_needs_position = false;
    let order = oid(&place(&mut engine, stop(false, "0.1", "58000", true)));
    price(&mut engine, "57000");
    assert_eq!(engine.records[&order].status, "reduceOnlyCanceled", "nothing to reduce when it fired");
}

#[test]
fn a_stop_larger_than_the_position_only_closes_it() {
    let mut engine = long();
    place(&mut engine, stop(false, "0.5", "58000", true));
    price(&mut engine, "57000");
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn a_stop_without_a_book_is_lost() {
    let mut engine = long();
    let order = oid(&place(&mut engine, stop(false, "0.1", "58000", true)));
    engine.market_mut(BTC).unwrap().depth = Some(dec("0"));
    price(&mut engine, "57000");
    assert_eq!(engine.records[&order].status, "marketOrderNoLiquidityRejected");
    assert_eq!(engine.szi(BTC), dec("0.1"));
}

#[test]
fn a_stop_limit_may_rest_unfilled() {
    let mut engine = long();
    let trigger = Trigger { is_market: false, px: dec("58000"), is_stop: true };
    let spec = Spec { kind: Kind::Trigger(trigger), px: dec("57900"), ..stop(false, "0.1", "58000", true) };
    let order = oid(&place(&mut engine, spec));
    price(&mut engine, "57000");
    assert_eq!(engine.szi(BTC), dec("0.1"), "the market gapped past its limit");
    assert!(engine.orders[&order].triggered);
    price(&mut engine, "57900");
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn a_trigger_that_opens_is_an_entry() {
    let mut engine = engine();
    place(&mut engine, Spec { reduce_only: false, ..stop(true, "0.1", "61000", true) });
    price(&mut engine, "61000");
    assert_eq!(engine.szi(BTC), dec("0.1"));
}

#[test]
fn the_reply_to_a_stand_alone_trigger_reads_either_way() {
    let mut engine = long();
    engine.settings.trigger_reply = TriggerReply::Waiting;
    assert_eq!(place(&mut engine, stop(false, "0.1", "58000", true)), Status::WaitingForTrigger);
}

#[test]
fn triggers_can_be_told_to_fail() {
    let mut engine = long();
    engine.settings.refuse_triggers = Some("no".into());
    assert_eq!(error(&place(&mut engine, stop(false, "0.1", "58000", true))), "no");
}
