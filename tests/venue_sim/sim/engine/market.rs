//! The listed perps, their tick, lot and margin rules, and the synthetic book around each mid.
//!
//! The book is always there and replenishes itself: twenty levels a side, one tick apart, `depth` base units each.
//! Nobody else's orders live here; the account's own resting orders are the engine's.

use rust_decimal::{Decimal, RoundingStrategy};
use svc_guard::venue::signing::Source;

/// Levels on each side of the synthetic book, as many as `l2Book` ever shows.
pub(crate) const BOOK_LEVELS: u32 = 20;
/// Notional that stands on a level unless a depth is set: deep enough that ordinary orders never see the end of it.
const DEFAULT_LEVEL_USD: u32 = 1_000_000;
/// Significant figures a price may have (integers may have more).
const PRICE_FIGURES: u32 = 5;
/// A perp's price may have this many decimals, less the market's size decimals.
const PERP_PRICE_DECIMALS: u32 = 6;

/// One listed perp.
#[derive(Clone, Debug)]
pub(crate) struct Market {
    pub(crate) name: &'static str,
    pub(crate) sz_decimals: u32,
    pub(crate) max_leverage: u32,
    /// `(from this notional up, highest leverage)`, ascending; the first starts at zero.
    pub(crate) tiers: &'static [(u64, u32)],
    pub(crate) margin_table_id: u32,
    pub(crate) only_isolated: bool,
    pub(crate) delisted: bool,
    pub(crate) mid: Decimal,
    pub(crate) mark: Decimal,
    /// Full width between best bid and best ask; `None` puts them one tick each side of the mid.
    pub(crate) spread: Option<Decimal>,
    /// Base units on each level; `None` is about a million USDC, zero is an empty book.
    pub(crate) depth: Option<Decimal>,
}

/// Name, size decimals, margin tiers, margin table, starting price as mantissa and scale.
type Listing = (&'static str, u32, &'static [(u64, u32)], u32, (i64, u32));

const BTC: Listing = ("BTC", 5, &[(0, 40), (150_000_000, 20)], 56, (60_000, 0));
const ETH: Listing = ("ETH", 4, &[(0, 25)], 25, (2_500, 0));
const SOL: Listing = ("SOL", 2, &[(0, 20)], 20, (150, 0));
const DOGE: Listing = ("DOGE", 0, &[(0, 10)], 10, (2, 1));
const XRP: Listing = ("XRP", 0, &[(0, 20)], 20, (25, 1));
const HYPE: Listing = ("HYPE", 2, &[(0, 10)], 10, (40, 0));
/// Trades with isolated margin only.
const VVV: Listing = ("VVV", 1, &[(0, 3)], 3, (3, 0));
/// Keeps its slot in the list, trades no more.
const MATIC: Listing = ("MATIC", 1, &[(0, 20)], 20, (4, 1));

/// The listed perps; a market's asset id is its index, and the two networks list in different orders.
pub(crate) fn listings(network: Source) -> Vec<Market> {
    let order: [Listing; 8] = match network {
        Source::Mainnet => [BTC, ETH, MATIC, SOL, DOGE, XRP, HYPE, VVV],
        Source::Testnet => [SOL, DOGE, MATIC, BTC, ETH, XRP, HYPE, VVV],
    };
    order.into_iter().map(Market::list).collect()
}

/// A perp that is listed while the venue runs.
pub(crate) fn new_listing(name: &'static str, px: Decimal) -> Market {
    Market { mid: px, mark: px, ..Market::list((name, 2, &[(0, 10)], 10, (1, 0))) }
}

impl Market {
    fn list((name, sz_decimals, tiers, margin_table_id, (mantissa, scale)): Listing) -> Self {
        let price = Decimal::new(mantissa, scale);
        Self {
            name,
            sz_decimals,
            max_leverage: tiers.first().map_or(1, |tier| tier.1),
            tiers,
            margin_table_id,
            only_isolated: name == VVV.0,
            delisted: name == MATIC.0,
            mid: price,
            mark: price,
            spread: None,
            depth: None,
        }
    }

    /// Decimals a price of this market may have.
    pub(crate) fn px_decimals(&self) -> u32 {
        PERP_PRICE_DECIMALS.saturating_sub(self.sz_decimals)
    }

    /// Decimals of the tick at `px`: five significant figures, never finer than the market's decimals, never
    /// coarser than one.
    fn tick_decimals(&self, px: Decimal) -> u32 {
        let mut decimals = PRICE_FIGURES - 1;
        let mut bound = Decimal::TEN;
        while px >= bound && decimals > 0 {
            decimals -= 1;
            bound *= Decimal::TEN;
        }
        let mut bound = Decimal::ONE;
        while px < bound && decimals < self.px_decimals() {
            decimals += 1;
            bound /= Decimal::TEN;
        }
        decimals.min(self.px_decimals())
    }

    /// Whether `px` lies on a tick.
    pub(crate) fn px_valid(&self, px: Decimal) -> bool {
        let px = px.normalize();
        px > Decimal::ZERO && (px.scale() == 0 || (px.scale() <= self.px_decimals() && figures(px) <= PRICE_FIGURES))
    }

    /// Whether `sz` lies on a lot.
    pub(crate) fn sz_valid(&self, sz: Decimal) -> bool {
        sz.normalize().scale() <= self.sz_decimals
    }

    /// `px` on the tick, toward zero or away from it.
    pub(crate) fn round_px(&self, px: Decimal, up: bool) -> Decimal {
        let strategy = if up { RoundingStrategy::AwayFromZero } else { RoundingStrategy::ToZero };
        px.round_dp_with_strategy(self.tick_decimals(px), strategy)
    }

    /// `sz` cut to the lot.
    pub(crate) fn floor_sz(&self, sz: Decimal) -> Decimal {
        sz.trunc_with_scale(self.sz_decimals)
    }

    /// The book's side that an order of side `is_buy` trades against, best price first.
    pub(crate) fn levels(&self, is_buy: bool) -> Vec<(Decimal, Decimal)> {
        let depth = self.level_depth();
        if depth.is_zero() || self.delisted {
            return Vec::new();
        }
        let tick = Decimal::new(1, self.tick_decimals(self.mid));
        let half = self.spread.map_or(tick, |spread| spread / Decimal::TWO);
        let step = if is_buy { tick } else { -tick };
        let mut px = self.round_px(if is_buy { self.mid + half } else { self.mid - half }, is_buy);
        let mut levels = Vec::new();
        for _ in 0..BOOK_LEVELS {
            if px <= Decimal::ZERO {
                break;
            }
            levels.push((px, depth));
            px += step;
        }
        levels
    }

    /// Base units on one level.
    pub(crate) fn level_depth(&self) -> Decimal {
        self.depth.unwrap_or_else(|| self.floor_sz(Decimal::from(DEFAULT_LEVEL_USD) / self.mid))
    }

    /// Best bid and best ask; none while the book is empty.
    pub(crate) fn bbo(&self) -> Option<(Decimal, Decimal)> {
        Some((self.levels(false).first()?.0, self.levels(true).first()?.0))
    }

    /// Maintenance margin of a position worth `notional`: half the initial margin at the tier's highest leverage,
    /// less what keeps the function without a jump where tiers meet.
    pub(crate) fn maintenance(&self, notional: Decimal) -> Decimal {
        let (mut rate, mut deduction) = (Decimal::ZERO, Decimal::ZERO);
        for &(lower_bound, max_leverage) in self.tiers {
            let bound = Decimal::from(lower_bound);
            if notional < bound {
                break;
            }
            let tier_rate = maintenance_rate(max_leverage);
            deduction += bound * (tier_rate - rate);
            rate = tier_rate;
        }
        notional * rate - deduction
    }

    /// Maintenance margin rate of the lowest tier, the `l` of the liquidation price.
    pub(crate) fn maintenance_rate(&self) -> Decimal {
        maintenance_rate(self.max_leverage)
    }
}

fn maintenance_rate(max_leverage: u32) -> Decimal {
    Decimal::ONE / Decimal::from(max_leverage.max(1).saturating_mul(2))
}

/// Significant figures of a normalised number.
fn figures(value: Decimal) -> u32 {
    value.mantissa().unsigned_abs().checked_ilog10().map_or(1, |log| log + 1)
}
