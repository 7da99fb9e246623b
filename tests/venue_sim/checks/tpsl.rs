//! The bond between a parent and its children, and the triggers that belong to a position.

use super::*;
use crate::sim::engine::OrderRef;
use crate::sim::engine::order::Stage;
use crate::sim::engine::settings::PartialParent;

/// A long entry with a stop loss and a take profit.
fn bracket(tif: Tif, px: &str) -> Vec<Spec> {
    vec![limit(BTC, true, "0.1", px, tif), stop(false, "0.1", "57000", true), stop(false, "0.1", "63000", false)]
}

fn stages(engine: &Engine) -> Vec<Stage> {
    engine.orders.values().map(|order| order.stage).collect()
}

#[test]
fn children_wait_for_a_resting_parent_and_wake_when_it_fills() {
    let mut engine = engine();
    let statuses = engine.place_batch(bracket(Tif::Gtc, "59000"), Grouping::NormalTpsl);
    assert!(matches!(statuses[0], Status::Resting { .. }));
    assert_eq!(statuses[1..], [Status::WaitingForFill, Status::WaitingForFill]);
    assert_eq!(stages(&engine), [Stage::Resting, Stage::Waiting, Stage::Waiting]);
    price(&mut engine, "58900");
    assert_eq!(stages(&engine), [Stage::Armed, Stage::Armed]);
    price(&mut engine, "56900");
    assert_eq!(engine.szi(BTC), dec("0"));
    assert_eq!(fates(&engine), ["filled", "filled", "siblingFilledCanceled"]);
}

#[test]
fn children_of_a_parent_filled_at_once_watch_at_once() {
    let mut engine = engine();
    let statuses = engine.place_batch(bracket(Tif::Ioc, "60100"), Grouping::NormalTpsl);
    assert!(matches!(statuses[0], Status::Filled { .. }));
    assert_eq!(statuses[1..], [Status::WaitingForTrigger, Status::WaitingForTrigger]);
    price(&mut engine, "63000");
    assert_eq!(fates(&engine), ["filled", "siblingFilledCanceled", "filled"]);
}

#[test]
fn one_gap_fills_the_parent_and_fires_its_stop() {
    let mut engine = engine();
    engine.place_batch(bracket(Tif::Gtc, "59000"), Grouping::NormalTpsl);
    price(&mut engine, "56000");
    assert_eq!(engine.szi(BTC), dec("0"));
    assert_eq!(engine.fills.len(), 2);
}

#[test]
fn a_partly_filled_parent_has_no_live_stop_and_its_cancel_takes_the_children() {
    let mut engine = engine();
    let statuses = engine.place_batch(bracket(Tif::Gtc, "59000"), Grouping::NormalTpsl);
    engine.market_mut(BTC).unwrap().depth = Some(dec("0.04"));
    price(&mut engine, "58900");
    assert_eq!(engine.szi(BTC), dec("0.04"));
    assert_eq!(stages(&engine), [Stage::Resting, Stage::Waiting, Stage::Waiting]);
    engine.cancel(BTC, &OrderRef::Oid(oid(&statuses[0])), false).unwrap();
    assert!(engine.orders.is_empty());
    assert_eq!(fates(&engine), ["canceled", "canceled", "canceled"]);
}

#[test]
fn a_parent_out_of_margin_after_a_part_places_its_children() {
    let mut engine = engine();
    let mut orders = bracket(Tif::Gtc, "59000");
    orders[0].sz = dec("3");
    engine.place_batch(orders, Grouping::NormalTpsl);
    engine.market_mut(BTC).unwrap().depth = Some(dec("0.1"));
    price(&mut engine, "58999");
    engine.deposit(dec("-9500"), 0);
    price(&mut engine, "58999");
    assert_eq!(fates(&engine)[0], "marginCanceled");
    assert_eq!(stages(&engine), [Stage::Armed, Stage::Armed]);
}

#[test]
fn an_ioc_parent_filled_in_part_reads_both_ways() {
    for (reading, left) in [(PartialParent::Cancel, 0), (PartialParent::Activate, 2)] {
        let mut engine = engine();
        engine.settings.partial_parent = reading;
        engine.market_mut(BTC).unwrap().depth = Some(dec("0.01"));
        engine.place_batch(bracket(Tif::Ioc, "60001"), Grouping::NormalTpsl);
        assert_eq!((engine.szi(BTC), engine.orders.len()), (dec("0.01"), left));
    }
}

#[test]
fn a_refused_parent_takes_its_children_along() {
    let mut engine = engine();
    let statuses = engine.place_batch(bracket(Tif::Alo, "60100"), Grouping::NormalTpsl);
    assert_eq!(statuses.len(), 3);
    assert!(statuses.iter().all(|status| matches!(status, Status::Error(_))));
    assert!(engine.orders.is_empty());
}

#[test]
fn the_shape_of_a_group_is_checked_before_anything_happens() {
    let mut engine = engine();
    let entry = || limit(BTC, true, "0.1", "59000", Tif::Gtc);
    let sl = || stop(false, "0.1", "57000", true);
    for (orders, text) in [
        (vec![sl(), sl()], "Main order cannot be trigger order."),
        (vec![entry()], "Unexpected number of trigger orders"),
        (vec![entry(), sl(), sl(), sl()], "Unexpected number of trigger orders"),
        (vec![entry(), Spec { reduce_only: false, ..sl() }], "TP/SL orders must be reduce only."),
    ] {
        assert_eq!(engine.place_batch(orders, Grouping::NormalTpsl), [Status::Error(text.into())]);
    }
    assert!(engine.records.is_empty());
}

#[test]
fn a_whole_position_stop_follows_the_position_and_ends_with_it() {
    let mut engine = engine();
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    let orders = || vec![stop(false, "0", "58000", true)];
    assert_eq!(engine.place_batch(orders(), Grouping::PositionTpsl), [Status::WaitingForTrigger]);
    engine.trade_by_hand(BTC, dec("0.3"), dec("60000"));
    price(&mut engine, "57000");
    assert_eq!(engine.szi(BTC), dec("0"), "all 0.3 closed");

    price(&mut engine, "60000");
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    engine.place_batch(orders(), Grouping::PositionTpsl);
    engine.trade_by_hand(BTC, dec("0"), dec("60000"));
    assert_eq!(fates(&engine).last(), Some(&"reduceOnlyCanceled"));
    assert!(engine.orders.is_empty());
}

#[test]
fn a_modified_child_stays_its_parents_child() {
    let mut engine = engine();
    engine.place_batch(bracket(Tif::Gtc, "59000"), Grouping::NormalTpsl);
    let child = *engine.orders.keys().nth(1).unwrap();
    engine.modify(&OrderRef::Oid(child), stop(false, "0.1", "57500", true), false).unwrap();
    let take_profit = OrderRef::Oid(*engine.orders.keys().nth(1).unwrap());
    let below_the_mark = stop(false, "0.1", "59500", false);
    engine.modify(&take_profit, below_the_mark, false).expect("judged against the parent's price while it waits");
    assert_eq!(stages(&engine), [Stage::Resting, Stage::Waiting, Stage::Waiting]);
    price(&mut engine, "58900");
    price(&mut engine, "57500");
    assert_eq!(engine.szi(BTC), dec("0"));
    assert!(engine.orders.is_empty(), "the sibling ended with it");
}

#[test]
fn a_modified_parent_keeps_its_children() {
    let mut engine = engine();
    let statuses = engine.place_batch(bracket(Tif::Gtc, "59000"), Grouping::NormalTpsl);
    let parent = OrderRef::Oid(oid(&statuses[0]));
    engine.modify(&parent, limit(BTC, true, "0.1", "59500", Tif::Gtc), false).unwrap();
    price(&mut engine, "59400");
    assert_eq!(stages(&engine), [Stage::Armed, Stage::Armed]);
}
