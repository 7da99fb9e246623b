//! The weight that the address has left of a minute, and which reads wait for more of it: the last of it shows what there is to
//! halt for, and the last but that is for what makes sure of a halt.

use super::due::Due;
use super::{RETRY_MS, Schedule};
use crate::base::ip_share::IP_BUDGET;
use crate::service::venue_io::read_task::{HEAVY_WEIGHT, Task};

/// What heavy reads leave of the address, and prices and account at their own pace.
pub(super) const LAST_PART: u32 = IP_BUDGET / 8;
/// In that part prices and account are so far apart each.
pub(super) const LAST_APART_MS: u64 = 4_000;
/// Prices, account and spot balance so far apart for a minute: what is left of that part by what a halt waits for, which is mode and
/// ledger once, and prices and account meanwhile.
pub(super) const SIGHT_LEAST: u32 = 16 * (2 + 2 + 2);
/// A start has seen account and orders for so long before it reads for the record alone: what that took is written down then,
/// and its clients, who ask most as they start, went first.
pub(super) const BOOK_AFTER_MS: u64 = 15_000;
/// So long after it was seen such a read leaves half of the address to the clients, and to what starts after it.
pub(super) const START_MS: u64 = 60_000;
const _: () = assert!(61_000_u64.div_ceil(LAST_APART_MS) == 16 && SIGHT_LEAST + 2 * HEAVY_WEIGHT + 12 <= LAST_PART);

impl Schedule {
    /// Until when the record waits for what a start needs: starts that follow one another within a minute have one minute's
    /// weight, of which a life that has just begun has not written down yet what it spends.
    fn book_from(&self, steady_ms: u64) -> Option<u64> {
        let age_ms = steady_ms.saturating_sub(self.seen_steady_ms?);
        let until_steady_ms = match age_ms {
            ..BOOK_AFTER_MS => steady_ms.saturating_add(BOOK_AFTER_MS - age_ms),
            ..START_MS if self.left < IP_BUDGET / 2 => steady_ms.saturating_add(RETRY_MS),
            _ => return None,
        };
        Some(until_steady_ms)
    }

    /// Until when a read is put off by what the address has left. What a life has not read yet goes as its room lets it, but for the
    /// ledger, of which a start learns nothing that it could not later: a halt asks for it by itself.
    pub(super) fn held_back_until(&self, due: &Due, steady_ms: u64) -> Option<u64> {
        if due.task.is_for_the_book()
            && !due.is_urgent
            && let Some(until_steady_ms) = self.book_from(steady_ms)
        {
            return Some(until_steady_ms);
        }
        let until_steady_ms = match due.task {
            Task::Account if due.is_for_feed => return None,
            Task::Mids | Task::Account if self.left < LAST_PART.saturating_add(HEAVY_WEIGHT) => {
                due.begun_steady_ms.saturating_add(LAST_APART_MS)
            }
            Task::Mids | Task::Account => return None,
            _ => {
                let others = if due.is_for_halt {
                    SIGHT_LEAST
                } else {
                    LAST_PART.saturating_add(self.kept_for_feed(due, steady_ms))
                };
                let has_room = self.left >= others.saturating_add(HEAVY_WEIGHT);
                if has_room { steady_ms } else { steady_ms.saturating_add(RETRY_MS) }
            }
        };
        let is_needed = !due.is_known && due.task != Task::Ledger;
        (!is_needed && until_steady_ms > steady_ms).then_some(until_steady_ms)
    }
}
