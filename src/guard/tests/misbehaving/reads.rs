//! The guard's reads of the venue: each on its interval and sooner where it is wanted, one of a kind at a time, given up
//! after a while; and what a trouble makes of each.

use rust_decimal::dec;

use super::super::simulation::account::account;
use super::super::simulation::books::Books;
use super::feed::paced;
use super::picture::Picture;
use super::trouble::{How, On};
use super::world::World;
use crate::guard::{Input, Read};
use crate::venue::history::ledger;
use crate::venue::info::{AccountMode, LEDGER_OVERLAP_MS, Leverage, MarginMode};

/// A steady read is given up after so long, any other after so long.
const STEADY_MS: u64 = 2_500;
const BESIDE_MS: u64 = 10_000;
/// A slow one takes so long.
const SLOW_MS: u64 = 2_400;

pub(super) fn every_ms(on: On) -> u64 {
    match on {
        On::Prices | On::Account => 1_000,
        On::Orders => 5_000,
        On::Twaps => u64::MAX / 2,
        // Sooner than the service reads it, so that each game sees it.
        On::Allowance => 5_000,
        _ => 60_000,
    }
}

fn is_steady(on: On) -> bool {
    matches!(on, On::Prices | On::Account | On::Orders)
}

impl World {
    pub(super) fn wanted(&mut self, read: Read) {
        match read {
            Read::Account | Read::AccountNow => self.want(On::Account),
            Read::Orders | Read::OrdersNow | Read::OrdersSoon => self.want(On::Orders),
            Read::Ledger { since_ms, .. } => {
                self.ledger_since_ms = since_ms;
                self.want(On::Ledger);
            }
            Read::Mode { .. } => self.want(On::Mode),
            Read::Twaps => self.want(On::Twaps),
            Read::Universe => self.want(On::Markets),
            Read::Fills { .. } => self.read_fills(&read),
            Read::LedgerSoon { .. } | Read::BookFills { .. } | Read::Fundings { .. } => {}
            Read::Leverage { asset, .. } => {
                let setting = Some(Leverage { mode: MarginMode::Cross, value: self.dice.pick(&[5, 20]) });
                let (late, leverage) = match self.trouble(On::Leverage) {
                    None => (STEP, setting),
                    Some(How::Slow) => (SLOW_MS, setting),
                    Some(How::Hung) => (BESIDE_MS, None),
                    Some(_) => (STEP, None),
                };
                self.mail.push((self.now + late, Input::Leverage { asset, leverage }));
            }
            Read::OrderStatus { intent, index, cloid } => {
                let (late, answer) = match self.trouble(On::Status) {
                    Some(How::Hung) => (BESIDE_MS, None),
                    Some(How::Slow) => (SLOW_MS, Some(self.status_shown(cloid, false))),
                    Some(How::OtherText) => (50, Some(serde_json::json!("<html>"))),
                    Some(How::Stale) => (50, Some(self.status_shown(cloid, true))),
                    Some(_) => (50, None),
                    None => (50, Some(self.status_shown(cloid, false))),
                };
                self.mail.push((self.now + late, Input::OrderStatus { intent, index, cloid, answer }));
            }
        }
    }

    fn want(&mut self, on: On) {
        let now = self.now;
        let due = self.due.entry(on).or_insert((u64::MAX, 0));
        due.0 = due.0.min(now.max(due.1 + 250));
    }

    pub(super) fn begin_reads(&mut self) {
        let now = self.now;
        let due: Vec<On> =
            self.due.iter().filter(|(_, (due, busy))| *due <= now && *busy <= now).map(|(on, _)| *on).collect();
        for on in due {
            let trouble = self.trouble(on);
            let late = match trouble {
                Some(How::Hung) if is_steady(on) => STEADY_MS,
                Some(How::Hung) => BESIDE_MS,
                Some(How::Slow) => SLOW_MS,
                _ => self.dice.roll(150),
            };
            let fails = matches!(trouble, Some(How::Hung | How::Failing | How::OtherText));
            self.checks.read(now, on, trouble, now + late);
            self.checks.note(now, || format!("a read of {on:?} begins, {trouble:?}"));
            let every_ms = paced(self.push.as_ref(), on);
            self.begun.insert(on, now);
            let next = if fails { now + late.max(1_000) } else { now + every_ms.max(late) };
            self.due.insert(on, (next, now + late));
            if !fails {
                if on == On::Markets {
                    let marks = self.venue.books.mids.clone();
                    self.mail.push((now + late, Input::Marks { marks, begun_ms: now }));
                }
                let input = self.picture(on, trouble);
                self.mail.push((now + late, input));
            } else if on == On::Twaps {
                // That a failure is told of is part of its promise.
                self.mail.push((now + late, Input::Twaps(Err("HTTP 502".into()))));
                self.due.insert(on, (u64::MAX, now + late));
            }
        }
    }

    fn picture(&mut self, on: On, trouble: Option<How>) -> Input {
        let begun_ms = self.now;
        let Picture { books, twaps, .. } = self.shown(on, trouble == Some(How::Stale));
        let is_once = matches!(trouble, Some(How::Wrong | How::FarOff));
        let is_wrong = is_once && !std::mem::replace(&mut self.was_wrong, true);
        match on {
            On::Prices => {
                let mut mids = books.mids;
                if is_wrong {
                    mids.values_mut().for_each(|mid| *mid *= dec!(0.5));
                }
                Input::Mids { mids, begun_ms }
            }
            On::Account => {
                if matches!(trouble, None | Some(How::Slow)) && self.believed == self.mode {
                    self.checks.limits.loss.read(&books);
                }
                let answer = self.account(&books, trouble, is_wrong);
                if let Input::Account { state, .. } = &answer
                    && (matches!(trouble, Some(How::Ahead | How::Behind)) || is_wrong && state.time < begun_ms)
                {
                    self.checks.limits.misdated(begun_ms, state.time);
                }
                answer
            }
            On::Orders => Input::Orders { orders: books.orders.into_values().collect(), begun_ms },
            On::Mode => Input::AccountMode { mode: self.mode, begun_ms },
            On::Twaps => {
                self.due.insert(on, (u64::MAX, self.now));
                Input::Twaps(Ok(twaps.into_iter().map(|id| ("ETH".to_owned(), id)).collect()))
            }
            On::Markets if is_wrong => Input::Universe(self.swapped()),
            On::Markets if trouble == Some(How::Stale) => Input::Universe(self.unlisted()),
            On::Markets => Input::Universe(self.markets()),
            On::Allowance if is_wrong => Input::RequestsLeft(0),
            On::Allowance => Input::RequestsLeft(10_000),
            _ => {
                let since_ms = self.ledger_since_ms;
                self.ledger_since_ms = since_ms.max(begun_ms.saturating_sub(LEDGER_OVERLAP_MS));
                let entries = self.venue.ledger.iter();
                let shown = entries.filter(|(shows_ms, row_ms, _)| *shows_ms <= begun_ms && *row_ms >= since_ms);
                let updates = ledger(&shown.map(|(_, _, entry)| entry.clone()).collect()).unwrap().rows;
                Input::Ledger { updates, begun_ms }
            }
        }
    }

    /// The account, looked for where the guard believes that its equity is kept.
    fn account(&self, books: &Books, trouble: Option<How>, is_wrong: bool) -> Input {
        let Input::Account { mut state, mut equity, begun_ms } = account(books, self.now) else { unreachable!() };
        match trouble {
            Some(How::Ahead) => state.time += 7_000,
            Some(How::Behind) => state.time -= 7_000,
            Some(How::FarOff) if is_wrong => state.time = state.time.saturating_add_signed(self.far_off_ms),
            _ => {}
        }
        if self.believed != self.mode {
            equity = match self.mode {
                // All is in the other purse; or what it shows is not the account's.
                AccountMode::Unified => equity / dec!(10),
                AccountMode::Standard => dec!(20),
            };
        }
        if is_wrong && trouble == Some(How::Wrong) {
            equity *= self.wrong_times;
        }
        Input::Account { state, equity, begun_ms }
    }
}

const STEP: u64 = super::world::STEP_MS;
