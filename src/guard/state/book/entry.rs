//! Rows of the ledger, told apart: several share a moment, a transaction and a name, and are not all shown at once.

use crate::base::hex::to_hex;
use crate::base::keccak::keccak256;
use crate::guard::state::risk::transfers::kind_of;
use crate::record::book_record::TransferRecord;
use crate::venue::info::LedgerUpdate;
use std::collections::BTreeMap;

use super::seen::Seen;

/// The members of a row that say how much of what went where. No others: the venue may add some to rows that are on record.
const TELLING: [&str; 14] = [
    "usdc",
    "amount",
    "token",
    "usdcValue",
    "fee",
    "feeToken",
    "netWithdrawnUsd",
    "toPerp",
    "operation",
    "vault",
    "user",
    "destination",
    "sourceDex",
    "destinationDex",
];
/// Bytes of a hash that tell the rows of one transaction apart.
const DIGEST_BYTES: usize = 8;

/// A row as it is known by, where it is the first of those that are the same in everything.
fn first(update: &LedgerUpdate) -> TransferRecord {
    let said = TELLING.map(|key| update.delta.get(key).map(ToString::to_string).unwrap_or_default()).join("\n");
    let digest = to_hex(keccak256(said.as_bytes()).get(..DIGEST_BYTES).unwrap_or_default());
    TransferRecord { time: update.time, hash: update.hash.clone(), kind: kind_of(update), digest, nth: 0 }
}

/// The rows of one answer, each taken once.
#[derive(Debug, Default)]
pub(crate) struct Entries {
    alike: BTreeMap<TransferRecord, u64>,
}

impl Entries {
    /// The row as it is known by, where it is not on record.
    pub(crate) fn new_one(
        &mut self,
        update: &LedgerUpdate,
        on_record: &Seen<TransferRecord>,
    ) -> Option<TransferRecord> {
        let id = self.next(first(update));
        if on_record.is_known(&id) {
            return None;
        }
        // One that was recorded before its digest was: any row of the same name can be it.
        let bare = TransferRecord { digest: String::new(), nth: 0, ..id.clone() };
        let bare = TransferRecord { nth: self.alike.get(&bare).copied().unwrap_or_default(), ..bare };
        if on_record.is_known(&bare) {
            self.next(TransferRecord { nth: 0, ..bare });
            return None;
        }
        Some(id)
    }

    fn next(&mut self, first: TransferRecord) -> TransferRecord {
        let nth = self.alike.entry(first.clone()).or_default();
        let id = TransferRecord { nth: *nth, ..first };
        *nth = nth.saturating_add(1);
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
    fn row(delta: Value) -> LedgerUpdate {
        serde_json::from_value(json!({"time": 5, "hash": "0x0", "delta": delta})).unwrap()
    }

    fn deposit(usdc: &str) -> LedgerUpdate {
        row(json!({"type": "deposit", "usdc": usdc}))
    }

    /// How many of an answer's rows are new; they are on record from then on.
    fn take(seen: &mut Seen<TransferRecord>, rows: &[LedgerUpdate]) -> usize {
        let mut entries = Entries::default();
        let new: Vec<_> = rows.iter().filter_map(|row| entries.new_one(row, seen)).collect();
        let count = new.len();
        new.into_iter().for_each(|id| seen.insert(id));
        count
    }

    #[test]
    fn each_is_taken_once_whichever_is_shown_first() {
        let mut seen = Seen::default();
        assert_eq!(take(&mut seen, &[deposit("7.0")]), 1);
        assert_eq!(take(&mut seen, &[deposit("5.0"), deposit("7.0")]), 1);
        assert_eq!(take(&mut seen, &[deposit("7.0"), deposit("5.0"), deposit("7.0")]), 1, "the same in everything");
        let named = |token: &str| row(json!({"type": "rewardsClaim", "amount": "1.0", "token": token}));
        assert_eq!(take(&mut seen, &[named("HYPE"), named("USDC")]), 2);
        let more = row(json!({"type": "deposit", "usdc": "5.0", "since": "an update of the venue's"}));
        assert_eq!(take(&mut seen, &[more]), 0);
    }

    #[test]
    fn rows_of_before_there_were_digests_are_known() {
        let old = |nth: u64| TransferRecord { digest: String::new(), nth, ..first(&deposit("5.0")) };
        let mut seen = Seen::default();
        [old(0), old(1)].into_iter().for_each(|id| seen.insert(id));
        assert_eq!(take(&mut seen, &[deposit("5.0"), deposit("7.0")]), 0);
        assert_eq!(take(&mut seen, &[deposit("5.0"), deposit("7.0"), deposit("9.0")]), 1);
        assert_eq!(take(&mut seen, &[deposit("5.0"), deposit("7.0"), deposit("9.0")]), 0);
    }
}
