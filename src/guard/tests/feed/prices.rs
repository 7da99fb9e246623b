//! Prices: believed at once, by one read, or not at all.

use std::collections::BTreeMap;

use super::*;

/// A read that does not show it either ends the socket.
#[test]
fn a_price_that_cannot_be_is_not_taken_in() {
    for (px, is_odd) in [(dec!(2400), false), (dec!(2400.1), true), (dec!(1600), false), (dec!(1599.9), true)] {
        let mut desk = desk();
        desk.hold("ETH", dec!(0.4));
        let effects = price(&mut desk, "ETH", px);
        assert!(!is_distrusted(&effects), "{px}: not before a read");
        assert_eq!(reads(&effects).contains(&&Read::AccountNow), is_odd, "{px}");
        let mark = desk.guard.view.last_mark(ETH).unwrap().0;
        assert_eq!(mark, if is_odd { dec!(2000) } else { px });
        assert_eq!(is_distrusted(&read_later(&mut desk)), is_odd, "{px}");
        assert!(!is_distrusted(&price(&mut desk, "SOL", dec!(1))), "nothing is held there");
    }
}

/// A market that has leapt is one that a read shows as well; answers of a time before decide nothing.
#[test]
fn a_price_that_has_leapt_is_believed_by_one_read() {
    for is_shown in [true, false] {
        let mut desk = desk();
        desk.hold("ETH", dec!(0.4));
        price(&mut desk, "ETH", dec!(2600));
        let before_ms = desk.now - 1;
        desk.now += 100;
        let (state, equity, begun_ms) = (desk.state(before_ms), desk.equity, desk.now);
        assert!(!is_distrusted(&desk.step(Input::Account { state, equity, begun_ms })), "it is older than the price");
        if is_shown {
            desk.mids.insert("ETH".to_owned(), dec!(2600));
        }
        assert_eq!(is_distrusted(&read_later(&mut desk)), !is_shown);
        if is_shown {
            price(&mut desk, "ETH", dec!(2601));
            assert_eq!(desk.guard.view.last_mark(ETH).unwrap().0, dec!(2601));
        }
    }
}

/// Between two reads marks have moved the equity: a withdrawal is measured by that, not by the older read.
#[test]
fn a_withdrawal_is_measured_by_the_marks_before_it() {
    let mut desk = desk();
    desk.hold("ETH", dec!(4));
    desk.wait(1_000);
    explain(&mut desk, json!([]));
    desk.now += 1_000;
    // 4 x 75 is 3 % of the equity.
    price(&mut desk, "ETH", dec!(1925));
    desk.now += 1_000;
    let time = desk.now;
    desk.mids.insert("ETH".to_owned(), dec!(1925));
    desk.equity = dec!(4850);
    for _ in 0..2 {
        read_later(&mut desk);
    }
    desk.now += 3_000;
    explain(
        &mut desk,
        json!([{"time": time, "hash": "0x1", "delta": {"type": "withdraw", "usdc": "4850", "fee": "0"}}]),
    );
    let risk = desk.guard.status(desk.now, (0, 0)).risk;
    assert_eq!((risk.day_start_equity, risk.day_pnl), (Some(dec!(5000)), Some(dec!(-150))), "{risk:?}");
}

/// A loss by marks alone asks for a read; the read that shows it too fires the halt, and one that does not ends the doubt.
#[test]
fn a_halt_by_marks_is_confirmed_by_one_read() {
    for (equity, wanted) in [(dec!(9000), "halted_for_day"), (dec!(10000), "active")] {
        let mut desk = desk();
        desk.hold("ETH", dec!(4));
        desk.wait(1_000);
        // The ledger has told of all that came before.
        desk.wait(11_000);
        explain(&mut desk, json!([]));
        desk.now += 10;
        // 4 x 250 is a tenth of the equity.
        let effects = price(&mut desk, "ETH", dec!(1750));
        assert!(reads(&effects).contains(&&Read::AccountNow), "{effects:?}");
        for _ in 0..5 {
            desk.now += 100;
            price(&mut desk, "ETH", dec!(1750));
            assert_eq!(state(&desk), "active", "marks fire nothing");
        }
        desk.now += 10;
        desk.mids.insert("ETH".to_owned(), if equity < dec!(10000) { dec!(1750) } else { dec!(2000) });
        (desk.equity, desk.unrealized) = (equity, equity - dec!(10000));
        desk.read_account(desk.now);
        assert_eq!(state(&desk), wanted);
    }
}

/// Beside what is held an entry has the room that the newest prices leave, not those of the last read.
#[test]
fn an_entry_is_judged_by_the_prices_told_last() {
    let at = |px: Decimal| BTreeMap::from([("ETH".to_owned(), px)]);
    for (marks, mids) in [(at(dec!(2100)), at(dec!(2100))), (at(dec!(2100)), [].into()), ([].into(), at(dec!(2100)))] {
        let mut desk = desk();
        desk.guard.config.rules = Rules { position: dec!(100), ..wide() };
        desk.hold("ETH", dec!(-4));
        desk.now += 100;
        let begun_ms = desk.now;
        tell(&mut desk, FeedNews::Prices { marks, mids, begun_ms });
        let decided = desk.order(with(sell(ETH, "2095", "4"), "/t/limit/tif", json!("Ioc")));
        let size = decided.event["forward"]["orders"][0]["s"].as_str().unwrap_or_else(|| panic!("{}", decided.event));
        let comes_to = (dec!(4) + size.parse::<Decimal>().unwrap()) * dec!(2100);
        let equity = desk.guard.status(desk.now, (0, 0)).equity.unwrap();
        assert!(comes_to <= equity, "{comes_to} of {equity}: {}", decided.event);
    }
}
