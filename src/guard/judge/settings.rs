//! Settings that put more at stake: a higher leverage, or margin for a position. They are no way out, so they pass as
//! entries do: while something may be opened, on reads fresh enough, and in a market that may be entered.

use super::admission;
use super::entry::market;
use super::veto::Veto;
use crate::guard::state::guard::Guard;

pub(crate) fn check(guard: &Guard, asset: u32, now_ms: u64) -> Result<(), Veto> {
    admission::checks::check(guard, now_ms)?;
    market::check(guard, asset).map(|_| ())
}
