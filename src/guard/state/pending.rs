//! Orders that may exist at the venue although the last reads do not show them.
//!
//! From the moment a decision is taken its orders count, until reads that began late enough show them or their
//! absence. A read that began before the venue answered proves nothing.

use crate::base::address::Cloid;
use crate::guard::state::exposure::StopAt;
use crate::guard::state::view::{Resting, View};
use crate::venue::action::Target;
use crate::venue::order::Order;
use crate::venue::reply::Status;
use rust_decimal::Decimal;

/// How much is known of an order that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No answer yet, or none that says anything.
    Unanswered,
    /// Accepted at this time: an orders read begun since shows it, or shows that it is gone.
    Accepted(u64),
    /// Filled or gone by this time: an account read begun since shows what it did.
    Gone(u64),
}

/// An order that may exist.
#[derive(Debug, Clone)]
pub(crate) struct PendingOrder {
    /// The intent it belongs to; 0 for one that vanished from the open orders.
    pub(crate) intent: u64,
    /// The action's place in the intent.
    pub(crate) index: usize,
    /// The order's place in the action.
    pub(crate) place: usize,
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) size: Decimal,
    pub(crate) px: Decimal,
    pub(crate) stop: Option<StopAt>,
    pub(crate) reduce_only: bool,
    /// What does not fill at once is cancelled.
    pub(crate) is_immediate: bool,
    pub(crate) cloid: Option<Cloid>,
    /// The venue's id, once it was told.
    pub(crate) oid: Option<u64>,
    pub(crate) told_by: ToldBy,
    pub(crate) phase: Phase,
}

/// How an order whose id the venue has not told is known among the open orders.
///
/// A modified order keeps its client order id, and so does what it replaces: the id alone tells nothing.
#[derive(Debug, Clone)]
pub(crate) enum ToldBy {
    /// By its client order id, on an order that was first shown after this time and is none of these.
    CloidSince(u64, Vec<u64>),
    /// Not at all.
    Nothing,
}

impl PendingOrder {
    /// Whether both would look the same among the open orders as long as neither's id is told.
    fn looks_like(&self, other: &PendingOrder) -> bool {
        let looks = |order: &PendingOrder| (order.cloid, order.asset, order.is_buy, order.reduce_only);
        looks(self) == looks(other)
    }

    /// The open orders that may be this one. A stop or an exit may carry the same client order id.
    fn candidates<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Resting> {
        let unnamed = match (&self.told_by, self.oid) {
            (ToldBy::CloidSince(since_ms, others), None) => self.cloid.map(|cloid| (cloid, *since_ms, others)),
            _ => None,
        };
        let named = self.oid.and_then(|oid| view.orders.get(&oid));
        let alike = unnamed.into_iter().flat_map(move |(cloid, since_ms, others)| {
            view.orders.values().filter(move |order| {
                order.cloid == Some(cloid)
                    && (order.asset, order.is_buy, order.is_trigger) == (self.asset, self.is_buy, false)
                    && order.reduce_only == self.reduce_only
                    && order.seen_ms > since_ms
                    && !others.contains(&order.oid)
            })
        });
        named.into_iter().chain(alike)
    }

    /// Learns that an order that looks like this one is another.
    fn is_not(&mut self, oid: u64) {
        if let ToldBy::CloidSince(_, others) = &mut self.told_by
            && !others.contains(&oid)
        {
            others.push(oid);
        }
    }
}

/// The orders that may exist.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pending {
    pub(crate) orders: Vec<PendingOrder>,
    cancels: Vec<PendingCancel>,
}

/// A cancel that may take an order away, although the last reads still show it.
#[derive(Debug, Clone)]
struct PendingCancel {
    intent: u64,
    index: usize,
    place: usize,
    /// By client order id it takes whatever carries that id when it arrives, also what nobody has seen yet.
    target: Target,
    /// When the venue took it; an orders read begun since shows what became of the order.
    accepted_ms: Option<u64>,
}

impl PendingCancel {
    fn takes(&self, oid: u64, cloid: Option<Cloid>) -> bool {
        match self.target {
            Target::Oid(target) => target == oid,
            Target::Cloid(target) => Some(target) == cloid,
        }
    }
}

impl Pending {
    /// Reserves an order before it is sent. Untriggered triggers reserve nothing: they cannot fill.
    pub(crate) fn reserve(
        &mut self,
        (intent, index, place): (u64, usize, usize),
        order: &Order,
        stop: Option<StopAt>,
        mut told_by: ToldBy,
    ) {
        if order.is_trigger() {
            return;
        }
        if let ToldBy::CloidSince(_, others) = &mut told_by {
            let named_alike = self.orders.iter().filter(|other| other.cloid == order.cloid);
            others.extend(named_alike.filter_map(|other| other.oid));
        }
        let is_immediate = matches!(order.kind, crate::venue::order::OrderKind::Limit(tif) if tif.is_immediate());
        self.orders.push(PendingOrder {
            intent,
            index,
            place,
            asset: order.asset,
            is_buy: order.is_buy,
            size: order.size,
            px: order.limit_px,
            stop,
            reduce_only: order.reduce_only,
            is_immediate,
            cloid: order.cloid,
            oid: None,
            told_by,
            phase: Phase::Unanswered,
        });
    }

    /// Notes that the order named may be gone from now on.
    pub(crate) fn cancel(&mut self, intent: u64, index: usize, place: usize, target: Target) {
        self.cancels.push(PendingCancel { intent, index, place, target, accepted_ms: None });
    }

    /// Whether a cancel of this order is on its way, or was taken since the orders were read.
    pub(crate) fn is_going(&self, oid: u64, cloid: Option<Cloid>) -> bool {
        self.cancels.iter().any(|cancel| cancel.takes(oid, cloid))
    }

    /// The same for an order whose id is not known yet.
    pub(crate) fn is_unseen_going(&self, cloid: Option<Cloid>) -> bool {
        let names = |cancel: &PendingCancel| matches!(cancel.target, Target::Cloid(target) if Some(target) == cloid);
        self.cancels.iter().any(names)
    }

    /// The open orders of which [`Self::is_going`] holds.
    pub(crate) fn going<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Resting> {
        let is_any = !self.cancels.is_empty();
        let orders = is_any.then(|| view.orders.values()).into_iter().flatten();
        orders.filter(|order| self.is_going(order.oid, order.cloid))
    }

    /// Takes the venue's statuses of one action.
    pub(crate) fn answered(&mut self, intent: u64, index: usize, now_ms: u64, status: impl Fn(usize) -> Status) {
        let mut named = Vec::new();
        self.orders.retain_mut(|order| {
            if (order.intent, order.index) != (intent, index) {
                return true;
            }
            let status = status(order.place);
            if let Status::Resting(oid) | Status::Filled(_, oid) = status {
                order.oid = Some(oid);
                named.push((oid, order.cloid));
            }
            match status {
                // Seen before its answer came: what is left of it here has filled or gone already.
                _ if matches!(order.phase, Phase::Gone(_)) => {}
                Status::Error(_) => return false,
                Status::Filled(filled, _) if order.is_immediate || filled >= order.size => {
                    order.size = filled.min(order.size);
                    order.phase = Phase::Gone(now_ms);
                }
                _ => order.phase = Phase::Accepted(now_ms),
            }
            true
        });
        for (oid, cloid) in named {
            let others = self.orders.iter_mut().filter(|order| order.oid.is_none() && order.cloid == cloid);
            others.for_each(|order| order.is_not(oid));
        }
        let mut cancelled = Vec::new();
        self.cancels.retain_mut(|cancel| {
            if (cancel.intent, cancel.index) != (intent, index) {
                return true;
            }
            cancel.accepted_ms = Some(now_ms);
            let status = status(cancel.place);
            if let (Status::Success, Target::Oid(oid)) = (&status, cancel.target) {
                cancelled.push(oid);
            }
            !matches!(status, Status::Error(_))
        });
        // What the venue says is cancelled is open no more; what it filled before that the next account read tells.
        let gone = self.orders.iter_mut().filter(|order| order.oid.is_some_and(|oid| cancelled.contains(&oid)));
        gone.filter(|order| !matches!(order.phase, Phase::Gone(_))).for_each(|order| order.phase = Phase::Gone(now_ms));
    }

    /// Drops what an action that was surely never sent had reserved.
    pub(crate) fn never_sent(&mut self, intent: u64, from_index: usize) {
        self.orders.retain(|order| order.intent != intent || order.index < from_index);
        self.cancels.retain(|cancel| cancel.intent != intent || cancel.index < from_index);
    }

    /// Drops what an action without an answer had reserved: it never happened.
    pub(crate) fn did_not_happen(&mut self, (intent, index): (u64, usize)) {
        self.orders.retain(|order| (order.intent, order.index) != (intent, index));
        self.cancels.retain(|cancel| (cancel.intent, cancel.index) != (intent, index));
    }

    /// Takes an action without an answer for accepted by now: reads that begin from here on tell the truth about it.
    pub(crate) fn accepted(&mut self, (intent, index): (u64, usize), now_ms: u64) {
        let orders = self.orders.iter_mut().filter(|order| (order.intent, order.index) == (intent, index));
        orders.for_each(|order| order.phase = Phase::Accepted(now_ms));
        let cancels = self.cancels.iter_mut().filter(|cancel| (cancel.intent, cancel.index) == (intent, index));
        cancels.for_each(|cancel| cancel.accepted_ms = Some(now_ms));
    }

    /// Settles against an orders read that began at `begun_ms` and was taken in at `now_ms`. `left` is what has left
    /// the book since the read before it.
    pub(crate) fn orders_read(&mut self, view: &View, left: Vec<Resting>, begun_ms: u64, now_ms: u64) {
        let shown = self.shown(view);
        let mut shown = shown.into_iter();
        self.orders.retain_mut(|order| {
            let shown = shown.next().unwrap_or_default();
            let is_told = match order.phase {
                Phase::Accepted(at) => begun_ms >= at,
                // Seen without an answer: what is shown counts as an open order from now on.
                Phase::Unanswered => shown > Decimal::ZERO,
                Phase::Gone(_) => false,
            };
            if is_told {
                // What the read does not show has filled or gone: the next account read tells which.
                order.size = order.size.saturating_sub(shown);
                order.phase = Phase::Gone(now_ms);
            }
            order.size > Decimal::ZERO
        });
        self.cancels.retain(|cancel| {
            let may_take = match cancel.target {
                Target::Oid(oid) => view.orders.contains_key(&oid),
                Target::Cloid(_) => true,
            };
            may_take && cancel.accepted_ms.is_none_or(|at| begun_ms < at)
        });
        for order in left.into_iter().filter(|order| !order.is_trigger) {
            self.orders.push(PendingOrder {
                intent: 0,
                index: 0,
                place: 0,
                asset: order.asset,
                is_buy: order.is_buy,
                size: order.size,
                px: order.px,
                stop: order.child_stop_px.map(|px| StopAt { px, is_own: true }),
                reduce_only: order.reduce_only,
                is_immediate: false,
                cloid: order.cloid,
                oid: Some(order.oid),
                told_by: ToldBy::Nothing,
                phase: Phase::Gone(now_ms),
            });
        }
    }

    /// How much of each order rests, as far as the open orders show. Of two that look alike neither is taken to be the
    /// one shown: both stay reserved beside it.
    fn shown(&mut self, view: &View) -> Vec<Decimal> {
        let mut sizes = Vec::with_capacity(self.orders.len());
        let mut unclear = Vec::new();
        for (place, order) in self.orders.iter().enumerate() {
            let mut candidates = order.candidates(view);
            let is_waiting = |order: &PendingOrder| order.oid.is_none() && !matches!(order.phase, Phase::Gone(_));
            let has_double = || {
                let mut others = self.orders.iter().enumerate().filter(|(other, _)| *other != place);
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

    /// Settles against an account read that began at `begun_ms`.
    pub(crate) fn account_read(&mut self, begun_ms: u64) {
        self.orders.retain(|order| !matches!(order.phase, Phase::Gone(at) if begun_ms >= at));
    }

    /// The orders that may still be open.
    pub(crate) fn alive(&self) -> impl Iterator<Item = &PendingOrder> {
        self.orders.iter().filter(|order| !matches!(order.phase, Phase::Gone(_)))
    }
}
