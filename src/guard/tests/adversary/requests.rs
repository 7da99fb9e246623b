//! A client's request, and what the guard must make of it: exits go at once, and nothing else than trading is sent.

use rust_decimal::{Decimal, dec};
use serde_json::Value;

use super::super::simulation::books::{COINS, asset_of, coin_of};
use super::nature::Trouble;
use super::network::envelope;
use super::promise::{Broken, Promise};
use super::truth::Cover;
use super::world::{World, client};
use crate::guard::effects::SendAction;
use crate::guard::{Input, Request, RequestBody, Urgency, Via};
use crate::venue::action::Action;
use crate::venue::order::{Order, Tif};
use crate::venue::signing::Source;

/// The open orders are known for so long after a read of them began, with what that may be late.
const UNREAD_MS: u64 = 18_000;
/// And so long after the feed told of them.
const UNTOLD_MS: u64 = 23_000;

impl World {
    /// One of the clients posts this.
    pub(super) fn post(&mut self, action: &Value) {
        let number = u8::try_from(self.dice.roll(self.nature.clients.into())).unwrap_or_default();
        self.post_as(number, action);
    }

    /// This one of the clients does.
    pub(super) fn post_as(&mut self, number: u8, action: &Value) {
        if self.broken.is_some() {
            return;
        }
        self.nonce = self.now.max(self.nonce + 1);
        self.request += 1;
        self.tally.requests += 1;
        self.note(|| format!("a client asks {action}"));
        let envelope = envelope(action, self.nonce);
        let asked = envelope.action.clone();
        let exits = self.exits(&asked);
        self.waiting.posted(self.request, &asked);
        let body = RequestBody::Signed { envelope, client: client(number), signed_as: Source::Testnet };
        let sent = self.give(Input::Request(Request { id: self.request, via: Via::Http, body }));
        self.judge_prices(&asked, &sent);
        self.tally.exits += exits.len();
        if let Some((missing, _)) = exits.iter().find(|(exit, asked)| !is_sent(exit, *asked, &sent)) {
            let text =
                format!("{} {} at {} is not sent at once", missing.size, coin_of(missing.asset), missing.limit_px);
            self.fail(Promise::ExitIsSent.broken(text));
        }
        self.look();
    }

    /// An order that was not marked and goes as an exit keeps its price.
    fn judge_prices(&mut self, asked: &Action, sent: &[Action]) {
        let is_it = |asked: &Order, sent: &Order| (asked.asset, asked.is_buy) == (sent.asset, sent.is_buy);
        for order in sent.iter().flat_map(Action::orders).filter(|order| order.reduce_only && !order.is_trigger()) {
            let mut alike = asked.orders().filter(|asked| is_it(asked, order)).peekable();
            if alike.peek().is_some() && alike.all(|asked| asked.limit_px != order.limit_px) {
                let text = format!("an exit goes at {} and was asked otherwise", order.limit_px);
                self.fail(Promise::ExitIsSent.broken(text));
                return;
            }
        }
    }

    /// The orders of an action that close a position which the guard has read, as they must be sent, and the size that was asked.
    /// Whoever has no request left to spare must choose.
    fn exits(&self, action: &Action) -> Vec<(Order, Decimal)> {
        let Action::Order(orders) = action else { return Vec::new() };
        if matches!(self.nature.trouble, Trouble::Allowance(_)) {
            return Vec::new();
        }
        orders.orders.iter().filter_map(|order| Some((self.exit(order)?, order.size))).collect()
    }

    /// The close that an order is, as it must be sent.
    fn exit(&self, order: &Order) -> Option<Order> {
        let coin = COINS.into_iter().find(|coin| asset_of(coin) == order.asset)?;
        let (held, known) = (self.venue.books.held(coin), self.known.get(coin).copied().unwrap_or_default());
        let opposite = if order.is_buy { -held } else { held };
        let is_immediate = order.tif().is_some_and(Tif::is_immediate);
        if !is_immediate || held != known || opposite <= Decimal::ZERO || order.size.is_zero() {
            return None;
        }
        if order.reduce_only {
            return Some(order.clone());
        }
        // One a little too large is the close that it is, where nothing else could close the position first.
        let beyond = (order.size - opposite) * self.venue.books.mid(coin);
        let read_ms = self.told.account_ms.min(self.told.orders_ms);
        let is_told = read_ms > self.told.heard_ms && self.told.account_ms > self.told.missed_ms;
        let is_plain = self.nature.trouble == Trouble::None && is_told;
        let is_alone =
            is_plain && self.told.is_all() && !self.venue.books.orders.values().any(|other| !other.is_trigger);
        let size = order.size.min(opposite);
        (beyond < dec!(9) && is_alone).then(|| Order { size, reduce_only: true, ..order.clone() })
    }

    /// What may be sent at all.
    pub(super) fn judge_send(&mut self, send: &SendAction, action: &Action) -> Result<(), Broken> {
        self.tally.sends += 1;
        let broken = |what: &str| Err(Promise::Authority.broken(format!("{what}: {}", send.action)));
        let is_clients = send.urgency != Urgency::Own;
        if is_clients && self.waiting.has_cancelled(action) {
            return Err(Promise::CancelIsHeard.broken(format!("cancelled while it waited: {}", send.action)));
        }
        let is_killed = self.checks.is_killed();
        let opens = action.orders().any(|order| !order.reduce_only);
        let known_until = (self.told.orders_ms + UNREAD_MS).max(self.told.orders_told_ms + UNTOLD_MS);
        if opens && self.now > known_until {
            return Err(Promise::NothingUnread.broken(format!("orders unread, and out goes {}", send.action)));
        }
        let is_idle = !matches!(action, Action::Cancel { .. } | Action::CancelByCloid { .. });
        // A noop that burns the nonce of what has no answer is the guard's own.
        let is_known = self.nature.has_restarts || self.nonces.contains(&send.terms.nonce);
        let is_burning = *action == Action::Noop && is_known;
        if is_idle && !is_burning && action.orders().next().is_none() && send.urgency == Urgency::Exit {
            return Err(Promise::RightOfWay.broken(format!("as urgent as an exit: {}", send.action)));
        }
        // A noop burns the nonce of what it is sent for.
        if !self.nonces.insert(send.terms.nonce) && *action != Action::Noop {
            return Err(Promise::Nonces.broken(format!("{} twice", send.terms.nonce)));
        }
        if send.terms.vault.is_some() {
            return broken("for another account");
        }
        match action {
            Action::Order(orders) if orders.builder.is_some() => broken("a builder's fee nobody asked for"),
            Action::UpdateLeverage { leverage, .. } if *leverage > self.nature.rules.leverage => {
                broken("more leverage than the rules allow")
            }
            Action::UpdateIsolatedMargin { .. } if is_killed && is_clients => broken("margin added after a kill"),
            Action::UpdateIsolatedMargin { ntli, .. } if *ntli < 0 => broken("margin taken out"),
            Action::GuardKill { .. } | Action::Other { .. } => broken("not a kind that trades"),
            _ if is_killed && opens => broken("an entry after a kill"),
            _ => Ok(()),
        }
    }
}

impl World {
    /// What takes orders away leaves a position covered as it was, where the guard knew all of it.
    pub(super) fn judge_cover(&mut self, send: &SendAction, action: &Action, reply: &Value, before: &[Cover; 2]) {
        let takes_away = matches!(
            action,
            Action::Cancel { .. } | Action::CancelByCloid { .. } | Action::Modify { .. } | Action::BatchModify { .. }
        );
        let is_plain = matches!(self.nature.trouble, Trouble::None | Trouble::Lag | Trouble::Slow(..));
        if !takes_away || !is_plain || !self.told.is_sure(send.intent) || self.checks.is_killed() {
            return;
        }
        let Some(decided) = self.decided.get(&send.intent).cloned() else { return };
        for ((coin, before), decided) in COINS.into_iter().zip(before).zip(decided) {
            let now = Cover::of(&self.venue.books, coin);
            let is_same = |other: &Cover| now.is_long == other.is_long && now.size() == other.size();
            // What went in front of a cancel stands beside what it is for until that goes.
            let is_looser =
                is_same(&decided) && now.loosened_from(&decided).is_some() && !was_passed(action, reply, coin);
            if let Some((was, is)) = now.loosened_from(before).filter(|_| is_looser && is_same(before)) {
                let text = format!("{coin} was covered at {was:?} and is at {is:?} by {}", send.action);
                self.fail(Promise::StopStays.broken(text));
            }
        }
    }
}

/// Whether the price went past a stop that was moved nearer to it while that was on its way: the venue has taken the old one
/// away and puts none in its place. How long that stays so is looked at as for anything bare.
fn was_passed(action: &Action, reply: &Value, coin: &str) -> bool {
    if !matches!(action, Action::Modify { .. } | Action::BatchModify { .. }) {
        return false;
    }
    let statuses = reply.pointer("/response/data/statuses").and_then(Value::as_array);
    let mut answered = action.orders().zip(statuses.into_iter().flatten());
    answered.any(|(order, status)| {
        let is_passed = status["error"].as_str().is_some_and(|text| text.contains("Invalid TP/SL price"));
        is_passed && order.is_trigger() && coin_of(order.asset) == coin
    })
}

/// Whether an order is among what is sent, as it is. What only reduces closes no more than is held: where more may be than was
/// read it goes at the size that was asked.
fn is_sent(order: &Order, asked: Decimal, sent: &[Action]) -> bool {
    let is_it = |other: &Order| {
        other.reduce_only
            && (other.size == order.size || other.size == asked)
            && (other.asset, other.is_buy, other.limit_px) == (order.asset, order.is_buy, order.limit_px)
    };
    sent.iter().any(|action| action.orders().any(is_it))
}
