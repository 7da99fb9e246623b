//! The requests that the venue still takes from the account: as last read, less what was sent since.
//!
//! A batch of n counts n. The read comes once a minute; a thousand orders can leave in the seconds between two.

use crate::base::address::Address;
use crate::guard::state::lifetime::Price;
use std::collections::BTreeMap;

/// Requests that entries, settings and whatever rests leave alone: they are for what reduces now.
pub(crate) const KEPT: u64 = 500;

/// Of these, the ones that are the guard's own: for its stops, its closes and a flatten.
pub(crate) const KEPT_FOR_GUARD: u64 = 200;

/// As many are counted on until they are read: unknown is not unlimited.
const UNREAD: u64 = KEPT.saturating_sub(1);

/// While fewer are left than this, each client has its part of those above what is kept.
const SHARED_BELOW: u64 = 2_500;

/// The venue takes one request in so long from an account whose allowance is used up. Source:
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const LAST_PACE_MS: u64 = 10_000;

/// The account's allowance.
#[derive(Debug, Default)]
pub(crate) struct Allowance {
    read: Option<u64>,
    /// Counted since that read began.
    sent: u64,
    /// What each client spent since fewer were left than are shared.
    parts: BTreeMap<Address, u64>,
    /// When each client's last exit passed that came out of what is the guard's own.
    passed_ms: BTreeMap<Address, u64>,
    /// When a client was last told to wait for such a place, since it had one.
    waiting_ms: BTreeMap<Address, u64>,
}

impl Allowance {
    /// Takes in a read. What is `unanswered` by now may not be in it.
    pub(crate) fn on_read(&mut self, left: u64, unanswered: u64) {
        (self.read, self.sent) = (Some(left), unanswered);
        if !self.is_shared() {
            self.parts.clear();
        }
    }

    /// Counts what sets out, for a client where it is for one: all that it may cost. A client's part is what it did.
    pub(crate) fn on_send(&mut self, client: Option<Address>, price: Price) {
        self.sent = self.sent.saturating_add(price.most);
        self.spend_part(client, price.in_time);
    }

    fn spend_part(&mut self, client: Option<Address>, requests: u64) {
        if let Some(client) = client.filter(|_| self.is_shared()) {
            let part = self.parts.entry(client).or_default();
            *part = part.saturating_add(requests);
        }
    }

    /// It surely never left.
    pub(crate) fn on_not_sent(&mut self, price: Price) {
        self.sent = self.sent.saturating_sub(price.most);
    }

    /// The venue's answer tells what it cost.
    pub(crate) fn on_answer(&mut self, client: Option<Address>, price: Price, is_late: bool) {
        let cost = if is_late { price.late() } else { price.in_time };
        self.sent = self.sent.saturating_sub(price.most).saturating_add(cost);
        self.spend_part(client, cost.saturating_sub(price.in_time));
    }

    /// Whether what may cost so many leaves what is kept.
    pub(crate) fn spares(&self, requests: u64) -> bool {
        self.counted_on().saturating_sub(requests) >= KEPT
    }

    /// The requests that are left; `None` until they are read.
    pub(crate) fn left(&self) -> Option<u64> {
        self.read.map(|left| left.saturating_sub(self.sent))
    }

    /// The requests that may be counted on.
    pub(crate) fn counted_on(&self) -> u64 {
        self.read.unwrap_or(UNREAD).saturating_sub(self.sent)
    }

    fn is_shared(&self) -> bool {
        self.left().is_some_and(|left| left < SHARED_BELOW)
    }

    /// What one of so many clients may spend and has spent, while there is little left to share.
    pub(crate) fn part_of(&self, client: Address, clients: usize) -> Option<(u64, u64)> {
        let clients = u64::try_from(clients).ok().filter(|clients| *clients > 1 && self.is_shared())?;
        let part = (SHARED_BELOW.saturating_sub(KEPT)).checked_div(clients)?;
        Some((part, self.parts.get(&client).copied().unwrap_or_default()))
    }

    /// How long until this client's next exit may come out of what is the guard's own, and whether another's turn is
    /// before it: who had no place for longest goes first, while it goes on asking.
    pub(crate) fn pause_ms(&self, client: Address, now_ms: u64) -> (u64, bool) {
        // Where nothing is left, two of three go to the guard.
        let pace_ms = if self.counted_on() == 0 { LAST_PACE_MS.saturating_mul(3) } else { LAST_PACE_MS };
        let left_of = |at_ms: u64| pace_ms.saturating_sub(now_ms.saturating_sub(at_ms));
        let until_place_ms = self.passed_ms.values().copied().max().map_or(0, left_of);
        let had_ms = |client: &Address| self.passed_ms.get(client).copied();
        let before = self.waiting_ms.iter().filter(|(other, _)| had_ms(other) < had_ms(&client));
        let turn_ms = before.map(|(_, asked_ms)| left_of(*asked_ms)).max().unwrap_or_default();
        (until_place_ms.max(turn_ms), turn_ms > 0)
    }

    /// A client's exit took its place.
    pub(crate) fn on_passed(&mut self, client: Address, now_ms: u64) {
        self.waiting_ms.remove(&client);
        self.passed_ms.insert(client, now_ms);
    }

    /// A client's exit was told to wait for its place.
    pub(crate) fn on_waits(&mut self, client: Address, now_ms: u64) {
        self.waiting_ms.insert(client, now_ms);
    }
}
