//! A feed that tells what cannot be: that is said, the socket ends, and everything is read as without a feed for a while.

use crate::guard::effects::{Command, Read};
use crate::guard::flow::step_context::Step;
use crate::record::events::Trouble;

/// The same is told of so far apart.
const AGAIN_MS: u64 = 10_000;

/// Ends the socket because reads show something else than it told. That is a discrepancy until the feed proves itself again.
pub(super) fn differ(step: &mut Step<'_>, reason: &'static str, what: &str) {
    let (now_ms, feed) = (step.now_ms, &mut step.guard.feed);
    feed.differences = feed.differences.saturating_add(1);
    feed.difference = Some((format!("the live feed and the reads differ: {reason}: {what}"), now_ms));
    distrust(step, reason, what);
}

/// Ends the socket because of what it told.
pub(super) fn distrust(step: &mut Step<'_>, reason: &'static str, what: &str) {
    let (now_ms, before) = (step.now_ms, step.guard.feed.nonsense.as_ref().map(|(_, at_ms)| *at_ms));
    let text = format!("the live feed is not believed: {reason}: {what}; the account is read instead");
    if before.is_none_or(|at_ms| now_ms.saturating_sub(at_ms) >= AGAIN_MS) {
        step.record(Trouble::new(text.clone()));
    }
    step.guard.feed.nonsense = Some((text, now_ms));
    let command = step.guard.feed.distrust(reason);
    step.effects.immediate.push(Command::Feed(command));
    step.effects.immediate.extend([Read::AccountNow, Read::OrdersNow].map(Command::Read));
}
