//! The market feeds: prices, books, trades, candles and contexts.

use super::super::engine::market::Market;
use super::super::info::{context, interval_ms, spot_context};
use super::super::show::num;
use super::super::venue::Venue;
use super::deflate;
use super::states::ask;
use super::subscription::Subscription;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};
use svc_guard::base::amount::parse_info;

/// Levels of a side in a `fast` book.
const FAST_LEVELS: usize = 5;
/// The spot pair, which has a context and no book here.
pub(crate) const SPOT_PAIR: &str = "PURR/USDC";

/// Whether a coin may be subscribed to.
pub(crate) fn is_listed(venue: &Venue, coin: &str) -> bool {
    coin == SPOT_PAIR || venue.engine.asset(coin).is_some()
}

/// The data of a market feed's message; `said` is that of its last one. None when there is nothing to say.
pub(crate) fn content(venue: &Venue, of: &Subscription, said: Option<&Value>) -> Option<Value> {
    let engine = &venue.engine;
    let all = || engine.markets.iter().map(|market| context(engine, market)).collect::<Vec<_>>();
    let core = of.text("dex").is_empty();
    Some(match of.kind.name {
        "allMids" => mids(venue, of)?,
        "l2Book" => book(venue, of)?,
        "bbo" => bbo(venue, market(venue, of)?),
        "candle" => candle(venue, market(venue, of)?, of, said)?,
        "activeAssetCtx" if of.text("coin") == SPOT_PAIR => json!({"coin": SPOT_PAIR, "ctx": spot_context()}),
        "activeAssetCtx" => json!({"coin": of.text("coin"), "ctx": context(engine, market(venue, of)?)}),
        "assetCtxs" => json!({"dex": of.text("dex"), "ctxs": if core { all() } else { Vec::new() }}),
        "spotAssetCtxs" => json!([spot_context()]),
        "allDexsAssetCtxs" => json!({"ctxs": [["", all()]]}),
        _ => return None,
    })
}

/// The channel of a feed's messages.
pub(crate) fn channel(of: &Subscription) -> &'static str {
    if of.kind.name == "activeAssetCtx" && of.text("coin") == SPOT_PAIR {
        return "activeSpotAssetCtx";
    }
    of.kind.channel
}

fn market<'a>(venue: &'a Venue, of: &Subscription) -> Option<&'a Market> {
    let coin = of.text("coin");
    venue.engine.markets.iter().find(|market| market.name == coin)
}

fn mids(venue: &Venue, of: &Subscription) -> Option<Value> {
    let mids = ask(venue, of, "allMids")?;
    Some(match of.normal.get("dex") {
        Some(dex) => json!({"dex": dex, "mids": mids}),
        None => json!({"mids": mids}),
    })
}

fn book(venue: &Venue, of: &Subscription) -> Option<Value> {
    let mut book = ask(venue, of, "l2Book").filter(Value::is_object)?;
    if of.flag("fast") {
        for side in book.get_mut("levels").and_then(Value::as_array_mut).into_iter().flatten() {
            side.as_array_mut()?.truncate(FAST_LEVELS);
        }
        book.as_object_mut()?.insert("fast".into(), json!(true));
    }
    Some(book)
}

fn bbo(venue: &Venue, market: &Market) -> Value {
    let best = |is_buy| match market.levels(is_buy).first() {
        Some(&(px, sz)) => json!({"px": num(px), "sz": num(sz), "n": 1}),
        None => Value::Null,
    };
    json!({"coin": market.name, "time": venue.engine.now_ms, "bbo": [best(false), best(true)]})
}

/// The candle of now. It opens at the mid at which it is first told of, and has no volume.
fn candle(venue: &Venue, market: &Market, of: &Subscription, said: Option<&Value>) -> Option<Value> {
    let every_ms = interval_ms(of.text("interval"))?;
    let from_ms = venue.engine.now_ms / every_ms * every_ms;
    let said = said.filter(|said| said.get("t") == Some(&json!(from_ms)));
    let was = |key: &str| -> Option<Decimal> { parse_info(said?.get(key)?.as_str()?).ok() };
    let mid = market.mid;
    let (open, high, low) = (was("o").unwrap_or(mid), was("h").unwrap_or(mid), was("l").unwrap_or(mid));
    Some(json!({
        "t": from_ms, "T": from_ms.saturating_add(every_ms - 1), "s": market.name, "i": of.text("interval"),
        "o": num(open), "c": num(mid), "h": num(high.max(mid)), "l": num(low.min(mid)), "v": "0.0", "n": 0,
    }))
}

/// Marks and mids that are not as `known` has them any more, in the venue's compressed form; none when all are.
pub(crate) fn fast_contexts(venue: &Venue, known: &mut Map<String, Value>) -> Option<Value> {
    let mut news = Map::new();
    for market in &venue.engine.markets {
        let mid = if market.delisted { Value::Null } else { json!(num(market.mid)) };
        let now = json!({"markPx": num(market.mark), "midPx": mid});
        let was = known.insert(market.name.into(), now.clone());
        let changed = |(key, value): &(String, Value)| was.as_ref().and_then(|was| was.get(key)) != Some(value);
        let changes: Map<_, _> = now.as_object().cloned().unwrap_or_default().into_iter().filter(changed).collect();
        if !changes.is_empty() {
            news.insert(market.name.into(), Value::Object(changes));
        }
    }
    (!news.is_empty()).then(|| json!(deflate::packed(Value::Object(news).to_string().as_bytes())))
}
