//! Positions that the feed's account shows and no fill has told of, while no read is answered.

use super::doubted_fills::{holding, problems, shown, shown_at};
use super::*;

/// What its account shows for so long, every half second, with each time the position by what is known, and all that was sent.
fn showing(desk: &mut Desk, szi: &str, for_ms: u64) -> (Vec<Decimal>, Vec<String>) {
    let (until, mut held, mut sent) = (desk.now + for_ms, Vec::new(), Vec::new());
    while desk.now < until {
        desk.now += 500;
        let reads = [desk.read_mids(desk.now), desk.read_orders(desk.now)];
        let effects = reads.into_iter().chain([shown(desk, szi, dec!(2000)), desk.step(Input::Tick)]);
        let effects: Vec<Effects> = effects.collect();
        sent.extend(effects.iter().flat_map(sends).map(|send| send.action.to_string()));
        held.push(desk.guard.view.position(ETH));
    }
    (held, sent)
}

fn is_stop(action: &str, size: &str) -> bool {
    action.contains("\"tpsl\":\"sl\"") && action.contains(&format!("\"s\":\"{size}\"")) && action.contains("\"r\":true")
}

/// It is shown at 0.5 s, and a read has three seconds from then on.
#[test]
fn it_is_covered_where_no_read_comes() {
    let mut desk = desk();
    let (held, sent) = showing(&mut desk, "0.4", 3_500);
    assert_eq!((held.last(), sent.len()), (Some(&dec!(0)), 0), "{sent:?}");
    let (held, sent) = showing(&mut desk, "0.4", 1_000);
    assert_eq!(held, [dec!(0.4), dec!(0.4)]);
    assert!(sent.len() == 1 && is_stop(&sent[0], "0.4"), "{sent:?}");
    // It is known by no read: nothing is opened on it, and it is told.
    showing(&mut desk, "0.4", 7_000);
    assert!(problems(&desk).iter().any(|text| text.starts_with("the account: last read over ")));
    desk.order(buy(ETH, "2000", "0.01")).vetoed("account_stale");
}

#[test]
fn a_read_that_does_not_show_it_is_believed() {
    let mut desk = desk();
    showing(&mut desk, "0.4", 3_000);
    desk.read_account(desk.now);
    assert!(showing(&mut desk, "0.4", 500).1.is_empty());
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
}

/// So much as was shown all the time; and it is known by a read only, also once it is shown again.
#[test]
fn of_what_goes_to_and_fro_the_least_is_held() {
    let mut desk = desk();
    let mut sent = Vec::new();
    for _ in 0..10 {
        sent.extend(showing(&mut desk, "0.4", 500).1);
        sent.extend(showing(&mut desk, "0.3", 500).1);
    }
    assert_eq!(desk.guard.view.position(ETH), dec!(0.3));
    assert!(is_stop(&sent[0], "0.3"), "{sent:?}");
    showing(&mut desk, "0.3", 5_000);
    assert!(problems(&desk).iter().any(|text| text.starts_with("the account: last read over ")));
    // One side and then the other is nothing for any time.
    let mut desk = self::desk();
    for _ in 0..10 {
        assert!(showing(&mut desk, "0.4", 500).1.is_empty());
        assert!(showing(&mut desk, "-0.4", 500).1.is_empty());
    }
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
}

/// Another market's position is never as it was.
#[test]
fn what_changes_elsewhere_puts_it_off_for_nobody() {
    let mut desk = desk();
    let mut held = Vec::new();
    for number in 0..10 {
        desk.now += 500;
        let time = desk.now;
        let position = |coin: &str, szi: &str, value: &str| {
            json!({"position": {"coin": coin, "szi": szi, "leverage": {"type": "cross", "value": 5},
                "positionValue": value, "unrealizedPnl": "0", "marginUsed": "0"}})
        };
        let other = if number % 2 == 0 { "-6" } else { "5" };
        let state = json!({"marginSummary": {"accountValue": "5000"}, "crossMaintenanceMarginUsed": "0", "time": time,
            "assetPositions": [position("ETH", "0.4", "800"), position("SOL", other, "900")]});
        push(&mut desk, "clearinghouseState", json!({"user": ACCOUNT, "clearinghouseState": state}));
        desk.step(Input::Tick);
        held.push(desk.guard.view.position(ETH));
    }
    assert_eq!((held[6], held[7]), (dec!(0), dec!(0.4)), "{held:?}");
}

/// A read of later takes it back.
#[test]
fn a_read_denies_it() {
    let mut desk = desk();
    showing(&mut desk, "0.4", 4_500);
    assert_eq!(desk.guard.view.position(ETH), dec!(0.4));
    desk.now += 500;
    desk.read_account(desk.now);
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
}

#[test]
fn what_it_shows_larger_or_turned_is_covered_as_well() {
    for szi in ["3", "-3"] {
        let mut desk = holding();
        let (held, sent) = showing(&mut desk, szi, 8_000);
        assert_eq!(held.last(), Some(&szi.parse().unwrap()), "{sent:?}");
        assert!(sent.iter().any(|action| is_stop(action, "3")), "{szi}: {sent:?}");
        assert!(!sent.iter().any(|action| action.contains("\"tif\":\"Ioc\"")), "{sent:?}");
    }
    // What it shows smaller, or not at all, leaves the stop where it is.
    for szi in ["1", "0"] {
        let mut desk = holding();
        let (held, sent) = showing(&mut desk, szi, 8_000);
        assert_eq!((held.last(), sent.len()), (Some(&dec!(2)), 0), "{sent:?}");
    }
}

/// A kill closes it, before it counts as told and after.
#[test]
fn a_kill_closes_it() {
    for before_ms in [1_000, 5_000] {
        let mut desk = desk();
        showing(&mut desk, "0.4", before_ms);
        let killed = desk.step(Input::Kill { reason: "enough".to_owned(), by: None, write_file: false, request: None });
        let mut sent: Vec<String> = sends(&killed).iter().map(|send| send.action.to_string()).collect();
        sent.extend(showing(&mut desk, "0.4", 6_000).1);
        let is_close = |action: &String| action.contains("\"r\":true") && action.contains("\"tif\":\"Ioc\"");
        assert!(sent.iter().any(is_close), "{before_ms}: {sent:?}");
    }
}

/// Its fill comes late, and one after it goes on from there.
#[test]
fn a_fill_that_was_shown_already_is_none_that_was_missed() {
    let mut desk = desk();
    let late = fill(&desk, 1, "0", "0.4");
    showing(&mut desk, "0.4", 5_000);
    let effects = fills(&mut desk, vec![late]);
    assert!(!events(&effects).iter().any(|event| event["kind"] == "trouble"), "{effects:?}");
    let next = fill(&desk, 1, "0.4", "0.2");
    fills(&mut desk, vec![next]);
    assert_eq!(desk.guard.view.position(ETH), dec!(0.6));
}

/// The stop has fired, and a smaller position was opened below the old one's line: with nothing shown in between, or without.
#[test]
fn what_it_shows_otherwise_is_not_closed_for_the_line_of_before() {
    for between in [&["0"][..], &[]] {
        let mut desk = holding();
        desk.mids.insert("ETH".to_owned(), dec!(1950));
        desk.orders.clear();
        let shows = between.iter().copied().chain(["1"]);
        let sent: Vec<String> = shows.flat_map(|szi| showing(&mut desk, szi, 6_000).1).collect();
        assert!(!sent.iter().any(|action| action.contains("\"tif\":\"Ioc\"")), "{between:?}: {sent:?}");
        assert!(sent.iter().any(|action| action.contains("\"tpsl\":\"sl\"")), "{between:?}: {sent:?}");
    }
}

/// More was never read: the stop for what was stays, and its line is where it was.
#[test]
fn what_was_read_keeps_its_stop_and_its_line() {
    let mut desk = holding();
    let (held, sent) = showing(&mut desk, "60", 12_000);
    assert_eq!(held.last(), Some(&dec!(60)));
    assert!(!sent.iter().any(|action| action.contains("\"type\":\"cancel\"")), "{sent:?}");
    desk.now += 500;
    desk.read_account(desk.now);
    assert_eq!(desk.guard.view.position(ETH), dec!(2));
    let line = desk.guard.lines.get(ETH).unwrap();
    let parts: Vec<_> = line.covered_parts().iter().map(|part| (part.px, part.size)).collect();
    assert_eq!(parts, [(dec!(1960), dec!(2))]);
}

/// The other side was never read: what was keeps its stop, also while everything is closed.
#[test]
fn what_it_shows_turned_takes_no_stop_of_what_was_read() {
    let is_cancel = |action: &String| action.contains("\"type\":\"cancel\"");
    for szi in ["-2", "-3", "0"] {
        let mut desk = holding();
        let (_, sent) = showing(&mut desk, szi, 12_000);
        assert!(!sent.iter().any(is_cancel), "{szi}: {sent:?}");
        let killed = desk.step(Input::Kill { reason: "enough".to_owned(), by: None, write_file: false, request: None });
        let mut sent: Vec<String> = sends(&killed).iter().map(|send| send.action.to_string()).collect();
        sent.extend(showing(&mut desk, szi, 6_000).1);
        assert!(!sent.iter().any(|action| is_cancel(action) && action.contains("\"o\":9}")), "{szi}: {sent:?}");
    }
}

/// Its time is bounded by the clock: a read of now takes back what was shown for a time that is yet to come.
#[test]
fn a_time_ahead_holds_no_longer_than_a_read() {
    let mut desk = desk();
    for _ in 0..10 {
        desk.now += 500;
        let ahead_ms = desk.now + 600_000;
        shown_at(&mut desk, "0.4", dec!(2000), ahead_ms);
        desk.step(Input::Tick);
    }
    assert_eq!(desk.guard.view.position(ETH), dec!(0.4));
    desk.now += 500;
    desk.read_account(desk.now);
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
    assert!(!desk.guard.feed.has_shown_alone());
}
