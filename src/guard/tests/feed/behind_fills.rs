//! Account reads that are from before a fill which the feed has told: they take nothing of it back, and are followed by another.

use super::doubted_fills::{holding, shown};
use super::*;
use crate::guard::tests::covering_line::closes;

/// Sells at 2000, 5 ms from now.
fn sale(desk: &Desk, start: &str, size: &str) -> Value {
    with(fill(desk, 5, start, size), "/side", json!("A"))
}

fn asks(effects: &Effects) -> bool {
    effects.immediate.iter().any(|command| matches!(command, Command::Read(Read::AccountNow)))
}

/// A read that lags: of this time of the venue's, and begun now.
fn lagging(desk: &mut Desk, time: u64) -> Effects {
    let (state, equity, begun_ms) = (desk.state(time), desk.equity, desk.now);
    desk.step(Input::Account { state, equity, begun_ms })
}

/// A long of 2 became a short of 1, or less, or nothing, and the read after that shows the long: another is asked for, until one
/// shows what was told.
#[test]
fn a_read_that_lags_is_followed_by_another() {
    for (size, after) in [("3", dec!(-1)), ("2", dec!(0)), ("1", dec!(1))] {
        let mut desk = holding();
        let before_ms = desk.now;
        let told = sale(&desk, "2", size);
        assert!(asks(&fills(&mut desk, vec![told])));
        for _ in 0..3 {
            desk.now += 100;
            assert!(asks(&lagging(&mut desk, before_ms)), "{size}");
            assert!(desk.guard.is_behind_fills(), "{size}");
        }
        desk.now += 100;
        desk.positions.insert("ETH", after);
        desk.positions.retain(|_, szi| !szi.is_zero());
        assert!(!asks(&desk.read_account(desk.now)), "{size}");
        assert!(!desk.guard.is_behind_fills(), "{size}");
    }
}

/// The first read lags and all others fail: what the fills and the feed's account tell is covered, and a kill closes it.
#[test]
fn a_read_that_lags_leaves_nothing_bare_where_all_others_fail() {
    for is_killed in [false, true] {
        let mut desk = holding();
        let before_ms = desk.now;
        let told = sale(&desk, "2", "3");
        fills(&mut desk, vec![told]);
        desk.now += 100;
        lagging(&mut desk, before_ms);
        let mut effects = Vec::new();
        for round in 0..12 {
            desk.now += 500;
            effects.extend([desk.read_mids(desk.now), desk.read_orders(desk.now)]);
            effects.extend([shown(&mut desk, "-1", dec!(2000)), desk.step(Input::Tick)]);
            if is_killed && round == 8 {
                let kill = Input::Kill { reason: "enough".to_owned(), by: None, write_file: false, request: None };
                effects.push(desk.step(kill));
            }
        }
        assert!(effects.iter().flat_map(stops).any(|size| size == "1"));
        assert_eq!(effects.iter().flat_map(closes).any(|size| size == "1"), is_killed);
    }
}

/// A read of the very moment of two fills, from before both, between them or after, told before it or after: nothing was missed.
#[test]
fn no_read_of_the_moment_of_a_fill_makes_the_feed_a_liar() {
    for read in ["0", "0.2", "0.5"] {
        for told_before in [0, 1, 2] {
            let mut desk = desk();
            let parts = [("0", "0.2", 901), ("0.2", "0.3", 902)];
            let told = parts.map(|(start, size, tid)| with(fill(&desk, 5, start, size), "/tid", json!(tid)));
            fills(&mut desk, told[..told_before].to_vec());
            desk.now += 5;
            desk.positions.insert("ETH", read.parse().unwrap());
            desk.positions.retain(|_, szi| !szi.is_zero());
            desk.read_account(desk.now);
            fills(&mut desk, told[told_before..].to_vec());
            assert_eq!(desk.guard.position_told(ETH), dec!(0.5), "{read} {told_before}");
            // Another of later follows on them.
            let next = with(fill(&desk, 50, "0.5", "0.1"), "/tid", json!(903));
            fills(&mut desk, vec![next]);
            assert_eq!(desk.guard.position_told(ETH), dec!(0.6), "{read} {told_before}");
            desk.now += 200;
            desk.hold("ETH", dec!(0.6));
            desk.now += 5_000;
            desk.step(Input::Tick);
            assert_eq!((desk.guard.feed.missed, desk.guard.feed.differences), (0, 0), "{read} {told_before}");
        }
    }
}
