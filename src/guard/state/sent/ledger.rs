//! The ledger: one entry point for each event of a send, so that orders, triggers and cancels never drift apart.

use super::cancel::{NOT_THERE, SentCancel, targets};
use super::elsewhere::Elsewhere;
use super::gone::GoneTrigger;
use super::key::{Moment, Phase, SentKey};
use super::order::{MatchedBy, SentOrder};
use super::trigger::SentTrigger;
use super::unshown::Unshown;
use crate::base::address::Cloid;
use crate::guard::state::cover;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::state::send_result::SendResult;
use crate::guard::state::view::{Resting, View};
use crate::venue::action::{Action, Grouping, Target};
use crate::venue::reply::{Reply, Status};
use rust_decimal::Decimal;
use std::collections::BTreeSet;

/// Accepted orders remembered as resting between two reads at most; more are known only once they are read.
const MAX_RESTING: usize = 1000;

/// What was sent and is not shown yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentOrders {
    /// Orders that may fill: their exposure counts.
    pub(crate) orders: Vec<SentOrder>,
    pub(super) triggers: Vec<SentTrigger>,
    pub(super) cancels: Vec<SentCancel>,
    /// What was answered, and no read shows.
    pub(crate) unshown: Unshown,
    /// Moves of positions since the last read of the open orders, signed, that nothing which was sent explains.
    pub(super) unexplained: Vec<(u32, Decimal)>,
    /// Triggers that may have fired, and are open no more.
    pub(super) gone: Vec<GoneTrigger>,
    /// Fills of other orders that the feed told of, and that no read has shown.
    pub(crate) elsewhere: Elsewhere,
    /// Actions that nobody told of, and of which an order was found.
    pub(super) found: BTreeSet<(u64, usize)>,
}

impl SentOrders {
    /// Reserves what an action could do, before it is sent. `stops` are where its orders are stopped out.
    pub(crate) fn reserve(
        &mut self,
        (intent, index): (u64, usize),
        action: &Action,
        stops: &[Option<StopAt>],
        now_ms: u64,
    ) {
        let grouping = grouping_of(action);
        for (slot, order) in action.orders().enumerate() {
            let key = SentKey { intent, index, slot };
            if order.is_trigger() {
                let stop = cover::of_order(order, grouping).and_then(|size| Some((order.market_stop_px()?, size)));
                self.triggers.push(SentTrigger::new(key, order, stop, now_ms));
            } else {
                let others = self.orders.iter().filter(|other| other.cloid == order.cloid);
                let matched_by = MatchedBy::CloidSince(now_ms, others.filter_map(|other| other.oid).collect());
                let stop = stops.get(slot).copied().flatten();
                self.orders.push(SentOrder::new(key, order, stop, matched_by));
            }
        }
        let cancels = targets(action).into_iter().enumerate();
        self.cancels.extend(cancels.map(|(slot, target)| SentCancel {
            key: SentKey { intent, index, slot },
            target,
            sent_ms: now_ms,
            accepted_ms: None,
            done: None,
        }));
    }

    /// Takes in how an action ended.
    pub(crate) fn on_result(
        &mut self,
        key: (u64, usize),
        action: &Action,
        result: &SendResult,
        view: &View,
        at: Moment,
    ) {
        match result {
            SendResult::Answered(reply, _) => {
                self.resolve_replaced(key, reply, view);
                self.on_reply(key, reply, view, at);
                self.learn_resting(key, action, reply, view, at.now_ms);
            }
            SendResult::NotSent(..) => self.did_not_happen(key),
            // The orders wait for settlement; of a trigger the next read of the orders tells.
            SendResult::Unknown(_) => {
                self.triggers_of(key).for_each(|trigger| trigger.phase = Phase::Accepted(at.now_ms));
            }
        }
    }

    fn on_reply(&mut self, key: (u64, usize), reply: &Reply, view: &View, at: Moment) {
        let (mut named, mut wrong) = (Vec::new(), Vec::new());
        self.orders.retain_mut(|order| {
            if !order.key.is_of(key) {
                return true;
            }
            let is_kept = order.on_status(&reply.status(order.key.slot), at);
            let did = if is_kept && !order.is_told() { order.moved() } else { order.told() };
            wrong.extend(order.give_back(did).map(|back| ((order.asset, order.is_buy), back)));
            named.extend(order.oid.map(|oid| (oid, order.cloid)));
            is_kept
        });
        for (oid, cloid) in named {
            let others = self.orders.iter_mut().filter(|order| order.oid.is_none() && order.cloid == cloid);
            others.for_each(|order| order.is_not(oid));
        }
        wrong.into_iter().for_each(|(side, (size, read_ms))| self.move_on(side, size, read_ms));
        let is_refused = |key: SentKey| matches!(reply.status(key.slot), Status::Error(_));
        self.triggers.retain(|trigger| !trigger.key.is_of(key) || !is_refused(trigger.key));
        self.triggers_of(key).for_each(|trigger| trigger.phase = Phase::Accepted(at.now_ms));
        let (mut cancelled, mut named, mut not_there) = (Vec::new(), Vec::new(), Vec::new());
        self.cancels.retain_mut(|cancel| {
            if !cancel.key.is_of(key) {
                return true;
            }
            cancel.accepted_ms = Some(at.now_ms);
            let status = reply.status(cancel.key.slot);
            let is_done = match &status {
                Status::Success => true,
                // What a modify placed has taken the place of what it names, and may carry the same client order id.
                Status::Resting(oid) | Status::Filled(_, oid, ..) => {
                    matches!(cancel.target, Target::Oid(target) if target != *oid)
                }
                _ => false,
            };
            cancel.done = is_done.then_some(at);
            match (&status, cancel.target) {
                (_, Target::Oid(oid)) if is_done => cancelled.push(oid),
                (_, Target::Cloid(cloid)) if is_done => named.push(cloid),
                (Status::Error(text), Target::Oid(oid)) if text.contains(NOT_THERE) => {
                    not_there.push((oid, cancel.sent_ms));
                }
                _ => {}
            }
            !matches!(status, Status::Error(_))
        });
        cancelled.extend(named.into_iter().filter_map(|cloid| self.only_one(cloid, view)));
        cancelled.iter().for_each(|oid| self.unshown.on_cancelled(*oid, at.now_ms));
        // What the venue says is cancelled is open no more; what it filled before that the next account read tells.
        let gone = self.orders.iter_mut().filter(|order| order.oid.is_some_and(|oid| cancelled.contains(&oid)));
        gone.filter(|order| order.phase.is_open()).for_each(|order| order.phase = Phase::Closed(at));
        // What it said to rest, and does not hold any more, is over as well.
        self.orders.iter_mut().filter(|order| order.is_none_of(&not_there)).for_each(|order| order.close(at));
        let is_cancelled = |resting: &Resting| cancelled.contains(&resting.oid);
        self.triggers.retain(|trigger| !trigger.resting.as_ref().is_some_and(is_cancelled));
    }

    /// The order that carries a client order id, where the venue has said that it rests and nothing else may carry the same.
    fn only_one(&self, cloid: Cloid, view: &View) -> Option<u64> {
        let mut named = self.orders.iter().filter(|order| order.cloid == Some(cloid));
        let order = named.next().filter(|order| order.phase.is_open())?;
        let is_shared = named.next().is_some()
            || self.triggers.iter().any(|trigger| trigger.cloid == Some(cloid))
            || view.orders.values().any(|shown| shown.cloid == Some(cloid) && Some(shown.oid) != order.oid);
        order.oid.filter(|_| !is_shared)
    }

    /// Takes note of the orders that rest now, so that they can be named before the next read shows them.
    fn learn_resting(&mut self, key: (u64, usize), action: &Action, reply: &Reply, view: &View, now_ms: u64) {
        let is_position_tpsl = grouping_of(action) == Grouping::PositionTpsl;
        for (slot, order) in action.orders().enumerate() {
            let (Status::Resting(oid), Some(market)) = (reply.status(slot), view.market(order.asset)) else { continue };
            if self.unsorted_resting().count() >= MAX_RESTING {
                return;
            }
            let resting = Some(Resting::accepted(order, oid, &market.coin, is_position_tpsl, now_ms));
            let is_it = |other: SentKey| other.is_of(key) && other.slot == slot;
            if let Some(sent) = self.orders.iter_mut().find(|sent| is_it(sent.key) && sent.phase.is_open()) {
                sent.resting = resting;
            } else if let Some(sent) = self.triggers.iter_mut().find(|sent| is_it(sent.key)) {
                sent.resting = resting;
            }
        }
    }

    /// Drops what the actions of an intent from this one on had reserved: they were surely never sent.
    pub(crate) fn never_sent(&mut self, intent: u64, from_index: usize) {
        self.retain(|key| !key.is_from(intent, from_index));
    }

    /// Drops what an action had reserved: it never happened.
    pub(crate) fn did_not_happen(&mut self, key: (u64, usize)) {
        self.retain(|other| !other.is_of(key));
    }

    fn retain(&mut self, is_kept: impl Fn(SentKey) -> bool) {
        self.orders.retain(|order| is_kept(order.key));
        self.triggers.retain(|trigger| is_kept(trigger.key));
        self.cancels.retain(|cancel| is_kept(cancel.key));
    }

    /// Takes in that nothing more can become of an action: what does not rest has filled or gone.
    pub(crate) fn over(&mut self, key: (u64, usize), at: Moment) {
        let open = self.orders.iter_mut().filter(|order| order.key.is_of(key) && order.phase.is_open());
        open.filter(|order| order.is_immediate).for_each(|order| order.phase = Phase::Closed(at));
    }

    /// Takes an action without an answer for accepted by now: reads that begin from here on tell the truth about it.
    pub(crate) fn accepted(&mut self, key: (u64, usize), at: Moment) {
        let now_ms = at.now_ms;
        for order in self.orders.iter_mut().filter(|order| order.key.is_of(key)) {
            // What does not rest has filled or gone by now.
            order.phase = if order.is_immediate { Phase::Closed(at) } else { Phase::Accepted(now_ms) };
        }
        self.triggers_of(key).for_each(|trigger| trigger.phase = Phase::Accepted(now_ms));
        let cancels = self.cancels.iter_mut().filter(|cancel| cancel.key.is_of(key));
        cancels.for_each(|cancel| cancel.accepted_ms = Some(now_ms));
    }

    /// Settles against an orders read that began at `begun_ms` and was taken in at `at`. `left` is what has left the open
    /// orders since the read before it.
    pub(crate) fn on_orders_read(&mut self, view: &View, left: &[Resting], begun_ms: u64, at: Moment) {
        self.unshown.on_orders_read(view, left, begun_ms, at.now_ms);
        let mut shown = self.shown(view).into_iter();
        let found = &mut self.found;
        self.orders.retain_mut(|order| {
            let shown = shown.next().unwrap_or_default();
            if order.phase == Phase::Unanswered && shown > Decimal::ZERO {
                found.insert((order.key.intent, order.key.index));
            }
            order.on_orders_read(shown, begun_ms, at)
        });
        let orders = left.iter().filter(|order| !order.is_trigger);
        let vanished: Vec<SentOrder> = orders.map(|order| self.vanished(order, view, at)).collect();
        let vanished: Vec<SentOrder> = vanished.into_iter().filter(|order| !self.has_moved(order)).collect();
        self.unexplained.clear();
        // One that does not show it, begun in the same moment as the answer came, may be older.
        let is_told = |trigger: &SentTrigger| {
            let is_shown = trigger.cloid.is_some_and(|cloid| view.shows(&cloid));
            trigger.phase.is_answered_by(if is_shown { begun_ms } else { begun_ms.saturating_sub(1) })
        };
        let (told, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.triggers).into_iter().partition(is_told);
        self.triggers = kept;
        let fired = left.iter().filter(|order| !self.is_being_cancelled(order.oid, order.cloid)).collect::<Vec<_>>();
        GoneTrigger::on_orders_read(&mut self.gone, view, &fired, &told, at.now_ms);
        self.triggers.iter_mut().for_each(|trigger| trigger.on_orders_read(view, begun_ms));
        let Self { triggers, cancels, .. } = self;
        cancels.retain(|cancel| {
            // A read of before the venue took it may be older than the order as well, and the next one show it still.
            let is_before = cancel.accepted_ms.is_none_or(|at_ms| begun_ms <= at_ms);
            // By a guessed id it may name a trigger whose answer is yet to come: that must not count as standing then.
            let may_name = triggers.iter().any(|trigger| match &trigger.resting {
                Some(resting) => cancel.takes(resting.oid, trigger.cloid),
                None => trigger.phase == Phase::Unanswered,
            });
            // What the venue said to be gone is gone, however old the orders are that still show it. A read that began in
            // the same moment as the answer came may be older.
            let is_shown = matches!(cancel.target, Target::Oid(oid) if view.orders.contains_key(&oid));
            may_name || is_before || cancel.done.is_some() && is_shown
        });
        let read = Moment::of_account(view);
        self.orders.extend(vanished.into_iter().filter(|order| !read.is_some_and(|read| order.is_settled_by(read))));
    }

    /// Whether a reduce-only order that is gone from the open ones has moved the position by all of its size already.
    fn has_moved(&mut self, order: &SentOrder) -> bool {
        let moved = (order.asset, order.unmoved());
        let place = self.unexplained.iter().position(|other| *other == moved).filter(|_| order.reduce_only);
        place.map(|place| self.unexplained.remove(place)).is_some()
    }

    /// An order that has left the open orders, by now or when the venue said that it is cancelled.
    fn vanished(&self, order: &Resting, view: &View, at: Moment) -> SentOrder {
        let is_gone = !view.orders.contains_key(&order.oid);
        let cancel = self.cancels.iter().find(|cancel| is_gone && cancel.takes(order.oid, order.cloid));
        SentOrder::vanished(order, cancel.and_then(|cancel| cancel.done).unwrap_or(at))
    }

    /// How much of each order rests, as far as the open orders show. Of two that look alike neither is taken to be the
    /// one shown: both stay reserved beside it.
    fn shown(&mut self, view: &View) -> Vec<Decimal> {
        let mut sizes = Vec::with_capacity(self.orders.len());
        let mut unclear = Vec::new();
        for (slot, order) in self.orders.iter().enumerate() {
            let mut candidates = order.candidates(view);
            let is_waiting = |order: &SentOrder| order.oid.is_none() && order.phase.is_open();
            let has_double = || {
                let mut others = self.orders.iter().enumerate().filter(|(other, _)| *other != slot);
                others.any(|(_, other)| is_waiting(other) && other.looks_like(order))
            };
            let size = match candidates.next() {
                Some(found) if order.oid.is_some() || !has_double() => found.size,
                Some(found) => {
                    unclear.push(found.oid);
                    Decimal::ZERO
                }
                None => Decimal::ZERO,
            };
            unclear.extend(candidates.map(|order| order.oid));
            sizes.push(size);
        }
        for oid in unclear {
            self.orders.iter_mut().for_each(|order| order.is_not(oid));
        }
        sizes
    }

    /// The orders that may still be open.
    pub(crate) fn open(&self) -> impl Iterator<Item = &SentOrder> {
        self.orders.iter().filter(|order| order.phase.is_open())
    }

    /// Where the first order of an action is stopped out, as it was reserved.
    pub(crate) fn stop_of(&self, key: (u64, usize)) -> Option<StopAt> {
        self.orders.iter().find(|order| order.key.is_of(key))?.stop
    }

    /// Whether an order went with a trigger of its action.
    pub(crate) fn has_child(&self, key: SentKey) -> bool {
        self.triggers.iter().any(|trigger| trigger.key.is_of((key.intent, key.index)))
    }

    /// The client order ids of reduce-only orders that may come to rest, the guard's own stops left out.
    pub(crate) fn exits_on_their_way(&self) -> impl Iterator<Item = Option<Cloid>> {
        let orders = self.open().filter(|order| order.reduce_only && !order.is_immediate).map(|order| order.cloid);
        let triggers = self.triggers.iter().map(|trigger| trigger.cloid);
        orders.chain(triggers.filter(|cloid| !cloid.is_some_and(|cloid| is_guard_stop(&cloid))))
    }

    /// The client order ids of triggers that may rest.
    pub(crate) fn trigger_cloids(&self) -> impl Iterator<Item = Cloid> {
        self.triggers.iter().filter_map(|trigger| trigger.cloid)
    }

    /// The triggers that may rest, but for those that a cancel is taking away.
    pub(crate) fn standing_triggers(&self) -> impl Iterator<Item = &SentTrigger> {
        self.triggers.iter().filter(|trigger| match &trigger.resting {
            Some(resting) => !self.is_being_cancelled(resting.oid, trigger.cloid),
            None => !self.is_cloid_being_cancelled(trigger.cloid),
        })
    }

    /// Whether a trigger that the venue took, or a stop of the guard's that was sent, has no order id that anything has
    /// told.
    pub(crate) fn has_unseen_stop(&self) -> bool {
        let is_own = |trigger: &SentTrigger| trigger.cloid.as_ref().is_some_and(is_guard_stop);
        let mut unseen = self.triggers.iter().filter(|trigger| trigger.resting.is_none());
        unseen.any(|trigger| trigger.phase != Phase::Unanswered || is_own(trigger))
    }

    /// Whether a trigger with this client order id, which the venue took, has no order id that anything has told.
    pub(crate) fn has_unseen_stop_with(&self, cloid: Cloid) -> bool {
        let mut unseen = self.triggers.iter().filter(|trigger| trigger.resting.is_none());
        unseen.any(|trigger| trigger.cloid == Some(cloid) && trigger.phase != Phase::Unanswered)
    }

    /// The venue's id of an order of this action, if the venue said that it rests.
    pub(crate) fn resting_id(&self, key: SentKey) -> Option<u64> {
        let trigger = self.triggers.iter().find(|trigger| trigger.key == key);
        trigger.and_then(|trigger| trigger.resting.as_ref()).map(|resting| resting.oid)
    }

    /// Orders and triggers of which the venue said that they rest, and that no read has told of yet, by order id.
    pub(crate) fn resting(&self) -> impl Iterator<Item = &Resting> {
        let mut resting: Vec<&Resting> = self.unsorted_resting().collect();
        resting.sort_unstable_by_key(|order| order.oid);
        resting.into_iter()
    }

    /// The one of them with this id.
    pub(crate) fn resting_order(&self, oid: u64) -> Option<&Resting> {
        self.unsorted_resting().find(|order| order.oid == oid)
    }

    fn unsorted_resting(&self) -> impl Iterator<Item = &Resting> {
        let triggers = self.triggers.iter().filter_map(|trigger| trigger.resting.as_ref());
        self.open().filter_map(|order| order.resting.as_ref()).chain(triggers)
    }

    fn triggers_of(&mut self, key: (u64, usize)) -> impl Iterator<Item = &mut SentTrigger> {
        self.triggers.iter_mut().filter(move |trigger| trigger.key.is_of(key))
    }
}

/// How the orders of an action hang together; those of a modify stand alone.
fn grouping_of(action: &Action) -> Grouping {
    match action {
        Action::Order(orders) => orders.grouping,
        _ => Grouping::Na,
    }
}
