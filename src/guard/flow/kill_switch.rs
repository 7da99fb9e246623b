//! The kill switch: latched once, recorded, written to its file, and everything flattened. No interface releases it.

use crate::record::events::Kill;
use crate::record::kill_answer::KillAnswer;
use serde_json::json;

use crate::base::address::Address;
use crate::base::text::without_keys;
use crate::guard::effects::{Answer, Command};
use crate::guard::flow::step_context::Step;

/// Pulls the switch for a person, the kill file or a client (`by`), and answers the request that pulled it, if one did.
pub(crate) fn on_kill(step: &mut Step<'_>, reason: &str, by: Option<Address>, write_file: bool, request: Option<u64>) {
    let reason = without_keys(reason);
    let cause = by.map_or_else(|| reason.clone(), |client| format!("{reason} (client {client})"));
    if latch(step, reason.clone(), &cause, false) && write_file {
        // The switch is pulled here; the file is for the next life. Whoever writes the journal writes it, whether or not
        // the event could be written, and before the client hears of it: nothing that decides waits for a disk.
        step.effects.after_commit.push(Command::WriteKillFile(reason));
    }
    if let Some(request) = request {
        let body = json!(KillAnswer { killed: step.guard.killed.clone() }).to_string();
        step.effects.after_commit.push(Command::Answer(Answer { request, http_status: 200, body }));
    }
}

/// Goes on with the kill of an earlier life, or of between two: its file was there at the start.
pub(crate) fn on_kill_at_start(step: &mut Step<'_>, reason: &str) {
    let reason = without_keys(reason);
    let cause = reason.clone();
    latch(step, reason, &cause, true);
}

/// Pulls the switch; whether it was not pulled before.
fn latch(step: &mut Step<'_>, reason: String, cause: &str, at_start: bool) -> bool {
    if step.guard.killed.is_some() {
        return false;
    }
    step.record(Kill { reason: cause.into(), at_start: Some(at_start) });
    step.guard.watch.flatten.want(format!("kill switch: {cause}"), step.now_ms);
    step.guard.killed = Some(reason);
    true
}
