//! `POST /sim` moves the venue's world, `GET /sim` tells the truth about it.
//!
//! | op | members |
//! |---|---|
//! | `price` | `coin`, `px` (mid and mark), `mark`? (the mark apart) |
//! | `book` | `coin`, `spread`? (full width, in USDC), `depth`? (base units a level, "0" for none); null: the default |
//! | `deposit`, `withdraw` | `usd`, `ledger_delay_ms`? |
//! | `ledger` | `delta`, `usd`? (how the cash moves by it, with its sign), `ledger_delay_ms`? |
//! | `position` | `coin`, `szi`, `entry_px`: trades the difference to `szi` at that price, without a fee |
//! | `fill` | `coin`, `side`, `px`, `sz`, `start`, `closed_pnl`, `fee`, `fee_token`, `builder_fee`?: one of a market that is not traded here |
//! | `order` | a wire order's members, or `order`: one or an array, with `grouping`?; the result is the statuses |
//! | `list` | `coin`, `px`: a perp that was not there before |
//! | `setting` | `name`, `value`; the names stand in `GET /sim` |
//! | `fault` | `on`, `kind`, `times`? (1), `ms`?, `text`?; see [`Kind`] |
//! | `clock` | `advance_ms`, `sockets`? (true: they have been idle for as long) |
//! | `feed` | `kind`, `on`?, `coin`?, `times`?, `ms`? and others; see [`troubles`](super::feed::troubles) |
//! | `clear` | takes all faults away, and the feed's troubles |
//!
//! Amounts are decimal strings. `GET /sim?since=N` leaves out exchange requests before index `N`.

use super::actions;
use super::engine::fill::{Elsewhere, Trade};
use super::engine::order::{Grouping, Order};
use super::faults::{Fault, Kind};
use super::feed;
use super::http::{self, Reply};
use super::info::{Families, fill, funding_row, ledger_row};
use super::service::Service;
use super::show::{plain, usd};
use super::venue::Venue;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use std::sync::Arc;
use svc_guard::base::amount::parse_wire;
use svc_guard::venue::json::parse;
use svc_guard::venue::order;

/// Does one control object or an array of them, in order; stops at the first that cannot be done.
pub(crate) fn post(service: &Service, body: &[u8]) -> Reply {
    let outcome = serde_json::from_slice::<Value>(body).map_err(|error| error.to_string());
    match outcome.and_then(|asked| apply(&mut service.venue(), &asked)) {
        Ok(results) => http::json(200, &json!({"ok": true, "results": results})),
        Err(text) => http::json(400, &json!({"ok": false, "error": text})),
    }
}

/// As [`post`], without the HTTP.
pub(crate) fn apply(venue: &mut Venue, asked: &Value) -> Result<Vec<Value>, String> {
    let ops = match asked {
        Value::Array(ops) => ops.as_slice(),
        one => std::slice::from_ref(one),
    };
    ops.iter().enumerate().map(|(index, op)| one(venue, op).map_err(|text| format!("op {index}: {text}"))).collect()
}

fn one(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let name = op.get("op").and_then(Value::as_str).ok_or("missing `op`")?;
    match name {
        "price" => {
            let px = positive(op, "px")?;
            let mark = if op.get("mark").is_some() { positive(op, "mark")? } else { px };
            let coin = text(op, "coin")?;
            if venue.engine.set_price(coin, px, mark) { Ok(Value::Null) } else { Err(no_coin(coin)) }
        }
        "book" => book(venue, op),
        "deposit" | "withdraw" => {
            let amount = positive(op, "usd")?;
            let signed = if name == "deposit" { amount } else { -amount };
            venue.engine.deposit(signed, whole(op, "ledger_delay_ms")?.unwrap_or(0));
            Ok(Value::Null)
        }
        "funding" => {
            venue.engine.pay_funding(positive(op, "rate")?);
            Ok(Value::Null)
        }
        "ledger" => {
            let usd = op.get("usd").and_then(Value::as_str).unwrap_or("0");
            let usd: Decimal = usd.parse().map_err(|_| "`usd`: a decimal")?;
            let delta = op.get("delta").cloned().ok_or("missing `delta`")?;
            venue.engine.note_in_ledger(usd, whole(op, "ledger_delay_ms")?.unwrap_or(0), Some(delta));
            Ok(Value::Null)
        }
        "position" => {
            let asset = asset(venue, op)?;
            let szi = text(op, "szi")?;
            let size = parse_wire(szi.strip_prefix('-').unwrap_or(szi)).map_err(|error| format!("`szi`: {error}"))?;
            let signed = if szi.starts_with('-') { -size } else { size };
            venue.engine.trade_by_hand(asset, signed, positive(op, "entry_px")?);
            Ok(Value::Null)
        }
        "fill" => fill_elsewhere(venue, op),
        "order" => manual_order(venue, op),
        "foreign_order" => {
            let order = json!({
                "coin": text(op, "coin")?, "side": "B", "limitPx": text(op, "px")?, "sz": text(op, "sz")?, "oid": 1,
                "timestamp": venue.engine.now_ms, "triggerCondition": "N/A", "isTrigger": false, "triggerPx": "0.0",
                "children": [], "isPositionTpsl": false, "reduceOnly": false, "orderType": "Limit",
                "origSz": text(op, "sz")?, "tif": "Gtc", "cloid": null,
            });
            venue.engine.foreign_orders.push(order);
            Ok(Value::Null)
        }
        "list" => {
            let name = text(op, "coin")?.to_owned();
            venue.engine.list(name.leak(), positive(op, "px")?);
            Ok(Value::Null)
        }
        "unlist" => {
            let coin = text(op, "coin")?;
            if venue.engine.unlist(coin) { Ok(Value::Null) } else { Err(format!("`{coin}` was not listed last")) }
        }
        "setting" => {
            let value = op.get("value").ok_or("missing `value`")?;
            venue.engine.settings.set(text(op, "name")?, value).map_err(|error| error.to_string())?;
            Ok(Value::Null)
        }
        "fault" => fault(venue, op),
        "feed" => feed::strike(venue, op),
        "clock" => {
            let advance_ms = whole(op, "advance_ms")?.ok_or("missing `advance_ms`")?;
            venue.clock_ahead_ms = venue.clock_ahead_ms.saturating_add(advance_ms);
            if op.get("sockets").and_then(Value::as_bool) != Some(true) {
                venue.feeds.sit_out(advance_ms);
            }
            venue.tick();
            Ok(json!({"now_ms": venue.engine.now_ms}))
        }
        "clear" => {
            venue.faults.clear();
            venue.feeds.heal();
            Ok(Value::Null)
        }
        other => Err(format!(
            "no op `{other}`; there are price, book, deposit, withdraw, ledger, position, fill, order, foreign_order, list, unlist, setting, fault, feed, clock, clear"
        )),
    }
}

/// Spread and depth of a book; null is the default, absent leaves it as it is.
fn book(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let asset = asset(venue, op)?;
    let read = |key: &str| match op.get(key) {
        None => Ok(None),
        Some(Value::Null) => Ok(Some(None)),
        Some(_) => amount(op, key).map(|value| Some(Some(value))),
    };
    let (spread, depth) = (read("spread")?, read("depth")?);
    if let Some(market) = venue.engine.market_mut(asset) {
        market.spread = spread.unwrap_or(market.spread);
        market.depth = depth.unwrap_or(market.depth);
    }
    Ok(Value::Null)
}

/// A fill of another dex or of a pair of tokens.
fn fill_elsewhere(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let signed = |key: &str| text(op, key)?.parse::<Decimal>().map_err(|_| format!("`{key}`: a decimal"));
    let is_buy = text(op, "side")? == "B";
    let trade = Trade { asset: u32::MAX, is_buy, px: positive(op, "px")?, sz: positive(op, "sz")?, crossed: true };
    let builder_fee = op.get("builder_fee").map(|_| signed("builder_fee")).transpose()?;
    let (coin, fee_token) = (text(op, "coin")?.to_owned(), text(op, "fee_token")?.to_owned());
    let amounts = [signed("start")?, signed("closed_pnl")?, signed("fee")?];
    venue.engine.fill_elsewhere(trade, Elsewhere { coin, fee_token, builder_fee }, amounts);
    Ok(Value::Null)
}

/// Orders by hand: the account's owner at the venue's own page.
fn manual_order(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let mut bare = op.clone();
    if let Some(members) = bare.as_object_mut() {
        members.remove("op");
    }
    let orders = match op.get("order") {
        Some(Value::Array(orders)) => orders.as_slice(),
        Some(order) => std::slice::from_ref(order),
        None => std::slice::from_ref(&bare),
    };
    let parse = |order: &Value| {
        let node = parse(order.to_string().as_bytes())?;
        order::Order::parse(&node, "order").map(|order| actions::spec(&order)).map_err(|error| error.to_string())
    };
    let specs = orders.iter().map(parse).collect::<Result<Vec<_>, String>>()?;
    let grouping = match op.get("grouping").and_then(Value::as_str).unwrap_or("na") {
        "na" => Grouping::Na,
        "normalTpsl" => Grouping::NormalTpsl,
        "positionTpsl" => Grouping::PositionTpsl,
        other => return Err(format!("no grouping `{other}`")),
    };
    Ok(venue.engine.place_batch(specs, grouping).iter().map(actions::status).collect())
}

fn fault(venue: &mut Venue, op: &Value) -> Result<Value, String> {
    let name = text(op, "kind")?;
    let kind = Kind::parse(name).ok_or_else(|| format!("no fault `{name}`; there are {}", Kind::names()))?;
    let picture = (kind == Kind::Stale).then(|| Arc::new(venue.engine.clone()));
    venue.faults.set(Fault {
        on: text(op, "on")?.to_owned(),
        kind,
        times: whole(op, "times")?.unwrap_or(1).max(1),
        ms: whole(op, "ms")?,
        text: op.get("text").and_then(Value::as_str).map(Into::into),
        picture,
    });
    Ok(Value::Null)
}

fn text<'a>(op: &'a Value, key: &str) -> Result<&'a str, String> {
    op.get(key).and_then(Value::as_str).ok_or_else(|| format!("`{key}`: a string"))
}

/// A whole number, if it is there.
fn whole(op: &Value, key: &str) -> Result<Option<u64>, String> {
    match op.get(key).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or_else(|| format!("`{key}`: a whole number")),
    }
}

fn amount(op: &Value, key: &str) -> Result<Decimal, String> {
    parse_wire(text(op, key)?).map_err(|error| format!("`{key}`: {error}"))
}

fn positive(op: &Value, key: &str) -> Result<Decimal, String> {
    let value = amount(op, key)?;
    if value.is_zero() { Err(format!("`{key}`: more than zero")) } else { Ok(value) }
}

fn asset(venue: &Venue, op: &Value) -> Result<u32, String> {
    let coin = text(op, "coin")?;
    venue.engine.asset(coin).ok_or_else(|| no_coin(coin))
}

fn no_coin(coin: &str) -> String {
    format!("no coin `{coin}` is listed")
}

/// Everything there is to know; exchange requests from index `since` on.
pub(crate) fn truth(venue: &mut Venue, since: u64) -> Value {
    let now_ms = venue.engine.now_ms;
    let weight_used = venue.weights.used(now_ms);
    let feeds = venue.feeds.show(now_ms);
    let engine = &venue.engine;
    let (all, cross) = (engine.summary(false), engine.summary(true));
    let families = Families::of(engine);
    let positions = engine.account.positions.iter().map(|(&asset, held)| {
        json!({
            "coin": engine.coin(asset), "szi": plain(held.szi), "entry_px": plain(held.entry_px),
            "mark_px": plain(engine.mark(asset)), "unrealized_pnl": usd(held.unrealized_pnl(engine.mark(asset))),
            "liquidation_px": engine.liquidation_px(asset, held).map(usd), "isolated": held.isolated_usd.is_some(),
        })
    });
    let prices = engine
        .markets
        .iter()
        .map(|market| (market.name.to_owned(), json!({"mid": plain(market.mid), "mark": plain(market.mark)})));
    json!({
        "now_ms": now_ms,
        "account": {
            "address": venue.identity.account, "master": venue.identity.master, "agents": venue.identity.agents,
            "account_value": usd(all.account_value), "cross_value": usd(cross.account_value),
            "margin_used": usd(all.margin_used), "free_margin": usd(engine.free_margin()),
            "maintenance": usd(engine.cross_maintenance()), "volume": usd(engine.volume()),
            "requests_used": venue.requests_used(),
        },
        "positions": positions.collect::<Vec<_>>(),
        "orders": engine.orders.values().map(|order| live_order(&families, order)).collect::<Vec<_>>(),
        "fills": engine.fills.iter().map(|entry| fill(engine, entry)).collect::<Vec<_>>(),
        "funding": engine.funding.iter().map(|entry| funding_row(engine, entry)).collect::<Vec<_>>(),
        "ledger": engine.ledger.iter().map(ledger_row).collect::<Vec<_>>(),
        "twaps": engine.twaps.iter().map(|(id, twap)| json!({"id": id, "status": twap.status})).collect::<Vec<_>>(),
        "prices": prices.collect::<serde_json::Map<_, _>>(),
        "leverage": engine.account.leverage.iter().map(|(&asset, set)| {
            (engine.coin(asset), json!({"is_cross": set.is_cross, "value": set.value}))
        }).collect::<serde_json::Map<_, _>>(),
        "settings": engine.settings.show(),
        "faults": venue.faults.show(),
        "feed": feeds,
        "weight_used": weight_used,
        "reads": venue.reads,
        "requests": venue.seen_since(since),
    })
}

/// An order as its reads show it, with where it stands and whose child it is.
fn live_order(families: &Families<'_>, order: &Order) -> Value {
    let mut shown = families.show(order);
    if let Some(members) = shown.as_object_mut() {
        members.insert("stage".into(), json!(order.stage.name()));
        members.insert("parent".into(), json!(order.parent));
    }
    shown
}
