//! Properties of any sequence of requests, answers, fills and reads.

use std::ops::RangeInclusive;

use proptest::prelude::*;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::world::{LOWEST, World};

use crate::guard::{Config, Input, Mode, RequestBody, SendOutcome};
use crate::rules::Rules;
use crate::venue::envelope::Envelope;
use crate::venue::info::{Leverage, MarginMode};
use crate::venue::signing::Source;

/// One thing that happens.
#[derive(Debug, Clone)]
enum Happening {
    Ask(Vec<Value>),
    Cancel(usize),
    Modify(usize, Value),
    Execute { which: usize, refuse: bool },
    Answer { which: usize, is_lost: bool },
    GiveUp { which: usize, is_sent: bool },
    Match { which: usize, percent: u32 },
    BeginRead { is_account: bool },
    EndRead(usize),
    Wait(u64),
    Kill,
}

/// Thousandths of the mid: from the lowest price to beyond the collar.
const NEAR: RangeInclusive<u32> = 980..=1005;

/// An order near the mid, worth something against the caps of 5000 and 8000 USDC.
fn order() -> impl Strategy<Value = Value> {
    order_at(NEAR)
}

/// The same, at a price of so many thousandths of the mid.
fn order_at(mills: RangeInclusive<u32>) -> impl Strategy<Value = Value> + Clone {
    let tif = prop::sample::select(vec!["Gtc", "Gtc", "Ioc", "Alo"]);
    (0_usize..3, any::<bool>(), mills, 1_u32..60, tif, prop::bool::weighted(0.2), 0_u8..6).prop_map(
        |(market, is_buy, mills, hundreds, tif, reduce_only, id)| {
            let (mid, px_step, lot) = [(dec!(60000), 0, 5), (dec!(2000), 1, 4), (dec!(100), 2, 2)][market];
            let px = (mid * Decimal::from(mills) / dec!(1000)).round_dp(px_step).max(mid * LOWEST);
            let size = (Decimal::from(hundreds * 100) / mid).round_dp(lot);
            let order =
                if is_buy { buy } else { sell }(u32::try_from(market).unwrap(), &px.to_string(), &size.to_string());
            let order = with(with(order, "/t/limit/tif", json!(tif)), "/r", json!(reduce_only));
            if id < 3 { with(order, "/c", cloid(id)) } else { order }
        },
    )
}

fn happening(mills: RangeInclusive<u32>) -> impl Strategy<Value = Happening> {
    let which = 0_usize..8;
    let order = order_at(mills);
    prop_oneof![
        6 => prop::collection::vec(order.clone(), 1..4).prop_map(Happening::Ask),
        1 => which.clone().prop_map(Happening::Cancel),
        2 => (which.clone(), order).prop_map(|(which, order)| Happening::Modify(which, order)),
        5 => (which.clone(), prop::bool::weighted(0.1)).prop_map(|(which, refuse)| Happening::Execute { which, refuse }),
        5 => (which.clone(), prop::bool::weighted(0.1)).prop_map(|(which, is_lost)| Happening::Answer { which, is_lost }),
        1 => (which.clone(), any::<bool>()).prop_map(|(which, is_sent)| Happening::GiveUp { which, is_sent }),
        4 => (which.clone(), 1_u32..=100).prop_map(|(which, percent)| Happening::Match { which, percent }),
        4 => any::<bool>().prop_map(|is_account| Happening::BeginRead { is_account }),
        5 => which.prop_map(Happening::EndRead),
        2 => (1_u64..50).prop_map(Happening::Wait),
        1 => prop::bool::weighted(0.05).prop_map(|kill| if kill { Happening::Kill } else { Happening::Wait(1) }),
    ]
}

fn happen(world: &mut World, happening: Happening) {
    match happening {
        Happening::Ask(orders) => {
            let decided = world.ask(place(orders.clone()));
            check_exits(&orders, &decided);
        }
        Happening::Cancel(which) => {
            let oids = world.oids();
            if let Some(oid) = oids.get(which % oids.len().max(1)) {
                world.ask(json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]}));
            }
        }
        Happening::Modify(which, order) => {
            let oids = world.oids();
            if let Some(oid) = oids.get(which % oids.len().max(1)) {
                world.ask(json!({"type": "modify", "oid": oid, "order": order}));
            }
        }
        Happening::Execute { which, refuse } => world.execute(which, refuse),
        Happening::Answer { which, is_lost } => world.answer(which, is_lost),
        Happening::GiveUp { which, is_sent } => world.give_up(which, is_sent),
        Happening::Match { which, percent } => world.match_one(which, percent),
        Happening::BeginRead { is_account } => world.begin_read(is_account),
        Happening::EndRead(which) => world.end_read(which),
        Happening::Wait(ms) => world.desk.now += ms,
        Happening::Kill => {
            let reason = "test".to_owned();
            world.desk.step(Input::Kill { reason, by: None, write_file: false, request: None });
        }
    }
}

fn live(mut world: World, happenings: Vec<Happening>) {
    for happening in happenings {
        world.desk.now += 1;
        happen(&mut world, happening);
    }
}

/// So many cases, unless the environment asks for another number.
pub(super) fn cases(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

/// A request of reduce-only orders alone passes as it came, but for those where nothing is held, and for ids that are alive.
fn check_exits(asked: &[Value], decided: &Decided) {
    if asked.iter().all(|order| order["r"] == true) && decided.code() != "nothing_to_reduce" {
        // A stop that could trigger and not fill gets another limit price, and nothing else.
        let changes: Vec<String> = serde_json::from_value(decided.event["changes"].clone()).unwrap_or_default();
        let is_left_out = |change: &&String| change.contains("left out (nothing_to_reduce)");
        let is_priced = |change: &&String| change.contains("limit price of a stop set");
        let is_renamed = |change: &&String| change.contains("goes without it");
        let is_known =
            |change: &String| [is_left_out(&change), is_priced(&change), is_renamed(&change)].contains(&true);
        assert!(changes.iter().all(is_known), "{changes:?}");
        let sent = decided.forward()["orders"].as_array().unwrap();
        let places =
            decided.event.pointer("/parts/0/places").map(|places| serde_json::from_value(places.clone()).unwrap());
        let places: Vec<usize> = places.unwrap_or_else(|| (0..sent.len()).collect());
        let is_whole = !changes.iter().any(|change| is_left_out(&change));
        assert_eq!((places.len() == asked.len(), places.len()), (is_whole, sent.len()), "{}", decided.event);
        let asked: Vec<Value> = places.iter().map(|place| asked[*place].clone()).collect();
        for (sent, asked) in sent.iter().zip(asked.into_iter().map(canonical)) {
            let is_priced = changes.iter().any(|change| is_priced(&change));
            let is_stop = asked.pointer("/t/trigger/isMarket") == Some(&json!(true));
            let asked = if is_priced && is_stop { with(asked, "/p", sent["p"].clone()) } else { asked };
            let is_renamed = changes.iter().any(|change| is_renamed(&change));
            let asked = if is_renamed { with(asked, "/c", sent["c"].clone()) } else { asked };
            let named = with(sent.clone(), "/c", asked.get("c").cloned().unwrap_or(Value::Null));
            assert_eq!(named, with(asked.clone(), "/c", asked.get("c").cloned().unwrap_or(Value::Null)));
        }
    }
}

proptest! {
    #![proptest_config(cases(7_000))]

    /// Half the equity in one market and four fifths in all, as notional.
    #[test]
    fn no_order_of_events_takes_the_account_over_its_caps(happenings in prop::collection::vec(happening(NEAR), 1..60)) {
        live(World::new(Rules { position: dec!(50), exposure: dec!(80), ..wide() }, LOWEST), happenings);
    }

    /// The same amounts as losses: at the mid, where all stops are 2% away, 1% lost is half the equity held.
    #[test]
    fn no_order_of_events_risks_more_than_its_rules(happenings in prop::collection::vec(happening(1000..=1000), 1..60)) {
        live(World::new(Rules { loss_per_trade: dec!(1), open_risk: dec!(1.6), ..wide() }, Decimal::ONE), happenings);
    }

    #[test]
    fn what_was_resized_is_allowed_as_it_was_sent(
        order in order(),
        held in prop::sample::select(vec!["0", "0.5", "1.5", "-0.5", "-1.5"]),
        stop_mills in prop::option::of(930_u32..1080),
        stop_hundreds in 1_u32..60,
        cut in 1_u32..8,
        leverage in 1_u32..20,
        narrow in 1_u32..40,
    ) {
        let tenths = |number: u32| Decimal::from(number) / Decimal::TEN;
        let rules = Rules {
            position: Decimal::from(cut * 10), loss_per_trade: dec!(1), collar: dec!(0.2), stop: tenths(narrow),
            max_stop: tenths(narrow + cut), ..wide()
        };
        let ask = |action: Value, leverage: u32| {
            let mut desk = Desk::new(Mode::Testnet, rules.clone());
            for asset in [BTC, ETH, SOL] {
                desk.leverage(asset, Some(Leverage { mode: MarginMode::Cross, value: leverage }));
            }
            let coin = ["BTC", "ETH", "SOL"][usize::try_from(order["a"].as_u64().unwrap()).unwrap()];
            let mid = desk.mids[coin];
            // Held in this market: so many times a thousand USDC.
            desk.hold(coin, (held.parse::<Decimal>().unwrap() * dec!(1000) / mid).round_dp(2));
            if leverage > 5 {
                desk.leverage(u32::try_from(order["a"].as_u64().unwrap()).unwrap(), Some(Leverage { mode: MarginMode::Cross, value: leverage }));
            }
            desk.ask(action)
        };
        let mut orders = vec![order.clone()];
        if let Some(mills) = stop_mills {
            let (mid, step, lot) = [(dec!(60000), 0, 5), (dec!(2000), 1, 4), (dec!(100), 2, 2)][usize::try_from(order["a"].as_u64().unwrap()).unwrap()];
            let px = (mid * Decimal::from(mills) / dec!(1000)).round_dp(step);
            let size = (Decimal::from(stop_hundreds * 100) / mid).round_dp(lot);
            orders.push(stop(u32::try_from(order["a"].as_u64().unwrap()).unwrap(), !order["b"].as_bool().unwrap(), &px.to_string(), &size.to_string()));
        }
        let first = ask(place(orders), leverage);
        if first.verdict() != "veto" {
            let mut again = first.forward().clone();
            for order in again["orders"].as_array_mut().unwrap() {
                order.as_object_mut().unwrap().remove("c");
            }
            let second = ask(again, leverage.min(5));
            prop_assert_eq!(second.verdict(), "allow", "first {} then {}", first.event, second.event);
        }
    }
}

/// Amounts at the edges of what the venue's wire form holds.
fn amount() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "0",
            "0.00000001",
            "999999999999.99999999",
            "999999999999",
            "1",
            "2000",
            "60000",
            "0.5",
            "100",
            "0.1",
        ])
        .prop_map(str::to_owned),
        (0_u64..1_000_000_000_000, 0_u32..100_000_000).prop_map(|(whole, part)| format!("{whole}.{part:08}")),
        (0_u64..100_000, 0_u32..100).prop_map(|(whole, part)| format!("{whole}.{part:02}")),
    ]
}

fn any_order() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        prop::sample::select(vec!["Alo", "Ioc", "Gtc", "FrontendMarket"])
            .prop_map(|tif| json!({"limit": {"tif": tif}})),
        (any::<bool>(), amount(), any::<bool>()).prop_map(|(is_market, px, is_stop)| {
            let tpsl = if is_stop { "sl" } else { "tp" };
            json!({"trigger": {"isMarket": is_market, "triggerPx": px, "tpsl": tpsl}})
        }),
    ];
    let asset = prop_oneof![4 => 0_u32..7, 1 => any::<u32>()];
    (asset, any::<bool>(), amount(), amount(), any::<bool>(), kind, prop::option::of(0_u8..4)).prop_map(
        |(asset, is_buy, px, size, reduce_only, kind, id)| {
            let order = json!({"a": asset, "b": is_buy, "p": px, "s": size, "r": reduce_only, "t": kind});
            if let Some(id) = id { with(order, "/c", cloid(id)) } else { order }
        },
    )
}

fn any_action() -> impl Strategy<Value = Value> {
    let orders = prop::collection::vec(any_order(), 0..5);
    let grouping = prop::sample::select(vec![json!("na"), json!("normalTpsl"), json!("positionTpsl"), json!({"p": 1})]);
    let oid = prop_oneof![
        (0_u64..8).prop_map(|oid| json!(oid)),
        (0_u8..4).prop_map(cloid),
        any::<u64>().prop_map(|oid| json!(oid))
    ];
    let modifies = prop::collection::vec((oid.clone(), any_order()), 0..4);
    let oids = prop::collection::vec(0_u64..8, 0..5);
    prop_oneof![
        6 => (orders, grouping).prop_map(|(orders, grouping)| json!({"type": "order", "orders": orders, "grouping": grouping})),
        2 => (oid, any_order()).prop_map(|(oid, order)| json!({"type": "modify", "oid": oid, "order": order})),
        2 => modifies.prop_map(|modifies| {
            let modifies: Vec<_> = modifies.into_iter().map(|(oid, order)| json!({"oid": oid, "order": order})).collect();
            json!({"type": "batchModify", "modifies": modifies})
        }),
        2 => oids.prop_map(|oids| {
            let cancels: Vec<_> = oids.into_iter().map(|oid| json!({"a": ETH, "o": oid})).collect();
            json!({"type": "cancel", "cancels": cancels})
        }),
        1 => (0_u8..4).prop_map(|id| json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid(id)}]})),
        1 => (any::<u32>(), any::<bool>(), any::<u32>())
            .prop_map(|(asset, cross, leverage)| json!({"type": "updateLeverage", "asset": asset, "isCross": cross, "leverage": leverage})),
        1 => any::<i64>().prop_map(|ntli| json!({"type": "updateIsolatedMargin", "asset": ETH, "isBuy": true, "ntli": ntli})),
    ]
}

fn any_reply() -> impl Strategy<Value = Value> {
    let status = prop_oneof![
        (0_u64..8).prop_map(|oid| json!({"resting": {"oid": oid}})),
        (amount(), any::<u64>())
            .prop_map(|(size, oid)| json!({"filled": {"totalSz": size, "avgPx": "1.0", "oid": oid}})),
        Just(json!({"error": "no"})),
        Just(json!("waitingForFill")),
        Just(json!("success")),
        Just(json!({"filled": {"totalSz": 1}})),
        Just(json!(null)),
    ];
    prop_oneof![
        4 => prop::collection::vec(status, 0..6).prop_map(|list| statuses(json!(list))),
        1 => Just(done()),
        1 => Just(json!({"status": "err", "response": {"deep": []}})),
        1 => Just(json!([1, "x", null])),
    ]
}

proptest! {
    #![proptest_config(cases(8_000))]

    #[test]
    fn nothing_that_can_be_read_panics(
        is_paper in any::<bool>(),
        mids in prop::collection::vec(amount(), 3),
        held in prop::collection::vec((amount(), any::<bool>()), 3),
        equity in (amount(), any::<bool>()),
        resting in prop::collection::vec((any::<bool>(), amount(), amount(), any::<bool>()), 0..6),
        asked in prop::collection::vec((any_action(), any_reply(), prop::option::of(any::<u64>()), 0_u64..4), 1..12),
    ) {
        let number = |text: &str| text.parse::<Decimal>().unwrap();
        let signed = |(text, minus): &(String, bool)| if *minus { -number(text) } else { number(text) };
        let rules = Rules { orders_per_minute: 1200, ..Rules::default() };
        let mut desk = Desk::of(config(if is_paper { Mode::Paper } else { Mode::Testnet }, rules));
        desk.equity = signed(&equity);
        for (coin, (mid, held)) in ["BTC", "ETH", "SOL"].into_iter().zip(mids.iter().zip(&held)) {
            desk.mids.insert(coin.to_owned(), number(mid));
            desk.positions.insert(coin, signed(held));
        }
        // A position's value is beside the point, and one too large for a test's own arithmetic.
        let too_large = desk.positions.iter().any(|(coin, szi)| szi.abs().checked_mul(desk.mids[*coin]).is_none());
        prop_assume!(!too_large);
        let orders = resting.iter().zip(1..).map(|((is_stop, px, size, is_buy), oid)| {
            let side = if *is_buy { "B" } else { "A" };
            if *is_stop { open_stop("ETH", side, px, size, oid) } else { open("ETH", side, px, size, oid) }
        });
        desk.orders = orders.collect();
        desk.now += 1;
        desk.read();
        for (nonce, (action, reply, expires, wait)) in (NOW..).zip(asked) {
            desk.now += wait;
            let body = json!({"action": action, "nonce": nonce, "expiresAfter": expires,
                "signature": {"r": "0x1", "s": "0x1", "v": 27}});
            let Ok(envelope) = Envelope::parse(body.to_string().as_bytes()) else { continue };
            let body = RequestBody::Signed { envelope: Box::new(envelope), client: CLIENT, signed_as: Source::Testnet };
            let mut effects = desk.post_as(body);
            // Every action is answered the same way, until none is left.
            while let Some((intent, index)) = sends(&effects).first().map(|send| (send.intent, send.index)) {
                let outcome = SendOutcome::Answered(reply.clone());
                effects = desk.step(Input::Sent { intent, index, outcome });
            }
            desk.read();
            let _ = desk.guard.status_json(desk.now, (0, 0));
        }
    }

    #[test]
    fn a_reduce_only_request_passes_whatever_the_state(
        order in any_order(),
        state in 0_u8..5,
    ) {
        let order = with(order, "/r", json!(true));
        // Spot and outcome markets have no positions that an order could reduce.
        let asset = order["a"].as_u64().unwrap();
        let has_positions = asset < 10_000 || (100_000..100_000_000).contains(&asset);
        let order = if has_positions { order } else { with(order, "/a", json!(asset % 7)) };
        let mut desk = match state {
            0 => Desk::blank(config(Mode::Testnet, Rules::default())),
            1 => Desk::of(Config { account_max_age_ms: 0, ..config(Mode::Testnet, Rules::default()) }),
            _ => Desk::live(),
        };
        // An order that may have filled: in each market there may be something to reduce.
        let coins = ["BTC", "ETH", "SOL", "OLD", "ISO", "BARE"];
        desk.show(coins.into_iter().zip(1..).map(|(coin, oid)| open(coin, "B", "0.01", "1", oid)).collect());
        desk.now += 10;
        match state {
            2 => drop(desk.step(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None })),
            3 => drop(desk.step(Input::Journal(Some("full".into())))),
            4 => drop(desk.step(Input::Shutdown { reason: "SIGTERM".into() })),
            _ => {}
        }
        let decided = desk.order(order.clone());
        check_exits(&[order], &decided);
    }
}

/// The order with its amounts as they are sent.
fn canonical(order: Value) -> Value {
    let parsed = crate::venue::json::parse(order.to_string().as_bytes()).unwrap();
    serde_json::to_value(crate::venue::order::Order::parse(&parsed, "order").unwrap()).unwrap()
}
