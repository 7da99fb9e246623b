//! Fills: trades of the account, as every answer and every feed shows them.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/subscriptions>, `WsFill`. The page types
//! amounts as numbers; they come as strings (observed).

use rust_decimal::Decimal;
use serde::Deserialize;

use super::info::{decimal, optional_decimal};
use super::side::Side;
use crate::base::address::Cloid;

/// A trade of the account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Fill {
    /// Coin.
    pub coin: String,
    /// Price.
    #[serde(deserialize_with = "decimal")]
    pub px: Decimal,
    /// Size, never negative.
    #[serde(deserialize_with = "decimal")]
    pub sz: Decimal,
    /// Side of the account's order.
    pub side: Side,
    /// When, UTC ms.
    pub time: u64,
    /// Signed position before it.
    #[serde(deserialize_with = "decimal")]
    pub start_position: Decimal,
    /// What closing won or lost, before fees, USDC.
    #[serde(deserialize_with = "decimal")]
    pub closed_pnl: Decimal,
    /// Order id.
    pub oid: u64,
    /// Client order id.
    #[serde(default)]
    pub cloid: Option<Cloid>,
    /// Trade id: a hash of both orders' ids, so that a trade with oneself shows the same one twice.
    pub tid: u64,
    /// Whether it took liquidity.
    pub crossed: bool,
    /// The fee in `fee_token`; negative is a rebate.
    #[serde(deserialize_with = "decimal")]
    pub fee: Decimal,
    /// The token of the fee.
    pub fee_token: String,
    /// The part of the fee that the builder of the order gets.
    #[serde(default, deserialize_with = "optional_decimal")]
    pub builder_fee: Option<Decimal>,
    /// Set where the trade liquidated somebody.
    #[serde(default)]
    pub liquidation: Option<Liquidation>,
}

/// A trade's part in a liquidation, of the account or of whom it traded with.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Liquidation {
    /// Who was liquidated.
    #[serde(default)]
    pub liquidated_user: Option<String>,
    /// The mark then.
    #[serde(deserialize_with = "decimal")]
    pub mark_px: Decimal,
    /// `market` or `backstop`.
    pub method: String,
}

/// Fills are the same one when these are: a trade id alone is not unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FillId {
    /// When, UTC ms: the first, so that the oldest can be forgotten first.
    pub time: u64,
    /// Trade id.
    pub tid: u64,
    /// Order id.
    pub oid: u64,
}

impl Fill {
    /// By what it is known.
    #[must_use]
    pub fn id(&self) -> FillId {
        FillId { time: self.time, tid: self.tid, oid: self.oid }
    }

    /// Whether something can have been traded by it: what settles at nothing does so in no perp.
    #[must_use]
    pub fn is_possible(&self) -> bool {
        let may_be_worthless = self.coin.starts_with(['@', '#', '+']) || self.coin.contains('/');
        self.sz > Decimal::ZERO && (self.px > Decimal::ZERO || self.px.is_zero() && may_be_worthless)
    }

    /// The signed position after it; `None` where no amount can hold it.
    #[must_use]
    pub fn position_after(&self) -> Option<Decimal> {
        match self.side {
            Side::Buy => self.start_position.checked_add(self.sz),
            Side::Sell => self.start_position.checked_sub(self.sz),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    fn fill(side: &str, start_position: &str, sz: &str) -> Fill {
        let text = format!(
            r#"{{"coin":"BTC","px":"80499.0","sz":"{sz}","side":"{side}","time":5,"startPosition":"{start_position}",
            "dir":"any","closedPnl":"0.0","hash":"0x","oid":7,"crossed":false,"fee":"-0.002994","tid":9,"feeToken":"USDC"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn the_position_after_it_follows_from_the_one_before() {
        assert_eq!(fill("A", "-11.86858", "0.00124").position_after(), Some(dec!(-11.86982)));
        assert_eq!(fill("B", "-1.5", "2").position_after(), Some(dec!(0.5)));
        let most = Decimal::MAX.to_string();
        assert_eq!(fill("B", &most, &most).position_after(), None);
        assert_eq!(fill("A", &format!("-{most}"), &most).position_after(), None);
    }

    #[test]
    fn the_oldest_is_first() {
        let id = |time, tid, oid| FillId { time, tid, oid };
        assert_eq!(fill("A", "1", "1").id(), id(5, 9, 7));
        assert!(id(4, 10, 10) < id(5, 9, 7) && id(5, 9, 7) < id(5, 9, 8));
    }
}
