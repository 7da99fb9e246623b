//! The live feed's news: covered at once, believed as far as it is proved, and closing nothing.

mod behind_fills;
mod closed_of_others;
mod doubted_fills;
mod fills;
mod measured;
mod prices;
mod replayed;
mod shown_alone;
mod told_flows;
mod told_out_of_turn;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::halting::{explain, state};
use super::wire::open;
use crate::guard::feed_news::{FeedCommand, FeedNews};
use crate::guard::{Command, Config, Effects, Input, Mode, Read};
use crate::rules::Rules;
use crate::venue::fill::Fill;
use crate::venue::history::{Page, Unread};
use crate::venue::info::{AccountMode, Leverage, MarginMode};
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;
use crate::venue::stream::topic::{AccountFeed, Topic};

fn listening() -> Config {
    Config { feed: true, ..config(Mode::Testnet, Rules::default()) }
}

/// A guard that has read everything and believes its feed.
fn desk() -> Desk {
    let mut desk = Desk::blank(listening());
    desk.step(Input::AccountMode { mode: AccountMode::Standard, begun_ms: NOW });
    desk.read();
    explain(&mut desk, json!([]));
    desk.leverage(ETH, Some(Leverage { mode: MarginMode::Cross, value: 5 }));
    desk.wait(100);
    prove(&mut desk);
    desk
}

fn tell(desk: &mut Desk, news: FeedNews) -> Effects {
    desk.step(Input::Feed(news))
}

fn prove(desk: &mut Desk) {
    let all = AccountFeed::ALL.map(Topic::Account).into_iter().chain([Topic::Mids]).collect();
    tell(desk, FeedNews::Proved(all));
}

fn push(desk: &mut Desk, channel: &str, data: Value) -> Effects {
    let Ok(Frame::Data(data)) = Frame::read(&json!({"channel": channel, "data": data}).to_string()) else {
        panic!("no frame: {data}")
    };
    tell(desk, FeedNews::Told(Box::<Data>::new(data)))
}

/// A buy of ETH at 2000, `after_ms` after now.
fn fill(desk: &Desk, after_ms: u64, start: &str, size: &str) -> Value {
    let time = desk.now + after_ms;
    json!({"coin": "ETH", "px": "2000", "sz": size, "side": "B", "time": time, "startPosition": start, "dir": "",
        "closedPnl": "0.0", "hash": "0x", "oid": 77, "crossed": true, "fee": "0.0", "tid": time, "feeToken": "USDC"})
}

fn fills(desk: &mut Desk, fills: Vec<Value>) -> Effects {
    push(desk, "userFills", json!({"user": ACCOUNT, "fills": fills}))
}

fn price(desk: &mut Desk, coin: &str, px: Decimal) -> Effects {
    let prices = [(coin.to_owned(), px)].into_iter().collect();
    let begun_ms = desk.now;
    tell(desk, FeedNews::Prices { marks: prices, mids: [].into(), begun_ms })
}

/// The account as it is, of this time.
fn account(desk: &mut Desk, time: u64) -> Effects {
    let mut state = json!({"marginSummary": {"accountValue": "1"}, "crossMaintenanceMarginUsed": "0", "time": time});
    let position = |(coin, szi): (&&str, &Decimal)| {
        json!({"position": {"coin": coin, "szi": szi, "leverage":
        {"type": "cross", "value": 5}, "positionValue": "1", "unrealizedPnl": "0", "marginUsed": "0"}})
    };
    state["assetPositions"] = desk.positions.iter().map(position).collect();
    push(desk, "clearinghouseState", json!({"user": ACCOUNT, "clearinghouseState": state}))
}

/// Account and open orders are told as they are.
fn told_as_it_is(desk: &mut Desk) {
    let now = desk.now;
    account(desk, now);
    let orders = desk.orders.clone();
    tell(desk, FeedNews::Told(Box::new(Data::OpenOrders(ACCOUNT, orders))));
}

fn commands(effects: &Effects) -> Vec<&FeedCommand> {
    let feeds = effects.immediate.iter();
    feeds.filter_map(|command| if let Command::Feed(command) = command { Some(command) } else { None }).collect()
}

fn is_distrusted(effects: &Effects) -> bool {
    commands(effects).iter().any(|command| matches!(command, FeedCommand::Distrust(_)))
}

/// The sizes of the stops that are sent, and nothing else is.
fn stops(effects: &Effects) -> Vec<String> {
    let protect: Vec<Value> = events(effects).into_iter().filter(|event| event["kind"] == "protect").collect();
    let actions = protect.iter().flat_map(|event| event["actions"].as_array().unwrap());
    actions
        .map(|action| {
            let order = &action["orders"][0];
            assert_eq!((&order["r"], &order["t"]["trigger"]["tpsl"]), (&json!(true), &json!("sl")), "{action}");
            order["s"].as_str().unwrap().to_owned()
        })
        .collect()
}

/// The account is read a while after what was told.
fn read_later(desk: &mut Desk) -> Effects {
    desk.now += 100;
    desk.read_account(desk.now)
}

#[test]
fn a_peak_is_one_that_was_read() {
    let mut desk = desk();
    desk.hold("ETH", dec!(4));
    explain(&mut desk, json!([]));
    let peak = |desk: &Desk| desk.guard.status(desk.now, (0, 0)).risk.peak_equity;
    let before = peak(&desk);
    desk.now += 10;
    let effects = price(&mut desk, "ETH", dec!(2200));
    assert!(reads(&effects).contains(&&Read::Account) && peak(&desk) == before, "{effects:?}");
    let status = desk.guard.status(desk.now, (0, 0));
    assert_eq!(status.equity, Some(dec!(10800)), "and the equity is by the newest marks");
    desk.now += 9_999;
    assert!(!reads(&price(&mut desk, "ETH", dec!(2201))).contains(&&Read::Account));
    desk.now += 1;
    assert!(reads(&price(&mut desk, "ETH", dec!(2202))).contains(&&Read::Account));
}

/// Entries go on while the feed shows what was read, and wait once it does not.
#[test]
fn a_feed_that_agrees_is_as_good_as_a_read_for_a_while() {
    for (passed_ms, is_fresh) in [(20_000, true), (20_001, false)] {
        for is_proved in [true, false] {
            let mut desk = desk();
            desk.now += 4_000;
            let time = desk.now;
            account(&mut desk, time);
            if !is_proved {
                tell(&mut desk, FeedNews::Proved([].into()));
            }
            desk.now += passed_ms;
            desk.read_mids(desk.now);
            desk.read_orders(desk.now);
            let code =
                desk.order(with(buy(ETH, "2000", "0.1"), "/t", json!({"limit": {"tif": "Ioc"}}))).code().to_owned();
            assert_eq!(code != "account_stale", is_fresh && is_proved, "{passed_ms} {is_proved}: {code}");
        }
    }
}

/// A feed that could tell, and has told nothing since a read, makes that read no younger once it must have told again.
#[test]
fn a_read_that_no_feed_has_agreed_with_is_good_for_one_cadence() {
    for (is_of_orders, is_told, limit_ms) in
        [(true, false, 15_000), (true, true, 20_000), (false, false, 10_000), (false, true, 20_000)]
    {
        for passed_ms in [limit_ms, limit_ms + 1] {
            let mut desk = desk();
            desk.now += 1;
            desk.read();
            // What was told before a read is no word on it.
            let wait_ms = if is_told { 1 } else { 0 };
            desk.now += wait_ms;
            told_as_it_is(&mut desk);
            desk.now += passed_ms;
            desk.read_mids(desk.now);
            if is_of_orders {
                desk.read_account(desk.now);
            } else {
                desk.read_orders(desk.now);
            }
            let code =
                desk.order(with(buy(ETH, "2000", "0.1"), "/t", json!({"limit": {"tif": "Ioc"}}))).code().to_owned();
            assert_eq!(code == "account_stale", passed_ms > limit_ms, "{is_of_orders} {is_told} {passed_ms}: {code}");
        }
    }
}

/// Two frames in a row that differ from reads between them, with nothing told meanwhile.
#[test]
fn a_feed_that_goes_on_to_differ_is_not_believed() {
    for is_told in [false, true] {
        let mut desk = desk();
        desk.hold("ETH", dec!(0.4));
        desk.step(Input::Tick);
        let differ = |desk: &mut Desk| {
            desk.now += 1_000;
            let held = std::mem::take(&mut desk.positions);
            let time = desk.now;
            let effects = account(desk, time);
            desk.positions = held;
            effects
        };
        let effects = differ(&mut desk);
        assert!(!is_distrusted(&effects) && reads(&effects).contains(&&Read::AccountNow));
        desk.now += 100;
        desk.read_account(desk.now);
        if is_told {
            let told = fill(&desk, 1, "0.4", "0.1");
            desk.now += 10;
            fills(&mut desk, vec![told]);
        }
        assert_eq!(is_distrusted(&differ(&mut desk)), !is_told);
        // It is a discrepancy until everything is proved again.
        let told = |desk: &Desk| desk.guard.health(desk.now).problems.iter().any(|text| text.contains("reads differ"));
        let differences = |desk: &Desk| desk.guard.status(desk.now, (0, 0)).venue.feed.unwrap().differences;
        for (passed_ms, is_over) in [(0, false), (59_999, false), (1, true)] {
            desk.wait(passed_ms);
            prove(&mut desk);
            assert_eq!(told(&desk), !is_told && !is_over, "{passed_ms}");
        }
        assert_eq!(differences(&desk), u64::from(!is_told));
    }
}

/// Open orders have no time of their own: frames that are late show those from before a change that was read.
#[test]
fn open_orders_differ_once_no_late_frame_can_explain_it() {
    for (is_changed, after_ms, is_over) in [(false, 4_999, false), (false, 5_000, true), (true, 5_000, false)] {
        let mut desk = desk();
        let differ = |desk: &mut Desk| {
            let order = json!({"coin": "ETH", "side": "B", "limitPx": "1000", "sz": "1", "oid": 9, "isTrigger": false,
                "triggerPx": "0.0", "isPositionTpsl": false, "reduceOnly": false, "orderType": "Limit", "cloid": null});
            push(desk, "openOrders", json!({"dex": "", "user": ACCOUNT, "orders": [order]}))
        };
        let effects = differ(&mut desk);
        assert!(!is_distrusted(&effects) && reads(&effects).contains(&&Read::Orders));
        let since_ms = desk.now;
        for passed_ms in [1_000, 2_000, 3_000] {
            desk.now = since_ms + passed_ms;
            if is_changed && passed_ms == 2_000 {
                desk.orders.push(open("BTC", "B", "50000", "0.01", 10));
            }
            desk.read_orders(desk.now);
            assert!(!is_distrusted(&differ(&mut desk)), "{passed_ms}");
        }
        desk.now = since_ms + after_ms;
        assert_eq!(is_distrusted(&differ(&mut desk)), is_over, "{is_changed} {after_ms}");
    }
}

#[test]
fn what_waits_in_a_new_socket_comes_after_reads_that_began_since() {
    let mut desk = desk();
    desk.now += 1_000;
    let effects = tell(&mut desk, FeedNews::Opened { socket: 3 });
    let since_ms = NOW + 100 - 10_000;
    assert_eq!(reads(&effects), [&Read::Account, &Read::Orders, &Read::Fills { since_ms }]);
    let is_read = |effects: &Effects| commands(effects).contains(&&FeedCommand::BaselineRead(3));
    let fills_read = |desk: &mut Desk, begun_ms| desk.step(Input::Fills { page: Page::from(Vec::new()), begun_ms });
    let (before_ms, now_ms) = (desk.now - 1, desk.now);
    assert!(!is_read(&desk.read_account(before_ms)) && !is_read(&desk.read_orders(before_ms)));
    assert!(!is_read(&fills_read(&mut desk, before_ms)) && !is_read(&desk.read_account(now_ms)));
    assert!(!is_read(&desk.read_orders(now_ms)));
    assert!(is_read(&fills_read(&mut desk, now_ms)));
    assert!(!is_read(&fills_read(&mut desk, now_ms)), "once");
}

/// A trade between two sockets, of which the account shows nothing any more: what the cash moved by meanwhile may be its loss.
#[test]
fn what_was_traded_between_two_sockets_is_read() {
    for is_read in [false, true] {
        let mut desk = desk();
        let first = fill(&desk, 1, "0", "0.4");
        let mut closing = fill(&desk, 2, "0.4", "0.4");
        closing["side"] = json!("A");
        let since_ms = desk.now + 2 - 10_000;
        desk.now += 1_000;
        let rows = if is_read { json!([closing, first]) } else { json!([]) };
        let fills: Vec<Fill> = serde_json::from_value(rows).unwrap();
        tell(&mut desk, FeedNews::Opened { socket: 3 });
        desk.now += 100;
        let (begun_ms, traded_ms) = (desk.now, desk.guard.risk.traded_ms);
        desk.step(Input::Fills { page: Page::from(fills), begun_ms });
        desk.read_account(begun_ms);
        let effects = desk.read_orders(begun_ms);
        assert!(commands(&effects).contains(&&FeedCommand::BaselineRead(3)) && stops(&effects).is_empty());
        assert_eq!(desk.guard.risk.traded_ms > traded_ms, is_read);
        assert_eq!(desk.guard.status(desk.now, (0, 0)).venue.feed.unwrap().missed, 0);
        if is_read {
            // The next socket's begin there.
            let effects = tell(&mut desk, FeedNews::Opened { socket: 4 });
            assert!(reads(&effects).contains(&&Read::Fills { since_ms }), "{effects:?}");
        }
    }
}

/// Of what was traded before a life began its first read has all: it explains nothing that a later one shows.
#[test]
fn what_was_traded_before_the_first_read_is_no_trade_since() {
    for (after_ms, is_since) in [(-8_000, false), (0, false), (1, true)] {
        let mut desk = desk();
        let mut told = fill(&desk, 0, "0", "0.4");
        told["time"] = json!(desk.guard.risk.equities.first_ms().unwrap().saturating_add_signed(after_ms));
        tell(&mut desk, FeedNews::Opened { socket: 3 });
        let (begun_ms, traded_ms) = (desk.now, desk.guard.risk.traded_ms);
        desk.step(Input::Fills { page: Page::from(vec![serde_json::from_value(told).unwrap()]), begun_ms });
        desk.read_account(begun_ms);
        desk.read_orders(begun_ms);
        assert_eq!((traded_ms, desk.guard.risk.traded_ms.is_some()), (None, is_since), "{after_ms}");
    }
}

/// What cannot be read of them does not keep the feed down: the book reads and tells it.
#[test]
fn a_row_that_cannot_be_read_keeps_no_socket_waiting() {
    let mut desk = desk();
    desk.now += 60_000;
    tell(&mut desk, FeedNews::Opened { socket: 3 });
    desk.step(Input::Tick);
    let (begun_ms, time) = (desk.now, Some(desk.now));
    let page = Page::<Fill> { rows: Vec::new(), unread: vec![Unread { time, why: "no".to_owned() }] };
    desk.step(Input::Fills { page, begun_ms });
    desk.read_account(begun_ms);
    let effects = desk.read_orders(begun_ms);
    assert!(commands(&effects).contains(&&FeedCommand::BaselineRead(3)), "{effects:?}");
    desk.now += 600_000;
    let effects = desk.step(Input::Tick);
    assert!(reads(&effects).iter().any(|read| matches!(read, Read::BookFills { .. })), "{effects:?}");
}

/// Reads become audits once nothing has been on its way for three seconds, and reads again at the first sign.
#[test]
fn reads_are_put_off_only_while_nothing_is_on_its_way() {
    let pace = |effects: &Effects| {
        commands(effects)
            .iter()
            .find_map(|command| if let FeedCommand::Pace(pace) = command { Some(*pace) } else { None })
    };
    let mut desk = desk();
    // Not before the ledger was read as often as a start wants it.
    let calm_ms = (0..300).find_map(|_| {
        desk.wait(100);
        told_as_it_is(&mut desk);
        desk.step(Input::Tick);
        desk.guard.feed.pace.steady.then_some(desk.guard.feed.calm_ms)
    });
    assert_eq!(calm_ms, Some(Some(desk.now - 3_000)));
    // What is not told again is read, before it is sure that nothing comes any more.
    for (passed_ms, is_audited) in [(7_000, true), (1, false)] {
        desk.now += passed_ms;
        desk.step(Input::Tick);
        assert_eq!(desk.guard.feed.pace.steady, is_audited, "{passed_ms}");
    }
    told_as_it_is(&mut desk);
    desk.step(Input::Tick);
    assert!(desk.guard.feed.pace.steady);
    let mut bare = desk.positions.clone();
    bare.insert("ETH", dec!(0.4));
    desk.positions = bare;
    desk.now += 100;
    let effects = desk.read_account(desk.now);
    assert!(pace(&effects).is_some_and(|pace| !pace.steady), "{effects:?}");
    // It presses once it was not covered at once.
    let since_ms = desk.guard.watch.bare_ms[&ETH];
    for (passed_ms, presses) in [(999, false), (1_000, true)] {
        desk.now = since_ms + passed_ms;
        desk.step(Input::Tick);
        assert_eq!(desk.guard.feed.pace.pressing, presses, "{passed_ms}");
    }
}

#[test]
fn a_feed_that_does_not_prove_itself_for_a_minute_is_ill_health() {
    let mut desk = desk();
    desk.step(Input::Tick);
    tell(&mut desk, FeedNews::Proved([].into()));
    let is_told = |desk: &Desk| desk.guard.health(desk.now).problems.iter().any(|text| text.contains("live feed"));
    for (passed_ms, told) in [(60_000, false), (1, true)] {
        desk.wait(passed_ms);
        desk.step(Input::Tick);
        assert_eq!(is_told(&desk), told, "{passed_ms}");
    }
    prove(&mut desk);
    assert!(!is_told(&desk));
    // Nor is one that is not asked for.
    let mut desk = Desk::live();
    desk.wait(100_000);
    desk.step(Input::Tick);
    assert!(!is_told(&desk) && desk.guard.status(desk.now, (0, 0)).venue.feed.is_none());
}
