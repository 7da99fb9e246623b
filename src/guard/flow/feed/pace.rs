//! How often is read beside the feed: seldom while it tells everything and nothing is on its way or in doubt, and as without it
//! at all other times.

use crate::base::day::day_of;
use crate::guard::effects::Command;
use crate::guard::feed_news::{FeedCommand, Pace};
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::risk_state::Risk;

/// What has happened is read after for so long.
const CALM_FOR_MS: u64 = 3_000;
/// What is bare for longer than a stop takes to be sent and answered is no fill that is being covered.
const BARE_FOR_MS: u64 = 1_000;
/// States are told again about every five seconds (observed). One that is older than this is read in its place: nobody waits
/// until it is sure that a feed is dead.
const TOLD_FOR_MS: u64 = 7_000;

/// Tells the feed which markets are held or have an order that rests, in paper mode too.
pub(super) fn tell_wanted(step: &mut Step<'_>) {
    let view = &step.guard.view;
    let held = view.account.iter().flat_map(|account| account.positions.keys());
    let paper = step.guard.paper.resting().map(|order| order.asset);
    let assets = held.copied().chain(view.orders.values().map(|order| order.asset)).chain(paper);
    let wanted = assets.filter_map(|asset| view.market(asset)).map(|market| market.coin.clone()).collect();
    if wanted != step.guard.feed.wanted {
        step.guard.feed.wanted.clone_from(&wanted);
        step.effects.immediate.push(Command::Feed(FeedCommand::Wanted(wanted)));
    }
}

/// Says how often is read, where that has changed.
pub(super) fn tell_pace(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    let (is_calm, pressing) = (is_calm(step.guard), is_pressing(step.guard, now_ms));
    let feed = &mut step.guard.feed;
    feed.calm_ms = is_calm.then(|| feed.calm_ms.unwrap_or(now_ms));
    let was_calm = feed.calm_ms.is_some_and(|since_ms| now_ms.saturating_sub(since_ms) >= CALM_FOR_MS);
    let (is_trusted, is_whole) = (feed.is_trusted(now_ms), feed.is_whole());
    let is_up = is_trusted && is_whole;
    feed.difference.take_if(|_| is_up);
    feed.down_ms = (!is_up).then(|| feed.down_ms.unwrap_or(now_ms));
    let is_told = [feed.as_of_ms, feed.orders_told_ms].iter().all(|at_ms| now_ms.saturating_sub(*at_ms) <= TOLD_FOR_MS);
    let (steady, beside) = (is_up && was_calm && is_told, is_trusted && feed.tells_the_rest());
    let pace = Pace { steady, beside, pressing };
    if pace != feed.pace {
        feed.pace = pace;
        step.effects.immediate.push(Command::Feed(FeedCommand::Pace(pace)));
    }
}

/// Whether all must go, or something was not covered at once.
fn is_pressing(guard: &Guard, now_ms: u64) -> bool {
    let is_bare = |since_ms: &u64| now_ms.saturating_sub(*since_ms) >= BARE_FOR_MS;
    guard.must_be_flat() || guard.watch.bare_ms.values().any(is_bare)
}

/// Whether nothing is on its way and nothing is in doubt.
fn is_calm(guard: &Guard) -> bool {
    let Guard { view, feed, sent, risk, watch, .. } = guard;
    let is_settled = guard.intents.is_empty()
        && guard.doubts.is_empty()
        && guard.parked.is_empty()
        && sent.is_settled()
        && guard.lines.ended.is_empty()
        && guard.paper.resting().next().is_none();
    let is_safe = !guard.must_be_flat()
        && !guard.is_account_older()
        && is_explained(risk)
        && watch.bare_ms.is_empty()
        && watch.retried_markets().len() == watch.dust().count();
    let is_told = feed.unexplained.is_empty()
        && !guard.is_behind_fills()
        && feed.doubted.is_empty()
        && feed.account_differs_ms.is_none()
        && feed.orders_differ.is_none()
        && view.account.as_ref().is_some_and(|account| account.by_fill.is_empty() && account.is_valued());
    let is_today = risk.marks.day_start.is_some() && risk.day() == Some(day_of(guard.clock.best_ms()));
    is_settled && is_safe && is_told && is_today
}

/// Whether nothing that moved the equity waits for another read.
fn is_explained(risk: &Risk) -> bool {
    let is_known =
        risk.first.is_none() && !risk.is_in_doubt() && !risk.unproven.is_waiting() && !risk.has_cash_jumped();
    let is_read = risk.ledger_wanted == 0 && risk.ledger_again_ms.is_none() && !risk.mode_wanted;
    is_known && is_read && !risk.mode_changed && risk.unvalued.is_none()
}
