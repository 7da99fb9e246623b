//! Sides: an order buys or sells, a position is long or short.
//!
//! Every comparison of prices that turns round with the side stands here once, by name, so that no caller has to
//! think through `<` and `>` for longs and again for shorts. Nothing but signs and prices may enter.

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::market::Toward;

/// The side of an order or fill. In answers `B` is a bid and `A` an ask.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/notation>.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize, Serialize)]
pub enum Side {
    /// Bid: a buy.
    #[serde(rename = "B")]
    Buy,
    /// Ask: a sell.
    #[serde(rename = "A")]
    Sell,
}

impl Side {
    /// The side of an order by its `b` flag.
    #[must_use]
    pub fn of(is_buy: bool) -> Self {
        if is_buy { Side::Buy } else { Side::Sell }
    }

    /// Whether it buys.
    #[must_use]
    pub fn is_buy(self) -> bool {
        self == Side::Buy
    }

    /// The other side.
    #[must_use]
    pub fn opposite(self) -> Self {
        Side::of(!self.is_buy())
    }

    /// `buy` or `sell`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Side::Buy => "buy",
            Side::Sell => "sell",
        }
    }

    /// Whether price `a` is worse than `b` for whoever trades on this side: dearer to buy at, cheaper to sell at.
    #[must_use]
    pub fn worse(self, a: Decimal, b: Decimal) -> bool {
        match self {
            Side::Buy => a > b,
            Side::Sell => a < b,
        }
    }

    /// The price `amount` worse than `px`.
    #[must_use]
    pub fn worsen(self, px: Decimal, amount: Decimal) -> Decimal {
        match self {
            Side::Buy => px.saturating_add(amount),
            Side::Sell => px.saturating_sub(amount),
        }
    }

    /// Whether an order at `px` reaches `market_px`, so that it trades at once.
    #[must_use]
    pub fn reaches(self, px: Decimal, market_px: Decimal) -> bool {
        !self.worse(market_px, px)
    }
}

/// The side of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PositionSide {
    /// Gains when the price rises.
    Long,
    /// Gains when the price falls.
    Short,
}

impl PositionSide {
    /// Both sides.
    pub const BOTH: [Self; 2] = [Self::Long, Self::Short];

    /// The side of a position by its signed size; a size of zero is on no side.
    #[must_use]
    pub fn of(szi: Decimal) -> Option<Self> {
        match szi {
            szi if szi > Decimal::ZERO => Some(Self::Long),
            szi if szi < Decimal::ZERO => Some(Self::Short),
            _ => None,
        }
    }

    /// The side that an order of this side opens or enlarges.
    #[must_use]
    pub fn opened_by(side: Side) -> Self {
        match side {
            Side::Buy => Self::Long,
            Side::Sell => Self::Short,
        }
    }

    /// The side that an order of this side reduces.
    #[must_use]
    pub fn reduced_by(side: Side) -> Self {
        Self::opened_by(side.opposite())
    }

    /// The side of the orders that open or enlarge this position.
    #[must_use]
    pub fn opening(self) -> Side {
        Side::of(self.is_long())
    }

    /// The side of the orders that reduce or close this position.
    #[must_use]
    pub fn closing(self) -> Side {
        self.opening().opposite()
    }

    /// Whether it is long.
    #[must_use]
    pub fn is_long(self) -> bool {
        self == Self::Long
    }

    /// The other side.
    #[must_use]
    pub fn opposite(self) -> Self {
        Self::opened_by(self.closing())
    }

    /// `long` or `short`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Long => "long",
            Self::Short => "short",
        }
    }

    /// 1 for a long, -1 for a short: the sign of its size.
    #[must_use]
    pub fn sign(self) -> Decimal {
        match self {
            Self::Long => Decimal::ONE,
            Self::Short => Decimal::NEGATIVE_ONE,
        }
    }

    /// How much of the signed size `szi` is on this side; 0 where the position is on the other.
    #[must_use]
    pub fn held(self, szi: Decimal) -> Decimal {
        match self {
            Self::Long => szi,
            Self::Short => -szi,
        }
        .max(Decimal::ZERO)
    }

    /// The direction in which the position loses.
    #[must_use]
    pub fn losing_direction(self) -> Toward {
        match self {
            Self::Long => Toward::Down,
            Self::Short => Toward::Up,
        }
    }

    /// The direction in which the position gains: from a stop toward the price.
    #[must_use]
    pub fn gaining_direction(self) -> Toward {
        self.opposite().losing_direction()
    }

    /// Whether trigger `a` is nearer to the price than `b`, both on the losing side.
    #[must_use]
    pub fn nearer(self, a: Decimal, b: Decimal) -> bool {
        self.closing().worse(b, a)
    }

    /// The trigger of the two that is nearer to the price.
    #[must_use]
    pub fn nearer_of(self, a: Decimal, b: Decimal) -> Decimal {
        if self.nearer(a, b) { a } else { b }
    }

    /// The price of the two that is further to the losing side.
    #[must_use]
    pub fn further_of(self, a: Decimal, b: Decimal) -> Decimal {
        if self.nearer(a, b) { b } else { a }
    }

    /// The trigger nearest to the price.
    pub fn nearest(self, triggers: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
        triggers.into_iter().reduce(|a, b| self.nearer_of(a, b))
    }

    /// The trigger furthest from the price.
    pub fn furthest(self, triggers: impl IntoIterator<Item = Decimal>) -> Option<Decimal> {
        triggers.into_iter().reduce(|a, b| self.further_of(a, b))
    }

    /// Whether `trigger_px` is a price on the losing side of `px`: a stop there does not fire at once.
    #[must_use]
    pub fn losing(self, trigger_px: Decimal, px: Decimal) -> bool {
        trigger_px > Decimal::ZERO && self.nearer(px, trigger_px)
    }

    /// The price `amount` from `px` to the losing side.
    #[must_use]
    pub fn away(self, px: Decimal, amount: Decimal) -> Decimal {
        self.closing().worsen(px, amount)
    }

    /// What one unit loses from `px` to `exit_px`; 0 where it gains.
    #[must_use]
    pub fn loss(self, px: Decimal, exit_px: Decimal) -> Decimal {
        px.saturating_sub(exit_px).saturating_mul(self.sign()).max(Decimal::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::PositionSide::{Long, Short};
    use super::Side::{Buy, Sell};
    use super::*;
    use rust_decimal::dec;

    #[test]
    fn orders_trade_at_worse_prices_or_better_ones() {
        assert!(Buy.worse(dec!(2), dec!(1)) && !Buy.worse(dec!(1), dec!(1)) && !Buy.worse(dec!(1), dec!(2)));
        assert!(Sell.worse(dec!(1), dec!(2)) && !Sell.worse(dec!(1), dec!(1)) && !Sell.worse(dec!(2), dec!(1)));
        assert_eq!([Buy, Sell].map(|side| side.worsen(dec!(10), dec!(1))), [dec!(11), dec!(9)]);
        assert_eq!([dec!(9), dec!(10), dec!(11)].map(|px| Buy.reaches(px, dec!(10))), [false, true, true]);
        assert_eq!([dec!(9), dec!(10), dec!(11)].map(|px| Sell.reaches(px, dec!(10))), [true, true, false]);
        assert_eq!([Buy, Sell].map(|side| (Side::of(side.is_buy()), side.opposite())), [(Buy, Sell), (Sell, Buy)]);
        assert_eq!([Buy, Sell].map(|side| serde_json::to_string(&side).unwrap()), [r#""B""#, r#""A""#]);
    }

    #[test]
    fn a_position_is_on_the_side_of_its_sign() {
        assert_eq!([dec!(0.1), dec!(-0.1), dec!(0)].map(PositionSide::of), [Some(Long), Some(Short), None]);
        assert_eq!([dec!(3), dec!(-3)].map(|szi| Long.held(szi)), [dec!(3), dec!(0)]);
        assert_eq!([dec!(3), dec!(-3)].map(|szi| Short.held(szi)), [dec!(0), dec!(3)]);
        assert_eq!([Long, Short].map(PositionSide::opening), [Buy, Sell]);
        assert_eq!([Long, Short].map(PositionSide::closing), [Sell, Buy]);
        assert_eq!([Buy, Sell].map(PositionSide::opened_by), [Long, Short]);
        assert_eq!([Buy, Sell].map(PositionSide::reduced_by), [Short, Long]);
        assert_eq!([Long, Short].map(PositionSide::sign), [dec!(1), dec!(-1)]);
    }

    #[test]
    fn a_stop_is_on_the_losing_side() {
        let triggers = [dec!(8), dec!(9), dec!(10), dec!(11), dec!(12)];
        assert_eq!(triggers.map(|px| Long.losing(px, dec!(10))), [true, true, false, false, false]);
        assert_eq!(triggers.map(|px| Short.losing(px, dec!(10))), [false, false, false, true, true]);
        assert!(!Long.losing(dec!(0), dec!(10)) && !Long.losing(dec!(-1), dec!(10)));
        assert!(Long.nearer(dec!(9), dec!(8)) && !Long.nearer(dec!(8), dec!(8)) && !Long.nearer(dec!(8), dec!(9)));
        assert!(Short.nearer(dec!(11), dec!(12)) && !Short.nearer(dec!(12), dec!(12)));
        for (side, nearest, furthest) in [(Long, dec!(12), dec!(8)), (Short, dec!(8), dec!(12))] {
            assert_eq!((side.nearest(triggers), side.furthest(triggers)), (Some(nearest), Some(furthest)));
        }
        assert_eq!(Long.nearest([]), None);
        assert_eq!([Long, Short].map(|side| side.away(dec!(10), dec!(1))), [dec!(9), dec!(11)]);
        assert_eq!([Long, Short].map(|side| side.loss(dec!(10), dec!(8))), [dec!(2), dec!(0)]);
        assert_eq!([Long, Short].map(|side| side.loss(dec!(10), dec!(12))), [dec!(0), dec!(2)]);
        assert_eq!([Long, Short].map(PositionSide::losing_direction), [Toward::Down, Toward::Up]);
        assert_eq!([Long, Short].map(PositionSide::gaining_direction), [Toward::Up, Toward::Down]);
    }
}
