//! Fills of one millisecond, told one after the other in whatever order: feed and reads bring them as they come.

use super::world::BookWorld;
use crate::guard::state::book::chains::Chains;
use crate::venue::fill::Fill;
use proptest::prelude::*;
use rust_decimal::Decimal;
use serde_json::{Value, json};

/// Fills of these sizes at these moments, each from where the one before it ended.
fn fills(from: i64, steps: &[(u64, i64)]) -> Vec<Fill> {
    let mut at = from;
    let fills = (1_u64..).zip(steps).map(|(tid, (time, step))| {
        let row = json!({"coin": "ETH", "px": "1", "sz": step.abs().to_string(), "side": if *step > 0 { "B" } else { "A" },
            "time": time, "startPosition": at.to_string(), "closedPnl": "0", "oid": 1, "crossed": true, "fee": "0", "tid": tid,
            "feeToken": "USDC"});
        at += step;
        serde_json::from_value(row).unwrap()
    });
    fills.collect()
}

fn shuffle<T>(of: &mut [T], mut dice: u64) {
    for place in (1..of.len()).rev() {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        of.swap(place, usize::try_from(dice >> 33).unwrap() % (place + 1));
    }
}

proptest! {
    /// Whatever comes first: once all came nothing is missing, and the next fill begins where the last one ended.
    #[test]
    fn nothing_is_missing_once_all_of_a_moment_came(
        one_way in prop::collection::vec(1_i64..=3, 1..6), is_up in any::<bool>(), is_known in any::<bool>(), dice in any::<u64>()
    ) {
        let mut steps: Vec<(u64, i64)> = vec![(5, 4)];
        steps.extend(one_way.iter().map(|step| (9, if is_up { *step } else { -*step })));
        steps.push((12, 1));
        let mut all = fills(0, &steps);
        let (last, first) = (all.pop().unwrap(), all.remove(0));
        let mut chains = Chains::default();
        if is_known {
            prop_assert!(!chains.add([&first], 100));
        }
        shuffle(&mut all, dice);
        all.iter().for_each(|fill| _ = chains.add([fill], 100));
        prop_assert!(chains.gaps.is_empty(), "{:?}", chains.gaps);
        prop_assert!(!chains.add([&last], 100) && chains.gaps.is_empty(), "{:?}", chains.gaps);
    }

    /// One that the feed has lost is read after the next moment's.
    #[test]
    fn what_is_lost_of_a_moment_is_missing_until_it_comes(
        one_way in prop::collection::vec(1_i64..=3, 3..7), lost in 0_usize..8, is_next in any::<bool>(), dice in any::<u64>()
    ) {
        let mut steps: Vec<(u64, i64)> = vec![(5, 4)];
        steps.extend(one_way.iter().map(|step| (9, *step)));
        steps.push((12, 1));
        let mut all = fills(0, &steps);
        let (next, first) = (all.pop().unwrap(), all.remove(0));
        let lost = all.remove(lost % all.len());
        let mut chains = Chains::default();
        chains.add([&first], 100);
        shuffle(&mut all, dice);
        all.iter().for_each(|fill| _ = chains.add([fill], 100));
        if is_next {
            chains.add([&next], 100);
            prop_assert_eq!(chains.gaps.len(), 1, "{:?}", chains.gaps);
        }
        chains.add([&lost], 100);
        if !is_next {
            chains.add([&next], 100);
        }
        prop_assert!(chains.gaps.is_empty(), "{:?}", chains.gaps);
    }

    /// Of three moments the feed tells some fills only, on both sides of what it loses; a read brings the others, in pages.
    #[test]
    fn what_is_lost_on_both_sides_of_a_moment_is_missing_until_it_is_read(
        told in prop::collection::vec((0_u64..3, prop::sample::select(vec![-2_i64, -1, 1, 2, 3]), any::<bool>()), 4..14), dice in any::<u64>()
    ) {
        let mut told = told;
        told.sort_by_key(|(moment, ..)| *moment);
        let steps: Vec<(u64, i64)> = [(5, 4)].into_iter().chain(told.iter().map(|(moment, step, _)| (9 + moment, *step))).collect();
        let mut all = fills(0, &steps);
        let is_told = |place: usize| place == 0 || told[place - 1].2;
        let (first, mut lost): (Vec<_>, Vec<_>) = all.iter().cloned().enumerate().partition(|(place, _)| is_told(*place));
        let mut chains = Chains::default();
        first.iter().for_each(|(_, fill)| _ = chains.add([fill], 100));
        // An answer tells the fills of one moment in any order.
        shuffle(&mut lost, dice);
        let page = chains.in_order(lost.into_iter().map(|(_, fill)| fill).collect());
        chains.add(&page, 100);
        shuffle(&mut all, dice);
        chains.show(&all, 5, u64::MAX);
        prop_assert!(chains.gaps.is_empty(), "{:?}", chains.gaps);
    }
}

fn sizes(world: &BookWorld) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let fills = world.of_kind("fill").into_iter();
    fills.map(|fill| (text(&fill["position_before"]), text(&fill["position_after"]))).collect()
}

/// The feed loses one of three fills of a millisecond, whichever; a read brings it, before the next fill or after that.
#[test]
fn a_fill_that_the_feed_lost_of_a_millisecond_is_not_missing_for_ever() {
    for (lost, is_next_first) in [(0, false), (1, false), (2, false), (0, true), (1, true), (2, true)] {
        let mut world = BookWorld::new(1, true);
        world.venue.trade("ETH", Decimal::ONE, Decimal::ONE_HUNDRED, None);
        world.live(200);
        world.venue.now += 10;
        let of_moment: Vec<Value> =
            (0..3).map(|_| world.venue.trade("ETH", Decimal::ONE, Decimal::ONE_HUNDRED, None)).collect();
        for (_, fill) in of_moment.into_iter().enumerate().filter(|(place, _)| *place != lost) {
            world.tell("userFills", "fills", json!([fill]));
        }
        if !is_next_first {
            world.live(30);
        }
        world.venue.now += 10;
        let next = world.venue.trade("ETH", Decimal::ONE, Decimal::ONE_HUNDRED, None);
        world.tell("userFills", "fills", json!([next]));
        world.live(200);
        world.hold_to_record();
        let missing = |error: &&Value| error["text"].as_str().unwrap().contains("are missing");
        let missing: Vec<_> = world.of_kind("error").into_iter().filter(missing).collect();
        assert!(missing.is_empty(), "{lost} {is_next_first}: {missing:?}");
        assert_eq!(sizes(&world).len(), 5);
    }
}
