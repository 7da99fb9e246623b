//! One game: steps of a client, the market and the clock, then an ending, then the time that what is promised may take.

use super::super::fixture::NOW;
use super::super::simulation::books::COINS;
use super::nature::{Ending, Trouble};
use super::world::World;
use crate::guard::Input;

/// Moves go on for so long after the ending, at most.
const TAIL_MS: u64 = 90_000;
/// What has happened is read after for three seconds.
const CALM_MS: u64 = 5_000;

impl World {
    pub(super) fn game(&mut self) {
        // Everything is read once before the client begins.
        self.run_until(NOW + 600);
        for step in 0..self.nature.steps {
            if let (Trouble::Allowance(left), 4) = (self.nature.trouble, step) {
                self.requests_left = Some(left);
                self.give(Input::RequestsLeft(left));
            }
            self.turn();
        }
        self.end();
        // The client goes on while something must change: nothing that it does may keep that from happening.
        let until = self.now + TAIL_MS;
        while self.broken.is_none() && self.now < until && self.checks.is_waiting(&self.venue.books) {
            self.turn();
        }
        self.tally.games += 1;
        self.tally.feed(self.push.as_ref());
        (self.tally.fills, self.tally.stops_fired) =
            (usize::try_from(self.venue.fills.0).unwrap_or(0), usize::try_from(self.venue.fills.1).unwrap_or(0));
    }

    fn turn(&mut self) {
        if self.broken.is_some() {
            return;
        }
        self.tally.steps += 1;
        let one = self.dice.pick(&self.nature.fond_of);
        self.play(one);
        if self.nature.has_restarts && self.dice.one_in(12) {
            self.restart();
        }
        // Only where nothing happens for a while is anything left to the feed.
        let calm_ms = if self.push.is_some() && self.dice.one_in(8) { CALM_MS } else { 0 };
        let pause = calm_ms + self.dice.roll(self.nature.pace_ms);
        self.run_until(self.now + pause);
    }

    fn end(&mut self) {
        match self.nature.ending {
            Ending::Quiet => {}
            Ending::Kill => {
                self.note(|| "the kill switch is pulled".into());
                self.tally.kills += 1;
                self.kill_file = Some("test".into());
                self.checks.killed(self.now);
                self.give(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
            }
            Ending::Crash => {
                for coin in COINS {
                    for _ in 0..4 {
                        self.gap_against(coin);
                        self.run_until(self.now + 300);
                    }
                }
            }
        }
    }
}
