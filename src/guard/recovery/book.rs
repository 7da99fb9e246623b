//! The book of money made again: what is on record counts as known, and what was sent as sent.

use crate::guard::config::Mode;
use crate::guard::state::book::FundingId;
use crate::guard::state::book::held::Link;
use crate::guard::state::guard::Guard;
use crate::record::book_record::{BookRecord, TransferRecord};
use crate::record::event::{Event, Kind};
use crate::record::events::Trouble;
use crate::record::lack::Lack;
use crate::venue::action::Action;
use crate::venue::fill::FillId;

/// Takes in the book of the last checkpoint. One without a book is of before there was one, or of a life that had just begun: it
/// is kept from there on.
pub(super) fn restore_checkpoint(guard: &mut Guard, record: Option<BookRecord>, seq: u64, at_ms: u64) {
    if record.is_some() {
        guard.book.covered_seq = seq;
    }
    let sum = record.as_ref().and_then(|record| record.sum.as_ref());
    if let Some((is_unified, up_to_ms)) = sum.and_then(|sum| Some((sum.is_unified?, sum.up_to_ms))) {
        guard.risk.modes.restore(is_unified, (up_to_ms, up_to_ms));
    }
    match record {
        Some(record) => guard.book.restore(record),
        None => guard.book.begin(at_ms),
    }
}

/// Takes in an event of an earlier life.
pub(super) fn restore(guard: &mut Guard, event: &Event<'_>) {
    let book = &mut guard.book;
    // A row counts once: those of the checkpoint's own batch are in its sums.
    if event.seq <= book.covered_seq {
        return;
    }
    match &event.kind {
        Kind::Started(_) => book.begin(event.at_ms),
        Kind::Fill(fill) => {
            book.sum_fill(fill);
            let id = FillId { time: fill.time, tid: fill.tid, oid: fill.oid };
            book.fills.insert(id);
            if let Some(after) = fill.position_after {
                let link = Link { id, before: fill.position_before, after };
                book.chains.link(&fill.coin, &link, event.at_ms);
            }
        }
        Kind::Funding(row) => {
            book.sum_funding(row);
            book.fundings.insert_next(FundingId::first(row.time, &row.coin));
        }
        Kind::Error(Trouble { lacks: Some(lacks), text }) => {
            if let Lack { from_ms: Some(from_ms), to_ms: Some(to_ms), .. } = lacks {
                book.chains.settle(event.at_ms);
                book.chains.forget_gap(*from_ms, *to_ms);
            }
            book.told.add(text, Some(lacks.clone()), event.at_ms);
        }
        Kind::Balance(balance) => {
            book.restore_balance(balance);
            if let Some(is_unified) = balance.unified.filter(|_| balance.equity.is_some()) {
                guard.risk.modes.restore(is_unified, (balance.venue_ms, balance.venue_ms));
            }
        }
        Kind::Transfer(row) => {
            book.sum_transfer(row);
            let (time, hash, kind, digest) = (row.time, row.hash.clone(), row.what.clone(), row.digest.clone());
            book.transfers.insert_next(TransferRecord { time, hash, kind, digest, nth: 0 });
        }
        Kind::Decision(decision) if guard.config.mode != Mode::Paper => {
            let sent = decision.pre.iter().chain(&decision.forward).chain(&decision.post);
            let actions = sent.filter_map(|action| Action::parse(action).ok());
            actions.for_each(|action| book.sent.note(event.seq, decision.client, &action));
        }
        Kind::Intent(intent) => {
            let action = Action::parse(&intent.action).ok();
            action.into_iter().for_each(|action| book.sent.note(event.seq, None, &action));
        }
        _ => {}
    }
}
