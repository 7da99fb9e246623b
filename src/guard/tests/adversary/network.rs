//! The way between the guard and its venue: reads that begin on their intervals and arrive late, and actions that reach the
//! venue, are answered late, or are lost.

use std::sync::LazyLock;

use rust_decimal::Decimal;
use serde_json::Value;

use super::super::fixture::{NOW, body, noop};
use super::super::simulation::books::{COINS, coin_of};
use super::super::simulation::exchange::refusal;
use super::super::simulation::frames::fills_since;
use super::line::Shown;
use super::nature::{LAG_MS, Traffic, Trouble};
use super::truth::Cover;
use super::world::{Happening, World, begun_ms};
use crate::guard::effects::SendAction;
use crate::guard::{Input, Read, SendOutcome, Urgency};
use crate::venue::action::Action;
use crate::venue::envelope::Envelope;
use crate::venue::history::Page;
use crate::venue::info::{AccountMode, Leverage, MarginMode};
use crate::venue::signing::Terms;

/// A send or a read takes so long at most, one way.
const LATE_MS: u64 = 120;
/// A send that nobody answers is given up after this.
const TIME_OUT_MS: u64 = 3_000;
/// A read that nobody answers is given up after this.
const READ_TIME_OUT_MS: u64 = 2_500;
/// When the open orders can no longer be read.
const BLIND_MS: u64 = 3_000;
/// An account without allowance may send one request in so long.
const FREE_REQUEST_MS: u64 = 10_000;

impl World {
    pub(super) fn late(&mut self, kind: Traffic) -> u64 {
        let late = self.dice.roll(LATE_MS);
        match self.nature.trouble {
            Trouble::Slow(slow, ms) if slow == kind => late + ms,
            _ => late,
        }
    }

    /// How late an answer to a read of this kind is; `None` where none comes.
    fn answer_after(&mut self, kind: Traffic) -> Option<u64> {
        let late = self.late(kind);
        (!self.hangs(kind)).then_some(late)
    }

    fn hangs(&mut self, kind: Traffic) -> bool {
        let may_hang = self.nature.trouble == Trouble::Hangs(kind);
        self.may_hang += u64::from(may_hang);
        may_hang && self.may_hang.is_multiple_of(3)
    }

    pub(super) fn wanted(&mut self, read: Read) {
        match read {
            Read::Account => self.want("account", 1_000),
            Read::AccountNow => self.want("account", 250),
            Read::OrdersNow | Read::OrdersSoon => self.want("orders", 250),
            Read::Orders => self.want("orders", 1_650),
            Read::Ledger { .. } => {
                let input = Input::Ledger { updates: Vec::new(), begun_ms: self.now };
                self.hears_of(Traffic::Ledger, input);
            }
            Read::Mode { .. } => {
                let input = Input::AccountMode { mode: AccountMode::Standard, begun_ms: self.now };
                self.hears_of(Traffic::Ledger, input);
            }
            Read::Fills { since_ms } => self.read_fills(since_ms),
            Read::BookFills { since_ms, is_for_cover: true } => {
                let fills = fills_since(&self.venue.trades, since_ms);
                let input = Input::BookFills { page: Page::from(fills), since_ms, begun_ms: self.now };
                let slow_ms = match self.nature.trouble {
                    Trouble::Slow(Traffic::Ledger, ms) => ms,
                    _ => 0,
                };
                if !self.hangs(Traffic::Ledger) {
                    self.hears(LATE_MS + slow_ms, input);
                }
            }
            Read::LedgerSoon { .. } | Read::BookFills { .. } | Read::Fundings { .. } => {}
            Read::Leverage { asset, .. } => self.leverage_read(asset, 300),
            Read::OrderStatus { intent, index, cloid } => {
                let late = self.answer_after(Traffic::Statuses);
                let answer = late.map(|_| self.venue.order_status(cloid));
                let input = Input::OrderStatus { intent, index, cloid, answer };
                self.hears(late.unwrap_or(READ_TIME_OUT_MS), input);
            }
            Read::Twaps => self.hears(50, Input::Twaps(Ok(Vec::new()))),
            Read::Universe => {
                self.hears(100, Input::Marks { marks: self.venue.books.mids.clone(), begun_ms: self.now });
            }
        }
    }

    fn hears(&mut self, late_ms: u64, input: Input) {
        self.happens(late_ms, Happening::Input(Box::new(input)));
    }

    fn hears_of(&mut self, kind: Traffic, input: Input) {
        if let Some(late) = self.answer_after(kind) {
            self.hears(late, input);
        }
    }

    pub(super) fn leverage_read(&mut self, asset: u32, late_ms: u64) {
        let late = self.answer_after(Traffic::Settings);
        let leverage = late.map(|_| Leverage { mode: MarginMode::Cross, value: 5 });
        self.hears(late_ms + late.unwrap_or(READ_TIME_OUT_MS), Input::Leverage { asset, leverage });
    }

    fn want(&mut self, what: &'static str, apart_ms: u64) {
        let soonest = self.begun.get(what).map_or(0, |begun| begun + apart_ms);
        let due = self.due.entry(what).or_insert(u64::MAX);
        *due = (*due).min(self.now.max(soonest));
    }

    /// A read sees the truth of this moment, or of an earlier one.
    pub(super) fn begin_read(&mut self, what: &'static str) {
        let begun_ms = self.now;
        self.begun.insert(what, begun_ms);
        let (late, every) = match what {
            "mids" => {
                let late = self.answer_after(Traffic::Prices);
                let mids = self.venue.books.traded();
                late.into_iter().for_each(|late| self.hears(late, Input::Mids { mids: mids.clone(), begun_ms }));
                (late, 1_000)
            }
            "account" => {
                let late = self.answer_after(Traffic::Account);
                let input = self.account_picture();
                let shows = COINS.into_iter().map(|coin| (coin, shown(&input, coin))).collect();
                if let Some(late) = late {
                    self.happens(late, Happening::Account(Box::new(input), shows));
                }
                (late, 1_000)
            }
            _ => {
                let is_blind = self.nature.trouble == Trouble::Blind && begun_ms >= NOW + BLIND_MS;
                let late = self.answer_after(Traffic::Orders);
                let orders = self.venue.books.orders.values().cloned().collect();
                let books = &self.venue.books;
                let shown = COINS.into_iter().filter(|coin| self.known.get(coin) == Some(&books.held(coin)));
                let shown = shown.map(|coin| Shown { coin, cover: Cover::of(books, coin) }).collect();
                if let Some(late) = late.filter(|_| !is_blind) {
                    self.happens(late, Happening::Orders(Box::new(Input::Orders { orders, begun_ms }), shown));
                }
                (late, 5_000)
            }
        };
        // One that failed is tried again as soon as without a feed.
        let next_ms = late.map_or(every.max(READ_TIME_OUT_MS), |late| self.paced(what, every).max(late));
        self.due.insert(what, begun_ms + next_ms);
    }

    fn account_picture(&mut self) -> Input {
        let is_old = self.nature.trouble == Trouble::Lag && self.dice.one_in(2);
        // What is promised here may take as long as an answer lags, so none lags for longer.
        let is_recent = |picture: &&Input| self.now <= begun_ms(picture) + LAG_MS;
        let older = self.pictures.front().filter(is_recent).cloned().filter(|_| is_old);
        match older {
            // An older state of the account, which says so by its time.
            Some(Input::Account { state, equity, .. }) => Input::Account { state, equity, begun_ms: self.now },
            _ => self.picture(),
        }
    }

    pub(super) fn send(&mut self, send: SendAction, action: Action) {
        if let Err(broken) = self.judge_send(&send, &action) {
            self.fail(broken);
        }
        self.told.unheard.insert((send.intent, send.index));
        let leaving = self.leaving.but(send.intent);
        let standing = |coin| Cover::without(&self.venue.books, coin, &leaving);
        self.decided.entry(send.intent).or_insert_with(|| COINS.map(standing));
        // What goes after something else of its request was judged with that.
        let judged = self.judged.entry(send.intent).or_insert_with(|| self.mids.clone()).clone();
        for order in action.orders().filter(|order| !order.reduce_only) {
            self.checks.opens(coin_of(order.asset), &judged, &self.venue.books);
        }
        for order in action.orders().filter(|order| !order.reduce_only && !order.is_buy) {
            let told = judged.get(coin_of(order.asset)).copied().unwrap_or_default();
            self.sells.insert((send.intent, send.index), (coin_of(order.asset), [order.limit_px, told]));
        }
        for order in action.orders().filter(|order| !order.reduce_only) {
            self.value_beside(send.intent, coin_of(order.asset));
        }
        let late = self.dice.roll(LATE_MS);
        self.happens(late, Happening::Arrives(Box::new((send, action))));
    }

    /// An entry that is judged beside others values them at the prices of that moment: what they fill above those takes none of
    /// the room that it was given.
    fn value_beside(&mut self, intent: u64, coin: &'static str) {
        let Some(now) = self.judged.get(&intent).and_then(|judged| judged.get(coin)).copied() else { return };
        let others = self.judged.iter_mut().filter(|(other, _)| **other < intent);
        for px in others.filter_map(|(_, judged)| judged.get_mut(coin)) {
            *px = now.min(*px);
        }
        let earlier = self.sells.iter_mut().filter(|((other, _), (of, _))| *other < intent && *of == coin);
        earlier.for_each(|(_, (_, [_, told]))| *told = now.min(*told));
    }

    /// A sell that filled above what the guard was told when it was sent opened so much more than it could judge.
    fn note_dearer(&mut self, send: &SendAction, before: [Decimal; 2]) {
        let Some((coin, [limit, told])) = self.sells.remove(&(send.intent, send.index)) else { return };
        let Some((_, before)) = COINS.into_iter().zip(before).find(|(other, _)| *other == coin) else { return };
        let short = |held: Decimal| (-held).max(Decimal::ZERO);
        let opened = short(self.venue.books.held(coin)) - short(before);
        let above = self.venue.books.book(coin) - told.max(limit);
        if opened > Decimal::ZERO && above > Decimal::ZERO {
            self.checks.sold_dearer(coin, opened * above);
        }
    }

    /// The venue takes what reaches it.
    pub(super) fn arrives(&mut self, send: SendAction, action: &Action) {
        let kind = if send.urgency == Urgency::Own { Traffic::Own } else { Traffic::Clients };
        self.leaving.arrived((send.intent, send.index));
        let hangs = self.hangs(kind);
        let fault = match self.nature.trouble {
            Trouble::Loss => self.dice.roll(8),
            _ if hangs => 2,
            _ => u64::MAX,
        };
        let (outcome, late) = match fault {
            0 => (SendOutcome::NotSent("no connection".into()), 10),
            1 => (SendOutcome::NoAnswer("lost on the way".into()), TIME_OUT_MS),
            2 => {
                self.venue.take_action(action, send.terms, &mut self.dice);
                (SendOutcome::NoAnswer("lost on the way back".into()), TIME_OUT_MS)
            }
            _ => {
                let before = COINS.map(|coin| Cover::of(&self.venue.books, coin));
                let held = COINS.map(|coin| self.venue.books.held(coin));
                let reply = self.answer(&send, action);
                self.note_dearer(&send, held);
                self.own_stops.note(action, &reply);
                self.told.answered((send.intent, send.index), action, &reply);
                self.judge_cover(&send, action, &reply, &before);
                let late = self.late(kind);
                (SendOutcome::Answered(reply), late)
            }
        };
        self.note(|| format!("{} -> {outcome:?}", send.action));
        self.hears(late, Input::Sent { intent: send.intent, index: send.index, outcome });
    }

    fn answer(&mut self, send: &SendAction, action: &Action) -> Value {
        let cost = send.batch_len as u64;
        let is_cancel = matches!(action, Action::Cancel { .. } | Action::CancelByCloid { .. });
        if let Some(left) = self.requests_left.as_mut().filter(|_| is_cancel) {
            let beyond = cost.saturating_sub(*left);
            if self.cancels_left < beyond {
                self.tally.refusals += 1;
                return refusal("Too many cumulative requests sent (20001 > 10000)");
            }
            (*left, self.cancels_left) = (left.saturating_sub(cost), self.cancels_left - beyond);
        } else if let Some(left) = &mut self.requests_left {
            if *left < cost && self.now < self.free_request_ms {
                self.tally.refusals += 1;
                return refusal("Too many cumulative requests sent (10001 > 10000)");
            }
            let is_last = *left < cost;
            self.free_request_ms = if is_last { self.now + FREE_REQUEST_MS } else { self.free_request_ms };
            *left = left.saturating_sub(cost);
            if is_last {
                self.checks.takes_from(self.free_request_ms);
                self.checks.took_last(send, self.now);
            }
        }
        let reply = self.venue.take_action(action, send.terms, &mut self.dice);
        let statuses = reply.pointer("/response/data/statuses").and_then(Value::as_array);
        self.tally.refusals += statuses.map_or(0, |all| all.iter().filter(|one| one.get("error").is_some()).count());
        reply
    }
}

/// What a read of the account shows of a market.
fn shown(read: &Input, coin: &str) -> Decimal {
    let Input::Account { state, .. } = read else { return Decimal::ZERO };
    let position = state.asset_positions.iter().map(|element| &element.position).find(|position| position.coin == coin);
    position.map_or(Decimal::ZERO, |position| position.szi)
}

/// A request as it comes from a client. Its signature is no longer looked at.
pub(super) fn envelope(action: &Value, nonce: u64) -> Box<Envelope> {
    static TEMPLATE: LazyLock<Envelope> =
        LazyLock::new(|| Envelope::parse(body(&noop(), 1).to_string().as_bytes()).unwrap());
    let typed = Action::parse(action).expect("an action of this client is well formed");
    let terms = Terms { nonce, vault: None, expires_after_ms: None };
    Box::new(Envelope { received: action.clone(), action: typed, terms, ..TEMPLATE.clone() })
}
