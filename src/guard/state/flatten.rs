//! How far closing everything has come: its event, its rounds and the pauses between them.

use crate::guard::state::send_result::SendResult;
use crate::venue::action::Action;
use crate::venue::reply::{Reply, Status};
use rust_decimal::Decimal;

/// Pauses between rounds: the first, doubled up to the longest.
pub(crate) const FIRST_PAUSE_MS: u64 = 1_000;

const LONGEST_PAUSE_MS: u64 = 60_000;

/// What is left: each position's size, and how many orders.
pub(crate) type Left = (Vec<(u32, Decimal)>, usize);

/// Where a flatten stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flatten {
    /// Why the next flatten event is due.
    pub(crate) wanted: Option<(String, u64)>,
    /// The last flatten event: what later rounds serve.
    pub(crate) of: Option<u64>,
    pub(crate) round: usize,
    pub(crate) begun_ms: u64,
    pub(crate) pause_ms: u64,
    /// What was left when the last round began.
    pub(crate) left: Left,
    /// Only reads that began since then show what the last round did.
    pub(crate) reads_since_ms: u64,
    /// A batch was refused as a whole: its orders go one by one from now on.
    pub(crate) singly: bool,
    /// Nothing was left at the last look.
    pub(crate) is_flat: bool,
}

impl Flatten {
    /// Asks for a flatten event of its own.
    pub(crate) fn want(&mut self, reason: String, now_ms: u64) {
        *self = Self { wanted: Some((reason, now_ms)), of: self.of, ..Self::default() };
    }

    /// Goes on with the rounds of an earlier life.
    pub(crate) fn resume(&mut self, of: u64) {
        *self = Self { of: Some(of), ..Self::default() };
    }

    /// Ends it: the account may hold positions again.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Takes in how one of its actions ended.
    pub(crate) fn ended(&mut self, action: &Action, ending: &SendResult, now_ms: u64) {
        self.reads_since_ms = now_ms;
        if let SendResult::Answered(reply, _) = ending
            && action.batch_len() > 1
        {
            let is_one = matches!(reply, Reply::Refused(_))
                || matches!(reply, Reply::Statuses(statuses) if matches!(statuses.as_slice(), [Status::Error(_)]));
            self.singly = self.singly || is_one;
        }
    }

    pub(crate) fn begin_round(&mut self, left: Left, now_ms: u64) {
        let longer_ms = if left == self.left { self.pause_ms.saturating_mul(2) } else { 0 };
        self.pause_ms = longer_ms.clamp(FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
        (self.left, self.begun_ms) = (left, now_ms);
        self.round = self.round.saturating_add(1);
    }
}
