//! `/info`: every read, by its `type`.

mod account;
mod facts;
mod history;
mod market;
mod orders;

pub(super) use history::{NO_HASH, fill, funding_row, ledger_row, twap_row, twap_state};
pub(super) use market::{context, interval_ms, spot_context};
pub(super) use orders::{Families, brief};

use super::engine::Engine;
use super::show;
use super::venue::Venue;
use serde_json::{Value, json};
use svc_guard::base::address::Address;
use svc_guard::base::amount::{parse_info, to_wire};

/// An answer, or why there is none.
pub(crate) enum Answer {
    Json(Value),
    /// 422: an unknown type, or a member missing or of another type.
    Shape,
    /// 500 with the body `null`, as for a coin that does not exist.
    Failed,
}

impl Answer {
    fn of(answer: Option<Value>) -> Self {
        answer.map_or(Self::Shape, Self::Json)
    }

    /// The same with nothing in its lists.
    pub(crate) fn with_empty_lists(mut self) -> Self {
        if let Self::Json(answer) = &mut self {
            empty_lists(answer);
        }
        self
    }

    /// The same of an account that is worth so many times as much.
    pub(crate) fn with_equity_times(mut self, times: &str) -> Self {
        if let Self::Json(answer) = &mut self {
            for place in ["/marginSummary/accountValue", "/crossMarginSummary/accountValue"] {
                let told = answer.pointer_mut(place);
                let scaled =
                    told.as_ref().and_then(|told| Some(parse_info(told.as_str()?).ok()? * parse_info(times).ok()?));
                told.into_iter().zip(scaled).for_each(|(told, scaled)| *told = Value::from(to_wire(scaled)));
            }
        }
        self
    }

    /// The same as of so much later.
    pub(crate) fn with_time_later(mut self, ms: u64) -> Self {
        if let Self::Json(answer) = &mut self
            && let Some(time) = answer.get_mut("time")
        {
            *time = Value::from(time.as_u64().unwrap_or_default().saturating_add(ms));
        }
        self
    }

    /// The same with the first two markets in each other's place.
    pub(crate) fn with_swapped_markets(mut self) -> Self {
        if let Self::Json(answer) = &mut self {
            let lists = ["/universe", "/0/universe", "/1"];
            for place in lists {
                if let Some(list) = answer.pointer_mut(place).and_then(Value::as_array_mut)
                    && list.len() > 1
                {
                    list.swap(0, 1);
                }
            }
        }
        self
    }
}

/// An answer of several parts keeps them, each with nothing in its lists.
fn empty_lists(answer: &mut Value) {
    match answer {
        Value::Array(parts) if parts.iter().any(Value::is_array) => parts.iter_mut().for_each(empty_lists),
        Value::Array(items) => items.clear(),
        Value::Object(members) => members.values_mut().filter_map(Value::as_array_mut).for_each(Vec::clear),
        _ => {}
    }
}

/// Answers a read from `engine`, which is the venue's own or an older picture of it.
pub(crate) fn answer(venue: &Venue, engine: &Engine, request: &Value) -> Answer {
    let Some(kind) = request.get("type").and_then(Value::as_str) else { return Answer::Shape };
    if let Some(answer) = market::answer(engine, kind, request) {
        return answer;
    }
    let Some(user) = request.get("user").and_then(Value::as_str).and_then(show::address) else { return Answer::Shape };
    let reader = Reader { venue, engine, user, known: user == venue.identity.account };
    Answer::of(match kind {
        "clearinghouseState" => Some(account::clearinghouse(&reader, request)),
        "spotClearinghouseState" => Some(account::spot(&reader)),
        "activeAssetData" => account::active_asset(&reader, request),
        "openOrders" => Some(orders::open(&reader, request)),
        "frontendOpenOrders" => Some(orders::frontend(&reader, request)),
        "orderStatus" => orders::status(&reader, request),
        "historicalOrders" => Some(orders::historical(&reader)),
        "userFills" => Some(history::fills(&reader)),
        "userFillsByTime" => history::fills_by_time(&reader, request),
        "userFunding" => history::funding(&reader, request),
        "userNonFundingLedgerUpdates" => Some(history::ledger(&reader, request)),
        "twapHistory" => Some(history::twaps(&reader)),
        "userTwapSliceFills" => Some(history::twap_fills(&reader)),
        "portfolio" => Some(account::portfolio(&reader)),
        _ => facts::answer(&reader, kind),
    })
}

/// A read of one user's data.
pub(super) struct Reader<'a> {
    pub(super) venue: &'a Venue,
    pub(super) engine: &'a Engine,
    pub(super) user: Address,
    /// The user is the account that trades here; everybody else is an empty user.
    pub(super) known: bool,
}

/// Whether a read asks for the core perps: `dex` absent, null or empty.
pub(super) fn core_dex(request: &Value) -> bool {
    match request.get("dex") {
        None | Some(Value::Null) => true,
        Some(dex) => dex == &json!(""),
    }
}

/// A moment that a read names in milliseconds.
pub(super) fn moment(request: &Value, key: &str) -> Option<u64> {
    request.get(key).and_then(Value::as_u64)
}
