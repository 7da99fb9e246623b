//! `position_limit`: the notional of one market, the position and its entries together.

use crate::guard::code::Code;
use crate::guard::judge::size_limit::{LimitBreach, SizedEntry};

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let limit_pct = sized.guard.config.rules.position;
    let what = format_args!("{} notional", sized.entry.market.coin);
    sized.over_equity_share(Code::PositionLimit, what, sized.market.notional, limit_pct)
}
