//! Fills at prices far from the known one, while no read is answered: only the price is in doubt, and not what is held.

use super::*;

/// The account with this much of ETH, valued at this mark.
fn shown(desk: &mut Desk, szi: &str, mark: Decimal) -> Effects {
    let value = (szi.parse::<Decimal>().unwrap().abs() * mark).to_string();
    let time = desk.now;
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

fn problems(desk: &Desk) -> Vec<String> {
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
