//! The venue's answer to an action.
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/exchange-endpoint>. The bare strings `waitingForFill` and
//! `waitingForTrigger` are on no page (observed).

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;

use super::info::decimal;
use crate::base::amount::parse_info;

/// What became of one order or cancel of an action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// Rests under this order id.
    Resting(u64),
    /// Filled, at least in part: the size filled, the order id, and the mean price where it is told.
    Filled(Decimal, u64, Option<Decimal>),
    /// Accepted, waits for its parent to fill (`waitingForFill`).
    WaitingForFill,
    /// Accepted, waits for its trigger (`waitingForTrigger`).
    WaitingForTrigger,
    /// A cancel or setting that was done.
    Success,
    /// Refused, with the venue's text.
    Error(String),
    /// Accepted in a form not known here: counted as accepted, since nothing says that it was refused.
    Other,
}

/// The venue's answer, read. `status: "ok"` alone is no success: each order's own status decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The whole action was refused.
    Refused(String),
    /// One status an order. A batch that fails before any order is looked at has one error for all.
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses>.
    Statuses(Vec<Status>),
    /// Done, without statuses.
    Done,
}

impl Reply {
    /// Reads an answer; `None` when it is no answer to an action.
    #[must_use]
    pub fn read(answer: &Value) -> Option<Self> {
        let response = answer.get("response")?;
        match answer.get("status")?.as_str()? {
            "err" => Some(Reply::Refused(response.as_str().map_or_else(|| response.to_string(), str::to_owned))),
            "ok" => match response.get("data") {
                None => Some(Reply::Done),
                Some(data) => match (data.get("statuses"), data.get("status")) {
                    (Some(statuses), _) => {
                        Some(Reply::Statuses(statuses.as_array()?.iter().map(Status::read).collect()))
                    }
                    (None, Some(status)) => Some(Reply::Statuses(vec![Status::read(status)])),
                    (None, None) => Some(Reply::Done),
                },
            },
            _ => None,
        }
    }

    /// The status of the order or cancel at `index`.
    #[must_use]
    pub fn status(&self, index: usize) -> Status {
        match self {
            Reply::Refused(text) => Status::Error(text.clone()),
            Reply::Done => Status::Success,
            Reply::Statuses(statuses) => match statuses.as_slice() {
                [Status::Error(text)] => Status::Error(text.clone()),
                statuses => statuses.get(index).cloned().unwrap_or(Status::Other),
            },
        }
    }

    /// Whether it came after its expiry: the venue did nothing, and counts more for it.
    #[must_use]
    pub fn is_too_late(&self) -> bool {
        matches!(self, Reply::Refused(text) if text.to_ascii_lowercase().contains("already expired"))
    }

    /// Whether it says of each of so many orders what became of it.
    #[must_use]
    pub fn has_status_of_each(&self, orders: usize) -> bool {
        matches!(self, Reply::Statuses(statuses) if statuses.len() == orders)
    }

    /// Whether nothing of the action was refused.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        match self {
            Reply::Refused(_) => false,
            Reply::Done => true,
            Reply::Statuses(statuses) => !statuses.iter().any(|status| matches!(status, Status::Error(_))),
        }
    }
}

impl Status {
    fn read(value: &Value) -> Self {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Filled {
            #[serde(deserialize_with = "decimal")]
            total_sz: Decimal,
            oid: u64,
            #[serde(default)]
            avg_px: Option<Value>,
        }
        match value.as_str() {
            Some("success") => return Status::Success,
            Some("waitingForFill") => return Status::WaitingForFill,
            Some("waitingForTrigger") => return Status::WaitingForTrigger,
            _ => {}
        }
        if let Some(oid) = value.get("resting").and_then(|resting| resting.get("oid")).and_then(Value::as_u64) {
            return Status::Resting(oid);
        }
        if let Some(filled) = value.get("filled").and_then(|filled| Filled::deserialize(filled).ok()) {
            let avg_px = filled.avg_px.and_then(|px| px.as_str().and_then(|px| parse_info(px).ok()));
            return Status::Filled(filled.total_sz, filled.oid, avg_px.filter(|px| *px > Decimal::ZERO));
        }
        match value.get("error").and_then(Value::as_str) {
            Some(text) => Status::Error(text.to_owned()),
            None => Status::Other,
        }
    }
}
