//! A tally of many games: worlds that are too quiet prove nothing.

use super::super::simulation::push::Push;
use crate::guard::Effects;

#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Tally {
    pub(super) games: usize,
    pub(super) steps: usize,
    pub(super) requests: usize,
    pub(super) sends: usize,
    pub(super) fills: usize,
    pub(super) stops_fired: usize,
    pub(super) refusals: usize,
    pub(super) exits: usize,
    pub(super) restarts: usize,
    pub(super) moves_away: usize,
    pub(super) kills: usize,
    pub(super) halts: usize,
    pub(super) protects: usize,
    pub(super) vetoes: usize,
    pub(super) resizes: usize,
    /// Games beside a feed, frames that it told, and times at which it left the reads to an audit.
    pub(super) listening: usize,
    pub(super) frames: usize,
    pub(super) audits: usize,
    pub(super) distrusted: usize,
}

impl Tally {
    pub(super) fn effects(&mut self, effects: &Effects) {
        for record in &effects.records {
            match record.kind {
                "protect" => self.protects += 1,
                "flatten" => self.halts += 1,
                _ => {}
            }
            match record.decided.map(|decided| decided.verdict.name()) {
                Some("veto") => self.vetoes += 1,
                Some("resize") => self.resizes += 1,
                _ => {}
            }
        }
    }

    pub(super) fn feed(&mut self, push: Option<&Push>) {
        let Some(push) = push else { return };
        self.listening += 1;
        self.frames += push.frames;
        self.audits += push.audited;
        self.distrusted += push.distrusted;
    }

    /// Enough of everything happened to prove something.
    pub(super) fn is_lively(&self) {
        let least = [
            ("requests", self.requests, 5),
            ("fills", self.fills, 1),
            ("refusals", self.refusals, 1),
            ("vetoes", self.vetoes, 1),
            ("resizes", self.resizes, 1),
        ];
        for (what, count, a_game) in least {
            assert!(count >= a_game * self.games, "only {count} {what} in {} games", self.games);
        }
        let rare = [
            ("stops fired", self.stops_fired, 5),
            ("exits", self.exits, 10),
            ("restarts", self.restarts, 30),
            ("moves away", self.moves_away, 30),
            ("kills", self.kills, 8),
            ("flattens", self.halts, 8),
            ("protects", self.protects, 20),
            ("games beside a feed", self.listening, 4),
            ("frames", self.frames, 1),
            ("audits", self.audits, 20),
        ];
        for (what, count, games_each) in rare {
            assert!(count * games_each >= self.games, "only {count} {what} in {} games", self.games);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let sums = [
            (&mut self.games, other.games),
            (&mut self.steps, other.steps),
            (&mut self.requests, other.requests),
            (&mut self.sends, other.sends),
            (&mut self.fills, other.fills),
            (&mut self.stops_fired, other.stops_fired),
            (&mut self.refusals, other.refusals),
            (&mut self.exits, other.exits),
            (&mut self.restarts, other.restarts),
            (&mut self.moves_away, other.moves_away),
            (&mut self.kills, other.kills),
            (&mut self.halts, other.halts),
            (&mut self.protects, other.protects),
            (&mut self.vetoes, other.vetoes),
            (&mut self.resizes, other.resizes),
            (&mut self.listening, other.listening),
            (&mut self.frames, other.frames),
            (&mut self.audits, other.audits),
            (&mut self.distrusted, other.distrusted),
        ];
        sums.into_iter().for_each(|(sum, more)| *sum += more);
    }
}
