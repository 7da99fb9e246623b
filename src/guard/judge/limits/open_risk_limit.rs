//! `open_risk_limit`: the loss of all markets together if all stops are hit.

use crate::guard::code::Code;
use crate::guard::judge::size_limit::{LimitBreach, SizedEntry};

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let limit_pct = sized.guard.config.rules.open_risk;
    let what = format_args!("open risk of all positions and orders");
    sized.over_equity_share(Code::OpenRiskLimit, what, sized.totals.loss, limit_pct)
}
