//! `loss_limit`: the loss of one market if its stops are hit.

use rust_decimal::dec;

use super::at_limit::*;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

fn rules() -> Rules {
    Rules { loss_per_trade: dec!(1), ..wide() }
}

#[test]
fn an_entry_at_the_limit_keeps_its_size() {
    binds_from_the_next_lot_on(&rules());
}

#[test]
fn an_entry_over_the_limit_is_cut_to_it() {
    cuts_and_says(&rules(), "ETH loss if stopped 120.00 is over 1% of equity 10000.00");
}

#[test]
fn under_the_venues_minimum_it_vetoes() {
    let rules = Rules { loss_per_trade: dec!(2), ..wide() };
    vetoes_under_the_minimum("loss_limit", (dec!(10), rules.clone()), (dec!(9.99), rules));
}

#[test]
fn other_markets_do_not_count() {
    leaves_beside_another_market(&rules(), "2.5");
}

#[test]
fn without_equity_nothing_is_entered() {
    for equity in [dec!(0), dec!(-5)] {
        let mut desk = desk(wide());
        desk.equity = equity;
        desk.read();
        // That it is lost is made sure of first.
        desk.order(buy(ETH, "2000", "0.1")).vetoed("account_stale");
    }
}

#[test]
fn loss_per_trade_is_that_of_the_whole_position() {
    // Two held lose 40 each at their stop; the rule leaves 120 of 200.
    let mut desk = desk(Rules { loss_per_trade: dec!(2), ..wide() });
    desk.hold("ETH", dec!(2));
    desk.show(vec![open_stop("ETH", "A", "1960", "2", 7)]);
    assert_eq!(desk.order(buy(ETH, "2000", "4")).resized().sent_order(0)["s"], "3");
}

#[test]
fn what_has_no_stop_yet_counts_at_the_guards_distance() {
    let mut desk = desk(Rules { loss_per_trade: dec!(2), ..wide() });
    desk.hold("ETH", dec!(2));
    assert_eq!(desk.order(buy(ETH, "2000", "4")).resized().sent_order(0)["s"], "3");
}
