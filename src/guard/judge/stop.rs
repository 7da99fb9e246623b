//! Stops: where an entry's market stop must stand, and the guard's own.

use rust_decimal::{Decimal, dec};

use super::veto::Veto;
use crate::base::amount::percent_of;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::venue::info::MarginMode;
use crate::venue::market::{Market, Toward};
use crate::venue::order::{Order, OrderKind, TRIGGER_SLIPPAGE_PCT, Tpsl};

/// A stop keeps at least this share of the way to the liquidation price between itself and that price.
pub(crate) const LIQUIDATION_ROOM_PCT: Decimal = Decimal::TEN;

/// The entry that a stop is for.
pub(crate) struct Entry<'a> {
    pub(crate) market: &'a Market,
    pub(crate) mid: Decimal,
    pub(crate) is_long: bool,
    /// The entry's limit price.
    pub(crate) px: Decimal,
    /// What is held on its side already.
    pub(crate) held: Decimal,
}

impl Entry<'_> {
    /// Whether `stop` is nearer to the entry than `other`.
    fn is_nearer(&self, stop: Decimal, other: Decimal) -> bool {
        if self.is_long { stop > other } else { stop < other }
    }

    /// The price `percent` percent from `px`, rounded toward `px`, where that is on the losing side.
    fn losing_px(&self, px: Decimal, percent: Decimal) -> Option<Decimal> {
        let distance = percent_of(px, percent);
        let losing = if self.is_long {
            self.market.round_price(px.saturating_sub(distance), Toward::Up)
        } else {
            self.market.round_price(px.saturating_add(distance), Toward::Down)
        };
        Some(losing).filter(|px| self.is_losing(*px))
    }

    /// The same from the entry's price. A price at the collar with a narrow stop would put the trigger beyond the mid,
    /// where it fires at once: then from the mid.
    fn at_distance(&self, percent: Decimal) -> Option<Decimal> {
        self.losing_px(self.px, percent).or_else(|| self.losing_px(self.far_px(), percent))
    }

    /// The price or the mid, whichever is nearer to where it is stopped out.
    fn far_px(&self) -> Decimal {
        if self.is_long { self.px.min(self.mid) } else { self.px.max(self.mid) }
    }

    /// The nearest trigger on the losing side; none under the lowest price.
    fn nearest(&self) -> Option<Decimal> {
        let toward = if self.is_long { Toward::Down } else { Toward::Up };
        Some(self.market.next_price(self.far_px(), toward)).filter(|px| self.is_losing(*px))
    }

    /// Whether a trigger is on the losing side of both the entry's price and the mid.
    pub(crate) fn is_losing(&self, trigger_px: Decimal) -> bool {
        if self.is_long {
            trigger_px < self.px && trigger_px < self.mid && trigger_px > Decimal::ZERO
        } else {
            trigger_px > self.px && trigger_px > self.mid
        }
    }

    /// The trigger of the stop that the guard attaches, liquidation aside: a tick away where the rule's distance is less.
    pub(crate) fn attached_px(&self, guard: &Guard) -> Result<Decimal, Veto> {
        let widest = self.widest(guard)?;
        let px = self.at_distance(guard.config.rules.stop).or_else(|| self.nearest()).unwrap_or(widest);
        Ok(if self.is_nearer(widest, px) { widest } else { px })
    }

    /// Whether cover at `trigger_px` is good enough to open `opening` more on.
    pub(crate) fn accepts(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> bool {
        self.is_losing(trigger_px)
            && self.widest(guard).is_ok_and(|widest| !self.is_nearer(widest, trigger_px))
            && self.inside_liquidation(guard, trigger_px, opening) == Some(trigger_px)
    }

    /// The widest trigger that the rule allows. On the cheapest coins the nearest tick can be wider already: then nothing
    /// is opened.
    fn widest(&self, guard: &Guard) -> Result<Decimal, Veto> {
        let max_stop = guard.config.rules.max_stop;
        self.at_distance(max_stop).ok_or_else(|| self.no_room(max_stop))
    }

    /// The refusal of an entry at whose price no stop can stand.
    fn no_room(&self, max_stop: Decimal) -> Veto {
        let coin = &self.market.coin;
        let (px, mid) = (to_wire(self.px), to_wire(self.mid));
        let Some(nearest) = self.nearest() else {
            let text = format!(
                "{px} is {coin}'s lowest price, and max_stop {max_stop}% leaves no price below it and the mid {mid} for a \
                 stop; enter at a higher one, or trade another market"
            );
            return Veto::new(Code::StopWrongSide, text);
        };
        let distance = distance_pct(self.far_px(), nearest);
        let text = format!(
            "the nearest price of {coin} for a stop of an entry at {px} (mid {mid}) is {}, one tick and {distance}% away, \
             and max_stop allows {max_stop}%; trade another market, or have the owner widen max_stop",
            to_wire(nearest)
        );
        Veto::new(Code::StopWrongSide, text).with(&max_stop, &distance)
    }

    /// `trigger_px`, or the farthest inside the liquidation price once `opening` more is held; `None` where no trigger
    /// on the losing side is inside it.
    pub(crate) fn inside_liquidation(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> Option<Decimal> {
        let Some(liquidation_px) = self.liquidation_px(guard, opening) else { return Some(trigger_px) };
        let room = percent_of(self.px.saturating_sub(liquidation_px), LIQUIDATION_ROOM_PCT);
        let toward = if self.is_long { Toward::Up } else { Toward::Down };
        let limit = self.market.round_price(liquidation_px.saturating_add(room), toward);
        if !self.is_nearer(limit, trigger_px) {
            return Some(trigger_px);
        }
        self.is_losing(limit).then_some(limit)
    }

    /// The price that would liquidate the position once `opening` more is held, all others held fixed; `None` where no
    /// price does. Source: the venue's liquidation page, first margin tier.
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
            let free = account.equity.saturating_sub(account.cross_maintenance);
            free.checked_div(self.held.saturating_add(opening))?.saturating_sub(maintenance)
        };
        let side = if self.is_long { Decimal::ONE } else { -Decimal::ONE };
        let denominator = Decimal::ONE.saturating_sub(rate.saturating_mul(side));
        let distance = margin_per_unit.max(Decimal::ZERO).checked_div(denominator)?;
        let px = self.px.saturating_sub(side.saturating_mul(distance));
        (px > Decimal::ZERO).then_some(px)
    }
}

/// A reduce-only market stop that covers `size` of one side.
pub(crate) fn stop_order(market: &Market, is_long: bool, trigger_px: Decimal, size: Decimal) -> Order {
    Order {
        asset: market.asset,
        is_buy: !is_long,
        limit_px: limit_beyond(market, is_long, trigger_px),
        size,
        reduce_only: true,
        kind: OrderKind::Trigger { is_market: true, trigger_px, tpsl: Tpsl::Sl },
        cloid: None,
    }
}

/// The limit price of a market stop with this trigger: a tick beyond it at least, so that there is room to fill in, but
/// for the lowest price.
pub(crate) fn limit_beyond(market: &Market, is_long: bool, trigger_px: Decimal) -> Decimal {
    let room = percent_of(trigger_px, TRIGGER_SLIPPAGE_PCT);
    let (px, next) = if is_long {
        let px = market.round_price(trigger_px.saturating_sub(room), Toward::Up);
        (px, market.next_price(trigger_px, Toward::Down))
    } else {
        let px = market.round_price(trigger_px.saturating_add(room), Toward::Down);
        (px, market.next_price(trigger_px, Toward::Up))
    };
    if px == trigger_px && market.is_price(next) { next } else { px }
}

/// Judges a stop that came with the entry: refused on the wrong side, tightened where it is too wide.
pub(crate) fn judge(guard: &Guard, entry: &Entry<'_>, stop: &mut Order) -> Result<(), Veto> {
    let Some(asked) = stop.market_stop_px() else { return Ok(()) };
    check_side(entry, asked)?;
    let widest = entry.widest(guard)?;
    move_to(entry, stop, if entry.is_nearer(widest, asked) { widest } else { asked });
    Ok(())
}

/// Refuses a stop that is not on the losing side of its entry.
pub(crate) fn check_side(entry: &Entry<'_>, trigger_px: Decimal) -> Result<(), Veto> {
    if entry.is_losing(trigger_px) {
        return Ok(());
    }
    let (side, losing) = if entry.is_long { ("long", "below") } else { ("short", "above") };
    let text = format!(
        "stop at {} is not {losing} the price {} and the mid {} of a {side} {}; place it there",
        to_wire(trigger_px),
        to_wire(entry.px),
        to_wire(entry.mid),
        entry.market.coin
    );
    Err(Veto::new(Code::StopWrongSide, text).with(&format!("{losing} {}", to_wire(entry.px)), &to_wire(trigger_px)))
}

/// Moves a stop to another trigger, its limit price with it.
pub(crate) fn move_to(entry: &Entry<'_>, stop: &mut Order, wanted: Decimal) {
    if let OrderKind::Trigger { trigger_px, .. } = &mut stop.kind
        && *trigger_px != wanted
    {
        *trigger_px = wanted;
        stop.limit_px = limit_beyond(entry.market, entry.is_long, wanted);
    }
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
