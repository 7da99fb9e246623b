//! The open orders of the status, with the owner of each.

use crate::guard::state::guard::Guard;
use crate::guard::state::own_cloid::is_derived;
use crate::guard::state::paper_orders::PaperOrder;
use crate::guard::state::view::Resting;
use crate::record::status::OpenOrder;
use crate::venue::info as venue;
use crate::venue::side::Side;

pub(crate) fn open_orders(guard: &Guard) -> Vec<OpenOrder> {
    let core = core(guard).map(|order| describe(&order.order, owner(guard, order)));
    let foreign = guard.view.foreign_orders.iter().map(|order| describe(order, "other"));
    let paper = guard.paper.resting_by_id().filter_map(|(oid, order)| {
        let coin = &guard.view.market(order.asset)?.coin;
        Some(describe_paper(oid, order, coin))
    });
    core.chain(foreign).chain(paper).collect()
}

/// The owner of each open order.
pub(crate) fn order_owners(guard: &Guard) -> Vec<&'static str> {
    let foreign = guard.view.foreign_orders.iter().map(|_| "other");
    let paper = guard.paper.resting_by_id().map(|_| "bot");
    core(guard).map(|order| owner(guard, order)).chain(foreign).chain(paper).collect()
}

/// The orders of core perps, as the last read shows them and the answers since: whoever placed one looks for it here at once,
/// and whoever cancelled one looks for it in vain.
fn core(guard: &Guard) -> impl Iterator<Item = &Resting> {
    let read = guard.view.orders.values().filter(|order| !guard.sent.is_told_gone(order.oid, order.cloid));
    let placed = guard.sent.resting().filter(|order| !guard.view.orders.contains_key(&order.oid));
    read.chain(placed)
}

fn owner(guard: &Guard, order: &Resting) -> &'static str {
    match &order.cloid {
        _ if order.is_guards() => "guard",
        Some(cloid) if is_derived(cloid) || guard.client_cloids.contains(cloid) => "bot",
        _ => "other",
    }
}

fn describe(order: &venue::OpenOrder, owner: &'static str) -> OpenOrder {
    OpenOrder {
        coin: order.coin.clone(),
        oid: order.oid,
        cloid: order.cloid,
        side: if order.side == Side::Buy { "buy" } else { "sell" }.into(),
        size: order.sz,
        px: order.limit_px,
        trigger_px: order.is_trigger.then_some(order.trigger_px),
        is_market_trigger: order.is_trigger && order.order_type.ends_with("Market"),
        order_type: order.order_type.to_ascii_lowercase().replace(' ', "_"),
        tif: order.tif.clone(),
        reduce_only: order.reduce_only,
        owner: owner.into(),
    }
}

/// An order that paper mode pretends to have placed; only clients' orders that are no triggers rest there.
fn describe_paper(oid: u64, order: &PaperOrder, coin: &str) -> OpenOrder {
    OpenOrder {
        coin: coin.to_owned(),
        oid,
        cloid: order.cloid,
        side: if order.is_buy { "buy" } else { "sell" }.into(),
        size: order.size,
        px: order.px,
        trigger_px: None,
        is_market_trigger: false,
        order_type: "limit".to_owned(),
        tif: order.tif.map(|tif| tif.name().to_owned()),
        reduce_only: order.reduce_only,
        owner: "bot".into(),
    }
}
