//! The script of faults that a program of a fault build follows: a file in its home, read anew whenever it changes.
//!
//! ```json
//! {"clock_ms": 0, "faults": [{"step": "events_write", "on": "order", "skip": 1, "times": 1, "do": "abort", "after": 40}]}
//! ```
//!
//! `do` is `abort` (the process is killed), `fail` with `errno`, `delay` with `ms`, or `panic`. The fault hits after `skip`
//! passes of its step since the script was read, so many `times` (1); of a write, the first `after` bytes are written.
//! `on` narrows it to the type of action or question that the thread is busy with. `clock_ms` is added to the machine's
//! clock. What was hit is told on standard error.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;

use super::fault::{Fault, Switch};
use super::step::Step;

/// The script's name in the home.
pub const SCRIPT: &str = "faults.json";

/// Only programs that can be told to fail carry this text.
const MARK: &str = "svc-guard fault script";

static CLOCK_MS: AtomicI64 = AtomicI64::new(0);

thread_local! {
    static ABOUT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// How far the script sets the machine's clock ahead.
#[must_use]
pub fn clock_offset_ms() -> i64 {
    CLOCK_MS.load(Ordering::SeqCst)
}

pub(super) fn about(what: &str) {
    ABOUT.with_borrow_mut(|about| what.clone_into(about));
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Script {
    clock_ms: i64,
    faults: Vec<Planned>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Planned {
    step: String,
    #[serde(default)]
    on: Option<String>,
    #[serde(default)]
    skip: u64,
    #[serde(default = "once")]
    times: u64,
    #[serde(rename = "do")]
    what: String,
    #[serde(default)]
    after: usize,
    #[serde(default)]
    errno: i32,
    #[serde(default)]
    ms: u64,
}

fn once() -> u64 {
    1
}

impl Planned {
    fn fault(&self) -> Option<Fault> {
        match self.what.as_str() {
            "abort" => Some(Fault::Kill { after: self.after }),
            "fail" => Some(Fault::Fail { after: self.after, errno: self.errno }),
            "delay" => Some(Fault::Delay { ms: self.ms }),
            "panic" => Some(Fault::Panic),
            _ => None,
        }
    }
}

/// The script as far as it has been played.
#[derive(Default)]
struct Playing {
    path: PathBuf,
    /// The file that was read, by its time and number.
    read: Option<(SystemTime, u64)>,
    script: Script,
}

/// A switch that plays the script in this home.
pub(super) fn follow(home: &Path) -> Switch {
    let playing = Mutex::new(Playing { path: home.join(SCRIPT), ..Playing::default() });
    Arc::new(move |step| playing.lock().unwrap_or_else(PoisonError::into_inner).hit(step))
}

impl Playing {
    fn hit(&mut self, step: Step) -> Option<Fault> {
        self.read_anew();
        let about = ABOUT.with_borrow(Clone::clone);
        let matches = |fault: &&mut Planned| {
            fault.step == step.name() && fault.times > 0 && fault.on.as_ref().is_none_or(|on| *on == about)
        };
        let mut hit = None;
        for fault in self.script.faults.iter_mut().filter(matches) {
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if hit.is_none() {
                fault.times -= 1;
                hit = fault.fault();
                eprintln!("{MARK}: {} at {} {about}", fault.what, fault.step);
            }
        }
        hit
    }

    fn read_anew(&mut self) {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(&self.path).ok();
        let found = found.and_then(|found| Some((found.modified().ok()?, found.ino())));
        if found == self.read {
            return;
        }
        self.read = found;
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        self.script = if text.is_empty() { Script::default() } else { parse(&text) };
        CLOCK_MS.store(self.script.clock_ms, Ordering::SeqCst);
    }
}

/// A script that cannot be read, or that names what there is not, must not pass for one in which nothing fails.
fn parse(text: &str) -> Script {
    let script: Script = serde_json::from_str(text).unwrap_or_else(|error| refuse(&error.to_string()));
    let is_known = |fault: &Planned| Step::ALL.iter().any(|step| step.name() == fault.step) && fault.fault().is_some();
    if let Some(fault) = script.faults.iter().find(|fault| !is_known(fault)) {
        refuse(&format!("there is no {} at {}", fault.what, fault.step));
    }
    script
}

fn refuse(why: &str) -> ! {
    eprintln!("{MARK}: {why}");
    std::process::abort()
}
