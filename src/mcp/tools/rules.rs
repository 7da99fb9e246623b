//! `get_rules`: the owner's rules in words and numbers, with the room that each leaves.

use rust_decimal::{Decimal, dec};
use serde_json::{Map, Value, json};

use super::tool::{GUARD_READ, Tool, noted, read};
use crate::base::amount::to_wire;
use crate::base::text::visible;
use crate::mcp::answer::Answer;
use crate::mcp::context::Context;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::schema;
use crate::mcp::status::Status;

pub(super) const RULES: Tool = Tool {
    name: "get_rules",
    title: "Rules and headroom",
    description: "The owner's rules in words and numbers, with the amounts in USDC that they come to now, what is used and what \
                  is left. Look here before you size an order. No tool can change them.",
    hints: GUARD_READ,
    input: || schema::object(0, &[]),
    run: rules,
};

fn rules(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    read(args, &[])?;
    let snapshot = context.fresh_snapshot()?;
    let status = &snapshot.status;
    let Some(rules) = context.rules(status) else {
        let text = "The guard's rules cannot be read; it may be of another version.";
        return Err(Outcome::new(Kind::Unavailable, Retry::Never, text));
    };
    let base = base(status, rules.exposure);
    let worth = |percent: Decimal| base.and_then(|base| base.checked_mul(percent)?.checked_div(dec!(100))).map(usdc);
    let list: Vec<Value> = rules
        .list
        .iter()
        .map(|rule| {
            let value: Value = serde_json::from_str(&rule.value).unwrap_or_default();
            json!({"rule": rule.key, "value": value, "words": rule.words, "usdc": rule.percent_of_equity.and_then(worth)})
        })
        .collect();
    let mut shown = Map::from_iter([("rules".to_owned(), json!(list)), ("headroom".to_owned(), headroom(status))]);
    shown.insert("percent_of_usdc".to_owned(), json!(base.map(usdc)));
    shown.insert("equity".to_owned(), json!(status.known().equity.map(usdc)));
    shown.insert("caution".to_owned(), json!(snapshot.caution()));
    Ok(noted(shown))
}

/// The equity that the rules' percentages are of: the account's, or the owner's cap on it. The guard gives it only
/// through the limit that it comes to.
fn base(status: &Status, exposure_pct: Decimal) -> Option<Decimal> {
    status.known().risk.exposure_limit?.checked_mul(dec!(100))?.checked_div(exposure_pct)
}

/// Used, limit and left of every rule that fills up, by the guard's count: USDC, or a number of orders. Where each
/// market has a limit of its own, the market that is nearest to it.
pub(super) fn headroom(status: &Status) -> Value {
    let shown = status.known().headroom.iter().filter_map(|row| {
        let shown: fn(Decimal) -> String = match &row.unit[..] {
            "usdc" => usdc,
            "orders" => to_wire,
            // A setting, which nothing adds to.
            _ => return None,
        };
        let (used, limit) = (row.used, row.limit);
        let left = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used).max(Decimal::ZERO));
        let mut figure = json!({"used": used.map(shown), "limit": limit.map(shown), "left": left.map(shown)});
        if let (Some(coin), Some(figure)) = (&row.coin, figure.as_object_mut()) {
            figure.insert("coin".to_owned(), json!(visible(coin, 40)));
        }
        Some((visible(&row.rule, 40), figure))
    });
    Value::Object(shown.collect())
}

/// USDC with two decimals, rounded down: never more than there is.
fn usdc(amount: Decimal) -> String {
    format!("{:.2}", amount.trunc_with_scale(2))
}
