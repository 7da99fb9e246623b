//! `loss_limit`: the loss of one market if its stops are hit, the whole position and its entries together.

use crate::guard::code::Code;
use crate::guard::judge::size_limit::{LimitBreach, SizedEntry};

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let limit_pct = sized.guard.config.rules.loss_per_trade;
    let what = format_args!("{} loss if stopped", sized.entry.market.coin);
    sized.over_equity_share(Code::LossLimit, what, sized.market.loss, limit_pct)
}
