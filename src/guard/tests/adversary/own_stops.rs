//! Entries that rest and lose their children: what they open is covered no farther away than it was judged to be, and those that fill
//! together each by a stop of their own.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::super::simulation::dice::Dice;
use super::super::simulation::venue::Trade;
use super::FOUND;
use super::moves::Move;
use super::nature::{Nature, Trouble};
use crate::venue::action::{Action, Grouping};
use crate::venue::order::Order;

/// The stops of entries that came to rest, by the order id of the entry.
#[derive(Debug, Default)]
pub(super) struct OwnStops {
    is_watched: bool,
    judged: BTreeMap<u64, Decimal>,
}

impl OwnStops {
    /// In one game of four the client is fond of cancelling children. It is drawn by dice of its own, so that the others are played as
    /// if there were no such client. Where the guard must guess which entry has filled it takes the farthest stop.
    pub(super) fn draw(seed: u64, nature: &mut Nature) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(17).wrapping_add(5));
        if FOUND.contains(&seed) || !dice.one_in(4) {
            return Self::default();
        }
        nature.fond_of.extend([Move::CancelChildren; 4]);
        nature.fond_of.extend([Move::Bracket; 4]);
        nature.fond_of.extend([Move::Gap; 2]);
        let is_sure = nature.feed.is_none_or(|feed| feed.lost == 0);
        Self { is_watched: is_sure && nature.trouble == Trouble::None, judged: BTreeMap::new() }
    }

    /// The venue has answered an action.
    pub(super) fn note(&mut self, action: &Action, reply: &Value) {
        let Action::Order(sent) = action else { return };
        let rests = reply.pointer("/response/data/statuses/0/resting/oid").and_then(Value::as_u64);
        let is_buy = sent.orders.first().is_some_and(|entry| entry.is_buy);
        let mut stops = sent.orders.iter().filter(|order| order.is_buy != is_buy);
        let stop_px = stops.find_map(Order::market_stop_px);
        let judged = rests.zip(stop_px).filter(|_| sent.grouping == Grouping::NormalTpsl);
        self.judged.extend(judged);
    }

    /// The stop of the entry that has traded, among these of one moment. Where several of them turn a position nobody can tell by
    /// what is left which of them closed and which opened: any of it may go by the farthest of their stops.
    pub(super) fn of(&self, trade: &Trade, moment: &[Trade]) -> Option<Decimal> {
        let is_bought = trade.after > trade.before;
        let is_its = |other: &&Trade| other.coin == trade.coin && (other.after > other.before) == is_bought;
        let of_coin = || moment.iter().filter(is_its);
        let is_turned = of_coin().any(|other| other.before * other.after < Decimal::ZERO);
        let stop = |trade: &Trade| self.judged.get(&trade.oid).copied().filter(|_| self.is_watched);
        if !is_turned {
            return stop(trade);
        }
        let all = of_coin().map(stop).collect::<Option<Vec<Decimal>>>()?;
        if is_bought { all.into_iter().min() } else { all.into_iter().max() }
    }
}
