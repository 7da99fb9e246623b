//! The frames that were recorded at the venue, and what is read of each.

use proptest::prelude::*;
use rust_decimal::dec;
use serde_json::{Value, json};

use super::data::{AssetCtx, Bbo, Data, Prices};
use super::events::{Funding, VenueCancel};
use super::frame::{Frame, FrameError};
use super::refusal::Refusal;
use super::topic::{AccountFeed, MarketFeed, PING, Subscription, Topic};
use crate::base::address::Address;
use crate::venue::info::{AccountMode, MarginMode, Side};

const ACCOUNT: Address = Address([0xa1; 20]);
/// Frames of the main network, byte for byte but for addresses and hashes; long lists are cut.
const RECORDED: &str = include_str!("../../../tests/data/venue_frames.jsonl");

fn recorded(channel: &str) -> Vec<Frame> {
    let is_here = |line: &&str| serde_json::from_str::<Value>(line).unwrap()["channel"] == channel;
    RECORDED.lines().filter(is_here).map(|line| Frame::read(line).unwrap_or_else(|error| panic!("{error}"))).collect()
}

fn data(channel: &str) -> Vec<Data> {
    let of = |frame| if let Frame::Data(data) = frame { data } else { panic!("{channel}: {frame:?}") };
    recorded(channel).into_iter().map(of).collect()
}

fn account(feed: AccountFeed) -> Subscription {
    Subscription { topic: Topic::Account(feed), user: Some(ACCOUNT) }
}

#[test]
fn every_recorded_frame_is_read() {
    let mut kinds = [0; 5];
    for line in RECORDED.lines() {
        let kind = match Frame::read(line).unwrap_or_else(|error| panic!("{error}: {line}")) {
            Frame::Data(_) => 0,
            Frame::Acked { .. } => 1,
            Frame::Refused(_) => 2,
            Frame::Pong => 3,
            Frame::Other(channel) => {
                let is_followed =
                    |channel: &str| channel.parse::<AccountFeed>().is_ok() || channel.parse::<MarketFeed>().is_ok();
                assert!(!is_followed(&channel) || line.contains(r#""dex":"xyz""#), "{line}");
                4
            }
        };
        kinds[kind] += 1;
    }
    assert_eq!(kinds, [23, 9, 9, 1, 20], "of {}", RECORDED.lines().count());
}

#[test]
fn a_fill_says_where_the_position_stands() {
    let fills: Vec<_> =
        data("userFills").into_iter().map(|data| if let Data::Fills(rows) = data { rows } else { panic!() }).collect();
    assert_eq!(fills.iter().map(|rows| rows.is_snapshot).collect::<Vec<_>>(), [true, false, false, true]);
    assert!(fills[..3].iter().all(|rows| rows.user == ACCOUNT && rows.rows.len() == 1) && fills[3].rows.is_empty());
    let fill = &fills[1].rows[0];
    assert_eq!((fill.coin.as_str(), fill.side, fill.px, fill.sz), ("BTC", Side::Sell, dec!(80499), dec!(0.00124)));
    assert_eq!((fill.start_position, fill.position_after()), (dec!(-11.86858), Some(dec!(-11.86982))));
    assert_eq!((fill.time, fill.tid, fill.oid), (1_791_480_468_944, 167_376_889_247_413, 569_017_662_681));
    assert_eq!(
        (fill.fee, fill.fee_token.as_str(), fill.crossed, fill.closed_pnl),
        (dec!(-0.002994), "USDC", false, dec!(0))
    );
    assert_eq!(fill.cloid.unwrap().to_string(), "0x9c7328918712fb838952e96a69ea150d");
    assert_eq!((fill.builder_fee, &fill.liquidation), (None, &None));
    let liquidation = fills[2].rows[0].liquidation.as_ref().unwrap();
    assert_eq!((liquidation.mark_px, liquidation.method.as_str()), (dec!(80429), "market"));
    assert_eq!(liquidation.liquidated_user.as_deref(), Some(ACCOUNT.to_string().as_str()));
}

#[test]
fn what_happened_is_read_row_by_row() {
    let Some(Data::OrderUpdates(updates)) = data("orderUpdates").into_iter().next() else { panic!() };
    let update = &updates[0];
    assert_eq!((update.status.as_str(), update.status_timestamp), ("open", 1_791_480_448_890));
    let order = &update.order;
    assert_eq!(
        (order.coin.as_str(), order.side, order.limit_px, order.oid),
        ("BTC", Side::Buy, dec!(80462), 569_017_209_592)
    );
    assert_eq!(
        (order.sz, order.orig_sz, order.timestamp, order.cloid.is_some()),
        (dec!(0.20705), dec!(0.20705), 1_791_480_448_890, true)
    );

    let events: Vec<_> =
        data("user").into_iter().map(|data| if let Data::Event(event) = data { event } else { panic!() }).collect();
    let funding = Funding {
        time: 1_791_482_400_023,
        coin: "ZEC".to_owned(),
        usdc: dec!(0.082377),
        szi: dec!(-5.8),
        funding_rate: dec!(0.0000125),
    };
    assert_eq!(events.iter().map(|event| event.fills.len()).collect::<Vec<_>>(), [1, 0, 0, 1, 1]);
    assert_eq!(events[1].funding, Some(funding));
    assert_eq!(events[2].cancels, [VenueCancel { coin: "ZEC".to_owned(), oid: 569_031_862_179 }]);
    // Of a TWAP order.
    assert_eq!((events[3].fills[0].coin.as_str(), events[3].fills[0].position_after()), ("ENA", Some(dec!(2107))));

    let Some(Data::Ledger(ledger)) = data("userNonFundingLedgerUpdates").into_iter().next() else { panic!() };
    assert!(ledger.is_snapshot && ledger.user == ACCOUNT);
    let kinds: Vec<_> = ledger.rows.iter().map(|row| (row.time, row.delta["type"].as_str().unwrap())).collect();
    assert_eq!(kinds, [(1_788_831_761_730, "deposit"), (1_790_318_031_225, "send")]);
    let Some(Data::Fundings(fundings)) = data("userFundings").into_iter().next() else { panic!() };
    assert_eq!((fundings.is_snapshot, fundings.rows[0].usdc), (true, dec!(-0.025182)));
}

#[test]
fn a_state_is_whole() {
    let Some(Data::Account(user, state)) = data("clearinghouseState").into_iter().next() else { panic!() };
    assert_eq!((user, state.time, state.margin_summary.account_value), (ACCOUNT, 1_791_480_487_027, dec!(99248.48428)));
    let position = &state.asset_positions[0].position;
    assert_eq!(
        (position.coin.as_str(), position.szi, position.leverage.mode),
        ("BTC", dec!(-12.07087), MarginMode::Cross)
    );
    let orders: Vec<_> = data("openOrders");
    let [Data::OpenOrders(user, orders), Data::OpenOrders(_, none)] = orders.as_slice() else { panic!() };
    assert_eq!((*user, orders.len(), none.len()), (ACCOUNT, 1, 0));
    assert_eq!((orders[0].oid, orders[0].is_trigger, orders[0].tif.as_deref()), (569_017_061_987, false, Some("Alo")));
    let Some(Data::Spot(user, spot)) = data("spotState").into_iter().next() else { panic!() };
    assert_eq!((user, spot.balances.len(), spot.usdc()), (ACCOUNT, 4, Ok(dec!(19042.782306))));
    let Some(Data::WebData(web)) = data("webData3").into_iter().next() else { panic!() };
    assert_eq!((web.user, web.server_time, web.agent_valid_until), (ACCOUNT, 1_791_480_444_991, None));
    assert_eq!(web.abstraction.as_deref().map(AccountMode::named), Some(Ok(AccountMode::Standard)));
}

#[test]
fn a_side_of_an_outcome_market_has_no_token() {
    let text = format!(
        r#"{{"channel":"spotState","data":{{"user":"{ACCOUNT}","spotState":{{"balances":[{{"coin":"+14720","total":"3.0","hold":"0.0"}},
        {{"coin":"USDC","token":0,"total":"1.5","hold":"0.0"}}]}}}}}}"#
    );
    let Ok(Frame::Data(Data::Spot(_, spot))) = Frame::read(&text) else { panic!() };
    assert_eq!(spot.usdc(), Ok(dec!(1.5)));
}

#[test]
fn prices_are_of_core_markets() {
    let mids: Vec<_> = data_of_first_dex();
    assert_eq!(mids, [Some(dec!(80474.5)), Some(dec!(69172.5))]);
    let of = |bid, ask, time| Data::Bbo(Bbo { coin: "BTC".to_owned(), time, bid: Some(bid), ask: Some(ask) });
    assert_eq!(
        data("bbo"),
        [of(dec!(80459), dec!(80460), 1_791_480_444_656), of(dec!(83757), dec!(83758), 1_790_358_617_881)]
    );
    let mid_of = |bid, ask| Bbo { coin: "BTC".to_owned(), time: 1, bid, ask }.mid();
    assert_eq!(mid_of(Some(dec!(80459)), Some(dec!(80460))), Some(dec!(80459.5)));
    for (bid, ask) in [(None, Some(dec!(2))), (Some(dec!(2)), None), (Some(dec!(2)), Some(dec!(2)))] {
        assert_eq!(mid_of(bid, ask), None);
    }
    let one_sided = r#"{"channel":"bbo","data":{"coin":"BTC","time":1,"bbo":[null,{"px":"2.0","sz":"1","n":1}]}}"#;
    let bbo = Bbo { coin: "BTC".to_owned(), time: 1, bid: None, ask: Some(dec!(2)) };
    assert_eq!(Frame::read(one_sided), Ok(Frame::Data(Data::Bbo(bbo))));
    let prices = Prices { mark_px: dec!(80454), oracle_px: dec!(80491.9), mid_px: Some(dec!(80459.5)) };
    assert_eq!(data("activeAssetCtx"), [Data::AssetCtx(AssetCtx { coin: "BTC".to_owned(), prices })]);
}

/// The mids of BTC in the frames of all markets; those of other dexes are left alone.
fn data_of_first_dex() -> Vec<Option<rust_decimal::Decimal>> {
    let frames = recorded("allMids").into_iter();
    frames
        .filter_map(|frame| match frame {
            Frame::Data(Data::Mids(mids)) => Some(mids.get("BTC").copied()),
            frame => {
                assert_eq!(frame, Frame::Other("allMids".to_owned()));
                None
            }
        })
        .collect()
}

#[test]
fn acks_are_known_whatever_the_venue_filled_in() {
    let acks = recorded("subscriptionResponse").into_iter();
    let told: Vec<_> = acks
        .filter_map(|frame| match frame {
            Frame::Acked { is_subscribed: true, subscription } => subscription,
            _ => None,
        })
        .collect();
    for feed in [AccountFeed::Account, AccountFeed::Fills, AccountFeed::Spot] {
        assert!(told.iter().any(|subscription| subscription.topic == Topic::Account(feed)), "{feed}");
    }
    let read = |value: Value| Subscription::read(&value);
    let (fills, account_state) = (account(AccountFeed::Fills), account(AccountFeed::Account));
    for user in [ACCOUNT.to_string(), ACCOUNT.to_string().to_uppercase().replacen("0X", "0x", 1)] {
        assert_eq!(read(json!({"aggregateByTime": false, "user": user, "type": "userFills"})), Some(fills.clone()));
        assert_eq!(read(json!({"type": "clearinghouseState", "dex": "", "user": user})), Some(account_state.clone()));
    }
    // Not those that the guard makes.
    for other in [
        json!({"type": "userFills", "user": ACCOUNT, "aggregateByTime": true}),
        json!({"type": "clearinghouseState", "user": ACCOUNT, "dex": "xyz"}),
        json!({"type": "userFills"}),
        json!({"type": "bbo"}),
        json!({"type": "trades", "coin": "BTC"}),
        json!("userFills"),
        json!({}),
    ] {
        assert_eq!(read(other.clone()), None, "{other}");
    }
    assert_eq!(
        read(json!({"type": "bbo", "coin": "BTC"})).map(|found| found.topic),
        Some(Topic::Market(MarketFeed::Bbo, "BTC".to_owned()))
    );
}

#[test]
fn what_is_sent_is_what_the_page_shows() {
    assert_eq!(PING, r#"{"method":"ping"}"#);
    let dexless = Topic::Account(AccountFeed::OpenOrders).subscribe(&ACCOUNT);
    assert_eq!(
        dexless,
        format!(r#"{{"method":"subscribe","subscription":{{"type":"openOrders","user":"{ACCOUNT}","dex":""}}}}"#)
    );
    let market = Topic::Market(MarketFeed::Bbo, "SOL".to_owned()).unsubscribe(&ACCOUNT);
    assert_eq!(market, r#"{"method":"unsubscribe","subscription":{"type":"bbo","coin":"SOL"}}"#);
    assert_eq!(Topic::Mids.subscribe(&ACCOUNT), r#"{"method":"subscribe","subscription":{"type":"allMids"}}"#);
    for feed in AccountFeed::ALL {
        assert_eq!(Subscription::read(&Topic::Account(feed).subscription(&ACCOUNT)), Some(account(feed)));
    }
}

#[test]
fn refusals_name_what_they_quote() {
    let fills = format!(r#"{{"type":"userFills","user":"{ACCOUNT}"}}"#);
    let subscribe = format!(r#"{{"method":"subscribe","subscription":{fills}}}"#);
    let known = || Some(account(AccountFeed::Fills));
    for (text, refusal) in [
        (format!("Already subscribed: {fills}"), Refusal::AlreadySubscribed(known())),
        (format!("Already unsubscribed: {fills}"), Refusal::AlreadyUnsubscribed(known())),
        (format!("Error parsing JSON into valid websocket request: {subscribe}"), Refusal::NotServed(known())),
        (format!("Invalid subscription {fills}"), Refusal::NotServed(known())),
        ("Error parsing JSON into valid websocket request: not json".to_owned(), Refusal::NotServed(None)),
        ("Already subscribed: {\"type\":\"l2Book\"}".to_owned(), Refusal::AlreadySubscribed(None)),
        ("Cannot track more than 15 total users.".to_owned(), Refusal::TooManyUsers),
        (
            "too many pending post requests id=1234".to_owned(),
            Refusal::Other("too many pending post requests id=1234".to_owned()),
        ),
    ] {
        assert_eq!(Refusal::read(&text), refusal, "{text}");
    }
    assert_eq!(recorded("error").len(), 9);
}

#[test]
fn strange_frames_are_told_apart() {
    for text in [
        "Websocket connection established.",
        r#"{"channel":"l2","data":"q1ZyCg"}"#,
        r#"{"channel":"user","data":{"twapHistory":[]}}"#,
    ] {
        assert!(matches!(Frame::read(text), Ok(Frame::Other(_))), "{text}");
    }
    for text in ["", "null", "[]", "{}", r#"{"data":1}"#, r#"{"channel":7}"#, "not json", r#"{"channel":"pong"} {}"#] {
        assert!(matches!(Frame::read(text), Err(FrameError::NoFrame(_))), "{text}");
    }
    // Shapes that the documentation shows with its addresses left out, and others.
    for (text, part) in [
        (r#"{"channel":"openOrders","data":{"dex":"","user":"0x..","orders":[]}}"#, "40"),
        (
            r#"{"channel":"userFills","data":{"user":"0xa1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1"}}"#,
            "missing field `fills`",
        ),
        (r#"{"channel":"orderUpdates","data":{}}"#, "expected a sequence"),
        (r#"{"channel":"allMids","data":{"mids":{"BTC":1.5}}}"#, "BTC is no decimal"),
        (r#"{"channel":"bbo"}"#, "null"),
    ] {
        let Err(FrameError::Shape { channel, text: told }) = Frame::read(text) else { panic!("{text}") };
        assert!(text.contains(&channel) && told.contains(part), "{told}");
    }
}

proptest! {
    /// Cut, spoilt and mixed frames: an error or a frame, in one line, and no panic.
    #[test]
    fn spoilt_frames_are_read_or_refused(
        which in any::<proptest::sample::Index>(),
        spoilt in prop::collection::vec((any::<proptest::sample::Index>(), any::<u8>()), 0..6),
        end in any::<proptest::sample::Index>(),
        is_cut in prop::bool::weighted(0.2),
    ) {
        let lines: Vec<&str> = RECORDED.lines().collect();
        let mut bytes = which.get(&lines).as_bytes().to_vec();
        for (place, byte) in spoilt {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(end.index(bytes.len()));
        }
        if let Err(error) = Frame::read(&String::from_utf8_lossy(&bytes)) {
            let told = error.to_string();
            prop_assert!(told.chars().count() <= 240 && !told.contains(char::is_control), "{told:?}");
        }
    }
}
