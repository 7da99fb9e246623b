//! A client's request, and what the guard must make of it: exits go at once, and nothing else than trading is sent.

use rust_decimal::Decimal;
use serde_json::Value;

use super::super::simulation::books::{COINS, asset_of, coin_of};
use super::nature::Trouble;
use super::network::envelope;
use super::promise::{Broken, Promise};
use super::world::{World, client};
use crate::guard::effects::SendAction;
use crate::guard::{Input, Request, RequestBody, Urgency, Via};
use crate::venue::action::Action;
use crate::venue::order::{Order, Tif};
use crate::venue::signing::Source;

impl World {
    /// One of the clients posts this.
    pub(super) fn post(&mut self, action: &Value) {
        if self.broken.is_some() {
            return;
        }
        self.nonce = self.now.max(self.nonce + 1);
        self.request += 1;
        self.tally.requests += 1;
        self.note(|| format!("a client asks {action}"));
        let envelope = envelope(action, self.nonce);
        let exits = self.exits(&envelope.action);
        let number = u8::try_from(self.dice.roll(self.nature.clients.into())).unwrap_or_default();
        let body = RequestBody::Signed { envelope, client: client(number), signed_as: Source::Testnet };
        let sent = self.give(Input::Request(Request { id: self.request, via: Via::Http, body }));
        self.tally.exits += exits.len();
        if let Some(missing) = exits.iter().find(|exit| !is_sent(exit, &sent)) {
            let text =
                format!("{} {} at {} is not sent at once", missing.size, coin_of(missing.asset), missing.limit_px);
            self.fail(Promise::ExitIsSent.broken(text));
        }
        self.look();
    }

    /// The orders of an action that close a position which the guard has read, as they must be sent. Whoever has no request
    /// left to spare must choose.
    fn exits(&self, action: &Action) -> Vec<Order> {
        let Action::Order(orders) = action else { return Vec::new() };
        if matches!(self.nature.trouble, Trouble::Allowance(_)) {
            return Vec::new();
        }
        let closes = |order: &&Order| {
            let Some(coin) = COINS.into_iter().find(|coin| asset_of(coin) == order.asset) else { return false };
            let (held, known) = (self.venue.books.held(coin), self.known.get(coin).copied().unwrap_or_default());
            let opposite = if order.is_buy { -held } else { held };
            order.reduce_only
                && order.tif().is_some_and(Tif::is_immediate)
                && held == known
                && opposite > Decimal::ZERO
                && !order.size.is_zero()
        };
        orders.orders.iter().filter(closes).cloned().collect()
    }

    /// What may be sent at all.
    pub(super) fn judge_send(&mut self, send: &SendAction) -> Result<(), Broken> {
        self.tally.sends += 1;
        let broken = |what: &str| Err(Promise::Authority.broken(format!("{what}: {}", send.action)));
        let Ok(action) = Action::parse(&send.action) else { return broken("not an action") };
        let is_clients = send.urgency != Urgency::Own;
        let is_killed = self.checks.is_killed();
        // A noop burns the nonce of what it is sent for.
        if action != Action::Noop && !self.nonces.insert(send.terms.nonce) {
            return Err(Promise::Nonces.broken(format!("{} twice", send.terms.nonce)));
        }
        if send.terms.vault.is_some() {
            return broken("for another account");
        }
        match &action {
            Action::Order(orders) if orders.builder.is_some() => broken("a builder's fee nobody asked for"),
            Action::UpdateLeverage { leverage, .. } if *leverage > self.nature.rules.leverage => {
                broken("more leverage than the rules allow")
            }
            Action::UpdateLeverage { .. } | Action::UpdateIsolatedMargin { .. } if is_killed && is_clients => {
                broken("a setting that opens room after a kill")
            }
            Action::UpdateIsolatedMargin { ntli, .. } if *ntli < 0 => broken("margin taken out"),
            Action::GuardKill { .. } | Action::Other { .. } => broken("not a kind that trades"),
            action if is_killed && action.orders().any(|order| !order.reduce_only) => broken("an entry after a kill"),
            _ => Ok(()),
        }
    }
}

/// Whether an order is among what is sent, as it is.
fn is_sent(order: &Order, sent: &[Value]) -> bool {
    let is_it = |other: &Order| {
        other.reduce_only
            && (other.asset, other.is_buy, other.size, other.limit_px)
                == (order.asset, order.is_buy, order.size, order.limit_px)
    };
    sent.iter().filter_map(|action| Action::parse(action).ok()).any(|action| action.orders().any(is_it))
}
