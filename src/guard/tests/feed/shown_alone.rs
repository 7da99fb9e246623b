//! Positions that the feed's account shows and no fill has told of, while no read is answered.

use super::doubted_fills::{holding, problems, shown};
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
fn it_waits_for_what_is_shown_all_the_time_and_for_a_read() {
    // Another size each time.
    let mut desk = desk();
    for _ in 0..10 {
        assert!(showing(&mut desk, "0.4", 500).1.is_empty());
        assert!(showing(&mut desk, "0.3", 500).1.is_empty());
    }
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
    // A read that does not show it is believed, and one that does covers it at once.
    let mut desk = self::desk();
    showing(&mut desk, "0.4", 3_000);
    desk.read_account(desk.now);
    assert!(showing(&mut desk, "0.4", 500).1.is_empty());
    assert_eq!(desk.guard.view.position(ETH), dec!(0));
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
