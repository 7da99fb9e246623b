//! The book of money: which fills, payments of funding and transfers are on record, who caused them, and what is still to be
//! read. What it records is told by the flow of the same name.

pub(crate) mod chains;
pub(crate) mod orders;
pub(crate) mod reading;
pub(crate) mod seen;

use crate::guard::state::book::chains::Chains;
use crate::guard::state::book::orders::SentBy;
use crate::guard::state::book::reading::Reading;
use crate::guard::state::book::seen::{RowId, Seen};
use crate::record::book_record::{BookRecord, TransferRecord};
use crate::venue::fill::FillId;

/// What of the book went wrong is told for so long: a day is enough to see it.
const TOLD_FOR_MS: u64 = 86_400_000;
const MOST_TOLD: usize = 8;

/// What a payment of funding is known by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FundingId {
    pub(crate) time: u64,
    pub(crate) coin: String,
}

impl RowId for FillId {
    fn time_ms(&self) -> u64 {
        self.time
    }
}

impl RowId for FundingId {
    fn time_ms(&self) -> u64 {
        self.time
    }
}

impl RowId for TransferRecord {
    fn time_ms(&self) -> u64 {
        self.time
    }
}

/// The book.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// From when on it is kept.
    begin_ms: Option<u64>,
    pub(crate) fills: Seen<FillId>,
    pub(crate) fill_reads: Reading,
    pub(crate) fundings: Seen<FundingId>,
    pub(crate) funding_reads: Reading,
    pub(crate) transfers: Seen<TransferRecord>,
    pub(crate) sent: SentBy,
    pub(crate) chains: Chains,
    /// What went wrong, with the time.
    told: Vec<(String, u64)>,
    /// From when on fills were asked for and the first ones that the venue has of them, where these may not be all.
    pub(crate) oldest_shown: Option<(u64, u64)>,
    /// Rows that came and could not be written.
    pub(crate) is_behind: bool,
}

impl Book {
    /// Keeps it from this time on, if it is not kept from an earlier one.
    pub(crate) fn begin(&mut self, begin_ms: u64) {
        if self.begin_ms.is_none() {
            self.begin_ms = Some(begin_ms);
            self.fills.forget_before(begin_ms);
            self.fundings.forget_before(begin_ms);
            self.transfers.forget_before(begin_ms);
        }
    }

    /// Keeps in mind that something went wrong.
    pub(crate) fn tell(&mut self, text: String, now_ms: u64) {
        self.told.push((text, now_ms));
        let over = self.told.len().saturating_sub(MOST_TOLD);
        self.told.drain(..over);
    }

    /// What went wrong in the last day, with the time.
    pub(crate) fn told(&self, now_ms: u64) -> impl Iterator<Item = &(String, u64)> {
        self.told.iter().filter(move |(_, at_ms)| now_ms.saturating_sub(*at_ms) < TOLD_FOR_MS)
    }

    /// What a restart must know of it; nothing where it begins with the restart as well.
    pub(crate) fn record(&self, now_ms: u64) -> Option<BookRecord> {
        let begin_ms = self.begin_ms?;
        let record = BookRecord {
            begin_ms,
            fills_ms: self.fills.before_ms(),
            fills: self.fills.ids().map(|id| (id.time, id.tid, id.oid)).collect(),
            fundings_ms: self.fundings.before_ms(),
            fundings: self.fundings.ids().map(|id| (id.time, id.coin.clone())).collect(),
            transfers_ms: self.transfers.before_ms(),
            transfers: self.transfers.ids().cloned().collect(),
            orders: self.sent.records(),
            positions: self.chains.positions().map(|(coin, after, at_ms)| (coin.clone(), after, at_ms)).collect(),
        };
        let is_read = self.fill_reads.read_ms.is_some() || begin_ms < now_ms;
        is_read.then_some(record)
    }

    /// Takes in what an earlier life knew.
    pub(crate) fn restore(&mut self, record: BookRecord) {
        self.begin_ms = Some(record.begin_ms);
        record.fills.into_iter().for_each(|(time, tid, oid)| self.fills.insert(FillId { time, tid, oid }));
        record.fundings.into_iter().for_each(|(time, coin)| self.fundings.insert(FundingId { time, coin }));
        record.transfers.into_iter().for_each(|transfer| self.transfers.insert(transfer));
        self.fills.forget_before(record.fills_ms);
        self.fundings.forget_before(record.fundings_ms);
        self.transfers.forget_before(record.transfers_ms);
        record.orders.iter().for_each(|order| self.sent.restore(order));
        record.positions.into_iter().for_each(|(coin, after, at_ms)| self.chains.restore(coin, after, at_ms));
    }
}
