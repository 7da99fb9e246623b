//! The script of faults in a stand's home.

use serde_json::{Value, json};
use svc_guard::faults::{SCRIPT, Step};

use crate::stand::Stand;

/// Longer than reads take to come round, shorter than the guard waits for an answer.
const DELAY_MS: u64 = 2_500;

/// What is to happen at a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Abort,
    Fail,
    Delay,
    Panic,
}

impl Fault {
    /// The fault at this step, so often.
    pub(crate) fn at(self, step: Step, times: u64) -> Value {
        let mut fault = json!({"step": step.name(), "times": times});
        let what = match self {
            Fault::Abort => json!({"do": "abort", "after": 30}),
            Fault::Fail => json!({"do": "fail", "errno": 5, "after": 30}),
            Fault::Delay => json!({"do": "delay", "ms": DELAY_MS}),
            Fault::Panic => json!({"do": "panic"}),
        };
        fault.as_object_mut().unwrap().extend(what.as_object().unwrap().clone());
        fault
    }
}

/// The same on the thread, or while it asks or sends, that is named.
pub(crate) fn on(mut fault: Value, what: &str) -> Value {
    fault["on"] = json!(what);
    fault
}

/// Has the program of this stand follow these faults from now on.
pub(crate) fn play(stand: &Stand, faults: &[Value]) {
    write(stand, &json!({"faults": faults}));
}

/// Sets the clock of the program ahead, or back.
pub(crate) fn set_clock(stand: &Stand, ms: i64) {
    write(stand, &json!({"clock_ms": ms}));
}

fn write(stand: &Stand, script: &Value) {
    let (fresh, path) = (stand.home().join("faults.new"), stand.home().join(SCRIPT));
    std::fs::write(&fresh, script.to_string()).unwrap();
    std::fs::rename(fresh, path).unwrap();
}

/// How often a fault has hit this stand's program at this step.
pub(crate) fn hits(stand: &Stand, step: Step) -> usize {
    stand
        .log()
        .lines()
        .filter(|line| line.contains("fault script") && line.contains(&format!(" at {} ", step.name())))
        .count()
}
