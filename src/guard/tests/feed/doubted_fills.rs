//! Fills at prices far from the known one, while no read is answered: only the price is in doubt, and not what is held.

use super::*;
use crate::guard::effects::SendAction;

/// The account with this much of ETH, valued at this mark.
pub(super) fn shown(desk: &mut Desk, szi: &str, mark: Decimal) -> Effects {
    shown_at(desk, szi, mark, desk.now)
}

/// The same of a time of the venue's.
pub(super) fn shown_at(desk: &mut Desk, szi: &str, mark: Decimal, time: u64) -> Effects {
    let value = (szi.parse::<Decimal>().unwrap().abs() * mark).to_string();
    let state = json!({"marginSummary": {"accountValue": "5000"}, "crossMaintenanceMarginUsed": "0", "time": time,
        "assetPositions": [{"position": {"coin": "ETH", "szi": szi, "leverage": {"type": "cross", "value": 5},
        "positionValue": value, "unrealizedPnl": "0", "marginUsed": "0"}}]});
    push(desk, "clearinghouseState", json!({"user": ACCOUNT, "clearinghouseState": state}))
}

/// A guard that was told of 0.4 ETH bought at 2600 where 2000 is known.
fn doubting() -> Desk {
    let mut desk = desk();
    let mut told = fill(&desk, 1, "0", "0.4");
    told["px"] = json!("2600");
    assert!(stops(&fills(&mut desk, vec![told])).is_empty());
    desk.now += 1_000;
    desk
}

fn triggers(effects: &Effects) -> Vec<Value> {
    let protect = events(effects).into_iter().filter(|event| event["kind"] == "protect");
    protect.map(|event| event["actions"][0]["orders"][0]["t"]["trigger"]["triggerPx"].clone()).collect()
}

/// A guard that was told of 2 ETH bought, and has read them and its own stop.
pub(super) fn holding() -> Desk {
    let mut desk = desk();
    let first = fill(&desk, 1, "0", "2");
    let covered = fills(&mut desk, vec![first]);
    let send = sends(&covered)[0];
    desk.answer(send.intent, send.index, statuses(json!([{"resting": {"oid": 9}}])));
    let mut own = open_stop("ETH", "A", "1960", "2", 9);
    own.cloid = Some(json_of(&send.action)["orders"][0]["c"].as_str().unwrap().parse().unwrap());
    desk.now += 500;
    desk.hold("ETH", dec!(2));
    desk.show(vec![own]);
    desk
}

pub(super) fn problems(desk: &Desk) -> Vec<String> {
    desk.guard.health(desk.now).problems.iter().map(ToString::to_string).collect()
}

#[test]
fn it_is_covered_once_the_feeds_account_shows_it() {
    // By the mark of that account: of the fill's price, or of the known one.
    for (mark, trigger) in [(dec!(2600), "2548"), (dec!(2170), "2126.6"), (dec!(2000), "1960")] {
        let mut desk = doubting();
        let effects = shown(&mut desk, "0.4", mark);
        assert_eq!((stops(&effects), triggers(&effects)), (vec!["0.4".to_owned()], vec![json!(trigger)]), "{mark}");
        desk.now += 1_000;
        assert!(stops(&shown(&mut desk, "0.4", mark)).is_empty(), "once");
    }
    // One of a third price, of another size, or of a time before it shows nothing.
    for (szi, mark) in [("0.4", dec!(1000)), ("0.3", dec!(2600))] {
        let mut desk = doubting();
        assert!(stops(&shown(&mut desk, szi, mark)).is_empty(), "{szi} {mark}");
    }
    let mut desk = doubting();
    desk.now -= 1_000;
    assert!(stops(&shown(&mut desk, "0.4", dec!(2600))).is_empty());
}

#[test]
fn it_is_covered_once_the_known_price_has_come_to_it() {
    let mut desk = doubting();
    assert!(stops(&price(&mut desk, "ETH", dec!(2150))).is_empty());
    let effects = price(&mut desk, "ETH", dec!(2590));
    assert_eq!((stops(&effects), triggers(&effects)), (vec!["0.4".to_owned()], vec![json!("2538.2")]));
    assert!(!is_distrusted(&effects));
}

/// What waits for a read is not fresh by the feed's word: nothing is opened on it, and it is told.
#[test]
fn nobody_takes_it_for_known_while_it_waits() {
    let mut desk = doubting();
    let from = desk.now;
    // No read is answered, and the feed goes on.
    let until = |desk: &mut Desk, ms: u64| {
        while desk.now < from + ms {
            shown(desk, "0.4", dec!(1000));
            desk.now += 100;
            desk.step(Input::Tick);
        }
    };
    let is_told = |desk: &Desk| problems(desk).iter().any(|text| text.contains("a fill in ETH at 2600"));
    until(&mut desk, 3_900);
    assert!(!is_told(&desk), "{:?}", problems(&desk));
    until(&mut desk, 4_200);
    assert!(is_told(&desk), "{:?}", problems(&desk));
    until(&mut desk, 11_000);
    desk.read_mids(desk.now);
    desk.order(buy(ETH, "2000", "0.01")).vetoed("account_stale");
}

/// A position that was read, and enlarged since by a fill which the feed's account shows as well: it stays so without any read, and so
/// does its stop.
#[test]
fn what_the_feeds_account_shows_is_remembered_without_a_read() {
    let mut desk = desk();
    let first = fill(&desk, 1, "0", "0.4");
    fills(&mut desk, vec![first]);
    desk.now += 500;
    desk.hold("ETH", dec!(0.4));
    desk.now += 500;
    let told = fill(&desk, 1, "0.4", "2.6");
    fills(&mut desk, vec![told]);
    assert_eq!(desk.guard.view.position(ETH), dec!(3));
    for _ in 0..40 {
        desk.now += 500;
        prove(&mut desk);
        shown(&mut desk, "3", dec!(2000));
        desk.step(Input::Tick);
        assert_eq!(desk.guard.view.position(ETH), dec!(3), "{}", desk.now - NOW);
    }
    // Nor does the end of the feed take it back: a read does.
    desk.now += 30_000;
    desk.step(Input::Tick);
    assert_eq!(desk.guard.view.position(ETH), dec!(3));
    desk.read_account(desk.now);
    assert_eq!(desk.guard.view.position(ETH), dec!(0.4));
}

/// Fills elsewhere, less than three seconds apart, and one that closed another position put nothing off.
#[test]
fn what_a_bot_opened_is_held_whatever_else_fills() {
    let mut desk = desk();
    desk.hold("SOL", dec!(6));
    desk.now += 500;
    let decided = desk.order(with(buy(ETH, "2000", "0.4"), "/t", json!({"limit": {"tif": "Ioc"}})));
    assert!(!sends(&decided.effects).is_empty(), "{decided:?}");
    let told = fill(&desk, 1, "0", "0.4");
    fills(&mut desk, vec![told]);
    desk.positions.clear();
    let mut held = Vec::new();
    for tid in 2..10_u32 {
        desk.now += 500;
        let mut told = fill(&desk, u64::from(tid), "6", "0.5");
        told["coin"] = json!("SOL");
        told["px"] = json!("150");
        told["side"] = json!("A");
        told["startPosition"] = json!(Decimal::from(10 - tid) * dec!(0.75));
        told["sz"] = json!("0.75");
        fills(&mut desk, vec![told]);
        desk.now += 100;
        shown(&mut desk, "0.4", dec!(2000));
        desk.step(Input::Tick);
        held.push(desk.guard.view.position(ETH));
    }
    assert_eq!(held.last(), Some(&dec!(0.4)), "{held:?}");
}

/// The bot's own entry fills, and no read of the account shows it: it counts by its request at first, and is held then.
#[test]
fn what_a_bot_opened_is_held_where_no_read_is_answered() {
    let mut desk = desk();
    let decided = desk.order(with(buy(ETH, "2000", "0.4"), "/t", json!({"limit": {"tif": "Ioc"}})));
    assert!(!sends(&decided.effects).is_empty(), "{decided:?}");
    let told = fill(&desk, 1, "0", "0.4");
    fills(&mut desk, vec![told]);
    let (from, mut held_ms) = (desk.now, None);
    while desk.now < from + 8_000 {
        desk.now += 500;
        shown(&mut desk, "0.4", dec!(2000));
        desk.step(Input::Tick);
        if desk.guard.view.position(ETH) == dec!(0.4) {
            held_ms.get_or_insert(desk.now - from);
        }
    }
    assert_eq!(held_ms, Some(3_500));
    let killed = desk.step(Input::Kill { reason: "enough".to_owned(), by: None, write_file: false, request: None });
    let is_close = |send: &&SendAction| send.action.to_string().contains("\"r\":true");
    assert!(sends(&killed).iter().any(is_close), "{killed:?}");
}

/// What fills have closed is not known by the feed's word: it waits for a read, and is told of.
#[test]
fn what_the_feed_shows_otherwise_than_it_is_known_is_stale() {
    let mut desk = desk();
    let first = fill(&desk, 1, "0", "2");
    fills(&mut desk, vec![first]);
    desk.now += 500;
    desk.hold("ETH", dec!(2));
    desk.now += 500;
    let mut told = fill(&desk, 1, "2", "1");
    told["side"] = json!("A");
    fills(&mut desk, vec![told]);
    for _ in 0..30 {
        desk.now += 500;
        shown(&mut desk, "1", dec!(2000));
        desk.step(Input::Tick);
    }
    assert_eq!(desk.guard.view.position(ETH), dec!(2));
    assert!(
        problems(&desk).iter().any(|text| text.starts_with("the account: last read over ")),
        "{:?}",
        problems(&desk)
    );
}

/// What fills have turned, or closed and opened anew, as large, smaller or larger, is another position, where the feed's account shows
/// it: it has a stop of its own, and nothing is closed for where the old one stood.
#[test]
fn what_was_opened_anew_has_a_line_of_its_own_without_a_read() {
    for (steps, held) in [
        (&[("2", "0"), ("0", "-1")][..], dec!(-1)),
        (&[("2", "-1")], dec!(-1)),
        (&[("2", "0"), ("0", "2")], dec!(2)),
        (&[("2", "0"), ("0", "0.5")], dec!(0.5)),
        (&[("2", "0"), ("0", "3")], dec!(3)),
    ] {
        let mut desk = holding();
        // The stop has fired, and the price is beyond it.
        desk.mids.insert("ETH".to_owned(), dec!(1950));
        desk.now += 500;
        let mut all = vec![desk.read_mids(desk.now)];
        for (number, (before, after)) in steps.iter().enumerate() {
            let (before, after): (Decimal, Decimal) = (before.parse().unwrap(), after.parse().unwrap());
            let mut told = fill(&desk, 10 + number as u64, "0", "1");
            told["side"] = json!(if after > before { "B" } else { "A" });
            (told["startPosition"], told["sz"]) = (json!(before), json!((after - before).abs()));
            told["px"] = json!("1950");
            all.push(fills(&mut desk, vec![told]));
        }
        desk.orders.clear();
        all.push(desk.read_orders(desk.now));
        for _ in 0..12 {
            desk.now += 500;
            all.push(desk.read_mids(desk.now));
            all.push(desk.read_orders(desk.now));
            all.push(shown(&mut desk, &held.to_string(), dec!(1950)));
            all.push(desk.step(Input::Tick));
        }
        assert_eq!(desk.guard.view.position(ETH), held, "{steps:?}");
        let sent: Vec<String> = all.iter().flat_map(sends).map(|send| send.action.to_string()).collect();
        assert!(sent.iter().any(|action| action.contains("\"tpsl\":\"sl\"")), "{steps:?}: {sent:?}");
        assert!(!sent.iter().any(|action| action.contains("\"tif\":\"Ioc\"")), "{steps:?}: {sent:?}");
    }
}
