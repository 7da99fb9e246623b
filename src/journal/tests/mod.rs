//! Shared by all tests of journals.

mod chain;
mod crash;
mod disk;
mod figures;
mod full_disk;
mod hanging;
mod index;
mod lookup;
mod marked;
mod places;
mod start;
mod taken_over;
mod vouching;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::*;
use crate::faults::{Fault, Faults, Step, Switch};
use crate::record::event::{Event, Keys};

/// 2026-03-01, 12:00 UTC.
pub(super) const NOON: u64 = 1_772_366_400_000;
pub(super) const DAY: u64 = 86_400_000;

/// A started journal in a folder that goes with the test.
pub(super) struct Place {
    _root: TempDir,
    pub(super) dir: PathBuf,
    pub(super) spare: PathBuf,
}

impl Place {
    pub(super) fn new() -> Place {
        let root = TempDir::new().unwrap();
        let (dir, spare) = (root.path().join("journals/paper-0x01"), root.path().join("spare/paper-0x01"));
        create_risk(&dir, &json!({"kind": "init", "n": 0}).to_string(), None).unwrap();
        Place { _root: root, dir, spare }
    }

    pub(super) fn open(&self) -> (Store, Opened) {
        open(&self.dir, &Options::default()).unwrap()
    }

    pub(super) fn open_with(&self, switch: Switch) -> Store {
        open(&self.dir, &Options { faults: Faults::new(switch), ..Options::default() }).unwrap().0
    }

    pub(super) fn refusal(&self) -> OpenError {
        open(&self.dir, &Options::default()).map(|_| ()).expect_err("must be refused")
    }

    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    pub(super) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.file(name)).unwrap()
    }

    /// The files of the index.
    pub(super) fn runs(&self) -> Vec<PathBuf> {
        let mut runs: Vec<_> =
            std::fs::read_dir(self.file("index")).unwrap().map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }

    /// The names of the events' files, in order.
    pub(super) fn event_files(&self) -> Vec<String> {
        let names =
            std::fs::read_dir(&self.dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name.starts_with("events-")).collect();
        names.sort();
        names
    }
}

/// A journal with its threads, until it is dropped.
pub(super) struct Running<T> {
    journal: Option<Journal<T>>,
    writer: Option<JoinHandle<()>>,
    history: Option<JoinHandle<()>>,
}

/// Starts the threads that a service would: the writer, and the one behind it if there is something for it.
pub(super) fn start<T: Send + 'static>(
    store: Store,
    history: Option<History>,
    capacity: usize,
    release: impl FnMut(T, Result<(), Arc<JournalError>>) + Send + 'static,
) -> Running<T> {
    let (journal, writer, disk) = store.writer(capacity, |_| {}, release);
    disk.into_iter().for_each(|disk| drop(std::thread::spawn(move || disk.run())));
    let writer = std::thread::spawn(move || writer.run());
    let history = history.map(|history| std::thread::spawn(move || history.run(|damage| panic!("{damage:?}"))));
    Running { journal: Some(journal), writer: Some(writer), history }
}

impl<T> Running<T> {
    pub(super) fn is_alive(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| !writer.is_finished())
    }
}

impl<T> std::ops::Deref for Running<T> {
    type Target = Journal<T>;

    fn deref(&self) -> &Journal<T> {
        self.journal.as_ref().unwrap()
    }
}

impl<T> Drop for Running<T> {
    fn drop(&mut self) {
        drop(self.journal.take());
        for thread in self.writer.take().into_iter().chain(self.history.take()) {
            assert!(thread.join().is_ok() || std::thread::panicking());
        }
    }
}

pub(super) fn keys_of(event: &Value) -> Keys {
    Event::of(event).unwrap().kind.keys()
}

pub(super) fn line(event: &Value) -> Line {
    Line { text: event.to_string(), keys: keys_of(event) }
}

pub(super) fn event(seq: u64) -> Line {
    line(&json!({"seq": seq, "at_ms": NOON, "kind": "error", "text": "nothing"}))
}

pub(super) fn record(n: u64) -> RiskLine {
    RiskLine { text: json!({"kind": "peak", "n": n}).to_string() }
}

pub(super) fn checkpoint(seq: u64) -> RiskLine {
    RiskLine { text: json!({"kind": "checkpoint", "seq": seq}).to_string() }
}

pub(super) fn seqs(opened: &Opened) -> Vec<u64> {
    let seq = |text: &str| serde_json::from_str::<Value>(text).unwrap()["seq"].as_u64().unwrap();
    texts(opened).iter().map(|text| seq(text)).collect()
}

/// The events that a start reads.
pub(super) fn texts(opened: &Opened) -> Vec<String> {
    let mut texts = Vec::new();
    opened.events.each(|stored| texts.push(stored.text)).unwrap();
    texts
}

/// The numbers of the risk records that have one.
pub(super) fn numbers(risk: &[String]) -> Vec<u64> {
    risk.iter().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["n"].as_u64()).collect()
}

pub(super) fn verify(opened: &Opened) {
    opened.history.verify().unwrap();
}

/// A switch that fires once, at the `nth` time (from 0) a step is met.
pub(super) fn once(step: Step, nth: usize, fault: Fault) -> Switch {
    let met = Mutex::new(0);
    std::sync::Arc::new(move |at| {
        let mut met = met.lock().unwrap();
        *met += usize::from(at == step);
        (at == step && *met == nth + 1).then_some(fault)
    })
}

pub(super) fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}
