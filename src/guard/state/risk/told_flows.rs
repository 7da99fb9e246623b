//! Flows that the live feed told of, or an answer of the ledger that was not taken in, and that none has shown yet that was. They
//! move no mark: until the ledger is read, which may have to wait for weight, they hold off a halt that they would explain, and
//! have the ledger asked for a loss that they would hide. No halt is decided here.

use crate::guard::state::risk::cash_history::LEDGER_LATE_MS;
use crate::guard::state::risk::transfers::{BalanceScope, SeenTransfers};
use crate::venue::info::LedgerUpdate;
use rust_decimal::Decimal;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// Rows kept, the newest.
const MOST_ROWS: usize = 512;

/// So long a row counts: whatever was spent, a minute's weight is back by then.
const COUNTS_MS: u64 = 75_000;

/// The rows, oldest first, each with when it was heard.
#[derive(Debug, Clone, Default)]
pub(crate) struct ToldFlows(VecDeque<(LedgerUpdate, u64)>);

impl ToldFlows {
    /// Takes in rows. One that was heard before, as what a new socket shows first is, keeps its time.
    pub(crate) fn hear(&mut self, rows: &[LedgerUpdate], now_ms: u64) {
        let mut known: Vec<LedgerUpdate> = self.0.iter().map(|(row, _)| row.clone()).collect();
        for row in rows {
            // Several may be alike in everything.
            match known.iter().position(|known| known == row) {
                Some(at) => drop(known.swap_remove(at)),
                None => self.0.push_back((row.clone(), now_ms)),
            }
        }
        let over = self.0.len().saturating_sub(MOST_ROWS);
        self.0.drain(..over);
    }

    /// Takes in that an answer of the ledger asked for at `begun_ms` was counted: it has what was heard long enough before.
    pub(crate) fn on_ledger(&mut self, begun_ms: u64) {
        self.0.retain(|(_, heard_ms)| heard_ms.saturating_add(LEDGER_LATE_MS) > begun_ms);
    }

    /// What came in, less what went out, USDC, in these times of the venue's, by the rows that count still and that are not
    /// among those taken in. Only what surely moved the equity counts, and not what `is_counted` holds of its time that another flow
    /// has it in.
    pub(crate) fn come(
        &self,
        times: RangeInclusive<u64>,
        taken: &SeenTransfers,
        purse_at: impl Fn(u64) -> BalanceScope,
        is_counted: impl Fn(u64) -> bool,
        now_ms: u64,
    ) -> Decimal {
        if self.0.is_empty() {
            return Decimal::ZERO;
        }
        let counts = |heard_ms: u64| now_ms.saturating_sub(heard_ms) < COUNTS_MS;
        let told = self.0.iter().filter(|(row, heard_ms)| times.contains(&row.time) && counts(*heard_ms));
        let rows: Vec<LedgerUpdate> = told.map(|(row, _)| row.clone()).collect();
        let new = taken.clone().new_ones(&rows, purse_at, &is_counted);
        let moved = new.iter().filter(|flow| flow.is_sure && !is_counted(flow.time_ms)).map(|flow| flow.usd);
        moved.fold(Decimal::ZERO, Decimal::saturating_add)
    }
}
