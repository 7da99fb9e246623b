//! Stops: where an entry's market stop must stand, and the guard's own.

use rust_decimal::{Decimal, dec};

use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::{StopGeometry, move_stop};
use crate::venue::info::MarginMode;
use crate::venue::market::Market;
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};

/// The entry that a stop is for.
pub(crate) struct Entry<'a> {
    pub(crate) market: &'a Market,
    /// The worse of the mid and the mark.
    pub(crate) market_px: Decimal,
    pub(crate) is_long: bool,
    /// The entry's limit price.
    pub(crate) px: Decimal,
    /// What is held on its side already.
    pub(crate) held: Decimal,
}

impl Entry<'_> {
    pub(crate) fn side(&self) -> PositionSide {
        PositionSide::opened_by(Side::of(self.is_long))
    }

    /// Where stops of this entry may stand, liquidation aside.
    fn geometry(&self) -> StopGeometry<'_> {
        StopGeometry {
            market: self.market,
            side: self.side(),
            from_px: self.px,
            market_px: self.market_px,
            liquidation_px: None,
        }
    }

    /// The same once `opening` more is held.
    fn geometry_with(&self, guard: &Guard, opening: Decimal) -> StopGeometry<'_> {
        StopGeometry { liquidation_px: self.liquidation_px(guard, opening), ..self.geometry() }
    }

    /// The trigger of the stop that the guard attaches, liquidation aside: a tick away where the rule's distance is less.
    pub(crate) fn attached_px(&self, guard: &Guard) -> Result<Decimal, Veto> {
        let widest = self.widest(guard)?;
        let geometry = self.geometry();
        let px = geometry.at_distance(guard.config.rules.stop).or_else(|| geometry.nearest()).unwrap_or(widest);
        Ok(self.side().nearer_of(px, widest))
    }

    /// Whether cover at `trigger_px` is good enough to open `opening` more on.
    pub(crate) fn accepts(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> bool {
        self.geometry().is_losing(trigger_px)
            && self.widest(guard).is_ok_and(|widest| !self.side().nearer(widest, trigger_px))
            && self.inside_liquidation(guard, trigger_px, opening) == Some(trigger_px)
    }

    /// The price that would fire its stop, and which of the two it is, for a text.
    fn market_text(&self, guard: &Guard) -> String {
        let is_mid = guard.view.mids.get(&self.market.asset) == Some(&self.market_px);
        format!("{} {}", if is_mid { "mid" } else { "mark" }, to_wire(self.market_px))
    }

    /// The widest trigger that the rule allows. On the cheapest coins the nearest tick can be wider already: then nothing
    /// is opened.
    fn widest(&self, guard: &Guard) -> Result<Decimal, Veto> {
        let max_stop = guard.config.rules.max_stop;
        self.geometry().at_distance(max_stop).ok_or_else(|| self.no_room(guard, max_stop))
    }

    /// The refusal of an entry at whose price no stop can stand.
    fn no_room(&self, guard: &Guard, max_stop: Decimal) -> Veto {
        let coin = &self.market.coin;
        let (px, market) = (to_wire(self.px), self.market_text(guard));
        let Some(nearest) = self.geometry().nearest() else {
            let text = format!(
                "{px} is {coin}'s lowest price, and max_stop {max_stop}% leaves no price below it and the {market} for a \
                 stop; enter at a higher one, or trade another market"
            );
            return Veto::new(Code::StopWrongSide, text);
        };
        let distance = distance_pct(self.geometry().far_px(), nearest);
        let text = format!(
            "the nearest price of {coin} for a stop of an entry at {px} ({market}) is {}, one tick and {distance}% away, \
             and max_stop allows {max_stop}%; trade another market, or have the owner widen max_stop",
            to_wire(nearest)
        );
        Veto::new(Code::StopWrongSide, text).with(&max_stop, &distance)
    }

    /// `trigger_px`, or the farthest inside the liquidation price once `opening` more is held; `None` where no trigger
    /// on the losing side is inside it.
    pub(crate) fn inside_liquidation(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> Option<Decimal> {
        self.geometry_with(guard, opening).inside_liquidation(trigger_px)
    }

    /// The price that would liquidate the position once `opening` more is held, all others held fixed; `None` where no
    /// price does: the formula for the first margin tier.
    /// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/trading/liquidations>.
    pub(crate) fn liquidation_px(&self, guard: &Guard, opening: Decimal) -> Option<Decimal> {
        let account = guard.view.account.as_ref()?;
        let rate = self.market.maintenance_rate();
        let setting = guard.view.leverage.get(&self.market.asset).map(|(leverage, _)| leverage);
        let limit = guard.config.rules.leverage;
        let leverage = Decimal::from(setting.map_or(limit, |setting| setting.value.min(limit)).max(1));
        let is_isolated = setting.map_or(self.market.only_isolated, |setting| setting.mode == MarginMode::Isolated);
        let maintenance = self.px.saturating_mul(rate);
        let margin_per_unit = if is_isolated {
            self.px.checked_div(leverage)?.saturating_sub(maintenance)
        } else {
            let free = guard.judged_equity()?.saturating_sub(account.cross_maintenance);
            free.checked_div(self.held.saturating_add(opening))?.saturating_sub(maintenance)
        };
        let side = self.side().sign();
        let denominator = Decimal::ONE.saturating_sub(rate.saturating_mul(side));
        let distance = margin_per_unit.max(Decimal::ZERO).checked_div(denominator)?;
        let px = self.px.saturating_sub(side.saturating_mul(distance));
        (px > Decimal::ZERO).then_some(px)
    }
}

/// Judges a stop that came with the entry: refused on the wrong side, tightened where it is too wide.
pub(crate) fn judge(guard: &Guard, entry: &Entry<'_>, stop: &mut Order) -> Result<(), Veto> {
    let Some(asked) = stop.market_stop_px() else { return Ok(()) };
    check_side(guard, entry, asked)?;
    let widest = entry.widest(guard)?;
    move_to(entry, stop, entry.side().nearer_of(asked, widest));
    Ok(())
}

/// Refuses a stop that is not on the losing side of its entry.
pub(crate) fn check_side(guard: &Guard, entry: &Entry<'_>, trigger_px: Decimal) -> Result<(), Veto> {
    if entry.geometry().is_losing(trigger_px) {
        return Ok(());
    }
    let (side, losing) = if entry.is_long { ("long", "below") } else { ("short", "above") };
    let text = format!(
        "stop at {} is not {losing} the price {} and the {} of a {side} {}; place it there",
        to_wire(trigger_px),
        to_wire(entry.px),
        entry.market_text(guard),
        entry.market.coin
    );
    Err(Veto::new(Code::StopWrongSide, text).with(&format!("{losing} {}", to_wire(entry.px)), &to_wire(trigger_px)))
}

/// Moves a stop to another trigger, its limit price with it.
pub(crate) fn move_to(entry: &Entry<'_>, stop: &mut Order, wanted: Decimal) {
    move_stop(entry.market, entry.side(), stop, wanted);
}

/// Tells of a stop that was asked for at one trigger and stands at another.
pub(crate) fn tightened_text(guard: &Guard, entry: &Entry<'_>, asked: Decimal, px: Decimal) -> String {
    format!(
        "{} stop tightened from {} to {}: at most {}% from the price {} and inside liquidation",
        entry.market.coin,
        to_wire(asked),
        to_wire(px),
        guard.config.rules.max_stop,
        to_wire(entry.px)
    )
}

/// The percentage between two prices, for a text.
pub(crate) fn distance_pct(from: Decimal, to: Decimal) -> Decimal {
    let share = to.saturating_sub(from).abs().checked_div(from).unwrap_or_default();
    share.saturating_mul(dec!(100)).round_dp(2).normalize()
}
