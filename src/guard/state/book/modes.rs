//! Which mode the account was in when: a row of the ledger moved the purse that the equity was in then.

use crate::venue::info::AccountMode;

/// Modes that are kept in mind: older rows than of the first one's time are not told any more.
const MOST: usize = 8;

/// A time in which the account was seen in one mode alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    mode: AccountMode,
    first_ms: u64,
    last_ms: u64,
}

/// The modes that the account was seen in, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Modes(Vec<Span>);

impl Modes {
    /// The account was in this mode at some moment between these of the venue's.
    pub(crate) fn see(&mut self, mode: AccountMode, from_ms: u64, to_ms: u64) {
        match self.0.last_mut().filter(|last| last.mode == mode) {
            Some(last) => last.last_ms = last.last_ms.max(from_ms),
            None => self.0.push(Span { mode, first_ms: to_ms, last_ms: to_ms }),
        }
        let over = self.0.len().saturating_sub(MOST);
        self.0.drain(..over);
    }

    /// The modes that it may have been in at a moment; none where it was never seen in one.
    pub(crate) fn at(&self, time_ms: u64) -> impl Iterator<Item = AccountMode> {
        let mut first = self.0.iter().rposition(|span| span.last_ms <= time_ms).unwrap_or(0);
        // It was seen in that one on both sides.
        let next = self.0.get(first.saturating_add(1));
        if next.is_some_and(|next| next.first_ms <= time_ms) {
            first = first.saturating_add(1);
        }
        let is_over = self.0.get(first).is_some_and(|span| span.last_ms < time_ms);
        let count = if is_over { 2 } else { 1 };
        self.0.iter().skip(first).take(count).map(|span| span.mode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccountMode::{Standard, Unified};

    #[test]
    fn between_two_modes_it_may_have_been_either() {
        let mut modes = Modes::default();
        assert_eq!(modes.at(5).next(), None);
        modes.see(Standard, 8, 10);
        modes.see(Standard, 20, 22);
        modes.see(Standard, 18, 19);
        modes.see(Unified, 28, 30);
        modes.see(Unified, 38, 40);
        let at = |time_ms: u64| modes.at(time_ms).collect::<Vec<_>>();
        for time_ms in [0, 9, 10, 15, 20] {
            assert_eq!(at(time_ms), [Standard], "{time_ms}");
        }
        for time_ms in [21, 29] {
            assert_eq!(at(time_ms), [Standard, Unified], "{time_ms}");
        }
        for time_ms in [30, 35, 38, 90] {
            assert_eq!(at(time_ms), [Unified], "{time_ms}");
        }
        modes.see(Standard, 48, 50);
        assert_eq!(modes.at(45).collect::<Vec<_>>(), [Unified, Standard]);
        (0..20).for_each(|n| modes.see(if n % 2 == 0 { Unified } else { Standard }, 100 + n, 100 + n));
        assert_eq!(modes.0.len(), MOST);
    }
}
