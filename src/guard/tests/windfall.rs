//! Cash that comes from nowhere: what a few wrong reads show sets no mark and lets nothing larger be opened.

use rust_decimal::dec;
use serde_json::json;

use super::fixture::*;
use super::halting::{deposit, equity, explain, risk, state, steady};

#[test]
fn an_equity_more_than_twofold_sets_no_peak_for_ten_seconds() {
    for (to, reads, is_believed) in
        [(dec!(20000), 2, true), (dec!(20000.01), 2, false), (dec!(100000), 10, false), (dec!(100000), 11, true)]
    {
        let mut desk = steady();
        for _ in 0..reads {
            equity(&mut desk, to);
            explain(&mut desk, json!([]));
        }
        assert_eq!(risk(&desk)["peak_equity"] != "10000", is_believed, "{reads} reads of {to}");
        assert_eq!(
            desk.guard.judged_equity(),
            Some(if is_believed { to } else { dec!(10000) }),
            "{reads} reads of {to}"
        );
    }
}

#[test]
fn a_few_wrong_reads_fire_nothing_when_they_end_and_open_nothing_larger() {
    let mut desk = steady();
    for _ in 0..3 {
        equity(&mut desk, dec!(100000));
        explain(&mut desk, json!([]));
    }
    let limit = |desk: &Desk| desk.guard.status_json(desk.now, (0, 0))["headroom"].clone();
    let shown = limit(&desk);
    for _ in 0..12 {
        equity(&mut desk, dec!(10000));
        explain(&mut desk, json!([]));
    }
    assert_eq!((limit(&desk), state(&desk).as_str()), (shown, "active"));
}

#[test]
fn a_deposit_counts_as_soon_as_the_ledger_tells_of_it() {
    let mut desk = steady();
    let at = desk.now + 500;
    equity(&mut desk, dec!(30000));
    assert_eq!(desk.guard.judged_equity(), Some(dec!(10000)));
    desk.now += 1_500;
    explain(&mut desk, json!([deposit(at, "20000.0")]));
    equity(&mut desk, dec!(30000));
    assert_eq!(desk.guard.judged_equity(), Some(dec!(30000)));
    assert_eq!((&risk(&desk)["peak_equity"], &risk(&desk)["day_pnl"]), (&json!("30000"), &json!("0")));
}
