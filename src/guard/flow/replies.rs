//! Answers to clients whose requests were forwarded: told part by part, given once every order is told of.

use crate::guard::effects::{Answer, Command};
use crate::guard::flow::step_context::Step;
use crate::guard::reply;
use crate::guard::state::pending_reply::{Outcome, PendingReply};

/// Tells the client of `request` of a part of its orders, and answers it once nothing is left to tell.
pub(crate) fn tell(step: &mut Step<'_>, request: Option<u64>, told: impl FnOnce(&mut PendingReply)) {
    let Some(request) = request else { return };
    let Some(pending) = step.guard.replies.get_mut(&request) else { return };
    told(pending);
    let body = match pending.outcome() {
        Some(Outcome::Answer(answer)) => reply::forwarded(&answer, pending.orders(), &pending.summary),
        Some(Outcome::Failed(why)) => reply::failed(&why, &pending.summary),
        None => return,
    };
    give(step, request, 200, body);
}

/// Answers the client of `request` that its decision did not get to the disk.
pub(crate) fn tell_unrecorded(step: &mut Step<'_>, request: Option<u64>, error: &str) {
    if let Some(request) = request.filter(|request| step.guard.replies.contains_key(request)) {
        give(step, request, 503, reply::unrecorded(error));
    }
}

fn give(step: &mut Step<'_>, request: u64, http_status: u16, body: String) {
    step.guard.replies.remove(&request);
    step.effects.immediate.push(Command::Answer(Answer { request, http_status, body }));
}
