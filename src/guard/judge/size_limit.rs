//! Limits on size: an entry at one size as they see it, and how they say that it is too large.

use std::fmt;

use rust_decimal::Decimal;

use super::stop::Entry;
use super::veto::{LimitAndActual, Veto};
use crate::base::amount::percent_of;
use crate::guard::code::Code;
use crate::guard::state::entry_leg::StopAt;
use crate::guard::state::exposure::Figures;
use crate::guard::state::guard::Guard;

/// An entry at one size, with the exposure that the account would have with it.
pub(crate) struct SizedEntry<'a> {
    pub(crate) guard: &'a Guard,
    pub(crate) entry: &'a Entry<'a>,
    pub(crate) stop: StopAt,
    /// The part of the size that can open or enlarge a position, now or once it has rested.
    pub(crate) opening: Decimal,
    /// USDC, of that part.
    pub(crate) value: Decimal,
    /// The worst case of the entry's market.
    pub(crate) market: Figures,
    /// The worst cases of all markets together.
    pub(crate) totals: Figures,
}

/// A size limit that an entry breaks.
#[derive(Debug, Clone)]
pub(crate) struct LimitBreach {
    code: Code,
    pub(crate) text: String,
    figures: LimitAndActual,
}

impl SizedEntry<'_> {
    /// The breach of a limit in percent of the equity, if `actual`, USDC of `what`, is over it.
    pub(crate) fn over_equity_share(
        &self,
        code: Code,
        what: fmt::Arguments<'_>,
        actual: Decimal,
        limit_pct: Decimal,
    ) -> Option<LimitBreach> {
        let equity = self.guard.config.base_equity(self.guard.judged_equity().unwrap_or_default());
        let limit = percent_of(equity, limit_pct);
        if actual <= limit {
            return None;
        }
        let text = format!("{what} {} is over {limit_pct}% of equity {}", cut_cents(actual), cut_cents(equity));
        Some(LimitBreach::new(code, text, cut_cents(limit), cut_cents(actual)))
    }
}

impl LimitBreach {
    pub(crate) fn new(code: Code, text: String, limit: String, actual: String) -> Self {
        Self { code, text, figures: LimitAndActual { limit, actual } }
    }

    /// The refusal of the entry, where no smaller size is an order.
    pub(crate) fn veto(self, why: fmt::Arguments<'_>) -> Veto {
        Veto { code: self.code, text: format!("{}; {why}", self.text), figures: Some(self.figures) }
    }
}

/// An amount of USDC for a refusal, cut: a limit that is named is never more than it is.
pub(crate) fn cut_cents(amount: Decimal) -> String {
    format!("{amount:.2}")
}
