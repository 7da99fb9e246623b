//! Plays a feed against the venue, keeps the plainest picture of the account that can be kept from what it tells, and holds
//! the feed to its promises at every step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde_json::Value;

use super::venue::{ACCOUNT, COINS, EPOCH, Trouble, Venue};
use crate::feed::{Config, Feed, Input, Limits, Now, Output, Stage};
use crate::venue::fill::Fill;
use crate::venue::stream::data::Data;
use crate::venue::stream::frame::Frame;
use crate::venue::stream::topic::{AccountFeed, Topic};

pub(super) const STEP_MS: u64 = 100;
/// A read of the account, orders and fills takes so long.
const READ_MS: u64 = 400;
/// What is believed is no older: three silent cadences, and what a state's time may be off.
const BOUND_MS: u64 = 15_000 + 5_000 + STEP_MS;
pub(super) const BASELINE: [AccountFeed; 9] = AccountFeed::ALL;

/// The account as what was told shows it.
#[derive(Default)]
pub(super) struct Picture {
    pub(super) position: i64,
    /// The time of what it shows.
    pub(super) as_of_ms: u64,
    pub(super) fills: BTreeSet<u64>,
    /// The time of the newest state.
    state_ms: u64,
}

impl Picture {
    fn tell(&mut self, data: &Data) {
        if let Data::Account(_, state) = data {
            assert!(state.time >= self.state_ms, "a state of before");
            self.state_ms = state.time;
        }
        match data {
            Data::Account(_, state) if state.time >= self.as_of_ms => {
                let szi = state.asset_positions.first().map_or(Decimal::ZERO, |element| element.position.szi);
                (self.position, self.as_of_ms) = (szi.to_i64().unwrap(), state.time);
            }
            Data::Fills(rows) => rows.rows.iter().for_each(|fill| self.fill(fill)),
            Data::Event(event) => event.fills.iter().for_each(|fill| self.fill(fill)),
            _ => {}
        }
    }

    fn fill(&mut self, fill: &Fill) {
        self.fills.insert(fill.tid);
        if fill.time >= self.as_of_ms {
            (self.position, self.as_of_ms) = (fill.position_after().unwrap().to_i64().unwrap(), fill.time);
        }
    }
}

pub(super) struct Player {
    pub(super) now_ms: u64,
    pub(super) venue: Venue,
    pub(super) feed: Feed,
    pub(super) picture: Picture,
    pub(super) proved: BTreeSet<Topic>,
    pub(super) told: BTreeMap<Topic, u64>,
    pub(super) limits: Limits,
    /// Trades that were told and wait.
    pub(super) traded: usize,
    /// When the read of a socket's baseline ends.
    reading: Option<(u64, u64)>,
    is_read: bool,
    is_quiet: bool,
    connects_ms: VecDeque<u64>,
    sends_ms: VecDeque<u64>,
    last_send_ms: u64,
    pub(super) closes: Vec<&'static str>,
}

impl Player {
    pub(super) fn new(seed: u64, budget: u32, trouble: Trouble) -> Self {
        let limits = Limits::for_budget(budget);
        let config =
            Config { account: ACCOUNT, limits, ruled_markets: vec!["ETH".to_owned(), "NOPE".to_owned()], seed };
        let mut player = Self {
            now_ms: 200_000,
            venue: Venue::new(seed, trouble),
            feed: Feed::new(config),
            picture: Picture::default(),
            proved: BTreeSet::new(),
            told: BTreeMap::new(),
            limits,
            traded: 0,
            reading: None,
            is_read: false,
            is_quiet: false,
            connects_ms: VecDeque::new(),
            sends_ms: VecDeque::new(),
            last_send_ms: 0,
            closes: Vec::new(),
        };
        player.give(Input::Universe(COINS.map(str::to_owned).into()));
        player.give(Input::Wanted(["BTC", "MADEUP"].map(str::to_owned).into()));
        player
    }

    fn now(&self) -> Now {
        Now { steady_ms: self.now_ms, venue_ms: EPOCH + self.now_ms }
    }

    /// Goes on for so long.
    pub(super) fn run(&mut self, ms: u64) {
        for _ in 0..ms / STEP_MS {
            self.now_ms += STEP_MS;
            if !self.is_quiet && self.venue.random.chance(2) {
                self.venue.trade(self.now_ms);
            }
            let was_open = self.venue.is_open;
            for text in self.venue.arrived(self.now_ms) {
                self.give(Input::Frame { bytes: text.len(), frame: Frame::read(&text) });
            }
            if was_open && !self.venue.is_open {
                self.give(Input::Closed);
            }
            if let Some((_, socket)) = self.reading.take_if(|(done_ms, _)| *done_ms <= self.now_ms) {
                self.read_baseline();
                self.is_read = true;
                self.give(Input::BaselineRead { socket });
            }
            self.give(Input::Tick);
            self.hold();
        }
    }

    /// Holds that every fill is known, once those on their way have come.
    pub(super) fn knows_every_fill(&mut self) {
        self.is_quiet = true;
        self.run(200);
        self.is_quiet = false;
        assert_eq!(self.picture.fills.len(), self.venue.fills.len());
    }

    /// The venue ends the socket.
    pub(super) fn cut(&mut self) {
        if self.venue.is_open {
            self.venue.close();
            self.give(Input::Closed);
        }
    }

    /// Whether everything of the account is believed.
    pub(super) fn is_healthy(&self) -> bool {
        self.feed.stage() == Stage::Live && self.proved == everything()
    }

    fn give(&mut self, input: Input) {
        for output in self.feed.step(input, self.now()) {
            self.obey(output);
        }
    }

    fn obey(&mut self, output: Output) {
        match output {
            Output::Connect => {
                assert!(!self.venue.is_open, "a second socket");
                count(&mut self.connects_ms, self.now_ms, self.limits.connections);
                (self.reading, self.is_read) = (None, false);
                let is_open = self.venue.connect();
                self.last_send_ms = self.now_ms;
                self.give(if is_open { Input::Connected } else { Input::Closed });
            }
            Output::Send(text) => {
                count(&mut self.sends_ms, self.now_ms, self.limits.messages);
                self.last_send_ms = self.now_ms;
                let frame: Value = serde_json::from_str(&text).unwrap();
                let coin = frame["subscription"]["coin"].as_str();
                assert!(coin.is_none_or(|coin| COINS.contains(&coin)), "an unknown coin: {text}");
                self.venue.receive(self.now_ms, &text);
            }
            Output::Close(reason) => {
                self.closes.push(reason);
                self.venue.close();
                (self.reading, self.is_read) = (None, false);
            }
            Output::ReadBaseline { socket } => self.reading = Some((self.now_ms + READ_MS, socket)),
            Output::Tell(data) => {
                assert!(data.user().is_none_or(|user| *user == ACCOUNT), "a stranger's");
                let is_flow = data.topic() == Topic::Account(AccountFeed::Ledger);
                let is_state = matches!(data.topic(), Topic::Account(_)) && !is_flow;
                assert!(!is_state || self.is_read, "before what it follows on");
                self.told.insert(data.topic(), self.now_ms);
                self.picture.tell(&data);
            }
            Output::Traded => {
                assert_ne!(self.feed.stage(), Stage::Live, "then it is told");
                self.traded += 1;
            }
            Output::Proved(proved) => {
                assert!(proved.is_empty() || self.feed.stage() == Stage::Live);
                self.proved = proved;
            }
        }
    }

    /// The account and its fills as reads show them that were made when they were asked for: what happened since is in the
    /// frames alone.
    fn read_baseline(&mut self) {
        let time = EPOCH + self.now_ms - READ_MS;
        let shown = self.venue.fills.iter().filter(|fill| fill.time <= time);
        self.picture.fills.extend(shown.map(|fill| fill.tid));
        (self.picture.position, self.picture.as_of_ms) = (self.venue.position(time), time);
    }

    /// What is believed was so at the venue a moment ago; who says nothing is asked.
    fn hold(&self) {
        assert!(!self.venue.is_open || self.now_ms - self.last_send_ms <= 10_000 + STEP_MS, "no ping");
        if self.proved.contains(&Topic::Account(AccountFeed::Account)) {
            let (from, to) = (EPOCH + self.now_ms - BOUND_MS, EPOCH + self.now_ms);
            assert!(self.picture.state_ms >= from, "the state of {} is believed at {to}", self.picture.state_ms);
            let before = self.venue.position(from);
            let mut recent = self.venue.positions.range(from..=to).map(|(_, position)| *position);
            assert!(
                before == self.picture.position || recent.any(|position| position == self.picture.position),
                "{} is believed at {}, which it was not since {from}",
                self.picture.position,
                self.now_ms
            );
        }
    }
}

/// All that is believed of a healthy feed.
pub(super) fn everything() -> BTreeSet<Topic> {
    BASELINE.into_iter().map(Topic::Account).chain([Topic::Mids]).collect()
}

/// One more within the last minute, of so many at most.
fn count(times_ms: &mut VecDeque<u64>, now_ms: u64, most: usize) {
    times_ms.push_back(now_ms);
    times_ms.retain(|at_ms| at_ms + 60_000 > now_ms);
    assert!(times_ms.len() <= most, "{} in a minute, at most {most}", times_ms.len());
}
