//! An account that somebody emptied: of nothing no loss is a share, so what was lost before that waits for what comes in next.
//!
//! Without that, whoever takes everything out would fire a halt by the last cent, or come back without the loss.

use crate::base::amount::percent_of;
use crate::guard::state::risk::equity_peaks::{EquitySample, Peaks};
use crate::guard::state::risk::transfers::Transfer;
use rust_decimal::{Decimal, dec};

/// A flow that leaves less than this share of the account, percent, empties it: what it was worth just before is known as well
/// as that at the least.
const REST_PCT: Decimal = dec!(1);

/// An account with no more than this, USDC, is empty: the venue takes no order of it.
const REST_USD: Decimal = dec!(1);

/// What the figures were when the account was emptied.
#[derive(Debug, Clone)]
pub(crate) struct Emptied {
    before: Decimal,
    pub(crate) day_start: Option<EquitySample>,
    pub(crate) peaks: Peaks,
}

impl Emptied {
    /// What is to be remembered, if this flow empties the account.
    pub(crate) fn by(flow: &Transfer, day_start: Option<EquitySample>, peaks: &Peaks) -> Option<Self> {
        let before = flow.before.filter(|before| *before > Decimal::ZERO)?;
        let rest = before.saturating_add(flow.usd);
        let is_emptied = flow.usd < Decimal::ZERO && rest < percent_of(before, REST_PCT);
        is_emptied.then(|| Self { before, day_start, peaks: peaks.clone() })
    }

    /// The flow as one with that which emptied the account, if it was still empty when this one came in.
    pub(crate) fn with(&self, flow: &Transfer) -> Option<Transfer> {
        let rest = flow.before.filter(|before| is_empty(*before))?;
        let usd = rest.saturating_add(flow.usd).saturating_sub(self.before);
        Some(Transfer { before: Some(self.before), usd, ..flow.clone() })
    }
}

/// Whether so little is left that no loss can be measured by it.
pub(crate) fn is_empty(equity: Decimal) -> bool {
    equity <= REST_USD
}
