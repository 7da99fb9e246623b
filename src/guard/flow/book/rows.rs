//! Rows go on record: each once, with what caused it.

use crate::guard::flow::step_context::Step;
use crate::guard::state::book::FundingId;
use crate::guard::state::book::entry::Entries;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::transfers::{BalanceScope, Transfer, moved_by};
use crate::record::money;
use crate::venue::fill::Fill;
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS, LedgerUpdate};
use crate::venue::side::Side;
use crate::venue::stream::events::Funding;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// No row is of a time further ahead of the venue's than this.
const AHEAD_MS: u64 = 5_000;

/// The last time that a row can be of.
pub(super) fn latest_ms(guard: &Guard) -> u64 {
    guard.clock.latest_ms().saturating_add(AHEAD_MS)
}

/// Why a row of the ledger is on record with nothing.
const MOVED_NOTHING: &str = "no part of the guarded equity, as the account's mode was";
/// Why a row of the ledger is on record with an amount that is not known.
const NO_MODE: &str = "the account's mode at that moment is not known, and tells which purse this moved";
/// So long one waits for the account's mode; it is shown again for twice as long.
const MODE_MS: u64 = LEDGER_OVERLAP_MS / 2;

/// A transfer may show up in the ledger so long after its time.
const TRANSFERS_KEPT_MS: u64 = 4 * 3_600_000;

/// How a row came to be known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Told {
    /// As it happened.
    Live,
    /// Afterwards.
    Later,
}

impl Told {
    /// How the rows of a frame came to be known: those of its first one happened before.
    pub(crate) fn of(is_snapshot: bool) -> Self {
        if is_snapshot { Told::Later } else { Told::Live }
    }
}

/// Takes in fills of the live feed; `told` says whether they have just happened. One that cannot be is none, and neither is one
/// of a feed that is not believed: the venue is asked for them.
pub(crate) fn on_fills_told(step: &mut Step<'_>, fills: &[Fill], told: Told) {
    let latest_ms = latest_ms(step.guard);
    let can_be = |fill: &Fill| fill.is_possible() && fill.time <= latest_ms && fill.position_after().is_some();
    if !step.guard.feed.is_trusted(step.now_ms) || !fills.iter().all(can_be) {
        return step.guard.book.fill_reads.want(step.now_ms);
    }
    record_fills(step, fills.to_vec(), told);
}

/// Takes in fills that were read up to the newest.
pub(crate) fn on_newest_read(step: &mut Step<'_>, fills: Vec<Fill>) {
    on_fills_read(step, fills);
    step.guard.filled_away.on_told();
}

/// Takes in fills that were read. None is of a time to come.
pub(super) fn on_fills_read(step: &mut Step<'_>, mut fills: Vec<Fill>) {
    let latest_ms = latest_ms(step.guard);
    fills.retain(|fill| fill.time <= latest_ms);
    note_away(step.guard, &fills);
    record_fills(step, fills, Told::Later);
}

/// Takes note of what entries of an earlier life have opened, by what was read: a push closes nothing. A fill that is on record may be of
/// a life that ended before its stop stood.
fn note_away(guard: &mut Guard, fills: &[Fill]) {
    let Guard { filled_away, earlier_stops, book, .. } = guard;
    for fill in book.chains.in_order(fills.to_vec()) {
        filled_away.note(&fill, fill.cloid.and_then(|cloid| earlier_stops.of_cloid(cloid)));
    }
}

fn record_fills(step: &mut Step<'_>, fills: Vec<Fill>, told: Told) {
    // The same one may stand in an answer twice.
    let mut told_ids = BTreeSet::new();
    let book = &step.guard.book;
    let new: Vec<Fill> = fills.into_iter().filter(|fill| !book.has_fill(fill) && told_ids.insert(fill.id())).collect();
    if step.guard.risk.has_traded_between_lives(&new) {
        // Cash that is gone since the last life may have been lost, whatever the disk takes.
        step.guard.risk.traded(step.now_ms);
    }
    if new.is_empty() || !can_record(step) {
        return;
    }
    let new = step.guard.book.chains.in_order(new);
    for fill in &new {
        let is_late = is_late(step.guard, fill.time, told);
        let event = fill_event(step.guard, fill, is_late);
        step.guard.book.sum_fill(&event);
        step.record(event);
        step.guard.book.fills.insert(fill.id());
    }
    let (now_ms, book) = (step.now_ms, &mut step.guard.book);
    if book.chains.add(&new, now_ms) {
        book.fill_reads.want(now_ms);
    }
}

/// Whether what comes can go on record. Where the disk takes nothing it is read again once that does.
fn can_record(step: &mut Step<'_>) -> bool {
    let can = step.guard.journal_error.is_none() && !step.guard.is_disk_full;
    step.guard.book.is_behind |= !can;
    can
}

/// Whether a row was fetched after the fact: it is of before this life, or the feed has not told of it.
fn is_late(guard: &Guard, time_ms: u64, told: Told) -> bool {
    let is_of_before = guard.started_ms.is_some_and(|started_ms| time_ms < started_ms);
    told == Told::Later && (guard.config.feed || is_of_before)
}

fn fill_event(guard: &Guard, fill: &Fill, late: bool) -> money::Fill {
    let cause = guard.book.sent.cause(fill.oid, fill.cloid, guard.seq);
    let side = match fill.side {
        Side::Buy => "buy",
        Side::Sell => "sell",
    };
    money::Fill {
        coin: fill.coin.clone(),
        side: side.into(),
        px: fill.px,
        size: fill.sz,
        fee: fill.fee,
        fee_token: fill.fee_token.clone(),
        builder_fee: fill.builder_fee,
        closed_pnl: fill.closed_pnl,
        position_before: fill.start_position,
        position_after: fill.position_after(),
        oid: fill.oid,
        cloid: fill.cloid,
        tid: fill.tid,
        time: fill.time,
        crossed: fill.crossed,
        liquidation: fill.liquidation.as_ref().map(|liquidation| money::Liquidation {
            user: liquidation.liquidated_user.clone(),
            mark_px: liquidation.mark_px,
            method: liquidation.method.clone(),
        }),
        intent: cause.intent,
        client: cause.client,
        late,
    }
}

/// Takes in payments of funding.
pub(crate) fn on_fundings_told(step: &mut Step<'_>, rows: &[Funding], told: Told) {
    let latest_ms = latest_ms(step.guard);
    let is_believed = step.guard.feed.is_trusted(step.now_ms) && rows.iter().all(|row| row.time <= latest_ms);
    if told == Told::Live && !is_believed {
        return step.guard.book.funding_reads.want(step.now_ms);
    }
    let mut rows: Vec<&Funding> = rows.iter().filter(|row| row.time <= latest_ms).collect();
    rows.sort_by_key(|row| row.time);
    let mut alike: BTreeMap<FundingId, u64> = BTreeMap::new();
    for row in rows {
        let first = FundingId::first(row.time, &row.coin);
        let nth = alike.entry(first.clone()).or_default();
        let id = FundingId { nth: *nth, ..first };
        *nth = nth.saturating_add(1);
        if step.guard.book.fundings.is_known(&id) {
            continue;
        }
        if !can_record(step) {
            return;
        }
        let late = is_late(step.guard, row.time, told);
        let (coin, usdc, size, rate) = (row.coin.clone(), row.usdc, row.szi, row.funding_rate);
        let event = money::Funding { coin, usdc, size, rate, time: row.time, late };
        step.guard.book.sum_funding(&event);
        step.record(event);
        step.guard.book.fundings.insert(id);
    }
}

/// What a row of the ledger moved by the modes that the account may have been in then; an amount that the mode tells is not known
/// where that is not. `None` where the mode is not surely read now, and may tell.
fn moved(step: &Step<'_>, update: &LedgerUpdate) -> Option<(Option<Decimal>, &'static str)> {
    let guard = &*step.guard;
    let by = |mode| {
        let scope = BalanceScope { account: guard.config.account, mode };
        match moved_by(update, scope) {
            Some(Transfer { usd, is_known, is_sure, .. }) => ((is_known && is_sure).then_some(usd), ""),
            None => (Some(Decimal::ZERO), MOVED_NOTHING),
        }
    };
    let (standard, unified) = (by(AccountMode::Standard), by(AccountMode::Unified));
    if standard == unified {
        return Some(standard);
    }
    let waits = guard.clock.earliest_ms().saturating_sub(update.time) < MODE_MS;
    if !guard.risk.is_mode_sure() && waits {
        return None;
    }
    let mut modes = guard.risk.modes.at(update.time);
    match (modes.next(), modes.next()) {
        (Some(mode), None) => Some(by(mode)),
        _ => Some((None, NO_MODE)),
    }
}

/// Takes in what the ledger tells: what moved the equity without trading. A row is judged once, by the mode that the account was in
/// then, whatever dies when: one that moved nothing goes on record as well.
pub(crate) fn on_ledger(step: &mut Step<'_>, updates: &[LedgerUpdate], begun_ms: u64) {
    if step.guard.risk.mode.is_none() {
        return;
    }
    let latest_ms = latest_ms(step.guard);
    let mut updates: Vec<&LedgerUpdate> = updates.iter().filter(|update| update.time <= latest_ms).collect();
    updates.sort_by_key(|update| update.time);
    let mut entries = Entries::default();
    for update in updates {
        let Some(id) = entries.new_one(update, &step.guard.book.transfers) else { continue };
        if !can_record(step) {
            return;
        }
        let Some((usdc, why)) = moved(step, update) else { continue };
        let (what, hash, digest, time) = (id.kind.clone(), id.hash.clone(), id.digest.clone(), id.time);
        let late = step.guard.started_ms.is_some_and(|started_ms| time < started_ms);
        let event = money::Transfer { what, usdc, why: why.into(), hash, digest, time, late };
        step.guard.book.sum_transfer(&event);
        step.record(event);
        step.guard.book.transfers.insert(id);
    }
    step.guard.book.audit.ledger_ms = step.guard.book.audit.ledger_ms.max(begun_ms);
    let ago_ms = step.now_ms.saturating_sub(begun_ms);
    let read_ms = step.guard.clock.earliest_ms().saturating_sub(ago_ms);
    let keep_ms = step.guard.book.keep_ms();
    step.guard.book.transfers.forget_before(read_ms.saturating_sub(TRANSFERS_KEPT_MS).min(keep_ms));
}
