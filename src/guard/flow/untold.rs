//! Refusals that cost little: on a full disk, whose reserve is for what is sent, refusals are counted and told of together once
//! there is room.

use crate::guard::effects::{Answer, Command};
use crate::guard::flow::step_context::Step;
use crate::guard::judge::veto::Veto;
use crate::guard::reply::{self, Verdict};
use crate::record::events::Decision;

/// Refuses a request without an event.
pub(crate) fn refuse(step: &mut Step<'_>, request: u64, http_status: u16, veto: &Veto) {
    step.guard.untold.add(1, veto.code.as_str());
    let http_status = if http_status == 200 { 503 } else { http_status };
    let body = reply::unwritten(veto.code, &veto.text);
    step.effects.immediate.push(Command::Answer(Answer { request, http_status, body }));
}

/// Tells of refusals that have no event of their own, once they can be written.
pub(crate) fn tell_if_due(step: &mut Step<'_>) {
    if step.guard.is_disk_full {
        return;
    }
    let Some((count, code)) = step.guard.untold.take(step.now_ms) else { return };
    let text = format!("{count} requests were refused without an event of their own; this is the last one's code");
    step.record(Decision {
        action: "unknown".into(),
        verdict: Verdict::Veto.name().into(),
        code: code.into(),
        text: text.into(),
        count: Some(count),
        ..Decision::default()
    });
}
