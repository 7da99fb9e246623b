//! `order_value_limit`: the notional that a single entry opens, in USDC.

use crate::guard::code::Code;
use crate::guard::judge::size_limit::{LimitBreach, SizedEntry, cut_cents};

pub(crate) fn check(sized: &SizedEntry<'_>) -> Option<LimitBreach> {
    let limit = sized.guard.config.rules.order_value.filter(|limit| sized.value > *limit)?;
    let (actual, limit) = (cut_cents(sized.value), cut_cents(limit));
    let text = format!("{} order value {actual} is over {limit}", sized.entry.market.coin);
    Some(LimitBreach::new(Code::OrderValueLimit, text, limit, actual))
}
