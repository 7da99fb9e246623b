//! Chains of one moment, of what is missing, and of a moment with too many holes.

use super::*;
use serde_json::json;

/// A fill of this market: when, where from, and how much.
fn fill(coin: &str, time: u64, start: &str, size: &str) -> Fill {
    let (side, sz) = match size.strip_prefix('-') {
        Some(sz) => ("A", sz),
        None => ("B", size),
    };
    serde_json::from_value(
        json!({"coin": coin, "px": "1", "sz": sz, "side": side, "time": time, "startPosition": start,
        "closedPnl": "0", "oid": 1, "crossed": true, "fee": "0", "tid": time, "feeToken": "USDC"}),
    )
    .unwrap()
}

fn starts(fills: &[Fill]) -> Vec<(String, String)> {
    fills.iter().map(|fill| (fill.coin.clone(), fill.start_position.to_string())).collect()
}

#[test]
fn fills_of_one_moment_are_linked() {
    let told = vec![
        fill("ETH", 5, "3", "-1"),
        fill("ETH", 4, "0", "1"),
        fill("BTC", 5, "0", "2"),
        fill("ETH", 5, "2", "-4"),
        fill("ETH", 5, "1", "2"),
    ];
    let ordered = Chains::default().in_order(told.clone());
    let expected = [("ETH", "0"), ("ETH", "1"), ("ETH", "3"), ("ETH", "2"), ("BTC", "0")];
    assert_eq!(starts(&ordered), expected.map(|(coin, start)| (coin.to_owned(), start.to_owned())));
    let mut reversed = told;
    reversed.reverse();
    assert_eq!(Chains::default().in_order(reversed).len(), 5);
    // A way there and back passes the same position twice.
    let round = vec![fill("ETH", 5, "1", "-1"), fill("ETH", 5, "0", "1"), fill("ETH", 5, "0", "1")];
    let ordered = Chains::default().in_order(round);
    assert_eq!(ordered.iter().map(|fill| fill.start_position.to_string()).collect::<Vec<_>>(), ["0", "1", "0"]);
}

#[test]
fn what_is_missing_is_a_gap_until_it_came() {
    let mut chains = Chains::default();
    assert!(!chains.add([&fill("ETH", 5, "0", "1")], 100) && !chains.add([&fill("ETH", 6, "1", "1")], 100));
    assert!(chains.add([&fill("ETH", 9, "5", "1")], 100));
    assert_eq!((chains.missing_since_ms(), chains.gaps.len()), (Some(6), 1));
    assert!(!chains.add([&fill("ETH", 7, "2", "2")], 100) && chains.gaps.len() == 1);
    assert!(!chains.add([&fill("ETH", 8, "4", "1")], 100) && chains.gaps.is_empty());
    assert!(!chains.add([&fill("ETH", 10, "6", "1")], 100));
    // One of before all that is read: it is asked for until an answer has shown its time, and taken once.
    assert!(!chains.add([&fill("BTC", 5, "0", "1")], 100) && chains.add([&fill("BTC", 30, "4", "1")], 100));
    let (first, second) = (fill("BTC", 10, "1", "1"), fill("BTC", 20, "2", "2"));
    assert!([&first, &second].into_iter().all(|fill| chains.lacks(fill)) && chains.look_from_ms(50) == 5);
    assert!(!chains.lacks(&fill("BTC", 5, "1", "1")) && !chains.lacks(&fill("SOL", 10, "1", "1")));
    chains.add([&first], 100);
    chains.looked(5, 10);
    assert!(!chains.lacks(&first) && chains.lacks(&second) && chains.look_from_ms(50) == 10);
    chains.looked(11, u64::MAX);
    assert_eq!((chains.look_from_ms(50), chains.look_from_ms(7)), (10, 7), "an answer of later shows nothing of it");
    let mut next = Chains::default();
    chains.gap_records().into_iter().for_each(|gap| next.restore_gap(gap));
    assert!(!next.lacks(&first) && next.look_from_ms(50) == 50, "which part was found is not known");
    chains.looked(10, u64::MAX);
    assert!(!chains.lacks(&second) && chains.look_from_ms(50) == 50);
    chains.forget_gap(5, 30);
    // Told the other way round within one moment.
    assert!(chains.add([&fill("ETH", 11, "8", "1")], 100) && !chains.add([&fill("ETH", 11, "7", "1")], 100));
    assert!(chains.gaps.is_empty() && !chains.add([&fill("ETH", 12, "9", "1")], 100));
    // Tokens come and go without a fill.
    assert!(!chains.add([&fill("@107", 5, "0", "1")], 100) && !chains.add([&fill("@107", 6, "7", "1")], 100));
}

/// However many fills of one moment do not join, and however they are told: each is linked as often as there are frames, and a
/// moment with many holes is not linked anew.
#[test]
fn a_moment_with_many_holes_is_given_up() {
    let all: Vec<Fill> = (0..2_000).map(|place| fill("ETH", 9, &(2 * place + 1).to_string(), "1")).collect();
    for is_at_once in [true, false] {
        let mut chains = Chains::default();
        assert!(!chains.add([&fill("ETH", 5, "0", "1")], 100));
        if is_at_once {
            assert!(chains.add(&all, 100));
        } else {
            all.iter().for_each(|fill| _ = chains.add([fill], 100));
        }
        assert!(chains.moments.is_empty() && chains.unlinked.is_empty() && chains.gaps.len() <= MOST_GAPS);
    }
    for (holes, is_known) in [(MOST_OF_MOMENT, true), (MOST_OF_MOMENT + 1, false)] {
        let mut chains = Chains::default();
        chains.add([&fill("ETH", 5, "1", "0")], 100);
        assert!(chains.add(&all[1..=holes], 100));
        assert_eq!((chains.moments.contains_key("ETH"), chains.gaps.len()), (is_known, holes));
    }
}

/// One of before the newest moment comes late: the moment begins elsewhere than it was thought to.
#[test]
fn a_moment_is_linked_anew_when_one_of_before_it_comes() {
    let add =
        |chains: &mut Chains, time: u64, start: &str, size: &str| chains.add([&fill("ETH", time, start, size)], 100);
    let mut chains = Chains::default();
    add(&mut chains, 5, "0", "1");
    ["0", "1", "2"].iter().for_each(|start| _ = add(&mut chains, 7, start, "1"));
    assert_eq!(chains.gaps.len(), 1);
    assert!(!add(&mut chains, 6, "1", "-1") && chains.gaps.is_empty(), "{:?}", chains.gaps);
    assert!(!add(&mut chains, 8, "3", "1"));
    // What was missing of the moment before it is no part of where it begins.
    let mut chains = Chains::default();
    add(&mut chains, 3, "0", "1");
    add(&mut chains, 5, "2", "1");
    add(&mut chains, 7, "3", "1");
    add(&mut chains, 5, "1", "1");
    ["5", "4"].iter().for_each(|start| _ = add(&mut chains, 7, start, "1"));
    assert!(chains.gaps.is_empty(), "{:?}", chains.gaps);
    assert!(!add(&mut chains, 8, "6", "1"));
}

/// An answer takes a gap away where its fills go all the way through it, and only then.
#[test]
fn a_gap_is_none_where_an_answer_shows_the_whole_way() {
    let way = [fill("ETH", 5, "0", "1"), fill("ETH", 6, "1", "2"), fill("BTC", 6, "7", "1"), fill("ETH", 7, "3", "1")];
    let gap = || {
        let mut chains = Chains::default();
        chains.add([&way[0]], 100);
        chains.add([&way[3]], 100);
        chains
    };
    for (shown, since_ms, up_to_ms, left) in [
        (&way[..], 5, 7, 0),
        (&way, 6, 7, 1),
        (&way, 5, 6, 1),
        (&way[..3], 5, 7, 1),
        (&way[1..], 5, 7, 0),
        (&way[2..], 5, 7, 1),
        (&[fill("ETH", 5, "0", "1"), fill("ETH", 6, "1", "1"), way[3].clone()], 5, 7, 1),
    ] {
        let mut chains = gap();
        chains.show(shown, since_ms, up_to_ms);
        assert_eq!(chains.gaps.len(), left, "{shown:?} {since_ms} {up_to_ms}");
    }
}

/// What the next life knows of the gaps and of ETH.
fn next_life(chains: &Chains) -> Chains {
    let mut next = Chains::default();
    chains.gap_records().into_iter().for_each(|gap| next.restore_gap(gap));
    next.restore("ETH".to_owned(), *chains.held("ETH").unwrap());
    chains.moment_records(0).into_iter().for_each(|moment| next.restore_moment(moment));
    next
}

/// The sum of what has come may fill a gap by chance while the rest is still to be read: what was found and looked through before
/// is not asked for again, and is no row that is missing.
#[test]
fn a_gap_that_was_filled_by_chance_is_known_when_it_opens_anew() {
    let page = || {
        let rows = [(10, "0", "1"), (11, "1", "2"), (12, "3", "1"), (13, "4", "-2")];
        rows.map(|(time, start, size)| fill("ETH", time, start, size))
    };
    for restarts in [false, true] {
        let mut chains = Chains::default();
        chains.add([&fill("ETH", 5, "0", "1"), &fill("ETH", 6, "1", "-1")], 100);
        assert!(chains.add([&fill("ETH", 99, "3", "1")], 100));
        chains.add(&page(), 100);
        chains.looked(6, 13);
        let (left, from_ms) = (chains.gaps.iter().map(|gap| gap.left).sum::<Decimal>(), chains.look_from_ms(13));
        assert_eq!((left, from_ms), (Decimal::ONE, 13));
        if restarts {
            chains = next_life(&chains);
        }
        assert!(page().iter().all(|fill| !chains.lacks(fill)), "{restarts}");
        // The sum is filled, as far as it is known: the life that ends there knows what was looked through.
        chains.add([&fill("ETH", 14, "2", "1")], 100);
        assert!(chains.gaps.is_empty());
        if restarts {
            chains = next_life(&chains);
        }
        chains.add([&fill("ETH", 15, "3", "2")], 100);
        assert!(chains.gaps.len() == 1 && page().iter().all(|fill| !chains.lacks(fill)), "{restarts}");
        assert!(chains.look_from_ms(14) >= 13, "{restarts}");
        chains.add([&fill("ETH", 16, "5", "-2")], 100);
        assert!(chains.gaps.is_empty(), "{restarts}");
    }
}
