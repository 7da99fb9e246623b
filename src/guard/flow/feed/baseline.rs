//! The reads that a new socket's frames follow on: account, open orders and the fills since the newest that is known, all begun
//! after it was subscribed. Its frames wait for them, so that they show all that happened between two sockets, and nothing counts
//! twice.

use crate::guard::effects::{Command, Read};
use crate::guard::feed_news::FeedCommand;
use crate::guard::flow::feed::fills;
use crate::guard::flow::step_context::Step;
use crate::guard::state::feed::Opened;
use crate::venue::fill::Fill;

/// Fills are read from so long before the newest that is known: another may have been lost before it.
const OVERLAP_MS: u64 = 10_000;

/// A socket is subscribed: has everything read that its frames follow on.
pub(super) fn begin(step: &mut Step<'_>, socket: u64) {
    let first_ms =
        step.guard.view.account.as_ref().map_or_else(|| step.guard.clock.earliest_ms(), |account| account.venue_ms);
    let feed = &mut step.guard.feed;
    feed.known_ms = if feed.known_ms == 0 { first_ms } else { feed.known_ms };
    feed.opened = Some(Opened { socket, since_ms: step.now_ms, fills: None });
    let since_ms = feed.known_ms.saturating_sub(OVERLAP_MS);
    // Until then everything is read as without a feed: nothing that a client could use is spent on being sooner.
    let wanted = [Read::Account, Read::Orders, Read::Fills { since_ms }];
    step.effects.immediate.extend(wanted.map(Command::Read));
}

/// Takes in the fills that were read for it.
pub(crate) fn on_fills_read(step: &mut Step<'_>, mut fills: Vec<Fill>, begun_ms: u64) {
    if let Some(opened) = step.guard.feed.opened.as_mut().filter(|opened| begun_ms >= opened.since_ms) {
        if fills.first().map(|fill| fill.time) > fills.last().map(|fill| fill.time) {
            fills.reverse();
        }
        fills.sort_by_key(|fill| fill.time);
        opened.fills = Some(fills);
    }
}

/// Tells the feed that all it waits for was read, once it was: what came meanwhile comes after that.
pub(super) fn end(step: &mut Step<'_>) {
    let view = &step.guard.view;
    let is_read = |opened: &&mut Opened| {
        let account = view.account.as_ref().is_some_and(|account| account.begun_ms >= opened.since_ms);
        account && view.orders_ms >= Some(opened.since_ms)
    };
    let opened = step.guard.feed.opened.as_mut().filter(is_read);
    let Some((socket, read)) = opened.and_then(|opened| Some((opened.socket, opened.fills.take()?))) else { return };
    step.guard.feed.opened = None;
    // What was traded before the account was first read is in that read.
    let first_ms = step.guard.risk.equities.first_ms();
    if read.iter().any(|fill| !step.guard.feed.is_known(fill.id()) && Some(fill.time) > first_ms) {
        // Cash that moved meanwhile may have been lost.
        step.guard.risk.traded(step.now_ms);
    }
    fills::on_fills(step, &read);
    step.effects.immediate.push(Command::Feed(FeedCommand::BaselineRead(socket)));
}
