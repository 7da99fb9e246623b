//! Tests of the simulated venue. Apart from the venue itself, so that programs that embed it do not run them.

mod feed;
mod matching;
mod money;
mod tpsl;
mod triggers;
mod wire;
mod words;

use crate::sim::engine::Engine;
use crate::sim::engine::order::{Grouping, Kind, Spec, Status, Tif, Trigger};
use rust_decimal::Decimal;
use std::str::FromStr;
use svc_guard::venue::signing::Source;

const BTC: u32 = 0;
const ETH: u32 = 1;
const MATIC: u32 = 2;
const VVV: u32 = 7;

/// An account of 10,000 USDC on mainnet's list of markets, texts without the asset's suffix.
fn engine() -> Engine {
    let mut engine = Engine::new(Source::Mainnet, dec("10000"), 1_700_000_000_000);
    engine.settings.asset_suffix = false;
    engine
}

fn dec(text: &str) -> Decimal {
    Decimal::from_str(text).unwrap()
}

fn limit(asset: u32, is_buy: bool, sz: &str, px: &str, tif: Tif) -> Spec {
    Spec { asset, is_buy, px: dec(px), sz: dec(sz), reduce_only: false, kind: Kind::Limit(tif), cloid: None }
}

fn reducing(spec: Spec) -> Spec {
    Spec { reduce_only: true, ..spec }
}

/// A reduce-only market trigger.
fn stop(is_buy: bool, sz: &str, px: &str, is_stop: bool) -> Spec {
    let trigger = Trigger { is_market: true, px: dec(px), is_stop };
    let kind = Kind::Trigger(trigger);
    Spec { asset: BTC, is_buy, px: dec(px), sz: dec(sz), reduce_only: true, kind, cloid: None }
}

fn place(engine: &mut Engine, spec: Spec) -> Status {
    let mut statuses = engine.place_batch(vec![spec], Grouping::Na);
    assert_eq!(statuses.len(), 1);
    statuses.remove(0)
}

fn price(engine: &mut Engine, px: &str) {
    assert!(engine.set_price("BTC", dec(px), dec(px)));
}

fn oid(status: &Status) -> u64 {
    match status {
        Status::Resting { oid, .. } | Status::Filled { oid, .. } => *oid,
        other => panic!("no order id in {other:?}"),
    }
}

fn error(status: &Status) -> &str {
    match status {
        Status::Error(text) => text,
        other => panic!("no error in {other:?}"),
    }
}

/// The last status of every order placed, oldest first.
fn fates(engine: &Engine) -> Vec<&'static str> {
    engine.records.values().map(|record| record.status).collect()
}
