//! Reads about the markets, the same for everybody.

use super::super::engine::Engine;
use super::super::engine::market::Market;
use super::super::show::{num, plain};
use super::{Answer, core_dex, moment};
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

/// Most candles in one answer.
const MAX_CANDLES: u64 = 5_000;
/// Funding that a market shows while none is charged: the live venue's base rate.
const QUIET_FUNDING: &str = "0.0000125";
const SPOT_PX: &str = "0.2";

/// The answer to a read about markets; none when `kind` is not one of these.
pub(super) fn answer(engine: &Engine, kind: &str, request: &Value) -> Option<Answer> {
    let core = core_dex(request);
    Some(Answer::Json(match kind {
        "meta" if core => meta(engine),
        "metaAndAssetCtxs" if core => json!([meta(engine), contexts(engine)]),
        "allMids" if core => mids(engine),
        // No builder-deployed dex is listed.
        "meta" | "metaAndAssetCtxs" | "allMids" => return Some(Answer::Failed),
        "allPerpMetas" => json!([meta(engine)]),
        "spotMeta" => spot_meta(),
        "spotMetaAndAssetCtxs" => json!([spot_meta(), [spot_context()]]),
        "perpDexs" => json!([null]),
        "outcomeMeta" => json!({"outcomes": [], "questions": []}),
        "exchangeStatus" => json!({"specialStatuses": null, "time": engine.now_ms}),
        "maxMarketOrderNtls" => json!([[25, "15000000.0"], [20, "5000000.0"], [10, "2000000.0"], [1, "500000.0"]]),
        "l2Book" => return Some(book(engine, request)),
        "candleSnapshot" => return Some(candles(engine, request)),
        "recentTrades" => return Some(coin(engine, request).map_or(Answer::Failed, |_| Answer::Json(json!([])))),
        "fundingHistory" => return Some(coin(engine, request).map_or(Answer::Failed, |_| Answer::Json(json!([])))),
        "vaultSummaries" | "predictedFundings" | "perpsAtOpenInterestCap" => json!([]),
        _ => return None,
    }))
}

fn coin<'a>(engine: &'a Engine, request: &Value) -> Option<&'a Market> {
    let name = request.get("coin")?.as_str()?;
    engine.markets.iter().find(|market| market.name == name)
}

fn meta(engine: &Engine) -> Value {
    let entry = |market: &Market| {
        let mut entry = Map::new();
        entry.insert("szDecimals".into(), json!(market.sz_decimals));
        entry.insert("name".into(), json!(market.name));
        entry.insert("maxLeverage".into(), json!(market.max_leverage));
        entry.insert("marginTableId".into(), json!(market.margin_table_id));
        if market.only_isolated {
            entry.insert("onlyIsolated".into(), json!(true));
        }
        if market.delisted {
            entry.insert("isDelisted".into(), json!(true));
        }
        if market.only_isolated {
            entry.insert("marginMode".into(), json!("strictIsolated"));
        }
        Value::Object(entry)
    };
    let table = |market: &Market| {
        let tier = |(lower, max): &(u64, u32)| json!({"lowerBound": num(Decimal::from(*lower)), "maxLeverage": max});
        let description = if market.tiers.len() > 1 { format!("tiered {}x", market.max_leverage) } else { "".into() };
        let tiers: Vec<Value> = market.tiers.iter().map(tier).collect();
        json!([market.margin_table_id, {"description": description, "marginTiers": tiers}])
    };
    let mut tables: Vec<Value> = engine.markets.iter().map(table).collect();
    tables.dedup_by(|a, b| a.get(0) == b.get(0));
    json!({
        "universe": engine.markets.iter().map(entry).collect::<Vec<_>>(),
        "marginTables": tables,
        "collateralToken": 0,
    })
}

fn contexts(engine: &Engine) -> Vec<Value> {
    engine.markets.iter().map(|market| context(engine, market)).collect()
}

/// A market's prices and rates.
pub(crate) fn context(engine: &Engine, market: &Market) -> Value {
    let rate = engine.settings.funding_rate;
    let funding = if rate.is_zero() { QUIET_FUNDING.to_owned() } else { num(rate) };
    let impact = market.bbo().map(|(bid, ask)| json!([num(bid), num(ask)])).unwrap_or_default();
    json!({
        "funding": funding, "openInterest": "0.0", "prevDayPx": num(market.mid), "dayNtlVlm": "0.0",
        "premium": "0.0", "oraclePx": num(market.mark), "markPx": num(market.mark),
        "midPx": if market.delisted { Value::Null } else { json!(num(market.mid)) },
        "impactPxs": impact, "dayBaseVlm": "0.0",
    })
}

fn mids(engine: &Engine) -> Value {
    let listed = engine.markets.iter().filter(|market| !market.delisted);
    let perps = listed.map(|market| (market.name.to_owned(), json!(num(market.mid))));
    // Those of spot pairs are among the core perps'.
    Value::Object(perps.chain([("PURR/USDC".to_owned(), json!(SPOT_PX))]).collect())
}

fn spot_meta() -> Value {
    let token = |name: &str, sz: u32, wei: u32, index: u32, id: &str| {
        json!({"name": name, "szDecimals": sz, "weiDecimals": wei, "index": index, "tokenId": id,
            "isCanonical": true, "evmContract": null, "fullName": null, "deployerTradingFeeShare": "0.0"})
    };
    json!({
        "universe": [{"tokens": [1, 0], "name": "PURR/USDC", "index": 0, "isCanonical": true}],
        "tokens": [
            token("USDC", 8, 8, 0, "0x6d1e7cde53ba9467b783cb7c530ce054"),
            token("PURR", 0, 5, 1, "0xc1fb593aeffbeb02f85e0308e9956a90"),
        ],
    })
}

/// The one spot pair, which is listed and not traded.
pub(crate) fn spot_context() -> Value {
    json!({"prevDayPx": SPOT_PX, "dayNtlVlm": "0.0", "markPx": SPOT_PX, "midPx": SPOT_PX, "circulatingSupply": "600000000.0",
        "coin": "PURR/USDC", "totalSupply": "600000000.0", "dayBaseVlm": "0.0"})
}

fn book(engine: &Engine, request: &Value) -> Answer {
    let figures = request.get("nSigFigs").filter(|figures| !figures.is_null());
    if figures.is_some_and(|figures| !matches!(figures.as_u64(), Some(2..=5))) {
        return Answer::Failed;
    }
    let Some(market) = coin(engine, request) else { return Answer::Json(Value::Null) };
    let side = |is_buy| -> Vec<Value> {
        let level = |(px, sz): (Decimal, Decimal)| json!({"px": num(px), "sz": num(sz), "n": 1});
        market.levels(is_buy).into_iter().map(level).collect()
    };
    let mut book = json!({"coin": market.name, "time": engine.now_ms, "levels": [side(false), side(true)]});
    if let (Some(_), Some(members), Some((bid, ask))) = (figures, book.as_object_mut(), market.bbo()) {
        members.insert("spread".into(), json!(num(ask - bid)));
    }
    Answer::Json(book)
}

/// Flat candles at the mid: there is no price history here.
fn candles(engine: &Engine, request: &Value) -> Answer {
    let Some(asked) = request.get("req") else { return Answer::Shape };
    let Some(interval) = asked.get("interval").and_then(Value::as_str) else { return Answer::Shape };
    let (Some(market), Some(every_ms)) = (coin(engine, asked), interval_ms(interval)) else { return Answer::Failed };
    let Some(start_ms) = moment(asked, "startTime") else { return Answer::Shape };
    let end_ms = moment(asked, "endTime").unwrap_or(engine.now_ms).min(engine.now_ms);
    let first = start_ms.div_ceil(every_ms).max((end_ms / every_ms).saturating_sub(MAX_CANDLES - 1));
    let px = plain(market.mid);
    let candle = |index: u64| {
        let from_ms = index.saturating_mul(every_ms);
        json!({"t": from_ms, "T": from_ms.saturating_add(every_ms - 1), "s": market.name, "i": interval, "o": px,
            "c": px, "h": px, "l": px, "v": "0.0", "n": 0})
    };
    Answer::Json((first..=end_ms / every_ms).map(candle).collect())
}

/// How long a candle is.
pub(crate) fn interval_ms(interval: &str) -> Option<u64> {
    const MINUTE: u64 = 60_000;
    const DAY: u64 = 1_440 * MINUTE;
    Some(match interval {
        "1m" => MINUTE,
        "3m" => 3 * MINUTE,
        "5m" => 5 * MINUTE,
        "15m" => 15 * MINUTE,
        "30m" => 30 * MINUTE,
        "1h" => 60 * MINUTE,
        "2h" => 120 * MINUTE,
        "4h" => 240 * MINUTE,
        "8h" => 480 * MINUTE,
        "12h" => 720 * MINUTE,
        "1d" => DAY,
        "3d" => 3 * DAY,
        "1w" => 7 * DAY,
        "1M" => 30 * DAY,
        _ => return None,
    })
}
