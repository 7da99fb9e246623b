//! `open_risk_limit`: the loss of all markets if all stops are hit.

use rust_decimal::dec;

use super::at_limit::*;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn rules() -> Rules {
    Rules { open_risk: dec!(1), ..wide() }
}

#[test]
fn an_entry_at_the_limit_keeps_its_size() {
    binds_from_the_next_lot_on(&rules());
}

#[test]
fn an_entry_over_the_limit_is_cut_to_it() {
    cuts_and_says(&rules(), "open risk of all positions and orders 120.00 is over 1% of equity 10000.00");
}

#[test]
fn under_the_venues_minimum_it_vetoes() {
    let rules = Rules { open_risk: dec!(2), ..wide() };
    vetoes_under_the_minimum("open_risk_limit", (dec!(10), rules.clone()), (dec!(9.99), rules));
}

#[test]
fn other_markets_count() {
    leaves_beside_another_market(&rules(), "1");
}
