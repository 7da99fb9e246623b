//! Refusals that cost little: what an event keeps of a refused request is bounded, and on a full disk, whose reserve is for
//! what is sent, refusals are counted and told of together once there is room.

use crate::guard::effects::{Answer, Command};
use crate::guard::flow::step_context::Step;
use crate::guard::judge::veto::Veto;
use crate::guard::reply::{self, Verdict};
use crate::record::events::Decision;
use crate::venue::json::Node;
use serde_json::json;
use std::borrow::Cow;

/// The length of what an event keeps of a refused request, as JSON.
pub(crate) const KEPT_BYTES: usize = 4_096;

/// The same of one of many: a client that is refused without a pause fills no disk.
pub(crate) const KEPT_OF_MANY_BYTES: usize = 512;

/// Room for the members beside the request's first bytes.
const MEMBERS_BYTES: usize = 256;

/// A refused request as its event keeps it: whole, or its type, its length and its first bytes.
pub(crate) fn kept<'a>(request: &'a Node, action: &str, most: usize) -> Cow<'a, Node> {
    let text = request.to_string();
    if text.len() <= most {
        return Cow::Borrowed(request);
    }
    let mut left = most.saturating_sub(MEMBERS_BYTES);
    let fits = |letter: &char| {
        // In a string of JSON, as which it is kept; a tree's own text has no control character.
        let cost = letter.len_utf8() + usize::from(matches!(letter, '"' | '\\'));
        left.checked_sub(cost).inspect(|rest| left = *rest).is_some()
    };
    let start: String = text.chars().take_while(fits).collect();
    Cow::Owned(json!({"type": action, "bytes": text.len(), "unparsed": start}))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_request_is_kept_whole_up_to_4_kib() {
        kept_up_to(KEPT_BYTES);
    }

    #[test]
    fn one_of_many_is_kept_whole_up_to_512_bytes() {
        kept_up_to(KEPT_OF_MANY_BYTES);
    }

    fn kept_up_to(most: usize) {
        let of = |length: usize, filler: &str| json!({"type": "x", "note": filler.repeat(length)});
        let members = of(0, "").to_string().len();
        let whole = of(most - members, "y");
        assert_eq!(*kept(&whole, "x", most), whole);
        for filler in ["y", "\"", "\\", "\u{1}", "é"] {
            let request = of(most - members + 1, filler);
            let kept = kept(&request, "x", most).into_owned();
            assert!(kept.to_string().len() <= most, "{filler:?}: {}", kept.to_string().len());
            assert!(kept["unparsed"].as_str().unwrap().len() > (most - MEMBERS_BYTES) / 3);
            assert_eq!((&kept["type"], &kept["bytes"]), (&json!("x"), &json!(request.to_string().len())));
        }
    }
}
