//! The order of the checks that an entry must pass before its market is looked at.

use super::{
    account_mode, account_stale, busy, halted, journal_error, killed, markets_changed, price_stale, starting, stopping,
};
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;

/// Refuses an entry while nothing may be opened, or while the last reads are too old to judge it by.
pub(crate) fn check(guard: &Guard, now_ms: u64) -> Result<(), Veto> {
    killed::check(guard)?;
    halted::check(guard)?;
    stopping::check(guard)?;
    journal_error::check(guard)?;
    busy::check(guard)?;
    let account = starting::check_reads(guard)?;
    account_mode::check(guard)?;
    markets_changed::check(guard)?;
    account_stale::check(guard, account, now_ms)?;
    price_stale::check(guard, now_ms)
}
