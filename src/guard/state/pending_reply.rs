//! A client's answer as it comes together: a request may go out in parts, and a part may be sent again.

use crate::base::amount::to_answer;
use crate::record::reply_summary::Summary;
use crate::venue::action::Action;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Decimals of an average price in a status.
const PX_DECIMALS: u32 = 6;

/// The answer that a client waits for.
#[derive(Debug)]
pub(crate) struct PendingReply {
    pub(crate) summary: Summary,
    response_type: &'static str,
    /// By place in the request, once told.
    statuses: Vec<Option<Value>>,
    /// The places that went out as two orders, each with what is told of the first.
    halves: BTreeMap<usize, Option<Value>>,
    /// The places that were sent a second time: what becomes of them is still to be told.
    sent_again: BTreeSet<usize>,
    /// The one answer to the whole request.
    whole: Option<Outcome>,
}

/// What a client is told.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The venue's answer, or one in its shape.
    Answer(Value),
    /// Nothing came of the request, or nobody knows what did.
    Failed(String),
}

impl PendingReply {
    /// The answer to a request of which the orders at `in_two` go out as two each.
    pub(crate) fn new(asked: &Action, summary: Summary, in_two: &[usize]) -> Self {
        let response_type = match asked {
            Action::Cancel { .. } | Action::CancelByCloid { .. } => "cancel",
            _ => "order",
        };
        Self {
            summary,
            response_type,
            statuses: vec![None; asked.batch_len()],
            halves: in_two.iter().map(|place| (*place, None)).collect(),
            sent_again: BTreeSet::new(),
            whole: None,
        }
    }

    /// Takes note that the orders at `places` are on their way once more.
    pub(crate) fn wait_for(&mut self, places: &[usize]) {
        self.sent_again.extend(places);
    }

    /// Adds to what was altered.
    pub(crate) fn note(&mut self, change: &str) {
        self.summary.text = format!("{}; {change}", self.summary.text);
        self.summary.changes.push(change.to_owned());
    }

    /// Takes in the venue's answer to the part that holds the orders at `places`, but for those `sent_again`.
    pub(crate) fn tell(&mut self, places: &[usize], answer: &Value, sent_again: &[usize]) {
        self.wait_for(sent_again);
        if sent_again.is_empty() && self.is_whole(places) {
            self.whole = Some(Outcome::Answer(answer.clone()));
            return;
        }
        for (slot, place) in places.iter().enumerate().filter(|(_, place)| !sent_again.contains(place)) {
            self.put(*place, status_at(answer, slot));
        }
    }

    /// Takes in that the orders at `places` came to nothing, or may have, for this reason.
    pub(crate) fn fail(&mut self, places: &[usize], why: &str) {
        if self.is_whole(places) {
            self.whole = Some(Outcome::Failed(why.to_owned()));
        } else {
            self.leave_out(places, why);
        }
    }

    /// The same of those of them that nothing is told of and that are not sent again.
    pub(crate) fn fail_untold(&mut self, places: &[usize], why: &str) {
        let is_untold =
            |place: &usize| matches!(self.statuses.get(*place), Some(None)) && !self.sent_again.contains(place);
        let untold: Vec<usize> = places.iter().copied().filter(is_untold).collect();
        self.fail(&untold, why);
    }

    /// The same, told of each order alone.
    pub(crate) fn leave_out(&mut self, places: &[usize], why: &str) {
        let status = json!({"error": format!("svc-guard: {why}")});
        places.iter().for_each(|place| self.put(*place, status.clone()));
    }

    /// How many orders the request has.
    pub(crate) fn orders(&self) -> usize {
        self.statuses.len()
    }

    /// What the client is told, once nothing is left to tell.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        if self.whole.is_some() {
            return self.whole.clone();
        }
        let statuses: Vec<&Value> = self.statuses.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let data = json!({"type": self.response_type, "data": {"statuses": statuses}});
        Some(Outcome::Answer(json!({"status": "ok", "response": data})))
    }

    /// Whether these are all places, and nothing is told of any of them.
    fn is_whole(&self, places: &[usize]) -> bool {
        let is_untold = self.halves.is_empty() && self.statuses.iter().all(Option::is_none);
        is_untold && places.len() == self.statuses.len()
    }

    /// The statuses of the orders, of those that have one.
    pub(crate) fn statuses(&self) -> Vec<&Value> {
        self.statuses.iter().flatten().collect()
    }

    /// Takes in the status of one order.
    pub(crate) fn put(&mut self, place: usize, status: Value) {
        let status = match self.halves.remove(&place) {
            Some(None) => {
                self.halves.insert(place, Some(status));
                return;
            }
            Some(Some(first)) => both(&first, status),
            None => status,
        };
        if let Some(slot) = self.statuses.get_mut(place) {
            *slot = Some(status);
        }
    }
}

/// The status of an order that went out as two: what filled of both, under the second one's ids; an error only where both
/// have one.
fn both(first: &Value, second: Value) -> Value {
    let figure = |status: &Value, name: &str| -> Option<Decimal> {
        status.pointer(&format!("/filled/{name}"))?.as_str()?.parse().ok()
    };
    let of = |status: &Value| Some((figure(status, "totalSz")?, figure(status, "avgPx")?));
    match (of(first), of(&second)) {
        (Some((closed, closed_px)), Some((opened, opened_px))) => {
            let size = closed.saturating_add(opened);
            let value = closed.saturating_mul(closed_px).saturating_add(opened.saturating_mul(opened_px));
            let px = value.checked_div(size).unwrap_or(opened_px).round_dp(PX_DECIMALS);
            let mut status = second;
            if let Some(filled) = status.get_mut("filled").and_then(Value::as_object_mut) {
                filled.insert("totalSz".to_owned(), json!(to_answer(size)));
                filled.insert("avgPx".to_owned(), json!(to_answer(px)));
            }
            status
        }
        (Some(_), None) => first.clone(),
        (None, _) => second,
    }
}

/// What an answer says of the order at `slot` of its action.
fn status_at(answer: &Value, slot: usize) -> Value {
    let statuses = answer.pointer("/response/data/statuses").and_then(Value::as_array);
    match statuses.map(Vec::as_slice) {
        // One refusal for all of them.
        Some([one]) if one.get("error").is_some() => one.clone(),
        Some(statuses) => statuses.get(slot).cloned().unwrap_or_else(
            || json!({"error": "svc-guard: the venue told nothing of this order; look at the open orders"}),
        ),
        None if answer.get("status").and_then(Value::as_str) == Some("ok") => json!("success"),
        None => {
            let text = answer.get("response").and_then(Value::as_str);
            json!({"error": text.map_or_else(|| answer.to_string(), str::to_owned)})
        }
    }
}
