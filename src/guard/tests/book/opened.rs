//! Since when a position is open, as the status says it: by the venue's own fills, or not known.

use super::super::fixture::*;
use super::world::BookWorld;
use crate::guard::{Input, Mode};
use crate::rules::Rules;
use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use std::collections::BTreeMap;

impl BookWorld {
    /// What the status says of each position.
    pub(super) fn positions(&self) -> BTreeMap<String, Value> {
        let status = self.guard.status_json(self.venue.now, (0, 0));
        let positions = status["positions"].as_array().unwrap().iter().cloned();
        positions.map(|position| (position["coin"].as_str().unwrap().to_owned(), position)).collect()
    }

    /// Since when a market is open: null where the status does not know, or holds nothing.
    fn opened(&self, coin: &str) -> Value {
        self.positions().get(coin).map_or(Value::Null, |position| position["opened_ms"].clone())
    }

    /// No position is said to be open since another time than the venue's fills say. Of how many it is known.
    pub(super) fn hold_openings(&self) -> usize {
        let mut truth: BTreeMap<&str, (Decimal, Value)> = BTreeMap::new();
        let mut fills: Vec<&Value> = self.venue.fills.iter().chain(&self.venue.hidden).collect();
        fills.sort_by_key(|fill| fill["time"].as_u64());
        for fill in fills {
            let size: Decimal = fill["sz"].as_str().unwrap().parse().unwrap();
            let (before, opened) = truth.remove(fill["coin"].as_str().unwrap()).unwrap_or_default();
            let after = before + if fill["side"] == "B" { size } else { -size };
            let stays = !before.is_zero() && before.is_sign_positive() == after.is_sign_positive();
            let opened = if stays { opened } else { fill["time"].clone() };
            truth.insert(fill["coin"].as_str().unwrap(), (after, opened));
        }
        let positions = self.positions();
        let known = positions.iter().filter(|(_, position)| !position["opened_ms"].is_null());
        let agrees = known.map(|(coin, position)| {
            let (_, opened) = &truth[coin.as_str()];
            assert_eq!(position["opened_ms"], *opened, "{coin}: {position}");
        });
        agrees.count()
    }
}

#[test]
fn a_position_is_open_since_the_fill_that_opened_it_over_every_restart() {
    for (has_feed, has_checkpoint) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut world = BookWorld::new(1, has_feed);
        world.live(5);
        world.venue.trade("ETH", dec!(2), dec!(100), None);
        let opened = json!(world.venue.now);
        world.live(200);
        world.venue.trade("ETH", dec!(-1), dec!(110), None);
        world.live(200);
        assert_eq!(world.opened("ETH"), opened);
        if has_checkpoint {
            world.take_checkpoint();
        }
        world.die(0);
        // While nobody watches it is enlarged, and another one opened.
        world.venue.now += 60_000;
        world.venue.trade("ETH", dec!(1), dec!(110), None);
        world.venue.trade("BTC", dec!(-1), dec!(100), None);
        let second = json!(world.venue.now);
        world.rise();
        world.read_account();
        assert_eq!(
            (world.opened("ETH"), world.opened("BTC")),
            (Value::Null, Value::Null),
            "their fills are not read yet"
        );
        world.live(200);
        assert_eq!((world.opened("ETH"), world.opened("BTC")), (opened, second));
        // Turned in one fill, closed, and opened again.
        world.venue.trade("ETH", dec!(-5), dec!(100), None);
        let turned = json!(world.venue.now);
        world.live(200);
        assert_eq!(world.opened("ETH"), turned);
        world.venue.trade("ETH", dec!(3), dec!(100), None);
        world.live(200);
        assert!(!world.positions().contains_key("ETH"));
        world.venue.trade("ETH", dec!(1), dec!(100), None);
        let again = json!(world.venue.now);
        world.live(200);
        assert_eq!(world.opened("ETH"), again);
        assert_eq!(world.hold_openings(), 2);
    }
}

/// What may have closed and opened it is not on record.
#[test]
fn since_when_is_not_known_where_a_fill_is_missing_or_was_before_the_book() {
    let mut world = BookWorld::new(1, false);
    world.venue.trade("SOL", dec!(2), dec!(100), None);
    world.venue.fills.clear();
    world.live(200);
    assert_eq!(world.opened("SOL"), Value::Null, "it was there before");
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(200);
    assert!(world.opened("ETH").is_u64());
    for size in [dec!(-1), dec!(2)] {
        world.venue.trade("ETH", size, dec!(100), None);
        world.venue.hide_last();
    }
    world.live(200);
    assert_eq!(world.opened("ETH"), Value::Null, "the account shows another size");
    world.venue.trade("ETH", dec!(1), dec!(100), None);
    world.live(200);
    assert_eq!(world.opened("ETH"), Value::Null, "fills are missing");
}

/// The venue counts what was paid; what it does not say is not 0.
#[test]
fn funding_is_the_venues_own_count_with_the_sign_of_what_came_in() {
    let mut desk = Desk::new(Mode::Testnet, Rules::default());
    desk.hold("ETH", dec!(1));
    let shown = |desk: &mut Desk, funding: Value| {
        desk.now += 1_000;
        let mut state = desk.state(desk.now);
        let mut position = json!({"coin": "ETH", "szi": "1", "leverage": {"type": "cross", "value": 1}, "positionValue": "2000",
            "unrealizedPnl": "0", "marginUsed": "0"});
        if !funding.is_null() {
            position["cumFunding"] = funding;
        }
        state.asset_positions[0].position = serde_json::from_value(position).unwrap();
        let (equity, begun_ms) = (desk.equity, desk.now);
        desk.step(Input::Account { state, equity, begun_ms });
        desk.guard.status_json(desk.now, (0, 0))["positions"][0]["funding"].clone()
    };
    let since_open = |amount: Value| json!({"allTime": "7", "sinceOpen": amount, "sinceChange": "1"});
    assert_eq!(shown(&mut desk, since_open(json!("0.102848"))), "-0.102848");
    assert_eq!(shown(&mut desk, since_open(json!("-973.335874"))), "973.335874");
    assert_eq!(shown(&mut desk, since_open(json!("0.0"))), "0");
    for unknown in [Value::Null, json!({}), since_open(json!("much")), since_open(json!(1.5)), json!([]), json!("x")] {
        assert_eq!(shown(&mut desk, unknown.clone()), Value::Null, "{unknown}");
    }
}
