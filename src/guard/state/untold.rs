//! Requests that were refused without an event of their own, to be told of by one `decision` event together; and how many each
//! client was refused, whose events keep less of their requests once they are many.

use std::collections::BTreeMap;

use crate::base::address::Address;

/// What was not told yet.
#[derive(Debug, Default)]
pub(crate) struct Untold {
    count: u64,
    /// The code of the last one.
    code: &'static str,
    /// When some were last told of.
    told_ms: u64,
    /// The refusals of each client in its last minute with some. As many as the config names.
    refused: BTreeMap<Address, (u64, u32)>,
}

/// At most one event in so long.
const EVERY_MS: u64 = 1_000;

/// A client's refusals in a minute whose events keep as much as one may.
const WHOLE: u32 = 100;

const MINUTE_MS: u64 = 60_000;

impl Untold {
    /// Counts a refusal of a client: whether it is one of many in the same minute.
    pub(crate) fn is_one_of_many(&mut self, client: Address, now_ms: u64) -> bool {
        let (minute, refused) = (now_ms / MINUTE_MS, self.refused.entry(client).or_default());
        *refused = if refused.0 == minute { (minute, refused.1.saturating_add(1)) } else { (minute, 1) };
        refused.1 > WHOLE
    }

    /// Takes note of refusals.
    pub(crate) fn add(&mut self, count: u64, code: &'static str) {
        self.count = self.count.saturating_add(count);
        self.code = code;
    }

    /// How many are to be told of now, and the last one's code.
    pub(crate) fn take(&mut self, now_ms: u64) -> Option<(u64, &'static str)> {
        if self.count == 0 || now_ms.saturating_sub(self.told_ms) < EVERY_MS {
            return None;
        }
        self.told_ms = now_ms;
        Some((std::mem::take(&mut self.count), self.code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_more_than_a_hundred_of_one_client_in_a_minute() {
        let (one, other) = (Address([1; 20]), Address([2; 20]));
        let mut untold = Untold::default();
        let many = (0..101).map(|_| untold.is_one_of_many(one, 59_999)).filter(|many| *many).count();
        assert_eq!(many, 1);
        assert!(!untold.is_one_of_many(other, 59_999) && untold.is_one_of_many(one, 0));
        assert!(!untold.is_one_of_many(one, 60_000));
    }
}
