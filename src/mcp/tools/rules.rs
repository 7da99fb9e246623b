//! `get_rules`: the owner's rules in words and numbers, with what is left of each.

use rust_decimal::{Decimal, dec};
use serde_json::{Map, Value, json};

use super::{GUARD_READ, Tool, noted, read};
use crate::mcp::answer::Answer;
use crate::mcp::desk::Desk;
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

fn rules(desk: &Desk, args: Option<&str>) -> Result<Answer, Outcome> {
    read(args, &[])?;
    let status = desk.settled()?;
    let Some(rules) = status.rules() else {
        let text = "The guard's rules cannot be read; it may be of another version.";
        return Err(Outcome::new(Kind::Unavailable, Retry::Never, text));
    };
    let base = base(&status);
    let worth = |percent: Decimal| base.and_then(|base| base.checked_mul(percent)?.checked_div(dec!(100))).map(usdc);
    let list: Vec<Value> = rules
        .describe()
        .into_iter()
        .map(|rule| {
            let value: Value = serde_json::from_str(&rule.value).unwrap_or_default();
            let percent = match rule.key {
                "loss_per_trade" => Some(rules.loss_per_trade),
                "open_risk" => Some(rules.open_risk),
                "position" => Some(rules.position),
                "exposure" => Some(rules.exposure),
                _ => None,
            };
            json!({"rule": rule.key, "value": value, "words": rule.words, "usdc": percent.and_then(worth)})
        })
        .collect();
    let mut told = Map::from_iter([("rules".to_owned(), json!(list)), ("headroom".to_owned(), headroom(&status))]);
    told.insert("percent_of_usdc".to_owned(), json!(base.map(usdc)));
    told.insert("equity".to_owned(), json!(status.amount("/equity").map(usdc)));
    Ok(noted(told))
}

/// What the rules' percentages are of: equity, or the owner's cap on it.
fn base(status: &Status) -> Option<Decimal> {
    let percent = status.rules()?.exposure;
    status.amount("/risk/exposure_limit")?.checked_mul(dec!(100))?.checked_div(percent)
}

/// Used, limit and left of every limit that the guard keeps count of, USDC but for the number of open entries.
pub(super) fn headroom(status: &Status) -> Value {
    let figure = |used: Option<Decimal>, limit: Option<Decimal>| {
        let left = limit.zip(used).map(|(limit, used)| limit.saturating_sub(used).max(Decimal::ZERO));
        json!({"used": used.map(usdc), "limit": limit.map(usdc), "left": left.map(usdc)})
    };
    let entries = |used: usize, limit: usize| {
        let left = limit.saturating_sub(used);
        json!({"used": used.to_string(), "limit": limit.to_string(), "left": left.to_string()})
    };
    let most_entries = status.rules().and_then(|rules| usize::try_from(rules.open_orders).ok());
    let risk = |name: &str| status.amount(&format!("/risk/{name}"));
    let lost = risk("day_pnl").map(|pnl| pnl.saturating_mul(dec!(-1)).max(Decimal::ZERO));
    json!({
        "open_risk": figure(risk("open_risk"), risk("open_risk_limit")),
        "exposure": figure(risk("exposure"), risk("exposure_limit")),
        "daily_loss": figure(lost, risk("daily_loss_limit")),
        "drawdown": figure(risk("drawdown"), risk("drawdown_limit")),
        "open_orders": most_entries.map(|limit| entries(status.open_entries(), limit)),
    })
}

fn usdc(amount: Decimal) -> String {
    format!("{amount:.2}")
}
