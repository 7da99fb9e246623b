//! `order_value_limit`: the notional of a single entry.

use rust_decimal::dec;

use super::at_limit::*;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn rules() -> Rules {
    Rules { order_value: Some(dec!(5000)), ..wide() }
}

#[test]
fn an_entry_at_the_limit_keeps_its_size() {
    binds_from_the_next_lot_on(&rules());
}

#[test]
fn an_entry_over_the_limit_is_cut_to_it() {
    cuts_and_says(&rules(), "ETH order value 6000.00 is over 5000.00");
}

#[test]
fn under_the_venues_minimum_it_vetoes() {
    let rules = |limit| Rules { order_value: Some(limit), ..wide() };
    vetoes_under_the_minimum("order_value_limit", (dec!(10000), rules(dec!(10))), (dec!(10000), rules(dec!(9.99))));
}

#[test]
fn other_markets_do_not_count() {
    leaves_beside_another_market(&rules(), "2.5");
}
