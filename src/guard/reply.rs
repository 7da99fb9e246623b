//! Replies to clients: the venue's own shapes, with one more key `guard`.

use serde_json::{Map, Value, json};

use super::code::Code;
use super::state::own_cloid::is_derived;
use crate::record::error_body::ErrorBody;
use crate::record::reply_summary::Summary;

/// The verdict on a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Forwarded as it came.
    Allow,
    /// Forwarded with changes.
    Resize,
    /// Refused.
    Veto,
}

impl Verdict {
    /// Every verdict.
    pub const ALL: [Verdict; 3] = [Verdict::Allow, Verdict::Resize, Verdict::Veto];

    /// The verdict on a request that a code comes with.
    #[must_use]
    pub fn of(code: Code) -> Verdict {
        match code {
            Code::Allowed | Code::Reduces => Verdict::Allow,
            Code::Resized => Verdict::Resize,
            _ => Verdict::Veto,
        }
    }

    /// The verdict as it stands in events and replies.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Resize => "resize",
            Verdict::Veto => "veto",
        }
    }
}

/// Puts the summary into a reply.
fn with_guard(mut reply: Value, summary: &Summary) -> String {
    if let Value::Object(members) = &mut reply {
        members.insert("guard".to_owned(), json!(summary));
    }
    reply.to_string()
}

/// A veto in the shape that every SDK turns into its own error; as an error body where the HTTP status is one.
pub(crate) fn veto(code: Code, http_status: u16, summary: &Summary) -> String {
    let response = format!("svc-guard veto ({code}): {}", summary.text);
    let reply = if http_status == 200 {
        json!({"status": "err", "response": response})
    } else {
        json!(ErrorBody::to_request(code.as_str(), &response))
    };
    with_guard(reply, summary)
}

/// A veto that no event tells of by itself, with an HTTP status of an error: there is no number to look it up by.
pub(crate) fn unwritten(code: Code, text: &str) -> String {
    let response = format!("svc-guard veto ({code}): {text}; the disk is full, so this is counted and not written");
    ErrorBody::to_request(code.as_str(), &response).to_json()
}

/// An error that is no veto: the decision stands, the venue or the way to it failed.
pub(crate) fn failed(text: &str, summary: &Summary) -> String {
    with_guard(json!({"status": "err", "response": format!("svc-guard: {text}")}), summary)
}

/// The body, with HTTP status 503, for a client whose decision did not get to the disk: it is told of no decision.
pub fn unrecorded(error: &str) -> String {
    let text = format!("svc-guard: the decision could not be written to disk, so nothing was sent: {error}");
    ErrorBody::to_request("journal_error", &text).to_json()
}

/// The venue's answer with the statuses of the client's own orders only, the first `orders` of them, and without the
/// client order ids that the guard derived.
pub(crate) fn forwarded(answer: &Value, orders: usize, summary: &Summary) -> String {
    let mut reply = answer.clone();
    if let Some(Value::Array(statuses)) = reply.pointer_mut("/response/data/statuses") {
        statuses.truncate(orders);
        statuses.iter_mut().filter_map(Value::as_object_mut).for_each(hide_derived);
    }
    if !reply.is_object() {
        reply = json!({"status": "err", "response": reply});
    }
    with_guard(reply, summary)
}

fn hide_derived(status: &mut Map<String, Value>) {
    for inner in status.values_mut().filter_map(Value::as_object_mut) {
        let cloid = inner.get("cloid").and_then(Value::as_str).and_then(|text| text.parse().ok());
        if cloid.is_some_and(|cloid| is_derived(&cloid)) {
            inner.remove("cloid");
        }
    }
}

/// A paper reply: `data` under the response type, or the plain reply of a setting.
pub(crate) fn paper(response_type: &str, data: Option<Value>, summary: &Summary) -> String {
    let response = match data {
        Some(data) => json!({"type": response_type, "data": data}),
        None => json!({"type": "default"}),
    };
    with_guard(json!({"status": "ok", "response": response}), summary)
}
