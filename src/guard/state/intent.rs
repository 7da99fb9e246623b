//! An intent: the actions that one event named, and how far sending them has come.

use crate::base::address::{Address, Cloid};
use crate::guard::effects::{Command, SendAction, Urgency};
use crate::guard::state::lifetime::Price;
use crate::guard::state::sent::key::SentKey;
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::order::Order;
use crate::venue::reply::{Reply, Status};
use crate::venue::side::PositionSide;
use crate::venue::signing::Terms;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// An event whose actions are being sent.
#[derive(Debug)]
pub(crate) struct Intent {
    pub(crate) actions: Vec<Planned>,
    /// The request whose client waits for what becomes of these actions.
    pub(crate) request: Option<u64>,
    pub(crate) urgency: Urgency,
    /// The client that it is sent for; none for the guard's own.
    pub(crate) client: Option<Address>,
    /// The action that is sent or waits for its answer; where they go one after the other.
    pub(crate) at: usize,
    /// They all go at once, and these have ended.
    is_at_once: bool,
    ended: BTreeSet<usize>,
    /// The orders of the request that the venue took, by their place in it, and whether each stands for something yet:
    /// nothing may go for the sake of one that waits for another to fill.
    accepted: BTreeMap<usize, bool>,
    /// Client order ids of parts not sent yet that a cancel has named since.
    pub(crate) cancelled: BTreeSet<Cloid>,
    /// An action of it failed or got no answer: no part of the request is sent any more.
    is_cut: bool,
    /// Of cancels behind stops of the guard's own: what was held when they were decided on, by market and side.
    pub(crate) held: BTreeMap<(u32, PositionSide), Decimal>,
    /// The action in doubt whose nonce this one burns.
    pub(crate) settles: Option<(u64, usize)>,
}

/// One action of an intent.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    pub(crate) role: Role,
    pub(crate) action: Action,
    pub(crate) node: Node,
    pub(crate) terms: Terms,
    /// How long it had to its expiry as it was decided on; `None` where it has none.
    pub(crate) life_ms: Option<u64>,
    /// The orders of the client's request that it holds, its first ones, or that it follows, by their place in the request.
    pub(crate) places: Vec<usize>,
}

/// What an action is for, and when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// First; its failure stops the rest, but for what only reduces.
    Pre,
    /// The client's own, or a part of it.
    Forward,
    /// Only if an order of the request that it follows was accepted.
    Post,
    /// The guard's own, whatever became of the one before.
    Guard,
}

impl Planned {
    /// Whether it can open nothing.
    pub(crate) fn only_reduces(&self) -> bool {
        match &self.action {
            Action::Order(orders) => orders.orders.iter().all(|order| order.reduce_only),
            Action::Modify { modify, .. } => modify.order.reduce_only,
            Action::BatchModify { modifies, .. } => modifies.iter().all(|modify| modify.order.reduce_only),
            Action::Cancel { .. } | Action::CancelByCloid { .. } | Action::TwapCancel { .. } => true,
            _ => false,
        }
    }

    /// What it costs of the account's allowance.
    pub(crate) fn price(&self) -> Price {
        Price::of(self.action.batch_len(), self.life_ms)
    }
}

impl Intent {
    pub(crate) fn new(actions: Vec<Planned>, request: Option<u64>, urgency: Urgency) -> Self {
        let (accepted, cancelled) = (BTreeMap::new(), BTreeSet::new());
        Self {
            actions,
            request,
            urgency,
            client: None,
            at: 0,
            is_at_once: false,
            ended: BTreeSet::new(),
            accepted,
            cancelled,
            is_cut: false,
            held: BTreeMap::new(),
            settles: None,
        }
    }

    /// The same with all of its actions sent at once: none waits for another's answer.
    pub(crate) fn at_once(self) -> Self {
        Self { is_at_once: true, ..self }
    }

    /// The actions of which nothing is told yet, by their place.
    pub(crate) fn untold(&self) -> impl Iterator<Item = (usize, &Planned)> {
        self.actions.iter().enumerate().skip(self.at).filter(|(index, _)| !self.ended.contains(index))
    }

    /// The orders of the guard's own that go in front of the rest, each with its key in an intent of this number.
    pub(crate) fn stops_in_front(&self, seq: u64) -> impl Iterator<Item = (SentKey, &Order)> {
        let before = self.actions.iter().enumerate().filter(|(_, planned)| planned.role == Role::Pre);
        before.flat_map(move |(index, planned)| {
            let orders = planned.action.orders().enumerate();
            orders.map(move |(slot, order)| (SentKey { intent: seq, index, slot }, order))
        })
    }

    /// The actions that are at the venue, by their place.
    pub(crate) fn at_venue(&self) -> impl Iterator<Item = (usize, &Planned)> {
        self.untold().take(if self.is_at_once { self.actions.len() } else { 1 })
    }

    /// From which action on none was sent, where the one at `index` was the last.
    pub(crate) fn first_unsent(&self, index: usize) -> usize {
        if self.is_at_once { self.actions.len() } else { index.saturating_add(1) }
    }

    /// Takes note of the end of an action; whether others that went with it have no end yet.
    pub(crate) fn has_others(&mut self, index: usize) -> bool {
        self.ended.insert(index);
        self.is_at_once && self.untold().next().is_some()
    }

    /// The same, sent for this client.
    pub(crate) fn for_client(self, client: Option<Address>) -> Self {
        Self { client, ..self }
    }

    /// The send of the action at `index`.
    pub(crate) fn send(&self, intent: u64, index: usize) -> Option<Command> {
        let planned = self.actions.get(index)?;
        // What only reduces does not wait with the entries that it came along with.
        let is_exit = self.urgency == Urgency::Entry && planned.only_reduces();
        Some(Command::Send(SendAction {
            intent,
            index,
            action: planned.node.clone(),
            terms: planned.terms,
            batch_len: planned.action.batch_len(),
            urgency: if is_exit { Urgency::Exit } else { self.urgency },
            client: self.client,
        }))
    }

    /// Takes in what became of the part of the request at `index`.
    pub(crate) fn on_reply(&mut self, index: usize, reply: &Reply) {
        let places = self.actions.get(index).map(|planned| planned.places.clone()).unwrap_or_default();
        for (slot, place) in places.into_iter().enumerate() {
            match reply.status(slot) {
                // Of an order that went as two, what follows it is for the second.
                Status::Error(_) => self.accepted.remove(&place),
                status => self.accepted.insert(place, status != Status::WaitingForFill),
            };
        }
    }

    /// Takes note of the client order ids that a cancel names, as far as they are of parts that are not sent yet.
    pub(crate) fn cancel(&mut self, cloids: &BTreeSet<Cloid>) {
        let unsent =
            self.parts_after(self.at).flat_map(|(_, planned)| planned.action.orders().take(planned.places.len()));
        let named: Vec<Cloid> = unsent.filter_map(|order| order.cloid).filter(|cloid| cloids.contains(cloid)).collect();
        self.cancelled.extend(named);
    }

    /// The next action to send after `index`.
    pub(crate) fn next(&self, index: usize) -> Option<usize> {
        if self.is_at_once {
            return None;
        }
        let later = self.actions.iter().enumerate().skip(index.saturating_add(1));
        let mut wanted = later.filter(|(_, planned)| match planned.role {
            Role::Post => {
                let is_cancel = matches!(planned.action, Action::Cancel { .. });
                let mut accepted = planned.places.iter().filter_map(|place| self.accepted.get(place));
                accepted.any(|is_live| *is_live || !is_cancel)
            }
            Role::Pre | Role::Forward => !self.is_cut,
            Role::Guard => true,
        });
        wanted.next().map(|(next, _)| next)
    }

    /// The next action where the one at `index` failed or got no answer: nothing more of the request is sent, but what
    /// follows its orders that were taken, and what the guard does of its own accord, does not hang on one another.
    pub(crate) fn next_after_failure(&mut self, index: usize) -> Option<usize> {
        self.is_cut = true;
        self.next(index)
    }

    /// Whether all that the request sends takes orders away.
    pub(crate) fn only_cancels(&self) -> bool {
        let mut parts = self.actions.iter().filter(|planned| planned.role == Role::Forward);
        parts.all(|planned| matches!(planned.action, Action::Cancel { .. } | Action::CancelByCloid { .. }))
    }

    /// The parts of the request after `index`, each with its own.
    pub(crate) fn parts_after(&self, index: usize) -> impl Iterator<Item = (usize, &Planned)> {
        self.parts_from(index.saturating_add(1))
    }

    /// The same with the one at `index`.
    pub(crate) fn parts_from(&self, index: usize) -> impl Iterator<Item = (usize, &Planned)> {
        let later = self.actions.iter().enumerate().skip(index);
        later.filter(|(_, planned)| planned.role == Role::Forward)
    }

    /// What a client is told of an order of a part that was not sent yet when a cancel named it.
    pub(crate) const CANCELLED: &str = "a cancel named it before it was sent, so it was not sent";

    /// Whether a cancel has named this order of a part that is not sent yet.
    pub(crate) fn is_cancelled(&self, order: &Order) -> bool {
        order.cloid.is_some_and(|cloid| self.cancelled.contains(&cloid))
    }

    /// The order at this place of the request, as it was sent: its action, its place there, and itself.
    pub(crate) fn order_at(&self, place: usize) -> Option<(usize, usize, &Order)> {
        let mut parts = self.actions.iter().enumerate().filter(|(_, planned)| planned.role == Role::Forward);
        parts.find_map(|(index, planned)| {
            let slot = planned.places.iter().position(|other| *other == place)?;
            Some((index, slot, planned.action.orders().nth(slot)?))
        })
    }
}
