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

/// The equal part of one of so many clients.
pub(super) fn part(most: usize, clients: usize) -> usize {
    most.checked_div(clients).unwrap_or(most).max(1)
}

/// Whether one of so many clients may take one more of what is scarce. All may take what nobody else wants, but the last
/// quarter is kept for those that have not had their equal part.
pub(super) fn may_take(most: usize, taken: usize, own: usize, clients: usize) -> bool {
    let part = part(most, clients);
    let is_scarce = taken >= most.saturating_sub(most.div_euclid(4));
    taken < most && (own < part || !is_scarce)
}

/// Whether one of so many clients may hold one more of what is not given back by itself: as [`may_take`], with one more client
/// who may come yet.
pub(super) fn may_hold(most: usize, held: usize, own: usize, clients: usize) -> bool {
    may_take(most, held, own, clients.saturating_add(1))
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
        for (taken, own, may) in [(0, 0, true), (74, 74, true), (75, 75, false), (75, 49, true), (75, 50, false)] {
            assert_eq!(may_take(100, taken, own, 2), may, "{taken} {own}");
        }
        assert!(!may_take(100, 100, 0, 9) && may_take(100, 99, 99, 1) && !may_take(0, 0, 0, 1));
    }
}
