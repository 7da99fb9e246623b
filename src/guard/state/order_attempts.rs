//! Per-market retry state for the guard's own stops and closes: refusals, pauses, and how far it went.

use crate::base::amount::percent_of;
use crate::guard::state::signer::is_of_signer;
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;
use crate::venue::reply::{Reply, Status};
use rust_decimal::{Decimal, dec};

/// The first pause after an effort that came to nothing; each next one is twice as long.
const FIRST_PAUSE_MS: u64 = 500;

/// The longest pause before a stop is tried again.
const LONGEST_PAUSE_MS: u64 = 8_000;

/// The same where the account has no requests left: the venue takes one every ten seconds then, at any moment of these.
const LONGEST_TURN_PAUSE_MS: u64 = 4_000;

/// The longest pause before a refused close is tried again, once so many came to nothing: who is refused for minutes is
/// refused for long. Until then the position has no stop, and the refusal may end at any moment.
const LONGEST_CLOSE_PAUSE_MS: u64 = 60_000;

const CLOSES_SOON: usize = 30;

/// So many times the venue's minimum is too much to be dust, whatever a refusal says.
const LARGEST_DUST: Decimal = Decimal::TWO;

/// Dust that grew to so many times its value is tried again.
const GROWN: Decimal = dec!(1.1);

/// A stop refused this often in a row, the second time at a new price, will not be had: the position is closed.
const REFUSALS: u8 = 2;

/// Stops that differ by no more than this, percent, in size and price are much alike: the price moves while they are tried.
const LIKE_PCT: Decimal = dec!(25);

/// A stop that was refused is tried again so much later, so that the price it is tried at is another.
const REFUSED_PAUSE_MS: u64 = 2_000;

/// Room is kept for an order so long after its last refusal: its next try comes well before. After that clients may rest orders again.
const ROOM_KEPT_MS: u64 = 10_000;

/// Room is made for a stop so often; a position that has none by then is closed.
const MOST_ROOMS: u8 = 3;

/// The guard's efforts in one market.
#[derive(Debug, Clone, Default)]
pub(crate) struct RetryState {
    /// The event that they serve.
    pub(crate) of: Option<u64>,
    /// Stops that the venue took.
    tries: u8,
    /// Stops definitely refused in a row, each much like the last one, with the size and the trigger of that.
    refusals: u8,
    refused: Option<(Decimal, Option<Decimal>)>,
    /// The account has so many open orders that the venue takes none more.
    pub(crate) wants_room: bool,
    /// How often room was wanted, and when last, until an order is taken.
    rooms: u8,
    no_room_ms: Option<u64>,
    /// The position is being closed.
    pub(crate) closing: bool,
    /// Closes tried so far: each goes further from the price.
    pub(crate) closes: usize,
    /// The last close was refused for more than is held: others close meanwhile, and no read shows it yet.
    pub(crate) is_oversized: bool,
    /// Nothing is tried before this.
    pub(crate) not_before_ms: u64,
    /// The venue's refusal or silence is why.
    is_rebuffed: bool,
    pause_ms: u64,
    /// Only reads that began since then show what the last effort did.
    pub(crate) reads_since_ms: u64,
    /// What was found too small to be closed.
    pub(crate) dust: Option<Dust>,
    /// Why the last stop and the last close came to nothing, for people.
    failed_stop: Option<String>,
    failed_close: Option<String>,
}

/// A position for which the venue would take no order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dust {
    pub(crate) size: Decimal,
    /// What it was worth then, USDC.
    value: Decimal,
}

impl Dust {
    /// What the venue called too small, at its value then; `None` for what is too large to be meant.
    pub(crate) fn new(size: Decimal, value: Decimal) -> Option<Self> {
        (value < MIN_NOTIONAL.saturating_mul(LARGEST_DUST)).then_some(Self { size, value })
    }

    /// Whether a position of this size and value is still what was refused: once it has grown past the venue's minimum
    /// and past its value then, it is tried again.
    pub(crate) fn holds(&self, size: Decimal, value: Decimal) -> bool {
        size == self.size && (value < MIN_NOTIONAL || value < self.value.saturating_mul(GROWN))
    }
}

/// What became of an order of the guard's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum AttemptResult {
    /// The venue took it.
    Accepted,
    /// Definitely refused, with the venue's text.
    Refused(String),
    /// Refused because too many orders are open.
    NoRoom,
    /// Refused because the account has no requests left.
    NoRequests,
    /// Nothing was decided about it: rate limits, a refusal of the request as a whole, no answer, not sent.
    Unheard,
}

impl AttemptResult {
    /// What an answer to `orders` orders says of the one at `place`. Only a status of its own is the venue's word on it:
    /// what refuses the request as a whole (its nonce, expiry, signature or rate) decided nothing about its orders.
    pub(crate) fn of(reply: &Reply, place: usize, orders: usize) -> Self {
        let statuses = match reply {
            Reply::Statuses(statuses) => statuses,
            Reply::Done => return AttemptResult::Accepted,
            Reply::Refused(text) if is_of_requests(text) => return AttemptResult::NoRequests,
            Reply::Refused(_) => return AttemptResult::Unheard,
        };
        match reply.status(place) {
            Status::Error(_) if statuses.len() < orders => AttemptResult::Unheard,
            Status::Error(text) => Self::refused(text),
            _ => AttemptResult::Accepted,
        }
    }

    /// A refusal, unless its text speaks of rates or of the signer: then nothing was decided about the order.
    fn refused(text: String) -> Self {
        let lower = text.to_ascii_lowercase();
        if is_of_requests(&lower) {
            return AttemptResult::NoRequests;
        }
        if lower.contains("too many open orders") {
            return AttemptResult::NoRoom;
        }
        let of_rates = ["too many", "rate limit", "429"].iter().any(|part| lower.contains(part));
        if of_rates || is_of_signer(&text) { AttemptResult::Unheard } else { AttemptResult::Refused(text) }
    }
}

/// Whether a refusal says that the account has no requests left: it tells how many it has sent.
fn is_of_requests(text: &str) -> bool {
    text.to_ascii_lowercase().contains("cumulative requests")
}

/// Whether a refusal says that nothing is held which the order could reduce.
pub(crate) fn is_nothing_held(text: &str) -> bool {
    text.to_ascii_lowercase().contains("reduce only")
}

/// Whether a refusal says that the order is under the venue's smallest value.
pub(crate) fn is_too_small(text: &str) -> bool {
    text.contains("minimum value")
}

/// Whether an answer says that the order was taken and found nobody to trade with: the next try may.
pub(crate) fn found_nobody(text: &str) -> bool {
    text.contains("could not immediately match")
}

impl RetryState {
    /// Takes note of how an order of the guard's own fared.
    pub(crate) fn record_attempt(&mut self, order: &Order, outcome: &AttemptResult, now_ms: u64) {
        self.reads_since_ms = now_ms;
        self.is_rebuffed = *outcome != AttemptResult::Accepted;
        if order.is_trigger() {
            // Only one that was taken can be found gone.
            self.tries = self.tries.saturating_add(u8::from(!self.is_rebuffed));
            self.no_room_ms = self.no_room_ms.filter(|_| self.is_rebuffed);
            match outcome {
                // Accepted before and found gone all the same: not as fast as reads come in.
                AttemptResult::Accepted if self.tries > 2 => self.pause(LONGEST_PAUSE_MS, now_ms),
                AttemptResult::Accepted => self.refusals = 0,
                AttemptResult::Refused(_) => {
                    self.refusals = if self.is_like_refused(order) { self.refusals.saturating_add(1) } else { 1 };
                    self.refused = Some((order.size, order.market_stop_px()));
                    self.closing = self.closing || self.refusals >= REFUSALS;
                    if !self.closing {
                        self.not_before_ms = now_ms.saturating_add(REFUSED_PAUSE_MS);
                    }
                }
                AttemptResult::NoRoom => {
                    self.want_room(now_ms);
                    self.closing = self.closing || self.rooms > MOST_ROOMS;
                }
                AttemptResult::NoRequests => self.pause(LONGEST_TURN_PAUSE_MS, now_ms),
                AttemptResult::Unheard => self.pause(LONGEST_PAUSE_MS, now_ms),
            }
            return;
        }
        self.closes = self.closes.saturating_add(1);
        self.is_oversized = matches!(outcome, AttemptResult::Refused(text) if is_nothing_held(text));
        self.no_room_ms = self.no_room_ms.filter(|_| self.is_rebuffed);
        if *outcome == AttemptResult::NoRoom {
            self.want_room(now_ms);
        }
        let longest_ms = match outcome {
            // What it did not fill is tried again as soon as reads show it.
            AttemptResult::Accepted => FIRST_PAUSE_MS,
            AttemptResult::NoRequests => LONGEST_TURN_PAUSE_MS,
            AttemptResult::Unheard | AttemptResult::NoRoom => LONGEST_PAUSE_MS,
            AttemptResult::Refused(_) if self.closes < CLOSES_SOON => LONGEST_PAUSE_MS,
            AttemptResult::Refused(_) => LONGEST_CLOSE_PAUSE_MS,
        };
        self.pause(longest_ms, now_ms);
    }

    /// Whether an order is much like the one that was refused last. That one may have been made from a read that was wrong, and
    /// says nothing of any other then.
    fn is_like_refused(&self, order: &Order) -> bool {
        let is_near = |one: Decimal, other: Decimal| {
            one.saturating_sub(other).abs() <= percent_of(one.abs().max(other.abs()), LIKE_PCT)
        };
        self.refused.is_some_and(|(size, px)| {
            is_near(size, order.size) && px.zip(order.market_stop_px()).is_none_or(|(px, other)| is_near(px, other))
        })
    }

    /// Takes note of why an order came to nothing, in words; of one that the venue took, of nothing any more.
    pub(crate) fn note_failure(&mut self, is_stop: bool, why: Option<String>) {
        *if is_stop { &mut self.failed_stop } else { &mut self.failed_close } = why;
    }

    /// Why the last stop came to nothing, if it did.
    pub(crate) fn failed_stop(&self) -> Option<&str> {
        self.failed_stop.as_deref()
    }

    /// Why the last close came to nothing, if it did.
    pub(crate) fn failed_close(&self) -> Option<&str> {
        self.failed_close.as_deref()
    }

    /// Whether an order was refused for want of room a moment ago, and none was had since.
    pub(crate) fn waits_for_room(&self, now_ms: u64) -> bool {
        self.no_room_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) < ROOM_KEPT_MS)
    }

    /// How often room was wanted.
    pub(crate) fn rooms(&self) -> u32 {
        self.rooms.into()
    }

    fn want_room(&mut self, now_ms: u64) {
        (self.rooms, self.no_room_ms, self.wants_room) = (self.rooms.saturating_add(1), Some(now_ms), true);
    }

    /// Something was cancelled for it: it is tried again then, however long the pause has grown.
    pub(crate) fn on_room_made(&mut self, next_ms: u64) {
        (self.not_before_ms, self.pause_ms) = (next_ms, 0);
    }

    /// The venue took an order, in this market or another, or the position is another: what was refused or left without an
    /// answer before is tried again soon, however long the pause has grown.
    pub(crate) fn try_soon(&mut self) {
        if self.is_rebuffed {
            self.not_before_ms = self.not_before_ms.min(self.reads_since_ms.saturating_add(REFUSED_PAUSE_MS));
        }
    }

    /// The position has another size: the stops that were taken were for what it was before, and none of them was found gone.
    pub(crate) fn on_other_size(&mut self) {
        self.try_soon();
        if !self.is_rebuffed && self.closes == 0 {
            (self.tries, self.pause_ms) = (0, 0);
            self.not_before_ms = self.not_before_ms.min(self.reads_since_ms);
        }
    }

    fn pause(&mut self, longest_ms: u64, now_ms: u64) {
        self.pause_ms = self.pause_ms.saturating_mul(2).clamp(FIRST_PAUSE_MS, longest_ms);
        self.not_before_ms = now_ms.saturating_add(self.pause_ms);
    }

    /// Forgets everything but the size that was found too small to be closed.
    pub(crate) fn settle(&mut self) {
        *self = Self { dust: self.dust, ..Self::default() };
    }

    /// Whether this size was found too small to be closed.
    pub(crate) fn is_dust(&self, size: Decimal) -> bool {
        self.dust.is_some_and(|dust| dust.size == size)
    }
}
