//! Paper replies: what the venue's answer would look like.

use crate::base::address::Cloid;
use crate::base::amount::to_answer;
use crate::guard::flow::leverage_setting;
use crate::guard::judge::cancel::guards_own;
use crate::guard::judge::guard_order::GUARDS_OWN;
use crate::guard::reply;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Planned, Role};
use crate::guard::state::own_cloid::is_derived;
use crate::guard::state::paper_orders::PaperOutcome;
use crate::guard::state::pending_reply::PendingReply;
use crate::venue::action::{Action, Grouping, Target};
use crate::venue::order::Order;
use serde_json::{Value, json};

/// A decision that paper mode answers by itself.
pub(crate) struct PaperDecision<'a> {
    /// The decision's event.
    pub(crate) seq: u64,
    pub(crate) asked: &'a Action,
    pub(crate) actions: &'a [Planned],
    /// Where each order of the request is stopped out.
    pub(crate) stops: &'a [Option<StopAt>],
}

/// Places and cancels paper orders and says what became of them; `reply` holds what is told already.
pub(crate) fn answer(guard: &mut Guard, decision: &PaperDecision<'_>, mut reply: PendingReply, now_ms: u64) -> String {
    let PaperDecision { asked, actions, .. } = *decision;
    // What paper mode pretends to have set holds until the account is seen to say otherwise.
    actions.iter().for_each(|planned| leverage_setting::learn_leverage(guard, &planned.action, now_ms));
    match asked {
        Action::Cancel { .. } | Action::CancelByCloid { .. } => {
            let asked_for = targets(guard, asked).into_iter().zip(guards_own(guard, asked));
            let statuses: Vec<Value> = asked_for
                .map(|(oid, is_guards)| match is_guards {
                    true => json!({"error": format!("svc-guard: {}", GUARDS_OWN)}),
                    false => cancel(guard, oid),
                })
                .collect();
            reply::paper("cancel", Some(json!({"statuses": statuses})), &reply.summary)
        }
        Action::TwapCancel { .. } => reply::paper("twapCancel", Some(json!({"status": "success"})), &reply.summary),
        Action::Order(_) | Action::BatchModify { .. } => {
            place_parts(guard, decision, &mut reply);
            let data = reply.statuses();
            reply::paper("order", Some(json!({"statuses": data})), &reply.summary)
        }
        Action::Modify { .. } => {
            place_parts(guard, decision, &mut reply);
            reply::paper("order", None, &reply.summary)
        }
        _ => reply::paper("default", None, &reply.summary),
    }
}

/// Places each part of the request.
fn place_parts(guard: &mut Guard, decision: &PaperDecision<'_>, reply: &mut PendingReply) {
    let mut first = 0;
    for planned in decision.actions.iter().filter(|planned| planned.role == Role::Forward) {
        let gone = targets(guard, &planned.action);
        let stops: Vec<Option<StopAt>> =
            planned.places.iter().map(|place| decision.stops.get(*place).copied().flatten()).collect();
        let fates = place_all(guard, (decision.seq, first), &planned.action, &stops, &gone);
        first = first.saturating_add(fates.len());
        for ((order, fate), place) in planned.action.orders().zip(fates).zip(&planned.places) {
            reply.put(*place, paper_status(order, fate));
        }
    }
}

/// Places the orders of an action, numbered from `first`, each in place of the one that is gone for it, and says what
/// became of them.
fn place_all(
    guard: &mut Guard,
    (seq, first): (u64, usize),
    action: &Action,
    stops: &[Option<StopAt>],
    gone: &[Option<u64>],
) -> Vec<PaperOutcome> {
    let has_parent = matches!(action, Action::Order(order) if order.grouping == Grouping::NormalTpsl);
    let mut fates: Vec<PaperOutcome> = Vec::new();
    for (place, order) in action.orders().enumerate() {
        let mid = guard.view.mids.get(&order.asset).copied();
        let stop = stops.get(place).copied().flatten();
        let fate = match fates.first().filter(|_| has_parent) {
            // Nothing hangs on an order that never was.
            Some(PaperOutcome::NoMatch) => PaperOutcome::NoMatch,
            Some(PaperOutcome::Resting(parent)) => {
                let parent = Some(*parent);
                guard.paper.place((seq, first.saturating_add(place)), order, stop, mid, parent)
            }
            _ => guard.paper.place((seq, first.saturating_add(place)), order, stop, mid, None),
        };
        if let Some(Some(oid)) = gone.get(place) {
            guard.paper.replace(*oid, if let PaperOutcome::Resting(by) = fate { Some(by) } else { None });
        }
        fates.push(fate);
    }
    fates
}

/// The orders that an action cancels or replaces, by id; `None` where there is none.
fn targets(guard: &Guard, action: &Action) -> Vec<Option<u64>> {
    let known = |oid: u64| (guard.paper.get(oid).is_some() || guard.order(oid).is_some()).then_some(oid);
    let by_cloid = |cloid: &Cloid| {
        guard.paper.by_cloid(cloid).or_else(|| guard.orders_by_cloid(*cloid).next().map(|order| order.oid))
    };
    let target = |target: &Target| match target {
        Target::Oid(oid) => known(*oid),
        Target::Cloid(cloid) => by_cloid(cloid),
    };
    match action {
        Action::Cancel { cancels, .. } => cancels.iter().map(|cancel| known(cancel.oid)).collect(),
        Action::CancelByCloid { cancels, .. } => cancels.iter().map(|cancel| by_cloid(&cancel.cloid)).collect(),
        Action::Modify { modify, .. } => vec![target(&modify.target)],
        Action::BatchModify { modifies, .. } => modifies.iter().map(|modify| target(&modify.target)).collect(),
        _ => Vec::new(),
    }
}

fn cancel(guard: &mut Guard, oid: Option<u64>) -> Value {
    match oid {
        Some(oid) => {
            guard.paper.cancel(oid);
            json!("success")
        }
        None => json!({"error": "Order was never placed, already canceled, or filled."}),
    }
}

fn paper_status(order: &Order, fate: PaperOutcome) -> Value {
    // As at the venue, an order that was named carries its name; names that the guard gave are its own affair.
    let named = |mut status: Value| {
        if let Some(cloid) = order.cloid.filter(|cloid| !is_derived(cloid))
            && let Some(members) = status.as_object_mut()
        {
            members.insert("cloid".to_owned(), json!(cloid));
        }
        status
    };
    match fate {
        PaperOutcome::Resting(oid) => json!({"resting": named(json!({"oid": oid}))}),
        PaperOutcome::Filled(oid, px) => {
            let filled = json!({"totalSz": to_answer(order.size), "avgPx": to_answer(px), "oid": oid});
            json!({"filled": named(filled)})
        }
        PaperOutcome::NoMatch => {
            let asset = order.asset;
            json!({"error": format!(
                "Order could not immediately match against any resting orders. asset={asset}"
            )})
        }
    }
}
