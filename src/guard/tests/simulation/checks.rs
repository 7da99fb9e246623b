//! Checks that hold whatever the schedule, held to the venue's truth after every step.
//!
//! Each limit is what the guard needs while the venue answers. What the venue did to make it later (a refusal, a silence,
//! an old answer) is allowed for, by as much as the guard waits after it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rust_decimal::Decimal;
use serde_json::Value;

use super::super::adversary::truth::Cover;
use super::books::{Books, COINS, coin_of};
use super::limits::Limits;
use super::world::action_of;
use crate::guard::effects::SendAction;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::guard::{Guard, SendOutcome, Urgency};
use crate::venue::action::{Action, Target};
use crate::venue::info::OpenOrder;
use crate::venue::order::Order;

/// One poll of the account and the orders read after it, each late, and one send.
const BARE_MS: u64 = 2_200;
/// The same with the pause between two rounds of a flatten.
const FLAT_MS: u64 = 4_000;
/// What the guard waits for after an effort of which it heard nothing: reads, and the settling of a doubt.
const DOUBT_MS: u64 = 4_000;
/// A send that nobody answers is given up so late.
const TIME_OUT_MS: u64 = 3_500;
/// Between two reads of the open orders that nothing calls for.
const ORDERS_MS: u64 = 5_500;
/// An old answer arrives so late, and is believed until the next read.
const LAG_MS: u64 = 8_000;
const TRACE: usize = 90;

/// Since when something is as it must not stay, and how much of it there is.
#[derive(Clone, Copy)]
struct Since {
    ms: u64,
    held: Decimal,
}

/// The checks and what they remember.
pub(super) struct Checks {
    seed: u64,
    begins_ms: u64,
    trace: VecDeque<String>,
    nonces: BTreeSet<u64>,
    bare: BTreeMap<&'static str, Since>,
    held: BTreeMap<&'static str, Since>,
    /// Until when the venue is to blame, for cover by market and for flatness.
    excused: BTreeMap<&'static str, u64>,
    hampered_until: u64,
    /// Efforts in a row that came to nothing: the guard's pauses grow with them.
    tries: BTreeMap<&'static str, u32>,
    flat_tries: u32,
    /// When a market's position last changed.
    moved: BTreeMap<&'static str, (Decimal, u64)>,
    pub(super) away_until: u64,
    /// What stops that filled in part have left bare just now.
    pub(super) left_by_stops: BTreeMap<&'static str, Decimal>,
    pub(super) limits: Limits,
    /// Events by kind, to see that a world is not too quiet to prove anything.
    pub(super) seen: BTreeMap<String, usize>,
}

impl Checks {
    pub(super) fn new(seed: u64, begins_ms: u64) -> Self {
        Self {
            seed,
            begins_ms,
            trace: VecDeque::new(),
            nonces: BTreeSet::new(),
            bare: BTreeMap::new(),
            held: BTreeMap::new(),
            excused: BTreeMap::new(),
            hampered_until: 0,
            tries: BTreeMap::new(),
            flat_tries: 0,
            moved: BTreeMap::new(),
            away_until: 0,
            left_by_stops: BTreeMap::new(),
            limits: Limits::default(),
            seen: BTreeMap::new(),
        }
    }

    pub(super) fn since_begin(&self, at_ms: u64) -> u64 {
        at_ms.saturating_sub(self.begins_ms)
    }

    pub(super) fn note(&mut self, now: u64, text: String) {
        if self.trace.len() >= TRACE {
            self.trace.pop_front();
        }
        let text = format!("+{}: {text}", self.since_begin(now));
        self.trace.push_back(text);
    }

    pub(super) fn fail(&self, now: u64, what: &str) -> ! {
        let trace: Vec<&str> = self.trace.iter().map(String::as_str).collect();
        panic!("seed {}: {what} at +{} ms\n{}", self.seed, self.since_begin(now), trace.join("\n"));
    }

    pub(super) fn event(&mut self, now: u64, event: &Value) {
        let kind = event["kind"].as_str().unwrap_or_default();
        *self.seen.entry(kind.to_owned()).or_default() += 1;
        if let Some(state) = event.get("state").and_then(Value::as_str) {
            *self.seen.entry(state.to_owned()).or_default() += 1;
        }
        self.note(now, event.to_string());
    }

    /// How many events of a kind, or `risk` events of a state, there were.
    pub(super) fn count(&self, kind: &str) -> usize {
        self.seen.get(kind).copied().unwrap_or_default()
    }

    fn excuse(&mut self, coin: &'static str, until: u64) {
        let excused = self.excused.entry(coin).or_default();
        *excused = until.max(*excused);
    }

    fn excuse_all(&mut self, until: u64) {
        COINS.into_iter().for_each(|coin| self.excuse(coin, until));
        self.hampered_until = self.hampered_until.max(until);
        self.limits.excuse(until);
    }

    pub(super) fn read_failed(&mut self, _what: &str, now: u64) {
        self.excuse_all(now + 1_500);
    }

    pub(super) fn read_lagged(&mut self, now: u64) {
        self.excuse_all(now + LAG_MS);
    }

    pub(super) fn woken(&mut self, now: u64) {
        self.excuse_all(now + 2_000);
    }

    /// An order left without a trade: only the next read of the open orders can tell.
    pub(super) fn vanished(&mut self, coin: &'static str, at_ms: u64) {
        self.excuse(coin, at_ms + ORDERS_MS);
        self.note(at_ms, format!("an order in {coin} is gone"));
    }

    /// What an action came to at the venue; `None` where the guard had given it up long before.
    pub(super) fn served(&mut self, send: &SendAction, outcome: Option<&SendOutcome>, books: &Books) {
        let now = books.at_ms;
        self.note(now, format!("{} -> {outcome:?}", send.action));
        let Some(outcome) = outcome else { return };
        if matches!(outcome, SendOutcome::NoAnswer(_)) {
            action_of(send).orders().for_each(|order| self.excuse(coin_of(order.asset), now + TIME_OUT_MS + DOUBT_MS));
        }
        for (place, order) in action_of(send).orders().enumerate().filter(|(_, order)| order.reduce_only) {
            let coin = coin_of(order.asset);
            let is_done = match outcome {
                SendOutcome::Answered(answer) => {
                    let status = answer.pointer(&format!("/response/data/statuses/{place}"));
                    let filled = status.and_then(|status| status.pointer("/filled/totalSz")).and_then(Value::as_str);
                    let is_whole = filled.is_some_and(|filled| filled.parse() == Ok(order.size));
                    is_whole || status.is_some_and(|status| status.get("resting").is_some())
                }
                _ => false,
            };
            if !is_done {
                self.came_to_nothing(
                    coin,
                    order,
                    matches!(outcome, SendOutcome::NoAnswer(text) if text == "timed out"),
                    now,
                );
            }
        }
    }

    fn came_to_nothing(&mut self, coin: &'static str, order: &Order, timed_out: bool, now: u64) {
        let tries = self.tries.entry(coin).or_default();
        let longest = if order.is_trigger() { 8_000 } else { 60_000 };
        let pause = 500_u64.checked_shl(*tries).unwrap_or(longest).min(longest);
        *tries = tries.saturating_add(1).min(20);
        let heard = now + if timed_out { TIME_OUT_MS } else { 0 };
        self.excuse(coin, heard + pause + DOUBT_MS);
        let pause = 1_000_u64.checked_shl(self.flat_tries).unwrap_or(60_000).min(60_000);
        self.flat_tries = self.flat_tries.saturating_add(1).min(20);
        self.hampered_until = self.hampered_until.max(heard + pause + DOUBT_MS);
    }

    /// The guard has something sent.
    pub(super) fn sends(&mut self, now: u64, send: &SendAction, is_halted: bool, books: &Books) {
        let action = action_of(send);
        if is_halted && action.orders().any(|order| !order.reduce_only) {
            self.fail(now, &format!("an entry goes out in a halted state: {}", send.action));
        }
        if action != Action::Noop && !self.nonces.insert(send.terms.nonce) {
            self.fail(now, &format!("the nonce {} is used twice", send.terms.nonce));
        }
        if send.urgency == Urgency::Own && !is_halted {
            action.orders().filter(|order| order.is_trigger()).for_each(|order| self.stop_placed(now, order, books));
            if let Action::Cancel { cancels, .. } = &action {
                cancels.iter().for_each(|cancel| self.stop_cancelled(now, cancel.oid, books));
            }
        }
    }

    /// Whether the guard's reads are as the truth is: nobody else touched this market since they were made.
    fn is_calm(&self, coin: &str, now: u64, books: &Books) -> bool {
        let excused = self.excused.get(coin).is_some_and(|until| now < *until + BARE_MS);
        let moved =
            self.moved.get(coin).is_some_and(|(held, moved)| now < *moved + BARE_MS || *held != books.held(coin));
        !excused && !moved
    }

    /// A stop of the guard's is never further from the price than the one it stands in for.
    fn stop_placed(&self, now: u64, order: &Order, books: &Books) {
        let coin = coin_of(order.asset);
        let trigger_px = order.market_stop_px().unwrap_or_default();
        for own in books.stops(coin).filter(|stop| is_own(stop) && is_inside(stop, coin, books)) {
            let is_looser = if order.is_buy { trigger_px > own.trigger_px } else { trigger_px < own.trigger_px };
            if is_looser && self.is_calm(coin, now, books) {
                self.fail(now, &format!("a stop at {trigger_px} beside one at {}", own.trigger_px));
            }
        }
    }

    /// A stop of the guard's goes only where the others cover the whole position, and each unit of it as tightly as it was.
    fn stop_cancelled(&self, now: u64, oid: u64, books: &Books) {
        let Some(gone) = books.orders.get(&oid).filter(|order| is_own(order)) else { return };
        let coin = if gone.coin == "ETH" { "ETH" } else { "SOL" };
        if !books.stops(coin).any(|stop| stop.oid == oid)
            || !is_inside(gone, coin, books)
            || !self.is_calm(coin, now, books)
        {
            return;
        }
        let (before, left) = (Cover::of(books, coin), Cover::without(books, coin, &[Target::Oid(oid)]));
        if left.bare() > Decimal::ZERO || left.loosened_from(&before).is_some() {
            let (was, is) = (before.parts, left.parts);
            self.fail(
                now,
                &format!("the stop {oid} at {} goes: {coin} covered so: {was:?}, now {is:?}", gone.trigger_px),
            );
        }
    }

    /// After every step.
    pub(super) fn look(&mut self, now: u64, guard: &Guard, books: &Books) {
        if now < self.away_until {
            self.excuse_all(now + 1_500);
        }
        let is_halted = guard.must_be_flat();
        for coin in COINS {
            let held = books.held(coin);
            let moved = self.moved.entry(coin).or_insert((held, now));
            if moved.0 != held {
                *moved = (held, now);
                self.flat_tries = self.flat_tries.min(1);
                let stops: Vec<String> = books
                    .stops(coin)
                    .map(|stop| format!("{} of {} at {}", stop.oid, stop.sz, stop.trigger_px))
                    .collect();
                self.note(now, format!("{held} {coin} are held at {}, beside {stops:?}", books.mid(coin)));
            }
            let excused = self.excused.get(coin).copied().unwrap_or_default();
            // Where nothing more is bare than a stop has left just now, what was bare before has its cover.
            if books.bare(coin) <= self.left_by_stops.get(coin).copied().unwrap_or_default() {
                self.bare.remove(coin);
            }
            if let Some(since) = lasts(&mut self.bare, coin, held, now, !is_halted && books.is_bare(coin)) {
                if now > since.max(excused) + BARE_MS {
                    let stops: Vec<String> =
                        books.stops(coin).map(|stop| format!("{} at {}", stop.sz, stop.trigger_px)).collect();
                    let since = self.since_begin(since);
                    self.fail(now, &format!("{held} {coin} are bare since +{since}, beside {stops:?}"));
                }
            } else {
                self.tries.remove(coin);
            }
            let hampered = self.hampered_until;
            if let Some(since) = lasts(&mut self.held, coin, held, now, is_halted && !held.is_zero())
                && now > since.max(hampered) + FLAT_MS
            {
                self.fail(
                    now,
                    &format!("{held} {coin} are held since +{} although all must go", self.since_begin(since)),
                );
            }
        }
        if let Err(text) = self.limits.look(now, guard, books) {
            self.fail(now, &text);
        }
    }
}

/// Since when a condition holds for a position; what is added to it later has its own time.
fn lasts(
    map: &mut BTreeMap<&'static str, Since>,
    coin: &'static str,
    held: Decimal,
    now: u64,
    holds: bool,
) -> Option<u64> {
    if !holds {
        map.remove(coin);
        return None;
    }
    let since = map.entry(coin).or_insert(Since { ms: now, held });
    let has_flipped = (since.held > Decimal::ZERO) != (held > Decimal::ZERO);
    if has_flipped || held.abs() > since.held.abs() {
        since.ms = now;
    }
    since.held = held;
    Some(since.ms)
}

fn is_own(order: &OpenOrder) -> bool {
    order.cloid.is_some_and(|cloid| is_guard_stop(&cloid))
}

/// Whether a stop comes before liquidation.
fn is_inside(stop: &OpenOrder, coin: &str, books: &Books) -> bool {
    let is_long = books.held(coin) > Decimal::ZERO;
    books.liquidation_px(coin).is_none_or(|px| if is_long { stop.trigger_px > px } else { stop.trigger_px < px })
}
