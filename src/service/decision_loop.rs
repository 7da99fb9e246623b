//! The decision loop: one thread that owns the core and serializes everything. It never waits for network or disk.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use serde_json::json;

use self::backlog::Backlog;
use self::lanes::Lanes;
use self::uncovered::Uncovered;
use self::worth::worth;
use super::equity_keeper::EquityKeeper;
use super::inbox_places::INBOX;
use super::message::{Message, OwnSocket, Reply, Responder};
use super::metrics::Now;
use super::on_commit::{AfterCommit, CommitHandler, Event, Output, not_sent};
use super::reporting::health_report::HealthReport;
use super::reporting::notify::Watchdog;
use super::venue_io::feed_link::FeedLink;
use super::venue_io::read_board::{MOST_QUESTIONS, ReadBoard};
use super::venue_io::send_queue::QUEUE;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::day::day_of;
use crate::base::sync::{lock, look_out};
use crate::faults::Step;
use crate::guard::{self, AlertCode, Command, Effects, FeedCommand, Guard, Input, Request, RequestBody, SendAction};
use crate::journal::{Batch, Condition, Health, Line, RiskLine};
use crate::record::status::Status;
use crate::relay;
use crate::venue::weight::Priority;
use crate::venue::weight_ledger::Ledger;

pub(super) mod backlog;
mod lanes;
mod uncovered;
mod worth;

/// How often the core is given the time while nothing else happens.
const TICK: Duration = Duration::from_millis(100);
/// The text for a request that a full disk takes in only to find no room at the venue.
const IN_VAIN: &str = "the disk is full, its reserve is for what can be sent, and the client has spent its part of the minute's \
                       weight: ask again within a minute, and make space";
/// How long the loop stays awake for a request that was announced: what it takes to recover a signer, and some.
const AWAKE: Duration = Duration::from_micros(500);
/// A disk that has not answered for so long hangs.
const HANGS_AFTER_MS: u64 = 5_000;
const HANGS: &str = "the journal's disk does not answer: what is decided is not on record, and nothing is sent, no stop and no \
                     close either, until it does; close at the venue what must not wait, and repair the disk";
/// How long sends may take to end once the shutdown was asked for.
const SHUTDOWN_GRACE_MS: u64 = 5_000;

/// The loop's channels, and what it shares with other threads.
pub(super) struct Surroundings {
    /// Messages to the loop.
    pub(super) inbox: Receiver<Message>,
    /// Takes what needs no disk.
    pub(super) commit_handler: CommitHandler,
    /// Reads that the poller should do soon.
    pub(super) reads: Arc<ReadBoard>,
    /// What the live feed is to do.
    pub(super) feed: Arc<FeedLink>,
    /// What clients hear of the guard's own socket.
    pub(super) passed: Sender<OwnSocket>,
    /// The request budget, for the status.
    pub(super) budget: Arc<Mutex<Ledger>>,
    /// What clients subscribe to, for the status.
    pub(super) subscriptions: Arc<Mutex<relay::Counts>>,
    /// Keeps the equity of each minute.
    pub(super) equity: Arc<EquityKeeper>,
    /// Reports problems.
    pub(super) health_report: HealthReport,
    /// Is fed each time the loop turns.
    pub(super) watchdog: Watchdog,
}

/// The decision loop.
pub(super) struct DecisionLoop {
    guard: Guard,
    around: Surroundings,
    /// What came out of the inbox.
    lanes: Lanes,
    /// Batches for the journal.
    backlog: Backlog,
    /// The journal's condition.
    health: Arc<Health>,
    /// Clients that wait, by the number of their request.
    waiting: HashMap<u64, Responder>,
    /// The number of the last request.
    last_request: u64,
    /// What was written since the last checkpoint.
    uncovered: Uncovered,
    /// When the core was last given the time.
    ticked_ms: u64,
    /// When sends are no longer waited for, once the shutdown was asked for.
    shutdown_by_ms: Option<u64>,
    /// A request is about to come.
    is_expecting: bool,
}

impl DecisionLoop {
    /// A loop for this core.
    pub(super) fn new(guard: Guard, backlog: Backlog, health: Arc<Health>, around: Surroundings) -> Self {
        Self {
            guard,
            around,
            lanes: Lanes::default(),
            backlog,
            health,
            waiting: HashMap::new(),
            last_request: 0,
            uncovered: Uncovered::default(),
            ticked_ms: 0,
            shutdown_by_ms: None,
            is_expecting: false,
        }
    }

    /// Runs until the last event of a shutdown is handed to the journal.
    ///
    /// # Errors
    /// When the journal's thread is gone.
    pub(super) fn run(mut self) -> Result<(), String> {
        let started = self.guard.start(now_ms());
        self.carry_out(started);
        loop {
            self.around.commit_handler.faults.pass(Step::Decide).map_err(|error| error.to_string())?;
            self.around.watchdog.turn(steady_ms());
            let patience = if self.backlog.is_empty() { TICK } else { Duration::from_millis(1) };
            match self.next(patience) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("everyone who speaks to the decision loop is gone".to_owned());
                }
            }
            self.tick_if_due();
            self.journal_health();
            self.backlog.flush()?;
            self.journal_room();
            let is_idle = || self.guard.is_idle() && !self.lanes.have_requests();
            if self.shutdown_by_ms.is_some_and(|by_ms| is_idle() || now_ms() >= by_ms) {
                self.step(Input::SendsEnded);
                self.turn_away_all();
                return self.flush_all();
            }
        }
    }

    /// Answers those who still wait to be heard: nobody judges them any more.
    fn turn_away_all(&mut self) {
        let inbox = &self.around.inbox;
        let waiting = std::iter::from_fn(|| self.lanes.next()).chain(inbox.try_iter().take(INBOX));
        for message in waiting {
            if let Message::Exchange { reply, .. } | Message::Kill { reply, .. } = message {
                reply.answer(Reply::stopping());
            }
        }
    }

    fn next(&mut self, patience: Duration) -> Result<Message, RecvTimeoutError> {
        let inbox = &self.around.inbox;
        self.lanes.fill(|| inbox.try_recv().ok());
        if let Some(message) = self.lanes.next() {
            return Ok(message);
        }
        let expected = std::mem::take(&mut self.is_expecting).then(|| look_out(AWAKE, || inbox.try_recv().ok()));
        expected.flatten().map_or_else(|| inbox.recv_timeout(patience), Ok)
    }

    /// Gives the core the time also while messages come without a pause.
    fn tick_if_due(&mut self) {
        if now_ms().saturating_sub(self.ticked_ms) >= u64::try_from(TICK.as_millis()).unwrap_or_default() {
            self.ticked_ms = now_ms();
            if let Some(untold) = self.around.commit_handler.turned_away.take() {
                self.step(untold);
            }
            self.step(Input::Tick);
            self.around.feed.set_venue_ms(self.guard.venue_ms());
            let found = || (self.guard.problems(self.ticked_ms), self.guard.warnings(self.ticked_ms));
            self.around.health_report.report_if_due(self.ticked_ms, found);
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Soon => self.is_expecting = true,
            Message::Input(input) => {
                if let Input::Shutdown { .. } = &input {
                    self.shutdown_by_ms.get_or_insert(now_ms().saturating_add(SHUTDOWN_GRACE_MS));
                }
                self.step(input);
            }
            Message::Passed(told) => {
                // One that is lost may have been a fill: another socket begins with all that counts.
                if self.around.passed.try_send(told).is_err() {
                    self.around.feed.leave(FeedCommand::Distrust("what clients hear of it is not taken"));
                }
            }
            // The batches that wait must get to the disk before more is taken in.
            Message::Exchange { reply, .. } if self.backlog.is_full() => {
                self.around.commit_handler.metrics.busy.add();
                self.around.commit_handler.turned_away.add(1, guard::Code::Busy.as_str());
                reply.answer(Reply::busy());
            }
            Message::Exchange { reply, body, .. } if self.is_in_vain(&body) => {
                self.around.commit_handler.turned_away.add(1, guard::Code::JournalError.as_str());
                reply.answer(Reply::refusal(503, guard::Code::JournalError.as_str(), IN_VAIN));
            }
            Message::Exchange { via, body, reply, place } => {
                self.backlog.announce();
                drop(place);
                let id = self.wait(reply);
                self.step(Input::Request(Request { id, via, body }));
            }
            Message::Kill { reason, by, reply } => {
                let id = self.wait(reply);
                self.step(Input::Kill { reason, by: Some(by), write_file: true, request: Some(id) });
            }
            Message::Status(reply) => {
                let weight = {
                    let budget = lock(&self.around.budget);
                    (budget.budget(), budget.used(steady_ms()))
                };
                let subscriptions = Some((*lock(&self.around.subscriptions)).into());
                let status = Status { subscriptions, ..self.guard.status(now_ms(), weight) };
                let _ = reply.try_send(json!(status).to_string());
            }
            Message::Now(reply) => drop(reply.try_send(Box::new(self.now()))),
            Message::Health(reply) => {
                let _ = reply.try_send(self.guard.health(now_ms()));
            }
        }
    }

    /// Whether nothing could be sent for a client now: then it takes no byte of what a full disk keeps for closing.
    fn is_in_vain(&self, body: &RequestBody) -> bool {
        let RequestBody::Signed { client, .. } = body else { return false };
        let has_room = || lock(&self.around.budget).has_room(Priority::ClientExit, Some(client), 1, steady_ms());
        self.guard.is_disk_full() && !has_room()
    }

    /// The figures of the moment, for a scrape.
    fn now(&self) -> Now {
        let (weight, spent) = {
            let budget = lock(&self.around.budget);
            ((budget.budget(), budget.used(steady_ms())), budget.totals().collect())
        };
        let (waiting, room) = self.backlog.queue();
        let reads = ("reads", self.around.reads.len(), MOST_QUESTIONS);
        let [own, clients] = self.around.commit_handler.sends.lengths();
        Now {
            guard: self.guard.gauges(now_ms()),
            journal: self.health.condition(),
            backlog: self.backlog.len(),
            queues: [
                ("inbox", self.around.inbox.len().saturating_add(self.lanes.len()), 2 * INBOX),
                ("journal", waiting, room),
                reads,
                ("own_sends", own, QUEUE),
                ("client_sends", clients, QUEUE),
            ],
            weight,
            spent,
        }
    }

    fn wait(&mut self, reply: Responder) -> u64 {
        self.last_request = self.last_request.saturating_add(1);
        self.waiting.insert(self.last_request, reply);
        self.last_request
    }

    fn step(&mut self, input: Input) {
        let at_ms = now_ms();
        let effects = self.guard.step(input, at_ms);
        self.around.equity.take(self.guard.measured(), at_ms);
        self.carry_out(effects);
    }

    /// Hands effects to those who carry them out.
    fn carry_out(&mut self, effects: Effects) {
        if effects.is_empty() {
            return;
        }
        for deed in effects.immediate {
            match self.output(deed) {
                Some(Output::Answer(client, reply)) => self.around.commit_handler.answer(client, reply),
                Some(Output::Send(action)) => self.send(action),
                Some(Output::ShutDown | Output::KillFile(_)) | None => {}
            }
        }
        let events = effects.records.iter().map(|record| self.event(record)).collect();
        let outputs = effects.after_commit.into_iter().filter_map(|deed| self.output(deed)).collect::<Vec<_>>();
        if effects.records.is_empty() && effects.risk.is_empty() && outputs.is_empty() {
            return;
        }
        let at_ms = now_ms();
        let is_alone = effects.risk.is_empty() && outputs.iter().all(|output| matches!(output, Output::ShutDown));
        let worth = worth(&effects.records, is_alone);
        let is_due = self.uncovered.add(&effects.records, day_of(at_ms));
        let lines = effects.records.into_iter().map(line).collect();
        let mut risk: Vec<_> = effects.risk.into_iter().map(|record| RiskLine { text: record.text }).collect();
        if is_due {
            self.uncovered.begin_anew();
            risk.push(RiskLine { text: self.guard.checkpoint(at_ms) });
        }
        let after = AfterCommit { events, outputs };
        self.backlog.push(Batch { at_ms, events: lines, risk, worth, after });
    }

    /// An event for clients that poll, with the figures that are counted of it. Called while its client still waits.
    fn event(&self, record: &guard::Record) -> Event {
        let decided = record.decided.map(|decided| (decided, self.waiting.get(&decided.request)));
        let decided = decided.map(|(decided, waiting)| (decided, waiting.map(Responder::received)));
        Event { seq: record.seq, kind: record.kind, text: record.text.clone(), decided }
    }

    /// Sends an action that an earlier event already names.
    fn send(&mut self, action: SendAction) {
        // Not by a message, which this thread, the only reader of its inbox, must not wait for.
        if let Err(action) = self.around.commit_handler.sends.push(action) {
            self.step(not_sent(&action));
        }
    }

    fn output(&mut self, deed: Command) -> Option<Output> {
        match deed {
            Command::Answer(guard::Answer { request, http_status, body }) => {
                let client = self.waiting.remove(&request)?;
                Some(Output::Answer(client, Reply { http_status, body }))
            }
            Command::Send(action) => Some(Output::Send(action)),
            Command::Read(read) => {
                self.around.reads.want(read);
                None
            }
            Command::Feed(command) => {
                if let FeedCommand::Pace(pace) = &command {
                    self.around.reads.set_pace(*pace);
                    lock(&self.around.budget).set_fed(pace.steady);
                }
                self.around.feed.leave(command);
                None
            }
            Command::WriteKillFile(reason) => Some(Output::KillFile(reason)),
            Command::FinishShutdown => Some(Output::ShutDown),
        }
    }

    /// Gives the journal all that is left, as long as a shutdown may take: a slow disk must not cost the last events.
    fn flush_all(&mut self) -> Result<(), String> {
        let until_ms = now_ms().saturating_add(SHUTDOWN_GRACE_MS);
        loop {
            self.backlog.flush()?;
            if self.backlog.is_empty() || now_ms() >= until_ms {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Tells the core when the journal's condition changed.
    fn journal_health(&mut self) {
        let problem = match self.health.condition() {
            _ if self.health.at_disk_for_ms(steady_ms()) >= HANGS_AFTER_MS => Some(HANGS.to_owned()),
            Condition::Good => None,
            Condition::Degraded | Condition::Failing => {
                Some(self.health.error().unwrap_or_else(|| "the journal is failing".to_owned()))
            }
        };
        if self.guard.journal_problem() != problem.as_deref() {
            self.step(Input::Journal(problem));
        }
        if self.guard.is_disk_full() != self.health.is_full() {
            self.step(Input::DiskFull(self.health.is_full()));
        }
        let low_space = self.health.low_space();
        if self.guard.concern(AlertCode::DiskLow) != low_space.as_deref() {
            self.step(Input::Concern { code: AlertCode::DiskLow, text: low_space });
        }
    }

    /// Tells the core when the journal's queue became full, or has room again.
    fn journal_room(&mut self) {
        let is_behind = !self.backlog.is_empty();
        if self.guard.is_behind() != is_behind {
            self.step(Input::Behind(is_behind));
        }
    }
}

fn line(record: guard::Record) -> Line {
    Line { text: record.text, keys: record.keys }
}

#[cfg(test)]
mod tests;
