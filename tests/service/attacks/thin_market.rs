//! In a thin market whoever quotes there moves the mid, and the mark stays: the venue values positions and fires stops by
//! the mark, so entries must not lose more to it than the rules let.

use std::time::Duration;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::signing::{BTC, ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{held, stops};

const SOL: u32 = 0;
const MARKS: [(&str, Decimal); 3] = [("ETH", dec!(2500)), ("BTC", dec!(60000)), ("SOL", dec!(150))];

fn buy_at_once(asset: u32, px: &str, size: &str) -> Value {
    let mut order = limit(asset, true, px, size);
    order["t"]["limit"]["tif"] = json!("Ioc");
    order
}

/// Puts the mids so many percent over the marks, and waits until the guard has read them.
fn part(stand: &Stand, percent: Decimal) {
    for (coin, mark) in MARKS {
        let mid = mark + mark * percent / dec!(100);
        let price = json!({"op": "price", "coin": coin, "px": mid.to_string(), "mark": mark.to_string()});
        stand.venue.control(&price).unwrap();
    }
    let reads = || stand.venue.truth()["reads"]["allMids"].as_u64().unwrap_or_default();
    let before = reads();
    until("the mids to be read", || (reads() >= before + 2).then_some(()));
}

fn equity(stand: &Stand) -> Decimal {
    stand.venue.truth()["account"]["account_value"].as_str().unwrap().parse().unwrap()
}

/// One request that buys all three at five hundredths of a percent over their mids, as much of each as the cap lets.
fn buy_all(stand: &Stand, percent: Decimal) -> Value {
    let decimals = |coin: &str| match coin {
        "ETH" => (1, 4),
        "BTC" => (0, 5),
        _ => (2, 2),
    };
    let orders = [ETH, BTC, SOL].into_iter().zip(MARKS).map(|(asset, (coin, mark))| {
        let px = (mark + mark * percent / dec!(100)) * dec!(1.0005);
        let (px_decimals, size_decimals) = decimals(coin);
        let size = (dec!(9700) / px).round_dp(size_decimals);
        buy_at_once(asset, &px.round_dp(px_decimals).to_string(), &size.to_string())
    });
    let mut action = place(&Value::Null);
    action["orders"] = orders.collect();
    stand.send(&action)
}

#[test]
fn entries_where_the_mid_stands_away_from_the_mark_lose_no_more_than_the_rules_let() {
    for percent in [dec!(15), dec!(4), dec!(1)] {
        let stand = Stand::up(Mode::Testnet, "");
        part(&stand, percent);
        buy_all(&stand, percent);
        // Open risk is 6 %, and the fees of three fills.
        let at_once = equity(&stand);
        assert!(at_once >= dec!(9370), "{percent} %: {at_once} of 10000 at once");
        // The quotes are gone.
        part(&stand, dec!(0));
        until("what is held to have its stop, or to be gone", || {
            let is_safe = |coin: &str| held(&stand, coin).is_none() || !stops(&stand, coin).is_empty();
            MARKS.iter().all(|(coin, _)| is_safe(coin)).then_some(())
        });
        let left = equity(&stand);
        assert!(left >= dec!(9370), "{percent} %: {left} of 10000 in the end");
    }
}

/// Somebody's quotes hold the mids while the marks fall, and an entry comes half a minute later: nothing that was read when both
/// were the same is true any more.
#[test]
fn entries_are_judged_by_no_mark_of_long_ago() {
    let stand = Stand::up(Mode::Testnet, "");
    for (asset, px, size) in [(ETH, "2400", "0.01"), (BTC, "58000", "0.001"), (SOL, "145", "0.2")] {
        // So that nothing but the mark is to be read for the next one.
        let reply = stand.send(&place(&buy_at_once(asset, px, size)));
        assert_ne!(reply["guard"]["verdict"], "veto", "{reply}");
    }
    for (coin, px) in MARKS {
        let mark = px * dec!(0.95);
        let price = json!({"op": "price", "coin": coin, "px": px.to_string(), "mark": mark.normalize().to_string()});
        stand.venue.control(&price).unwrap();
    }
    std::thread::sleep(Duration::from_secs(31));
    let reply = buy_all(&stand, dec!(0));
    for (coin, px) in MARKS {
        let mark = (px * dec!(0.95)).normalize().to_string();
        stand.venue.control(&json!({"op": "price", "coin": coin, "px": mark, "mark": mark})).unwrap();
    }
    until("what is held to have its stop, or to be gone", || {
        let is_safe = |coin: &str| held(&stand, coin).is_none() || !stops(&stand, coin).is_empty();
        MARKS.iter().all(|(coin, _)| is_safe(coin)).then_some(())
    });
    // Open risk is 6 %, and the fees of three fills.
    let left = equity(&stand);
    assert!(left >= dec!(9370), "{left} of 10000 in the end: {reply}");
}

#[test]
fn a_stop_that_the_mark_has_passed_opens_nothing() {
    let stand = Stand::up(Mode::Testnet, "");
    part(&stand, dec!(15));
    let trigger = json!({"trigger": {"isMarket": true, "triggerPx": "2850", "tpsl": "sl"}});
    let stop = json!({"a": ETH, "b": false, "p": "2700", "s": "0.3", "r": true, "t": trigger});
    let mut group = place(&buy_at_once(ETH, "2876", "0.3"));
    group["orders"].as_array_mut().unwrap().push(stop);
    group["grouping"] = json!("normalTpsl");
    let reply = stand.send(&group);
    assert!(reply.to_string().contains("stop_wrong_side"), "{reply}");
    assert!(reply.to_string().contains("mark 2500"), "{reply}");
    assert_eq!(held(&stand, "ETH"), None);
}
