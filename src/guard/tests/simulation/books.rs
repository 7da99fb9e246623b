//! The books of the model venue: what an account holds and what rests, and what both are worth.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

use super::super::fixture::*;
use crate::venue::info::{OpenOrder, Side};

pub(in crate::guard::tests) const COINS: [&str; 2] = ["ETH", "SOL"];
/// Share of a position's value below which the equity may not fall, percent.
const MAINTENANCE_PCT: Decimal = dec!(2);

pub(in crate::guard::tests) fn asset_of(coin: &str) -> u32 {
    if coin == "ETH" { ETH } else { SOL }
}

pub(in crate::guard::tests) fn coin_of(asset: u32) -> &'static str {
    if asset == ETH { "ETH" } else { "SOL" }
}

/// What a read shows. A clone is a picture of a moment.
#[derive(Clone)]
pub(in crate::guard::tests) struct Books {
    pub(in crate::guard::tests) at_ms: u64,
    pub(in crate::guard::tests) cash: Decimal,
    /// What came in less what went out.
    pub(in crate::guard::tests) flows: Decimal,
    /// Shares of the account: who brings or takes money brings or takes shares of it, so a share is worth what was won or
    /// lost with it.
    pub(in crate::guard::tests) shares: Decimal,
    /// Size and what it cost.
    pub(in crate::guard::tests) positions: BTreeMap<&'static str, (Decimal, Decimal)>,
    pub(in crate::guard::tests) mids: BTreeMap<String, Decimal>,
    /// What trades, as a share of the price by which all is valued and stops fire, where the two stand apart.
    pub(in crate::guard::tests) apart: BTreeMap<&'static str, Decimal>,
    pub(in crate::guard::tests) orders: BTreeMap<u64, OpenOrder>,
}

impl Books {
    pub(in crate::guard::tests) fn mid(&self, coin: &str) -> Decimal {
        self.mids[coin]
    }

    /// The price at which it trades.
    pub(in crate::guard::tests) fn book(&self, coin: &str) -> Decimal {
        self.apart.get(coin).map_or(self.mid(coin), |apart| (self.mid(coin) * apart).round_dp(2))
    }

    /// The prices at which all markets trade.
    pub(in crate::guard::tests) fn traded(&self) -> BTreeMap<String, Decimal> {
        self.mids.keys().map(|coin| (coin.clone(), self.book(coin))).collect()
    }

    pub(in crate::guard::tests) fn held(&self, coin: &str) -> Decimal {
        self.positions.get(coin).map_or(Decimal::ZERO, |(size, _)| *size)
    }

    pub(in crate::guard::tests) fn unrealized(&self, coin: &str) -> Decimal {
        self.positions.get(coin).map_or(Decimal::ZERO, |(size, cost)| size * self.mid(coin) - cost)
    }

    /// The mean price at which a position was entered, as the venue shows it.
    pub(in crate::guard::tests) fn entry_px(&self, coin: &str) -> Option<Decimal> {
        let (size, cost) = self.positions.get(coin)?;
        Some((cost / size).round_dp(6))
    }

    pub(in crate::guard::tests) fn equity(&self) -> Decimal {
        self.cash + self.positions.keys().map(|coin| self.unrealized(coin)).sum::<Decimal>()
    }

    /// What a share is worth.
    pub(in crate::guard::tests) fn share_px(&self) -> Decimal {
        self.equity() / self.shares
    }

    pub(in crate::guard::tests) fn maintenance(&self) -> Decimal {
        let held = self.positions.iter().map(|(coin, (size, _))| size.abs() * self.mid(coin));
        held.sum::<Decimal>() * MAINTENANCE_PCT / dec!(100)
    }

    /// Where the account would be liquidated if only this price moved.
    pub(in crate::guard::tests) fn liquidation_px(&self, coin: &str) -> Option<Decimal> {
        let room = self.equity() - self.maintenance();
        let px = self.mid(coin) - room.checked_div(self.held(coin))?;
        (px > Decimal::ZERO).then(|| px.round_dp(4))
    }

    /// The market stops on the losing side of a position.
    pub(in crate::guard::tests) fn stops(&self, coin: &str) -> impl Iterator<Item = &OpenOrder> {
        let side = if self.held(coin) > Decimal::ZERO { Side::Sell } else { Side::Buy };
        self.orders.values().filter(move |order| {
            order.coin == coin && order.side == side && order.market_stop_px().is_some() && order.reduce_only
        })
    }

    pub(in crate::guard::tests) fn is_bare(&self, coin: &str) -> bool {
        !self.bare(coin).is_zero()
    }

    /// How much of a position no stop closes.
    pub(in crate::guard::tests) fn bare(&self, coin: &str) -> Decimal {
        let held = self.held(coin).abs();
        let stops = self.stops(coin).map(|order| if order.is_whole() { held } else { order.sz });
        (held - stops.sum::<Decimal>()).max(Decimal::ZERO)
    }
}

impl OpenOrder {
    /// Whether it closes whatever the position is.
    pub(in crate::guard::tests) fn is_whole(&self) -> bool {
        self.is_position_tpsl && self.sz.is_zero()
    }
}
