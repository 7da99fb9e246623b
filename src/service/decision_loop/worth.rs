//! The worth of a step's events where the disk is full.

use crate::guard::Record;
use crate::journal::Worth;

/// Kinds of events that only say how things stand, or what the venue shows all the same.
const CAN_WAIT: [&str; 7] = ["started", "risk", "stopped", "fill", "funding", "transfer", "balance"];

/// What a batch is worth on a full disk: as much as the best of its events. What only says how things stand waits for room,
/// where it `is_alone`, without a risk record or anything that is released by it but the end of the service.
pub(super) fn worth(records: &[Record], is_alone: bool) -> Worth {
    let of = |record: &Record| match record.decided {
        Some(decided) if decided.is_exit => Worth::Exit(decided.client),
        Some(_) => Worth::Told,
        None if record.kind == "error" => Worth::Told,
        None if is_alone && CAN_WAIT.contains(&record.kind) => Worth::Later,
        None => Worth::Own,
    };
    records.iter().map(of).max().unwrap_or_default()
}
