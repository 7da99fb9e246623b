//! The guard's own cancels of single stops, by order id: one that the venue answered is not sent again at once because a read
//! goes on showing the order. A read may lag, and a venue that refuses a cancel refuses the next one too.

use std::collections::BTreeMap;

use crate::venue::reply::Status;

/// The pause after a cancel doubles from one of these to the other.
const FIRST_PAUSE_MS: u64 = 1_000;
const LONGEST_PAUSE_MS: u64 = 60_000;

/// What was sent of them and has not shown yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct OwnCancels {
    ended: BTreeMap<u64, Pause>,
    /// Those by which the order is gone, as the venue says: for them alone, others may succeed with the next try.
    done: BTreeMap<u64, Pause>,
}

#[derive(Debug, Clone, Copy)]
struct Pause {
    ms: u64,
    until_ms: u64,
}

impl OwnCancels {
    /// Whether a cancel of this order may go out.
    pub(crate) fn is_due(&self, oid: u64, now_ms: u64) -> bool {
        self.ended.get(&oid).is_none_or(|pause| now_ms >= pause.until_ms)
    }

    /// Whether one may go out where everything must go: nothing is waited for but reads that show what is gone.
    pub(crate) fn is_due_at_once(&self, oid: u64, now_ms: u64) -> bool {
        self.done.get(&oid).is_none_or(|pause| now_ms >= pause.until_ms)
    }

    /// Takes note of the end of one, and whether the order is gone by the venue's word.
    pub(crate) fn ended(&mut self, oid: u64, is_done: bool, now_ms: u64) {
        pause(&mut self.ended, oid, now_ms);
        if is_done {
            pause(&mut self.done, oid, now_ms);
        }
    }

    /// Forgets the orders that a read shows no more.
    pub(crate) fn retain(&mut self, is_shown: impl Fn(u64) -> bool) {
        [&mut self.ended, &mut self.done].into_iter().for_each(|pauses| pauses.retain(|oid, _| is_shown(*oid)));
    }
}

fn pause(pauses: &mut BTreeMap<u64, Pause>, oid: u64, now_ms: u64) {
    let before_ms = pauses.get(&oid).map_or(0, |pause| pause.ms);
    let ms = before_ms.saturating_mul(2).clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
    pauses.insert(oid, Pause { ms, until_ms: now_ms.saturating_add(ms) });
}

/// Whether the venue's answer to a cancel says that there is no such order any more.
pub(crate) fn is_done(status: &Status) -> bool {
    match status {
        Status::Error(text) => text.to_ascii_lowercase().contains("already canceled"),
        status => *status == Status::Success,
    }
}
