//! Happenings at the exchange that nobody was told of yet, in their order: the event feeds are made of them.
//!
//! Bounded, because an exchange that nobody listens to has nobody who takes its news.

use super::fill::{Fill, Funding, LedgerEntry};
use super::order::Record;
use super::twap::Twap;
use super::{Engine, HISTORY_KEPT, push_bounded};
use rust_decimal::Decimal;
use std::collections::VecDeque;

/// One thing that has happened.
#[derive(Clone, Debug)]
pub(crate) enum News {
    /// An order has another status.
    Order(Record),
    Fill(Fill),
    Funding(Funding),
    /// The balance has moved; the ledger may show it later.
    Ledger(LedgerEntry),
    /// A TWAP order was started or has ended.
    Twap(u64, Twap),
    /// Positions worth `notional` were closed by the venue while the account was worth `value`.
    Liquidation {
        notional: Decimal,
        value: Decimal,
    },
}

impl Engine {
    pub(super) fn tell(&mut self, news: News) {
        push_bounded(&mut self.news, news, HISTORY_KEPT);
    }

    /// The news since they were last taken.
    pub(crate) fn take_news(&mut self) -> VecDeque<News> {
        std::mem::take(&mut self.news)
    }
}
