//! The world of one game: the guard, the model venue with its troubles, and a clock that nobody waits for.

use std::collections::{BTreeMap, VecDeque};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use super::super::fixture::*;
use super::super::simulation::dice::Dice;
use super::super::simulation::push::Push;
use super::super::simulation::venue::{Manners, Venue};
use super::checks::Checks;
use super::feed;
use super::limits::Limits;
use super::picture::Picture;
use super::trouble::{How, On, Trouble};
use crate::guard::effects::SendAction;
use crate::guard::{Command, Effects, Guard, Input, Mode};
use crate::rules::Rules;
use crate::venue::info::AccountMode;

/// By how much the time of the one answer is off in which it is far off: ahead by just too much to be believed, an hour, a day,
/// a year; behind by an hour, a day.
const FAR_OFF_MS: [i64; 6] = [10_600, 3_600_000, 86_400_000, 31_536_000_000, -3_600_000, -86_400_000];

pub(super) const STEP_MS: u64 = 100;
const LIVELY_STEPS: u64 = 250;
/// With a feed something happens in one of so many steps of a longer game: only where nothing does is all but the feed left out.
const QUIET_STEPS: u64 = 600;
const QUIET: u64 = 8;
/// After the last trouble, so that a flatten finds the last TWAP order by its own interval.
const CALM_STEPS: u64 = 600;

/// A TWAP order begun elsewhere.
pub(super) struct Twap {
    pub(super) id: u64,
    pub(super) slice: Decimal,
    pub(super) next_ms: u64,
    pub(super) ends_ms: u64,
}

pub(super) struct World {
    pub(super) guard: Guard,
    pub(super) venue: Venue,
    pub(super) dice: Dice,
    pub(super) now: u64,
    pub(super) checks: Checks,
    pub(super) troubles: Vec<Trouble>,
    pub(super) mail: Vec<(u64, Input)>,
    pub(super) posts: Vec<(u64, SendAction)>,
    /// When each read begins next, and until when one is under way.
    pub(super) due: BTreeMap<On, (u64, u64)>,
    pub(super) pictures: VecDeque<Picture>,
    pub(super) twaps: Vec<Twap>,
    pub(super) ledger_since_ms: u64,
    /// Where the equity is kept, and where the guard's reads look for it.
    pub(super) mode: AccountMode,
    pub(super) mode_set_ms: u64,
    /// When a person changes it, where that is settled already.
    pub(super) mode_due_ms: u64,
    /// No money flows before this.
    pub(super) flows_from_ms: u64,
    /// When ETH leaps against who has just bought or sold it, and by what factor.
    pub(super) losing: Option<(u64, Decimal)>,
    pub(super) believed: AccountMode,
    /// Whether SOL is listed, and whether it is delisted.
    pub(super) listing: (bool, bool),
    /// The one wrong read of a trouble was given; how many times the equity it shows, and by how much its time is off, ms.
    pub(super) was_wrong: bool,
    pub(super) wrong_times: Decimal,
    pub(super) far_off_ms: i64,
    pub(super) nonce: u64,
    pub(super) request: u64,
    /// What may end in a halt happens in quiet steps too.
    is_losing: bool,
    /// Nothing happens before the guard knows what the account was worth.
    waits_for_marks: bool,
    /// When a read of each kind began.
    pub(super) begun: BTreeMap<On, u64>,
    /// The live feed, where there is one.
    pub(super) push: Option<Push>,
}

impl World {
    /// The same game with the venue's live feed beside the reads.
    pub(super) fn listening(seed: u64) -> Self {
        let mut world = Self::new(seed);
        let push = feed::push(seed);
        world.guard.config.feed = true;
        world.checks.slack(feed::slack_ms(&push));
        world.push = Some(push);
        world
    }

    /// The same beside a feed, where what may end in a halt happens in quiet steps too.
    pub(super) fn losing(seed: u64) -> Self {
        Self { is_losing: true, ..Self::listening(seed) }
    }

    /// A game in which one of the reads beside the steady ones is stale.
    pub(super) fn stale(seed: u64) -> Self {
        let mut world = Self::new(seed);
        let mut dice = Dice::new(seed.wrapping_mul(13).wrapping_add(1));
        world.troubles = Trouble::stale(NOW, &mut dice);
        world
    }

    /// A game whose trouble begins with the very first answer, of the first life in which nothing is known yet or of a later one.
    pub(super) fn first(seed: u64) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(17).wrapping_add(9));
        let trouble = Trouble::first(NOW, &mut dice);
        let known = if dice.one_in(2) { Some("10000") } else { None };
        let mut world = Self::begin(seed, known, |_| vec![trouble]);
        world.wrong_times = dice.pick(&[dec!(0.1), dec!(0.5), dec!(2), dec!(10)]);
        world.far_off_ms = dice.pick(&FAR_OFF_MS);
        world.waits_for_marks = known.is_none();
        world
    }

    pub(super) fn new(seed: u64) -> Self {
        Self::begin(seed, Some("10000"), |dice| {
            let mut troubles = vec![Trouble::draw(NOW, dice)];
            if dice.one_in(4) {
                troubles.push(Trouble::draw(NOW, dice));
            }
            let company = troubles[0].company(dice);
            troubles.extend(company);
            troubles
        })
    }

    /// `known` is the equity of the journal.
    fn begin(seed: u64, known: Option<&str>, draw: impl FnOnce(&mut Dice) -> Vec<Trouble>) -> Self {
        let mut dice = Dice::new(seed.wrapping_mul(7).wrapping_add(3));
        // A loss of the day, or one from the peak.
        let is_drawdown = seed % 4 == 1;
        let limit = dec!(5) - Decimal::from(seed % 3);
        let (daily_loss, drawdown) = if is_drawdown { (dec!(30), limit) } else { (limit, dec!(30)) };
        let rules = Rules { daily_loss, drawdown, ..wide() };
        let mut venue = Venue::new(NOW, dice.one_in(2));
        venue.manners =
            Manners { refuses_stop: 0, misses: 0, is_thin: 0, fills_in_part: 3, cuts_stop: 0, ..Manners::default() };
        venue.fee = dec!(0.00045);
        let troubles = draw(&mut dice);
        let is_listed = !dice.one_in(4);
        let mut world = Self {
            guard: Guard::new(config(Mode::Testnet, rules), 0),
            venue,
            checks: Checks::new(&troubles, Limits::new(is_drawdown, limit / dec!(100))),
            dice,
            now: NOW,
            troubles,
            mail: Vec::new(),
            posts: Vec::new(),
            due: BTreeMap::new(),
            pictures: VecDeque::new(),
            twaps: Vec::new(),
            ledger_since_ms: NOW,
            mode: AccountMode::Standard,
            mode_set_ms: NOW,
            mode_due_ms: u64::MAX,
            flows_from_ms: 0,
            losing: None,
            believed: AccountMode::Standard,
            listing: (is_listed, false),
            was_wrong: false,
            wrong_times: dec!(0.5),
            far_off_ms: 0,
            nonce: NOW,
            request: 0,
            is_losing: false,
            waits_for_marks: false,
            begun: BTreeMap::new(),
            push: None,
        };
        world
            .guard
            .restore_risk_json(&json!({"kind": "init", "at_ms": NOW, "venue_ms": NOW, "equity": known, "note": "new"}));
        let effects = world.guard.start(NOW);
        world.take(effects);
        world.give(Input::ActsFor(None));
        world.give(Input::RequestsLeft(10_000));
        let universe = world.markets();
        world.give(Input::Universe(universe));
        let marks = world.venue.books.mids.clone();
        world.give(Input::Marks { marks, begun_ms: NOW });
        world.due = [On::Mode, On::Prices, On::Account, On::Orders].map(|on| (on, (NOW, 0))).into();
        world.due.insert(On::Markets, (NOW + 60_000, 0));
        world.due.insert(On::Allowance, (NOW + 1_000, 0));
        world
    }

    pub(super) fn game(&mut self) {
        let with_kill = self.dice.one_in(3);
        let kill_at = 20 + self.dice.roll(LIVELY_STEPS - 40);
        let lively_steps = if self.push.is_some() { QUIET_STEPS } else { LIVELY_STEPS };
        for step in 0..lively_steps + CALM_STEPS {
            let is_lively = step < lively_steps;
            let is_over = self.troubles.iter().all(|trouble| trouble.until_ms + 15_000 < self.now);
            if !is_lively && is_over && !self.guard.must_be_flat() || self.checks.broken.is_some() {
                break;
            }
            if with_kill && step == kill_at {
                self.checks.note(self.now, || "the kill switch is pulled".into());
                self.give(Input::Kill { reason: "test".into(), by: None, write_file: false, request: None });
            }
            self.step(is_lively);
        }
        let Self { checks, venue, guard, twaps, now, push, .. } = self;
        push.iter().for_each(|push| feed::count(push, &mut checks.tally));
        checks.end(*now, guard, &venue.books, twaps.len());
    }

    fn step(&mut self, is_lively: bool) {
        self.now += STEP_MS;
        self.venue.books.at_ms = self.now;
        let is_lively = is_lively && (!self.waits_for_marks || self.knows_worth());
        if is_lively && (self.push.is_none() || self.dice.one_in(QUIET)) {
            self.happen();
        } else if is_lively && self.is_losing {
            self.upset();
        }
        self.slice();
        self.begin_reads();
        self.serve();
        let now = self.now;
        let (mut ready, mail): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.mail).into_iter().partition(|(at, _)| *at <= now);
        self.mail = mail;
        ready.sort_by_key(|(at, _)| *at);
        for (_, input) in ready {
            if let Input::AccountMode { mode, .. } = &input {
                self.believed = *mode;
            }
            self.give(input);
        }
        self.push_news();
        self.give(Input::Tick);
        let Self { checks, venue, guard, twaps, .. } = self;
        checks.look(now, guard, &venue.books, twaps.len());
        self.take_picture();
    }

    /// Whether the guard knows what the account was worth at the start, and another read has said so.
    fn knows_worth(&self) -> bool {
        self.guard.risk.marks.day_start.is_some() && self.guard.risk.first.is_none()
    }

    pub(super) fn give(&mut self, input: Input) {
        let effects = self.guard.step(input, self.now);
        self.take(effects);
    }

    fn take(&mut self, effects: Effects) {
        for event in events(&effects) {
            self.checks.event(self.now, &event);
        }
        let is_halted = self.guard.must_be_flat();
        for deed in effects.immediate.into_iter().chain(effects.after_commit) {
            match deed {
                Command::Send(send) => {
                    self.checks.sends(self.now, &send, is_halted, &self.venue.books);
                    let late = self.dice.roll(100);
                    self.posts.push((self.now + late, send));
                }
                Command::Read(read) => self.wanted(read),
                Command::Feed(command) => self.told_feed(&command),
                _ => {}
            }
        }
    }

    /// How a kind of read or action misbehaves now.
    pub(super) fn trouble(&self, on: On) -> Option<How> {
        let now = self.now;
        let is_now = |trouble: &&Trouble| trouble.on == on && (trouble.from_ms..trouble.until_ms).contains(&now);
        self.troubles.iter().find(is_now).map(|trouble| trouble.how)
    }

    /// A client posts this.
    pub(super) fn post(&mut self, action: &Value) {
        self.nonce = self.now.max(self.nonce + 1);
        self.request += 1;
        let body =
            json!({"action": action, "nonce": self.nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}}).to_string();
        let envelope = Box::new(crate::venue::envelope::Envelope::parse(body.as_bytes()).unwrap());
        let signed_as = crate::venue::signing::Source::Testnet;
        let body = crate::guard::RequestBody::Signed { envelope, client: CLIENT, signed_as };
        self.give(Input::Request(crate::guard::Request { id: self.request, via: crate::guard::Via::Http, body }));
    }
}
