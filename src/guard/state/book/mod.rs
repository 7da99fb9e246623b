//! The book of money: which fills, payments of funding and transfers are on record, who caused them, and what is still to be
//! read. What it records is told by the flow of the same name.

pub(crate) mod audit;
pub(crate) mod chains;
pub(crate) mod elsewhere;
pub(crate) mod entry;
pub(crate) mod held;
pub(crate) mod moment;
pub(crate) mod orders;
pub(crate) mod reading;
pub(crate) mod seen;
pub(crate) mod sums;
pub(crate) mod told;
pub(crate) mod unexplained;

use crate::guard::state::book::audit::{Audit, Foreign};
use crate::guard::state::book::chains::{Chains, is_perp};
use crate::guard::state::book::held::{Elsewhere, Held};
use crate::guard::state::book::orders::SentBy;
use crate::guard::state::book::reading::Reading;
use crate::guard::state::book::seen::{Alike, RowId, Seen};
use crate::guard::state::book::sums::{Account, Standing, Sums, differs};
use crate::guard::state::book::told::{TOLD_FOR_MS, Told};
use crate::guard::state::book::unexplained::{Stretch, Unexplained};
use crate::guard::state::risk::modes::mode_of;
use crate::record::book_record::{BookRecord, SumRecord, TransferRecord};
use crate::record::money;
use crate::venue::fill::{Fill, FillId};
use crate::venue::info::AccountMode;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, VecDeque};

/// Texts about the ledger's entries that are kept in mind.
const MOST_TOLD: usize = 8;
/// The sum is written down so often: what account and book came apart by came after the last time.
const WRITTEN_MS: u64 = 3_600_000;

/// What a payment of funding is known by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FundingId {
    pub(crate) time: u64,
    pub(crate) coin: String,
    /// How many of the same time and market go before it.
    pub(crate) nth: u64,
}

impl FundingId {
    /// The first of its time and market.
    pub(crate) fn first(time: u64, coin: &str) -> Self {
        Self { time, coin: coin.to_owned(), nth: 0 }
    }
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

impl Alike for FundingId {
    fn next(&mut self) {
        self.nth = self.nth.saturating_add(1);
    }
}

impl RowId for TransferRecord {
    fn time_ms(&self) -> u64 {
        self.time
    }
}

impl Alike for TransferRecord {
    fn next(&mut self) {
        self.nth = self.nth.saturating_add(1);
    }
}

/// The book.
#[derive(Debug, Default)]
pub(crate) struct Book {
    /// From when on it is kept.
    begin_ms: Option<u64>,
    /// Whether that is the machine's time: the venue's was not known yet.
    is_begun_unsure: bool,
    /// The checkpoint that it was restored from has all events up to this one.
    pub(crate) covered_seq: u64,
    pub(crate) fills: Seen<FillId>,
    pub(crate) fill_reads: Reading,
    pub(crate) fundings: Seen<FundingId>,
    pub(crate) funding_reads: Reading,
    pub(crate) transfers: Seen<TransferRecord>,
    /// What was told last of entries of the ledger that are not among the transfers.
    ledger_told: VecDeque<String>,
    pub(crate) sent: SentBy,
    pub(crate) chains: Chains,
    pub(crate) elsewhere: Elsewhere,
    pub(crate) account: Account,
    pub(crate) audit: Audit,
    pub(crate) unexplained: Unexplained,
    pub(crate) told: Told,
    /// From when on fills were asked for and the first ones that the venue has of them, where these may not be all.
    pub(crate) oldest_shown: Option<(u64, u64)>,
    /// Rows that came and could not be written.
    pub(crate) is_behind: bool,
}

impl Book {
    /// Keeps it from this time of the machine's on, if it is not kept from an earlier one.
    pub(crate) fn begin(&mut self, begin_ms: u64) {
        if self.begin_ms.is_none() {
            self.begin_from(begin_ms);
            self.is_begun_unsure = true;
        }
    }

    /// The venue's time is `venue_ms`, and the machine is ahead of it by `ahead_ms`: its rows are kept from when it was begun by that
    /// clock. What is of before that, by the machine's, was never taken for known.
    pub(crate) fn begin_by_venue(&mut self, venue_ms: u64, ahead_ms: u64) {
        let is_unsure = std::mem::take(&mut self.is_begun_unsure);
        if let Some(begin_ms) = self.begin_ms.filter(|_| is_unsure && ahead_ms > 0) {
            self.begin_from(begin_ms.saturating_sub(ahead_ms).min(venue_ms));
        }
    }

    fn begin_from(&mut self, begin_ms: u64) {
        self.begin_ms = Some(begin_ms);
        self.fills.begin(begin_ms);
        self.fundings.begin(begin_ms);
        self.transfers.begin(begin_ms);
    }

    /// Whether a fill is on record, or of no concern. One of before all that is read may be one that is missing.
    pub(crate) fn has_fill(&self, fill: &Fill) -> bool {
        let is_behind =
            fill.time < self.fills.before_ms() && self.begin_ms.is_some_and(|begin_ms| fill.time >= begin_ms);
        self.fills.is_known(&fill.id()) && !(is_behind && self.chains.lacks(fill))
    }

    /// Whether this was not told of the ledger's entries yet.
    pub(crate) fn is_ledger_news(&mut self, text: &str) -> bool {
        let is_news = !self.ledger_told.iter().any(|told| told == text);
        if is_news {
            self.ledger_told.push_back(text.to_owned());
            let over = self.ledger_told.len().saturating_sub(MOST_TOLD);
            self.ledger_told.drain(..over);
        }
        is_news
    }

    /// What went wrong in the last day and still is, with the time.
    pub(crate) fn told(&self, now_ms: u64) -> impl Iterator<Item = (String, u64)> {
        let differs = self.unexplained.stretches().filter_map(|stretch| Some((stretch.text()?, stretch.told_ms)));
        let differs = differs.filter(move |(_, at_ms)| now_ms.saturating_sub(*at_ms) < TOLD_FOR_MS);
        self.told.now(now_ms).map(|told| (told.text.clone(), told.at_ms)).chain(differs)
    }

    /// What a restart must know of it; nothing where it begins with the restart as well.
    pub(crate) fn record(&self, now_ms: u64) -> Option<BookRecord> {
        let begin_ms = self.begin_ms?;
        let positions = self.chains.positions();
        let record = BookRecord {
            begin_ms,
            fills_ms: self.fills.before_ms(),
            fills: self.fills.ids().map(|id| (id.time, id.tid, id.oid)).collect(),
            fundings_ms: self.fundings.before_ms(),
            fundings: self.fundings.ids().map(|id| (id.time, id.coin.clone())).collect(),
            transfers_ms: self.transfers.before_ms(),
            transfers: self.transfers.ids().cloned().collect(),
            orders: self.sent.records(),
            sum: self.sum_record(),
            positions: positions.clone().map(|(coin, held)| (coin.clone(), held.after, held.time_ms)).collect(),
            opened: positions.filter_map(|(coin, held)| Some((coin.clone(), held.opened_ms?))).collect(),
            gaps: self.chains.gap_records(),
            moments: self.chains.moment_records(self.fills.before_ms()),
            told: self.told.now(now_ms).cloned().collect(),
        };
        let is_read = self.fill_reads.read_ms.is_some() || begin_ms < now_ms;
        is_read.then_some(record)
    }

    fn sum_record(&self) -> Option<SumRecord> {
        let (opening, sums, up_to_ms, later) = self.account.parts();
        let opening = opening?;
        Some(SumRecord {
            opened_ms: opening.at_ms,
            equity: opening.equity,
            unrealised: opening.unrealised,
            sums: amounts_of(sums),
            up_to_ms,
            later: later.map(|(time_ms, sums)| (time_ms, amounts_of(sums))).collect(),
            is_proved: self.audit.is_proved,
            foreign: self.audit.foreign.map(|foreign| (foreign.newest_ms, foreign.usd)),
            swallowed: self.audit.swallowed,
            is_unified: self.audit.mode.map(|mode| mode == AccountMode::Unified),
            unexplained: self.unexplained.stretches().map(stretch_record).collect(),
        })
    }

    /// Sums up a fill that is on record. Those of other purses move nothing here; where all is one purse they move something that
    /// is not known.
    pub(crate) fn sum_fill(&mut self, fill: &money::Fill) {
        self.audit.note_row(fill.time);
        self.told.take(fill);
        if !is_core(&fill.coin) {
            let notional = fill.px.saturating_mul(fill.size).abs();
            let most = notional.saturating_add(fill.fee.abs()).saturating_add(fill.closed_pnl.abs());
            return self.note_foreign(fill.time, most);
        }
        let fees = if fill.fee_token == "USDC" { fill.fee } else { Decimal::ZERO };
        self.add(fill.time, Sums { gross: fill.closed_pnl, fees, ..Sums::default() });
    }

    /// A row of the core perps' purse counts. One that comes late may explain what account and book came apart by.
    fn add(&mut self, time_ms: u64, sums: Sums) {
        self.account.add(time_ms, sums);
        self.unexplained.take(time_ms, sums.net());
    }

    /// The sum begins with this read, after what was compared with nothing.
    pub(crate) fn open(&mut self, opening: Standing, now_ms: u64) {
        if self.account.opening().is_none() {
            let compared_ms = self.audit.last.as_ref().map(|(standing, _)| standing.at_ms);
            let since_ms = compared_ms.or(self.begin_ms).unwrap_or(opening.at_ms);
            self.unexplained.add(Stretch { since_ms, to_ms: opening.at_ms, usdc: None, told_ms: now_ms });
        }
        self.account.open(opening);
    }

    /// Since when rows may come that nobody told of: those that came are kept in mind, however long ago they were read.
    pub(crate) fn keep_ms(&self) -> u64 {
        let compared_ms = self.audit.last.as_ref().map(|(standing, _)| standing.at_ms);
        compared_ms.into_iter().chain(self.unexplained.since_ms()).min().unwrap_or(u64::MAX)
    }

    /// Something of another purse may have moved so much.
    fn note_foreign(&mut self, time_ms: u64, usd: Decimal) {
        let opened_ms = self.account.opening().map(|opening| opening.at_ms);
        self.audit.note_foreign(time_ms, usd, opened_ms);
    }

    /// Sums up a payment of funding that is on record. One of another purse tells what is held there.
    pub(crate) fn sum_funding(&mut self, row: &money::Funding) {
        self.audit.note_row(row.time);
        if is_core(&row.coin) {
            return self.add(row.time, Sums { funding: row.usdc, ..Sums::default() });
        }
        self.note_foreign(row.time, row.usdc.abs());
        self.chains.restore_unknown(&row.coin, row.size, row.time);
    }

    /// Sums up a transfer that is on record; one of an amount that cannot be told shows in the difference.
    pub(crate) fn sum_transfer(&mut self, row: &money::Transfer) {
        self.audit.note_row(row.time);
        let transfers = row.usdc.unwrap_or_default();
        if transfers.is_zero() {
            return;
        }
        self.add(row.time, Sums { transfers, ..Sums::default() });
    }

    /// Takes in the sum that an earlier life wrote down. What did not add up began anew there.
    pub(crate) fn restore_balance(&mut self, balance: &money::Balance) {
        let (Some(equity), Some(unrealised)) = (balance.equity, balance.unrealised) else {
            self.audit.begin(None);
            return self.account.close();
        };
        let mode = balance.unified.map(mode_of);
        let now = Standing { at_ms: balance.venue_ms, equity, unrealised };
        if let Some(usdc) = balance.difference.filter(|difference| differs(*difference)) {
            let to_ms = balance.venue_ms;
            let since_ms = balance.opened_ms.max(to_ms.saturating_sub(WRITTEN_MS));
            self.unexplained.add(Stretch { since_ms, to_ms, usdc: Some(usdc), told_ms: to_ms });
            self.audit.begin(mode.or(self.audit.mode));
            return self.account.restore(Some(now), Sums::default(), now.at_ms);
        }
        let (Some(equity), Some(unrealised)) = (balance.opening_equity, balance.opening_unrealised) else { return };
        let opening = Standing { at_ms: balance.opened_ms, equity, unrealised };
        if self.account.opening() != Some(opening) {
            self.audit.begin(mode);
        }
        // Nothing proves a book for an account whose mode may have been another one.
        let is_later = opening.at_ms < now.at_ms && self.audit.mode.is_some();
        self.audit.is_proved |= is_later && balance.difference.is_some();
        let (gross, fees, funding, transfers) = (balance.gross, balance.fees, balance.funding, balance.transfers);
        self.account.restore(Some(opening), Sums { gross, fees, funding, transfers }, now.at_ms);
    }

    /// Takes in what an earlier life knew.
    pub(crate) fn restore(&mut self, record: BookRecord) {
        self.begin_ms = Some(record.begin_ms);
        record.fills.into_iter().for_each(|(time, tid, oid)| self.fills.insert(FillId { time, tid, oid }));
        for (time, coin) in record.fundings {
            self.fundings.insert_next(FundingId::first(time, &coin));
        }
        record.transfers.into_iter().for_each(|transfer| self.transfers.insert(transfer));
        self.fills.forget_before(record.fills_ms);
        self.fundings.forget_before(record.fundings_ms);
        self.transfers.forget_before(record.transfers_ms);
        record.orders.iter().for_each(|order| self.sent.restore(order));
        if let Some(sum) = record.sum {
            let opening = Standing { at_ms: sum.opened_ms, equity: sum.equity, unrealised: sum.unrealised };
            self.account.restore(Some(opening), sums_of(sum.sums), sum.up_to_ms);
            let mode = sum.is_unified.map(mode_of);
            self.audit.begin(mode);
            self.audit.foreign = sum.foreign.map(|(newest_ms, usd)| Foreign { newest_ms, usd });
            (self.audit.is_proved, self.audit.swallowed) = (sum.is_proved, sum.swallowed);
            sum.unexplained.into_iter().for_each(|record| self.unexplained.add(stretch_of(record)));
            sum.later.into_iter().for_each(|(time_ms, sums)| self.account.add(time_ms, sums_of(sums)));
        }
        record.told.into_iter().for_each(|told| self.told.restore(told));
        record.gaps.into_iter().for_each(|gap| self.chains.restore_gap(gap));
        let opened: BTreeMap<String, u64> = record.opened.into_iter().collect();
        for (coin, after, time_ms) in record.positions {
            let opened_ms = opened.get(&coin).copied();
            self.chains.restore(coin, Held { after, time_ms, opened_ms });
        }
        record.moments.into_iter().for_each(|moment| self.chains.restore_moment(moment));
    }
}

/// Whether a market's money is the core perps' purse.
fn is_core(coin: &str) -> bool {
    is_perp(coin) && !coin.contains(':')
}

fn sums_of([gross, fees, funding, transfers]: [Decimal; 4]) -> Sums {
    Sums { gross, fees, funding, transfers }
}

fn stretch_record(stretch: &Stretch) -> (u64, u64, Option<Decimal>, u64) {
    (stretch.since_ms, stretch.to_ms, stretch.usdc, stretch.told_ms)
}

fn stretch_of((since_ms, to_ms, usdc, told_ms): (u64, u64, Option<Decimal>, u64)) -> Stretch {
    Stretch { since_ms, to_ms, usdc, told_ms }
}

fn amounts_of(sums: Sums) -> [Decimal; 4] {
    [sums.gross, sums.fees, sums.funding, sums.transfers]
}
