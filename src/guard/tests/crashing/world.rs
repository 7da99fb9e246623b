//! The world of one run: its clock, and everything that happens or goes wrong in it.

mod network;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::disk::Disk;
use super::post::{Dice, Mail, Post};
use super::truth;
use super::venue::Venue;
use crate::guard::tests::fixture::*;
use crate::guard::{Command, Config, Effects, Input, Mode, Read, SendOutcome};
use crate::rules::Rules;
use crate::venue::info::{AccountMode, Leverage, MarginMode};

const STEP_MS: u64 = 25;
/// How long faults go on.
const CHAOS_MS: u64 = 4_000;
/// What everything may take to settle once the venue answers: an action's expiry with its margin, and an action without one
/// that is given up.
const QUIET_MS: u64 = 200_000;

/// A defect planted to see that it is noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Plant {
    /// Sends do not wait for the disk.
    Early,
    /// What got no answer is sent again.
    Again,
    /// A restart forgets the nonces that were used.
    Nonces,
    /// A settlement is written down the wrong way.
    Lie,
    /// An answer is not written down.
    Lost,
    /// What got no answer is no longer reserved.
    Free,
    /// The guard's own stops are never sent.
    Bare,
}

/// The guard between its venue and its disk.
pub(super) struct World {
    desk: Desk,
    config: Config,
    venue: Venue,
    disk: Disk,
    dice: Dice,
    posts: Vec<Post>,
    mail: Vec<(u64, Mail)>,
    /// When the guard lives again; none while it lives.
    dead_until: Option<u64>,
    is_quiet: bool,
    is_killed: bool,
    left: BTreeSet<(u64, bool)>,
    next_poll_ms: u64,
    plant: Option<Plant>,
    deaths: u64,
    wrong: Option<String>,
}

impl World {
    pub(super) fn new(seed: u64, plant: Option<Plant>) -> Self {
        let rules = Rules { duplicate_window: 0.into(), ..wide() };
        let config = config(Mode::Testnet, rules);
        let mut world = Self {
            desk: Desk::blank(config.clone()),
            config,
            venue: Venue::new(),
            disk: Disk::default(),
            dice: Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            posts: Vec::new(),
            mail: Vec::new(),
            dead_until: None,
            is_quiet: false,
            is_killed: false,
            left: BTreeSet::new(),
            next_poll_ms: 0,
            plant,
            deaths: 0,
            wrong: None,
        };
        world.live();
        world
    }

    fn now(&self) -> u64 {
        self.desk.now
    }

    fn is_wrong(&mut self, what: String) {
        self.wrong.get_or_insert(what);
    }

    /// A life begins.
    fn live(&mut self) {
        let earlier = usize::try_from(self.dice.roll(60)).unwrap();
        self.desk.guard = self.disk.guard(self.config.clone(), earlier);
        if self.plant == Some(Plant::Nonces) {
            self.desk.guard.own_nonces = Default::default();
        }
        self.dead_until = None;
        let now = self.now();
        if self.dice.one_in(3) {
            // A clock that was set back to the beginning: nonces go on all the same.
            self.desk.guard.clock.advance(now);
            self.desk.guard.clock.read(NOW, now);
        }
        let effects = self.desk.guard.start(now);
        self.carry(effects);
        for input in [
            Input::Universe(universe()),
            Input::Marks { marks: self.desk.mids.clone(), begun_ms: now },
            Input::AccountMode { mode: AccountMode::Standard, begun_ms: now },
            Input::ActsFor(None),
            Input::RequestsLeft(PLENTY),
        ] {
            let at = now + self.dice.roll(300);
            self.mail.push((at, Mail::Input(Box::new(input))));
        }
        self.next_poll_ms = now;
        if self.is_killed {
            self.kill();
        }
    }

    /// The process dies. What was being written may be whole; what has left goes on.
    fn die(&mut self) {
        for _ in 0..self.dice.roll(3) {
            drop(self.disk.write());
        }
        self.disk.waiting.clear();
        self.mail.clear();
        let now = self.now();
        self.posts.retain(|post| post.leaves_ms <= now);
        self.posts.iter_mut().for_each(|post| post.heard_ms = u64::MAX);
        self.dead_until = Some(now + 50 + self.dice.roll(2_000));
        self.deaths += 1;
    }

    fn give(&mut self, input: Input) {
        if let (Some(Plant::Lost), Input::Sent { outcome: SendOutcome::Answered(_), .. }) = (self.plant, &input)
            && self.dice.one_in(3)
        {
            return;
        }
        let free = match &input {
            Input::Sent { intent, index, outcome: SendOutcome::NoAnswer(_) } => Some((*intent, *index)),
            _ => None,
        };
        let effects = self.desk.step(input);
        if let (Some(Plant::Free), Some(key)) = (self.plant, free) {
            self.desk.guard.sent.did_not_happen(key);
        }
        self.carry(effects);
    }

    fn carry(&mut self, mut effects: Effects) {
        if self.plant == Some(Plant::Lie) {
            for record in &mut effects.records {
                record.text = record.text.replace("\"outcome\":\"did_not_happen\"", "\"outcome\":\"happened\"");
            }
        }
        let at_once = std::mem::take(&mut effects.immediate);
        at_once.into_iter().for_each(|deed| self.carry_out(deed));
        if self.plant == Some(Plant::Early) {
            let early = std::mem::take(&mut effects.after_commit);
            early.into_iter().for_each(|deed| self.carry_out(deed));
        }
        let checkpoint = self.dice.one_in(12).then(|| {
            let text = self.desk.guard.checkpoint(self.desk.now);
            serde_json::from_str(&text).unwrap()
        });
        self.disk.queue(effects, checkpoint);
    }

    fn carry_out(&mut self, deed: Command) {
        let arrives = self.now() + 5 + self.dice.roll(if self.is_quiet { 60 } else { 300 });
        match deed {
            Command::Send(send) => self.post(send),
            Command::Read(Read::OrderStatus { intent, index, cloid }) => {
                self.mail.push((arrives, Mail::Status { intent, index, cloid }));
            }
            Command::Read(Read::Leverage { asset, .. }) => {
                let value = self.venue.leverage.get(&asset).copied().unwrap_or(5);
                let leverage = Some(Leverage { mode: MarginMode::Cross, value });
                self.mail.push((arrives, Mail::Input(Box::new(Input::Leverage { asset, leverage }))));
            }
            Command::Read(Read::Universe) => {
                let marks = Input::Marks { marks: self.desk.mids.clone(), begun_ms: self.now() };
                self.mail.push((arrives, Mail::Input(Box::new(marks))));
            }
            Command::Read(Read::Account) => self.read(true, arrives),
            Command::Read(Read::Orders | Read::OrdersNow | Read::OrdersSoon) => self.read(false, arrives),
            Command::WriteKillFile(_) => self.is_killed = true,
            _ => {}
        }
    }

    fn kill(&mut self) {
        let kill = Input::Kill { reason: "enough".to_owned(), by: None, write_file: true, request: None };
        self.give(kill);
    }

    /// Time goes on, and everything that is due happens.
    fn pass(&mut self) {
        self.desk.now += STEP_MS;
        let now = self.now();
        self.serve();
        match self.dead_until {
            Some(until_ms) if until_ms <= now => self.live(),
            Some(_) => return,
            None => {}
        }
        let (due, mail) = std::mem::take(&mut self.mail).into_iter().partition(|(at, _)| *at <= now);
        self.mail = mail;
        let due: Vec<(u64, Mail)> = due;
        for (_, mail) in due {
            let input = match mail {
                Mail::Input(input) => *input,
                Mail::Account { begun_ms } => self.account(begun_ms),
                Mail::Orders { begun_ms } => self.orders(begun_ms),
                Mail::Status { intent, index, cloid } => {
                    let answer = Some(self.venue.status(cloid, now));
                    Input::OrderStatus { intent, index, cloid, answer }
                }
            };
            self.give(input);
        }
        while !self.disk.waiting.is_empty() && (self.is_quiet || !self.dice.one_in(3)) {
            let is_failing = !self.is_quiet && self.dice.one_in(20);
            let deeds = if is_failing { self.disk.fail() } else { self.disk.write() };
            for deed in deeds.into_iter().flatten() {
                match deed {
                    Command::Send(send) if is_failing => {
                        let outcome = SendOutcome::Unrecorded("the disk failed".to_owned());
                        self.give(Input::Sent { intent: send.intent, index: send.index, outcome });
                    }
                    deed => self.carry_out(deed),
                }
            }
            if is_failing {
                break;
            }
        }
        if now >= self.next_poll_ms {
            self.next_poll_ms = now + 500;
            let mids = self.desk.mids.clone();
            self.give(Input::Mids { mids, begun_ms: now });
            self.read(true, now + 30);
            self.read(false, now + 60);
        }
        if now % 100 < STEP_MS {
            self.give(Input::Tick);
        }
        self.check_reserved();
    }

    /// A client, a stranger or fate does something.
    fn stir(&mut self) {
        let (asset, px, size) = if self.dice.one_in(2) { (ETH, 2000, "0.1") } else { (SOL, 100, "2") };
        let far = 1 + i64::try_from(self.dice.roll(20)).unwrap();
        let is_buy = self.dice.one_in(2);
        let side =
            |px: i64| if is_buy { buy(asset, &px.to_string(), size) } else { sell(asset, &px.to_string(), size) };
        let near = if asset == ETH { far } else { 1 };
        let (rests, fills) = if is_buy { (px - near, px + near) } else { (px + near, px - near) };
        let oids: Vec<(u64, u32)> =
            self.venue.orders.values().map(|(o, _)| (o.oid, if o.coin == "ETH" { ETH } else { SOL })).collect();
        let picked = oids.get(usize::try_from(self.dice.roll(8)).unwrap()).copied();
        match (self.dice.roll(12), picked) {
            (0..=2, _) => self.ask(place(vec![side(rests)])),
            (3, _) => self.ask(place(vec![side(rests), side(rests - 1)])),
            (4 | 5, _) => self.ask(place(vec![side(fills)])),
            (6, Some((oid, asset))) => {
                self.ask(json!({"type": "cancel", "cancels": [{"a": asset, "o": oid}]}));
            }
            (7, Some((oid, _))) => self.ask(json!({"type": "modify", "oid": oid, "order": side(rests)})),
            (8, _) => self.venue.match_one(usize::try_from(self.dice.roll(4)).unwrap()),
            (9, _) => drop(self.venue.positions.insert("SOL", rust_decimal::dec!(-3))),
            (10, _) if self.dice.one_in(6) && self.dead_until.is_none() => self.kill(),
            _ => self.ask(json!({"type": "noop"})),
        }
    }

    fn ask(&mut self, action: Value) {
        if self.dead_until.is_none() {
            let effects = self.desk.post(action);
            self.carry(effects);
        }
    }

    /// Faults for a while, then none until all is settled.
    pub(super) fn run(mut self) -> Result<(BTreeMap<String, u64>, u64), String> {
        let calm_from = self.now() + CHAOS_MS;
        while self.now() < calm_from && self.wrong.is_none() {
            self.pass();
            if self.dice.one_in(6) {
                self.stir();
            }
            if self.dead_until.is_none() && self.dice.one_in(60) {
                self.die();
            }
        }
        self.is_quiet = true;
        let until_ms = self.now() + QUIET_MS;
        while self.wrong.is_none() && !self.is_settled() {
            self.pass();
            if self.now() > until_ms {
                let (guard, bare) = (&self.desk.guard, self.venue.bare());
                let (doubts, intents) = (guard.doubts.keys(), guard.intents.keys());
                let (held, orders) = (&self.venue.positions, &self.venue.orders);
                let killed = self.is_killed;
                self.is_wrong(format!("not settled: {doubts:?} {intents:?} {bare:?}; {killed} {held:?} {orders:?}"));
            }
        }
        if let Some(what) = self.wrong {
            return Err(what);
        }
        truth::hold(&self.disk.events, &self.venue).map(|ends| (ends, self.deaths))
    }

    fn is_settled(&self) -> bool {
        let guard = &self.desk.guard;
        let is_calm = guard.doubts.is_empty() && guard.intents.is_empty() && self.disk.waiting.is_empty();
        let is_right = if self.is_killed { self.venue.is_flat() } else { self.venue.bare().is_none() };
        self.dead_until.is_none() && is_calm && is_right && self.posts.is_empty()
    }
}
