//! Who takes everything out has lost no more by it, and comes back with the loss that was.

use rust_decimal::{Decimal, dec};
use serde_json::json;

use super::fixture::*;
use super::halting::{deposit, desk, equity, explain, lose, risk, state, withdrawal};

/// The desk loses this much, holds nothing, and takes everything out but `rest`.
fn emptied(lost: Decimal, rest: Decimal) -> Desk {
    let mut desk = desk();
    equity(&mut desk, dec!(10000) - lost);
    equity(&mut desk, dec!(10000) - lost);
    let at = desk.now + 500;
    equity(&mut desk, rest);
    let usd = dec!(10000) - lost - rest;
    explain(&mut desk, json!([withdrawal(at, &usd.to_string())]));
    for _ in 0..12 {
        equity(&mut desk, rest);
    }
    desk
}

#[test]
fn taking_everything_out_fires_nothing_and_forgets_no_loss() {
    for lost in [dec!(1), dec!(499)] {
        let mut desk = emptied(lost, dec!(0));
        let shown = risk(&desk);
        assert_eq!((state(&desk).as_str(), &shown["peak_equity"]), ("active", &json!("0")), "{shown}");
        // Some comes back, then all the rest.
        for (usd, whole) in [("1000.0", dec!(1000)), ("9000.0", dec!(10000))] {
            let at = desk.now + 500;
            let before = if whole == dec!(1000) { dec!(0) } else { dec!(1000) };
            equity(&mut desk, whole);
            explain(&mut desk, json!([deposit(at, usd)]));
            equity(&mut desk, whole);
            equity(&mut desk, whole);
            let peak: Decimal = risk(&desk)["peak_equity"].as_str().unwrap().parse().unwrap();
            let is = whole * dec!(10000) / (dec!(10000) - lost);
            assert!((peak - is).abs() < dec!(0.001), "{peak} is not {is}, with {before} before");
        }
        // What was lost counts on: the day's 5% of 10000 are reached by the rest of them.
        let start: Decimal = risk(&desk)["day_start_equity"].as_str().unwrap().parse().unwrap();
        for (more, halts) in [(dec!(0.1), false), (dec!(0), true)] {
            lose(&mut desk, start * dec!(0.95) + more);
            assert_eq!(state(&desk) == "halted_for_day", halts, "{lost} {more}: {}", risk(&desk));
        }
    }
}

/// What an account was worth just before is known as well as a hundredth of it: what is left of the figures then is no loss of
/// an account that has nothing. One that has something goes by them.
#[test]
fn a_rest_too_small_to_lose_anything_fires_nothing() {
    for (rest, halts) in [(dec!(1), false), (dec!(1.01), true)] {
        let mut desk = emptied(dec!(0), dec!(50));
        assert_eq!(state(&desk), "active");
        lose(&mut desk, rest);
        assert_eq!(state(&desk) == "stopped", halts, "{rest}: {}", risk(&desk));
    }
    // Nobody took out what was lost.
    let mut desk = desk();
    desk.hold("ETH", dec!(1));
    equity(&mut desk, dec!(10000));
    desk.positions.clear();
    lose(&mut desk, dec!(0.5));
    assert_eq!(state(&desk), "stopped");
}
