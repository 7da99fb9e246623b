//! The way between the guard and the venue: reads that show an early or a late truth, posts that are lost, late or
//! unanswered.

use serde_json::json;

use super::super::post::{Mail, Post};
use super::super::truth;
use super::{Plant, World};
use crate::guard::effects::SendAction;
use crate::guard::tests::fixture::*;
use crate::guard::{Input, SendOutcome};
use crate::venue::action::Action;

impl World {
    /// Begins a read. It shows the truth of its beginning or of its end.
    pub(super) fn read(&mut self, is_account: bool, arrives: u64) {
        let begun_ms = self.now();
        if !self.is_quiet && self.dice.one_in(4) {
            return;
        }
        let mail = match (self.dice.one_in(2), is_account) {
            (true, true) => Mail::Account { begun_ms },
            (true, false) => Mail::Orders { begun_ms },
            (false, true) => Mail::Input(Box::new(self.account(begun_ms))),
            (false, false) => Mail::Input(Box::new(self.orders(begun_ms))),
        };
        self.mail.push((arrives, mail));
    }

    pub(super) fn account(&mut self, begun_ms: u64) -> Input {
        self.desk.positions =
            self.venue.positions.iter().filter(|(_, szi)| !szi.is_zero()).map(|(c, s)| (*c, *s)).collect();
        Input::Account { state: self.desk.state(self.desk.now), equity: self.desk.equity, begun_ms }
    }

    pub(super) fn orders(&self, begun_ms: u64) -> Input {
        let orders = self.venue.orders.values().map(|(order, _)| order.clone()).collect();
        Input::Orders { orders, begun_ms }
    }

    /// Hands a request to the network, whose fate for it is drawn at once.
    pub(super) fn post(&mut self, send: SendAction) {
        let now = self.now();
        let is_named = self.disk.events.iter().flat_map(truth::named).any(|named| {
            (named.seq, named.index, named.nonce) == (send.intent, send.index, send.terms.nonce)
                && named.action == json_of(&send.action)
        });
        if !is_named {
            self.is_wrong(format!("{} goes out and no event on disk names it", send.action));
        }
        // Only a noop may use the nonce of another action.
        let is_noop = send.action.get("type").and_then(|kind| kind.as_str()) == Some("noop");
        if !self.left.insert((send.terms.nonce, is_noop)) && !is_noop {
            self.is_wrong(format!("nonce {} goes out twice", send.terms.nonce));
        }
        if self.plant == Some(Plant::Bare)
            && Action::parse(&send.action).unwrap().orders().any(|order| order.is_trigger())
        {
            let heard = Some(SendOutcome::NotSent("planted".to_owned()));
            self.posts.push(Post { send, leaves_ms: now, arrives_ms: None, heard_ms: now + 1, heard, refuse: false });
            return;
        }
        let leaves_ms = now + self.dice.roll(15);
        let arrives = leaves_ms + self.dice.roll(150);
        let late = arrives + [400, 3_000, 14_000][usize::try_from(self.dice.roll(3)).unwrap()];
        let cut = || Some(SendOutcome::NoAnswer("cut".to_owned()));
        let fate = if self.is_quiet { 9 } else { self.dice.roll(12) };
        let (arrives_ms, heard_ms, heard) = match fate {
            0 => (None, now + 20, Some(SendOutcome::NotSent("no connection".to_owned()))),
            1 => (None, arrives + 200, cut()),
            2 | 3 => (Some(arrives), arrives + 50, cut()),
            4 => (Some(late), arrives + 200, cut()),
            5 => (Some(arrives), arrives + 50, Some(SendOutcome::Answered(json!("garbage")))),
            _ => (Some(arrives), arrives + self.dice.roll(100), None),
        };
        // What is never sent does not leave either.
        let leaves_ms = if fate == 0 { u64::MAX } else { leaves_ms };
        let refuse = !self.is_quiet && self.dice.one_in(8);
        self.posts.push(Post { send, leaves_ms, arrives_ms, heard_ms, heard, refuse });
    }

    /// The venue takes what reaches it, and the guard hears of it.
    pub(super) fn serve(&mut self) {
        let now = self.now();
        for mut post in std::mem::take(&mut self.posts) {
            if post.arrives_ms.is_some_and(|at| at <= now) {
                post.arrives_ms = None;
                let reply = self.venue.take(&post.send, post.refuse, now);
                post.heard.get_or_insert(SendOutcome::Answered(reply));
            }
            let is_heard = post.heard_ms <= now && post.heard.is_some();
            if is_heard && self.dead_until.is_none() {
                post.heard_ms = u64::MAX;
                let outcome = post.heard.clone().unwrap();
                let (intent, index) = (post.send.intent, post.send.index);
                let is_unanswered = matches!(outcome, SendOutcome::NoAnswer(_));
                self.give(Input::Sent { intent, index, outcome });
                if self.plant == Some(Plant::Again) && is_unanswered {
                    let SendAction { action, terms, batch_len, urgency, client, .. } = &post.send;
                    let (action, terms) = (action.clone(), *terms);
                    self.post(SendAction {
                        intent,
                        index,
                        action,
                        terms,
                        batch_len: *batch_len,
                        urgency: *urgency,
                        client: *client,
                    });
                }
            }
            if post.arrives_ms.is_some() || post.heard_ms != u64::MAX {
                self.posts.push(post);
            }
        }
    }

    /// An entry that the venue may still take is counted.
    pub(super) fn check_reserved(&mut self) {
        let now = self.now();
        let mut unreserved = None;
        for post in self.posts.iter().filter(|post| post.arrives_ms.is_some()) {
            if post.send.terms.expires_after_ms.is_none_or(|expires_ms| expires_ms < now) {
                continue;
            }
            let action = Action::parse(&post.send.action).unwrap();
            for order in action.orders().filter(|order| !order.is_trigger() && !order.reduce_only) {
                let is_counted = self.desk.guard.sent.orders.iter().any(|pending| pending.cloid == order.cloid);
                if !is_counted && !self.venue_knows(post.send.terms.nonce) {
                    unreserved = Some(format!("{} is on its way and not reserved", post.send.action));
                }
            }
        }
        unreserved.into_iter().for_each(|what| self.is_wrong(what));
    }

    /// Whether a nonce is used, so that nothing else under it can happen.
    fn venue_knows(&self, nonce: u64) -> bool {
        self.venue.taken.iter().any(|taken| taken.nonce == nonce)
    }
}
