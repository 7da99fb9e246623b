//! The venue's limits of the socket as far as they are clients': what the guard's own feed may need is taken off first, and
//! some is left to whoever else shares the address.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>: 10 connections, 30 new ones and
//! 2000 messages a minute, 1000 subscriptions, 10 users.

use crate::base::ip_share::IP_BUDGET;

/// The venue's connections; the guard's own feed has one of the share.
const SOCKETS: u32 = 10;
/// Subscriptions that cannot be told apart by their frames need sockets of their own; more than these are for others.
const MOST_SOCKETS: usize = 4;
/// Of the venue's 30 a minute; the guard's own feed has 20.
const CONNECTIONS: u32 = 8;
/// Of the venue's 2000 a minute; the guard's own feed has 500.
const MESSAGES: u32 = 1_000;
/// Of the venue's 1000; the guard's own feed has 210 at most.
const SUBSCRIPTIONS: u32 = 700;
/// The venue's users; the account is one of the share.
const USERS: u32 = 10;
/// Others than it; the rest is for whoever else shares the address.
const STRANGERS: u32 = 6;

/// The limits of one guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Sockets at a time.
    pub sockets: usize,
    /// New sockets a minute.
    pub connections: usize,
    /// Messages sent a minute.
    pub messages: usize,
    /// Subscriptions at a time.
    pub subscriptions: usize,
    /// Accounts other than the guarded one at a time.
    pub strangers: usize,
}

impl Limits {
    /// The limits of a share that has so much weight a minute. A share so small that the guard's own feed takes its only
    /// socket has none for clients.
    #[must_use]
    pub fn for_budget(budget: u32) -> Self {
        let share = |whole: u32| {
            let part = u64::from(whole).saturating_mul(u64::from(budget)).div_euclid(u64::from(IP_BUDGET));
            usize::try_from(part).unwrap_or_default()
        };
        Self {
            sockets: share(SOCKETS).saturating_sub(1).min(MOST_SOCKETS),
            connections: share(CONNECTIONS).max(1),
            messages: share(MESSAGES),
            subscriptions: share(SUBSCRIPTIONS),
            strangers: share(STRANGERS).min(share(USERS).saturating_sub(1)),
        }
    }
}

/// Where less than this can be had, none of it is kept for clients that signed: who did not would have next to nothing.
const FEW: usize = 4;

/// So much of it is left to clients that signed.
pub(super) fn unsigned_leave(most: usize) -> usize {
    if most < FEW { 0 } else { most.div_ceil(8) }
}

/// Among whom something scarce is shared, as one of them sees it. Each client that signed is a party. Connections on which none did
/// are one party together: sockets cost nothing, and whoever opens many is given no more for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shared {
    /// The parties there are.
    pub(super) parties: usize,
    /// The connections that share the part of the party whose part is asked for.
    pub(super) sharers: usize,
    /// Whether it is a client's that signed.
    pub(super) is_signed: bool,
}

impl Shared {
    /// With one more party, that may come yet.
    pub(super) fn with_another(self) -> Self {
        Self { parties: self.parties.saturating_add(1), ..self }
    }

    /// The equal part of so much.
    pub(super) fn part(self, most: usize) -> usize {
        most.checked_div(self.parties.saturating_mul(self.sharers)).unwrap_or(most).max(1)
    }

    /// Whether one more of what is scarce may be taken. All may take what nobody else wants, but the last quarter is kept for those
    /// that have not had their equal part, and the last eighth for clients that signed.
    pub(super) fn may_take(self, most: usize, taken: usize, own: usize) -> bool {
        let kept = if self.is_signed { 0 } else { unsigned_leave(most) };
        let is_scarce = taken >= most.saturating_sub(most.div_euclid(4));
        taken < most.saturating_sub(kept) && (own < self.part(most) || !is_scarce)
    }

    /// Whether one more may be held of what is not given back by itself: as [`Self::may_take`], with one more party who may come
    /// yet.
    pub(super) fn may_hold(self, most: usize, held: usize, own: usize) -> bool {
        self.with_another().may_take(most, held, own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::ip_share::SMALLEST_BUDGET;
    use crate::feed;
    use crate::venue::stream::topic::AccountFeed;

    #[test]
    fn a_share_of_every_limit() {
        let limits = |sockets, connections, messages, subscriptions, strangers| Limits {
            sockets,
            connections,
            messages,
            subscriptions,
            strangers,
        };
        assert_eq!(Limits::for_budget(1_200), limits(4, 8, 1_000, 700, 6));
        assert_eq!(Limits::for_budget(300), limits(1, 2, 250, 175, 1));
        assert_eq!(Limits::for_budget(150), limits(0, 1, 125, 87, 0));
    }

    /// What the guard needs for itself and what clients may have is never more than the address's share of what the venue lets it
    /// have, however small that share is.
    #[test]
    fn the_guard_and_its_clients_keep_to_the_venues_limits() {
        let own_feeds = AccountFeed::ALL.len() + 1;
        for budget in SMALLEST_BUDGET..=IP_BUDGET {
            let (own, clients) = (feed::Limits::for_budget(budget), Limits::for_budget(budget));
            for (name, taken, most) in [
                ("sockets", 1 + clients.sockets, 10),
                ("new sockets a minute", own.connections + clients.connections, 30),
                ("messages a minute", own.messages + clients.messages, 2_000),
                ("subscriptions", own_feeds + 2 * own.markets + clients.subscriptions, 1_000),
                ("users", 1 + clients.strangers, 10),
            ] {
                let share = most * usize::try_from(budget).unwrap() / usize::try_from(IP_BUDGET).unwrap();
                assert!(taken <= share.max(1), "{name}: {taken} of {share} at {budget}");
            }
        }
    }

    #[test]
    fn the_last_quarter_is_for_those_under_their_part() {
        let signed = |parties| Shared { parties, sharers: 1, is_signed: true };
        for (taken, own, may) in [(0, 0, true), (74, 74, true), (75, 75, false), (75, 49, true), (75, 50, false)] {
            assert_eq!(signed(2).may_take(100, taken, own), may, "{taken} {own}");
        }
        let [one, nine] = [1, 9].map(signed);
        assert!(!nine.may_take(100, 100, 0) && one.may_take(100, 99, 99) && !one.may_take(0, 0, 0));
    }

    #[test]
    fn the_last_eighth_is_for_clients_that_signed() {
        let unsigned = |sharers| Shared { parties: 2, sharers, is_signed: false };
        for (taken, own, may) in [(74, 74, true), (75, 49, true), (86, 0, true), (87, 0, false), (99, 0, false)] {
            assert_eq!(unsigned(1).may_take(100, taken, own), may, "{taken} {own}");
        }
        for (sharers, own, may) in [(5, 9, true), (5, 10, false), (500, 0, true), (500, 1, false)] {
            assert_eq!(unsigned(sharers).may_take(100, 80, own), may, "{sharers} {own}");
        }
        // Of few they may have all but one, and of fewer all.
        assert!(unsigned(9).may_take(4, 2, 1) && !unsigned(1).may_take(4, 3, 0) && unsigned(1).may_take(3, 2, 0));
    }
}
