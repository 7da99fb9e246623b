//! Checkpoints: the part of earlier events that a restart must know, used nonces and client order ids.

use crate::base::address::Cloid;
use crate::guard::code::Code;
use crate::guard::recovery::{book, open_intents};
use crate::guard::reply::Verdict;
use crate::guard::state::guard::Guard;
use crate::record::event::{Event, Kind};
use crate::record::events::Decision;
use crate::record::minute_record::EntryNote;
use crate::record::risk_record::{Checkpoint, RiskRecord};
use crate::venue::action::Action;
use crate::venue::order::Order;
use serde_json::Value;
use std::collections::BTreeSet;

/// Client order ids in a checkpoint: those whose orders are likely still open.
const CHECKPOINT_CLOIDS: usize = 1000;

/// After so long all that filled before a life has its stop.
const YOUNG_MS: u64 = 60_000;

impl Guard {
    /// What a restart must know of all events so far, so that it need not read them: a `checkpoint` record.
    #[must_use]
    pub fn checkpoint(&self, now_ms: u64) -> String {
        let windows = self.windows.iter().map(|(client, window)| (*client, window.nonces().clone()));
        let is_young = self.started_ms.is_none_or(|started_ms| now_ms.saturating_sub(started_ms) < YOUNG_MS);
        let checkpoint = Checkpoint {
            at_ms: now_ms,
            seq: self.seq,
            own_nonce: Some(self.own_nonces.last()),
            client_nonces: windows.collect(),
            open: open_intents::checkpoint_open(self),
            client_cloids: self.client_cloids.last(CHECKPOINT_CLOIDS),
            cloids_of: self.client_cloids.last_by_client(CHECKPOINT_CLOIDS),
            orders_of: self.orders_by_client(),
            judged: self.earlier_stops.record(&self.view, &self.sent, is_young),
            ledger_ms: self.risk.ledger_read_ms,
            lines: self
                .lines
                .known()
                .filter(|(_, line)| !line.covered_parts().is_empty())
                .map(|(asset, line)| line.record(asset))
                .collect(),
            book: self.book.record(now_ms),
            minute: self.throttle.record(self.config.rules.duplicate_window_ms(), now_ms),
            ..Checkpoint::default()
        };
        RiskRecord::Checkpoint(Box::new(checkpoint)).to_line()
    }

    /// Takes in the last checkpoint, before the events that follow it.
    pub fn restore_checkpoint(&mut self, checkpoint: Checkpoint) {
        checkpoint.own_nonce.into_iter().for_each(|nonce| self.own_nonces.remember(nonce));
        self.open_intents.restore_checkpointed(checkpoint.open);
        book::restore_checkpoint(self, checkpoint.book, checkpoint.seq, checkpoint.at_ms);
        checkpoint.minute.into_iter().for_each(|minute| self.throttle.restore(minute, checkpoint.seq));
        for (client, nonces) in checkpoint.client_nonces {
            let window = self.windows.entry(client).or_default();
            nonces.into_iter().for_each(|nonce| window.remember(nonce));
        }
        let at_ms = checkpoint.at_ms;
        checkpoint.lines.into_iter().for_each(|line| self.lines.restore_checkpointed(line, at_ms));
        let owned: BTreeSet<Cloid> = checkpoint.cloids_of.values().flatten().copied().collect();
        let unowned = checkpoint.client_cloids.into_iter().filter(|cloid| !owned.contains(cloid));
        unowned.for_each(|cloid| self.client_cloids.insert(cloid, None));
        for (client, cloids) in checkpoint.cloids_of {
            cloids.into_iter().for_each(|cloid| self.client_cloids.insert(cloid, Some(client)));
        }
        self.earlier_stops.add(checkpoint.judged);
        for (client, cloids) in checkpoint.orders_of {
            self.order_owners.extend(cloids.into_iter().map(|cloid| (cloid, client)));
        }
    }

    /// Takes in an event of an earlier life, oldest first, before [`Guard::start`].
    pub fn restore(&mut self, event: Event<'_>) {
        event.kind.nonces().iter().for_each(|nonce| self.own_nonces.remember(*nonce));
        if let Kind::Decision(decision) = &event.kind {
            self.restore_decision(decision, event.at_ms);
            if event.seq > self.throttle.covered_seq {
                self.restore_minute(decision, event.at_ms);
            }
        }
        book::restore(self, &event);
        self.open_intents.restore(event);
    }

    fn restore_decision(&mut self, decision: &Decision<'_>, at_ms: u64) {
        if let (Some(client), Some(nonce)) = (decision.client, decision.nonce) {
            let window = self.windows.entry(client).or_default();
            if decision.code == Code::WrongNetwork.as_str() {
                // Said before the nonce was looked at.
                let _refused = window.burn(nonce, at_ms);
            } else if decision.code != Code::NonceOutOfWindow.as_str() {
                // One that was out of the window, far ahead, would stand as the highest for ever.
                window.remember(nonce);
            }
        }
        if decision.verdict == Verdict::Veto.name() {
            return;
        }
        if let Some(client) = decision.client {
            let sent = decision.pre.iter().chain(&decision.forward).chain(&decision.post);
            for action in sent.flat_map(|action| Action::parse(action)) {
                self.note_orders_of(client, &action);
                self.earlier_stops.note(&action, &self.config.rules);
            }
        }
        let orders = decision.request.get("orders").and_then(Value::as_array).into_iter().flatten();
        let cloids = orders.filter_map(|order| order.get("c")?.as_str()?.parse().ok());
        cloids.for_each(|cloid| self.client_cloids.insert(cloid, decision.client));
    }

    /// Counts a request that passed against the limits of its minute, its entries as they were asked for: a restart gives no
    /// new one.
    fn restore_minute(&mut self, decision: &Decision<'_>, at_ms: u64) {
        let (Some(client), Ok(asked)) = (decision.client, Action::parse(&decision.request)) else { return };
        if decision.verdict == Verdict::Veto.name() {
            return;
        }
        if asked.is_neutral() {
            self.throttle.note_neutral(client, at_ms);
        }
        let opens = |(place, order): &(usize, &Order)| {
            !order.reduce_only
                && !order.is_trigger()
                && sent_order(decision, *place).is_some_and(|sent| !sent.reduce_only)
        };
        let entries = asked.orders().enumerate().filter(opens);
        let entries = entries.map(|(_, order)| EntryNote::of(client, order)).collect();
        self.throttle.note(entries, self.config.rules.duplicate_window_ms(), at_ms);
    }
}

/// What was sent of the order at this place of a request, if it was.
fn sent_order(decision: &Decision<'_>, place: usize) -> Option<Order> {
    let actions = || decision.pre.iter().chain(&decision.forward).chain(&decision.post);
    let (action, at) = match decision.parts.is_empty() {
        true => (decision.forward.as_ref()?, place),
        false => decision.parts.iter().find_map(|part| {
            let at = part.places.iter().position(|other| *other == place)?;
            Some((actions().nth(part.index)?, at))
        })?,
    };
    Action::parse(action).ok()?.orders().nth(at).cloned()
}
