//! The venue's live feed beside the reads, which is how the program is used: honest, late, or one that loses frames. Nothing is
//! made up here: the client is hostile, the venue is not.

use super::super::simulation::dice::Dice;
use super::super::simulation::push::{Beside, Manner, Push, Sight};
use super::FOUND;
use super::nature::Traffic;
use super::world::{Happening, World};
use crate::guard::Input;
use crate::guard::feed_news::{FeedCommand, FeedNews};
use crate::venue::history::Page;
use crate::venue::info::AccountMode;
use crate::venue::stream::data::Data;

/// What happened is put on the wire, and what is on it arrives, so often.
const TURN_MS: u64 = 50;
/// The first socket opens within.
const OPENS_MS: u64 = 100;

/// The feed of a game, where there is one: in one of three. It is drawn by dice of its own, so that a game without one is played as
/// if there were no feeds.
pub(super) fn push(seed: u64) -> Option<Push> {
    let mut dice = Dice::new(seed.wrapping_mul(13).wrapping_add(11));
    if FOUND.contains(&seed) || !dice.one_in(3) {
        return None;
    }
    let honest = Manner { late_ms: TURN_MS, lost: 0, doubled: 0, cut: 0, made_up: 0 };
    let manner = match dice.roll(4) {
        0 | 1 => honest,
        2 => Manner { late_ms: dice.pick(&[300, 1_000]), doubled: 5, cut: dice.pick(&[0, 400]), ..honest },
        _ => Manner { lost: dice.pick(&[3, 10, 50]), doubled: dice.pick(&[0, 5]), cut: dice.pick(&[0, 200]), ..honest },
    };
    Some(Push::new(dice, manner, OPENS_MS))
}

impl World {
    /// What is read so often without a feed is read so often beside it.
    pub(super) fn paced(&self, what: &str, every_ms: u64) -> u64 {
        let beside = if what == "orders" { Beside::Orders } else { Beside::Values };
        self.push.as_ref().map_or(every_ms, |push| push.paced(beside, every_ms))
    }

    /// The feed's next turn comes.
    pub(super) fn await_news(&mut self) {
        if self.push.is_some() {
            self.happens(TURN_MS - self.now % TURN_MS, Happening::Feed);
        }
    }

    /// What happened is told, and what arrives now is taken in.
    pub(super) fn push_news(&mut self) {
        let now = self.now;
        let opened = self.push.as_mut().and_then(|push| push.opens(now));
        opened.into_iter().for_each(|news| self.hear(Input::Feed(news)));
        let Some(push) = &mut self.push else { return };
        let (books, trades, ledger) = (&self.venue.books, &self.venue.trades, &self.venue.ledger);
        let news = push.turn(&Sight { now, books, trades, ledger, mode: AccountMode::Standard });
        for news in news {
            self.note(|| format!("told: {news:?}"));
            self.hear(Input::Feed(news));
        }
        self.await_news();
    }

    /// Does what the guard has for the feed.
    pub(super) fn told_feed(&mut self, command: &FeedCommand) {
        let now = self.now;
        let Some(push) = &mut self.push else { return };
        let news = push.obey(now, command);
        self.note(|| format!("for the feed: {command:?}"));
        news.into_iter().for_each(|news| self.happens(0, Happening::Input(Box::new(Input::Feed(news)))));
        if matches!(command, FeedCommand::Pace(_)) {
            for (what, every_ms) in [("mids", 1_000), ("account", 1_000), ("orders", 5_000)] {
                let begun_ms = self.begun.get(what).copied().unwrap_or(now);
                let next_ms = (begun_ms + self.paced(what, every_ms)).max(now);
                self.due.entry(what).and_modify(|due| *due = next_ms.min(*due));
            }
        }
    }

    /// The fills since then are read.
    pub(super) fn read_fills(&mut self, since_ms: u64) {
        let slow_ms = self.late(Traffic::Ledger);
        let Some(push) = &mut self.push else { return };
        let (fills, late) = push.fills_since(since_ms);
        let input = Input::Fills { page: Page::from(fills), begun_ms: self.now };
        self.happens(late + slow_ms, Happening::Input(Box::new(input)));
    }

    /// What the guard is told by this, where a promise needs that it knows.
    pub(super) fn note_told(&mut self, news: &FeedNews) {
        match news {
            FeedNews::Prices { mids, begun_ms, .. } if *begun_ms >= self.told.mids_ms => self.mids.extend(mids.clone()),
            FeedNews::Told(data) => match &**data {
                Data::Account(_, state) => self.told.as_of_ms = self.told.as_of_ms.max(state.time),
                Data::Mids(mids) if self.told.as_of_ms >= self.told.mids_ms => {
                    self.told.mids_ms = self.told.as_of_ms;
                    self.mids.clone_from(mids);
                }
                Data::OpenOrders(..) => self.told.orders_told_ms = self.now,
                _ => {}
            },
            _ => {}
        }
    }
}
