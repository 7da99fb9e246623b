//! Account value, margin and the liquidation price.

use super::Engine;
use super::account::{Leverage, Position};
use super::order::Stage;
use rust_decimal::Decimal;
use std::collections::HashMap;

/// The four sums of a margin summary.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) account_value: Decimal,
    pub(crate) notional: Decimal,
    pub(crate) raw_usd: Decimal,
    pub(crate) margin_used: Decimal,
}

impl Engine {
    /// The leverage that holds for a market: as set, or the venue's default within the market's highest.
    pub(crate) fn leverage(&self, asset: u32) -> Leverage {
        let (max, only_isolated) = self.market(asset).map_or((1, false), |m| (m.max_leverage, m.only_isolated));
        self.account.leverage.get(&asset).copied().unwrap_or_else(|| Leverage {
            is_cross: !only_isolated,
            value: u32::try_from(self.settings.default_leverage).unwrap_or(u32::MAX).clamp(1, max),
        })
    }

    /// Margin that `notional` in this market needs at the leverage set.
    pub(crate) fn initial_margin(&self, asset: u32, notional: Decimal) -> Decimal {
        notional / Decimal::from(self.leverage(asset).value)
    }

    /// Margin a position uses: initial margin when cross, its own equity when isolated.
    pub(crate) fn margin_used(&self, asset: u32, position: &Position) -> Decimal {
        let value = position.szi * self.mark(asset);
        match position.isolated_usd {
            None => self.initial_margin(asset, value.abs()),
            Some(usd) => usd + value,
        }
    }

    /// Sums over the cross side, or over the whole account.
    pub(crate) fn summary(&self, cross_only: bool) -> Summary {
        let mut sum = Summary {
            account_value: self.account.cross_usd,
            notional: Decimal::ZERO,
            raw_usd: self.account.cross_usd,
            margin_used: Decimal::ZERO,
        };
        for (&asset, position) in &self.account.positions {
            if cross_only && position.isolated_usd.is_some() {
                continue;
            }
            let value = position.szi * self.mark(asset);
            let isolated_usd = position.isolated_usd.unwrap_or_default();
            sum.account_value += value + isolated_usd;
            sum.raw_usd += isolated_usd;
            sum.notional += value.abs();
            sum.margin_used += self.margin_used(asset, position);
        }
        sum
    }

    pub(crate) fn maintenance(&self, asset: u32, position: &Position) -> Decimal {
        let notional = (position.szi * self.mark(asset)).abs();
        self.market(asset).map_or(Decimal::ZERO, |market| market.maintenance(notional))
    }

    pub(crate) fn cross_maintenance(&self) -> Decimal {
        let cross = self.account.positions.iter().filter(|(_, position)| position.isolated_usd.is_none());
        cross.map(|(&asset, position)| self.maintenance(asset, position)).sum()
    }

    /// The mark at which a position is liquidated, all else held still; none when no price does it.
    pub(crate) fn liquidation_px(&self, asset: u32, position: &Position) -> Option<Decimal> {
        let (market, mark) = (self.market(asset)?, self.mark(asset));
        let available = match position.isolated_usd {
            None => self.summary(true).account_value - self.cross_maintenance(),
            Some(usd) => usd + position.szi * mark - self.maintenance(asset, position),
        };
        let side = if position.is_long() { Decimal::ONE } else { -Decimal::ONE };
        let shrink = Decimal::ONE - market.maintenance_rate() * side;
        let px = mark - side * available / position.szi.abs() / shrink;
        (px > Decimal::ZERO).then_some(px)
    }

    /// Margin that resting orders hold: what they would open beyond closing the position, at their limit prices.
    pub(crate) fn held_by_orders(&self) -> Decimal {
        if !self.settings.orders_hold_margin {
            return Decimal::ZERO;
        }
        // What the orders of each market and side may still close before they open anything.
        let mut closable: HashMap<(u32, bool), Decimal> = HashMap::new();
        let mut held = Decimal::ZERO;
        for order in self.orders.values() {
            let spec = &order.spec;
            if spec.reduce_only || order.stage != Stage::Resting {
                continue;
            }
            let room =
                closable.entry((spec.asset, spec.is_buy)).or_insert_with(|| self.reducible(spec.asset, spec.is_buy));
            let closing = order.remaining.min(*room);
            *room -= closing;
            held += self.initial_margin(spec.asset, (order.remaining - closing) * spec.px);
        }
        held
    }

    /// Cross margin that nothing uses or holds.
    pub(crate) fn free_margin(&self) -> Decimal {
        let cross = self.summary(true);
        cross.account_value - cross.margin_used - self.held_by_orders()
    }

    /// What may be withdrawn: the account value beyond initial margin and beyond a tenth of the notional.
    pub(crate) fn withdrawable(&self) -> Decimal {
        let cross = self.summary(true);
        let kept = cross.margin_used.max(cross.notional / Decimal::TEN);
        let held = if self.settings.withdrawable_excludes_orders { self.held_by_orders() } else { Decimal::ZERO };
        (cross.account_value - kept - held).max(Decimal::ZERO)
    }

    /// Whether there is margin to trade `sz` at `px`: what it opens must find room beside what is used and held,
    /// counting what it frees by closing first.
    pub(crate) fn can_trade(&self, asset: u32, is_buy: bool, sz: Decimal, px: Decimal) -> bool {
        let szi = self.szi(asset);
        let signed = if is_buy { sz } else { -sz };
        let opposite = !szi.is_zero() && szi.is_sign_positive() != is_buy;
        let closing = if opposite { sz.min(szi.abs()) } else { Decimal::ZERO };
        let opening = sz - closing;
        if opening.is_zero() {
            return true;
        }
        let freed = match self.account.positions.get(&asset) {
            Some(position) if opposite => self.margin_used(asset, position) * closing / szi.abs(),
            _ => Decimal::ZERO,
        };
        let fee = if self.settings.margin_includes_fee { sz * px * self.settings.taker_fee } else { Decimal::ZERO };
        let at_once = signed * (self.mark(asset) - px);
        self.initial_margin(asset, opening * px) + fee <= self.free_margin() + freed + at_once.min(Decimal::ZERO)
    }
}
