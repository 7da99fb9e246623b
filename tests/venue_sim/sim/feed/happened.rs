//! The event feeds: first all that there has been, where they have that, and then each thing as it happens.

use super::super::engine::Engine;
use super::super::engine::fill::{Fill, Funding};
use super::super::engine::news::News;
use super::super::engine::order::Record;
use super::super::info::{Families, NO_HASH, brief, fill, ledger_row, twap_row};
use super::super::show::{num, plain, usd};
use super::super::venue::Venue;
use super::slices::merged;
use super::states::is_account;
use super::subscription::Subscription;
use serde_json::{Value, json};

/// Whoever stood on the other side of the account's trades.
const OTHER_SIDE: &str = "0x2222222222222222222222222222222222222222";
/// Statuses of orders that the venue itself has cancelled.
const VENUE_CANCELS: [&str; 7] = [
    "marginCanceled",
    "reduceOnlyCanceled",
    "siblingFilledCanceled",
    "liquidatedCanceled",
    "scheduledCancel",
    "delistedCanceled",
    "selfTradeCanceled",
];

/// The first message of a feed that has one; `keep` says how many of the newest rows it shows at most.
pub(crate) fn snapshot(venue: &Venue, of: &Subscription, keep: Option<u64>) -> Option<Value> {
    let engine = &venue.engine;
    let rows: Vec<News> = match of.kind.name {
        "userFills" | "userTwapSliceFills" | "trades" => engine.fills.iter().cloned().map(News::Fill).collect(),
        "userHistoricalOrders" => engine.history.iter().cloned().map(News::Order).collect(),
        "userFundings" => engine.funding.iter().cloned().map(News::Funding).collect(),
        "userNonFundingLedgerUpdates" => {
            let shown = engine.ledger.iter().filter(|entry| entry.visible_ms <= engine.now_ms);
            shown.cloned().map(News::Ledger).collect()
        }
        "userTwapHistory" => engine.twaps.iter().map(|(&id, twap)| News::Twap(id, twap.clone())).collect(),
        _ => return None,
    };
    let settings = &engine.settings;
    let usual = match of.kind.name {
        "userFills" | "trades" => settings.feed_fills_shown,
        _ => settings.feed_rows_shown,
    };
    let most = usize::try_from(keep.map_or(usual, |keep| keep.min(usual))).unwrap_or(usize::MAX);
    let mut rows = rows_of(venue, of, &rows);
    // This one feed has its newest row first.
    if of.kind.name == "userHistoricalOrders" {
        rows.truncate(most);
    } else {
        rows.drain(..rows.len().saturating_sub(most));
    }
    Some(match rows_key(of.kind.name) {
        Some(key) => json!({"isSnapshot": true, "user": of.user_json(), key: rows}),
        None => Value::Array(rows),
    })
}

/// The messages of a feed that tell of these news.
pub(crate) fn messages(venue: &Venue, of: &Subscription, news: &[News]) -> Vec<Value> {
    match of.kind.name {
        "userEvents" => events(venue, of, news),
        "notification" => notices(venue, of, news),
        name => {
            let rows = rows_of(venue, of, news);
            if rows.is_empty() {
                return Vec::new();
            }
            vec![match rows_key(name) {
                Some(key) => json!({"user": of.user_json(), key: rows}),
                None => Value::Array(rows),
            }]
        }
    }
}

/// Where a feed's rows stand; none when the rows alone are its data.
fn rows_key(name: &str) -> Option<&'static str> {
    Some(match name {
        "userFills" => "fills",
        "userHistoricalOrders" => "orderHistory",
        "userFundings" => "fundings",
        "userNonFundingLedgerUpdates" => "nonFundingLedgerUpdates",
        "userTwapHistory" => "history",
        "userTwapSliceFills" => "twapSliceFills",
        _ => return None,
    })
}

/// The rows of one feed, in its order.
fn rows_of(venue: &Venue, of: &Subscription, news: &[News]) -> Vec<Value> {
    let engine = &venue.engine;
    let name = of.kind.name;
    if name == "trades" {
        let coin = of.text("coin");
        let fills = news.iter().filter_map(a_fill).filter(|fill| engine.coin(fill.asset) == coin);
        return fills.map(|fill| trade(venue, fill)).collect();
    }
    if !is_account(venue, of) {
        return Vec::new();
    }
    if name == "userFills" && of.flag("aggregateByTime") {
        return merged(news.iter().filter_map(a_fill)).iter().map(|entry| fill(engine, entry)).collect();
    }
    let families = Families::of(engine);
    let row = |news: &News| match (name, news) {
        ("orderUpdates", News::Order(record)) => Some(update(engine, record)),
        ("userHistoricalOrders", News::Order(record)) => Some(json!({"order": families.show(&record.order),
            "status": record.status, "statusTimestamp": record.status_ms})),
        ("userFills", News::Fill(entry)) => Some(fill(engine, entry)),
        ("userTwapSliceFills", News::Fill(entry)) => slice(engine, entry),
        ("userFundings", News::Funding(entry)) => Some(funding(engine, entry)),
        ("userNonFundingLedgerUpdates", News::Ledger(entry)) => Some(ledger_row(entry)),
        ("userTwapHistory", News::Twap(id, twap)) => Some(twap_row(engine, venue.identity.account, *id, twap)),
        _ => None,
    };
    let rows = news.iter().filter_map(row);
    if name == "userHistoricalOrders" { rows.rev().collect() } else { rows.collect() }
}

fn a_fill(news: &News) -> Option<&Fill> {
    match news {
        News::Fill(fill) => Some(fill),
        _ => None,
    }
}

fn update(engine: &Engine, record: &Record) -> Value {
    json!({"order": brief(engine, &record.order), "status": record.status, "statusTimestamp": record.status_ms})
}

fn slice(engine: &Engine, entry: &Fill) -> Option<Value> {
    entry.twap_id.map(|id| json!({"fill": fill(engine, entry), "twapId": id}))
}

fn funding(engine: &Engine, entry: &Funding) -> Value {
    json!({"time": entry.at_ms, "coin": engine.coin(entry.asset), "usdc": usd(entry.usd), "szi": num(entry.szi),
        "fundingRate": num(entry.rate), "nSamples": null})
}

/// A fill as the market sees it, by the side of whoever took.
fn trade(venue: &Venue, fill: &Fill) -> Value {
    let (account, other) = (json!(venue.identity.account), json!(OTHER_SIDE));
    let users = if fill.is_buy { [account, other] } else { [other, account] };
    json!({"coin": venue.engine.coin(fill.asset), "side": if fill.is_buy == fill.crossed { "B" } else { "A" },
        "px": num(fill.px), "sz": num(fill.sz), "time": fill.at_ms, "hash": NO_HASH, "tid": fill.tid, "users": users})
}

/// One message for each run of events of a sort, each with one key.
fn events(venue: &Venue, of: &Subscription, news: &[News]) -> Vec<Value> {
    if !is_account(venue, of) {
        return Vec::new();
    }
    let engine = &venue.engine;
    let mut runs: Vec<(&'static str, Vec<Value>)> = Vec::new();
    for item in news {
        let (key, row) = match item {
            News::Fill(entry) => match slice(engine, entry) {
                Some(slice) => ("twapSliceFills", slice),
                None => ("fills", fill(engine, entry)),
            },
            News::Order(record) if VENUE_CANCELS.contains(&record.status) => {
                ("nonUserCancel", json!({"coin": engine.coin(record.order.spec.asset), "oid": record.order.oid}))
            }
            News::Funding(entry) => ("funding", funding(engine, entry)),
            News::Twap(id, twap) => ("twapHistory", twap_row(engine, venue.identity.account, *id, twap)),
            News::Liquidation { notional, value } => (
                "liquidation",
                json!({
                    "lid": engine.now_ms, "liquidator": OTHER_SIDE, "liquidated_user": of.user_json(),
                    "liquidated_ntl_pos": usd(*notional), "liquidated_account_value": usd(*value),
                }),
            ),
            News::Order(_) | News::Ledger(_) => continue,
        };
        match runs.last_mut().filter(|run| run.0 == key && !matches!(key, "funding" | "liquidation")) {
            Some(run) => run.1.push(row),
            None => runs.push((key, vec![row])),
        }
    }
    let message = |(key, mut rows): (&'static str, Vec<Value>)| match key {
        "funding" | "liquidation" => json!({key: rows.pop()}),
        _ => json!({key: rows}),
    };
    runs.into_iter().map(message).collect()
}

/// A text for each fill of an order that rested.
fn notices(venue: &Venue, of: &Subscription, news: &[News]) -> Vec<Value> {
    let rested = news.iter().filter_map(a_fill).filter(|fill| !fill.crossed && is_account(venue, of));
    rested
        .map(|fill| {
            let did = if fill.is_buy { "Bought" } else { "Sold" };
            let (sz, coin, px) = (plain(fill.sz), venue.engine.coin(fill.asset), plain(fill.px));
            json!({"notification": format!("Resting order filled: {did} {sz} {coin} at ${px}")})
        })
        .collect()
}
