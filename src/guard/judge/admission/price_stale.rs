//! `price_stale`: an entry is judged by a mid that is recent enough.

use rust_decimal::Decimal;

use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::venue::market::Market;

/// Refuses an entry while the last read of prices is too old.
pub(crate) fn check(guard: &Guard, now_ms: u64) -> Result<(), Veto> {
    let Some(mids_ms) = guard.view.mids_ms else {
        return Err(Veto::new(Code::PriceStale, "no prices have been read yet; try again in a moment"));
    };
    let (age_ms, limit_ms) = (now_ms.saturating_sub(mids_ms), guard.prices_max_age_ms());
    if age_ms <= limit_ms {
        return Ok(());
    }
    let text = format!("prices were last read {} ago, over {}; the venue may be away", span(age_ms), span(limit_ms));
    Err(Veto::new(Code::PriceStale, text).with(&limit_ms, &age_ms))
}

/// The mid of a market; refused where the last read of prices has none for it.
pub(crate) fn mid(guard: &Guard, market: &Market) -> Result<Decimal, Veto> {
    guard.view.mids.get(&market.asset).copied().ok_or_else(|| {
        Veto::new(Code::PriceStale, format!("the venue shows no mid for {}; try again later", market.coin))
    })
}
