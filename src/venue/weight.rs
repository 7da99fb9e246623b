//! The weight of requests against the venue's budget per IP address, and who may spend of it.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.

use serde_json::Value;
use thiserror::Error;

use super::history::{FILLS_A_PAGE, FUNDINGS_A_PAGE, LEDGER_A_PAGE};
use crate::base::moment::span;

/// Who spends, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Closing everything, cover for bare positions, and the reads that either needs.
    Flatten,
    /// A client's exits and cancels.
    ClientExit,
    /// The guard's own steady reads of prices, account, open orders and ledger: a floor that no client can touch.
    Read,
    /// Its other reads, and those sooner than their interval: they live on what is kept for nothing else, clients' entries
    /// included.
    EarlyRead,
    /// A client's entries, settings and whatever else is no exit.
    ClientEntry,
    /// `/info` questions passed through for clients.
    PassThrough,
}

/// How many there are.
pub(super) const PRIORITIES: usize = 6;

impl Priority {
    /// Every priority, highest first.
    pub const ALL: [Self; PRIORITIES] =
        [Self::Flatten, Self::ClientExit, Self::Read, Self::EarlyRead, Self::ClientEntry, Self::PassThrough];

    /// The priority's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flatten => "flatten",
            Self::ClientExit => "client_exit",
            Self::Read => "read",
            Self::EarlyRead => "early_read",
            Self::ClientEntry => "client_entry",
            Self::PassThrough => "pass_through",
        }
    }
}

/// Why nothing was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// There will be room after this long, unless somebody else spends first.
    #[error(
        "the venue's budget for this address has no room for it beside what is kept for the guard and others; there is room in {}", span(*ms)
    )]
    Wait {
        /// Milliseconds from the time passed in.
        ms: u64,
    },
    /// The weight is over what this priority may ever spend in one minute.
    #[error("weight {weight} is over the {most} a minute that may be spent on this; raise ip_share or ask for less")]
    TooHeavy {
        /// The weight asked for.
        weight: u32,
        /// The most this priority may spend in one minute.
        most: u32,
    },
}

/// So many items of a batch weigh as much as one request more.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const ITEMS_A_WEIGHT: usize = 40;

/// Candles that the venue gives at once.
const CANDLES_A_PAGE: usize = 5_000;

/// Weight of an `/exchange` request whose batch has `batch` items: `1 + batch/40`, rounded down.
#[must_use]
pub fn exchange_weight(batch: usize) -> u32 {
    u32::try_from(batch / ITEMS_A_WEIGHT).unwrap_or(u32::MAX).saturating_add(1)
}

/// Weight of an `/info` question of this type, without what its answer's length adds.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_weight(kind: &str) -> u32 {
    match kind {
        "l2Book" | "allMids" | "clearinghouseState" | "orderStatus" | "spotClearinghouseState" | "exchangeStatus" => 2,
        "userRole" => 60,
        _ => 20,
    }
}

/// Weight that the length of an `/info` answer adds: known only once it is here, so it is charged to the ledger then.
/// `userNonFundingLedgerUpdates` is counted like the page's `nonUserFundingUpdates`, which no question is named.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_extra(kind: &str, items: usize) -> u32 {
    let items_a_weight = match kind {
        "recentTrades"
        | "historicalOrders"
        | "userFills"
        | "userFillsByTime"
        | "fundingHistory"
        | "userFunding"
        | "userNonFundingLedgerUpdates"
        | "nonUserFundingUpdates"
        | "twapHistory"
        | "userTwapSliceFills"
        | "userTwapSliceFillsByTime"
        | "delegatorHistory"
        | "delegatorRewards"
        | "validatorStats" => 20,
        "candleSnapshot" => 60,
        _ => return 0,
    };
    u32::try_from(items / items_a_weight).unwrap_or(u32::MAX)
}

/// The most that the length of the answer to an `/info` question can add: the venue gives so many rows at once.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint>.
#[must_use]
pub fn info_most_extra(question: &Value) -> u32 {
    let kind = question.get("type").and_then(Value::as_str).unwrap_or_default();
    let rows = match kind {
        "candleSnapshot" => most_candles(question).unwrap_or(CANDLES_A_PAGE).min(CANDLES_A_PAGE),
        "userFunding" | "fundingHistory" => FUNDINGS_A_PAGE,
        "userNonFundingLedgerUpdates" | "nonUserFundingUpdates" => LEDGER_A_PAGE,
        _ => FILLS_A_PAGE,
    };
    info_extra(kind, rows)
}

/// The candles between the times of a question, where it says both: those that it begins and ends in are two of them.
fn most_candles(question: &Value) -> Option<usize> {
    let asked = question.get("req")?;
    let time = |key: &str| asked.get(key).and_then(Value::as_u64);
    let interval = asked.get("interval")?.as_str()?;
    let (count, unit) = interval.split_at_checked(interval.len().checked_sub(1)?)?;
    let unit_ms: u64 = match unit {
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    let every_ms = count.parse::<u64>().ok()?.checked_mul(unit_ms)?;
    let lasts_ms = time("endTime")?.checked_sub(time("startTime")?)?;
    usize::try_from(lasts_ms.checked_div(every_ms)?.saturating_add(2)).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn weights_follow_the_venue() {
        assert_eq!([0, 1, 39, 40, 79, 80].map(exchange_weight), [1, 1, 1, 2, 2, 3]);
        assert_eq!(["allMids", "userRole", "meta", "neverHeardOf"].map(info_weight), [2, 60, 20, 20]);
        assert_eq!([0, 19, 20, 40].map(|n| info_extra("userFills", n)), [0, 0, 1, 2]);
        assert_eq!(info_extra("candleSnapshot", 60), 1);
        assert_eq!(info_extra("meta", 10_000), 0);
        let kinds = ["userFills", "candleSnapshot", "userFunding", "userNonFundingLedgerUpdates", "meta"];
        assert_eq!(kinds.map(|kind| info_most_extra(&json!({"type": kind}))), [100, 83, 25, 25, 0]);
    }

    #[test]
    fn candles_weigh_what_their_times_have_room_for() {
        let most = |req: Value| info_most_extra(&json!({"type": "candleSnapshot", "req": req}));
        let between = |interval: &str, lasts_ms: u64| {
            most(json!({"interval": interval, "startTime": 1_000, "endTime": 1_000 + lasts_ms}))
        };
        // 59 and 60 candles, and as many as there ever are.
        assert_eq!([57 * 60_000 + 59_999, 58 * 60_000].map(|lasts_ms| between("1m", lasts_ms)), [0, 1]);
        assert_eq!([0, 58 * 3_600_000].map(|lasts_ms| between("1h", lasts_ms)), [0, 1]);
        assert_eq!(between("1d", u64::MAX - 1_000), 83);
        assert_eq!(between("15m", 15 * 58 * 60_000), 1);
        // What cannot be told is as much as there ever is: so is what the venue may read in another way.
        for interval in ["1w", "1M", "m", "", "0m", "ä", "x"] {
            assert_eq!(between(interval, 60_000), 83, "{interval}");
        }
        assert_eq!(most(json!({"interval": "1m", "startTime": 1_000})), 83);
        assert_eq!(most(json!({"interval": "1m", "startTime": 1_000, "endTime": 999})), 83);
        assert_eq!(most(json!({"interval": "1m", "startTime": "0", "endTime": 999})), 83);
        assert_eq!(most(json!({"interval": "1m", "startTime": -1, "endTime": 999})), 83);
    }
}
