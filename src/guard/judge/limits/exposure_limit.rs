//! `exposure_limit`: the gross notional of all markets together.

use crate::guard::code::Code;
use crate::guard::judge::size_limit::{LimitBreach, SizedEntry};

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let limit_pct = sized.guard.config.rules.exposure;
    let what = format_args!("gross notional of all positions and orders");
    sized.over_equity_share(Code::ExposureLimit, what, sized.totals.notional, limit_pct)
}
