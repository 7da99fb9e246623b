//! Ledger entries of which it is not known surely that they moved the equity. Each counts as a flow for as much of it as a
//! read of the account showed to have moved at its time, in its own direction, with nothing traded and no other flow to
//! explain it.

use crate::guard::state::risk::cash_balance::Cash;
use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// Movements kept.
const MOVES: usize = 64;

/// Entries that wait at most, and for how long after their time: the account shows what moved it sooner.
const WAITING: usize = 64;

const WAIT_MS: u64 = 60_000;

/// What moves less, USDC, is funding.
const LEAST: Decimal = Decimal::ONE;

/// Cash that moved between two reads while nothing was traded: after the first time, up to the second.
#[derive(Debug, Clone)]
struct CashMove {
    after_ms: u64,
    until_ms: u64,
    usd: Decimal,
}

impl CashMove {
    /// As much of a flow as this shows, which is then explained by it.
    fn take(&mut self, flow: &Transfer) -> Decimal {
        let is_at_its_time = self.after_ms < flow.time_ms && flow.time_ms <= self.until_ms;
        if !is_at_its_time || self.usd.is_sign_negative() != flow.usd.is_sign_negative() {
            return Decimal::ZERO;
        }
        let shown = if flow.usd.abs() < self.usd.abs() { flow.usd } else { self.usd };
        self.usd = self.usd.saturating_sub(shown);
        shown
    }
}

/// The movements not explained yet, and the entries that wait for one.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnprovenFlows {
    moves: VecDeque<CashMove>,
    waiting: Vec<Transfer>,
}

impl UnprovenFlows {
    /// Whether an entry waits for the read that shows it.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Takes in what moved between two reads with nothing traded.
    pub(crate) fn moved(&mut self, before: &Cash, now: &Cash) {
        let usd = now.usd.saturating_sub(before.usd);
        if usd.abs() >= LEAST {
            self.moves.push_back(CashMove { after_ms: before.at_ms, until_ms: now.at_ms, usd });
            if self.moves.len() > MOVES {
                self.moves.pop_front();
            }
        }
        self.waiting.retain(|flow| now.at_ms <= flow.time_ms.saturating_add(WAIT_MS));
    }

    /// A flow that is known surely explains what moved at its time.
    pub(crate) fn explain(&mut self, flow: &Transfer) {
        self.take(flow);
    }

    fn take(&mut self, flow: &Transfer) -> Decimal {
        self.moves.iter_mut().map(|one| one.take(flow)).find(|shown| !shown.is_zero()).unwrap_or_default()
    }

    /// Has an entry wait until a read shows it.
    pub(crate) fn wait(&mut self, flow: Transfer) {
        if self.waiting.len() < WAITING {
            self.waiting.push(flow);
        }
    }

    /// The entries that a read has shown by now, each for as much as it showed.
    pub(crate) fn proven(&mut self) -> Vec<Transfer> {
        let mut proven = Vec::new();
        for flow in std::mem::take(&mut self.waiting) {
            let usd = self.take(&flow);
            if usd.is_zero() { self.waiting.push(flow) } else { proven.push(Transfer { usd, ..flow }) }
        }
        proven
    }

    /// Forgets the movements: they were read wrong.
    pub(crate) fn forget_moves(&mut self) {
        self.moves.clear();
    }

    /// Begins anew: the cash is kept somewhere else.
    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
