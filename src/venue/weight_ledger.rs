//! The ledger of the venue's budget per IP address: 1200 weight a rolling minute, times this guard's share of it.
//!
//! Everything that goes to the venue is spent here first, by priority. A priority may use what is left once the unspent
//! reserves of those that it yields to are set aside. The guard's reads and clients' exits keep out of each other's: no
//! flood of exits leaves the guard blind, and no reading keeps an exit from leaving. What is reserved for clients is
//! theirs in equal parts, and none may take what another has not used of its part. An exit within its client's part always
//! fits.
//!
//! Pure: the time comes in, no clock, no lock and no rule may enter.

use std::collections::BTreeMap;

use self::minute::{BUCKET_MS, BUCKETS, Minute, Spent};
pub use self::on_way::OnWay;
use super::weight::{Denied, PRIORITIES, Priority};
use crate::base::address::Address;
use crate::base::ip_share::SMALLEST_BUDGET;

/// One whole flatten: 200 cancels (1 + 200/40), 100 closes (1 + 100/40), the account and the open orders read
/// back (2 + 20), and one more round of closes and an account read (3 + 2).
const FLATTEN_LEAST: u32 = 6 + 3 + 22 + 5;
/// Fourteen exits, each its own request.
const EXIT_LEAST: u32 = 14;
/// The slowest safe reads: prices, account and spot balance every 10 s (2 each), open orders every 30 s (20).
const READ_LEAST: u32 = 6 * (2 + 2 + 2) + 2 * 20;
/// A few entries that no pass-through question and no read out of turn can crowd out.
const ENTRY_LEAST: u32 = 4;

// What is left at the smallest budget must still pass one documented question (20) through a minute, or an
// unmodified bot could never start.
const _: () = assert!(FLATTEN_LEAST + EXIT_LEAST + READ_LEAST + ENTRY_LEAST + 20 <= SMALLEST_BUDGET);

/// Who keeps room for itself asks again within this time.
const CLAIM_MS: u64 = 3_000;

/// What was spent in the last minute, by priority and by client, and what may be spent now.
#[derive(Clone, Debug)]
pub struct Ledger {
    budget: u32,
    reserves: Spent,
    /// What of the steady reads' reserve is anybody's.
    freed: u32,
    all: Minute,
    /// What each client spent of it. As many as the config names.
    clients: BTreeMap<Address, Minute>,
    /// What was ever spent.
    total: [u64; PRIORITIES],
    /// What the answers that are waited for may weigh yet.
    on_way: Spent,
    /// Whether a question is on its way whose answer may weigh more than there is room for.
    is_too_long_on_way: bool,
    /// What a read that waits for room will need, and until when it is kept for it.
    claimed: (u32, u64),
    /// How much waits for that read: those for which less does keep off its room too.
    claim: Claim,
    /// The latest time seen: a clock that steps back must not bring spent weight back.
    latest_ms: u64,
}

/// What waits for a read of the guard's own that has no part of its own; more is later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Claim {
    /// Nothing: it comes at its own pace.
    Seldom,
    /// The live feed, which saves the others.
    Feed,
    /// A client's request.
    Called,
}

/// What counts at one moment.
struct Moment<'a> {
    spent: Spent,
    clients: Vec<(&'a Address, Spent)>,
    /// Whether a read waits for room.
    is_claimed: bool,
}

impl Ledger {
    /// A ledger with nothing spent. The budget is a share's weight a minute, which these clients share.
    #[must_use]
    pub fn new<'a>(budget: u32, clients: impl IntoIterator<Item = &'a Address>) -> Self {
        let clients: BTreeMap<Address, Minute> = clients.into_iter().map(|client| (*client, Minute::new())).collect();
        Self {
            budget,
            reserves: reserves(budget, clients.len()),
            freed: 0,
            all: Minute::new(),
            clients,
            total: [0; PRIORITIES],
            on_way: [0; PRIORITIES],
            is_too_long_on_way: false,
            claimed: (0, 0),
            claim: Claim::Seldom,
            latest_ms: 0,
        }
    }

    /// Whether a live feed tells what is read steadily otherwise. A quarter of what that has beyond its least is anybody's then; with the
    /// rest the reads go on at their pace where the feed ends just when clients have spent all that is theirs.
    pub fn set_fed(&mut self, is_fed: bool) {
        self.freed = if is_fed { self.budget.saturating_sub(SMALLEST_BUDGET) / 8 } else { 0 };
    }

    /// Weight a minute that may be spent in all.
    #[must_use]
    pub fn budget(&self) -> u32 {
        self.budget
    }

    /// Weight spent in the last minute by all together.
    #[must_use]
    pub fn used(&self, now_ms: u64) -> u32 {
        sum(&self.all.spent_after(self.second(now_ms))).saturating_add(sum(&self.on_way))
    }

    /// What still counts, second by second: how long ago, in milliseconds, for what, and the weight.
    #[must_use]
    pub fn last_minute(&self, now_ms: u64) -> Vec<(u64, Priority, u32)> {
        let second = self.second(now_ms);
        let oldest = second.saturating_sub(BUCKETS as u64 - 1);
        let spent = self.all.buckets.iter().filter(|(at, _)| *at >= oldest).flat_map(|(at, spent)| {
            let ago_ms = second.saturating_sub(*at).saturating_mul(BUCKET_MS);
            Priority::ALL.into_iter().zip(spent).map(move |(priority, weight)| (ago_ms, priority, *weight))
        });
        let on_way = Priority::ALL.into_iter().zip(self.on_way).map(|(priority, weight)| (0, priority, weight));
        let mut spent: Vec<(u64, Priority, u32)> = spent.chain(on_way).filter(|(.., weight)| *weight > 0).collect();
        spent.sort_unstable_by_key(|(ago_ms, ..)| std::cmp::Reverse(*ago_ms));
        spent
    }

    /// Weight that each priority has ever spent.
    pub fn totals(&self) -> impl Iterator<Item = (Priority, u64)> {
        Priority::ALL.into_iter().zip(self.total)
    }

    /// Spends `weight`, for a client where it is for one, or says how long to wait. Time should come from a clock that
    /// does not step.
    ///
    /// # Errors
    /// [`Denied`] where it does not fit beside what was spent and what is kept for others; nothing is spent then.
    pub fn try_spend(
        &mut self,
        priority: Priority,
        client: Option<&Address>,
        weight: u32,
        now_ms: u64,
    ) -> Result<(), Denied> {
        self.check(priority, client, weight, now_ms)?;
        self.charge(priority, client, weight, now_ms);
        Ok(())
    }

    /// Whether as much may be spent now, or why not.
    fn check(&self, priority: Priority, client: Option<&Address>, weight: u32, now_ms: u64) -> Result<(), Denied> {
        let most = self.budget.saturating_sub(self.set_aside(priority, client, &self.unspent()));
        if weight > most {
            return Err(Denied::TooHeavy { weight, most });
        }
        if self.has_room(priority, client, weight, now_ms) {
            return Ok(());
        }
        Err(Denied::Wait { ms: self.room_in_ms(priority, client, weight, now_ms) })
    }

    /// The same for a read of the guard's own that must not wait for ever, although nothing is kept for it: what it needs is
    /// kept from clients until it has come, as long as it asks again within [`CLAIM_MS`]. One that more waits for goes first.
    ///
    /// # Errors
    /// As [`Self::try_spend`].
    pub fn try_claim(&mut self, weight: u32, claim: Claim, now_ms: u64) -> Result<(), Denied> {
        let now_ms = self.latest_ms.max(now_ms);
        if claim < self.claim && now_ms < self.claimed.1 {
            return self.try_spend(Priority::EarlyRead, None, weight, now_ms);
        }
        self.claimed = (0, 0);
        let mut spent = self.try_spend(Priority::EarlyRead, None, weight, now_ms);
        // Who is the only client calls for it for its own entries.
        let is_called = claim == Claim::Called;
        let only = self.clients.keys().next().copied().filter(|_| is_called && self.clients.len() == 1);
        if let (Some(client), Err(_)) = (only, &spent) {
            spent = self.try_spend(Priority::ClientEntry, Some(&client), weight, now_ms);
        }
        if matches!(spent, Err(Denied::Wait { .. })) {
            (self.claimed, self.claim) = ((weight, now_ms.saturating_add(CLAIM_MS)), claim);
        }
        spent
    }

    /// Whether as much could be spent now.
    #[must_use]
    pub fn has_room(&self, priority: Priority, client: Option<&Address>, weight: u32, now_ms: u64) -> bool {
        self.fits(priority, client, weight, &self.moment_now(now_ms))
    }

    /// After how long as much could be spent for no client: at once, where that is 0.
    #[must_use]
    pub fn wait_ms(&self, priority: Priority, weight: u32, now_ms: u64) -> u64 {
        if self.has_room(priority, None, weight, now_ms) {
            return 0;
        }
        self.room_in_ms(priority, None, weight, now_ms)
    }

    /// After as many seconds as there are buckets nothing is spent any more. What is on its way is known by then, or soon.
    fn room_in_ms(&self, priority: Priority, client: Option<&Address>, weight: u32, now_ms: u64) -> u64 {
        let (second, last) = (self.second(now_ms), BUCKETS as u64);
        let has_room = |wait_s: &u64| {
            let moment = self.moment(second.saturating_add(*wait_s));
            self.fits(priority, client, weight, &moment)
        };
        let wait_s = (1..last).find(has_room);
        let past_ms = self.latest_ms.max(now_ms) % BUCKET_MS;
        wait_s.unwrap_or(last).saturating_mul(BUCKET_MS).saturating_sub(past_ms)
    }

    /// Books weight that is already spent, such as what the length of an answer added.
    pub fn charge(&mut self, priority: Priority, client: Option<&Address>, weight: u32, now_ms: u64) {
        self.latest_ms = self.latest_ms.max(now_ms);
        let second = self.second(now_ms);
        self.all.charge(priority, weight, second);
        if let Some(minute) = client.and_then(|client| self.clients.get_mut(client)) {
            minute.charge(priority, weight, second);
        }
        if let Some(total) = self.total.get_mut(priority as usize) {
            *total = total.saturating_add(u64::from(weight));
        }
    }

    fn fits(&self, priority: Priority, client: Option<&Address>, weight: u32, moment: &Moment<'_>) -> bool {
        // Whatever an earlier life or somebody else has spent: nobody is kept in a position by it.
        if priority == Priority::ClientExit
            && weight <= self.unspent_parts(priority, moment, |whose| Some(whose) == client)
        {
            return true;
        }
        let aside = self.set_aside(priority, client, moment);
        sum(&moment.spent).saturating_add(aside).saturating_add(weight) <= self.budget
    }

    /// What is kept for others, of which nobody may take who spends with this priority.
    fn set_aside(&self, priority: Priority, client: Option<&Address>, at: &Moment<'_>) -> u32 {
        let is_client = matches!(priority, Priority::ClientExit | Priority::ClientEntry);
        let kept = Priority::ALL.into_iter().map(|other| {
            let unspent = self.reserve(other).saturating_sub(value(&at.spent, other));
            match other {
                // Its own part whole, whatever of it is spent: who places and cancels without a pause can take back what
                // it placed.
                Priority::ClientExit if priority == Priority::ClientEntry && self.has_many_entries(client, at) => {
                    self.part(other).saturating_add(self.unspent_parts(other, at, |whose| Some(whose) != client))
                }
                Priority::ClientExit | Priority::ClientEntry if yields(priority, other) => {
                    unspent.max(self.unspent_parts(other, at, |_| true))
                }
                Priority::ClientExit | Priority::ClientEntry if is_client => {
                    self.unspent_parts(other, at, |whose| Some(whose) != client)
                }
                _ if yields(priority, other) => unspent,
                _ => 0,
            }
        });
        let claimed = if at.is_claimed && priority != Priority::Read && priority != Priority::Flatten {
            self.claimed.0
        } else {
            0
        };
        kept.fold(claimed, u32::saturating_add)
    }

    fn reserve(&self, of: Priority) -> u32 {
        let freed = if of == Priority::Read { self.freed } else { 0 };
        value(&self.reserves, of).saturating_sub(freed)
    }

    /// What these clients have left of their parts of a reserve. A client's exits may have spent of its entries' part.
    fn unspent_parts(&self, of: Priority, at: &Moment<'_>, is_counted: impl Fn(&Address) -> bool) -> u32 {
        let parts = at.clients.iter().filter(|(whose, _)| is_counted(whose)).map(|(_, spent)| {
            let (exits, exit_part) = (value(spent, Priority::ClientExit), self.part(Priority::ClientExit));
            if of == Priority::ClientExit {
                return exit_part.saturating_sub(exits);
            }
            let beyond = exits.saturating_sub(exit_part);
            self.part(of).saturating_sub(value(spent, of)).saturating_sub(beyond)
        });
        // What is more than the reserve holds is kept for nobody: each then has its least part when it comes.
        parts.fold(0, u32::saturating_add).min(value(&self.reserves, of))
    }

    /// Whether a client's entries of the minute are more than its part for exits could take back.
    fn has_many_entries(&self, client: Option<&Address>, at: &Moment<'_>) -> bool {
        let spent = at.clients.iter().find(|(whose, _)| Some(*whose) == client).map(|(_, spent)| spent);
        spent.is_some_and(|spent| value(spent, Priority::ClientEntry) >= self.part(Priority::ClientExit))
    }

    /// Each client's part of a reserve. However many they are, each has one exit.
    fn part(&self, reserve: Priority) -> u32 {
        let clients = u32::try_from(self.clients.len()).unwrap_or(u32::MAX);
        let least = u32::from(reserve == Priority::ClientExit && clients > 0);
        value(&self.reserves, reserve).checked_div(clients).unwrap_or_default().max(least)
    }

    fn moment(&self, second: u64) -> Moment<'_> {
        let clients = self.clients.iter().map(|(client, minute)| (client, minute.spent_after(second)));
        let is_claimed = second.saturating_mul(BUCKET_MS) < self.claimed.1;
        Moment { spent: self.all.spent_after(second), clients: clients.collect(), is_claimed }
    }

    /// The present one, in which what is on its way counts too.
    fn moment_now(&self, now_ms: u64) -> Moment<'_> {
        let mut moment = self.moment(self.second(now_ms));
        for (spent, on_way) in moment.spent.iter_mut().zip(self.on_way) {
            *spent = spent.saturating_add(on_way);
        }
        moment
    }

    /// A minute in which nobody spends.
    fn unspent(&self) -> Moment<'_> {
        let clients = self.clients.keys().map(|client| (client, [0; PRIORITIES]));
        Moment { spent: [0; PRIORITIES], clients: clients.collect(), is_claimed: false }
    }

    fn second(&self, now_ms: u64) -> u64 {
        self.latest_ms.max(now_ms) / BUCKET_MS
    }
}

/// What a budget keeps a minute for the steady reads.
#[must_use]
pub fn read_floor(budget: u32) -> u32 {
    READ_LEAST.saturating_add(budget.saturating_sub(SMALLEST_BUDGET) / 2)
}

/// Whether `priority` leaves the whole reserve of `other` alone.
fn yields(priority: Priority, other: Priority) -> bool {
    match priority {
        Priority::ClientExit => matches!(other, Priority::Flatten | Priority::Read),
        // What is kept for entries is kept from the reads that clients' requests call for too: else whoever calls for most of
        // them keeps the others' entries out.
        Priority::EarlyRead => other == Priority::ClientEntry || other < priority,
        _ => other < priority,
    }
}

fn value(spent: &Spent, priority: Priority) -> u32 {
    spent.get(priority as usize).copied().unwrap_or_default()
}

fn sum(spent: &Spent) -> u32 {
    spent.iter().fold(0, |sum, one| sum.saturating_add(*one))
}

/// What is set aside for each priority: the least of each, and a part of what the budget has beyond the smallest.
///
/// Half of it goes to the reads, which at the whole budget then cover prices, account and spot balance every
/// second and open orders every five; a tenth each to flattening and entries, a twentieth to exits. The last quarter is
/// reserved for none: every priority may spend it, and pass-through, without a reserve, lives on it alone. Several clients
/// share half as much again for exits, so that one of them can trade down in steps whatever is read after each.
fn reserves(budget: u32, clients: usize) -> Spent {
    let beyond = budget.saturating_sub(SMALLEST_BUDGET);
    let exits = if clients > 1 { beyond.saturating_mul(3) / 40 } else { beyond / 20 };
    [
        FLATTEN_LEAST.saturating_add(beyond / 10),
        EXIT_LEAST.saturating_add(exits),
        read_floor(budget),
        0,
        ENTRY_LEAST.saturating_add(beyond / 10),
        0,
    ]
}

mod minute;
mod on_way;
#[cfg(test)]
mod tests;
