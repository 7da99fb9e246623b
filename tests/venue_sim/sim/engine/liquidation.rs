//! Liquidation: when the equity behind positions falls below their maintenance margin.
//!
//! Modelled as one market close of what is liquidated; the live venue goes in steps of a fifth for large positions.
//! What the book cannot take, or what is left below two thirds of maintenance, goes to the backstop at the mark,
//! with the rest of its margin.

use super::Engine;
use super::fill::{Origin, Trade};
use super::news::News;
use rust_decimal::Decimal;

impl Engine {
    /// Liquidates what must be: the cross side together, each isolated position alone.
    pub(super) fn liquidate(&mut self) {
        let sunk: Vec<u32> = self
            .account
            .positions
            .iter()
            .filter(|(asset, position)| {
                position
                    .isolated_usd
                    .is_some_and(|usd| usd + position.szi * self.mark(**asset) < self.maintenance(**asset, position))
            })
            .map(|(&asset, _)| asset)
            .collect();
        for asset in sunk {
            self.liquidate_position(asset);
        }
        let (value, maintenance) = (self.summary(true).account_value, self.cross_maintenance());
        if value >= maintenance {
            return;
        }
        self.cancel_all("liquidatedCanceled");
        let cross = self.account.positions.iter().filter(|(_, position)| position.isolated_usd.is_none());
        let assets: Vec<u32> = cross.map(|(&asset, _)| asset).collect();
        for asset in assets {
            self.liquidate_position(asset);
        }
        let backstop = value < maintenance * Decimal::TWO / Decimal::from(3u32);
        if backstop || self.account.cross_usd.is_sign_negative() {
            self.account.cross_usd = Decimal::ZERO;
        }
    }

    /// Closes one position on the book, the remainder at the mark.
    fn liquidate_position(&mut self, asset: u32) {
        let (szi, mark) = (self.szi(asset), self.mark(asset));
        let is_buy = szi.is_sign_negative();
        let any_px = if is_buy { Decimal::MAX } else { Decimal::ZERO };
        let mut parts = self.take(asset, is_buy, any_px, szi.abs()).parts;
        let taken: Decimal = parts.iter().map(|part| part.1).sum();
        if taken < szi.abs() {
            parts.push((mark, szi.abs() - taken));
        }
        let value = self.summary(false).account_value;
        self.tell(News::Liquidation { notional: (szi * mark).abs(), value });
        let oid = self.take_oid();
        for (px, sz) in parts {
            let origin = Origin { oid, liquidation_mark: Some(mark), ..Origin::default() };
            self.book(Trade { asset, is_buy, px, sz, crossed: true }, origin);
        }
        self.after_position_changed(asset);
    }
}
