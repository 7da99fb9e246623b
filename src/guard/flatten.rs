//! Flatten: everything goes. Every order that is no cover is cancelled and every position closed, round after round on
//! fresh reads, until the account is flat; the stops go last. What appears while it must stay flat goes as well.

use std::collections::BTreeSet;

use rust_decimal::Decimal;

use super::close::order_action;
use super::effect::{Deed, Effects, Keys, Read, RiskRecord, Urgency};
use super::intent::Ending;
use super::own::{Cause, Problem};
use super::state::Guard;
use super::view::Resting;
use super::{Mode, event};
use crate::venue::action::{Action, Cancel, CancelByCloid};
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;
use crate::venue::reply::{Reply, Status};

/// Cancels or closes in one action at most.
const BATCH: usize = 100;
/// Pauses between rounds: the first, doubled up to the longest.
const FIRST_PAUSE_MS: u64 = 1_000;
const LONGEST_PAUSE_MS: u64 = 60_000;
/// The open orders are waited for this long before a first round without them.
const ORDERS_WAIT_MS: u64 = 3_000;

/// What is left: each position's size, and how many orders.
type Left = (Vec<(u32, Decimal)>, usize);

/// Where a flatten stands.
#[derive(Debug, Clone, Default)]
pub(super) struct Flatten {
    /// Why the next flatten event is due.
    wanted: Option<(String, u64)>,
    /// The last flatten event: what later rounds serve.
    pub(super) of: Option<u64>,
    round: usize,
    begun_ms: u64,
    pause_ms: u64,
    /// What was left when the last round began.
    left: Left,
    /// Only reads that began since then show what the last round did.
    reads_since_ms: u64,
    /// A batch was refused as a whole: its orders go one by one from now on.
    singly: bool,
    /// Nothing was left at the last look.
    is_flat: bool,
}

impl Flatten {
    /// Asks for a flatten event of its own.
    pub(super) fn want(&mut self, reason: String, now_ms: u64) {
        *self = Self { wanted: Some((reason, now_ms)), of: self.of, ..Self::default() };
    }

    /// Goes on with the rounds of an earlier life.
    pub(super) fn resume(&mut self, of: u64) {
        *self = Self { of: Some(of), ..Self::default() };
    }

    /// Ends it: the account may hold positions again.
    pub(super) fn end(&mut self) {
        *self = Self::default();
    }

    /// Takes in how one of its actions ended.
    pub(super) fn ended(&mut self, action: &Action, ending: &Ending, now_ms: u64) {
        self.reads_since_ms = now_ms;
        if let Ending::Answered(reply, _) = ending
            && action.batch_len() > 1
        {
            let is_one = matches!(reply, Reply::Refused(_))
                || matches!(reply, Reply::Statuses(statuses) if matches!(statuses.as_slice(), [Status::Error(_)]));
            self.singly = self.singly || is_one;
        }
    }
}

impl Guard {
    /// Whether the account must hold no position: killed, halted or stopped.
    pub(super) fn must_be_flat(&self) -> bool {
        self.killed.is_some() || self.risk.is_halted()
    }

    /// Whether the rounds ended with nothing left, and nothing has turned up since.
    pub(super) fn is_flat(&self) -> bool {
        self.watch.flatten.is_flat && self.all_must_go().0.is_empty()
    }

    /// Starts a flatten, or its next round.
    pub(super) fn flatten(&mut self, effects: &mut Effects, now_ms: u64) {
        if let Some((reason, since_ms)) = self.watch.flatten.wanted.clone() {
            if self.view.orders_ms.is_some() || now_ms.saturating_sub(since_ms) > ORDERS_WAIT_MS {
                self.begin_flatten(effects, &reason, now_ms);
            }
            return;
        }
        let (flatten, left) = (&self.watch.flatten, self.left());
        let Some(of) = flatten.of else { return };
        // Pauses grow only while nothing changes.
        let pause_ms = if left == flatten.left { flatten.pause_ms } else { FIRST_PAUSE_MS };
        let is_due =
            now_ms.saturating_sub(flatten.begun_ms) >= pause_ms && self.is_read_since(flatten.reads_since_ms, now_ms);
        if self.config.mode == Mode::Paper || !is_due || self.is_acting() {
            return;
        }
        let (mut actions, _) = self.all_must_go();
        if actions.is_empty() {
            actions = cancels(&self.view.orders.values().filter(|order| order.stop_px.is_some()).copied_ids());
        }
        let flatten = &mut self.watch.flatten;
        flatten.is_flat = actions.is_empty();
        if actions.is_empty() {
            (flatten.round, flatten.pause_ms, flatten.begun_ms) = (0, 0, 0);
            return;
        }
        flatten.begin_round(left, now_ms);
        for action in actions {
            self.act(effects, Cause::Again { of }, vec![action], now_ms);
        }
    }

    /// The flatten event: one for every cause.
    fn begin_flatten(&mut self, effects: &mut Effects, reason: &str, now_ms: u64) {
        let (actions, problems) = self.all_must_go();
        let seq = self.act(effects, Cause::Flatten { reason, problems }, actions, now_ms);
        let left = self.left();
        let flatten = &mut self.watch.flatten;
        (flatten.wanted, flatten.of, flatten.reads_since_ms) = (None, Some(seq), now_ms);
        flatten.begin_round(left, now_ms);
        if self.risk.is_halted() {
            effects.risk.push(RiskRecord { text: super::risk::flatten_record(seq, now_ms) });
        }
        if self.config.mode != Mode::Paper {
            effects.at_once.extend([Read::OrdersNow, Read::AccountNow, Read::Twaps].map(Deed::Read));
        }
    }

    /// Whether a close or cancel of the guard's own still has no answer. A stop that has none holds up nothing.
    fn is_acting(&self) -> bool {
        let own = self.intents.values().filter(|intent| intent.urgency == Urgency::Own);
        own.flat_map(|intent| &intent.actions).any(|planned| !planned.action.orders().any(Order::is_trigger))
    }

    fn left(&self) -> Left {
        let positions = self.view.account.iter().flat_map(|account| &account.positions);
        (positions.map(|(asset, position)| (*asset, position.szi)).collect(), self.view.orders.len())
    }

    /// The cancels and closes that are left to do, and what cannot be done.
    fn all_must_go(&self) -> (Vec<Action>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut problem = |coin: &str, text: String| problems.push(Problem { coin: coin.to_owned(), text });
        let covers = self.cover_ids();
        let seen = self.view.orders.values().chain(self.view.placed());
        let doomed = seen.filter(|order| !covers.contains(&order.oid)).copied_ids();
        let mut actions = cancels(&doomed);
        actions.extend(self.cancels_in_flight());
        for order in &self.view.foreign_orders {
            problem(&order.coin, format!("order {} is of no core perp and cannot be cancelled here", order.oid));
        }
        let mut closes = Vec::new();
        let account = self.view.account.as_ref();
        for (asset, position) in account.into_iter().flat_map(|account| &account.positions) {
            let size = position.szi.abs();
            if self.watch.care(*asset).is_some_and(|care| care.is_dust(size)) {
                continue;
            }
            if position.position_value < MIN_NOTIONAL {
                let value = position.position_value.normalize();
                let text =
                    format!("worth {value}, under the venue's minimum of {MIN_NOTIONAL} USDC, which it may keep to");
                problem(&position.coin, text);
            }
            match self.close_order(*asset, self.watch.flatten.round) {
                Some(order) => closes.push(order),
                None => problem(&position.coin, "there is no price to close it at".to_owned()),
            }
        }
        for coin in account.into_iter().flat_map(|account| &account.unknown) {
            problem(coin, "its market is not known, so the position cannot be closed here".to_owned());
        }
        let batch = if self.watch.flatten.singly { 1 } else { BATCH };
        actions.extend(closes.chunks(batch).map(|orders| order_action(orders.to_vec())));
        (actions, problems)
    }

    /// The market stops that stand for a position: they go last.
    fn cover_ids(&self) -> BTreeSet<u64> {
        let covers = |order: &&Resting| {
            let held = self.view.position(order.asset);
            order.stop_px.is_some() && if order.is_buy { held < Decimal::ZERO } else { held > Decimal::ZERO }
        };
        // One that was just accepted counts as well, though no read has shown it yet.
        self.view.orders.values().chain(self.view.placed()).filter(covers).map(|order| order.oid).collect()
    }

    /// Cancels, by client order id, for entries that were sent and that nothing has shown yet.
    fn cancels_in_flight(&self) -> Vec<Action> {
        let known = |cloid: &crate::base::address::Cloid| self.view.orders_by_cloid(*cloid).next().is_some();
        let entries = self.pending.alive().filter(|order| !order.reduce_only && order.intent != 0);
        let cancels: Vec<CancelByCloid> = entries
            .filter_map(|order| Some(CancelByCloid { asset: order.asset, cloid: order.cloid? }))
            .filter(|cancel| !known(&cancel.cloid))
            .collect();
        cancels.chunks(BATCH).map(|cancels| Action::CancelByCloid { cancels: cancels.to_vec(), fast: false }).collect()
    }

    /// Stops the TWAP orders that run.
    pub(super) fn stop_twaps(&mut self, effects: &mut Effects, twaps: Result<Vec<(String, u64)>, String>, now_ms: u64) {
        let Some(of) = self.watch.flatten.of.filter(|_| self.must_be_flat() && self.can_act()) else { return };
        let running = match twaps {
            Ok(running) => running,
            Err(text) => {
                let text = format!("TWAP orders could not be read, so none was stopped: {text}");
                self.record(effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
                return;
            }
        };
        for (coin, twap_id) in running {
            let Some(asset) = self.view.universe.by_coin(&coin).map(|market| market.asset) else { continue };
            self.act(effects, Cause::Again { of }, vec![Action::TwapCancel { asset, twap_id }], now_ms);
        }
    }
}

impl Flatten {
    fn begin_round(&mut self, left: Left, now_ms: u64) {
        let longer_ms = if left == self.left { self.pause_ms.saturating_mul(2) } else { 0 };
        self.pause_ms = longer_ms.clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        (self.left, self.begun_ms) = (left, now_ms);
        self.round = self.round.saturating_add(1);
    }
}

/// Market and id of each order.
trait Ids {
    fn copied_ids(self) -> Vec<Cancel>;
}

impl<'a, I: Iterator<Item = &'a Resting>> Ids for I {
    fn copied_ids(self) -> Vec<Cancel> {
        self.map(|order| Cancel { asset: order.asset, oid: order.oid }).collect()
    }
}

fn cancels(doomed: &[Cancel]) -> Vec<Action> {
    let actions = doomed.chunks(BATCH);
    actions.map(|cancels| Action::Cancel { cancels: cancels.to_vec(), fast: false }).collect()
}
