//! Core perpetual markets: their names, ticks, lots and limits.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::Deserialize;

use crate::base::amount::MAX_DECIMALS;

/// A price has at most this many significant figures, unless it is an integer.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size>.
const MAX_FIGURES: i32 = 5;
/// A perpetual's price has at most this many decimals, less its size decimals.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size>.
const PRICE_DECIMALS: u32 = 6;
/// Core perps have asset ids below this; spot and builder-deployed markets above.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids>.
pub const FIRST_NON_CORE_ASSET: u32 = 10_000;
/// Builder-deployed perps have asset ids from this on, below outcomes. The page gives the formula
/// `100000 + perp_dex_index * 10000 + index_in_meta`. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids>.
pub const FIRST_BUILDER_PERP: u32 = 100_000;
/// Outcome markets have asset ids from this on. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/asset-ids>.
pub const FIRST_OUTCOME: u32 = 100_000_000;
/// The venue refuses orders of less notional than this, USDC. Whether it lets a smaller position be closed no page says.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/error-responses>.
pub const MIN_NOTIONAL: Decimal = Decimal::TEN;

/// A core perpetual market.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Market {
    /// Asset id: its index in the universe.
    pub asset: u32,
    /// Name, such as `BTC`.
    pub coin: String,
    /// Decimals of a size.
    pub size_decimals: u32,
    /// Highest leverage the venue offers; its half is the maintenance leverage.
    pub max_leverage: u32,
    /// No longer traded; it keeps its place in the universe.
    pub is_delisted: bool,
    /// Accepts isolated margin only.
    pub only_isolated: bool,
}

/// The markets in the venue's order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Universe {
    markets: Vec<Market>,
    by_coin: BTreeMap<String, u32>,
}

/// Which way an amount is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toward {
    /// To the next lower value allowed.
    Down,
    /// To the next higher value allowed.
    Up,
}

impl Toward {
    fn strategy(self) -> RoundingStrategy {
        match self {
            Toward::Down => RoundingStrategy::ToNegativeInfinity,
            Toward::Up => RoundingStrategy::ToPositiveInfinity,
        }
    }
}

impl Market {
    /// Whether `px` stands on the tick: at most five significant figures and `6 - size_decimals` decimals, or an
    /// integer. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size>.
    #[must_use]
    pub fn is_price(&self, px: Decimal) -> bool {
        px > Decimal::ZERO && px.normalize().scale() <= self.price_decimals(px)
    }

    /// Whether `size` stands on the lot. Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/tick-and-lot-size>.
    #[must_use]
    pub fn is_size(&self, size: Decimal) -> bool {
        size > Decimal::ZERO && size.normalize().scale() <= self.size_decimals
    }

    /// `px` rounded to the tick.
    #[must_use]
    pub fn round_price(&self, px: Decimal, toward: Toward) -> Decimal {
        px.round_dp_with_strategy(self.price_decimals(px), toward.strategy()).normalize()
    }

    /// The next price beyond `px`; 0 under the lowest.
    #[must_use]
    pub fn next_price(&self, px: Decimal, toward: Toward) -> Decimal {
        let rounded = self.round_price(px, toward);
        if rounded != px {
            return rounded;
        }
        let tick = Decimal::new(1, self.price_decimals(px));
        match toward {
            Toward::Down => px.saturating_sub(tick),
            Toward::Up => px.saturating_add(tick),
        }
        .normalize()
    }

    /// `size` cut to the lot.
    #[must_use]
    pub fn floor_size(&self, size: Decimal) -> Decimal {
        size.round_dp_with_strategy(self.size_decimals, RoundingStrategy::ToZero).normalize()
    }

    /// The smallest size.
    #[must_use]
    pub fn lot(&self) -> Decimal {
        Decimal::new(1, self.size_decimals.min(MAX_DECIMALS))
    }

    /// The share of a position's notional that is its maintenance margin: half of the margin at the market's highest
    /// leverage, whatever leverage is set (first tier).
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/margining>.
    #[must_use]
    pub fn maintenance_rate(&self) -> Decimal {
        let twice = Decimal::from(self.max_leverage.max(1)).saturating_mul(Decimal::TWO);
        Decimal::ONE.checked_div(twice).unwrap_or(Decimal::ONE)
    }

    /// Decimals that a price near `px` may have.
    fn price_decimals(&self, px: Decimal) -> u32 {
        let by_figures = u32::try_from(MAX_FIGURES - 1 - exponent(px)).unwrap_or(0);
        by_figures.min(PRICE_DECIMALS.saturating_sub(self.size_decimals))
    }
}

/// The power of ten of the first significant figure: 0 for 1 to 9.99, -1 for 0.1 to 0.99.
fn exponent(amount: Decimal) -> i32 {
    let amount = amount.normalize();
    let digits = i32::try_from(amount.mantissa().unsigned_abs().checked_ilog10().unwrap_or(0)).unwrap_or(0);
    digits - i32::try_from(amount.scale()).unwrap_or(0)
}

/// `meta` as the venue sends it; keys that are false are absent (observed).
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/info-endpoint/perpetuals>.
#[derive(Deserialize)]
struct MetaAnswer {
    universe: Vec<MetaMarket>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct MetaMarket {
    name: String,
    sz_decimals: u32,
    max_leverage: u32,
    #[serde(default)]
    is_delisted: bool,
    #[serde(default)]
    only_isolated: bool,
    #[serde(default)]
    margin_mode: Option<String>,
}

impl Universe {
    /// Reads a `meta` answer.
    ///
    /// # Errors
    /// When it lacks what the guard needs, names more decimals than an amount has, or no market.
    pub fn from_meta(answer: &serde_json::Value) -> Result<Self, String> {
        let answer = MetaAnswer::deserialize(answer).map_err(|error| format!("meta: {error}"))?;
        if answer.universe.is_empty() {
            return Err("meta: it names no market".to_owned());
        }
        let markets = answer.universe.into_iter().zip(0_u32..FIRST_NON_CORE_ASSET).map(|(market, asset)| {
            if market.sz_decimals > PRICE_DECIMALS || market.max_leverage == 0 {
                return Err(format!("meta: {} has size decimals or a leverage out of range", market.name));
            }
            Ok(Market {
                asset,
                coin: market.name,
                size_decimals: market.sz_decimals,
                max_leverage: market.max_leverage,
                is_delisted: market.is_delisted,
                only_isolated: market.only_isolated || market.margin_mode.is_some(),
            })
        });
        Ok(Self::new(markets.collect::<Result<_, _>>()?))
    }

    /// A universe of these markets.
    #[must_use]
    pub fn new(markets: Vec<Market>) -> Self {
        let by_coin = markets.iter().map(|market| (market.coin.clone(), market.asset)).collect();
        Self { markets, by_coin }
    }

    /// How a later list contradicts this one, if it does: a market keeps its asset id and its size decimals for as long as it is
    /// listed, and its place when it is not any more.
    #[must_use]
    pub fn contradicted_by(&self, later: &Self) -> Option<String> {
        self.markets.iter().find_map(|known| {
            let (asset, other) = (known.asset, later.get(known.asset)?);
            if other.coin != known.coin {
                return Some(format!("asset {asset} was {} and is {}", known.coin, other.coin));
            }
            let (before, now) = (known.size_decimals, other.size_decimals);
            (before != now).then(|| format!("{} had {before} size decimals and has {now}", known.coin))
        })
    }

    /// This list, brought up to date by a later one; what that leaves out stays as it was known.
    #[must_use]
    pub fn updated_by(self, later: Self) -> Self {
        let left_out = self.markets.into_iter().skip(later.markets.len());
        Self::new(later.markets.into_iter().chain(left_out).collect())
    }

    /// Whether no market is known yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.markets.is_empty()
    }

    /// The market of an asset id.
    #[must_use]
    pub fn get(&self, asset: u32) -> Option<&Market> {
        self.markets.get(usize::try_from(asset).ok()?)
    }

    /// The market of a coin.
    #[must_use]
    pub fn by_coin(&self, coin: &str) -> Option<&Market> {
        self.get(*self.by_coin.get(coin)?)
    }

    /// All markets, in the venue's order.
    pub fn iter(&self) -> impl Iterator<Item = &Market> {
        self.markets.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rust_decimal::dec;

    #[test]
    fn a_list_is_contradicted_by_another_coin_or_other_decimals_at_a_place() {
        let of = |coin: &str, asset, size_decimals| Market { asset, coin: coin.into(), ..market(size_decimals) };
        let known = Universe::new(vec![of("BTC", 0, 5), of("ETH", 1, 4)]);
        let later = Universe::new(vec![of("BTC", 0, 5), of("ETH", 1, 4), of("NEWC", 2, 0)]);
        let retired = Market { is_delisted: true, max_leverage: 3, ..of("ETH", 1, 4) };
        for agreeing in [known.clone(), later.clone(), Universe::new(vec![of("BTC", 0, 5), retired])] {
            assert_eq!(known.contradicted_by(&agreeing), None);
        }
        let swapped = Universe::new(vec![of("ETH", 0, 4), of("BTC", 1, 5)]);
        assert_eq!(known.contradicted_by(&swapped), Some("asset 0 was BTC and is ETH".into()));
        let finer = Universe::new(vec![of("BTC", 0, 5), of("ETH", 1, 5)]);
        assert_eq!(known.contradicted_by(&finer), Some("ETH had 4 size decimals and has 5".into()));
        // An older answer: what was listed since is not gone.
        assert_eq!(later.contradicted_by(&known), None);
        assert_eq!(later.clone().updated_by(known.clone()), later);
        assert_eq!(known.updated_by(later.clone()), later);
    }

    fn market(size_decimals: u32) -> Market {
        Market { asset: 0, coin: "X".into(), size_decimals, max_leverage: 40, is_delisted: false, only_isolated: false }
    }

    #[test]
    fn prices_stand_on_five_figures_and_six_decimals() {
        // The venue's own examples: 1234.5 holds, 1234.56 does not; 0.001234 holds, 0.0012345 does not.
        let (zero, one, five) = (market(0), market(1), market(5));
        for (market, px, holds) in [
            (&zero, dec!(1234.5), true),
            (&zero, dec!(1234.56), false),
            (&zero, dec!(0.001234), true),
            (&zero, dec!(0.0012345), false),
            (&zero, dec!(123456), true),
            (&zero, dec!(123456.5), false),
            (&one, dec!(0.01234), true),
            (&one, dec!(0.012345), false),
            (&five, dec!(60000.5), false),
            (&five, dec!(9999.5), true),
            (&five, dec!(60000.50), false),
            (&zero, dec!(0), false),
        ] {
            assert_eq!(market.is_price(px), holds, "{px} with {} size decimals", market.size_decimals);
        }
        assert_eq!(five.round_price(dec!(60300.7), Toward::Down), dec!(60300));
        assert_eq!(five.round_price(dec!(60300.2), Toward::Up), dec!(60301));
    }

    #[test]
    fn a_universe_without_markets_is_no_answer() {
        let one = serde_json::json!({"name": "BTC", "szDecimals": 5, "maxLeverage": 40});
        for (universe, is_answer) in [(serde_json::json!([]), false), (serde_json::json!([one]), true)] {
            assert_eq!(Universe::from_meta(&serde_json::json!({"universe": universe})).is_ok(), is_answer);
        }
    }

    #[test]
    fn sizes_stand_on_the_lot() {
        assert!(market(2).is_size(dec!(0.01)) && !market(2).is_size(dec!(0.001)) && !market(2).is_size(dec!(0)));
        assert_eq!(market(2).floor_size(dec!(1.239)), dec!(1.23));
        assert_eq!(market(3).lot(), dec!(0.001));
        assert_eq!(market(0).maintenance_rate(), dec!(0.0125));
    }

    proptest! {
        #[test]
        fn a_rounded_price_is_a_price_on_its_side(mantissa in 1_i64..1_000_000_000_000, scale in 0_u32..9, decimals in 0_u32..6) {
            let (px, market) = (Decimal::new(mantissa, scale), market(decimals));
            let (down, up) = (market.round_price(px, Toward::Down), market.round_price(px, Toward::Up));
            prop_assert!(down <= px && px <= up);
            prop_assert!(down.is_zero() || market.is_price(down), "{down}");
            prop_assert!(market.is_price(up), "{up}");
            prop_assert_eq!(market.is_price(px), down == up);
        }
    }
}
