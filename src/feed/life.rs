//! One subscription: whether it was asked for, acknowledged and had its first frame, and whether it proves itself since.

use super::messages::Now;
use crate::venue::stream::topic::{AccountFeed, MarketFeed, Topic};

/// A state is told again about every five seconds, changed or not (observed). Three times nothing, and the feed is dead,
/// whatever the socket does.
const SILENCE_MS: u64 = 15_000;
/// An acknowledgement and a first frame come at once.
const ANSWER_MS: u64 = 5_000;
/// So often it is begun anew before the socket is given up.
const RENEWALS: u8 = 2;
/// A market that the venue would not tell of is asked for again after this long.
const RETRY_MS: u64 = 60_000;
/// A state whose time is further than this from the venue's proves nothing: the server that tells it lags behind, or
/// makes times up.
const UNTIMELY_MS: u64 = 5_000;

/// How a topic's frames come.
#[derive(Debug, Clone, Copy)]
struct Manner {
    /// The acknowledgement is followed by a frame at once.
    has_first: bool,
    /// Frames come whether something changed or not.
    has_cadence: bool,
    /// Its frames' time is that of the telling; the time of one that comes on a change alone may be old in the first.
    has_clock: bool,
    /// It is of a market: others do without it.
    is_market: bool,
}

impl Manner {
    fn of(topic: &Topic) -> Self {
        use AccountFeed::{Account, Events, Fills, Fundings, Ledger, OpenOrders, OrderUpdates, Spot, WebData};
        let (has_first, has_cadence, has_clock) = match topic {
            Topic::Account(Fills | Ledger | Fundings) | Topic::Market(MarketFeed::Bbo, _) => (true, false, false),
            Topic::Account(OrderUpdates | Events) => (false, false, false),
            Topic::Account(Account | WebData) => (true, true, true),
            Topic::Account(OpenOrders | Spot) | Topic::Mids | Topic::Market(MarketFeed::AssetCtx, _) => {
                (true, true, false)
            }
        };
        Self { has_first, has_cadence, has_clock, is_market: matches!(topic, Topic::Market(..)) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Unasked,
    Asked { since_ms: u64 },
    GivenUp { since_ms: u64 },
}

/// The next thing that a subscription needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    /// To be subscribed.
    Ask,
    /// To be ended and subscribed again: a second subscription alone is refused and brings no first frame.
    AskAnew,
    /// Nothing helps on this socket.
    Lost,
}

/// One subscription.
#[derive(Debug)]
pub(super) struct Life {
    manner: Manner,
    phase: Phase,
    is_acked: bool,
    has_first: bool,
    /// When it proved itself last.
    heard_ms: u64,
    /// The newest time of its frames.
    state_ms: u64,
    /// Times it was begun anew since it proved itself.
    renewals: u8,
}

impl Life {
    pub(super) fn new(topic: &Topic) -> Self {
        Self::after(topic, 0)
    }

    /// One whose state is known as it was then: a server that shows an older one tells nothing.
    pub(super) fn after(topic: &Topic, state_ms: u64) -> Self {
        let manner = Manner::of(topic);
        let phase = Phase::Unasked;
        Self { manner, phase, is_acked: false, has_first: false, heard_ms: 0, state_ms, renewals: 0 }
    }

    /// The newest time of its frames; 0 where they have none.
    pub(super) fn state_ms(&self) -> u64 {
        self.state_ms
    }

    pub(super) fn need(&self, now_ms: u64) -> Need {
        let since = |then_ms: u64| now_ms.saturating_sub(then_ms);
        let is_overdue = match self.phase {
            Phase::Unasked => return Need::Ask,
            Phase::GivenUp { since_ms } if self.manner.is_market && since(since_ms) >= RETRY_MS => return Need::Ask,
            Phase::GivenUp { .. } => return Need::Nothing,
            Phase::Asked { .. } if self.is_complete() => self.manner.has_cadence && since(self.heard_ms) >= SILENCE_MS,
            Phase::Asked { since_ms } => since(since_ms) >= ANSWER_MS,
        };
        match is_overdue {
            false => Need::Nothing,
            true if self.renewals < RENEWALS => Need::AskAnew,
            true => Need::Lost,
        }
    }

    /// The subscription goes out.
    pub(super) fn asked(&mut self, now_ms: u64) {
        self.phase = Phase::Asked { since_ms: now_ms };
        self.is_acked = false;
        self.has_first = !self.manner.has_first;
    }

    /// The end of the subscription goes out, and after it the subscription.
    pub(super) fn asked_anew(&mut self, now_ms: u64) {
        self.renewals = self.renewals.saturating_add(1);
        self.asked(now_ms);
    }

    pub(super) fn acked(&mut self, now_ms: u64) {
        self.is_acked = true;
        self.settle(now_ms);
    }

    /// Nothing more is tried. What is of the account stays away as long as this socket lasts: what happens meanwhile is told
    /// by nobody, so that it could not be taken up again without a gap.
    pub(super) fn give_up(&mut self, now_ms: u64) {
        self.phase = Phase::GivenUp { since_ms: now_ms };
        self.renewals = 0;
    }

    /// A frame came, with the venue's time in it where it has one. Whether it is good to be passed on.
    pub(super) fn hear(&mut self, state_ms: Option<u64>, now: Now) -> bool {
        if let Some(state_ms) = state_ms {
            let is_late = self.manner.has_clock && state_ms.saturating_add(UNTIMELY_MS) < now.venue_ms;
            let is_ahead = state_ms > now.venue_ms.saturating_add(UNTIMELY_MS);
            if is_late || is_ahead || state_ms < self.state_ms {
                return false;
            }
            self.state_ms = state_ms;
        }
        self.heard_ms = now.steady_ms;
        self.has_first = true;
        self.settle(now.steady_ms);
        true
    }

    /// Whether what it told last still holds, as far as anybody can know.
    pub(super) fn is_proved(&self, now_ms: u64) -> bool {
        let is_asked = matches!(self.phase, Phase::Asked { .. });
        let is_heard = !self.manner.has_cadence || now_ms.saturating_sub(self.heard_ms) < SILENCE_MS;
        is_asked && self.is_complete() && is_heard
    }

    /// Whether nothing more is waited for: it is there, or will not be.
    pub(super) fn is_settled(&self) -> bool {
        self.is_complete() || matches!(self.phase, Phase::GivenUp { .. })
    }

    /// Whether the venue may send its frames.
    pub(super) fn is_asked(&self) -> bool {
        matches!(self.phase, Phase::Asked { .. })
    }

    pub(super) fn is_market(&self) -> bool {
        self.manner.is_market
    }

    fn is_complete(&self) -> bool {
        self.is_acked && self.has_first
    }

    fn settle(&mut self, now_ms: u64) {
        if self.is_complete() {
            self.renewals = 0;
            self.heard_ms = self.heard_ms.max(if self.manner.has_first { 0 } else { now_ms });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T: u64 = 1_000_000;

    fn at(ms: u64) -> Now {
        Now { steady_ms: ms, venue_ms: T + ms }
    }

    fn life(topic: &Topic) -> Life {
        let mut life = Life::new(topic);
        assert_eq!(life.need(0), Need::Ask);
        life.asked(0);
        life
    }

    #[test]
    fn a_state_is_proved_for_three_cadences() {
        let mut account = life(&Topic::Account(AccountFeed::Account));
        assert_eq!((account.need(ANSWER_MS - 1), account.need(ANSWER_MS)), (Need::Nothing, Need::AskAnew));
        assert!(account.hear(Some(T), at(0)) && !account.is_proved(0), "not acknowledged");
        account.acked(10);
        assert!(account.is_proved(10) && account.is_proved(SILENCE_MS - 1) && !account.is_proved(SILENCE_MS));
        assert_eq!((account.need(SILENCE_MS - 1), account.need(SILENCE_MS)), (Need::Nothing, Need::AskAnew));
        account.asked_anew(SILENCE_MS);
        assert!(!account.is_proved(SILENCE_MS));
        account.acked(SILENCE_MS);
        assert!(account.hear(Some(T + SILENCE_MS), at(SILENCE_MS)) && account.is_proved(SILENCE_MS));
    }

    #[test]
    fn twice_in_vain_is_enough() {
        let mut orders = life(&Topic::Account(AccountFeed::OpenOrders));
        for again in 1..=u64::from(RENEWALS) {
            assert_eq!(orders.need(again * ANSWER_MS), Need::AskAnew);
            orders.asked_anew(again * ANSWER_MS);
        }
        assert_eq!(orders.need(3 * ANSWER_MS - 1), Need::Nothing);
        assert_eq!(orders.need(3 * ANSWER_MS), Need::Lost);
        orders.acked(3 * ANSWER_MS);
        assert_eq!(orders.need(3 * ANSWER_MS), Need::Lost, "an acknowledgement alone proves nothing");
        assert!(orders.hear(None, at(3 * ANSWER_MS)));
        assert_eq!(orders.need(3 * ANSWER_MS), Need::Nothing);
    }

    #[test]
    fn what_is_told_once_needs_no_cadence() {
        for (feed, has_first) in [(AccountFeed::Fills, true), (AccountFeed::OrderUpdates, false)] {
            let mut events = life(&Topic::Account(feed));
            events.acked(0);
            assert_eq!(events.is_settled(), !has_first);
            assert!(events.hear(None, at(0)) && events.is_proved(u64::MAX));
            assert_eq!(events.need(u64::MAX), Need::Nothing);
        }
    }

    #[test]
    fn a_state_of_another_time_proves_nothing() {
        let mut account = life(&Topic::Account(AccountFeed::Account));
        account.acked(0);
        let ahead = T + UNTIMELY_MS;
        for (state_ms, is_good) in
            [(T - UNTIMELY_MS - 1, false), (T - UNTIMELY_MS, true), (T - 2_000, true), (T - 2_001, false)]
        {
            assert_eq!(account.hear(Some(state_ms), at(0)), is_good, "{state_ms}");
        }
        assert_eq!([ahead + 1, ahead].map(|state_ms| account.hear(Some(state_ms), at(0))), [false, true]);
        // A best price may not have changed for long.
        let mut bbo = life(&Topic::Market(MarketFeed::Bbo, "BTC".to_owned()));
        assert!(bbo.hear(Some(1), at(0)) && bbo.hear(Some(2), at(0)) && !bbo.hear(Some(1), at(0)));
        assert!(!bbo.hear(Some(ahead + 1), at(0)));
    }

    #[test]
    fn what_is_given_up_comes_back_for_markets_alone() {
        let (mut market, mut account) =
            (life(&Topic::Market(MarketFeed::Bbo, "BTC".to_owned())), life(&Topic::Account(AccountFeed::WebData)));
        for life in [&mut market, &mut account] {
            life.give_up(0);
            assert!(life.is_settled() && !life.is_proved(0) && !life.is_asked());
            assert_eq!(life.need(RETRY_MS - 1), Need::Nothing);
        }
        assert_eq!((market.need(RETRY_MS), account.need(RETRY_MS)), (Need::Ask, Need::Nothing));
    }
}
