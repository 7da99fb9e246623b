//! An alert of the status, and how a list of them is read: one by one, so that one of another form takes nothing along.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::lenient;
use super::text::Text;

/// Alerts that are read of one status at most.
const MOST: usize = 1_024;

/// Something that a person should look at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Alert {
    /// Its code.
    pub code: Text,
    /// The market or other thing that it is about, where several of the code can stand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    /// What it is.
    pub text: String,
    /// Since when, UTC ms, where that is known.
    pub since_ms: Option<u64>,
}

/// Reads each alert by itself. What cannot be read as one is told by its code, where it has one.
pub(super) fn each<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Alert>, D::Error> {
    let items: Vec<Value> = lenient::or_default(deserializer)?;
    Ok(items
        .into_iter()
        .take(MOST)
        .map(|item| Alert::deserialize(&item).unwrap_or_else(|_| unreadable(&item)))
        .collect())
}

fn unreadable(item: &Value) -> Alert {
    let text = |name: &str| item.get(name).and_then(Value::as_str).map(str::to_owned);
    Alert {
        code: text("code").unwrap_or_else(|| "unreadable".to_owned()).into(),
        about: text("about"),
        text: text("text").unwrap_or_else(|| "The guard tells of it in a form that is not known here.".to_owned()),
        since_ms: item.get("since_ms").and_then(Value::as_u64),
    }
}
