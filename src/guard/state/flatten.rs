//! How far closing everything has come: its event, its rounds and the pauses between them.

use crate::guard::state::send_result::SendResult;
use crate::guard::state::twap_watch::TwapWatch;
use crate::venue::action::Action;
use crate::venue::reply::{Reply, Status};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// Pauses between rounds: the first, doubled up to the longest.
pub(crate) const FIRST_PAUSE_MS: u64 = 1_000;

/// The longest pause after a round in which the venue refused a close.
const LONGEST_PAUSE_MS: u64 = 60_000;

/// The longest pause after one in which it decided nothing: a limit on requests, an empty book, no answer, not sent.
const LONGEST_UNHEARD_PAUSE_MS: u64 = 5_000;

/// A price that moved by more than one in so many is another price: what was refused then may be taken now.
const MOVED_PART: Decimal = Decimal::ONE_HUNDRED;

/// What is left: each position's size, and how many orders.
pub(crate) type Left = (Vec<(u32, Decimal)>, usize);

/// The price of each position that is left.
pub(crate) type Prices = BTreeMap<u32, Decimal>;

/// Where a flatten stands.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flatten {
    /// Why the next flatten event is due.
    pub(crate) wanted: Option<(String, u64)>,
    /// The last flatten event: what later rounds serve.
    pub(crate) of: Option<u64>,
    pub(crate) round: usize,
    pub(crate) begun_ms: u64,
    pause_ms: u64,
    /// What was left when the last round began, and its prices.
    left: Left,
    prices: Prices,
    /// The venue refused a close of the last round.
    is_refused: bool,
    /// The last round cancelled something, which makes room.
    pub(crate) has_cancelled: bool,
    /// Only reads that began since then show what the last round did.
    pub(crate) reads_since_ms: u64,
    /// A batch was refused as a whole: its orders go one by one from now on.
    pub(crate) singly: bool,
    /// Nothing was left at the last look.
    pub(crate) is_flat: bool,
    /// That it ended flat is on record, and nothing has turned up since.
    pub(crate) is_recorded: bool,
    /// Since when the account must be flat and is not known to be.
    pub(crate) unflat_ms: Option<u64>,
    /// Since when orders rest meanwhile that the guard cannot cancel.
    pub(crate) foreign_ms: Option<u64>,
    pub(crate) twaps: TwapWatch,
}

impl Flatten {
    /// Asks for a flatten event of its own.
    pub(crate) fn want(&mut self, reason: String, now_ms: u64) {
        let wanted = Some((reason, now_ms));
        let Self { of, unflat_ms, foreign_ms, .. } = *self;
        *self = Self { wanted, of, unflat_ms, foreign_ms, ..Self::default() };
    }

    /// Goes on with the rounds of an earlier life.
    pub(crate) fn resume(&mut self, of: u64) {
        *self = Self { of: Some(of), ..Self::default() };
    }

    /// Ends it: the account may hold positions again.
    pub(crate) fn end(&mut self) {
        *self = Self::default();
    }

    /// Takes in how one of its actions ended, and whether the venue refused a close in it.
    pub(crate) fn ended(&mut self, action: &Action, ending: &SendResult, is_refused: bool, now_ms: u64) {
        self.reads_since_ms = now_ms;
        self.is_refused |= is_refused;
        if matches!(action, Action::TwapCancel { .. }) {
            self.twaps.look_again();
        }
        if let SendResult::Answered(reply, _) = ending
            && action.batch_len() > 1
        {
            let is_one = matches!(reply, Reply::Refused(_))
                || matches!(reply, Reply::Statuses(statuses) if matches!(statuses.as_slice(), [Status::Error(_)]));
            self.singly = self.singly || is_one;
        }
    }

    /// Whether positions are other than when the last round began.
    pub(crate) fn has_other(&self, left: &Left) -> bool {
        left.0 != self.left.0
    }

    /// When the next round may begin: pauses grow only while nothing changes.
    pub(crate) fn next_ms(&self, left: &Left, prices: &Prices) -> u64 {
        let pause_ms = if self.is_as_before(left, prices) { self.pause_ms } else { FIRST_PAUSE_MS };
        self.begun_ms.saturating_add(pause_ms)
    }

    pub(crate) fn begin_round(&mut self, left: Left, prices: Prices, now_ms: u64) {
        let longer_ms = if self.is_as_before(&left, &prices) { self.pause_ms.saturating_mul(2) } else { 0 };
        let longest_ms = if self.is_refused { LONGEST_PAUSE_MS } else { LONGEST_UNHEARD_PAUSE_MS };
        self.pause_ms = longer_ms.clamp(FIRST_PAUSE_MS, longest_ms);
        (self.left, self.prices, self.begun_ms, self.is_refused) = (left, prices, now_ms, false);
        self.is_recorded = false;
        self.round = self.round.saturating_add(1);
    }

    /// Nothing is left to do: the next round is the first again.
    pub(crate) fn rest(&mut self) {
        (self.round, self.pause_ms, self.begun_ms, self.is_refused) = (0, 0, 0, false);
    }

    fn is_as_before(&self, left: &Left, prices: &Prices) -> bool {
        let has_moved = |asset: &u32, px: &Decimal| {
            let before = self.prices.get(asset).copied().unwrap_or_default();
            px.saturating_sub(before).abs().saturating_mul(MOVED_PART) > before
        };
        *left == self.left && !prices.iter().any(|(asset, px)| has_moved(asset, px))
    }
}
