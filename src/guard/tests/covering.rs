//! Whatever a client cancels or moves, a position that is covered in full stays so.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::fixture::*;
use super::properties::cases;
use super::world::World;
use crate::venue::json::parse;
use crate::venue::order::Order;

/// The mid of ETH, where all of this happens.
const MID: Decimal = dec!(2000);

/// What a client, the venue or the network does next. Orders are named by their place among those that rest.
#[derive(Debug, Clone)]
enum Happening {
    Cancel { which: Vec<usize>, by_cloid: bool },
    Move(Vec<(usize, Change)>),
    Place(Value),
    Execute { which: usize, refuse: bool },
    Answer { which: usize, is_lost: bool },
    Read,
}

/// What an order is modified into.
#[derive(Debug, Clone)]
enum Change {
    /// The same, with its trigger or price moved by this many tenths of a percent, and its size by a percentage.
    Shifted { mills: i64, percent: u32 },
    /// Something else.
    Into(Value),
}

/// An order by hand or by a client: mostly stops, on either side and of either kind.
fn order() -> impl Strategy<Value = Value> + Clone {
    let kind = prop::sample::select(vec!["stop", "stop", "stop", "limit", "profit", "stop limit", "close"]);
    (kind, any::<bool>(), 1_i64..60, 1_u32..30, 0_u8..6).prop_map(|(kind, is_buy, mills, tenths, id)| {
        // A sell stop stands below the mid, a buy stop above.
        let away = MID * Decimal::from(mills) / dec!(1000);
        let px = (if is_buy { MID + away } else { MID - away }).to_string();
        let size = (Decimal::from(tenths) / Decimal::TEN).to_string();
        let order = match kind {
            "limit" if is_buy => buy(ETH, &(MID - away).to_string(), &size),
            "limit" => sell(ETH, &(MID + away).to_string(), &size),
            "close" => close(ETH, is_buy, "2000", &size),
            "profit" => with(stop(ETH, !is_buy, &px, &size), "/t/trigger/tpsl", json!("tp")),
            "stop limit" => with(stop(ETH, is_buy, &px, &size), "/t/trigger/isMarket", json!(false)),
            _ => stop(ETH, is_buy, &px, &size),
        };
        if id < 4 { with(order, "/c", cloid(id)) } else { order }
    })
}

fn happening() -> impl Strategy<Value = Happening> {
    let which = 0_usize..8;
    let change = prop_oneof![
        4 => (-30_i64..30, 50_u32..150).prop_map(|(mills, percent)| Change::Shifted { mills, percent }),
        1 => order().prop_map(Change::Into),
    ];
    prop_oneof![
        4 => (prop::collection::vec(which.clone(), 1..4), prop::bool::weighted(0.3))
            .prop_map(|(which, by_cloid)| Happening::Cancel { which, by_cloid }),
        4 => prop::collection::vec((which.clone(), change), 1..3).prop_map(Happening::Move),
        2 => order().prop_map(Happening::Place),
        8 => (which.clone(), prop::bool::weighted(0.1)).prop_map(|(which, refuse)| Happening::Execute { which, refuse }),
        6 => (which, prop::bool::weighted(0.1)).prop_map(|(which, is_lost)| Happening::Answer { which, is_lost }),
        4 => Just(Happening::Read),
    ]
}

fn parsed(order: &Value) -> Order {
    Order::parse(&parse(order.to_string().as_bytes()).unwrap(), "order").unwrap()
}

fn shifted(order: &Order, mills: i64, percent: u32) -> Value {
    let mut order = serde_json::to_value(order).unwrap();
    let by = |amount: &Value, factor: Decimal, places: u32| {
        json!((amount.as_str().unwrap().parse::<Decimal>().unwrap() * factor).round_dp(places).to_string())
    };
    let moved = dec!(1) + Decimal::from(mills) / dec!(1000);
    order["s"] = by(&order["s"], Decimal::from(percent) / dec!(100), 4);
    if order["t"].get("trigger").is_some() {
        order["t"]["trigger"]["triggerPx"] = by(&order["t"]["trigger"]["triggerPx"], moved, 1);
    }
    order["p"] = by(&order["p"], moved, 1);
    order
}

/// The action that a client asks for, if there is anything that it could be about.
fn action(world: &World, happening: &Happening) -> Option<Value> {
    let oids = world.oids();
    let oid = |which: usize| oids.get(which % oids.len().max(1)).copied();
    let cloid_of = |oid: u64| world.resting(oid).cloid.map(|cloid| json!(cloid));
    match happening {
        Happening::Cancel { which, by_cloid: false } => {
            let cancels: Vec<_> = which.iter().filter_map(|which| Some(json!({"a": ETH, "o": oid(*which)?}))).collect();
            (!cancels.is_empty()).then(|| json!({"type": "cancel", "cancels": cancels}))
        }
        Happening::Cancel { which, by_cloid: true } => {
            let cancels: Vec<_> = which
                .iter()
                .filter_map(|which| Some(json!({"asset": ETH, "cloid": cloid_of(oid(*which)?)?})))
                .collect();
            (!cancels.is_empty()).then(|| json!({"type": "cancelByCloid", "cancels": cancels}))
        }
        Happening::Move(changes) => {
            let modify = |(which, change): &(usize, Change)| {
                let oid = oid(*which)?;
                let order = match change {
                    Change::Shifted { mills, percent } => shifted(world.resting(oid), *mills, *percent),
                    Change::Into(order) => order.clone(),
                };
                Some(json!({"oid": oid, "order": order}))
            };
            let modifies: Vec<_> = changes.iter().filter_map(modify).collect();
            (!modifies.is_empty()).then(|| json!({"type": "batchModify", "modifies": modifies}))
        }
        Happening::Place(order) => Some(place(vec![order.clone()])),
        _ => None,
    }
}

/// Everything is read as it is now: the sends alone are late here.
fn read(world: &mut World) {
    for is_account in [true, false] {
        world.begin_read(is_account);
        world.end_read(0);
    }
}

proptest! {
    #![proptest_config(cases(6_000))]

    #[test]
    fn nothing_that_is_cancelled_or_moved_bares_a_position(
        held in prop::sample::select(vec![dec!(0.5), dec!(1), dec!(2), dec!(-0.5), dec!(-1), dec!(-2)]),
        resting in prop::collection::vec(order(), 0..6),
        happenings in prop::collection::vec(happening(), 1..60),
    ) {
        // Valued at nothing: amounts are not under test.
        let mut world = World::new(wide(), Decimal::ZERO);
        world.hold(ETH, held);
        resting.iter().map(parsed).filter(|order| order.is_trigger()).for_each(|order| world.rest(&order));
        read(&mut world);
        // Whether all was covered when an intent was formed: one formed before that may add cover, then take as much away.
        let mut full: BTreeMap<u64, bool> = BTreeMap::new();
        for happening in happenings {
            world.desk.now += 100;
            let (held, covered) = world.cover(ETH);
            world.intents().for_each(|intent| _ = full.entry(intent).or_insert(covered >= held.abs()));
            match &happening {
                Happening::Execute { which, refuse } => {
                    let (held, before) = world.cover(ETH);
                    let was_full = world.intents().cycle().nth(*which).is_some_and(|intent| full[&intent]);
                    world.execute(*which, *refuse);
                    let (still_held, after) = world.cover(ETH);
                    // What is opened on the other side is new, and covered when it is seen.
                    let is_same_side = held.is_sign_positive() == still_held.is_sign_positive();
                    prop_assert!(
                        !was_full || before < held.abs() || !is_same_side || after >= still_held.abs().min(held.abs()),
                        "all of {held} was covered, now {after} of {still_held}"
                    );
                }
                Happening::Answer { which, is_lost } => world.answer(*which, *is_lost),
                Happening::Read => {}
                asked => if let Some(action) = action(&world, asked) { drop(world.ask(action)) },
            }
            read(&mut world);
        }
    }
}
