//! Placing, matching, reduce-only, cancels and modifies.

use super::*;
use crate::sim::engine::settings::{Oversized, PartialGtc, ReduceOnlyMinimum};
use crate::sim::engine::{AmendError, OrderRef};

#[test]
fn an_ioc_walks_the_book_and_drops_what_is_left() {
    let mut engine = engine();
    engine.market_mut(BTC).unwrap().depth = Some(dec("0.1"));
    let status = place(&mut engine, limit(BTC, true, "0.5", "60002", Tif::Ioc));
    let Status::Filled { total_sz, avg_px, oid, .. } = status else { panic!("{status:?}") };
    assert_eq!((total_sz, avg_px), (dec("0.2"), dec("60001.5")));
    assert_eq!(engine.records[&oid].status, "filled");
    assert!(engine.orders.is_empty());
    let fees: Vec<_> = engine.fills.iter().map(|fill| fill.fee).collect();
    assert_eq!(fees, [dec("2.700045"), dec("2.70009")]);
}

#[test]
fn fees_are_cut_off_behind_six_decimals() {
    let mut engine = engine();
    engine.market_mut(ETH).unwrap().mid = dec("2500.3");
    place(&mut engine, limit(ETH, true, "0.0111", "2600", Tif::Ioc));
    // 2500.4 * 0.0111 * 0.00045 = 0.012489498
    assert_eq!(engine.fills[0].fee, dec("0.012489"));
}

#[test]
fn an_ioc_that_reaches_nothing_is_refused_and_remembered() {
    let mut engine = engine();
    let status = place(&mut engine, limit(BTC, true, "0.1", "59999", Tif::Ioc));
    assert_eq!(error(&status), "Order could not immediately match against any resting orders.");
    assert_eq!(fates(&engine), ["iocCancelRejected"]);
}

#[test]
fn post_only_never_takes() {
    let mut engine = engine();
    let status = place(&mut engine, limit(BTC, true, "0.1", "60001", Tif::Alo));
    assert_eq!(error(&status), "Post only order would have immediately matched, bbo was 59999@60001.");
    let status = place(&mut engine, limit(BTC, true, "0.1", "60000", Tif::Alo));
    assert!(matches!(status, Status::Resting { .. }));
}

#[test]
fn a_resting_order_fills_as_maker_when_the_mid_reaches_it() {
    let mut engine = engine();
    let order = oid(&place(&mut engine, limit(BTC, true, "0.1", "59000", Tif::Gtc)));
    price(&mut engine, "59001");
    assert_eq!(engine.szi(BTC), dec("0"));
    price(&mut engine, "59000");
    assert_eq!(engine.szi(BTC), dec("0.1"));
    let fill = &engine.fills[0];
    assert_eq!((fill.px, fill.crossed, fill.fee), (dec("59000"), false, dec("0.885")));
    assert_eq!(engine.records[&order].status, "filled");
}

#[test]
fn a_shallow_book_fills_a_resting_order_in_parts() {
    let mut engine = engine();
    place(&mut engine, limit(BTC, true, "0.1", "59000", Tif::Gtc));
    engine.market_mut(BTC).unwrap().depth = Some(dec("0.04"));
    for expected in ["0.04", "0.08", "0.1"] {
        price(&mut engine, "58900");
        assert_eq!(engine.szi(BTC), dec(expected));
    }
    assert!(engine.orders.is_empty());
}

#[test]
fn a_partly_filled_gtc_reads_as_either() {
    for (reading, filled) in [(PartialGtc::Filled, true), (PartialGtc::Resting, false)] {
        let mut engine = engine();
        engine.settings.partial_gtc = reading;
        engine.market_mut(BTC).unwrap().depth = Some(dec("0.01"));
        let status = place(&mut engine, limit(BTC, true, "0.1", "60001", Tif::Gtc));
        assert_eq!(matches!(status, Status::Filled { .. }), filled, "{status:?}");
        assert_eq!(engine.orders.values().next().unwrap().remaining, dec("0.09"));
    }
}

#[test]
fn an_own_resting_order_in_the_way_is_cancelled() {
    let mut engine = engine();
    let own = oid(&place(&mut engine, limit(BTC, false, "0.1", "60002", Tif::Gtc)));
    place(&mut engine, limit(BTC, true, "0.1", "60001", Tif::Ioc));
    assert!(engine.orders.contains_key(&own), "the book at 60001 was enough");
    engine.market_mut(BTC).unwrap().depth = Some(dec("0.01"));
    place(&mut engine, limit(BTC, true, "0.1", "60005", Tif::Ioc));
    assert_eq!(engine.records[&own].status, "selfTradeCanceled");
}

#[test]
fn price_size_and_value_have_their_limits() {
    let mut engine = engine();
    for (sz, px, text) in [
        ("0.1", "59999.5", "Price must be divisible by tick size."),
        ("0.000001", "59000", "Order has invalid size."),
        ("0", "59000", "Order has zero size."),
        ("0.0001", "59000", "Order must have minimum value of $10."),
        ("0.1", "11999", "Order price cannot be more than 80% away from the reference price"),
        ("4", "59000", "Insufficient margin to place order."),
    ] {
        let status = place(&mut engine, limit(BTC, true, sz, px, Tif::Gtc));
        assert_eq!(error(&status), text, "{sz} at {px}");
    }
    assert!(matches!(place(&mut engine, limit(BTC, true, "0.1", "12000", Tif::Gtc)), Status::Resting { .. }));
    assert_eq!(error(&place(&mut engine, limit(MATIC, true, "100", "0.4", Tif::Gtc))), "Trading is halted");
    assert_eq!(engine.place_batch(vec![], Grouping::Na), [Status::Error("Orders are empty.".into())]);
}

#[test]
fn a_batch_that_fails_as_a_whole_has_one_status_and_no_record() {
    let mut engine = engine();
    let batch = vec![limit(BTC, true, "0.1", "59000", Tif::Gtc), limit(BTC, true, "0.0000001", "59000", Tif::Gtc)];
    assert_eq!(engine.place_batch(batch, Grouping::Na), [Status::Error("Order has invalid size.".into())]);
    assert!(engine.records.is_empty());
}

#[test]
fn resting_orders_hold_margin_at_their_limit() {
    let mut engine = engine();
    // 20x on 10,000: 200,000 of notional in all.
    place(&mut engine, limit(BTC, true, "3", "50000", Tif::Gtc));
    assert_eq!(engine.free_margin(), dec("2500"));
    let status = place(&mut engine, limit(BTC, true, "1.01", "50000", Tif::Gtc));
    assert_eq!(error(&status), "Insufficient margin to place order.");
    assert!(matches!(place(&mut engine, limit(BTC, true, "1", "50000", Tif::Gtc)), Status::Resting { .. }));
}

#[test]
fn a_resting_order_without_margin_at_its_match_is_cancelled() {
    let mut engine = engine();
    let order = oid(&place(&mut engine, limit(BTC, true, "3", "50000", Tif::Gtc)));
    engine.deposit(dec("-9000"), 0);
    price(&mut engine, "49900");
    assert_eq!(engine.records[&order].status, "marginCanceled");
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn reduce_only_needs_something_to_reduce_and_is_cut_to_it() {
    let mut engine = engine();
    let sell = || reducing(limit(BTC, false, "0.3", "59000", Tif::Ioc));
    assert_eq!(error(&place(&mut engine, sell())), "Reduce only order would increase position.");
    engine.trade_by_hand(BTC, dec("-0.1"), dec("60000"));
    assert_eq!(error(&place(&mut engine, sell())), "Reduce only order would increase position.");
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    engine.settings.oversized_reduce_only = Oversized::Reject;
    assert_eq!(error(&place(&mut engine, sell())), "Reduce only order would increase position.");
    engine.settings.oversized_reduce_only = Oversized::Cap;
    let status = place(&mut engine, sell());
    assert!(matches!(status, Status::Filled { total_sz, .. } if total_sz == dec("0.1")), "{status:?}");
    assert_eq!(engine.szi(BTC), dec("0"));
}

#[test]
fn resting_reduce_only_orders_share_the_position() {
    let mut engine = engine();
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    let sell = |sz| reducing(limit(BTC, false, sz, "61000", Tif::Gtc));
    let first = oid(&place(&mut engine, sell("0.04")));
    let second = oid(&place(&mut engine, sell("0.06")));
    assert!(engine.orders.contains_key(&first) && engine.orders.contains_key(&second));
    let third = oid(&place(&mut engine, sell("0.02")));
    assert_eq!(engine.records[&first].status, "reduceOnlyCanceled", "the oldest goes whole");
    engine.cancel(BTC, &OrderRef::Oid(third), false).unwrap();
    engine.trade_by_hand(BTC, dec("0.04"), dec("60000"));
    assert_eq!(engine.orders[&second].remaining, dec("0.04"));
    engine.trade_by_hand(BTC, dec("0"), dec("60000"));
    assert_eq!(engine.records[&second].status, "reduceOnlyCanceled");
}

#[test]
fn a_close_below_the_minimum_reads_three_ways() {
    for (reading, part, whole) in [
        (ReduceOnlyMinimum::CloseExempt, false, true),
        (ReduceOnlyMinimum::Exempt, true, true),
        (ReduceOnlyMinimum::Rejected, false, false),
    ] {
        let mut engine = engine();
        engine.settings.min_notional_reduce_only = reading;
        engine.trade_by_hand(BTC, dec("0.00015"), dec("60000"));
        for (sz, passes) in [("0.00005", part), ("0.00015", whole)] {
            let status = place(&mut engine, reducing(limit(BTC, false, sz, "61000", Tif::Gtc)));
            assert_eq!(matches!(status, Status::Resting { .. }), passes, "{reading:?} {sz}: {status:?}");
        }
    }
}

#[test]
fn a_cancel_needs_a_live_order_of_that_market() {
    let mut engine = engine();
    let order = oid(&place(&mut engine, limit(BTC, true, "0.1", "59000", Tif::Gtc)));
    let by_oid = OrderRef::Oid(order);
    assert_eq!(engine.cancel(ETH, &by_oid, false), Err(AmendError::MissingOrder));
    assert_eq!(engine.cancel(BTC, &by_oid, false), Ok(()));
    assert_eq!(engine.cancel(BTC, &by_oid, false), Err(AmendError::MissingOrder));
    assert_eq!(engine.records[&order].status, "canceled");
}

#[test]
fn a_modify_places_anew_under_a_new_id() {
    let mut engine = engine();
    let cloid = Some("0x00000000000000000000000000000001".to_owned());
    let with_cloid = |px| Spec { cloid: cloid.clone(), ..limit(BTC, true, "0.1", px, Tif::Gtc) };
    let old = oid(&place(&mut engine, with_cloid("59000")));
    let new = engine.modify(&OrderRef::Oid(old), with_cloid("59500"), false).unwrap();
    assert_ne!(oid(&new), old);
    assert_eq!(engine.records[&old].status, "canceled");
    assert_eq!(engine.cloids[cloid.as_ref().unwrap()], oid(&new), "the client's id names the new order");
    assert_eq!(engine.modify(&OrderRef::Oid(old), with_cloid("59500"), false), Err(AmendError::Gone));
}

#[test]
fn a_modify_whose_new_order_is_refused_loses_or_keeps_the_old_one() {
    for keeps in [false, true] {
        let mut engine = engine();
        engine.settings.failed_modify_keeps_order = keeps;
        let old = oid(&place(&mut engine, limit(BTC, true, "0.1", "59000", Tif::Gtc)));
        let refused = engine.modify(&OrderRef::Oid(old), limit(BTC, true, "9", "59000", Tif::Gtc), false);
        assert!(matches!(refused, Err(AmendError::NewOrder(_))), "{refused:?}");
        assert_eq!(engine.orders.contains_key(&old), keeps);
    }
}

#[test]
fn isolated_only_markets_start_isolated() {
    let mut engine = engine();
    assert_eq!(engine.update_leverage(VVV, true, 2), Err(AmendError::IsolatedOnly));
    place(&mut engine, limit(VVV, true, "10", "3.1", Tif::Ioc));
    assert!(engine.account.positions[&VVV].isolated_usd.is_some());
}

#[test]
fn open_orders_are_bounded() {
    let mut engine = engine();
    engine.settings.open_orders_limit = 2;
    engine.trade_by_hand(BTC, dec("0.1"), dec("60000"));
    let rest = |engine: &mut Engine| place(engine, limit(BTC, true, "0.001", "50000", Tif::Gtc));
    rest(&mut engine);
    assert!(matches!(place(&mut engine, stop(false, "0.1", "58000", true)), Status::Resting { .. }));
    assert_eq!(error(&rest(&mut engine)), "Too many open orders.");
    engine.settings.prior_volume = dec("5000000");
    assert!(matches!(rest(&mut engine), Status::Resting { .. }), "one more for five million traded");
    assert_eq!(error(&place(&mut engine, stop(false, "0.1", "58000", true))), "Too many open orders.");
}
