//! Which mode the account was in when: a row of the ledger moved the purse that the equity was in then, whatever it is in now.

use crate::venue::info::AccountMode;

/// Modes that are kept in mind: of before the first one's time nothing is known.
const MOST: usize = 8;

/// A time in which the account was seen in one mode alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    mode: AccountMode,
    first_ms: u64,
    last_ms: u64,
}

/// An answer of before the venue's time was known, by the machine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Undated {
    pub(crate) mode: AccountMode,
    pub(crate) begun_ms: u64,
    pub(crate) at_ms: u64,
}

/// The mode as records have it: of the others nothing is measured.
pub(crate) fn mode_of(is_unified: bool) -> AccountMode {
    if is_unified { AccountMode::Unified } else { AccountMode::Standard }
}

/// The modes that the account was seen in, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Modes {
    spans: Vec<Span>,
    pub(crate) undated: Option<Undated>,
}

impl Modes {
    /// The account was in this mode at some moment between these of the venue's.
    pub(crate) fn see(&mut self, mode: AccountMode, from_ms: u64, to_ms: u64) {
        match self.spans.last_mut().filter(|last| last.mode == mode) {
            Some(last) => last.last_ms = last.last_ms.max(from_ms),
            None => self.spans.push(Span { mode, first_ms: to_ms, last_ms: to_ms }),
        }
        let over = self.spans.len().saturating_sub(MOST);
        self.spans.drain(..over);
    }

    /// An earlier life has seen it in this mode at some moment between these; others of its time may have been taken in before.
    pub(crate) fn restore(&mut self, is_unified: bool, (from_ms, to_ms): (u64, u64)) {
        let mode = mode_of(is_unified);
        match self.spans.iter_mut().rposition(|span| span.first_ms <= to_ms) {
            Some(place) if place.saturating_add(1) < self.spans.len() => {
                let span = self.spans.get_mut(place).filter(|span| span.mode == mode);
                span.into_iter().for_each(|span| span.last_ms = span.last_ms.max(from_ms));
            }
            None if self.spans.first().is_some_and(|first| first.mode == mode) => {
                self.spans.first_mut().into_iter().for_each(|first| first.first_ms = to_ms);
            }
            None => self.spans.insert(0, Span { mode, first_ms: to_ms, last_ms: to_ms }),
            Some(_) => self.see(mode, from_ms, to_ms),
        }
    }

    /// The modes that it may have been in at a moment; none where it was not seen in one by then.
    pub(crate) fn at(&self, time_ms: u64) -> impl Iterator<Item = AccountMode> {
        let mut first = self.spans.iter().rposition(|span| span.last_ms <= time_ms).unwrap_or(0);
        // It was seen in that one on both sides.
        let next = self.spans.get(first.saturating_add(1));
        if next.is_some_and(|next| next.first_ms <= time_ms) {
            first = first.saturating_add(1);
        }
        let is_over = self.spans.get(first).is_some_and(|span| span.last_ms < time_ms);
        let is_last = first.saturating_add(1) >= self.spans.len();
        let is_before = self.spans.first().is_none_or(|span| time_ms < span.first_ms);
        let count = match (is_before, is_over) {
            (true, _) => 0,
            (false, false) => 1,
            (false, true) => 2,
        };
        let known = self.spans.get(first).map(|span| span.mode);
        let later = self.undated.map(|undated| undated.mode).filter(|mode| is_over && is_last && Some(*mode) != known);
        self.spans.iter().skip(first).take(count).map(|span| span.mode).chain(later)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use AccountMode::{Standard, Unified};

    #[test]
    fn an_answer_whose_time_is_not_known_is_of_later() {
        let mut modes = Modes::default();
        modes.see(Standard, 8, 8);
        for (mode, expected) in [(Standard, vec![Standard]), (Unified, vec![Standard, Unified])] {
            modes.undated = Some(Undated { mode, begun_ms: 1, at_ms: 2 });
            assert_eq!(modes.at(8).collect::<Vec<_>>(), [Standard]);
            assert_eq!((modes.at(7).next(), modes.at(9).collect::<Vec<_>>()), (None, expected));
        }
    }

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
        assert_eq!((at(0), at(9)), (vec![], vec![]), "what was before is not known");
        for time_ms in [10, 15, 20] {
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
        // An earlier life's sums are taken in after what it wrote down of the mode.
        for (is_unified, at_ms) in [(true, 43), (false, 44), (false, 60), (true, 61)] {
            modes.restore(is_unified, (at_ms, at_ms));
        }
        let at = |time_ms: u64| modes.at(time_ms).collect::<Vec<_>>();
        assert_eq!([at(43), at(44), at(60)], [vec![Unified], vec![Unified, Standard], vec![Standard]]);
        assert_eq!((at(0), at(61)), (vec![], vec![Unified]));
        for (is_unified, at_ms) in [(false, 5), (true, 3)] {
            modes.restore(is_unified, (at_ms, at_ms));
        }
        let at = |time_ms: u64| modes.at(time_ms).collect::<Vec<_>>();
        assert_eq!(
            [at(2), at(3), at(4), at(5), at(9)],
            [vec![], vec![Unified], vec![Unified, Standard], vec![Standard], vec![Standard]]
        );
        (0..20).for_each(|n| modes.see(if n % 2 == 0 { Unified } else { Standard }, 100 + n, 100 + n));
        assert_eq!(modes.spans.len(), MOST);
    }
}
