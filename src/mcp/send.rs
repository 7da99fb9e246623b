//! Sends a signed action to the guard, once, and finds out how it ended: by the guard's answer, or by its journal where
//! the answer does not say.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use super::context::Context;
use super::outcome::{Kind, OrderInfo, Outcome, Retry};
use super::sanitize;
use super::settlement_view::{Record, Settlement, SettlementView};
use super::status::Status;
use super::trade_outcome::{
    Trade, finish, from_reply, from_settlement, in_doubt, order_info, rejected, undecided, unprotected, vetoed,
};
use crate::base::amount::{parse_info, to_wire};
use crate::base::clock::now_ms;
use crate::base::text::visible;
use crate::record::decision_view::DecisionView;
use crate::record::reply_summary::Summary;
use crate::venue::action::Action;
use crate::venue::envelope;
use crate::venue::signing::{self, Source, Terms};

/// The code of a veto while the kill switch is pulled.
const KILLED: &str = "killed";
/// A request that is still on its way after this is refused by the guard, so that nothing lands late.
const LIFE_MS: u64 = 20_000;
/// Two servers with one key may choose the same nonce in the same millisecond; the guard then judged nothing.
const NONCE_TRIES: usize = 3;
/// How long the journal may take to show the result of a send that the guard has already answered.
const JOURNAL_PATIENCE: Duration = Duration::from_secs(3);
/// Between two looks at the journal.
const JOURNAL_POLL: Duration = Duration::from_millis(50);

/// A request that the guard has decided on.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    nonce: u64,
    reply: Value,
}

impl Sent {
    /// Whether the guard refused it with this code.
    pub(super) fn is_veto(&self, code: &str) -> bool {
        summary(&self.reply).is_some_and(|summary| summary.verdict == "veto" && summary.code == code)
    }
}

/// The guard's decision in its reply.
fn summary(reply: &Value) -> Option<Summary> {
    Summary::deserialize(reply.get("guard")?).ok().filter(|summary| !summary.verdict.is_empty())
}

/// Signs an action, posts it once, and reports its outcome.
pub(super) fn execute(context: &Context, status: &Status, action: &Action, trade: &Trade) -> Outcome {
    match submit(context, status, action, trade) {
        Ok(sent) => conclude(context, status, trade, &sent),
        Err(outcome) => finish(outcome, status, trade),
    }
}

/// Signs an action and posts it, once.
///
/// # Errors
/// The outcome, where no decision came back.
pub(super) fn submit(context: &Context, status: &Status, action: &Action, trade: &Trade) -> Result<Sent, Outcome> {
    for _ in 0..NONCE_TRIES {
        let nonce = context.nonce();
        let terms = Terms { nonce, vault: None, expires_after_ms: Some(now_ms().saturating_add(LIFE_MS)) };
        let body = signed(context, action, &terms, status.network())?;
        let answer = context.guard.exchange(&body);
        // An action that surely did nothing, or was only recorded in paper mode, changes no later picture of the account.
        let did_nothing = match &answer {
            Ok(reply) => summary(reply).is_some_and(|summary| summary.verdict == "veto"),
            Err(error) => !error.may_have_acted(),
        };
        if !did_nothing && !status.is_paper() {
            context.recent.record(action);
        }
        let reply = answer.map_err(|error| undecided(&error, trade))?;
        let sent = Sent { nonce, reply };
        if !sent.is_veto("nonce_reused") {
            return Ok(sent);
        }
    }
    let text = format!("Nothing was sent: {} met other requests of the same key three times. Call again.", trade.what);
    Err(Outcome::new(Kind::Unavailable, Retry::Later, text))
}

/// The body that carries an action.
///
/// # Errors
/// `unavailable` where there is no key to sign with.
pub(super) fn signed(context: &Context, action: &Action, terms: &Terms, network: Source) -> Result<String, Outcome> {
    let signed = context.key.as_ref().zip(action.to_node()).and_then(|(key, node)| {
        let signature = signing::sign_action(key, &node, terms, network).ok()?;
        Some(envelope::body(&node, terms, &signature))
    });
    let text = "Nothing was done: this server has no key to sign with. A person must set it up anew.";
    signed.ok_or_else(|| Outcome::new(Kind::Unavailable, Retry::Never, text))
}

/// The outcome of a request that the guard has decided on.
pub(super) fn conclude(context: &Context, status: &Status, trade: &Trade, sent: &Sent) -> Outcome {
    let reply = &sent.reply;
    let Some(summary) = summary(reply) else { return finish(in_doubt(trade), status, trade) };
    let changes: Vec<String> = summary.changes.iter().map(|text| sanitize::text(text)).collect();
    let mut outcome = match (&summary.verdict[..], reply.get("status").and_then(Value::as_str)) {
        ("veto", _) => vetoed(&summary),
        (_, Some("ok")) => from_reply(trade, reply, &changes),
        _ => from_settlement(trade, &journal_settlement(context, sent, summary.seq), &changes),
    };
    if let Some(seq) =
        Some(summary.seq).filter(|_| outcome.unprotected == Some(false) && !status.is_paper() && !changes.is_empty())
    {
        // A stop that the guard attached has no place in the client's reply.
        if let Some(refusal) =
            find_decision(context, sent.nonce, seq).and_then(|record| SettlementView::of(&record)?.refused_stop())
        {
            outcome = unprotected(outcome, &refusal);
        }
    }
    outcome.guard_says =
        Some(sanitize::text(&summary.text)).filter(|_| outcome.kind != Kind::Accepted || !changes.is_empty());
    outcome.decision_id = Some(summary.seq);
    outcome.changes = changes;
    if outcome.rule.as_ref().is_some_and(|rule| rule.id == KILLED) && status.killed().is_none() {
        // Pulled since the status was read: a newer status has the reason.
        return finish(outcome, &context.status().unwrap_or_else(|_| status.clone()), trade);
    }
    finish(outcome, status, trade)
}

/// The outcome of a trade that an earlier call under the same name asked for.
pub(super) fn recall(context: &Context, status: &Status, trade: &Trade, record: SettlementView<'_>) -> Outcome {
    let changes = record.changes();
    let mut settlement = record.settlement();
    let shown = if status.is_paper() { None } else { order_status(context, status, trade) };
    if shown.is_some() && matches!(settlement, Settlement::InDoubt | Settlement::InProgress | Settlement::GaveUp) {
        settlement = Settlement::Done;
    }
    let refused = shown.as_ref().and_then(|order| order.status.clone()).filter(|state| state.ends_with("ejected"));
    let mut outcome = match refused {
        Some(state) if settlement == Settlement::Done => rejected(trade, &state),
        _ => from_settlement(trade, &settlement, &changes),
    };
    if let Some(refusal) = record.refused_stop().filter(|_| outcome.unprotected == Some(false)) {
        outcome = unprotected(outcome, &refusal);
    }
    let mut now = String::new();
    if let Some(order) = shown.filter(|_| outcome.kind == Kind::Accepted) {
        now = order.status.as_ref().map(|state| format!(" The order is {state} now.")).unwrap_or_default();
        let kept = outcome.order.take().unwrap_or_default();
        outcome.order = Some(OrderInfo { avg_price: kept.avg_price, ..order });
    }
    outcome.message =
        format!("This client_id was used before, and nothing new was sent. The first call: {}{now}", outcome.message);
    if outcome.kind != Kind::Accepted && outcome.kind != Kind::Unknown {
        outcome.message.push_str(" To try it anew, choose a new client_id.");
        outcome.retry = Retry::AfterChange;
    }
    outcome.decision_id = Some(record.seq());
    outcome.changes = changes;
    finish(outcome, status, trade)
}

/// How the journal has a request whose answer was an error: refused, not sent, or in doubt.
fn journal_settlement(context: &Context, sent: &Sent, seq: u64) -> Settlement {
    let record = find_decision(context, sent.nonce, seq);
    match record.as_ref().and_then(SettlementView::of).map(SettlementView::settlement) {
        Some(settlement) if settlement != Settlement::InProgress => settlement,
        // The guard answered, so the send is over, and only its record is missing.
        _ if is_venues_text(&sent.reply) => Settlement::Replied(sent.reply.clone()),
        _ => Settlement::InDoubt,
    }
}

/// The journal's record of a decision, with the result of its send.
fn find_decision(context: &Context, nonce: u64, seq: u64) -> Option<Record> {
    await_settlement(|| {
        let found = context.guard.get(&format!("/guard/decision?nonce={nonce}")).unwrap_or_default();
        decisions_in(found).into_iter().find(|record| record.decision.seq == seq)
    })
}

/// The decisions in an answer of `/guard/decision`.
pub(super) fn decisions_in(answer: Value) -> Vec<Record> {
    DecisionView::deserialize(answer).map(|view| view.decisions).unwrap_or_default()
}

/// A record, once it has the result of the send; as it stands where that takes too long. The guard answers before its
/// journal has that result.
pub(super) fn await_settlement(find: impl Fn() -> Option<Record>) -> Option<Record> {
    let begun = Instant::now();
    loop {
        let record = find();
        let is_over = record
            .as_ref()
            .and_then(SettlementView::of)
            .is_some_and(|record| record.settlement() != Settlement::InProgress);
        if is_over || begun.elapsed() >= JOURNAL_PATIENCE {
            return record;
        }
        std::thread::sleep(JOURNAL_POLL);
    }
}

/// Whether an error's text is the venue's and not the guard's.
fn is_venues_text(reply: &Value) -> bool {
    let words = reply.get("response").and_then(Value::as_str);
    words.is_some_and(|words| !words.starts_with("svc-guard: "))
}

/// The order under a trade's client order id, as the venue shows it now.
fn order_status(context: &Context, status: &Status, trade: &Trade) -> Option<OrderInfo> {
    let question = json!({"type": "orderStatus", "user": status.account(), "oid": trade.cloid?});
    let answer = context.guard.info(&question).ok()?;
    let order = answer.pointer("/order/order")?;
    let amount = |key: &str| parse_info(order.get(key)?.as_str()?).ok();
    let filled = amount("origSz").zip(amount("sz")).map(|(asked, left)| to_wire(asked.saturating_sub(left)));
    let state = answer.pointer("/order/status").and_then(Value::as_str).unwrap_or("unknown");
    let state = if state == "open" { "resting" } else { state };
    Some(OrderInfo { filled, ..order_info(order.get("oid")?.as_u64(), &visible(state, 40)) })
}
