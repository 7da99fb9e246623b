//! Cancels, modifies, leverage, isolated margin and the dead man's switch.

use super::Engine;
use super::account::Leverage;
use super::order::{Kind, Order, Reject, Spec, Stage, Status, Tif};
use rust_decimal::Decimal;

/// Traded volume from which on a cancel may be scheduled.
const SCHEDULE_VOLUME_USD: u32 = 1_000_000;
/// A cancel must be scheduled at least this far ahead.
const SCHEDULE_AHEAD_MS: u64 = 5_000;

/// An order named by the venue's id or by its own.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum OrderRef {
    Oid(u64),
    Cloid(String),
}

/// Why a request that is not about one order was refused. `IsolatedOnly`, `NotListed`, `MarginRoom` and
/// `ScheduleTooSoon` are worded here: no source has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum AmendError {
    MissingOrder,
    FastCancelOfTrigger,
    Gone,
    NeedsAlways,
    NewOrder(String),
    Leverage,
    SwitchWithPosition,
    IsolatedOnly,
    NotIsolated,
    NotListed,
    MarginRoom,
    ScheduleVolume(Decimal),
    ScheduleTooSoon,
}

impl std::fmt::Display for AmendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::MissingOrder => f.write_str("Order was never placed, already canceled, or filled."),
            Self::FastCancelOfTrigger => f.write_str("Cannot fast cancel a trigger order."),
            Self::Gone => f.write_str("Cannot modify canceled or filled order"),
            Self::NeedsAlways => f.write_str("Modify must place a resting order."),
            Self::NewOrder(inner) => write!(f, "Error placing new order during modify: {inner}"),
            Self::Leverage => f.write_str("Invalid leverage value"),
            Self::SwitchWithPosition => f.write_str("Cannot switch leverage type with open position."),
            Self::IsolatedOnly => f.write_str("Cross margin is not allowed for this asset."),
            Self::NotIsolated => f.write_str("Position does not use isolated margin."),
            Self::NotListed => f.write_str("Invalid asset"),
            Self::MarginRoom => f.write_str("Insufficient margin."),
            Self::ScheduleVolume(traded) => write!(
                f,
                "Cannot set scheduled cancel time until enough volume traded. Required: ${SCHEDULE_VOLUME_USD}. \
                 Traded: ${traded}."
            ),
            Self::ScheduleTooSoon => f.write_str("Scheduled cancel time too soon."),
        }
    }
}

impl Engine {
    /// The live order a reference names; a client order id names the latest live one that carries it.
    fn live(&self, reference: &OrderRef) -> Option<u64> {
        match reference {
            OrderRef::Oid(oid) => self.orders.contains_key(oid).then_some(*oid),
            OrderRef::Cloid(cloid) => {
                let mut newest_first = self.orders.values().rev();
                newest_first.find(|order| order.spec.cloid.as_ref() == Some(cloid)).map(|order| order.oid)
            }
        }
    }

    /// Cancels one order of `asset`.
    pub(crate) fn cancel(&mut self, asset: u32, reference: &OrderRef, fast: bool) -> Result<(), AmendError> {
        let oid = self.live(reference).ok_or(AmendError::MissingOrder)?;
        let order = self.orders.get(&oid).filter(|order| order.spec.asset == asset).ok_or(AmendError::MissingOrder)?;
        if fast && order.live_trigger().is_some() {
            return Err(AmendError::FastCancelOfTrigger);
        }
        self.end(oid, "canceled");
        Ok(())
    }

    /// Replaces a live order: a cancel and a place under a new id. `always` places even when there is none to cancel.
    pub(crate) fn modify(&mut self, reference: &OrderRef, mut spec: Spec, always: bool) -> Result<Status, AmendError> {
        if self.settings.strict_modify && !always {
            spec.kind = match spec.kind {
                Kind::Limit(Tif::Gtc | Tif::Alo) => Kind::Limit(Tif::Alo),
                Kind::Limit(_) | Kind::Trigger(_) => return Err(AmendError::NeedsAlways),
            };
        }
        let Some(oid) = self.live(reference) else {
            return if always { Ok(self.place(spec, false)) } else { Err(AmendError::Gone) };
        };
        let Some(old) = self.orders.remove(&oid) else { return Err(AmendError::Gone) };
        let new = self.successor(&old, spec);
        let new_oid = new.oid;
        match self.place_order(new) {
            Status::Error(inner) => {
                self.orders.insert(oid, old);
                if !self.settings.failed_modify_keeps_order {
                    self.end(oid, "canceled");
                }
                Err(AmendError::NewOrder(inner))
            }
            placed => {
                self.record(&old, "canceled");
                self.inherit_children(oid, new_oid);
                Ok(placed)
            }
        }
    }

    /// The order that takes an old one's place; a trigger stays its parent's child and the position's.
    fn successor(&mut self, old: &Order, spec: Spec) -> Order {
        let mut new = Order::new(self.take_oid(), spec, self.now_ms);
        if new.spec.trigger().is_some() {
            new.position_tpsl = old.position_tpsl;
            new.parent = old.parent;
            if old.stage == Stage::Waiting {
                new.stage = Stage::Waiting;
            }
        }
        new
    }

    /// The children of a modified parent are its successor's; they wake if that filled at once.
    fn inherit_children(&mut self, old: u64, new: u64) {
        for child in self.orders.values_mut().filter(|order| order.parent == Some(old)) {
            child.parent = Some(new);
        }
        let filled = self.records.get(&new).filter(|record| record.order.remaining.is_zero());
        if let Some(order) = filled.map(|record| record.order.clone()) {
            self.after_filled(&order);
        }
    }

    /// Sets a market's leverage and margin mode.
    pub(crate) fn update_leverage(&mut self, asset: u32, is_cross: bool, value: u32) -> Result<(), AmendError> {
        let market = self.market(asset).ok_or(AmendError::NotListed)?;
        if value == 0 || value > market.max_leverage {
            return Err(AmendError::Leverage);
        }
        if is_cross && market.only_isolated {
            return Err(AmendError::IsolatedOnly);
        }
        let held = self.account.positions.get(&asset);
        if held.is_some_and(|position| position.isolated_usd.is_none() != is_cross) {
            return Err(AmendError::SwitchWithPosition);
        }
        let needed = match held {
            Some(position) => {
                let wanted = (position.szi * self.mark(asset)).abs() / Decimal::from(value);
                (wanted - self.margin_used(asset, position)).max(Decimal::ZERO)
            }
            None => Decimal::ZERO,
        };
        if needed > self.free_margin().max(Decimal::ZERO) {
            return Err(AmendError::MarginRoom);
        }
        self.account.leverage.insert(asset, Leverage { is_cross, value });
        self.move_isolated_margin(asset, needed);
        Ok(())
    }

    /// Moves margin into (negative: out of) an isolated position; what stays must cover its initial margin.
    pub(crate) fn update_isolated_margin(&mut self, asset: u32, usd: Decimal) -> Result<(), AmendError> {
        let position = self.account.positions.get(&asset).ok_or(AmendError::NotIsolated)?;
        if position.isolated_usd.is_none() {
            return Err(AmendError::NotIsolated);
        }
        let initial = self.initial_margin(asset, (position.szi * self.mark(asset)).abs());
        let after = self.margin_used(asset, position) + usd;
        let takes_too_much = usd.is_sign_negative() && after < initial;
        if takes_too_much || usd > self.free_margin() {
            return Err(AmendError::MarginRoom);
        }
        self.move_isolated_margin(asset, usd);
        Ok(())
    }

    fn move_isolated_margin(&mut self, asset: u32, usd: Decimal) {
        let position = self.account.positions.get_mut(&asset);
        if let Some(isolated) = position.and_then(|position| position.isolated_usd.as_mut()) {
            *isolated += usd;
            self.account.cross_usd -= usd;
        }
    }

    /// Schedules the cancel of everything, or unschedules it.
    pub(crate) fn schedule_cancel(&mut self, at_ms: Option<u64>) -> Result<(), AmendError> {
        let traded = self.volume();
        if traded < Decimal::from(SCHEDULE_VOLUME_USD) {
            return Err(AmendError::ScheduleVolume(traded));
        }
        if at_ms.is_some_and(|at_ms| at_ms < self.now_ms.saturating_add(SCHEDULE_AHEAD_MS)) {
            return Err(AmendError::ScheduleTooSoon);
        }
        self.scheduled_cancel_ms = at_ms;
        Ok(())
    }

    /// Cancels every live order.
    pub(super) fn cancel_all(&mut self, status: &'static str) {
        let all: Vec<u64> = self.orders.keys().copied().collect();
        for oid in all {
            self.end(oid, status);
        }
    }

    /// Notional traded since the beginning, before this venue started included.
    pub(crate) fn volume(&self) -> Decimal {
        self.settings.prior_volume + self.account.volume
    }

    /// The text for one order's line of a batch, where a modify's or cancel's refusal stands.
    pub(crate) fn amend_text(&self, asset: u32, error: &AmendError) -> String {
        match error {
            AmendError::MissingOrder => self.reject_text(asset, &Reject::Told(error.to_string())),
            AmendError::NewOrder(inner) => inner.clone(),
            other => other.to_string(),
        }
    }
}
