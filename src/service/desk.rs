//! The decision loop: one thread that owns the core and serializes everything. It never waits for network or disk.

use crate::base::sync::lock;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TrySendError};

use super::log::{self, Level};
use super::message::{INBOX, Message, Reply, Responder};
use super::metrics::Now;
use super::notify::Watchdog;
use super::release::{Event, Ready, Release, Releaser};
use super::sender::QUEUE;
use super::waits::Waits;
use crate::base::clock::{now_ms, steady_ms};
use crate::base::kill_file::KillFile;
use crate::faults::Step;
use crate::guard::{self, Deed, Effects, Guard, Input, Read, Request, SendAction};
use crate::journal::{Batch, Condition, Health, Keys, Line, RiskLine};
use crate::venue::weight::Ledger;

/// How often time is told to the core while nothing else happens.
const TICK: Duration = Duration::from_millis(100);
/// How long sends may take to end after a stop.
const STOP_GRACE_MS: u64 = 5_000;

/// The decision loop's surroundings.
pub(super) struct Desk {
    /// The core.
    pub(super) guard: Guard,
    /// What comes in.
    pub(super) inbox: Receiver<Message>,
    /// The journal's queue.
    pub(super) journal: Sender<Batch<Release>>,
    /// How the journal stands.
    pub(super) health: Arc<Health>,
    /// Where what needs no disk goes.
    pub(super) releaser: Releaser,
    /// What the poller should read soon.
    pub(super) reads: Sender<Read>,
    /// The request budget, for the status.
    pub(super) ledger: Arc<Mutex<Ledger>>,
    /// The kill file.
    pub(super) kill_file: KillFile,
    /// Clients that wait, by the number of their request.
    pub(super) waiting: HashMap<u64, Responder>,
    /// The number of the last request.
    pub(super) last_request: u64,
    /// Batches that the journal's queue had no room for, oldest first.
    pub(super) backlog: VecDeque<Batch<Release>>,
    /// The last event that a checkpoint covers.
    pub(super) checkpoint_seq: u64,
    /// When time was last told.
    pub(super) ticked_ms: u64,
    /// What the log was told of waiting.
    pub(super) waits: Waits,
    /// Is told each time the loop turns.
    pub(super) watchdog: Watchdog,
    /// When sends are no longer waited for, after a stop.
    pub(super) stop_by_ms: Option<u64>,
}

impl Desk {
    /// Runs until the last event after a stop is handed to the journal.
    ///
    /// # Errors
    /// When the journal's thread is gone.
    pub(super) fn run(mut self) -> Result<(), String> {
        let started = self.guard.start(now_ms());
        self.carry_out(started);
        loop {
            self.releaser.faults.pass(Step::Decide).map_err(|error| error.to_string())?;
            self.watchdog.turn(steady_ms());
            let patience = if self.backlog.is_empty() { TICK } else { Duration::from_millis(1) };
            match self.inbox.recv_timeout(patience) {
                Ok(message) => self.take(message),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err("everyone who speaks to the decision loop is gone".to_owned());
                }
            }
            self.tick_if_due();
            self.journal_health();
            self.flush()?;
            self.journal_room();
            if self.stop_by_ms.is_some_and(|by_ms| self.guard.is_idle() || now_ms() >= by_ms) {
                self.step(Input::Stopped);
                return self.flush_all();
            }
        }
    }

    /// Tells the time also while messages come without a pause.
    fn tick_if_due(&mut self) {
        if now_ms().saturating_sub(self.ticked_ms) >= u64::try_from(TICK.as_millis()).unwrap_or_default() {
            self.ticked_ms = now_ms();
            self.step(Input::Tick);
            self.waits.look(self.ticked_ms, || self.guard.problems(self.ticked_ms));
        }
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Input(input) => {
                if let Input::Stop { .. } = &input {
                    self.stop_by_ms.get_or_insert(now_ms().saturating_add(STOP_GRACE_MS));
                }
                self.step(input);
            }
            // Not even the room kept for exits is left. What waits must get to the disk before more is taken in.
            Message::Exchange { reply, .. } if self.is_backlog_full() => {
                self.releaser.metrics.busy.add();
                reply.answer(Reply::busy());
            }
            Message::Exchange { via, body, reply } => {
                let id = self.wait(reply);
                self.step(Input::Request(Request { id, via, body }));
            }
            Message::Kill { reason, by, reply } => {
                let id = self.wait(reply);
                self.step(Input::Kill { reason, by: Some(by), write_file: true, request: Some(id) });
            }
            Message::Status(reply) => {
                let weight = {
                    let ledger = lock(&self.ledger);
                    (ledger.budget(), ledger.used(steady_ms()))
                };
                let _ = reply.try_send(self.guard.status(now_ms(), weight).to_string());
            }
            Message::Now(reply) => drop(reply.try_send(Box::new(self.now()))),
            Message::Health(reply) => {
                let _ = reply.try_send(self.guard.problems(now_ms()));
            }
        }
    }

    /// The figures of the moment, for a scrape.
    fn now(&self) -> Now {
        let (weight, spent) = {
            let ledger = lock(&self.ledger);
            ((ledger.budget(), ledger.used(steady_ms())), ledger.totals().collect())
        };
        let journal = ("journal", self.journal.len(), self.journal.capacity().unwrap_or_default());
        let reads = ("reads", self.reads.len(), self.reads.capacity().unwrap_or_default());
        let [own, clients] = self.releaser.sends.lengths();
        Now {
            guard: self.guard.gauges(now_ms()),
            journal: self.health.condition(),
            backlog: self.backlog.len(),
            queues: [
                ("inbox", self.inbox.len(), INBOX),
                journal,
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
        let effects = self.guard.step(input, now_ms());
        self.carry_out(effects);
    }

    /// Hands effects to those who have them happen.
    fn carry_out(&mut self, effects: Effects) {
        if effects.is_empty() {
            return;
        }
        for deed in effects.at_once {
            match self.ready(deed) {
                Some(Ready::Answer(client, reply)) => self.releaser.answer(client, reply),
                Some(Ready::Send(action)) => self.send(action),
                Some(Ready::Stopped) | None => {}
            }
        }
        let events = effects.records.iter().map(|record| self.event(record)).collect();
        let ready = effects.after_disk.into_iter().filter_map(|deed| self.ready(deed)).collect::<Vec<_>>();
        if effects.records.is_empty() && effects.risk.is_empty() && ready.is_empty() {
            return;
        }
        let lines = effects.records.into_iter().map(line).collect();
        let records = effects.risk.into_iter().map(|record| RiskLine { text: record.text, checkpoint: false });
        let risk = records.chain(self.checkpoint_if_due()).collect();
        let at_ms = now_ms();
        self.backlog.push_back(Batch { at_ms, events: lines, risk, after: Release { events, ready } });
    }

    /// An event for those who poll, with what is counted of it. Called while its client still waits.
    fn event(&self, record: &guard::Record) -> Event {
        let decided = record.decided.map(|decided| (decided, self.waiting.get(&decided.request)));
        let decided = decided.map(|(decided, waiting)| (decided, waiting.map(Responder::received)));
        Event { seq: record.keys.seq, kind: record.kind, text: record.text.clone(), decided }
    }

    /// A checkpoint every so many events, so that a start never reads many.
    fn checkpoint_if_due(&mut self) -> Option<RiskLine> {
        let seq = self.guard.last_seq();
        if seq.saturating_sub(self.checkpoint_seq) < CHECKPOINT_EVERY {
            return None;
        }
        self.checkpoint_seq = seq;
        Some(RiskLine { text: self.guard.checkpoint(now_ms()), checkpoint: true })
    }

    /// Sends what an earlier event already covers.
    fn send(&mut self, action: SendAction) {
        // A full queue is told to the core by a message, which this thread, its only reader, must not wait for.
        if self.releaser.sends.is_full(action.urgency) {
            let outcome = guard::SendOutcome::NotSent("too many actions wait to be sent".to_owned());
            return self.step(Input::Sent { intent: action.intent, index: action.index, outcome });
        }
        self.releaser.send(action);
    }

    fn ready(&mut self, deed: Deed) -> Option<Ready> {
        match deed {
            Deed::Answer(guard::Answer { request, http_status, body }) => {
                let client = self.waiting.remove(&request)?;
                Some(Ready::Answer(client, Reply { http_status, body }))
            }
            Deed::Send(action) => Some(Ready::Send(action)),
            Deed::Read(read) => {
                // A poller with a full queue reads all of it soon anyway.
                let _ = self.reads.try_send(read);
                None
            }
            Deed::WriteKillFile(reason) => {
                let asked = self.releaser.faults.pass(Step::KillFileWrite);
                if let Err(error) = asked.and_then(|()| self.kill_file.pull(&reason)) {
                    let text =
                        format_args!("the kill file could not be written, the switch is pulled all the same: {error}");
                    log::line(Level::Error, text);
                }
                None
            }
            Deed::Stopped => Some(Ready::Stopped),
        }
    }

    /// Gives the journal what it has room for.
    fn flush(&mut self) -> Result<(), String> {
        while let Some(batch) = self.backlog.pop_front() {
            match self.journal.try_send(batch) {
                Ok(()) => {}
                Err(TrySendError::Full(batch)) => {
                    self.backlog.push_front(batch);
                    return Ok(());
                }
                Err(TrySendError::Disconnected(_)) => return Err("the journal's thread is gone".to_owned()),
            }
        }
        Ok(())
    }

    /// Gives the journal all that is left, as long as a stop may take: a slow disk must not cost the last events.
    fn flush_all(&mut self) -> Result<(), String> {
        let until_ms = now_ms().saturating_add(STOP_GRACE_MS);
        loop {
            self.flush()?;
            if self.backlog.is_empty() || now_ms() >= until_ms {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Tells the core when the journal's condition changed.
    fn journal_health(&mut self) {
        let problem = match self.health.condition() {
            Condition::Good => None,
            Condition::Degraded | Condition::Failing => {
                Some(self.health.error().unwrap_or_else(|| "the journal is failing".to_owned()))
            }
        };
        if self.guard.journal_problem() != problem.as_deref() {
            self.step(Input::Journal(problem));
        }
    }

    fn is_backlog_full(&self) -> bool {
        let texts = self.backlog.iter().flat_map(|batch| &batch.events).map(|line| line.text.len());
        self.backlog.len() > BACKLOG || texts.fold(0, usize::saturating_add) > BACKLOG_BYTES
    }

    /// Tells the core when the journal's queue became full, or has room again.
    fn journal_room(&mut self) {
        let is_behind = !self.backlog.is_empty();
        if self.guard.is_behind() != is_behind {
            self.step(Input::Behind(is_behind));
        }
    }
}

/// Events between two checkpoints.
const CHECKPOINT_EVERY: u64 = 5_000;
/// Batches that may wait here before nothing more is taken in: more than all connections together can have at work.
/// Entries are refused from the first on, so that this is room for exits.
const BACKLOG: usize = 8_192;
/// The same as the length of their texts.
const BACKLOG_BYTES: usize = 16 * 1024 * 1024;

fn line(record: guard::Record) -> Line {
    let cloids = record.keys.cloids.iter().map(|cloid| u128::from_be_bytes(cloid.0)).collect();
    Line { text: record.text, keys: Keys { nonce: record.keys.nonce, cloids, serves: record.keys.serves } }
}

#[cfg(test)]
mod tests;
