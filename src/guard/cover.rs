//! Cover: the market stops that stand for a position, and those on their way to or from the venue.
//!
//! Whether a position is bare is judged with everything that may rest; whether a stop is spare only with what a read
//! showed to rest and nobody is cancelling. Both mistakes then leave a stop too many rather than one too few.

use rust_decimal::Decimal;

use super::intent::Ending;
use super::pending::{Phase, is_guard_stop};
use super::state::Guard;
use crate::base::address::Cloid;
use crate::venue::action::{Action, Grouping};
use crate::venue::order::Order;
use crate::venue::reply::Status;

/// Stops that were sent and that no read has shown or missed yet.
#[derive(Debug, Clone, Default)]
pub(super) struct InFlight(Vec<StopSent>);

/// An order's place: the event that names it, the action in the event, the order in the action.
type Place = (u64, usize, usize);

#[derive(Debug, Clone)]
struct StopSent {
    place: Place,
    asset: u32,
    is_buy: bool,
    px: Decimal,
    size: Option<Decimal>,
    cloid: Option<Cloid>,
    phase: Phase,
}

/// A market stop that may stand for a position.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) px: Decimal,
    /// `None` covers whatever the position is.
    pub(super) size: Option<Decimal>,
    pub(super) is_own: bool,
    /// The order and the time when it was first seen, for one that a read showed.
    pub(super) shown: Option<(u64, u64)>,
}

impl Stop {
    /// How much of a position of this size it covers.
    pub(super) fn of(&self, held: Decimal) -> Decimal {
        self.size.unwrap_or(held)
    }
}

/// How much of a position these stops cover.
pub(super) fn sum<'a>(stops: impl IntoIterator<Item = &'a Stop>, held: Decimal) -> Decimal {
    stops.into_iter().fold(Decimal::ZERO, |sum, stop| sum.saturating_add(stop.of(held)))
}

impl InFlight {
    /// Takes note of the stops that an action places, before it is sent. The children of an entry are none of it: they
    /// cover nothing before the entry has filled.
    pub(super) fn reserve(&mut self, intent: u64, index: usize, action: &Action) {
        let mut stop = |place: usize, order: &Order, whole: bool| {
            let Some(px) = order.market_stop_px() else { return };
            let size = if whole && order.size.is_zero() { None } else { Some(order.size) };
            let (asset, is_buy, cloid) = (order.asset, order.is_buy, order.cloid);
            let place = (intent, index, place);
            self.0.push(StopSent { place, asset, is_buy, px, size, cloid, phase: Phase::Unanswered });
        };
        match action {
            Action::Order(orders) if orders.grouping == Grouping::NormalTpsl => {}
            Action::Order(orders) => {
                let whole = orders.grouping == Grouping::PositionTpsl;
                orders.orders.iter().enumerate().for_each(|(place, order)| stop(place, order, whole));
            }
            action => action.orders().enumerate().for_each(|(place, order)| stop(place, order, false)),
        }
    }

    /// Takes in how an action ended. Where nothing says what it did, the next read of the orders does.
    pub(super) fn ended(&mut self, intent: u64, index: usize, ending: &Ending, now_ms: u64) {
        let is_of = |place: &Place| (place.0, place.1) == (intent, index);
        let is_gone = |place: &Place| match ending {
            Ending::NotSent(_) => true,
            Ending::Answered(reply, _) => matches!(reply.status(place.2), Status::Error(_)),
            Ending::Unknown(_) => false,
        };
        self.0.retain(|stop| !is_of(&stop.place) || !is_gone(&stop.place));
        let stops = self.0.iter_mut().filter(|stop| is_of(&stop.place));
        stops.for_each(|stop| stop.phase = Phase::Accepted(now_ms));
    }

    /// Drops what was never sent: the actions of an intent from this one on.
    pub(super) fn never_sent(&mut self, intent: u64, from_index: usize) {
        self.0.retain(|stop| stop.place.0 != intent || stop.place.1 < from_index);
    }

    /// Settles against a read of the orders that began at `begun_ms`.
    pub(super) fn orders_read(&mut self, begun_ms: u64) {
        self.0.retain(|stop| !matches!(stop.phase, Phase::Accepted(at_ms) if begun_ms >= at_ms));
    }
}

impl Guard {
    /// The market stops that may stand for one side of a market, and are not on their way out.
    pub(super) fn stops_for(&self, asset: u32, is_long: bool) -> Vec<Stop> {
        let in_flight = &self.watch.in_flight;
        let shown = self.view.orders.values().filter(|order| (order.asset, order.is_buy) == (asset, !is_long));
        let shown = shown.filter(|order| !self.pending.is_going(order.oid, order.cloid)).filter_map(|order| {
            let size = if order.is_position_tpsl && order.size.is_zero() { None } else { Some(order.size) };
            let shown = Some((order.oid, order.seen_ms));
            Some(Stop { px: order.stop_px?, size, is_own: order.is_guards(), shown })
        });
        let sent = in_flight.0.iter().filter(|stop| (stop.asset, stop.is_buy) == (asset, !is_long));
        let sent = sent.filter(|stop| !self.pending.is_unseen_going(stop.cloid));
        let sent = sent.filter(|stop| !stop.cloid.is_some_and(|cloid| self.view.shows(&cloid))).map(|stop| Stop {
            px: stop.px,
            size: stop.size,
            is_own: stop.cloid.is_some_and(|cloid| is_guard_stop(&cloid)),
            shown: None,
        });
        shown.chain(sent).collect()
    }
}
