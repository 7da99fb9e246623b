//! Amounts as the status writes them.

use rust_decimal::Decimal;
use serde_json::{Value, json};

pub(crate) fn text(amount: Decimal) -> String {
    amount.normalize().to_string()
}

pub(crate) fn or_null(amount: Option<Decimal>) -> Value {
    amount.map_or(Value::Null, |amount| json!(text(amount)))
}
