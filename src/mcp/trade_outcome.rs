//! A trade in words, and the outcome that the guard's answer, the venue's reply or the journal gives it. Pure.

use rust_decimal::Decimal;
use serde_json::Value;

use super::guard_client::GuardCallError;
use super::outcome::{Kind, OrderInfo, Outcome, Retry, Rule};
use super::sanitize;
use super::settlement_view::Settlement;
use super::status::Status;
use super::texts::advice;
use crate::base::address::Cloid;
use crate::base::amount::{parse_info, to_wire};
use crate::base::text::visible;
use crate::record::reply_summary::Summary;
use crate::venue::reply::{Reply, Status as OrderReply};

/// A trade as it was asked for.
#[derive(Debug, Clone, Default)]
pub(super) struct Trade {
    /// In words, such as "buy 0.01 BTC".
    pub(super) what: String,
    pub(super) client_id: Option<String>,
    pub(super) cloid: Option<Cloid>,
    pub(super) size: Option<Decimal>,
    /// Index of the stop loss among the orders, where there is one.
    pub(super) stop_index: Option<usize>,
    /// It can open a position.
    pub(super) is_entry: bool,
}

/// Adds the state of the guard and the trade's name to an outcome.
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

/// From a veto of the guard.
pub(super) fn vetoed(summary: &Summary) -> Outcome {
    let code = sanitize::text(&summary.code);
    let (retry, next) = advice(&code);
    let number = |text: &String| visible(text, 80);
    let (limit, observed) = (summary.limit.as_ref().map(number), summary.actual.as_ref().map(number));
    let rule = Rule { id: code.clone(), limit, observed };
    let figures = match (&rule.limit, &rule.observed) {
        (Some(limit), Some(observed)) => format!(": {observed}, and the limit is {limit}"),
        _ => String::new(),
    };
    let text = format!("The guard vetoed it ({code}){figures}. Nothing was done. {next}");
    Outcome { rule: Some(rule), ..Outcome::new(Kind::Vetoed, retry, text) }
}

/// From the venue's reply, or in paper mode the guard's reply in its place.
pub(super) fn from_reply(trade: &Trade, reply: &Value, changes: &[String]) -> Outcome {
    let Some(read) = Reply::read(reply) else { return in_doubt(trade) };
    let changed = if changes.is_empty() { "" } else { " The guard changed it first; see changes." };
    let (state, order) = match read.status(0) {
        OrderReply::Error(text) => return rejected(trade, &text),
        OrderReply::Resting(oid) => ("rests in the book", order_info(Some(oid), "resting")),
        OrderReply::Filled(size, oid, _) => {
            let average = reply.pointer("/response/data/statuses/0/filled/avgPx").and_then(Value::as_str);
            let average = average.and_then(|px| parse_info(px).ok()).map(to_wire);
            let order =
                OrderInfo { filled: Some(to_wire(size)), avg_price: average, ..order_info(Some(oid), "filled") };
            (if trade.size.is_some_and(|asked| size < asked) { "filled in part; see filled" } else { "filled" }, order)
        }
        OrderReply::WaitingForFill | OrderReply::WaitingForTrigger => {
            ("waits for its trigger", order_info(None, "waiting"))
        }
        OrderReply::Success | OrderReply::Other => ("done", order_info(None, "done")),
    };
    let mut outcome = Outcome::new(Kind::Accepted, Retry::Never, format!("{}: {state}.{changed}", trade.what));
    if trade.client_id.is_some() || order.id.is_some() {
        outcome.order = Some(order);
    }
    outcome.unprotected = trade.is_entry.then_some(false);
    match trade.stop_index.map(|index| read.status(index)) {
        Some(OrderReply::Error(text)) => unprotected(outcome, &text),
        _ => outcome,
    }
}

/// Marks an entry that was taken while its stop was refused.
pub(super) fn unprotected(mut outcome: Outcome, refusal: &str) -> Outcome {
    outcome.message.push_str(
        " WARNING: the venue refused its stop, so the position may be bare until the guard places another, or closes it. Look \
         at get_positions.",
    );
    outcome.venue_says = Some(sanitize::text(refusal));
    outcome.unprotected = Some(true);
    outcome
}

pub(super) fn order_info(id: Option<u64>, status: &str) -> OrderInfo {
    OrderInfo { id, status: Some(status.to_owned()), ..OrderInfo::default() }
}

/// From a refusal by the venue.
pub(super) fn rejected(trade: &Trade, text: &str) -> Outcome {
    let message = format!("The venue refused it: {} was not done. venue_says tells why.", trade.what);
    let says = Some(sanitize::text(text));
    Outcome { venue_says: says, ..Outcome::new(Kind::VenueRejected, Retry::AfterChange, message) }
}

/// The trade may have been done.
pub(super) fn in_doubt(trade: &Trade) -> Outcome {
    let text = format!("The venue gave no answer, so {} MAY have been done. {}", trade.what, check(trade));
    Outcome::new(Kind::Unknown, Retry::CheckFirst, text)
}

/// From the state in which the journal has the action.
pub(super) fn from_settlement(trade: &Trade, settlement: &Settlement, changes: &[String]) -> Outcome {
    match settlement {
        Settlement::Replied(reply) => from_reply(trade, reply, changes),
        Settlement::Paper | Settlement::Done => {
            let text = format!("{}: taken. get_open_orders and get_positions show what is left of it.", trade.what);
            Outcome { order: Some(order_info(None, "taken")), ..Outcome::new(Kind::Accepted, Retry::Never, text) }
        }
        Settlement::BlockedByRefusal(reply) => {
            let text = match Reply::read(reply).map(|reply| reply.status(0)) {
                Some(OrderReply::Error(text)) => text,
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

/// From a call that brought no decision.
pub(super) fn undecided(error: &GuardCallError, trade: &Trade) -> Outcome {
    if error.may_have_acted() {
        let text =
            format!("The guard's answer was lost, so {} MAY have been done ({error}). {}", trade.what, check(trade));
        return Outcome::new(Kind::Unknown, Retry::CheckFirst, text);
    }
    Outcome::unreachable(error)
}

/// How to find out whether a trade was done.
fn check(trade: &Trade) -> &'static str {
    if trade.client_id.is_some() {
        "Call again with the same client_id: that never trades twice and tells what became of it."
    } else {
        "Look at get_open_orders and get_positions before you do anything else."
    }
}
