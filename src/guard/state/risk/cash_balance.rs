//! Cash: the equity without unrealised profit and loss. While no position changes its size, only funding and flows move
//! it, so cash that is gone and that the ledger does not show yet was rather withdrawn than lost. Who trades can lose it
//! between two reads that show the same sizes, so what is known of trades counts too. No halt is decided here.

use crate::base::amount::percent_of;
use crate::guard::state::risk::transfers::Transfer;
use crate::guard::state::view::AccountView;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Funding and fees between two reads stay below this share of the equity, percent.
const NOISE_PCT: Decimal = Decimal::ONE;

/// What an account read showed of its cash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cash {
    /// When the read began, and its time by the venue, UTC ms.
    begun_ms: u64,
    at_ms: u64,
    equity: Decimal,
    usd: Decimal,
    /// The signed sizes of the positions.
    sizes: BTreeMap<u32, Decimal>,
}

impl Cash {
    /// `None` where there are positions of which too little is known.
    pub(crate) fn of(account: &AccountView) -> Option<Self> {
        let unrealized = account.positions.values().map(|position| position.unrealized_pnl);
        let usd = unrealized.fold(account.equity, Decimal::saturating_sub);
        let sizes = account.positions.iter().map(|(asset, position)| (*asset, position.szi)).collect();
        let (begun_ms, at_ms, equity) = (account.begun_ms, account.venue_ms, account.equity);
        account.unknown.is_empty().then_some(Self { begun_ms, at_ms, equity, usd, sizes })
    }

    /// Moves it with a flow that came after it: what the ledger shows is not gone without a word.
    pub(crate) fn shift(&mut self, flow: &Transfer) {
        if flow.time_ms > self.at_ms {
            self.equity = self.equity.saturating_add(flow.usd);
            self.usd = self.usd.saturating_add(flow.usd);
        }
    }

    /// The cash that is gone since an earlier read, USDC, if it is too much to be anything but a flow. `traded_ms` is when
    /// the last trade was heard of.
    pub(crate) fn gone_since(&self, before: &Self, traded_ms: Option<u64>) -> Option<Decimal> {
        let gone = before.usd.saturating_sub(self.usd);
        let is_untouched = self.sizes == before.sizes && traded_ms < Some(before.begun_ms);
        (gone > percent_of(before.equity.abs(), NOISE_PCT) && is_untouched).then_some(gone)
    }
}
