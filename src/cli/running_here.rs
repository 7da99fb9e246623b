//! A guard that runs on a home whose folder or journal was moved since: a second one beside it would take the first one's place by
//! halves, and neither would close what the other holds.

use super::configured::is_running;
use super::refusal::Refusal;
use crate::base::kill_watch::KillWatch;
use crate::base::shell::place;
use crate::home::Home;

/// Refuses what would begin a guard, or its journal, beside one that runs.
pub(super) fn refuse_beside(home: &Home) -> Result<(), Refusal> {
    if is_running(home) { Err(Refusal::Given(told(home))) } else { Ok(()) }
}

/// That one runs, and what is done first.
pub(super) fn told(home: &Home) -> String {
    let pid = KillWatch::holder(&home.kill_file());
    let ends = pid.map_or_else(
        || "stop it first, in its container or by `systemctl stop svc-guard` where that unit runs it".to_owned(),
        |pid| format!("stop it first: `kill {pid}` ends it in order, and where it hangs `kill -9 {pid}`"),
    );
    format!(
        "a guard runs on {} already, whose home or journal was moved since: move that back, or {ends}",
        place(home.dir())
    )
}
