//! The ledger of the venue's budget per IP address: 1200 weight a rolling minute, times this guard's share of it.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
//!
//! Everything that goes to the venue is spent here first, by priority. A priority may use what is left once the
//! unspent reserves of all higher ones are set aside, so nothing a client does can take from a flatten.
//! Pure: the time comes in, no clock, no lock and no rule may enter.

use thiserror::Error;

use crate::base::ip_share::SMALLEST_BUDGET;

/// Who spends, highest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// Closing everything, cover for bare positions, and the reads that either needs.
    Flatten,
    /// A client's exits and cancels.
    ClientExit,
    /// The guard's own reads of prices, account and open orders.
    Read,
    /// A client's entries.
    ClientEntry,
    /// `/info` questions passed through for clients.
    PassThrough,
}

const PRIORITIES: usize = 5;

impl Priority {
    /// Every priority, highest first.
    pub const ALL: [Self; PRIORITIES] =
        [Self::Flatten, Self::ClientExit, Self::Read, Self::ClientEntry, Self::PassThrough];

    /// The priority's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Flatten => "flatten",
            Self::ClientExit => "client_exit",
            Self::Read => "read",
            Self::ClientEntry => "client_entry",
            Self::PassThrough => "pass_through",
        }
    }
}

/// One whole flatten: 200 cancels (1 + 200/40), 100 closes (1 + 100/40), the account and the open orders read
/// back (2 + 20), and one more round of closes and an account read (3 + 2).
const FLATTEN_LEAST: u32 = 6 + 3 + 22 + 5;
/// Fourteen exits, each its own request.
const EXIT_LEAST: u32 = 14;
/// The slowest safe reads: prices, account and spot balance every 10 s (2 each), open orders every 30 s (20).
const READ_LEAST: u32 = 6 * (2 + 2 + 2) + 2 * 20;
/// A few entries that no pass-through question can crowd out.
const ENTRY_LEAST: u32 = 4;

// What is left at the smallest budget must still pass one documented question (20) through a minute, or an
// unmodified bot could never start.
const _: () = assert!(FLATTEN_LEAST + EXIT_LEAST + READ_LEAST + ENTRY_LEAST + 20 <= SMALLEST_BUDGET);

/// A rolling minute, and one bucket more because the oldest second is only partly past.
const BUCKETS: usize = 61;
const BUCKET_MS: u64 = 1000;

/// Why nothing was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Denied {
    /// There will be room after this long, unless somebody else spends first.
    #[error("the venue's budget for this address is spent; there is room in {ms} ms")]
    Wait {
        /// Milliseconds from the time passed in.
        ms: u64,
    },
    /// The weight is over what this priority may ever spend in one minute.
    #[error("weight {weight} is over the {most} a minute that may be spent on this; raise ip_share or ask for less")]
    TooHeavy {
        /// The weight asked for.
        weight: u32,
        /// The most this priority may spend in one minute.
        most: u32,
    },
}

/// So many items of a batch weigh as much as one request more.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
const ITEMS_A_WEIGHT: usize = 40;

/// Weight of an `/exchange` request whose batch has `batch` items: `1 + batch/40`, rounded down.
#[must_use]
pub fn exchange_weight(batch: usize) -> u32 {
    u32::try_from(batch / ITEMS_A_WEIGHT).unwrap_or(u32::MAX).saturating_add(1)
}

/// Weight of an `/info` question of this type, without what its answer's length adds.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_weight(kind: &str) -> u32 {
    match kind {
        "l2Book" | "allMids" | "clearinghouseState" | "orderStatus" | "spotClearinghouseState" | "exchangeStatus" => 2,
        "userRole" => 60,
        _ => 20,
    }
}

/// Weight that the length of an `/info` answer adds: known only once it is here, so [`Ledger::charge`] it then.
/// `userNonFundingLedgerUpdates` is counted like the page's `nonUserFundingUpdates`, which no question is named.
/// Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
#[must_use]
pub fn info_extra(kind: &str, items: usize) -> u32 {
    let items_a_weight = match kind {
        "recentTrades"
        | "historicalOrders"
        | "userFills"
        | "userFillsByTime"
        | "fundingHistory"
        | "userFunding"
        | "userNonFundingLedgerUpdates"
        | "nonUserFundingUpdates"
        | "twapHistory"
        | "userTwapSliceFills"
        | "userTwapSliceFillsByTime"
        | "delegatorHistory"
        | "delegatorRewards"
        | "validatorStats" => 20,
        "candleSnapshot" => 60,
        _ => return 0,
    };
    u32::try_from(items / items_a_weight).unwrap_or(u32::MAX)
}

type Spent = [u32; PRIORITIES];

/// What was spent in the last minute, by priority, and what may be spent now.
#[derive(Clone, Debug)]
pub struct Ledger {
    budget: u32,
    reserves: Spent,
    /// `(second, spent in it)`; a bucket of an older second is empty.
    buckets: [(u64, Spent); BUCKETS],
    /// What was ever spent.
    total: [u64; PRIORITIES],
    /// The latest time seen: a clock that steps back must not bring spent weight back.
    latest_ms: u64,
}

impl Ledger {
    /// A ledger with nothing spent. The budget is a share's weight a minute.
    #[must_use]
    pub fn new(budget: u32) -> Self {
        Self {
            budget,
            reserves: reserves(budget),
            buckets: [(0, [0; PRIORITIES]); BUCKETS],
            total: [0; PRIORITIES],
            latest_ms: 0,
        }
    }

    /// Weight a minute that may be spent in all.
    #[must_use]
    pub fn budget(&self) -> u32 {
        self.budget
    }

    /// Weight spent in the last minute by all together.
    #[must_use]
    pub fn used(&self, now_ms: u64) -> u32 {
        total(&self.spent_after(self.second(now_ms)))
    }

    /// Weight that each priority has ever spent.
    pub fn totals(&self) -> impl Iterator<Item = (Priority, u64)> {
        Priority::ALL.into_iter().zip(self.total)
    }

    /// Spends `weight`, or says how long to wait. Time should come from a clock that does not step.
    ///
    /// # Errors
    /// [`Denied`] where it does not fit beside what was spent and what is reserved for higher priorities;
    /// nothing is spent then.
    pub fn try_spend(&mut self, priority: Priority, weight: u32, now_ms: u64) -> Result<(), Denied> {
        let most = self.most(priority);
        if weight > most {
            return Err(Denied::TooHeavy { weight, most });
        }
        let second = self.second(now_ms);
        if self.fits(&self.spent_after(second), priority, weight) {
            self.charge(priority, weight, now_ms);
            return Ok(());
        }
        let mut wait_s: u64 = 1;
        // After as many seconds as there are buckets nothing is spent any more, and `weight` is not over `most`.
        while wait_s < BUCKETS as u64 && !self.fits(&self.spent_after(second.saturating_add(wait_s)), priority, weight)
        {
            wait_s = wait_s.saturating_add(1);
        }
        let past_ms = self.latest_ms.max(now_ms) % BUCKET_MS;
        Err(Denied::Wait { ms: wait_s.saturating_mul(BUCKET_MS).saturating_sub(past_ms) })
    }

    /// Books weight that is already spent, such as what the length of an answer added.
    pub fn charge(&mut self, priority: Priority, weight: u32, now_ms: u64) {
        self.latest_ms = self.latest_ms.max(now_ms);
        let second = self.second(now_ms);
        let Some(bucket) = self.buckets.get_mut((second % BUCKETS as u64) as usize) else { return };
        if bucket.0 != second {
            *bucket = (second, [0; PRIORITIES]);
        }
        if let Some(spent) = bucket.1.get_mut(priority as usize) {
            *spent = spent.saturating_add(weight);
        }
        if let Some(total) = self.total.get_mut(priority as usize) {
            *total = total.saturating_add(u64::from(weight));
        }
    }

    /// The most one priority may spend in a minute in which nobody else spends.
    fn most(&self, priority: Priority) -> u32 {
        let above: u32 = self.reserves.iter().take(priority as usize).sum();
        self.budget.saturating_sub(above)
    }

    /// Whether `weight` fits beside what was spent and what the higher priorities have not yet used of their reserves.
    fn fits(&self, spent: &Spent, priority: Priority, weight: u32) -> bool {
        let unspent_above = self
            .reserves
            .iter()
            .zip(spent)
            .take(priority as usize)
            .fold(0_u32, |sum, (reserve, used)| sum.saturating_add(reserve.saturating_sub(*used)));
        total(spent).saturating_add(unspent_above).saturating_add(weight) <= self.budget
    }

    /// What will still count at `second`.
    fn spent_after(&self, second: u64) -> Spent {
        let oldest = second.saturating_sub(BUCKETS as u64 - 1);
        let mut sum = [0_u32; PRIORITIES];
        for (_, spent) in self.buckets.iter().filter(|(at, _)| *at >= oldest) {
            for (total, one) in sum.iter_mut().zip(spent) {
                *total = total.saturating_add(*one);
            }
        }
        sum
    }

    fn second(&self, now_ms: u64) -> u64 {
        self.latest_ms.max(now_ms) / BUCKET_MS
    }
}

fn total(spent: &Spent) -> u32 {
    spent.iter().fold(0, |sum, one| sum.saturating_add(*one))
}

/// What is set aside for each priority: the least of each, and a part of what the budget has beyond the smallest.
///
/// Half of it goes to the reads, which at the whole budget then cover prices, account and spot balance every
/// second and open orders every five; a tenth each to flattening and entries, a twentieth to exits. The last
/// quarter is reserved for none: every priority may spend it, and pass-through, without a reserve, lives on it alone.
fn reserves(budget: u32) -> Spent {
    let beyond = budget.saturating_sub(SMALLEST_BUDGET);
    [
        FLATTEN_LEAST.saturating_add(beyond / 10),
        EXIT_LEAST.saturating_add(beyond / 20),
        READ_LEAST.saturating_add(beyond / 2),
        ENTRY_LEAST.saturating_add(beyond / 10),
        0,
    ]
}

#[cfg(test)]
mod tests {
    use super::Priority::{ClientExit, Flatten, Read};
    use super::*;
    use crate::base::ip_share::IP_BUDGET;
    use proptest::prelude::*;

    const ALL: [Priority; PRIORITIES] = Priority::ALL;
    const T0: u64 = 1_700_000_000_000;

    #[test]
    fn weights_follow_the_venue() {
        assert_eq!([0, 1, 39, 40, 79, 80].map(exchange_weight), [1, 1, 1, 2, 2, 3]);
        assert_eq!(["allMids", "userRole", "meta", "neverHeardOf"].map(info_weight), [2, 60, 20, 20]);
        assert_eq!([0, 19, 20, 40].map(|n| info_extra("userFills", n)), [0, 0, 1, 2]);
        assert_eq!(info_extra("candleSnapshot", 60), 1);
        assert_eq!(info_extra("meta", 10_000), 0);
    }

    #[test]
    fn whole_budget_covers_the_fastest_reads() {
        let reads_a_minute = 60 * (2 + 2 + 2) + 12 * 20;
        assert!(Ledger::new(IP_BUDGET).reserves[Read as usize] >= reads_a_minute);
    }

    #[test]
    fn budget_is_spent_to_the_last_and_no_further() {
        let mut ledger = Ledger::new(150);
        assert_eq!(ledger.try_spend(Flatten, 150, T0), Ok(()));
        assert_eq!(ledger.used(T0), 150);
        assert!(matches!(ledger.try_spend(Flatten, 1, T0), Err(Denied::Wait { .. })));
        assert_eq!(ledger.try_spend(Flatten, 151, T0), Err(Denied::TooHeavy { weight: 151, most: 150 }));
    }

    #[test]
    fn each_priority_stops_at_the_reserves_above_it() {
        for priority in ALL {
            let mut ledger = Ledger::new(1200);
            let most = ledger.most(priority);
            assert_eq!(ledger.try_spend(priority, most, T0), Ok(()), "{priority:?}");
            assert!(ledger.try_spend(priority, 1, T0).is_err(), "{priority:?}");
            for higher in ALL.iter().filter(|higher| **higher < priority) {
                let reserve = ledger.reserves[*higher as usize];
                assert_eq!(ledger.try_spend(*higher, reserve, T0), Ok(()), "{higher:?} after {priority:?}");
            }
        }
    }

    #[test]
    fn a_reserve_already_used_holds_nothing_more_back() {
        let mut ledger = Ledger::new(150);
        let reserve = ledger.reserves[Flatten as usize];
        let most = ledger.most(ClientExit);
        ledger.try_spend(Flatten, reserve, T0).unwrap();
        assert_eq!(ledger.try_spend(ClientExit, most, T0), Ok(()));
    }

    #[test]
    fn wait_is_exact() {
        let mut ledger = Ledger::new(150);
        ledger.try_spend(Flatten, 100, T0 + 250).unwrap();
        ledger.try_spend(Flatten, 50, T0 + 5_250).unwrap();
        let now_ms = T0 + 10_400;
        let Err(Denied::Wait { ms }) = ledger.try_spend(Flatten, 100, now_ms) else { panic!("spent") };
        assert_eq!(now_ms + ms, T0 + 61_000);
        assert!(ledger.try_spend(Flatten, 100, now_ms + ms - 1).is_err());
        assert_eq!(ledger.try_spend(Flatten, 100, now_ms + ms), Ok(()));
    }

    #[test]
    fn a_clock_that_steps_back_frees_nothing() {
        let mut ledger = Ledger::new(150);
        ledger.try_spend(Flatten, 150, T0).unwrap();
        assert_eq!(ledger.used(T0 - 3_600_000), 150);
        assert!(ledger.try_spend(Flatten, 1, T0 - 3_600_000).is_err());
    }

    proptest! {
        #[test]
        fn no_minute_holds_more_than_the_budget(
            steps in prop::collection::vec((0..5_usize, 0..60_u32, 0..9_000_u64), 1..300),
            budget in SMALLEST_BUDGET..=IP_BUDGET,
        ) {
            let mut ledger = Ledger::new(budget);
            let mut spent: Vec<(u64, u32)> = Vec::new();
            let mut now_ms = T0;
            for (priority, weight, pause_ms) in steps {
                now_ms += pause_ms;
                match ledger.try_spend(ALL[priority], weight, now_ms) {
                    Ok(()) => spent.push((now_ms, weight)),
                    Err(Denied::Wait { ms }) => {
                        let mut later = ledger.clone();
                        prop_assert_eq!(later.try_spend(ALL[priority], weight, now_ms + ms), Ok(()));
                    }
                    Err(Denied::TooHeavy { most, .. }) => prop_assert!(weight > most),
                }
                let minute: u32 = spent.iter().filter(|(at, _)| at + 60_000 > now_ms).map(|(_, w)| w).sum();
                prop_assert!(minute <= budget, "{} of {}", minute, budget);
            }
        }
    }
}
