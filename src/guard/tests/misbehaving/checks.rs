//! The promises, held against the model venue's own books after every step.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use serde_json::Value;

use super::super::simulation::books::{Books, COINS};
use super::super::simulation::world::action_of;
use super::limits::Limits;
use super::trouble::{How, On, Trouble};
use super::world::STEP_MS;
use crate::base::day::day_of;
use crate::guard::effects::SendAction;
use crate::guard::flow::flatten::is_flat;
use crate::guard::{Guard, SendOutcome, Urgency};
use crate::venue::action::Action;

/// From the moment on at which all that it takes could be read and sent; and a step of the world's at either end.
pub(super) const PROMISED_MS: u64 = 3_000 + 2 * STEP_MS;
/// A read that shows no trouble any more begins and arrives within: its interval is a second, and so is the pause after one
/// that failed.
pub(super) const NEXT_READ_MS: u64 = 1_300;
/// The open orders are read so often where nothing calls for them: nobody tells of an order that went by another's hand.
const ORDERS_EVERY_MS: u64 = 5_000;
/// The account's answer with a time far ahead is held for so long against those that are right and look older.
const HELD_MS: u64 = 5_000;
/// The TWAP orders are read so often once none runs, and a second later at the latest: whether one was begun that has traded
/// nothing no other read tells, nor of two whose trades undo each other.
const TWAPS_EVERY_MS: u64 = 31_000;
/// A list of the markets that lacks the coin of a position is asked for again so much later.
const MARKETS_AGAIN_MS: u64 = 4_000;
/// An order that was refused by itself is tried again so much later, at another price.
const REFUSED_PAUSE_MS: u64 = 2_000;
/// A venue that refuses, or leaves without an answer, one order after the other is asked again after so long at most. No
/// send is answered before that.
const NEXT_SEND_MS: u64 = 8_000;
/// What was seen, so that no world is too quiet to prove anything.
#[derive(Debug, Default)]
pub(super) struct Tally {
    seen: BTreeMap<String, usize>,
}

impl Tally {
    pub(super) fn add(&mut self, other: &Self) {
        other.seen.iter().for_each(|(what, count)| *self.seen.entry(what.clone()).or_default() += count);
    }

    pub(super) fn count(&mut self, what: &str) {
        self.count_all(what, 1);
    }

    pub(super) fn count_all(&mut self, what: &str, count: usize) {
        *self.seen.entry(what.to_owned()).or_default() += count;
    }

    fn of(&self, what: &str) -> usize {
        self.seen.get(what).copied().unwrap_or_default()
    }

    pub(super) fn is_lively(&self) {
        self.has(&[
            ("protect", 40),
            ("flatten", 40),
            ("halted_for_day", 10),
            ("stopped", 10),
            ("ended flat", 40),
            ("twapCancel", 40),
        ]);
    }

    /// Holds that each came once in so many games.
    pub(super) fn has<What: AsRef<str>>(&self, wanted: &[(What, usize)]) {
        let games = self.of("game");
        for (what, of_games) in wanted {
            let what = what.as_ref();
            let count = self.of(what);
            assert!(count * of_games >= games, "{what} came {count} times in {games} games");
        }
    }
}

pub(super) struct Checks {
    pub(super) tally: Tally,
    pub(super) broken: Option<String>,
    pub(super) is_traced: bool,
    pub(super) trace: Vec<String>,
    /// Since when each position is bare, with its size.
    bare: BTreeMap<&'static str, (u64, Decimal)>,
    moved_ms: u64,
    held: BTreeMap<&'static str, Decimal>,
    /// From when on account and orders, and the account alone, show the truth.
    reads_from: u64,
    account_from: u64,
    markets_from: u64,
    sends_from: u64,
    /// An order that hangs at the venue is waited for until it is given up, and looked for then.
    hung_until: u64,
    pub(super) limits: Limits,
    /// By how much later everything may be known.
    slack_ms: u64,
    /// Since when it counts as done that all must go, beside something that is held, and beside a TWAP order.
    unflat_since: Option<u64>,
    twaps_since: Option<u64>,
    twaps_from: u64,
}

impl Checks {
    pub(super) fn new(troubles: &[Trouble], limits: Limits) -> Self {
        let mut tally = Tally::default();
        tally.count("game");
        troubles.iter().for_each(|trouble| tally.count(&format!("{:?} {:?}", trouble.on, trouble.how)));
        Self {
            tally,
            broken: None,
            is_traced: false,
            trace: Vec::new(),
            bare: BTreeMap::new(),
            moved_ms: 0,
            held: BTreeMap::new(),
            reads_from: 0,
            account_from: 0,
            markets_from: 0,
            sends_from: 0,
            hung_until: 0,
            limits,
            slack_ms: 0,
            unflat_since: None,
            twaps_since: None,
            twaps_from: 0,
        }
    }

    /// Everything may be known so much later.
    pub(super) fn slack(&mut self, slack_ms: u64) {
        (self.slack_ms, self.limits.slack_ms) = (slack_ms, slack_ms);
    }

    pub(super) fn note(&mut self, now: u64, text: impl FnOnce() -> String) {
        if self.is_traced {
            let text = format!("+{}: {}", now - super::super::fixture::NOW, text());
            self.trace.push(text);
        }
    }

    fn breaks(&mut self, now: u64, text: &str) {
        if self.broken.is_none() {
            self.note(now, || format!("BROKEN: {text}"));
            self.broken = Some(format!("{text} at +{} ms", now - super::super::fixture::NOW));
        }
    }

    pub(super) fn event(&mut self, now: u64, event: &Value) {
        self.tally.count(event["kind"].as_str().unwrap_or_default());
        if let Some(state) = event["state"].as_str() {
            self.tally.count(state);
        }
        self.note(now, || event.to_string());
    }

    /// An order is gone without a trade: the next read of the open orders tells.
    pub(super) fn vanished(&mut self, now: u64) {
        self.reads_from = self.reads_from.max(now + ORDERS_EVERY_MS + NEXT_READ_MS);
    }

    /// A read begins that ends at `until`.
    pub(super) fn read(&mut self, now: u64, on: On, trouble: Option<How>, until: u64) {
        self.limits.read(now, on, trouble, until);
        let Some(how) = trouble else { return };
        let from = match how {
            How::Ahead => now + HELD_MS + NEXT_READ_MS,
            _ => until.max(now + 1_000) + NEXT_READ_MS,
        };
        match on {
            On::Account => {
                (self.account_from, self.reads_from) = (self.account_from.max(from), self.reads_from.max(from));
            }
            On::Orders => self.reads_from = self.reads_from.max(from),
            On::Twaps => self.twaps_from = self.twaps_from.max(from),
            // Before they are asked for again.
            On::Markets if matches!(how, How::Stale | How::Wrong) => {
                self.markets_from = self.markets_from.max(from + MARKETS_AGAIN_MS);
            }
            On::Markets => self.markets_from = self.markets_from.max(from),
            _ => {}
        }
    }

    /// An action was at the venue; its client hears of it at `heard`.
    pub(super) fn served(&mut self, on: Option<On>, is_trouble: bool, heard: u64, outcome: &SendOutcome) {
        if on == Some(On::EndTwap) {
            self.tally.count("twapCancel");
        }
        let has_error = matches!(outcome, SendOutcome::Answered(answer) if answer.to_string().contains("\"error\""));
        if on == Some(On::Place) && matches!(outcome, SendOutcome::NoAnswer(_)) {
            self.hung_until = self.hung_until.max(heard);
        }
        if on == Some(On::Place) && is_trouble {
            self.sends_from = heard + NEXT_SEND_MS;
        } else if on == Some(On::Place) && has_error {
            // A price that moved on, or a position that somebody closed: tried again later.
            self.sends_from = self.sends_from.max(heard + REFUSED_PAUSE_MS);
        } else if on == Some(On::Place) && matches!(outcome, SendOutcome::Answered(_)) {
            self.sends_from = self.sends_from.min(heard);
        }
    }

    pub(super) fn sends(&mut self, now: u64, send: &SendAction, is_halted: bool, books: &Books) {
        let action = action_of(send);
        if is_halted && action.orders().any(|order| !order.reduce_only) {
            self.breaks(now, &format!("an entry goes out in a halted state: {}", send.action));
        }
        let is_calm = now > self.moved_ms + PROMISED_MS + self.slack_ms && now > self.reads_from;
        if let Action::Cancel { cancels, .. } = &action
            && send.urgency == Urgency::Own
            && is_halted
            && is_calm
        {
            for coin in COINS.into_iter().filter(|coin| !books.held(coin).is_zero()) {
                let left = books.stops(coin).filter(|stop| cancels.iter().all(|cancel| cancel.oid != stop.oid));
                let left = left.map(|stop| stop.sz).sum::<Decimal>();
                let now_covered = books.stops(coin).map(|stop| stop.sz).sum::<Decimal>();
                if left < books.held(coin).abs() && left < now_covered {
                    self.breaks(now, &format!("a flatten takes the stops of {coin}, which is held: {}", send.action));
                }
            }
        }
    }

    /// After every step.
    pub(super) fn look(&mut self, now: u64, guard: &Guard, books: &Books, twaps: usize) {
        for coin in COINS {
            let held = books.held(coin);
            if self.held.insert(coin, held).unwrap_or_default() != held {
                self.moved_ms = now;
            }
        }
        self.look_at_cover(now, guard, books);
        self.look_at_limits(now, guard, books);
        self.look_at_flatness(now, guard, books, twaps);
    }

    fn look_at_cover(&mut self, now: u64, guard: &Guard, books: &Books) {
        for coin in COINS {
            let held = books.held(coin);
            if held.is_zero() || guard.must_be_flat() || !books.is_bare(coin) {
                self.bare.remove(coin);
                continue;
            }
            let since = self.bare.entry(coin).or_insert((now, held));
            let is_more = held.abs() > since.1.abs() || (held > Decimal::ZERO) != (since.1 > Decimal::ZERO);
            *since = (if is_more { now } else { since.0 }, held);
            let since = since.0;
            let is_known = guard.view.universe.by_coin(coin).is_some();
            // A coin just listed: the account first shows that there is something to look for.
            let markets = if is_known { self.markets_from } else { self.markets_from.max(since + NEXT_READ_MS) };
            let from = since.max(self.reads_from).max(self.sends_from).max(self.hung_until).max(markets);
            if now > from + PROMISED_MS + self.slack_ms {
                self.breaks(now, &format!("{held} {coin} are bare since {} ms", now - since));
            }
        }
    }

    fn look_at_limits(&mut self, now: u64, guard: &Guard, books: &Books) {
        let is_active = guard.risk.state.name() == "active";
        let account_from = self.account_from;
        if guard.risk.day().is_some_and(|day| day > day_of(now)) {
            self.breaks(now, "a day counts that has not begun");
        }
        if let Some(broken) = self.limits.look(now, is_active, account_from, books) {
            self.breaks(now, &format!("{broken}, {:?}", guard.risk.details));
        }
        if self.is_traced && now.is_multiple_of(1_000) {
            let by_books = self.limits.loss.now(books);
            let by_guard = guard.risk.last.and_then(|(equity, _)| guard.risk.figures(equity, &guard.config));
            self.note(now, || format!("lost by the books {by_books:?}, by the guard {by_guard:?}"));
        }
    }

    fn look_at_flatness(&mut self, now: u64, guard: &Guard, books: &Books, twaps: usize) {
        let is_watched = guard.must_be_flat() && is_flat(guard) && now >= self.reads_from;
        let since = |kept: &mut Option<u64>, is_so: bool| *kept = (is_watched && is_so).then(|| kept.unwrap_or(now));
        since(&mut self.unflat_since, !books.positions.is_empty());
        since(&mut self.twaps_since, twaps > 0);
        if self.unflat_since.is_some_and(|since| now > since + PROMISED_MS + self.slack_ms) {
            self.breaks(now, &format!("a flatten counts as done beside {:?}", books.positions));
        }
        if self.twaps_since.is_some_and(|since| now > since.max(self.twaps_from) + TWAPS_EVERY_MS) {
            self.breaks(now, &format!("a flatten counts as done beside {twaps} TWAP orders"));
        }
    }

    /// At the end, long after the last trouble.
    pub(super) fn end(&mut self, now: u64, guard: &Guard, books: &Books, twaps: usize) {
        if !guard.must_be_flat() {
            return;
        }
        let is_held = !books.positions.is_empty() || !books.orders.is_empty();
        if is_held || twaps > 0 {
            self.breaks(
                now,
                &format!("not flat: {:?}, {} orders, {twaps} TWAP orders", books.positions, books.orders.len()),
            );
        }
        self.tally.count("ended flat");
    }
}
