//! Doing an action that has passed every check on its envelope, and wording the reply.

use super::engine::order::{Grouping, Kind, Spec, Status, Tif, Trigger};
use super::engine::twap::TwapSpec;
use super::engine::{AmendError, Engine, OrderRef};
use super::show;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_guard::base::amount::parse_wire;
use svc_guard::venue::action::{self, Action, Modify, Target};
use svc_guard::venue::order;

/// Action types of the venue that this one knows but does not model: answered `default` and recorded, so that a
/// test sees what leaked.
const UNMODELLED: &[&str] = &[
    "topUpIsolatedOnlyMargin",
    "reserveRequestWeight",
    "vaultTransfer",
    "createVault",
    "vaultModify",
    "vaultDistribute",
    "createSubAccount",
    "subAccountModify",
    "subAccountTransfer",
    "subAccountSpotTransfer",
    "agentSendAsset",
    "agentEnableDexAbstraction",
    "agentSetAbstraction",
    "userOutcome",
    "borrowLend",
    "setReferrer",
    "registerReferrer",
    "setDisplayName",
    "claimRewards",
    "spotUser",
    "evmUserModify",
    "gossipPriorityBid",
    "spotDeploy",
    "perpDeploy",
    "finalizeEvmContract",
    "hip3LiquidatorTransfer",
    "authorizeAqav2Role",
    "activateOutcomeDeployer",
    "CSignerAction",
    "CValidatorAction",
    "validatorL1Stream",
    "multiSig",
];

/// An action of which the typed form is the venue's own or this room's.
pub(super) enum Job {
    Typed(Action),
    ScheduleCancel(Option<u64>),
    Twap(TwapSpec),
    Unmodelled,
}

/// The job an action asks for; none when the venue would not read it.
pub(super) fn job(action: &Action, received: &Value) -> Option<Job> {
    match action {
        Action::GuardKill { .. } => None,
        Action::Order(order) if matches!(order.grouping, action::Grouping::Priority(bid) if bid > 100_000_000) => None,
        Action::Other { name } => match name.as_str() {
            "scheduleCancel" => match received.get("time") {
                None | Some(Value::Null) => Some(Job::ScheduleCancel(None)),
                Some(time) => time.as_u64().map(|time| Job::ScheduleCancel(Some(time))),
            },
            "twapOrder" => twap(received.get("twap")?).map(Job::Twap),
            name => UNMODELLED.contains(&name).then_some(Job::Unmodelled),
        },
        typed => Some(Job::Typed(typed.clone())),
    }
}

fn twap(node: &Value) -> Option<TwapSpec> {
    let flag = |key| match node.get(key) {
        Some(Value::Bool(flag)) => Some(*flag),
        _ => None,
    };
    Some(TwapSpec {
        asset: u32::try_from(node.get("a")?.as_u64()?).ok()?,
        is_buy: flag("b")?,
        sz: parse_wire(node.get("s")?.as_str()?).ok()?,
        reduce_only: flag("r")?,
        minutes: node.get("m")?.as_u64()?,
        randomize: flag("t")?,
    })
}

/// Does a job; the reply's body.
pub(super) fn perform(engine: &mut Engine, job: Job) -> Value {
    match job {
        Job::Typed(action) => typed(engine, action),
        Job::ScheduleCancel(at_ms) => default_or(engine.schedule_cancel(at_ms)),
        Job::Twap(spec) => match engine.start_twap(spec) {
            Ok(id) => data("twapOrder", &json!({"status": {"running": {"twapId": id}}})),
            Err(text) => data("twapOrder", &json!({"status": {"error": text}})),
        },
        Job::Unmodelled => ok(&json!({"type": "default"})),
    }
}

fn typed(engine: &mut Engine, action: Action) -> Value {
    match action {
        Action::Order(action) => {
            let specs = action.orders.iter().map(spec).collect();
            let placed = engine.place_batch(specs, grouping(action.grouping));
            statuses("order", &placed.iter().map(status).collect::<Vec<_>>())
        }
        Action::Cancel { cancels, fast } => {
            let cancel = |cancel: action::Cancel| cancelled(engine, cancel.asset, &OrderRef::Oid(cancel.oid), fast);
            statuses("cancel", &cancels.into_iter().map(cancel).collect::<Vec<_>>())
        }
        Action::CancelByCloid { cancels, fast } => {
            let cancel = |cancel: action::CancelByCloid| {
                cancelled(engine, cancel.asset, &OrderRef::Cloid(cancel.cloid.to_string()), fast)
            };
            statuses("cancel", &cancels.into_iter().map(cancel).collect::<Vec<_>>())
        }
        Action::Modify { modify, always } => default_or(modified(engine, &modify, always).map(|_| ())),
        Action::BatchModify { modifies, always } => {
            let modify = |modify: &Modify| match modified(engine, modify, always) {
                Ok(placed) => status(&placed),
                Err(error) => json!({"error": engine.amend_text(modify.order.asset, &error)}),
            };
            statuses("order", &modifies.iter().map(modify).collect::<Vec<_>>())
        }
        Action::UpdateLeverage { asset, is_cross, leverage } => {
            default_or(engine.update_leverage(asset, is_cross, leverage))
        }
        Action::UpdateIsolatedMargin { asset, ntli, .. } => {
            default_or(engine.update_isolated_margin(asset, Decimal::new(ntli, 6)))
        }
        Action::TwapCancel { asset, twap_id } => {
            let outcome = match engine.cancel_twap(asset, twap_id) {
                Ok(()) => json!("success"),
                Err(text) => json!({"error": text}),
            };
            data("twapCancel", &json!({"status": outcome}))
        }
        Action::Noop | Action::GuardKill { .. } | Action::Other { .. } => ok(&json!({"type": "default"})),
    }
}

/// What an action of this type is answered when every part of it fails with `text`; a whole refusal for types
/// without parts.
pub(super) fn all_failed(action: &Action, text: &str, is_one: bool) -> Value {
    let error = json!({"error": text});
    let repeated = |kind| statuses(kind, &vec![error.clone(); if is_one { 1 } else { action.batch_len() }]);
    match action {
        Action::Order(_) | Action::BatchModify { .. } => repeated("order"),
        Action::Cancel { .. } | Action::CancelByCloid { .. } => repeated("cancel"),
        Action::TwapCancel { .. } => data("twapCancel", &json!({"status": error})),
        _ => err(text),
    }
}

fn cancelled(engine: &mut Engine, asset: u32, reference: &OrderRef, fast: bool) -> Value {
    match engine.cancel(asset, reference, fast) {
        Ok(()) => json!("success"),
        Err(error) => json!({"error": engine.amend_text(asset, &error)}),
    }
}

fn modified(engine: &mut Engine, modify: &Modify, always: bool) -> Result<Status, AmendError> {
    let reference = match &modify.target {
        Target::Oid(oid) => OrderRef::Oid(*oid),
        Target::Cloid(cloid) => OrderRef::Cloid(cloid.to_string()),
    };
    engine.modify(&reference, spec(&modify.order), always)
}

/// An order of the wire as the engine takes it.
pub(super) fn spec(order: &order::Order) -> Spec {
    let kind = match order.kind {
        order::OrderKind::Limit(tif) => Kind::Limit(match tif {
            order::Tif::Alo => Tif::Alo,
            order::Tif::Ioc => Tif::Ioc,
            order::Tif::Gtc => Tif::Gtc,
            order::Tif::FrontendMarket => Tif::FrontendMarket,
        }),
        order::OrderKind::Trigger { is_market, trigger_px, tpsl } => {
            Kind::Trigger(Trigger { is_market, px: trigger_px, is_stop: tpsl == order::Tpsl::Sl })
        }
    };
    Spec {
        asset: order.asset,
        is_buy: order.is_buy,
        px: order.limit_px,
        sz: order.size,
        reduce_only: order.reduce_only,
        kind,
        cloid: order.cloid.map(|cloid| cloid.to_string()),
    }
}

pub(super) fn grouping(grouping: action::Grouping) -> Grouping {
    match grouping {
        action::Grouping::Na | action::Grouping::Priority(_) => Grouping::Na,
        action::Grouping::NormalTpsl => Grouping::NormalTpsl,
        action::Grouping::PositionTpsl => Grouping::PositionTpsl,
    }
}

/// One order's line of a reply.
pub(super) fn status(status: &Status) -> Value {
    let with_cloid = |mut body: Value, cloid: &Option<String>| {
        if let (Some(cloid), Some(members)) = (cloid, body.as_object_mut()) {
            members.insert("cloid".into(), json!(cloid));
        }
        body
    };
    match status {
        Status::Resting { oid, cloid } => json!({"resting": with_cloid(json!({"oid": oid}), cloid)}),
        Status::Filled { oid, total_sz, avg_px, cloid } => {
            let body = json!({"totalSz": show::num(*total_sz), "avgPx": show::num(*avg_px), "oid": oid});
            json!({"filled": with_cloid(body, cloid)})
        }
        Status::Error(text) => json!({"error": text}),
        Status::WaitingForFill => json!("waitingForFill"),
        Status::WaitingForTrigger => json!("waitingForTrigger"),
    }
}

fn ok(response: &Value) -> Value {
    json!({"status": "ok", "response": response})
}

/// A refusal of the request as a whole.
pub(super) fn err(text: &str) -> Value {
    json!({"status": "err", "response": text})
}

fn data(kind: &str, data: &Value) -> Value {
    ok(&json!({"type": kind, "data": data}))
}

fn statuses(kind: &str, statuses: &[Value]) -> Value {
    data(kind, &json!({"statuses": statuses}))
}

fn default_or(done: Result<(), AmendError>) -> Value {
    match done {
        Ok(()) => ok(&json!({"type": "default"})),
        Err(error) => err(&error.to_string()),
    }
}
