//! `stopped`: the drawdown halt, which a person clears.

use rust_decimal::dec;

use crate::guard::Mode;
use crate::guard::tests::fixture::*;
use crate::guard::tests::halting::{lose, of, settle};
use crate::rules::Rules;

/// Typed without the account on mainnet it is refused.
#[test]
fn what_clears_a_halt_on_mainnet_says_the_account() {
    let mut desk = of(config(Mode::Mainnet, Rules { daily_loss: dec!(90), ..Rules::default() }));
    settle(&mut desk, dec!(12000));
    lose(&mut desk, dec!(10200));
    let command = format!(
        "runs `SVC_MAINNET_CONFIRM={ACCOUNT} svc-guard --home /home/owner journal-resume --mode mainnet --note TEXT`"
    );
    desk.order(buy(ETH, "2000", "0.1")).vetoed("stopped").says(&[&command]);
}
