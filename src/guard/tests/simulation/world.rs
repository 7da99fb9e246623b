//! The world: the guard, the way to the venue and back, and a clock that nobody waits for.
//!
//! A step is 50 ms. Reads begin on their intervals, show the truth of a moment and arrive late; sends arrive late, are
//! answered later, or never. At times the venue stumbles, lags behind itself or is away, and the guard dies and wakes.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value, json};

use super::super::fixture::*;
use super::account::account;
use super::books::Books;
use super::checks::Checks;
use super::dice::Dice;
use super::exchange::refusal;
use super::venue::Venue;
use crate::guard::effects::SendAction;
use crate::guard::{Command, Effects, Guard, Input, Mode, Read, RequestBody, SendOutcome};
use crate::rules::Rules;
use crate::venue::action::Action;
use crate::venue::history::ledger;
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS, Leverage, MarginMode};

pub(super) const STEP_MS: u64 = 50;
/// Pictures kept for reads that lag.
const PICTURES: usize = 60;
/// Each read of the ledger begins this long before the one before it.
/// A send without an answer is given up after this.
const TIME_OUT_MS: u64 = 3_000;

/// What kind of world it is.
#[derive(Clone)]
pub(super) struct Nature {
    pub(super) rules: Rules,
    /// When it begins, UTC ms.
    pub(super) begins_ms: u64,
    /// Prices move and positions are traded so that limits are reached.
    pub(super) is_rough: bool,
    /// The guard dies now and then.
    pub(super) has_crashes: bool,
}

/// What is on its way to the guard.
pub(super) enum Mail {
    Input(Input),
    /// A read of the account, with the picture it shows.
    Account(Box<Books>, u64),
}

pub(super) struct World {
    pub(super) nature: Nature,
    pub(super) guard: Guard,
    pub(super) venue: Venue,
    pub(super) dice: Dice,
    pub(super) now: u64,
    pub(super) checks: Checks,
    mail: Vec<(u64, Mail)>,
    /// Sends on their way to the venue; of some nobody waits for the answer any more.
    posts: Vec<(u64, SendAction, bool)>,
    due: BTreeMap<&'static str, u64>,
    begun: BTreeMap<&'static str, u64>,
    pictures: VecDeque<Books>,
    ledger_since_ms: u64,
    pub(super) stumbles_until: u64,
    pub(super) lags_until: u64,
    pub(super) away_until: u64,
    /// What is on disk.
    events: Vec<Value>,
    risk: Vec<Value>,
    pub(super) kill_file: Option<String>,
    nonce: u64,
    request: u64,
}

impl World {
    pub(super) fn new(seed: u64, nature: Nature) -> Self {
        let begins_ms = nature.begins_ms;
        let guard = Guard::new(config(Mode::Testnet, nature.rules.clone()), 0);
        let mut world = Self {
            nature,
            guard,
            venue: Venue::new(begins_ms, seed.is_multiple_of(2)),
            dice: Dice::new(seed),
            now: begins_ms,
            checks: Checks::new(seed, begins_ms),
            mail: Vec::new(),
            posts: Vec::new(),
            due: BTreeMap::new(),
            begun: BTreeMap::new(),
            pictures: VecDeque::new(),
            ledger_since_ms: 0,
            stumbles_until: 0,
            lags_until: 0,
            away_until: 0,
            events: Vec::new(),
            risk: vec![
                json!({"kind": "init", "at_ms": begins_ms, "venue_ms": begins_ms, "equity": "10000", "note": "new"}),
            ],
            kill_file: None,
            nonce: begins_ms,
            request: 0,
        };
        world.checks.limits.begin(&world.venue.books);
        world.wake();
        world
    }

    /// The guard starts from what is on disk.
    pub(super) fn wake(&mut self) {
        self.guard = Guard::new(
            config(Mode::Testnet, self.nature.rules.clone()),
            self.events.last().and_then(|event| event["seq"].as_u64()).unwrap_or_default(),
        );
        self.risk.iter().for_each(|record| self.guard.restore_risk_json(record));
        self.events.iter().for_each(|event| self.guard.restore_json(event));
        self.mail.clear();
        let now = self.now;
        self.due = ["mids", "account", "orders", "mode"].into_iter().map(|what| (what, now)).collect();
        self.checks.woken(now);
        let effects = self.guard.start(now);
        self.take(effects);
        self.give(Input::Universe(universe()));
        self.give(Input::Marks { marks: self.venue.books.mids.clone(), begun_ms: now });
        self.give(Input::ActsFor(None));
        self.give(Input::RequestsLeft(PLENTY));
        if let Some(reason) = self.kill_file.clone() {
            self.give(Input::Kill { reason, by: None, write_file: false, request: None });
        }
    }

    /// The guard is gone between two steps. What it had handed to the senders may have left, or not.
    pub(super) fn crash(&mut self) {
        let posts = std::mem::take(&mut self.posts);
        self.posts = posts.into_iter().filter(|_| self.dice.one_in(2)).map(|(at, send, _)| (at, send, false)).collect();
        self.checks.note(self.now, "the guard dies".into());
        self.wake();
    }

    /// A person looks at it and clears the drawdown halt.
    pub(super) fn resume(&mut self) {
        let equity = self.venue.books.equity().to_string();
        let record =
            json!({"kind": "resume", "at_ms": self.now, "venue_ms": self.now, "equity": equity, "note": "seen"});
        self.risk.push(record);
        self.checks.limits.resumed(&self.venue.books);
        self.crash();
    }

    pub(super) fn give(&mut self, input: Input) {
        let effects = self.guard.step(input, self.now);
        self.take(effects);
    }

    fn take(&mut self, effects: Effects) {
        let is_halted = self.guard.must_be_flat();
        for event in events(&effects) {
            self.checks.event(self.now, &event);
            self.events.push(event);
        }
        self.risk.extend(effects.risk.iter().map(|record| serde_json::from_str::<Value>(&record.text).unwrap()));
        for deed in effects.immediate.into_iter().chain(effects.after_commit) {
            match deed {
                Command::Send(send) => {
                    self.checks.sends(self.now, &send, is_halted, &self.venue.books);
                    let late = self.dice.roll(200);
                    self.posts.push((self.now + late, send, true));
                }
                Command::Read(read) => self.wanted(read),
                _ => {}
            }
        }
    }

    fn wanted(&mut self, read: Read) {
        match read {
            Read::Account => self.want("account", 1_000),
            Read::AccountNow => self.want("account", 250),
            Read::OrdersNow | Read::OrdersSoon => self.want("orders", 250),
            Read::Orders => self.want("orders", 1_650),
            Read::Ledger { since_ms, .. } => {
                self.ledger_since_ms = since_ms;
                self.want("ledger", 250);
            }
            Read::Mode { .. } => self.want("mode", 250),
            Read::Fills { .. } | Read::LedgerSoon { .. } | Read::BookFills { .. } | Read::Fundings { .. } => {}
            Read::Leverage { asset, .. } => {
                let leverage = Some(Leverage { mode: MarginMode::Cross, value: 5 });
                self.post_mail(20, Mail::Input(Input::Leverage { asset, leverage }));
            }
            Read::OrderStatus { intent, index, cloid } => {
                let answer = (!self.is_away()).then(|| self.venue.order_status(cloid));
                self.post_mail(20, Mail::Input(Input::OrderStatus { intent, index, cloid, answer }));
            }
            Read::Twaps => {
                let answer = if self.is_away() { Err("HTTP 502".to_owned()) } else { Ok(Vec::new()) };
                self.post_mail(20, Mail::Input(Input::Twaps(answer)));
            }
            Read::Universe => {
                let marks = if self.is_away() { BTreeMap::new() } else { self.venue.books.mids.clone() };
                self.post_mail(20, Mail::Input(Input::Marks { marks, begun_ms: self.now }));
            }
        }
    }

    fn want(&mut self, what: &'static str, apart_ms: u64) {
        let soonest = self.begun.get(what).map_or(0, |begun| begun + apart_ms);
        let due = self.due.entry(what).or_insert(u64::MAX);
        *due = (*due).min(self.now.max(soonest));
    }

    fn post_mail(&mut self, late_ms: u64, mail: Mail) {
        self.mail.push((self.now + late_ms, mail));
    }

    pub(super) fn is_away(&self) -> bool {
        self.now < self.away_until
    }

    fn stumbles(&self) -> bool {
        self.now < self.stumbles_until
    }

    /// Reads begin, see the truth of some moment, and arrive.
    fn read(&mut self) {
        let now = self.now;
        let due: Vec<&'static str> = self.due.iter().filter(|(_, at)| **at <= now).map(|(what, _)| *what).collect();
        for what in due {
            let every = match what {
                "orders" => 5_000,
                "ledger" => 60_000,
                "mode" => 60_000,
                _ => 1_000,
            };
            self.begun.insert(what, now);
            if self.is_away() || self.stumbles() && self.dice.one_in(3) {
                self.due.insert(what, now + 1_000);
                self.checks.read_failed(what, now);
                continue;
            }
            self.due.insert(what, now + every);
            if now < self.lags_until {
                self.checks.read_lagged(now);
            }
            let lags = now < self.lags_until && self.dice.one_in(2) && !self.pictures.is_empty();
            let books = if lags {
                let behind = usize::try_from(self.dice.roll(PICTURES as u64)).unwrap_or_default();
                self.pictures[behind.min(self.pictures.len() - 1)].clone()
            } else {
                self.venue.books.clone()
            };
            self.checks.note(now, format!("a read of the {what} begins"));
            let mail = self.picture(what, books);
            if what == "ledger" {
                self.ledger_since_ms = self.ledger_since_ms.max(now.saturating_sub(LEDGER_OVERLAP_MS));
            }
            // Some arrive after one that began later.
            let late = if now < self.lags_until { self.dice.roll(2_500) } else { self.dice.roll(150) };
            self.post_mail(late, mail);
        }
    }

    fn picture(&self, what: &'static str, books: Books) -> Mail {
        let begun_ms = self.now;
        Mail::Input(match what {
            "mids" => Input::Mids { mids: books.mids, begun_ms },
            "account" => return Mail::Account(Box::new(books), begun_ms),
            "orders" => Input::Orders { orders: books.orders.into_values().collect(), begun_ms },
            "mode" => Input::AccountMode { mode: AccountMode::Standard, begun_ms },
            _ => {
                let (entries, since_ms) = (self.venue.ledger.iter(), self.ledger_since_ms);
                let shown = entries.filter(|(shows_ms, at_ms, _)| *shows_ms <= begun_ms && *at_ms >= since_ms);
                let updates = ledger(&shown.map(|(_, _, entry)| entry.clone()).collect()).unwrap().rows;
                Input::Ledger { updates, begun_ms }
            }
        })
    }

    /// The venue takes what has reached it.
    fn serve(&mut self) {
        let now = self.now;
        let (ready, posts): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.posts).into_iter().partition(|(at, ..)| *at <= now);
        self.posts = posts;
        for (_, send, is_waited_for) in ready {
            if !is_waited_for {
                // It was given up long ago, and gets there all the same.
                self.venue.take(&send, &mut self.dice);
                self.checks.served(&send, None, &self.venue.books);
                continue;
            }
            let fault = match (self.is_away(), self.stumbles()) {
                (true, _) => self.dice.roll(2),
                (false, true) => self.dice.roll(9),
                (false, false) => 9,
            };
            let outcome = match fault {
                0 => SendOutcome::NotSent("HTTP 429".into()),
                1 => SendOutcome::NoAnswer("lost on the way".into()),
                2 => {
                    self.venue.take(&send, &mut self.dice);
                    SendOutcome::NoAnswer("lost on the way back".into())
                }
                3 => SendOutcome::Answered(refusal("Too many cumulative requests sent (10001 > 10000)")),
                4 => SendOutcome::NoAnswer("timed out".into()),
                _ => SendOutcome::Answered(self.venue.take(&send, &mut self.dice)),
            };
            self.checks.served(&send, Some(&outcome), &self.venue.books);
            let (intent, index) = (send.intent, send.index);
            let late = if fault == 4 { TIME_OUT_MS } else { self.dice.roll(150) };
            if fault == 4 {
                // It lies somewhere, and gets there before or after the guard gave it up.
                let at = now + self.dice.roll(2 * TIME_OUT_MS);
                self.posts.push((at, send, false));
            }
            self.post_mail(late, Mail::Input(Input::Sent { intent, index, outcome }));
        }
    }

    fn deliver(&mut self) {
        let now = self.now;
        let (mut ready, mail): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.mail).into_iter().partition(|(at, _)| *at <= now);
        self.mail = mail;
        ready.sort_by_key(|(at, _)| *at);
        for (_, mail) in ready {
            match mail {
                Mail::Input(input) => self.give(input),
                Mail::Account(books, begun_ms) => {
                    self.give(account(&books, begun_ms));
                    if self.guard.view.account.as_ref().is_some_and(|account| account.begun_ms == begun_ms) {
                        self.checks.limits.read(&books);
                    }
                }
            }
        }
        self.give(Input::Tick);
    }

    /// A client posts this.
    pub(super) fn post(&mut self, action: &Value) {
        self.nonce = self.now.max(self.nonce + 1);
        self.request += 1;
        let body =
            json!({"action": action, "nonce": self.nonce, "signature": {"r": "0x1", "s": "0x1", "v": 27}}).to_string();
        let envelope = Box::new(crate::venue::envelope::Envelope::parse(body.as_bytes()).unwrap());
        let body = RequestBody::Signed { envelope, client: CLIENT, signed_as: crate::venue::signing::Source::Testnet };
        let request = crate::guard::Request { id: self.request, via: crate::guard::Via::Http, body };
        self.give(Input::Request(request));
    }

    /// So many steps; in a lively world others act as well.
    pub(super) fn run(&mut self, steps: u64, is_lively: bool) {
        for _ in 0..steps {
            self.now += STEP_MS;
            self.venue.books.at_ms = self.now;
            if is_lively {
                self.happen();
            }
            self.read();
            self.serve();
            self.deliver();
            self.check();
            if (self.now / STEP_MS).is_multiple_of(2) {
                self.pictures.truncate(PICTURES - 1);
                self.pictures.push_front(self.venue.books.clone());
            }
        }
    }

    /// The guard is stopped, and started again at that time.
    pub(super) fn sleep_until(&mut self, at_ms: u64) {
        self.now = self.now.max(at_ms);
        self.venue.books.at_ms = self.now;
        self.pictures.clear();
        self.crash();
    }

    pub(super) fn state(&self) -> String {
        self.guard.status_json(self.now, (0, 0))["risk"]["state"].as_str().unwrap().to_owned()
    }

    fn check(&mut self) {
        let (gone, left) = (std::mem::take(&mut self.venue.vanished), std::mem::take(&mut self.venue.left_by_stops));
        gone.into_iter().for_each(|(coin, at_ms)| self.checks.vanished(coin, at_ms));
        (self.checks.left_by_stops, self.checks.away_until) = (left, self.away_until);
        self.checks.look(self.now, &self.guard, &self.venue.books);
    }

    /// Nobody holds anything and nothing rests.
    pub(super) fn is_flat(&self) -> bool {
        self.venue.books.positions.is_empty() && self.venue.books.orders.is_empty()
    }
}

/// The action that is sent.
pub(in crate::guard::tests) fn action_of(send: &SendAction) -> Action {
    Action::parse(&send.action).unwrap()
}
