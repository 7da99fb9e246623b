//! The stops that entries of an earlier life were judged with. Where a client has taken their children away nothing at the venue tells
//! of them, and what such an entry opens must have no stop farther away for the sake of a restart.

use crate::base::address::Cloid;
use crate::base::amount::percent_of;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::sent::ledger::SentOrders;
use crate::guard::state::view::View;
use crate::rules::Rules;
use crate::venue::action::Action;
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, VecDeque};

/// As many are kept, the newest; the venue lets a thousand orders rest.
const MOST: usize = 4_000;

/// Stops by the client order id of their entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct EarlierStops {
    known: BTreeMap<Cloid, Decimal>,
    /// Oldest first.
    order: VecDeque<Cloid>,
}

impl EarlierStops {
    /// Takes in an action that an earlier life sent. Of stops that go beside their entries, and not as a group, nobody knows which
    /// one an entry will have: it counts with the farthest. What goes without any gets the guard's own when it fills, as far from its
    /// price as the rules say. Where the collar lets a price go about as far beyond the mid, that was measured from the mid, which
    /// nobody remembers: a stop by such a price would have been passed from the first.
    pub(crate) fn note(&mut self, action: &Action, rules: &Rules) {
        let is_measured = rules.collar.saturating_mul(Decimal::TWO) <= rules.stop;
        for entry in action.orders().filter(|order| !order.reduce_only) {
            let side = PositionSide::opened_by(Side::of(entry.is_buy));
            // A stop of the entry's own side, a client's mistake, closes nothing of what it opens.
            let stops = action.orders().filter(|order| (order.asset, order.is_buy) == (entry.asset, !entry.is_buy));
            let stop_px = stops.filter_map(Order::market_stop_px).reduce(|one, other| side.further_of(one, other));
            let own_px = || side.away(entry.limit_px, percent_of(entry.limit_px, rules.stop));
            // An id that is used again tells of its newest order alone.
            entry.cloid.iter().for_each(|cloid| self.forget(cloid));
            self.add(entry.cloid.zip(stop_px.or_else(|| is_measured.then(own_px))));
        }
    }

    /// Where what this entry opens is stopped out.
    pub(crate) fn of(&self, entry: &Order) -> Option<StopAt> {
        let px = self.known.get(&entry.cloid?).copied().filter(|_| !entry.reduce_only)?;
        Some(StopAt { px, is_own: false })
    }

    fn forget(&mut self, cloid: &Cloid) {
        if self.known.remove(cloid).is_some() {
            self.order.retain(|other| other != cloid);
        }
    }

    /// Whether nothing of an earlier life is known.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Where what the entry with this client order id opens is stopped out.
    pub(crate) fn of_cloid(&self, cloid: Cloid) -> Option<Decimal> {
        self.known.get(&cloid).copied()
    }

    /// Takes in what a checkpoint knows.
    pub(crate) fn add(&mut self, stops: impl IntoIterator<Item = (Cloid, Decimal)>) {
        for (cloid, px) in stops {
            if self.known.insert(cloid, px).is_none() {
                self.order.push_back(cloid);
            }
            while self.order.len() > MOST {
                self.order.pop_front().into_iter().for_each(|oldest| _ = self.known.remove(&oldest));
            }
        }
    }

    /// Gives the entries that a read shows without a child the stop that they were judged with.
    pub(crate) fn give_to(&self, view: &mut View) {
        let bare = view.orders.values_mut().filter(|order| order.is_entry() && StopAt::of(order).is_none());
        bare.for_each(|order| order.judged_px = order.cloid.and_then(|cloid| self.known.get(&cloid)).copied());
    }

    /// All that the next life must know: of what rests and what is on its way, and until that was read of what an earlier life knew.
    /// Of a life that `is_young` what has filled before it may not have its stop yet.
    pub(crate) fn record(&self, view: &View, sent: &SentOrders, is_young: bool) -> Vec<(Cloid, Decimal)> {
        let resting = view.orders.values().filter(|order| order.is_entry());
        let resting = resting.filter_map(|order| Some((order.cloid?, StopAt::of(order)?.px)));
        let sent = sent.orders.iter().filter(|order| !order.reduce_only);
        let sent = sent.filter_map(|order| Some((order.cloid?, order.stop?.px)));
        let earlier =
            self.known.iter().filter(|_| is_young || view.orders_ms.is_none()).map(|(cloid, px)| (*cloid, *px));
        let known: BTreeMap<Cloid, Decimal> = earlier.chain(sent).chain(resting).collect();
        known.into_iter().take(MOST).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;
    use serde_json::{Value, json};

    fn cloid(number: u128) -> Cloid {
        Cloid(number.to_be_bytes())
    }

    /// Whatever their client order ids are.
    #[test]
    fn of_too_many_the_oldest_are_forgotten() {
        let mut stops = EarlierStops::default();
        let all: Vec<(Cloid, Decimal)> = (0..MOST as u128 + 2).rev().map(|at| (cloid(at), Decimal::from(at))).collect();
        stops.add(all.clone());
        let known: Vec<bool> = all.iter().map(|(cloid, _)| stops.known.contains_key(cloid)).collect();
        assert_eq!(known.iter().filter(|is_known| **is_known).count(), MOST);
        assert_eq!((known.first(), known.get(1), known.get(2)), (Some(&false), Some(&false), Some(&true)));
    }

    /// Half as far as the stop, and no farther.
    const NARROW: Decimal = dec!(0.5);

    fn limit(is_buy: bool, asset: u32, number: u128) -> Value {
        json!({"a": asset, "b": is_buy, "p": "2000", "s": "1", "r": false, "t": {"limit": {"tif": "Gtc"}},
            "c": format!("0x{number:032x}")})
    }

    fn trigger(is_buy: bool, asset: u32, px: &str, tpsl: &str) -> Value {
        let trigger = json!({"isMarket": true, "triggerPx": px, "tpsl": tpsl});
        json!({"a": asset, "b": is_buy, "p": px, "s": "1", "r": true, "t": {"trigger": trigger}})
    }

    fn noted(orders: &[Value], grouping: &str, collar: Decimal) -> EarlierStops {
        let action = json!({"type": "order", "orders": orders, "grouping": grouping});
        let mut stops = EarlierStops::default();
        stops.note(
            &Action::parse(&serde_json::from_value(action).unwrap()).unwrap(),
            &Rules { stop: Decimal::ONE, collar, ..Rules::default() },
        );
        stops
    }

    /// An entry with a take-profit and stops on either side, as a group or one beside the other.
    #[test]
    fn an_entry_has_the_stop_that_closes_what_it_opens() {
        for grouping in ["normalTpsl", "na"] {
            let children =
                [trigger(false, 1, "2100", "tp"), trigger(true, 1, "2050", "sl"), trigger(false, 1, "1960", "sl")];
            let orders = [vec![limit(true, 1, 7)], children.to_vec()].concat();
            assert_eq!(
                noted(&orders, grouping, NARROW).known,
                BTreeMap::from([(cloid(7), Decimal::from(1960))]),
                "{grouping}"
            );
        }
        let bare = [limit(true, 1, 7), trigger(false, 1, "2100", "tp"), limit(false, 1, 8)];
        assert_eq!(noted(&bare, "na", dec!(0.51)).known, BTreeMap::new(), "a price that may lie far beyond the mid");
        let bare = noted(&bare, "na", NARROW);
        assert_eq!(
            bare.known,
            BTreeMap::from([(cloid(7), Decimal::from(1980)), (cloid(8), Decimal::from(2020))]),
            "the guard's own"
        );
    }

    /// Each of many entries has the farthest stop of its own market and side.
    #[test]
    fn what_goes_beside_its_stops_counts_with_the_farthest() {
        let entries = [limit(true, 1, 1), limit(true, 1, 2), limit(false, 1, 3), limit(true, 2, 4), limit(true, 3, 5)];
        let stops = [("1960", false, 1), ("1900", false, 1), ("2040", true, 1), ("2090", true, 1), ("1980", false, 2)]
            .map(|(px, is_buy, asset)| trigger(is_buy, asset, px, "sl"));
        let known =
            [(1, 1900), (2, 1900), (3, 2090), (4, 1980), (5, 1980)].map(|(at, px)| (cloid(at), Decimal::from(px)));
        assert_eq!(noted(&[entries.to_vec(), stops.to_vec()].concat(), "na", NARROW).known, BTreeMap::from(known));
    }
}
