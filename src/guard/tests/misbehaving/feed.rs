//! The venue's live feed beside the reads, whose frames are late, out of turn, doubled, lost or made up. Everything is promised as
//! without it, and no later.

use super::super::simulation::dice::Dice;
use super::super::simulation::push::{Beside, Manner, Push, STATES_MS, Sight};
use super::checks::Tally;
use super::reads::every_ms;
use super::trouble::On;
use super::world::World;
use crate::guard::feed_news::FeedCommand;
use crate::guard::{Input, Read};
use crate::venue::history::Page;

/// The first socket opens within.
const OPENS_MS: u64 = 3_000;

/// The feed of one game.
pub(super) fn push(seed: u64) -> Push {
    let mut dice = Dice::new(seed.wrapping_mul(11).wrapping_add(5));
    let mut one = |of: &[u64]| dice.pick(of);
    let manner = Manner {
        late_ms: one(&[20, 100, 300, 1_000]),
        lost: one(&[0, 0, 3, 10, 50]),
        doubled: one(&[0, 5]),
        cut: one(&[0, 0, 100, 400]),
        made_up: one(&[0, 0, 60]),
    };
    Push::new(dice, manner, OPENS_MS)
}

/// By how much later than without it everything may be known.
pub(super) fn slack_ms(push: &Push) -> u64 {
    push.manner.slack_ms() + STATES_MS
}

pub(super) fn count(push: &Push, tally: &mut Tally) {
    let sockets = usize::try_from(push.socket).unwrap();
    let counts =
        [("frames", push.frames), ("sockets", sockets), ("distrusted", push.distrusted), ("audited", push.audited)];
    counts.into_iter().for_each(|(what, count)| tally.count_all(what, count));
}

/// How often this is read beside it.
pub(super) fn paced(push: Option<&Push>, on: On) -> u64 {
    let every_ms = every_ms(on);
    let what = match on {
        On::Prices | On::Account => Beside::Values,
        On::Orders => Beside::Orders,
        On::Markets => Beside::Markets,
        On::Mode | On::Ledger => Beside::Rest,
        _ => return every_ms,
    };
    push.map_or(every_ms, |push| push.paced(what, every_ms))
}

impl World {
    /// What happened in this step is told, and what arrives now is taken in.
    pub(super) fn push_news(&mut self) {
        let now = self.now;
        let opened = self.push.as_mut().and_then(|push| push.opens(now));
        opened.into_iter().for_each(|news| self.give(Input::Feed(news)));
        let Some(mut push) = self.push.take() else { return };
        let (books, trades, ledger) = (&self.venue.books, &self.venue.trades, &self.venue.ledger);
        let news = push.turn(&Sight { now, books, trades, ledger, mode: self.mode });
        self.push = Some(push);
        for news in news {
            self.checks.note(now, || format!("told: {news:?}"));
            self.give(Input::Feed(news));
        }
    }

    /// Does what the core has for the feed.
    pub(super) fn told_feed(&mut self, command: &FeedCommand) {
        let now = self.now;
        let Some(push) = &mut self.push else { return };
        let news = push.obey(now, command);
        self.mail.extend(news.into_iter().map(|news| (now, Input::Feed(news))));
        match command {
            FeedCommand::Distrust(reason) => self.checks.note(now, || format!("distrusted: {reason}")),
            FeedCommand::Pace(_) => {
                for (on, (due_ms, _)) in &mut self.due {
                    let begun_ms = self.begun.get(on).copied().unwrap_or(now);
                    let every_ms = paced(self.push.as_ref(), *on);
                    *due_ms = (*due_ms).min(begun_ms.saturating_add(every_ms).max(now));
                }
            }
            _ => {}
        }
    }

    /// The fills are read.
    pub(super) fn read_fills(&mut self, read: &Read) {
        let (Read::Fills { since_ms }, Some(push)) = (read, &mut self.push) else { return };
        let (fills, late) = push.fills_since(*since_ms);
        self.mail.push((self.now + late, Input::Fills { page: Page::from(fills), begun_ms: self.now }));
    }
}
