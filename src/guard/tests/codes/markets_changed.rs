//! `markets_changed`: a list of markets that contradicts the known one.

use rust_decimal::dec;

use crate::guard::tests::fixture::*;
use crate::guard::{Input, Read};
use crate::venue::market::{Market, Universe};

/// The markets with a change made to them.
fn changed(change: impl Fn(&mut Market)) -> Universe {
    let mut markets: Vec<Market> = universe().iter().cloned().collect();
    markets.iter_mut().for_each(change);
    Universe::new(markets)
}

fn swap(market: &mut Market) {
    match market.asset {
        ETH => market.coin = "SOL".into(),
        SOL => market.coin = "ETH".into(),
        _ => {}
    }
}

fn has_alert(desk: &Desk) -> bool {
    let status = desk.guard.status_json(desk.now, (0, 0));
    status["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "markets_changed")
}

#[test]
fn entries_wait_for_the_markets_that_are_known() {
    let finer: fn(&mut Market) = |market| market.size_decimals += u32::from(market.asset == ETH);
    for change in [swap, finer] {
        let mut desk = Desk::live();
        desk.order(buy(ETH, "1999", "0.1")).resized();
        let told = desk.step(Input::Universe(changed(change)));
        assert_eq!(events(&told).len(), 1, "told of once");
        assert_eq!(reads(&told), vec![&Read::Universe], "one answer may be wrong");
        let again = desk.step(Input::Universe(changed(change)));
        assert!(events(&again).is_empty() && reads(&again).is_empty());
        desk.order(buy(ETH, "2000", "0.1")).vetoed("markets_changed");
        assert!(has_alert(&desk));
        let wrong = [("ETH".to_owned(), dec!(100))].into();
        desk.step(Input::Marks { marks: wrong, begun_ms: desk.now + 1 });
        assert_eq!(desk.guard.view.mark_apart(ETH), None, "a mark of which market?");
        // What is held is still known by the list of before, and goes.
        desk.hold("ETH", dec!(1));
        desk.order(close(ETH, false, "2000", "1")).reduces();
        desk.step(Input::Universe(universe()));
        assert!(!has_alert(&desk));
        desk.order(buy(ETH, "2000", "0.1")).resized();
    }
}

#[test]
fn a_market_more_or_delisted_or_with_less_leverage_is_no_contradiction() {
    let mut desk = Desk::live();
    let mut markets: Vec<Market> = universe().iter().cloned().collect();
    let coin = "NEWC".to_owned();
    markets.push(Market {
        asset: UNLISTED,
        coin,
        size_decimals: 1,
        max_leverage: 3,
        is_delisted: false,
        only_isolated: false,
    });
    desk.step(Input::Universe(Universe::new(markets)));
    desk.step(Input::Universe(changed(|market| market.max_leverage -= 1)));
    assert!(!has_alert(&desk));
    // The last answer was an older one: what it leaves out is known all the same.
    assert!(desk.guard.view.market(UNLISTED).is_some());
    desk.order(buy(ETH, "2000", "0.1")).resized();
}
