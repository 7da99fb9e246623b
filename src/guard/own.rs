//! What the guard does of its own accord: the events that name it, and how its actions fare.

use serde::Serialize;

use super::care::Outcome;
use super::decide::name_orders;
use super::effect::{Effects, Keys, Urgency};
use super::intent::{Ending, Intent, Planned, Role};
use super::state::Guard;
use super::{Mode, event};
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::reply::Status;
use crate::venue::signing::Terms;

/// Why the guard acts: the event that names the actions.
pub(super) enum Cause<'a> {
    /// Positions are bare.
    Protect { coins: Vec<&'a str>, problems: Vec<Problem> },
    /// Everything must go.
    Flatten { reason: &'a str, problems: Vec<Problem> },
    /// One more action for the sake of an earlier event.
    Again { of: u64 },
}

/// What could not be done for a market, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Problem {
    pub(super) coin: String,
    pub(super) text: String,
}

impl Guard {
    /// Whether the guard may act on its own now: it knows whom for, and is not on its way down.
    pub(super) fn can_act(&self) -> bool {
        self.stopping.is_none() && (self.config.mode == Mode::Paper || self.acts_for.is_some())
    }

    /// Records the event that names these actions and has them sent in order, each whatever became of the one before.
    /// In paper mode they are only recorded. Returns the event's number.
    pub(super) fn act(&mut self, effects: &mut Effects, cause: Cause<'_>, actions: Vec<Action>, now_ms: u64) -> u64 {
        let is_live = self.config.mode != Mode::Paper;
        let actions = self.own_planned(actions, now_ms);
        let nodes: Vec<&Node> = actions.iter().map(|planned| &planned.node).collect();
        let nonces = if is_live { actions.iter().map(|planned| planned.terms.nonce).collect() } else { Vec::new() };
        let seq = match cause {
            Cause::Protect { coins, problems } => {
                let body = event::Protect { coins, actions: nodes, problems, sent: is_live, nonces };
                self.record(effects, now_ms, "protect", &body, Keys::default())
            }
            Cause::Flatten { reason, problems } => {
                let body = event::Flatten { reason, actions: nodes, problems, sent: is_live, nonces };
                self.record(effects, now_ms, "flatten", &body, Keys::default())
            }
            Cause::Again { of } => {
                let Some(action) = nodes.first() else { return of };
                let body = event::Intent { of, action, nonces };
                self.record(effects, now_ms, "intent", &body, Keys { serves: Some(of), ..Keys::default() })
            }
        };
        if is_live && actions.is_empty() {
            let keys = Keys { serves: Some(seq), ..Keys::default() };
            self.record(effects, now_ms, "done", &event::Done { intent: seq }, keys);
        } else if is_live {
            self.launch(effects, seq, Intent::new(actions, None, Urgency::Own), &[], now_ms);
        }
        seq
    }

    fn own_planned(&mut self, actions: Vec<Action>, now_ms: u64) -> Vec<Planned> {
        let (seq, mut place) = (self.seq.saturating_add(1), 0);
        let is_live = self.config.mode != Mode::Paper;
        let plan = |mut action: Action| {
            name_orders(&mut action, 0, seq, &mut place);
            let node = action.to_node()?;
            let nonce = if is_live { self.next_nonce(now_ms) } else { 0 };
            // No expiry: what makes the account safer is welcome late as well.
            let terms = Terms { nonce, vault: self.acts_for.flatten(), expires_after_ms: None };
            Some(Planned { role: Role::Own, action, node, terms })
        };
        actions.into_iter().filter_map(plan).collect()
    }

    /// Whether an action of the guard's own for this market still has no answer.
    pub(super) fn is_acting_on(&self, asset: u32) -> bool {
        let own = self.intents.values().filter(|intent| intent.urgency == Urgency::Own);
        own.flat_map(|intent| &intent.actions).any(|planned| touches(&planned.action, asset))
    }

    /// Since when what became of an order in this market is not known: the youngest doubt counts.
    pub(super) fn in_doubt_since(&self, asset: u32) -> Option<u64> {
        self.doubts.values().filter_map(|doubt| doubt.about(asset)).max()
    }

    /// Takes in how an action of the guard's own ended.
    pub(super) fn own_ended(&mut self, effects: &mut Effects, action: &Action, ending: &Ending, now_ms: u64) {
        let mut refused = Vec::new();
        for (place, order) in action.orders().enumerate() {
            let outcome = match ending {
                Ending::Answered(reply, _) => match reply.status(place) {
                    Status::Error(text) => Outcome::refused(text),
                    _ => Outcome::Accepted,
                },
                Ending::NotSent(_) | Ending::Unknown(_) => Outcome::Unheard,
            };
            if let (Outcome::Refused(text), false) = (&outcome, order.is_trigger()) {
                refused.push((order.asset, text.clone()));
            }
            self.watch.care_of(order.asset).tried(order, &outcome, now_ms);
        }
        for (asset, text) in refused {
            let coin = self.view.market(asset).map_or_else(|| asset.to_string(), |market| market.coin.clone());
            let text = format!("the close of {coin} was refused: {text}");
            self.record(effects, now_ms, "error", &event::Trouble { text: &text }, Keys::default());
        }
        self.watch.flatten.ended(action, ending, now_ms);
    }
}

fn touches(action: &Action, asset: u32) -> bool {
    match action {
        Action::Cancel { cancels, .. } => cancels.iter().any(|cancel| cancel.asset == asset),
        Action::CancelByCloid { cancels, .. } => cancels.iter().any(|cancel| cancel.asset == asset),
        action => action.orders().any(|order| order.asset == asset),
    }
}
