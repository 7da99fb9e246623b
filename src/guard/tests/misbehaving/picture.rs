//! How things were some time ago, for answers that are stale.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::simulation::books::Books;
use super::super::simulation::venue::status_in;
use super::trouble::On;
use super::world::World;
use crate::base::address::Cloid;

/// As many are kept, one a step.
const KEPT: usize = 40;

/// How things were at one step's end.
pub(super) struct Picture {
    pub(super) books: Books,
    pub(super) twaps: Vec<u64>,
    taken: BTreeSet<Cloid>,
}

impl World {
    fn picture_now(&self) -> Picture {
        let (books, taken) = (self.venue.books.clone(), self.venue.taken.clone());
        let twaps = self.twaps.iter().map(|twap| twap.id).collect();
        Picture { books, twaps, taken }
    }

    pub(super) fn take_picture(&mut self) {
        self.pictures.truncate(KEPT.saturating_sub(1));
        self.pictures.push_front(self.picture_now());
    }

    /// How things were as long ago as is kept.
    pub(super) fn shown_stale(&self) -> Picture {
        match self.pictures.back() {
            Some(Picture { books, twaps, taken }) => {
                Picture { books: books.clone(), twaps: twaps.clone(), taken: taken.clone() }
            }
            None => self.picture_now(),
        }
    }

    /// How things are, or were where this read is stale.
    pub(super) fn shown(&mut self, on: On, is_stale: bool) -> Picture {
        let now = self.picture_now();
        if !is_stale {
            return now;
        }
        let then = self.shown_stale();
        if on == On::Twaps && then.twaps != now.twaps {
            self.checks.tally.count(&was_another(on));
        }
        then
    }

    /// The status of an order, as it was where that is stale.
    pub(super) fn status_shown(&mut self, cloid: Cloid, is_stale: bool) -> Value {
        let now = self.venue.order_status(cloid);
        if !is_stale {
            return now;
        }
        let then = self.shown_stale();
        let then = status_in(&then.books, &then.taken, cloid);
        if then != now {
            self.checks.tally.count(&was_another(On::Status));
        }
        then
    }
}

/// What is counted where a stale answer was not the truth any more.
pub(super) fn was_another(on: On) -> String {
    format!("{on:?} was another")
}
