//! The one way in: an input and the time, out come effects.

use super::effects::Effects;
use super::flow::risk::{account, ledger, mode};
use super::flow::step_context::Step;
use super::flow::{
    acts_for, book, cover, feed, flatten, fresh_marks, kill_switch, requests, risk_event, send_result, settlement,
    shutdown, supervise, untold,
};
use super::input::Input;
use super::recovery::open_intents;
use super::state::exposure::Exposure;
use super::state::guard::Guard;
use super::state::risk::cash_balance::Cash;
use crate::record::events::{Started, Trouble};

impl Guard {
    /// Tells that the service started. The first effects of a life.
    pub fn start(&mut self, now_ms: u64) -> Effects {
        self.clock.advance(now_ms);
        self.started_ms = Some(now_ms);
        self.book.chains.settle(now_ms);
        self.book.begin(now_ms);
        if self.risk.since_ms == 0 {
            self.risk.since_ms = now_ms;
        }
        let started = Started {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").into(),
            mode: self.config.mode.name().into(),
            account: self.config.account.to_string(),
            rules: self.config.rules.to_code(),
            clients: self.config.clients.iter().copied().collect(),
        };
        let mut step = Step::new(self, now_ms);
        step.record(started);
        open_intents::reopen(&mut step);
        step.effects
    }

    /// Takes one input in.
    pub fn step(&mut self, input: Input, now_ms: u64) -> Effects {
        self.clock.advance(now_ms);
        let is_request = matches!(input, Input::Request(_));
        let is_read = matches!(
            input,
            Input::Universe(_)
                | Input::Mids { .. }
                | Input::Marks { .. }
                | Input::Account { .. }
                | Input::AccountUnvalued { .. }
                | Input::Orders { .. }
        );
        let is_tick = matches!(input, Input::Tick);
        let are_marks = matches!(input, Input::Marks { .. });
        let orders_ms = if let Input::Orders { begun_ms, .. } = &input { Some(*begun_ms) } else { None };
        let mut step = Step::new(self, now_ms);
        on_input(&mut step, input);
        if is_read {
            cover::refresh(&mut step);
            cover::record_moved(&mut step);
            let Guard { view, lines, config, .. } = &*step.guard;
            step.guard.read_exposure = Exposure::of_reads(view, lines, config.rules.stop);
        }
        if are_marks {
            requests::on_marks_read(&mut step);
        }
        // What waits for the open orders is judged by what they show of the cover too.
        orders_ms.into_iter().for_each(|begun_ms| requests::on_orders_read(&mut step, begun_ms));
        // A decision changes nothing that the supervision looks at before it is answered.
        if !is_request {
            supervise::after_step(&mut step);
            feed::after_step(&mut step, is_tick);
            book::after_step(&mut step);
        }
        risk_event::record_risk_change(&mut step);
        step.effects
    }
}

fn on_input(step: &mut Step<'_>, input: Input) {
    match input {
        Input::Request(request) => requests::on_request(step, request),
        Input::Universe(universe) => supervise::on_universe(step, universe),
        Input::Mids { mids, begun_ms } => supervise::on_mids(step, &mids, begun_ms),
        Input::Marks { marks, begun_ms } => step.guard.view.set_marks(&marks, begun_ms),
        Input::Account { state, equity, begun_ms } => supervise::on_account(step, state, Some(equity), begun_ms),
        Input::AccountUnvalued { state, begun_ms } => supervise::on_account(step, state, None, begun_ms),
        Input::LastAccount { state, equity, mode, begun_ms } => {
            account::on_last_life(step, mode, Cash::told(&state, begun_ms).valued_at(equity));
        }
        Input::Orders { orders, begun_ms } => supervise::on_orders(step, orders, begun_ms),
        Input::Ledger { updates, begun_ms } => ledger::on_ledger(step, &updates, begun_ms),
        Input::LedgerLacks { unread, cut } => book::on_ledger_lacks(step, &unread, cut),
        Input::AccountMode { mode, begun_ms } => mode::on_account_mode(step, mode, begun_ms),
        Input::ModeUnread => mode::on_mode_unread(step),
        Input::UnvaluedMode { mode, begun_ms } => mode::on_unvalued_mode(step, mode, begun_ms),
        Input::Twaps(twaps) => flatten::on_twaps(step, twaps),
        Input::Leverage { asset, leverage } => requests::on_leverage(step, asset, leverage),
        Input::OrderStatus { intent, index, cloid, answer } => {
            settlement::on_order_status(step, (intent, index), cloid, answer.as_ref());
        }
        Input::Feed(news) => feed::on_news(step, news),
        Input::Fills { page, begun_ms } => {
            book::on_newest_read(step, page.rows.clone());
            if !page.unread.is_empty() {
                // The book's own read tells of them, once.
                book::read_fills(step);
            }
            feed::on_fills_read(step, page.rows, begun_ms);
        }
        Input::BookFills { page, since_ms, begun_ms } => book::on_fills_page(step, page, since_ms, begun_ms),
        Input::Fundings { page, since_ms, begun_ms } => book::on_fundings_page(step, &page, since_ms, begun_ms),
        Input::RequestsLeft(left) => supervise::on_requests_left(step.guard, left),
        Input::ActsFor(vault) => acts_for::on_acts_for(step, vault),
        Input::ApiWalletValidUntil(until_ms) => step.guard.api_wallet_valid_until_ms = until_ms,
        Input::Sent { intent, index, outcome } => send_result::on_send_result(step, intent, index, outcome),
        Input::KilledBefore { reason } => kill_switch::on_kill_at_start(step, &reason),
        Input::Kill { reason, by, write_file, request } => kill_switch::on_kill(step, &reason, by, write_file, request),
        Input::Journal(problem) => step.guard.journal_error = problem,
        Input::DiskFull(is_full) => step.guard.is_disk_full = is_full,
        Input::Untold { count, code } => step.guard.untold.add(count, code),
        Input::Concern { code, text: Some(text) } => {
            let since_ms = step.guard.concerns.get(&code).map_or(step.now_ms, |(_, since_ms)| *since_ms);
            step.guard.concerns.insert(code, (text, since_ms));
        }
        Input::Concern { code, text: None } => _ = step.guard.concerns.remove(&code),
        Input::Behind(is_behind) => step.guard.is_behind = is_behind,
        Input::Trouble(text) => {
            step.record(Trouble::new(text));
        }
        Input::ReadFails { name, text: Some(text) } => {
            step.record(Trouble::new(text.clone()));
            step.guard.failing_reads.insert(name, (text, step.now_ms));
        }
        Input::ReadFails { name, text: None } => _ = step.guard.failing_reads.remove(name),
        Input::Shutdown { reason } => shutdown::on_shutdown(step, reason),
        Input::SendsEnded => shutdown::on_sends_ended(step),
        Input::Tick => {
            requests::unpark_overdue(step);
            fresh_marks::refresh(step);
            untold::tell_if_due(step);
            ledger::forget_oddities(step);
            book::on_tick(step);
            if step.guard.shutdown_reason.is_none() {
                settlement::settle_due(step);
            }
        }
    }
}
