//! `exposure_limit`: the gross notional of all markets.

use rust_decimal::dec;

use super::at_limit::*;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn rules() -> Rules {
    Rules { exposure: dec!(50), ..wide() }
}

#[test]
fn an_entry_at_the_limit_keeps_its_size() {
    binds_from_the_next_lot_on(&rules());
}

#[test]
fn an_entry_over_the_limit_is_cut_to_it() {
    cuts_and_says(&rules(), "gross notional of all positions and orders 6000.00 is over 50% of equity 10000.00");
}

#[test]
fn under_the_venues_minimum_it_vetoes() {
    let rules = Rules { exposure: dec!(1), ..wide() };
    vetoes_under_the_minimum("exposure_limit", (dec!(1000), rules.clone()), (dec!(999), rules));
}

#[test]
fn other_markets_count() {
    leaves_beside_another_market(&rules(), "1");
}
