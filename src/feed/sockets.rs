//! The feed: sockets one after another, and what is believed meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use super::backoff::Backoff;
use super::limits::Rolling;
use super::markets::Markets;
use super::messages::{Config, Counts, Input, Now, Output, Stage};
use super::session::{Session, Step};
use crate::base::address::Address;
use crate::venue::stream::topic::Topic;

/// A socket that does not open in this time is given up.
const CONNECT_MS: u64 = 15_000;
/// A socket that was live for so long served well.
const SERVED_MS: u64 = 30_000;

/// The feed of one account.
#[derive(Debug)]
pub struct Feed {
    account: Address,
    state: State,
    markets: Markets,
    messages: Rolling,
    connections: Rolling,
    backoff: Backoff,
    counts: Counts,
    lag_ms: Option<u64>,
    proved: BTreeSet<Topic>,
    /// The times of the newest states of the last socket.
    known: BTreeMap<Topic, u64>,
}

#[derive(Debug)]
enum State {
    Waiting { until_ms: u64 },
    Connecting { since_ms: u64 },
    Open(Box<Session>),
}

impl Feed {
    /// A feed that connects at its first step.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let Config { account, limits, ruled_markets, seed } = config;
        Self {
            account,
            state: State::Waiting { until_ms: 0 },
            markets: Markets::new(ruled_markets, limits.markets),
            messages: Rolling::new(limits.messages),
            connections: Rolling::new(limits.connections),
            backoff: Backoff::new(seed),
            counts: Counts::default(),
            lag_ms: None,
            proved: BTreeSet::new(),
            known: BTreeMap::new(),
        }
    }

    /// Takes one thing in, and says what to do.
    pub fn step(&mut self, input: Input, now: Now) -> Vec<Output> {
        let mut outputs = Vec::new();
        let now_ms = now.steady_ms;
        let mut lost = None;
        // On a live socket what is due can wait for the next tick: markets can tell hundreds of things a second.
        let may_wait = matches!(input, Input::Frame { .. }) && self.stage() == Stage::Live;
        match input {
            Input::Connected => self.connected(now_ms, &mut outputs),
            Input::Closed if matches!(self.state, State::Waiting { .. }) => {}
            Input::Closed => self.pause(now_ms),
            Input::Frame { frame, bytes } => {
                self.counts.frames = self.counts.frames.saturating_add(1);
                lost = self.with_session(now, &mut outputs, |session, step| session.on_frame(frame, bytes, step).err());
            }
            Input::BaselineRead { socket } => {
                lost = self.with_session(now, &mut outputs, |session, step| {
                    session.on_baseline(socket, step);
                    None
                });
            }
            Input::Distrusted(reason) => lost = matches!(self.state, State::Open(_)).then_some(reason),
            Input::Universe(coins) => self.markets.set_universe(coins, now_ms),
            Input::Wanted(coins) => self.markets.want(coins, now_ms),
            Input::Tick => {}
        }
        if may_wait && lost.is_none() {
            return outputs;
        }
        if let Some(reason) = lost.or_else(|| self.go_on(now, &mut outputs)) {
            outputs.push(Output::Close(reason));
            self.pause(now_ms);
        }
        self.tell_proved(now_ms, &mut outputs);
        outputs
    }

    /// How far it is.
    #[must_use]
    pub fn stage(&self) -> Stage {
        match &self.state {
            State::Waiting { .. } => Stage::Waiting,
            State::Connecting { .. } => Stage::Connecting,
            State::Open(session) => session.stage(),
        }
    }

    /// What was counted since the start.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// How late the newest state with a time was, milliseconds.
    #[must_use]
    pub fn lag_ms(&self) -> Option<u64> {
        self.lag_ms
    }

    fn connected(&mut self, now_ms: u64, outputs: &mut Vec<Output>) {
        if !matches!(self.state, State::Connecting { .. }) {
            outputs.push(Output::Close("it was given up before it opened"));
            return self.pause(now_ms);
        }
        self.counts.sockets = self.counts.sockets.saturating_add(1);
        self.state = State::Open(Box::new(Session::new(self.counts.sockets, &self.known, now_ms)));
    }

    /// Does what is due; a reason where the socket is of no more use.
    fn go_on(&mut self, now: Now, outputs: &mut Vec<Output>) -> Option<&'static str> {
        let now_ms = now.steady_ms;
        match &self.state {
            State::Waiting { until_ms } => {
                if now_ms >= *until_ms && self.connections.room(now_ms) > 0 {
                    self.connections.take(now_ms);
                    self.state = State::Connecting { since_ms: now_ms };
                    outputs.push(Output::Connect);
                }
                None
            }
            State::Connecting { since_ms } => {
                (now_ms.saturating_sub(*since_ms) >= CONNECT_MS).then_some("it does not open")
            }
            State::Open(_) => {
                let markets = self.markets.watched(now_ms).clone();
                self.with_session(now, outputs, |session, step| session.go_on(&markets, step).err())
            }
        }
    }

    /// Has the open session do something, if there is one.
    fn with_session<T>(
        &mut self,
        now: Now,
        outputs: &mut Vec<Output>,
        act: impl FnOnce(&mut Session, &mut Step<'_>) -> Option<T>,
    ) -> Option<T> {
        let State::Open(session) = &mut self.state else { return None };
        let mut step = Step {
            account: &self.account,
            now,
            messages: &mut self.messages,
            counts: &mut self.counts,
            lag_ms: &mut self.lag_ms,
            outputs,
        };
        act(session, &mut step)
    }

    /// There is no socket; another is tried for later.
    fn pause(&mut self, now_ms: u64) {
        if let State::Open(session) = &self.state {
            self.known = session.known();
            if session.live_ms().is_some_and(|live_ms| now_ms.saturating_sub(live_ms) >= SERVED_MS) {
                self.backoff.reset();
            }
        }
        self.state = State::Waiting { until_ms: now_ms.saturating_add(self.backoff.next_ms()) };
    }

    fn tell_proved(&mut self, now_ms: u64, outputs: &mut Vec<Output>) {
        let proved = match &self.state {
            State::Open(session) => session.proved(now_ms),
            State::Waiting { .. } | State::Connecting { .. } => BTreeSet::new(),
        };
        if proved != self.proved {
            self.proved.clone_from(&proved);
            outputs.push(Output::Proved(proved));
        }
    }
}
