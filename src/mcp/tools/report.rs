//! `get_report`, `get_fills`: the guard's book of money, summed up and fill by fill.

use serde_json::{Map, Value, json};

use super::tool::{GUARD_READ, Tool, noted, read};
use crate::base::day::Day;
use crate::mcp::answer::Answer;
use crate::mcp::args::Args;
use crate::mcp::context::Context;
use crate::mcp::guard_client::GuardCallError;
use crate::mcp::outcome::{Kind, Outcome, Retry};
use crate::mcp::{records, sanitize, schema};

/// Fills given where no number is named.
const DEFAULT: usize = 20;
/// Most fills given.
const MOST: usize = 100;
/// Fills asked for where only those of one market are wanted: the most that the guard gives.
const MOST_LOOKED_AT: usize = 1000;

const DAY: &str = "a day in UTC such as \"2026-01-31\"";
/// What else is told with the fills: of which days they are, and what may be missing.
const BESIDE: [&str; 11] = [
    "from",
    "to",
    "recorded_from",
    "recorded_to",
    "missing_events",
    "missing_days",
    "left_out_rows",
    "unreadable_lines",
    "changed_lines",
    "doubled_lines",
    "book_lacks",
];
const ROWS: [(&str, &str); 3] = [("day", "day"), ("market", "market"), ("client", "client")];

pub(super) const REPORT: Tool = Tool {
    name: "get_report",
    title: "Report",
    description: "What was traded and what the guard did, from its record on disk: volume, fills, gross, fees, funding, net, \
                  transfers, equity at both ends, worst drawdown, decisions by verdict and code, stops, cuts, halts. Exact \
                  amounts in USDC, days in UTC; fees in other tokens stand apart. null means not recorded, never 0. Today \
                  when no day is named.",
    hints: GUARD_READ,
    input: || {
        let mut members = days();
        let rows = ROWS.map(|(name, _)| name);
        members.push(("by", schema::choice(&rows, "What a row stands for. day when left out.")));
        schema::object(0, &members)
    },
    run: report,
};

pub(super) const FILLS: Tool = Tool {
    name: "get_fills",
    title: "Fills",
    description: "The account's fills from the guard's record on disk, newest first: time, market, side, price, size, fee and \
                  its token, closed_pnl, positions before and after, whose order it was. Today's when no day is named, and \
                  of the last 1000 of those days at most: fills_left_out says how many older ones are not shown. book_lacks \
                  and the other counts say what may be missing in the record; 0 is nothing.",
    hints: GUARD_READ,
    input: || {
        let mut members = days();
        members.extend([
            ("coin", schema::any_market()),
            ("limit", schema::whole(1, 100, "How many, at most 100. 20 when left out.")),
        ]);
        schema::object(0, &members)
    },
    run: fills,
};

fn days() -> Vec<(&'static str, Value)> {
    let day = |text: &str| json!({"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$", "description": text});
    vec![
        ("from", day("The first day, YYYY-MM-DD in UTC. Without it and `to`: today.")),
        ("to", day("The last day, YYYY-MM-DD in UTC. The newest when only `from` is given.")),
    ]
}

fn report(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["from", "to", "by"])?;
    let by = args.choice("by", &ROWS)?.unwrap_or("day");
    let mut told = asked(context, &args, &format!("by={by}"))?;
    let rows = told.remove("rows");
    let rows = rows.as_ref().and_then(Value::as_array).into_iter().flatten().map(sanitize::value).collect();
    let mut shown: Map<String, Value> =
        told.iter().map(|(name, member)| (name.clone(), sanitize::value(member))).collect();
    shown.append(&mut records::list("rows", rows));
    Ok(noted(shown))
}

fn fills(context: &Context, args: Option<&str>) -> Result<Answer, Outcome> {
    let args = read(args, &["from", "to", "coin", "limit"])?;
    let (coin, limit) = (args.optional_coin("coin")?, args.limit(DEFAULT, MOST)?);
    let wanted = if coin.is_some() { MOST_LOOKED_AT } else { limit };
    let told = asked(context, &args, &format!("fills={wanted}"))?;
    let is_wanted = |fill: &&Value| {
        let market = fill.get("market").and_then(Value::as_str).unwrap_or_default();
        coin.as_ref().is_none_or(|coin| coin.eq_ignore_ascii_case(market))
    };
    let fills: Vec<&Value> =
        told.get("fills").and_then(Value::as_array).into_iter().flatten().rev().filter(is_wanted).collect();
    let mut shown = records::list("fills", fills.iter().take(limit).map(|fill| sanitize::value(fill)).collect());
    let given = shown.get("fills").and_then(Value::as_array).map_or(0, Vec::len);
    let not_shown = u64::try_from(fills.len().saturating_sub(given)).unwrap_or(u64::MAX);
    let not_looked_at = told.get("fills_left_out").and_then(Value::as_u64);
    // Of those that were not looked at nobody knows the market.
    shown.insert("fills_left_out".to_owned(), json!(not_looked_at.map(|count| count.saturating_add(not_shown))));
    for name in BESIDE {
        shown.insert(name.to_owned(), told.get(name).map_or(Value::Null, sanitize::value));
    }
    Ok(noted(shown))
}

/// The guard's answer.
fn asked(context: &Context, args: &Args, more: &str) -> Result<Map<String, Value>, Outcome> {
    let day = |name: &str| -> Result<Option<Day>, Outcome> {
        let text = args.text(name, DAY)?;
        let day = text.map(|text| text.parse::<Day>()).transpose();
        Ok(day.map_err(|_| args.fault(name, DAY))?)
    };
    let (from, to) = (day("from")?, day("to")?);
    if let (Some(from), Some(to)) = (from, to)
        && to < from
    {
        return Err(args.fault("to", format!("a day that is not before `from`, {from}")).into());
    }
    context.admit()?;
    let named = |name: &str, day: Option<Day>| day.map_or_else(String::new, |day| format!("&{name}={day}"));
    let path = format!("/guard/report?{more}{}{}", named("from", from), named("to", to));
    match context.guard.get(&path) {
        Ok(Value::Object(told)) => Ok(told),
        Ok(_) => Err(Outcome::new(Kind::Unavailable, Retry::Never, "The guard's answer is no report.")),
        Err(GuardCallError::Refused(_, code, text)) if code == "too_much" => {
            Err(Outcome::new(Kind::Unavailable, Retry::AfterChange, format!("No report: {text}.")))
        }
        Err(error) => Err(Outcome::unreachable(&error)),
    }
}
