//! A signed action on its way: sent once, and its answer or its trace in the guard's journal turned into an outcome.

use std::time::{Duration, Instant};

use rust_decimal::Decimal;
use serde_json::{Value, json};

use super::context::Context;
use super::guard_client::GuardCallError;
use super::outcome::{Kind, OrderInfo, Outcome, Retry, Rule};
use super::sanitize;
use super::settlement_view::{DecisionRecord, Settlement};
use super::status::Status;
use super::texts::advice;
use crate::base::address::Cloid;
use crate::base::amount::{parse_info, to_wire};
use crate::base::clock::now_ms;
use crate::base::text::visible;
use crate::venue::action::Action;
use crate::venue::envelope;
use crate::venue::reply::{Reply, Status as Answered};
use crate::venue::signing;
use crate::venue::signing::{Source, Terms};

/// The code of a veto while the kill switch is pulled.
const KILLED: &str = "killed";
/// A request that is still on its way after this is refused by the guard, so that nothing lands late.
const LIFE_MS: u64 = 20_000;
/// Two servers with one key may choose the same nonce in the same millisecond; the guard then judged nothing.
const NONCE_TRIES: usize = 3;
/// How long the journal may take to tell what a send came to, which the guard has already answered.
const TRACE_PATIENCE: Duration = Duration::from_secs(3);
const TRACE_EVERY: Duration = Duration::from_millis(50);

/// What was asked for, for the words about it.
#[derive(Debug, Clone, Default)]
pub(super) struct Trade {
    /// Such as "buy 0.01 BTC".
    pub(super) what: String,
    pub(super) client_id: Option<String>,
    pub(super) cloid: Option<Cloid>,
    /// The size asked for.
    pub(super) size: Option<Decimal>,
    /// The places of the stop loss among the orders, where there is one.
    pub(super) stop_place: Option<usize>,
    /// Whether it can open a position.
    pub(super) is_entry: bool,
}

/// A request that was decided.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    nonce: u64,
    reply: Value,
}

impl Sent {
    /// Whether the guard refused it with this code.
    pub(super) fn is_veto(&self, code: &str) -> bool {
        verdict(&self.reply) == Some("veto") && self.reply.pointer("/guard/code").and_then(Value::as_str) == Some(code)
    }
}

/// The guard's verdict in a reply of its own.
fn verdict(reply: &Value) -> Option<&str> {
    reply.pointer("/guard/verdict").and_then(Value::as_str)
}

/// Signs an action, posts it once, and tells what came of it.
pub(super) fn carry_out(context: &Context, status: &Status, action: &Action, trade: &Trade) -> Outcome {
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
        // What surely did nothing, or only pretended to, changes nothing that a later call would look for.
        let did_nothing = match &answer {
            Ok(reply) => verdict(reply) == Some("veto"),
            Err(error) => !error.may_have_acted(),
        };
        if !did_nothing && !status.is_paper() {
            context.recent.note(action);
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

/// No decision came back.
fn undecided(error: &GuardCallError, trade: &Trade) -> Outcome {
    if error.may_have_acted() {
        let text =
            format!("The guard's answer was lost, so {} MAY have been done ({error}). {}", trade.what, check(trade));
        return Outcome::new(Kind::Unknown, Retry::CheckFirst, text);
    }
    Outcome::unreachable(error)
}

/// How to find out.
fn check(trade: &Trade) -> &'static str {
    if trade.client_id.is_some() {
        "Call again with the same client_id: that never trades twice and tells what became of it."
    } else {
        "Look at get_open_orders and get_positions before you do anything else."
    }
}

/// The outcome of a decided request.
pub(super) fn conclude(context: &Context, status: &Status, trade: &Trade, sent: &Sent) -> Outcome {
    let reply = &sent.reply;
    let guard = reply.get("guard").unwrap_or(&Value::Null);
    let text = |key: &str| guard.get(key).and_then(Value::as_str).map(sanitize::text);
    let seq = guard.get("seq").and_then(Value::as_u64);
    let changes = guard.get("changes").and_then(Value::as_array).into_iter().flatten();
    let changes: Vec<String> = changes.filter_map(Value::as_str).map(sanitize::text).collect();
    let mut outcome = match (text("verdict").as_deref(), reply.get("status").and_then(Value::as_str)) {
        (Some("veto"), _) => vetoed(guard, &text("code").unwrap_or_default()),
        (Some(_), Some("ok")) => answered(trade, reply, &changes),
        (Some(_), _) => match seq {
            Some(seq) => from_settlement(trade, &trace(context, sent, seq), &changes),
            None => in_doubt(trade),
        },
        (None, _) => in_doubt(trade),
    };
    if let Some(seq) = seq.filter(|_| outcome.unprotected == Some(false) && !status.is_paper() && !changes.is_empty()) {
        // A stop that the guard attached has no place in the client's reply.
        if let Some(refusal) = told(context, sent.nonce, seq).and_then(|record| DecisionRecord(&record).refused_stop())
        {
            outcome = bare(outcome, &refusal);
        }
    }
    outcome.guard_says = text("text").filter(|_| outcome.kind != Kind::Accepted || !changes.is_empty());
    outcome.decision_id = seq;
    outcome.changes = changes;
    if outcome.rule.as_ref().is_some_and(|rule| rule.id == KILLED) && status.killed().is_none() {
        // Pulled since the status was read: the veto knows it, and the guard tells why.
        return finish(outcome, &context.status().unwrap_or_else(|_| status.clone()), trade);
    }
    finish(outcome, status, trade)
}

/// The outcome of a trade that an earlier call under the same name asked for.
pub(super) fn recall(context: &Context, status: &Status, trade: &Trade, record: DecisionRecord<'_>) -> Outcome {
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
        outcome = bare(outcome, &refusal);
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
    outcome.decision_id = record.seq();
    outcome.changes = changes;
    finish(outcome, status, trade)
}

/// An outcome with what is known of the guard beside it.
pub(super) fn finish(mut outcome: Outcome, status: &Status, trade: &Trade) -> Outcome {
    outcome.kill = Some(status.killed());
    outcome.paper = status.is_paper();
    if trade.client_id.is_some() {
        outcome.order.get_or_insert_default().client_id.clone_from(&trade.client_id);
    }
    if outcome.paper && outcome.kind == Kind::Accepted {
        outcome.message.push_str(" Paper mode: nothing was sent to the venue.");
    }
    outcome
}

fn vetoed(guard: &Value, code: &str) -> Outcome {
    let (retry, next) = advice(code);
    let number = |key: &str| guard.get(key).and_then(Value::as_str).map(|text| visible(text, 80));
    let rule = Rule { id: code.to_owned(), limit: number("limit"), observed: number("actual") };
    let figures = match (&rule.limit, &rule.observed) {
        (Some(limit), Some(observed)) => format!(": {observed}, and the limit is {limit}"),
        _ => String::new(),
    };
    let text = format!("The guard vetoed it ({code}){figures}. Nothing was done. {next}");
    Outcome { rule: Some(rule), ..Outcome::new(Kind::Vetoed, retry, text) }
}

/// The venue's answer, or on paper the guard's in its place.
fn answered(trade: &Trade, reply: &Value, changes: &[String]) -> Outcome {
    let Some(read) = Reply::read(reply) else { return in_doubt(trade) };
    let changed = if changes.is_empty() { "" } else { " The guard changed it first; see changes." };
    let (state, order) = match read.status(0) {
        Answered::Error(text) => return rejected(trade, &text),
        Answered::Resting(oid) => ("rests in the book", info(Some(oid), "resting")),
        Answered::Filled(size, oid) => {
            let average = reply.pointer("/response/data/statuses/0/filled/avgPx").and_then(Value::as_str);
            let average = average.and_then(|px| parse_info(px).ok()).map(to_wire);
            let order = OrderInfo { filled: Some(to_wire(size)), avg_price: average, ..info(Some(oid), "filled") };
            (if trade.size.is_some_and(|asked| size < asked) { "filled in part; see filled" } else { "filled" }, order)
        }
        Answered::WaitingForFill | Answered::WaitingForTrigger => ("waits for its trigger", info(None, "waiting")),
        Answered::Success | Answered::Other => ("done", info(None, "done")),
    };
    let mut outcome = Outcome::new(Kind::Accepted, Retry::Never, format!("{}: {state}.{changed}", trade.what));
    if trade.client_id.is_some() || order.id.is_some() {
        outcome.order = Some(order);
    }
    outcome.unprotected = trade.is_entry.then_some(false);
    match trade.stop_place.map(|place| read.status(place)) {
        Some(Answered::Error(text)) => bare(outcome, &text),
        _ => outcome,
    }
}

/// An entry that was taken, and its stop was not.
fn bare(mut outcome: Outcome, refusal: &str) -> Outcome {
    outcome.message.push_str(
        " WARNING: the venue refused its stop, so the position may be bare until the guard places another, or closes it. Look \
         at get_positions.",
    );
    outcome.venue_says = Some(sanitize::text(refusal));
    outcome.unprotected = Some(true);
    outcome
}

fn info(id: Option<u64>, status: &str) -> OrderInfo {
    OrderInfo { id, status: Some(status.to_owned()), ..OrderInfo::default() }
}

fn rejected(trade: &Trade, text: &str) -> Outcome {
    let message = format!("The venue refused it: {} was not done. venue_says tells why.", trade.what);
    let says = Some(sanitize::text(text));
    Outcome { venue_says: says, ..Outcome::new(Kind::VenueRejected, Retry::AfterChange, message) }
}

fn in_doubt(trade: &Trade) -> Outcome {
    let text = format!("The venue gave no answer, so {} MAY have been done. {}", trade.what, check(trade));
    Outcome::new(Kind::Unknown, Retry::CheckFirst, text)
}

/// The outcome of what the journal tells.
fn from_settlement(trade: &Trade, settlement: &Settlement, changes: &[String]) -> Outcome {
    match settlement {
        Settlement::Replied(reply) => answered(trade, reply, changes),
        Settlement::Paper | Settlement::Done => {
            let text = format!("{}: taken. get_open_orders and get_positions show what is left of it.", trade.what);
            Outcome { order: Some(info(None, "taken")), ..Outcome::new(Kind::Accepted, Retry::Never, text) }
        }
        Settlement::BlockedByRefusal(reply) => {
            let text = match Reply::read(reply).map(|reply| reply.status(0)) {
                Some(Answered::Error(text)) => text,
                _ => "what had to go first was refused".to_owned(),
            };
            rejected(trade, &text)
        }
        Settlement::NotDone => {
            let text = format!("{} was not done: it did not get to the venue, or had no effect there.", trade.what);
            Outcome::new(Kind::Unavailable, Retry::Later, text)
        }
        Settlement::InDoubt | Settlement::InProgress => in_doubt(trade),
        Settlement::GaveUp => {
            let text = format!(
                "The venue gave no answer and the guard could not find out more, so {} MAY have been done. Look at \
                 get_open_orders and get_positions; what you decide then wants a new client_id.",
                trade.what
            );
            Outcome::new(Kind::Unknown, Retry::CheckFirst, text)
        }
    }
}

/// What the journal tells of a request whose answer was an error: refused, not sent, or in doubt.
fn trace(context: &Context, sent: &Sent, seq: u64) -> Settlement {
    match told(context, sent.nonce, seq).map(|record| DecisionRecord(&record).settlement()) {
        Some(settlement) if settlement != Settlement::InProgress => settlement,
        // The guard answered, so the send is over; what is missing is only its note.
        _ if is_venues_own(&sent.reply) => Settlement::Replied(sent.reply.clone()),
        _ => Settlement::InDoubt,
    }
}

/// The journal's record of a decision, with what its send came to.
fn told(context: &Context, nonce: u64, seq: u64) -> Option<Value> {
    once_over(|| {
        let found = context.guard.get(&format!("/guard/decision?nonce={nonce}")).unwrap_or_default();
        let mut decisions = found.get("decisions").and_then(Value::as_array).into_iter().flatten();
        decisions.find(|record| DecisionRecord(record).seq() == Some(seq)).cloned()
    })
}

/// A record, once it tells what the send came to; as it stands where that takes too long. The guard answers before its
/// journal has the note of the send.
pub(super) fn once_over(find: impl Fn() -> Option<Value>) -> Option<Value> {
    let begun = Instant::now();
    loop {
        let record = find();
        let is_over =
            record.as_ref().is_some_and(|record| DecisionRecord(record).settlement() != Settlement::InProgress);
        if is_over || begun.elapsed() >= TRACE_PATIENCE {
            return record;
        }
        std::thread::sleep(TRACE_EVERY);
    }
}

/// Whether the words of an error are the venue's and not the guard's.
fn is_venues_own(reply: &Value) -> bool {
    let words = reply.get("response").and_then(Value::as_str);
    words.is_some_and(|words| !words.starts_with("svc-guard: "))
}

/// The order under a trade's client order id, as the venue shows it now.
fn order_status(context: &Context, status: &Status, trade: &Trade) -> Option<OrderInfo> {
    let question = json!({"type": "orderStatus", "user": status.account()?, "oid": trade.cloid?});
    let answer = context.guard.info(&question).ok()?;
    let order = answer.pointer("/order/order")?;
    let amount = |key: &str| parse_info(order.get(key)?.as_str()?).ok();
    let filled = amount("origSz").zip(amount("sz")).map(|(asked, left)| to_wire(asked.saturating_sub(left)));
    let state = answer.pointer("/order/status").and_then(Value::as_str).unwrap_or("unknown");
    let state = if state == "open" { "resting" } else { state };
    Some(OrderInfo { filled, ..info(order.get("oid")?.as_u64(), &visible(state, 40)) })
}
