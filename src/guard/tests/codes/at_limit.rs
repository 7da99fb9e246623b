//! A limit on size, asked from both of its sides. Each code sets its own so that it is reached with 2.5 ETH of 2000 USDC
//! and a stop 2% away.

use rust_decimal::{Decimal, dec};

use crate::guard::Mode;
use crate::guard::tests::fixture::*;
use crate::rules::Rules;

pub(super) fn desk(rules: Rules) -> Desk {
    Desk::new(Mode::Testnet, rules)
}

/// An entry at the limit keeps its size, and one lot more is cut to it.
pub(super) fn binds_from_the_next_lot_on(rules: &Rules) {
    let orders = |size: &str| vec![buy(ETH, "2000", size), stop(ETH, false, "1960", "9")];
    desk(rules.clone()).orders(orders("2.5")).allowed();
    let decided = desk(rules.clone()).orders(orders("2.5001"));
    assert_eq!(decided.resized().sent_order(0)["s"], "2.5");
}

/// An entry of 3 ETH is cut on either side, its stop with it, and the text names the limit and what 3 ETH come to.
pub(super) fn cuts_and_says(rules: &Rules, text: &str) {
    for order in [buy(ETH, "2000", "3"), sell(ETH, "2000", "3")] {
        let decided = desk(rules.clone()).order(order);
        assert_eq!(decided.resized().sent_order(0)["s"], "2.5");
        assert_eq!(decided.sent_order(1)["s"], "2.5", "the stop follows");
        decided.says(&[text, "cut from 3 to 2.5"]);
    }
}

/// What `enough` of equity and rules leave room for is the venue's smallest order; `short` of it, the code vetoes.
pub(super) fn vetoes_under_the_minimum(code: &str, enough: (Decimal, Rules), short: (Decimal, Rules)) {
    let ask = |(equity, rules): (Decimal, Rules)| {
        // So little of what was there before is no loss of the day.
        let mut desk = desk(Rules { daily_loss: dec!(100), drawdown: dec!(100), ..rules });
        desk.equity = equity;
        desk.read();
        desk.order(buy(ETH, "2000", "0.1"))
    };
    assert_eq!(ask(enough).resized().sent_order(0)["s"], "0.005");
    ask(short)
        .vetoed(code)
        .says(&["minimum of 10 USDC", "cancel an entry that rests, or close a part of what is held"]);
}

/// With a short of 0.05 BTC held, an entry of 3 ETH keeps `size` of it.
pub(super) fn leaves_beside_another_market(rules: &Rules, size: &str) {
    let mut desk = desk(rules.clone());
    desk.hold("BTC", Decimal::new(-5, 2));
    assert_eq!(desk.order(buy(ETH, "2000", "3")).resized().sent_order(0)["s"], size);
}
