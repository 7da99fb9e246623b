//! The requests: pairs of an order far from the market and its cancel, so that any number of them leaves nothing behind.

use rust_decimal::{Decimal, dec};
use svc_guard::base::address::Cloid;
use svc_guard::base::key::SecretKey;
use svc_guard::rules::Rules;
use svc_guard::venue::action::{Action, CancelByCloid, Grouping, OrderAction};
use svc_guard::venue::order::{Order, Tif};

use crate::bot;
use crate::wire::request;

/// The size of every order: worth a few times the venue's minimum.
const SIZE: Decimal = dec!(0.001);
/// Set in the client order id of a stop.
const STOP: u128 = 1 << 64;

/// Rules that never come between: what is measured is a decision, not a refusal. 1200 entries a minute is the most
/// that rules may allow, and repeats are not refused.
pub(crate) fn rules() -> Rules {
    Rules {
        loss_per_trade: Decimal::ONE_HUNDRED,
        open_risk: Decimal::ONE_HUNDRED,
        daily_loss: Decimal::ONE_HUNDRED,
        drawdown: Decimal::ONE_HUNDRED,
        leverage: 100,
        position: dec!(10000),
        exposure: dec!(10000),
        orders_per_minute: 1_200,
        open_orders: 1_000,
        duplicate_window: Decimal::ZERO,
        ..Rules::default()
    }
}

/// An entry far below the market with its own stop, as whole as a bot can ask: nothing is left to alter.
pub(crate) fn entry(asset: u32, number: u64) -> Action {
    let buy = bot::limit(asset, true, SIZE, dec!(50000), Tif::Gtc, Some(cloid(number)));
    let mut action = bot::with_stop(buy, dec!(49000));
    if let Action::Order(OrderAction { orders, .. }) = &mut action
        && let Some(stop) = orders.get_mut(1)
    {
        stop.cloid = Some(Cloid((u128::from(number) | STOP).to_be_bytes()));
    }
    action
}

/// A reduce-only sell far above the market.
pub(crate) fn exit(asset: u32, number: u64) -> Action {
    let sell = bot::limit(asset, false, SIZE, dec!(70000), Tif::Gtc, Some(cloid(number)));
    let order = Order { reduce_only: true, ..sell };
    Action::Order(OrderAction { orders: vec![order], grouping: Grouping::Na, builder: None })
}

/// `count` pairs of an order and its cancel, ready as bytes. Their nonces count up from `nonce`.
pub(crate) fn pairs(
    key: &SecretKey,
    nonce: u64,
    count: u64,
    order: impl Fn(u64) -> Action,
) -> Result<Vec<[Vec<u8>; 2]>, String> {
    let ready = |action: &Action, nonce| bot::signed(key, action, nonce).map(|body| request(&body));
    let pair = |number: u64| {
        let (order, nonce) = (order(number), nonce.saturating_add(number.saturating_mul(2)));
        Ok([ready(&order, nonce)?, ready(&cancel(&order), nonce.saturating_add(1))?])
    };
    (0..count).map(pair).collect()
}

/// Cancels every order of an action that has an id, stops included.
fn cancel(action: &Action) -> Action {
    let orders = match action {
        Action::Order(action) => action.orders.as_slice(),
        _ => &[],
    };
    let cancels = orders.iter().filter_map(|order| Some(CancelByCloid { asset: order.asset, cloid: order.cloid? }));
    Action::CancelByCloid { cancels: cancels.collect(), fast: false }
}

fn cloid(number: u64) -> Cloid {
    Cloid(u128::from(number).to_be_bytes())
}
