//! Stops: where an entry's market stop must stand, and the guard's own.

use rust_decimal::{Decimal, dec};

use super::Veto;
use crate::guard::book::percent_of;
use crate::guard::code::Code;
use crate::guard::state::Guard;
use crate::venue::amount::to_wire;
use crate::venue::info::MarginMode;
use crate::venue::market::{Market, Toward};
use crate::venue::order::{Order, OrderKind, Tpsl};

/// A stop keeps at least this share of the way to the liquidation price between itself and that price.
pub(in crate::guard) const LIQUIDATION_ROOM_PCT: Decimal = Decimal::TEN;
/// A market stop's limit price stands this far beyond its trigger: the venue fills a triggered stop within it.
const LIMIT_BEYOND_PCT: Decimal = Decimal::TEN;

/// The entry that a stop is for.
pub(super) struct Entry<'a> {
    pub(super) market: &'a Market,
    pub(super) mid: Decimal,
    pub(super) is_long: bool,
    /// The entry's limit price.
    pub(super) px: Decimal,
    /// What is held on its side already.
    pub(super) held: Decimal,
}

impl Entry<'_> {
    /// Whether `stop` is nearer to the entry than `other`.
    fn is_nearer(&self, stop: Decimal, other: Decimal) -> bool {
        if self.is_long { stop > other } else { stop < other }
    }

    /// The price `percent` percent from `px` on the losing side, rounded toward `px`.
    fn losing_px(&self, px: Decimal, percent: Decimal) -> Decimal {
        let distance = percent_of(px, percent);
        if self.is_long {
            self.market.round_price(px.saturating_sub(distance), Toward::Up)
        } else {
            self.market.round_price(px.saturating_add(distance), Toward::Down)
        }
    }

    /// Whether a trigger is on the losing side of both the entry's price and the mid.
    pub(super) fn is_losing(&self, trigger_px: Decimal) -> bool {
        if self.is_long {
            trigger_px < self.px && trigger_px < self.mid
        } else {
            trigger_px > self.px && trigger_px > self.mid
        }
    }

    /// The trigger of the stop that the guard attaches, liquidation aside.
    pub(super) fn attached_px(&self, guard: &Guard) -> Decimal {
        let percent = guard.config.rules.stop;
        let at_price = self.losing_px(self.px, percent);
        // A price at the collar with a narrow stop would put the trigger beyond the mid, where it fires at once.
        let px = if self.is_losing(at_price) { at_price } else { self.losing_px(self.mid, percent) };
        self.within_widest(guard, px)
    }

    /// Whether cover at `trigger_px` is good enough to open `opening` more on.
    pub(super) fn accepts(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> bool {
        self.is_losing(trigger_px)
            && self.within_widest(guard, trigger_px) == trigger_px
            && self.inside_liquidation(guard, trigger_px, opening) == Some(trigger_px)
    }

    /// `trigger_px`, or the widest that the rule allows where it is wider.
    fn within_widest(&self, guard: &Guard, trigger_px: Decimal) -> Decimal {
        let widest = self.losing_px(self.px, guard.config.rules.max_stop);
        if self.is_nearer(widest, trigger_px) && self.is_losing(widest) { widest } else { trigger_px }
    }

    /// `trigger_px`, or the farthest inside the liquidation price once `opening` more is held; `None` where no trigger
    /// on the losing side is inside it.
    pub(super) fn inside_liquidation(&self, guard: &Guard, trigger_px: Decimal, opening: Decimal) -> Option<Decimal> {
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
    pub(super) fn liquidation_px(&self, guard: &Guard, opening: Decimal) -> Option<Decimal> {
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
pub(in crate::guard) fn order(market: &Market, is_long: bool, trigger_px: Decimal, size: Decimal) -> Order {
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

/// The limit price of a market stop with this trigger.
pub(super) fn limit_beyond(market: &Market, is_long: bool, trigger_px: Decimal) -> Decimal {
    let room = percent_of(trigger_px, LIMIT_BEYOND_PCT);
    if is_long {
        market.round_price(trigger_px.saturating_sub(room), Toward::Up)
    } else {
        market.round_price(trigger_px.saturating_add(room), Toward::Down)
    }
}

/// Judges a stop that came with the entry: refused on the wrong side, tightened where it is too wide.
pub(super) fn judge(guard: &Guard, entry: &Entry<'_>, stop: &mut Order) -> Result<(), Veto> {
    let Some(asked) = stop.market_stop_px() else { return Ok(()) };
    check_side(entry, asked)?;
    move_to(entry, stop, entry.within_widest(guard, asked));
    Ok(())
}

/// Refuses a stop that is not on the losing side of its entry.
pub(super) fn check_side(entry: &Entry<'_>, trigger_px: Decimal) -> Result<(), Veto> {
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
pub(super) fn move_to(entry: &Entry<'_>, stop: &mut Order, wanted: Decimal) {
    if let OrderKind::Trigger { trigger_px, .. } = &mut stop.kind
        && *trigger_px != wanted
    {
        *trigger_px = wanted;
        stop.limit_px = limit_beyond(entry.market, entry.is_long, wanted);
    }
}

/// Tells of a stop that was asked for at one trigger and stands at another.
pub(super) fn tightened_text(guard: &Guard, entry: &Entry<'_>, asked: Decimal, px: Decimal) -> String {
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
pub(super) fn distance_pct(from: Decimal, to: Decimal) -> Decimal {
    let share = to.saturating_sub(from).abs().checked_div(from).unwrap_or_default();
    share.saturating_mul(dec!(100)).round_dp(2).normalize()
}
