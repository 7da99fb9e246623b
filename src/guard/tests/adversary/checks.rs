//! The promises about the account, held to the venue's books after everything that happens.

use std::collections::BTreeMap;

use rust_decimal::{Decimal, dec};

use super::super::simulation::books::{Books, COINS};
use super::line::{Line, Shown};
use super::nature::Nature;
use super::promise::{Broken, Promise};
use super::truth::{Enlarged, Valued, entries, loss_at_stops, worst_notional};
use crate::guard::Urgency;
use crate::guard::effects::SendAction;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::rules::Rules;
use crate::venue::action::{Action, Target};
use crate::venue::info::{AssetPosition, OpenOrder};

/// A read of the account and of the orders, one wait for what is on its way, and one send.
const COVER_MS: u64 = 5_600;
/// The same with the pause between two rounds of a flatten.
const FLAT_MS: u64 = 4_500;
/// A loss is looked at so long before it is believed, at most.
const BELIEVED_MS: u64 = 7_000;
/// From an account without allowance a client's exit goes once in so long.
const TURN_MS: u64 = 30_000;
/// As many exits of all clients rest at most.
const MOST_EXITS: usize = 200;
/// Under this, USDC, what the venue takes is not sure: its minimum with what the price may move.
const DUST: Decimal = dec!(25);

/// The checks and what they remember.
#[derive(Debug)]
pub(super) struct Checks {
    rules: Rules,
    slack_ms: u64,
    flat_slack_ms: u64,
    /// The highest equity: limits were reckoned from it at some time.
    most: Decimal,
    from: Decimal,
    lines: BTreeMap<&'static str, Line>,
    enlarged: Enlarged,
    valued: Valued,
    since: BTreeMap<(Promise, &'static str), u64>,
    /// By how much sells filled above every price that the guard was told before they were sent, USDC.
    dearer: BTreeMap<&'static str, Decimal>,
    /// The highest equity that two reads in a row agree on, and the last one read.
    peak: Decimal,
    read: Decimal,
    /// The venue takes no request from the account before this.
    takes_from_ms: u64,
    /// When it took a client's exit instead of a request of the guard's, since the start.
    turn_ms: Option<u64>,
    killed_ms: Option<u64>,
    lost_ms: Option<u64>,
}

impl Checks {
    pub(super) fn new(nature: &Nature, books: &Books) -> Self {
        Self {
            rules: nature.rules.clone(),
            slack_ms: nature.slack_ms(),
            flat_slack_ms: nature.slack_ms() + nature.flat_slack_ms(),
            most: books.equity(),
            from: books.equity(),
            lines: COINS.into_iter().map(|coin| (coin, Line::default())).collect(),
            enlarged: Enlarged::default(),
            valued: Valued::default(),
            since: BTreeMap::new(),
            dearer: BTreeMap::new(),
            peak: books.equity(),
            read: books.equity(),
            takes_from_ms: 0,
            turn_ms: None,
            killed_ms: None,
            lost_ms: None,
        }
    }

    pub(super) fn killed(&mut self, now_ms: u64) {
        self.killed_ms.get_or_insert(now_ms);
    }

    /// The guard died. Its next life looks at a loss anew.
    pub(super) fn restarted(&mut self, now_ms: u64) {
        self.lost_ms = self.lost_ms.map(|_| now_ms);
        self.turn_ms = None;
    }

    /// A read of the account has shown this equity. One that jumps is a peak once the next read agrees with it.
    pub(super) fn read(&mut self, equity: Decimal, positions: &[AssetPosition]) {
        self.valued.read(positions);
        let is_sure = (equity - self.read).abs() * dec!(100) <= self.read.abs();
        if is_sure {
            self.peak = self.peak.max(equity.min(self.read));
        }
        self.read = equity;
    }

    /// The venue takes no request from the account before this: nothing can be mended until then.
    pub(super) fn takes_from(&mut self, at_ms: u64) {
        self.takes_from_ms = at_ms;
    }

    /// It took this one instead, out of the last requests. Of three one may be a client's exit, and an order of the guard's
    /// own may fail as the price leaps: what waits begins to wait anew after these, and after no other.
    pub(super) fn took_last(&mut self, send: &SendAction, now_ms: u64) {
        let is_exit = send.client.is_some() && send.urgency == Urgency::Exit;
        let is_turn = is_exit && self.turn_ms.is_none_or(|turn_ms| now_ms >= turn_ms + TURN_MS);
        let is_cover = send.urgency == Urgency::Own && Action::parse(&send.action).unwrap().orders().next().is_some();
        if is_turn {
            self.turn_ms = Some(now_ms);
        }
        if is_turn || is_cover {
            self.since.values_mut().for_each(|since| *since = self.takes_from_ms.max(*since));
        }
    }

    /// An entry is sent in this market, judged by these prices at most.
    pub(super) fn opens(&mut self, coin: &'static str, told: &BTreeMap<String, Decimal>, books: &Books) {
        self.valued.judged(coin, told, books);
        self.enlarged.judged(coin, told, books);
    }

    /// A sell opened a position dearer, by so much in all, than the guard could know when it was sent.
    pub(super) fn sold_dearer(&mut self, coin: &'static str, usd: Decimal) {
        *self.dearer.entry(coin).or_default() += usd;
    }

    /// A sell is worth what it fills at, and how far the price moves while it is on its way nobody knows.
    fn moved_credit(&mut self, coin: &'static str, books: &Books) -> Decimal {
        if books.held(coin) >= Decimal::ZERO {
            self.dearer.remove(coin);
        }
        self.dearer.get(coin).copied().unwrap_or_default()
    }

    pub(super) fn is_killed(&self) -> bool {
        self.killed_ms.is_some()
    }

    /// Positions were this, one after the other, by entries that were judged with these stops where they are known.
    pub(super) fn follow(&mut self, held: impl Iterator<Item = (&'static str, Decimal, Option<Decimal>)>) {
        for (coin, held, judged_px) in held {
            self.lines.entry(coin).or_default().follow(held > Decimal::ZERO, held.abs(), judged_px);
        }
    }

    /// The guard has read these covers.
    pub(super) fn learn(&mut self, shown: &[Shown], books: &Books, leaving: &[Target]) {
        for one in shown {
            self.lines.entry(one.coin).or_default().learn(one, books, leaving);
        }
    }

    /// Whether something is as it must not stay: the game is not over before that has passed or lasted too long.
    pub(super) fn is_waiting(&self, books: &Books) -> bool {
        let is_open = || COINS.into_iter().any(|coin| !books.held(coin).is_zero());
        !self.since.is_empty() || (self.killed_ms.is_some() || self.lost_ms.is_some()) && is_open()
    }

    /// After everything that happens.
    pub(super) fn look(&mut self, now_ms: u64, books: &Books) -> Vec<Broken> {
        self.most = self.most.max(books.equity());
        let mut broken = Vec::new();
        let (mut loss, mut notional, mut credit, mut resting) = (Decimal::ZERO, Decimal::ZERO, Decimal::ZERO, 0);
        broken.extend(open_exits(books));
        for coin in COINS {
            let line = self.lines.entry(coin).or_default();
            let cover = line.cover(books, coin);
            let loose = line.look(&cover);
            let of_market = loss_at_stops(self.enlarged.counted_px(books, coin), &cover, self.rules.stop);
            let limit = self.share(self.rules.loss_per_trade);
            let bare = (Promise::Covered, coin, cover.bare() * books.mid(coin) > DUST);
            let loosened = loose.as_ref().map_or(Decimal::ZERO, |(size, _)| *size) * books.mid(coin);
            // The venue closes no part by itself that is worth less, though its price is beyond where its stop stood.
            let is_loose = loosened > DUST;
            let stays = (Promise::StopStays, coin, is_loose);
            let loses = (Promise::LossPerTrade, coin, of_market > limit);
            let text = || format!("{coin} is covered so: {:?}", cover.parts);
            broken.extend(self.for_a_while(now_ms, bare, text));
            broken.extend(self.for_a_while(now_ms, stays, || format!("{coin}: {}", loose.unwrap_or_default().1)));
            let text = || format!("{of_market:.2} are lost in {coin} ({:?}), limit {limit:.2}", cover.parts);
            broken.extend(self.for_a_while(now_ms, loses, text));
            let dearer = self.moved_credit(coin, books);
            let of_position = worst_notional(books, coin, self.valued.of_position(coin));
            broken.extend(self.over(Promise::Position, of_position, self.rules.position, dearer));
            credit += dearer;
            let of_exposure = worst_notional(books, coin, self.valued.of_exposure(coin));
            (loss, notional) = (loss + of_market, notional + of_exposure);
            resting += entries(books, coin).count();
        }
        let loses = (Promise::OpenRisk, "", loss > self.share(self.rules.open_risk));
        broken.extend(self.for_a_while(now_ms, loses, || format!("{loss:.2} are lost if all stops are hit")));
        broken.extend(self.over(Promise::Exposure, notional, self.rules.exposure, credit));
        if resting > self.rules.open_orders as usize {
            let text = format!("{resting} entries rest, limit {}", self.rules.open_orders);
            broken.push(Promise::OpenOrders.broken(text));
        }
        broken.extend(self.look_at_halts(now_ms, books));
        broken
    }

    /// So many percent of the highest equity.
    fn share(&self, percent: Decimal) -> Decimal {
        self.most * percent / dec!(100)
    }

    fn over(&self, promise: Promise, worst: Decimal, percent: Decimal, credit: Decimal) -> Option<Broken> {
        let limit = self.share(percent);
        (worst > limit + credit).then(|| promise.broken(format!("it could come to {worst:.2}, limit {limit:.2}")))
    }

    fn look_at_halts(&mut self, now_ms: u64, books: &Books) -> Option<Broken> {
        let equity = books.equity();
        let of_day = (self.from - equity) * dec!(100) >= self.from * self.rules.daily_loss * dec!(1.03);
        let drawn = (self.peak - equity) * dec!(100) >= self.peak * self.rules.drawdown * dec!(1.03);
        self.lost_ms = (of_day || drawn).then(|| self.lost_ms.unwrap_or(now_ms));
        let open: Vec<&str> = COINS.into_iter().filter(|coin| !books.held(coin).is_zero()).collect();
        let resting = COINS.into_iter().map(|coin| entries(books, coin).count()).sum::<usize>();
        if open.is_empty() && resting == 0 {
            return None;
        }
        let text = |since: u64| format!("{open:?} held and {resting} entries resting {} ms after it", now_ms - since);
        match (self.killed_ms, self.lost_ms) {
            (Some(since), _) if now_ms > since + FLAT_MS + self.flat_slack_ms => {
                Some(Promise::KillEndsFlat.broken(text(since)))
            }
            (_, Some(since)) if now_ms > since + BELIEVED_MS + FLAT_MS + self.flat_slack_ms => {
                Some(Promise::LossEndsFlat.broken(text(since)))
            }
            _ => None,
        }
    }

    /// What may hold of a market for a while, and no longer.
    fn for_a_while(
        &mut self,
        now_ms: u64,
        (promise, coin, holds): (Promise, &'static str, bool),
        text: impl FnOnce() -> String,
    ) -> Option<Broken> {
        if !holds {
            self.since.remove(&(promise, coin));
            return None;
        }
        let since = *self.since.entry((promise, coin)).or_insert(now_ms.max(self.takes_from_ms));
        let is_over = now_ms > since + COVER_MS + self.slack_ms;
        is_over.then(|| promise.broken(format!("{}, for {} ms", text(), now_ms - since)))
    }
}

/// Clients' exits may rest in such numbers only that the guard's own stops find room among them.
fn open_exits(books: &Books) -> Option<Broken> {
    let all = books.orders.values().flat_map(|order| std::iter::once(order).chain(&order.children));
    let is_own = |order: &OpenOrder| order.cloid.is_some_and(|cloid| is_guard_stop(&cloid));
    let count = all.filter(|order| order.reduce_only && !is_own(order)).count();
    (count > MOST_EXITS).then(|| Promise::OpenExits.broken(format!("{count} exits of clients rest")))
}
