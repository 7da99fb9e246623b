//! Problems: the conditions that keep the guard from being healthy.

use crate::guard::flow::signer;

use crate::guard::state::guard::Guard;
use serde_json::{Value, json};

pub(crate) fn problems(guard: &Guard, now_ms: u64) -> Vec<Value> {
    let mut alerts = Vec::new();
    let mut alert = |code: &str, text: String, since_ms: Option<u64>| {
        alerts.push(json!({"code": code, "text": text, "since_ms": since_ms}));
    };
    for (code, what, at_ms, limit_ms) in [
        (
            "account_stale",
            "the account",
            guard.view.account.as_ref().map(|view| view.begun_ms),
            guard.config.account_max_age_ms,
        ),
        ("price_stale", "prices", guard.view.mids_ms, guard.config.prices_max_age_ms),
    ] {
        match at_ms {
            Some(at_ms) if now_ms.saturating_sub(at_ms) <= limit_ms => {}
            Some(at_ms) => {
                alert(code, format!("{what}: last read over {limit_ms} ms ago"), Some(at_ms.saturating_add(limit_ms)));
            }
            None => alert(code, format!("{what}: not read yet"), None),
        }
    }
    if guard.unsettled > 0 {
        let text = format!("{} actions whose outcome could not be settled; look at the account", guard.unsettled);
        alert("unsettled", text, None);
    }
    if let Some((text, since_ms)) = signer::unknown_signer_text(guard) {
        alert("signer_unknown", text, Some(since_ms));
    }
    if let Some(problem) = &guard.journal_error {
        alert("journal_error", format!("decisions cannot be written: {problem}"), None);
    }
    alerts
}

impl Guard {
    /// What keeps the guard from being healthy. A pulled kill switch is none of it.
    #[must_use]
    pub fn problems(&self, now_ms: u64) -> Vec<String> {
        let texts = problems(self, now_ms).into_iter();
        texts.filter_map(|alert| alert.get("text").and_then(Value::as_str).map(str::to_owned)).collect()
    }
}
