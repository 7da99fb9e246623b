//! Stops that were sent and that no read has shown or missed yet.

use crate::base::address::Cloid;
use crate::guard::state::pending::Phase;
use crate::guard::state::send_result::Ending;
use crate::venue::action::{Action, Grouping};
use crate::venue::order::Order;
use crate::venue::reply::Status;
use rust_decimal::Decimal;

/// Stops that were sent and that no read has shown or missed yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(pub(crate) Vec<StopSent>);

/// An order's place: the event that names it, the action in the event, the order in the action.
type Place = (u64, usize, usize);

#[derive(Debug, Clone)]
pub(crate) struct StopSent {
    pub(crate) place: Place,
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) px: Decimal,
    pub(crate) size: Option<Decimal>,
    pub(crate) cloid: Option<Cloid>,
    pub(crate) phase: Phase,
}

impl InFlight {
    /// Takes note of the stops that an action places, before it is sent. The children of an entry are none of it: they
    /// cover nothing before the entry has filled.
    pub(crate) fn reserve(&mut self, intent: u64, index: usize, action: &Action) {
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
    pub(crate) fn ended(&mut self, intent: u64, index: usize, ending: &Ending, now_ms: u64) {
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
    pub(crate) fn never_sent(&mut self, intent: u64, from_index: usize) {
        self.0.retain(|stop| stop.place.0 != intent || stop.place.1 < from_index);
    }

    /// Settles against a read of the orders that began at `begun_ms`.
    pub(crate) fn orders_read(&mut self, begun_ms: u64) {
        self.0.retain(|stop| !matches!(stop.phase, Phase::Accepted(at_ms) if begun_ms >= at_ms));
    }
}
