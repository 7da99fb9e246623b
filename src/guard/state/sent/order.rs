//! An order that was sent and may exist, although the last reads do not show it: its exposure counts.

use super::key::{Moment, Phase, SentKey};
use super::pause::Pause;
use crate::base::address::Cloid;
use crate::guard::state::cover::LinePart;
use crate::guard::state::entry_leg::{EntryLeg, StopAt};
use crate::guard::state::view::{Resting, View};
use crate::venue::order::{Order, Tif};
use crate::venue::reply::Status;
use rust_decimal::Decimal;
use serde_json::Value;

/// The venue's reads may lag behind its answers: an order that it said rests, and that no orders read begun so long after
/// shows, is asked for by itself, unless the position moved by it. One whose order id nobody has told counts as gone then.
pub(crate) const SHOWN_WITHIN_MS: u64 = 30_000;

/// Between two questions about the same order.
const ASK_EVERY_MS: u64 = 5_000;

/// So many answers in a row that do not know an order that was said to rest settle that asking tells nothing.
const UNKNOWN_ANSWERS: u32 = 3;

/// What the venue calls an order that it holds.
const RESTS: [&str; 2] = ["open", "triggered"];

/// A fill that the venue told of must move the position. Something else may move it back: reads of so much later blocks
/// count as proof without it, so that nothing stays reserved for ever.
const PROVEN_WITHIN_MS: u64 = 5_000;

/// An order that may exist.
#[derive(Debug, Clone)]
pub(crate) struct SentOrder {
    pub(crate) key: SentKey,
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
    pub(crate) matched_by: MatchedBy,
    pub(crate) phase: Phase,
    /// How much of it filled, once the venue has said so.
    told: Decimal,
    /// At which price in the mean.
    told_px: Option<Decimal>,
    /// How much of the position's moves since it was sent is put down to it.
    moved: Decimal,
    /// When the last read that was put down to it began.
    moved_ms: u64,
    /// How much of what filled of it a read of the account is later than.
    shown: Decimal,
    /// When its own status was asked for last, and how often in a row the venue did not know it.
    asked_ms: Option<u64>,
    unknown: u32,
    /// As it rests, once the venue has said so and until a read tells.
    pub(crate) resting: Option<Resting>,
    /// A read of the open orders that should show it does not: it may have filled.
    pub(crate) is_missed: bool,
    /// The live feed has told of a fill of it.
    pub(super) is_filling: bool,
    /// Nothing tells of it any more but the venue's answer to a cancel.
    pub(super) lost: Option<Pause>,
}

/// How to match a sent order to an open order before the venue has returned its oid.
///
/// A modified order keeps its client order id, and so does what it replaces: the id alone tells nothing.
#[derive(Debug, Clone)]
pub(crate) enum MatchedBy {
    /// By its client order id, on an order that was first shown after this time and is none of these.
    CloidSince(u64, Vec<u64>),
    /// Not at all.
    Nothing,
}

impl SentOrder {
    /// An order that is about to be sent.
    pub(crate) fn new(key: SentKey, order: &Order, stop: Option<StopAt>, matched_by: MatchedBy) -> Self {
        Self {
            key,
            asset: order.asset,
            is_buy: order.is_buy,
            size: order.size,
            px: order.limit_px,
            stop,
            reduce_only: order.reduce_only,
            is_immediate: order.tif().is_some_and(Tif::is_immediate),
            cloid: order.cloid,
            oid: None,
            matched_by,
            phase: Phase::Unanswered,
            told: Decimal::ZERO,
            told_px: None,
            moved: Decimal::ZERO,
            moved_ms: 0,
            shown: Decimal::ZERO,
            asked_ms: None,
            unknown: 0,
            resting: None,
            is_missed: false,
            is_filling: false,
            lost: None,
        }
    }

    /// An order, or a part of one, that has left the open orders: the next account read tells what it did.
    pub(crate) fn vanished(order: &Resting, at: Moment) -> Self {
        Self {
            key: SentKey { intent: 0, index: 0, slot: 0 },
            asset: order.asset,
            is_buy: order.is_buy,
            size: order.size,
            px: order.px,
            stop: StopAt::of(order),
            reduce_only: order.reduce_only,
            is_immediate: false,
            cloid: order.cloid,
            oid: Some(order.oid),
            matched_by: MatchedBy::Nothing,
            phase: Phase::Closed(at),
            told: Decimal::ZERO,
            told_px: None,
            moved: Decimal::ZERO,
            moved_ms: 0,
            shown: Decimal::ZERO,
            asked_ms: None,
            unknown: 0,
            resting: None,
            is_missed: false,
            is_filling: false,
            lost: None,
        }
    }

    /// How it counts among the entries of its side.
    pub(crate) fn leg(&self) -> EntryLeg {
        // What is known to have filled rests no more.
        let may_rest = !self.is_immediate && !self.is_told();
        EntryLeg { size: self.size, px: self.px, stop: self.stop, may_rest }
    }

    /// Takes the venue's status of it; `false` where it was refused.
    pub(crate) fn on_status(&mut self, status: &Status, at: Moment) -> bool {
        if let Status::Resting(oid) | Status::Filled(_, oid, _) = status {
            self.oid = Some(*oid);
        }
        match status {
            // Seen before its answer came: what is left of it here has filled or gone already.
            _ if !self.phase.is_open() => {}
            Status::Error(_) => return false,
            Status::Filled(filled, _, px) if self.is_immediate || *filled >= self.size => {
                self.size = (*filled).min(self.size);
                (self.told, self.told_px) = (self.size, *px);
                self.phase = Phase::Closed(at);
            }
            _ => self.phase = Phase::Accepted(at.now_ms),
        }
        true
    }

    /// Takes in an orders read begun at `begun_ms` that shows `shown` of it; `false` where nothing of it is left to wait
    /// for.
    pub(crate) fn on_orders_read(&mut self, shown: Decimal, begun_ms: u64, at: Moment) -> bool {
        let is_told = match self.phase {
            Phase::Accepted(at_ms) => {
                let is_answered = self.phase.is_answered_by(begun_ms);
                self.is_missed |= is_answered;
                let is_late = begun_ms >= at_ms.saturating_add(SHOWN_WITHIN_MS);
                // What can only reduce opens nothing, should a later read show it after all.
                let is_gone = self.reduce_only || is_late && self.oid.is_none() || self.has_moved_all();
                is_answered && (shown > Decimal::ZERO || is_gone)
            }
            // Seen without an answer: what is shown counts as an open order from now on.
            Phase::Unanswered => shown > Decimal::ZERO,
            Phase::Closed(_) => false,
        };
        if is_told {
            // What the read does not show has filled or gone: the next account read tells which.
            self.size = self.size.saturating_sub(shown);
            self.phase = Phase::Closed(at);
            self.resting = None;
        }
        self.size > Decimal::ZERO
    }

    /// Whether an orders read begun at `begun_ms` should show it and did not, so that its own status is to be asked for now: at once
    /// where a fill of it was told, which its stop may have undone before any read of the account.
    pub(crate) fn is_to_be_asked(&self, begun_ms: u64, now_ms: u64) -> bool {
        let is_late = matches!(self.phase, Phase::Accepted(at_ms) if begun_ms >= at_ms.saturating_add(SHOWN_WITHIN_MS));
        let is_asked = self.asked_ms.is_some_and(|asked_ms| now_ms.saturating_sub(asked_ms) < ASK_EVERY_MS);
        let is_due = is_late || self.phase.is_open() && self.is_filling && self.is_missed;
        is_due && self.oid.is_some() && !is_asked
    }

    /// Takes note that its status is asked for.
    pub(crate) fn on_asked(&mut self, now_ms: u64) {
        self.asked_ms = Some(now_ms);
    }

    /// Takes in its status: one that rests stays reserved, and the next account read tells what one did that is gone.
    pub(crate) fn on_own_status(&mut self, answer: &Value, at: Moment) {
        let is_other =
            answer.pointer("/order/order/oid").and_then(Value::as_u64).is_some_and(|oid| Some(oid) != self.oid);
        match (answer.get("status").and_then(Value::as_str), answer.pointer("/order/status")) {
            // The id is good for the newest order that had it.
            (Some("order"), Some(status))
                if !is_other && status.as_str().is_some_and(|status| RESTS.contains(&status)) =>
            {
                (self.unknown, self.lost) = (0, None);
            }
            (Some("order"), Some(_)) if self.phase.is_open() => self.close(at),
            (Some("unknownOid"), _) => {
                self.unknown = self.unknown.saturating_add(1);
                if self.unknown >= UNKNOWN_ANSWERS {
                    self.lose(at);
                }
            }
            _ => {}
        }
    }

    /// Whether it is over where the venue answers cancels of these ids, decided on then, that it holds no such order. A cancel of
    /// before the order was known may have come to the venue before the order did: then an entry may rest all the same.
    pub(super) fn is_none_of(&self, not_there: &[(u64, u64)]) -> bool {
        let was_known_by = |sent_ms: u64| matches!(self.phase, Phase::Accepted(at_ms) if at_ms < sent_ms);
        let is_it =
            |(oid, sent_ms): &(u64, u64)| self.oid == Some(*oid) && (self.reduce_only || was_known_by(*sent_ms));
        self.phase.is_open() && not_there.iter().any(is_it)
    }

    /// Takes in that nothing of it rests any more.
    pub(super) fn close(&mut self, at: Moment) {
        (self.phase, self.resting) = (Phase::Closed(at), None);
    }

    /// Whether the position has moved by all of it.
    pub(super) fn has_moved_all(&self) -> bool {
        self.moved >= self.size
    }

    /// Takes its share of a move of the position by `left` towards its side, which a read begun at `read_ms` shows; returns what is
    /// left for others.
    pub(crate) fn on_move(&mut self, left: Decimal, read_ms: u64) -> Decimal {
        let part = self.most().saturating_sub(self.moved).max(Decimal::ZERO).min(left);
        if !part.is_zero() {
            self.moved_ms = read_ms;
        }
        self.moved = self.moved.saturating_add(part);
        left.saturating_sub(part)
    }

    /// Whether the venue told how much of it has filled.
    pub(crate) fn is_told(&self) -> bool {
        self.told > Decimal::ZERO
    }

    /// How much of it filled, by what the venue told.
    pub(crate) fn told(&self) -> Decimal {
        self.told
    }

    /// Whether the venue told what filled of it, in an answer that this read is not older than.
    pub(crate) fn is_told_before(&self, read: Moment) -> bool {
        self.is_told() && self.is_over_by(read)
    }

    /// How much of the position's moves is put down to it.
    pub(crate) fn moved(&self) -> Decimal {
        self.moved
    }

    /// What the venue told of it, or all of it until then, as far as no move of the position has shown it, signed.
    pub(crate) fn unmoved(&self) -> Decimal {
        let left = self.most().saturating_sub(self.moved);
        if self.is_buy { left } else { -left }
    }

    /// What the venue told to have filled of it, as far as no move of the position has shown it, signed.
    pub(crate) fn unshown(&self) -> Decimal {
        if self.is_told() { self.unmoved() } else { Decimal::ZERO }
    }

    /// What it may have opened with its own stop, as far as no move of the position has shown it, and where that stands.
    pub(crate) fn arriving(&self) -> Option<LinePart> {
        let stop = self.stop.filter(|stop| stop.is_own && !self.reduce_only)?;
        Some(LinePart { px: stop.px, size: self.unmoved().abs() }).filter(|part| !part.size.is_zero())
    }

    fn most(&self) -> Decimal {
        if self.is_told() { self.told } else { self.size }
    }

    /// The mean price of what the venue told to have filled.
    pub(crate) fn told_px(&self) -> Option<Decimal> {
        self.told_px
    }

    /// Takes all of it for shown by a read begun at `read_ms`.
    pub(crate) fn take_all(&mut self, read_ms: u64) {
        (self.moved, self.moved_ms) = (self.most(), read_ms);
    }

    /// Takes in that so much more of what filled of it is in a read begun at `read_ms`.
    pub(super) fn on_shown(&mut self, size: Decimal, read_ms: u64) {
        self.shown = self.shown.saturating_add(size);
        if self.shown > self.moved {
            (self.moved, self.moved_ms) = (self.shown.min(self.most()), read_ms);
        }
    }

    /// Gives back what was put down to it beyond what the venue says it did, with when that read began: something else did that.
    pub(super) fn give_back(&mut self, did: Decimal) -> Option<(Decimal, u64)> {
        let more = self.moved.saturating_sub(did);
        (more > Decimal::ZERO).then(|| {
            self.moved = did;
            (more, self.moved_ms)
        })
    }

    /// Whether it had been sent by then.
    pub(super) fn was_sent_by(&self, at_ms: u64) -> bool {
        matches!(self.matched_by, MatchedBy::CloidSince(since_ms, _) if since_ms <= at_ms)
    }

    /// Whether it came to its end by an answer that this read is not older than.
    pub(crate) fn is_over_by(&self, read: Moment) -> bool {
        matches!(self.phase, Phase::Closed(at) if read.now_ms >= at.now_ms && read.venue_ms >= at.venue_ms)
    }

    /// Whether the account as read shows what it did. What can only reduce opens nothing, whatever the read shows.
    pub(crate) fn is_settled_by(&self, read: Moment) -> bool {
        let is_proven = self.reduce_only || self.moved >= self.told || self.is_late_for(read);
        self.is_over_by(read) && is_proven
    }

    /// Whether a read shows a block so much later that what it does not show did not last.
    pub(crate) fn is_late_for(&self, read: Moment) -> bool {
        matches!(self.phase, Phase::Closed(at) if read.venue_ms >= at.venue_ms.saturating_add(PROVEN_WITHIN_MS))
    }

    /// Whether both would look the same among the open orders as long as neither's id is told.
    pub(crate) fn looks_like(&self, other: &SentOrder) -> bool {
        let looks = |order: &SentOrder| (order.cloid, order.asset, order.is_buy, order.reduce_only);
        looks(self) == looks(other)
    }

    /// The open orders that may be this one. A stop or an exit may carry the same client order id.
    pub(crate) fn candidates<'a>(&'a self, view: &'a View) -> impl Iterator<Item = &'a Resting> {
        let unnamed = match (&self.matched_by, self.oid) {
            (MatchedBy::CloidSince(since_ms, others), None) => self.cloid.map(|cloid| (cloid, *since_ms, others)),
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
    pub(crate) fn is_not(&mut self, oid: u64) {
        if let MatchedBy::CloidSince(_, others) = &mut self.matched_by
            && !others.contains(&oid)
        {
            others.push(oid);
        }
    }
}
