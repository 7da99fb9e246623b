//! The world of one game: the guard, its venue, and whatever happens between them, each thing at its time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Value, json};

use super::super::fixture::*;
use super::super::simulation::account::account;
use super::super::simulation::dice::Dice;
use super::super::simulation::push::Push;
use super::super::simulation::venue::Venue;
use super::absence::Absence;
use super::checks::Checks;
use super::feed;
use super::leaving::Leaving;
use super::line::Shown;
use super::nature::{Nature, Traffic, Trouble};
use super::own_stops::OwnStops;
use super::promise::{Broken, Promise};
use super::tally::Tally;
use super::told::Told;
use super::truth::Cover;
use super::waiting::{Waiting, told_in_vain};
use crate::base::address::Address;
use crate::guard::effects::SendAction;
use crate::guard::{Command, Config, Effects, Guard, Input, Mode};
use crate::venue::action::Action;
use crate::venue::info::AccountMode;

const TICK_MS: u64 = 200;

/// What happens at some time.
pub(super) enum Happening {
    Tick,
    /// The feed has its turn.
    Feed,
    /// The guard hears of something.
    Input(Box<Input>),
    /// A read of the account arrives, with the positions it shows.
    Account(Box<Input>, BTreeMap<&'static str, rust_decimal::Decimal>),
    /// A read of the open orders arrives, with the cover it shows.
    Orders(Box<Input>, Vec<Shown>),
    /// An action reaches the venue, or is lost on the way there or back.
    Arrives(Box<(SendAction, Action)>),
}

pub(super) struct World {
    pub(super) nature: Nature,
    pub(super) guard: Guard,
    pub(super) venue: Venue,
    /// Its live feed, where there is one.
    pub(super) push: Option<Push>,
    /// So many of its trades were looked at.
    followed: usize,
    pub(super) dice: Dice,
    pub(super) now: u64,
    pub(super) checks: Checks,
    pub(super) tally: Tally,
    pub(super) broken: Option<Broken>,
    /// What happened, where somebody wants to read it.
    pub(super) trace: Option<Vec<String>>,
    happenings: BTreeMap<(u64, u64), Happening>,
    number: u64,
    pub(super) due: BTreeMap<&'static str, u64>,
    pub(super) begun: BTreeMap<&'static str, u64>,
    /// Reads of the account as they were, newest first.
    pub(super) pictures: VecDeque<Input>,
    /// What the last read of the account that arrived shows.
    pub(super) known: BTreeMap<&'static str, rust_decimal::Decimal>,
    shown: BTreeMap<&'static str, rust_decimal::Decimal>,
    /// The venue's time of it.
    known_at: u64,
    /// The last prices that it was told.
    pub(super) mids: BTreeMap<String, rust_decimal::Decimal>,
    /// The same as each event that sends something was taken.
    pub(super) judged: BTreeMap<u64, BTreeMap<String, rust_decimal::Decimal>>,
    /// Where sells on their way were judged: their market, their limit, and the price that was told.
    pub(super) sells: BTreeMap<(u64, usize), (&'static str, [rust_decimal::Decimal; 2])>,
    /// How the positions were covered when an event was taken.
    pub(super) decided: BTreeMap<u64, [Cover; 2]>,
    /// What is about to go.
    pub(super) leaving: Leaving,
    pub(super) told: Told,
    pub(super) waiting: Waiting,
    pub(super) own_stops: OwnStops,
    pub(super) absence: Absence,
    /// Answers of the kind that hangs at times, so far.
    pub(super) may_hang: u64,
    pub(super) requests_left: Option<u64>,
    /// Of an account that has spent its own the venue takes so many cancels more: as many again as it had at first. Source:
    /// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>.
    pub(super) cancels_left: u64,
    pub(super) free_request_ms: u64,
    /// What is on disk, where the guard may die.
    events: Vec<Value>,
    risk: Vec<Value>,
    pub(super) kill_file: Option<String>,
    /// Those that were sent.
    pub(super) nonces: BTreeSet<u64>,
    /// The clients' last one.
    pub(super) nonce: u64,
    pub(super) request: u64,
}

impl World {
    pub(super) fn new(seed: u64, is_traced: bool) -> Self {
        let mut dice = Dice::new(seed);
        let push = feed::push(seed);
        let mut nature = Nature { feed: push.as_ref().map(|push| push.manner), ..Nature::draw(&mut dice) };
        let own_stops = OwnStops::draw(seed, &mut nature);
        let mut venue = Venue::new(NOW, dice.one_in(2));
        venue.manners = nature.manners;
        let checks = Checks::new(&nature, &venue.books);
        let mut world = Self {
            guard: Guard::new(settings(&nature), 0),
            nature,
            venue,
            push,
            followed: 0,
            dice,
            now: NOW,
            checks,
            tally: Tally::default(),
            broken: None,
            trace: is_traced.then(Vec::new),
            happenings: BTreeMap::new(),
            number: 0,
            due: BTreeMap::new(),
            begun: BTreeMap::new(),
            pictures: VecDeque::new(),
            known: BTreeMap::new(),
            shown: BTreeMap::new(),
            known_at: 0,
            mids: BTreeMap::new(),
            judged: BTreeMap::new(),
            sells: BTreeMap::new(),
            decided: BTreeMap::new(),
            leaving: Leaving::default(),
            told: Told::default(),
            waiting: Waiting::default(),
            own_stops,
            absence: Absence::draw(seed),
            may_hang: 0,
            requests_left: None,
            cancels_left: 10_000,
            free_request_ms: 0,
            events: Vec::new(),
            risk: vec![json!({"kind": "init", "at_ms": NOW, "venue_ms": NOW, "equity": "10000", "note": "new"})],
            kill_file: None,
            nonces: BTreeSet::new(),
            nonce: NOW,
            request: 0,
        };
        world.wake();
        world
    }

    /// The guard starts from what is on disk.
    fn wake(&mut self) {
        let last = self.events.last().and_then(|event| event["seq"].as_u64()).unwrap_or_default();
        self.guard = Guard::new(settings(&self.nature), last);
        self.risk.iter().for_each(|record| self.guard.restore_risk_json(record));
        self.events.iter().for_each(|event| self.guard.restore_json(event));
        (self.known, self.shown, self.known_at) = (BTreeMap::new(), BTreeMap::new(), 0);
        self.told = Told { unasked_ms: self.now, ..Told::default() };
        self.waiting = Waiting::default();
        // What was on its way to the venue gets there; nobody waits for what comes back.
        self.happenings.retain(|_, happening| matches!(happening, Happening::Arrives(_)));
        let now = self.now;
        self.due = ["mids", "account", "orders"].into_iter().map(|what| (what, now)).collect();
        let effects = self.guard.start(now);
        self.take(effects);
        self.give(Input::Universe(universe()));
        self.give(Input::Marks { marks: self.venue.books.mids.clone(), begun_ms: now });
        let reads_settings = !self.nature.trouble.is_of(Traffic::Settings);
        self.give(Input::ActsFor(None));
        self.give(Input::AccountMode { mode: AccountMode::Standard, begun_ms: now });
        for asset in [ETH, SOL].into_iter().filter(|_| reads_settings) {
            self.leverage_read(asset, 20);
        }
        self.give(Input::RequestsLeft(self.requests_left.unwrap_or(PLENTY)));
        if let Some(reason) = self.kill_file.clone() {
            self.give(Input::Kill { reason, by: None, write_file: false, request: None });
        }
        self.happens(TICK_MS, Happening::Tick);
        self.await_news();
    }

    /// The guard dies and wakes.
    pub(super) fn restart(&mut self) {
        self.note(|| "the guard dies and wakes".into());
        self.tally.restarts += 1;
        self.checks.restarted(self.now);
        self.push.iter_mut().for_each(|push| push.dies(self.now));
        self.is_away();
        self.wake();
    }

    pub(super) fn happens(&mut self, late_ms: u64, happening: Happening) {
        self.number += 1;
        self.happenings.insert((self.now + late_ms, self.number), happening);
    }

    pub(super) fn note(&mut self, text: impl FnOnce() -> String) {
        if let Some(trace) = &mut self.trace {
            trace.push(format!("+{}: {}", self.now - NOW, text()));
        }
    }

    pub(super) fn fail(&mut self, broken: Broken) {
        self.note(|| format!("BROKEN {:?}: {}", broken.promise, broken.text));
        self.broken.get_or_insert(broken);
    }

    /// Gives the guard an input; the effects of it are on their way, and on disk.
    pub(super) fn give(&mut self, input: Input) -> Vec<Action> {
        let effects = self.guard.step(input, self.now);
        self.take(effects)
    }

    /// The actions that are sent.
    fn take(&mut self, effects: Effects) -> Vec<Action> {
        self.tally.effects(&effects);
        for record in &effects.records {
            self.leaving.note(&record.text);
            self.waiting.note(record);
            if let Some(px) = told_in_vain(record) {
                self.fail(Promise::ToldTruly.broken(format!("no stop goes to {px}: {}", record.text)));
            }
        }
        if self.nature.has_restarts || self.trace.is_some() {
            for event in events(&effects) {
                self.note(|| event.to_string());
                self.events.push(event);
            }
            self.risk.extend(effects.risk.iter().map(|record| serde_json::from_str::<Value>(&record.text).unwrap()));
        }
        let is_told = self.told.is_all();
        let mut sent = Vec::new();
        for command in effects.immediate.into_iter().chain(effects.after_commit) {
            match command {
                Command::Send(send) => {
                    let action = match Action::parse(&send.action) {
                        Ok(action) => action,
                        Err(error) => {
                            self.fail(Promise::WellFormed.broken(format!("{error:?}: {}", send.action)));
                            continue;
                        }
                    };
                    sent.push(action.clone());
                    if is_told {
                        self.told.sure.insert(send.intent, self.told.unasked_ms);
                    }
                    self.send(send, action);
                }
                Command::Read(read) => self.wanted(read),
                Command::Feed(command) => self.told_feed(&command),
                _ => {}
            }
        }
        sent
    }

    /// Everything that happens until then.
    pub(super) fn run_until(&mut self, until: u64) {
        while self.broken.is_none() {
            let next = self.happenings.keys().next().map_or(u64::MAX, |(at, _)| *at);
            let due = self.due.iter().map(|(what, at)| (*at, *what)).min().unwrap_or((u64::MAX, ""));
            if next.min(due.0) > until {
                break;
            }
            self.now = self.now.max(next.min(due.0));
            self.venue.books.at_ms = self.now;
            if due.0 <= next {
                self.begin_read(due.1);
            } else if let Some((_, happening)) = self.happenings.pop_first() {
                self.happen(happening);
            }
            self.look();
        }
        self.now = self.now.max(until);
        self.venue.books.at_ms = self.now;
    }

    fn happen(&mut self, happening: Happening) {
        match happening {
            Happening::Tick => {
                self.give(Input::Tick);
                self.happens(TICK_MS, Happening::Tick);
            }
            Happening::Feed => self.push_news(),
            Happening::Input(input) => self.hear(*input),
            Happening::Account(input, shows) => {
                self.note(|| format!("the account is read: {shows:?}"));
                // An older state than it has already is not taken.
                if let Input::Account { state, equity, .. } = &*input
                    && state.time >= self.known_at
                {
                    self.checks.read(*equity, &state.asset_positions);
                    // Where reads lag the venue's time leaps, and a leap is believed when the next read says the same.
                    let is_sure =
                        |coin: &str, held| self.nature.trouble != Trouble::Lag || self.shown.get(coin) == Some(held);
                    self.known = shows
                        .iter()
                        .filter(|(coin, held)| is_sure(coin, held))
                        .map(|(coin, held)| (*coin, *held))
                        .collect();
                    (self.shown, self.known_at) = (shows, state.time);
                }
                if let Input::Account { state, .. } = &*input {
                    self.told.account_ms = self.told.account_ms.max(state.time);
                }
                self.give(*input);
            }
            Happening::Orders(input, shown) => {
                self.note(|| "the open orders are read".into());
                self.told.orders_ms = begun_ms(&input);
                if let Input::Orders { orders, .. } = &*input {
                    self.told.orders_read(orders, self.now);
                }
                self.give(*input);
                let leaving = self.leaving.but(0);
                self.checks.learn(&shown, &self.venue.books, &leaving);
            }
            Happening::Arrives(sent) => {
                let (send, action) = *sent;
                self.arrives(send, &action);
            }
        }
    }

    /// The guard hears of this.
    pub(super) fn hear(&mut self, input: Input) {
        match &input {
            Input::Sent { intent, index, .. } => self.told.hears((*intent, *index), self.now),
            // So does the venue's word on an order that had no answer.
            Input::OrderStatus { answer: Some(_), .. } => self.told.heard_ms = self.now,
            Input::Mids { mids, begun_ms } if *begun_ms >= self.told.mids_ms => {
                self.told.mids_ms = *begun_ms;
                self.mids.clone_from(mids);
            }
            Input::Feed(news) => self.note_told(news),
            _ => {}
        }
        self.give(input);
    }

    pub(super) fn look(&mut self) {
        let trades = &self.venue.trades[self.followed..];
        self.checks.follow(trades.iter().map(|trade| (trade.coin, trade.after, self.own_stops.of(trade, trades))));
        self.followed = self.venue.trades.len();
        for broken in self.checks.look(self.now, &self.venue.books) {
            self.fail(broken);
        }
    }

    /// A read of the account as the venue's books are.
    pub(super) fn picture(&mut self) -> Input {
        let picture = account(&self.venue.books, self.now);
        self.pictures.push_front(picture.clone());
        self.pictures.truncate(4);
        picture
    }
}

pub(super) fn begun_ms(read: &Input) -> u64 {
    match read {
        Input::Account { begun_ms, .. } | Input::Orders { begun_ms, .. } => *begun_ms,
        _ => 0,
    }
}

/// The address of a client.
pub(super) fn client(number: u8) -> Address {
    Address([0xc1 + number; 20])
}

fn settings(nature: &Nature) -> Config {
    let clients = (0..nature.clients).map(client).collect();
    Config { clients, feed: nature.feed.is_some(), ..config(Mode::Testnet, nature.rules.clone()) }
}
