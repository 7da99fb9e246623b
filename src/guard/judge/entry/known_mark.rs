//! `price_stale`: an entry is judged by a mark that is known, as well as by the mid. A mark away from the mid must be as
//! recent as prices must be, and one at the mid was read within half a minute, or within two where the share is small.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::market::Market;

/// Refuses an entry in a market whose mark is not known well enough.
pub(crate) fn check(guard: &Guard, market: &Market, now_ms: u64) -> Result<(), Veto> {
    if is_known(guard, market.asset, now_ms) {
        return Ok(());
    }
    let text = format!(
        "{}'s mark was not read lately, or stands away from the mid and was not read just now; ask again in a moment",
        market.coin
    );
    Err(Veto::new(Code::PriceStale, text))
}

/// Whether a market's mark is known well enough to judge an entry by.
pub(crate) fn is_known(guard: &Guard, asset: u32, now_ms: u64) -> bool {
    guard.view.knows_mark(asset, now_ms, guard.prices_max_age_ms(), guard.config.marks_max_age_ms)
}
