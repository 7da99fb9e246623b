//! The line of a position: the tightest cover that the guard has read of it. It never moves away while the position lasts.

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::Books;
use super::truth::Cover;
use crate::venue::action::Target;

/// A trigger is rounded to the market's ticks: so much of its price it may be off, percent.
const ROUNDED_PCT: Decimal = dec!(0.06);

/// What a read of the open orders shows of one market.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    pub(super) coin: &'static str,
    pub(super) cover: Cover,
}

/// The line of one market's position.
#[derive(Debug, Clone, Default)]
pub(super) struct Line {
    cover: Cover,
}

impl Line {
    /// Follows the position: a new side has a new line; what is added has none yet, and what goes takes the tightest part of
    /// the line with it.
    /// What is added by an entry that was judged with a stop has that for its line.
    pub(super) fn follow(&mut self, is_long: bool, size: Decimal, judged_px: Option<Decimal>) {
        let before = self.cover.size();
        if before.is_zero() || self.cover.is_long != is_long || size.is_zero() {
            self.cover = Cover { is_long, parts: Vec::new() }.with_more_at(judged_px, size);
        } else if size > before {
            self.cover = std::mem::take(&mut self.cover).with_more_at(judged_px, size - before);
        } else if size < before {
            self.cover = self.cover.without_nearest(before - size);
        }
    }

    /// The guard has read this cover, and it still stands.
    /// What is about to go was never the line: what goes in front of a cancel stands beside what it is for until that goes.
    pub(super) fn learn(&mut self, shown: &Shown, books: &Books, leaving: &[Target]) {
        let now = Cover::of(books, shown.coin);
        self.follow(now.is_long, now.size(), None);
        if now == shown.cover && !now.size().is_zero() {
            self.cover = self.cover.tighter(&Cover::by_line(books, shown.coin, leaving, &self.cover));
        }
    }

    /// How the position is covered, by the stops that its line knows too.
    pub(super) fn cover(&self, books: &Books, coin: &str) -> Cover {
        Cover::by_line(books, coin, &[], &self.cover)
    }

    /// What is looser than the line, and how much of it.
    pub(super) fn look(&mut self, now: &Cover) -> Option<(Decimal, String)> {
        self.follow(now.is_long, now.size(), None);
        let units = self.cover.unit_by_unit(now).into_iter();
        let looser: Vec<_> = units.filter(|(line, stands, _)| self.is_looser(*stands, *line)).collect();
        let (line, stands, size) = looser.first()?;
        let text = format!("{size} that were covered at {line:?} are covered at {stands:?}");
        Some((looser.iter().map(|(_, _, size)| *size).sum(), text))
    }

    fn is_looser(&self, stands: Option<Decimal>, line: Option<Decimal>) -> bool {
        let off = line.unwrap_or_default() * ROUNDED_PCT / dec!(100);
        let line = line.map(|px| if self.cover.is_long { px - off } else { px + off });
        self.cover.is_nearer(line, stands)
    }
}
