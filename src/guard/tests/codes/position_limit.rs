//! `position_limit`: the notional of one market.

use rust_decimal::dec;

use super::at_limit::*;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn rules() -> Rules {
    Rules { position: dec!(50), ..wide() }
}

#[test]
fn an_entry_at_the_limit_keeps_its_size() {
    binds_from_the_next_lot_on(&rules());
}

#[test]
fn an_entry_over_the_limit_is_cut_to_it() {
    cuts_and_says(&rules(), "ETH notional 6000.00 is over 50% of equity 10000.00");
}

#[test]
fn under_the_venues_minimum_it_vetoes() {
    let rules = Rules { position: dec!(1), ..wide() };
    vetoes_under_the_minimum("position_limit", (dec!(1000), rules.clone()), (dec!(999), rules));
}

#[test]
fn other_markets_do_not_count() {
    leaves_beside_another_market(&rules(), "2.5");
}

#[test]
fn resting_entries_count_and_the_two_sides_do_not_add_up() {
    let mut desk = desk(Rules { position: dec!(50), ..wide() });
    desk.show(vec![open("ETH", "B", "2000", "1.5", 1), open("ETH", "A", "2000", "2.5", 2)]);
    assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], "1");
}

#[test]
fn a_sell_below_the_mid_is_worth_the_mid() {
    let mut desk = desk(Rules { position: dec!(50), ..wide() });
    assert_eq!(desk.order(sell(ETH, "1990", "3")).resized().sent_order(0)["s"], "2.5");
}
