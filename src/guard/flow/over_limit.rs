//! Over a limit: where reads show that what is held and what rests could come to more than a limit allows, the newest
//! resting entries are cancelled until it fits. Prices move, equity falls or is withdrawn, others trade by hand: what fitted
//! when it was judged may fit no more. No limit closes a position.

use crate::base::amount::{cents, percent_of};
use crate::guard::config::Mode;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::guard_actions;
use crate::guard::flow::guard_actions::Cause;
use crate::guard::flow::step_context::Step;
use crate::guard::state::entry_leg::EntryLeg;
use crate::guard::state::exposure::{Exposure, Figures};
use crate::guard::state::guard::Guard;
use crate::guard::state::over_limit::OverLimit;
use crate::guard::state::view::Resting;
use crate::record::events::Trouble;
use crate::venue::action::{Action, Cancel};
use rust_decimal::{Decimal, dec};

/// So much over a limit is let be, percent of it: prices wander.
const TOLERANCE_PCT: Decimal = dec!(5);

/// The venue's reads may lag; the open orders have no time of their own, so a read must begin so long after.
const LAG_MS: u64 = 1_000;

/// Cancels in one action at most.
const BATCH: usize = 100;

/// A limit that the worst case is over.
pub(crate) struct Excess {
    rule: &'static str,
    /// The market; none for a sum over all of them.
    asset: Option<u32>,
    measure: Measure,
    actual: Decimal,
    limit: Decimal,
}

/// The figure of a worst case that a rule limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Notional,
    Loss,
}

impl Measure {
    fn of(self, figures: &Figures) -> Decimal {
        match self {
            Measure::Notional => figures.notional,
            Measure::Loss => figures.loss,
        }
    }
}

impl Excess {
    /// What tells it from any other: the market of its size, or the rule, with the market where it has one.
    pub(crate) fn about(&self, guard: &Guard) -> String {
        match self.asset.map(|asset| guard.view.coin(asset)) {
            Some(coin) if self.measure == Measure::Notional => coin,
            Some(coin) => format!("{coin} {}", self.rule),
            None => self.rule.to_owned(),
        }
    }

    /// The excess in words.
    pub(crate) fn text(&self, guard: &Guard) -> String {
        let market = self.asset.map(|asset| guard.view.market(asset).map_or("a market", |market| &market.coin));
        format!(
            "{}: {} USDC of {} could be reached and {} are allowed",
            self.rule,
            cents(self.actual),
            market.unwrap_or("all markets"),
            cents(self.limit)
        )
    }
}

/// Looks whether all fits, and has the newest entries cancelled where it does not.
pub(crate) fn run(step: &mut Step<'_>) {
    let now_ms = step.now_ms;
    let found = excesses(step.guard, &step.guard.read_exposure, TOLERANCE_PCT);
    if found.is_empty() {
        step.guard.watch.over_limit = OverLimit::default();
        return;
    }
    let is_waiting = is_waiting(step.guard);
    let over = &mut step.guard.watch.over_limit;
    if over.since_ms.is_none() || is_waiting {
        over.since_ms.get_or_insert(now_ms);
        over.look_again(now_ms);
        return;
    }
    if !is_read_since(step, now_ms) {
        return;
    }
    let over = &mut step.guard.watch.over_limit;
    over.is_confirmed = true;
    if step.guard.config.mode == Mode::Paper || !step.guard.watch.over_limit.is_due(now_ms) {
        return;
    }
    let (cancels, open) = newest_entries(step.guard);
    if cancels.is_empty() {
        return;
    }
    let told: Vec<String> = found.iter().map(|excess| excess.text(step.guard)).collect();
    let text =
        format!("over a limit, so the newest resting entries are cancelled ({}): {}", cancels.len(), told.join("; "));
    let of = step.record(Trouble::new(text));
    let intent = guard_actions::submit(step, Cause::Upkeep { of }, vec![Action::Cancel { cancels, fast: false }]);
    step.guard.watch.over_limit.cancelled(intent, open, now_ms);
}

/// Whether the last cancel still has no answer.
fn is_waiting(guard: &Guard) -> bool {
    let is_open =
        |intent: u64| guard.intents.contains_key(&intent) || guard.doubts.keys().any(|(doubted, _)| *doubted == intent);
    guard.watch.over_limit.intent.is_some_and(is_open)
}

/// Whether account and orders were read late enough to prove it: a fill shows in the one before the other.
fn is_read_since(step: &mut Step<'_>, now_ms: u64) -> bool {
    let Step { guard, effects, .. } = step;
    let over = &mut guard.watch.over_limit;
    let orders_from_ms = over.reads_since_ms.saturating_add(LAG_MS);
    if guard.view.orders_ms < Some(orders_from_ms) {
        if now_ms >= orders_from_ms && !over.is_asked {
            over.is_asked = true;
            effects.immediate.push(Command::Read(Read::OrdersNow));
        }
        return false;
    }
    guard.view.account.as_ref().is_some_and(|account| account.begun_ms >= over.reads_since_ms)
}

/// The limits that `exposure` is over by more than this percentage.
///
/// A loss counts only as far as entries are to blame: a winner far above its stop could lose more than the rule and is no
/// reason to cancel anything.
fn excesses(guard: &Guard, exposure: &Exposure, tolerance_pct: Decimal) -> Vec<Excess> {
    let Some(equity) = guard.known_equity() else { return Vec::new() };
    let (rules, base) = (&guard.config.rules, guard.config.base_equity(equity));
    let mut found = Vec::new();
    let mut look = |rule, asset, figures: &Figures, measure: Measure, percent| {
        let (actual, limit) = (measure.of(figures), percent_of(base, percent));
        if actual > limit.saturating_add(percent_of(limit, tolerance_pct)) {
            found.push(Excess { rule, asset, measure, actual, limit });
        }
    };
    for (asset, figures) in exposure.each_market() {
        look("position", Some(asset), &figures, Measure::Notional, rules.position);
        look("loss_per_trade", Some(asset), &figures, Measure::Loss, rules.loss_per_trade);
    }
    look("exposure", None, &exposure.totals(), Measure::Notional, rules.exposure);
    look("open_risk", None, &exposure.totals(), Measure::Loss, rules.open_risk);
    if found.iter().any(|excess| excess.measure == Measure::Loss) {
        let held = exposure.without_entries();
        found.retain(|excess| {
            let figures = excess.asset.map_or_else(|| held.totals(), |asset| held.figures(asset));
            excess.measure == Measure::Notional || excess.measure.of(&figures) <= excess.limit
        });
    }
    found
}

/// The newest entries, as many as must go until all fits, and how many there are in all. Nothing that closes and no stop
/// is among them.
fn newest_entries(guard: &Guard) -> (Vec<Cancel>, usize) {
    let mut exposure = guard.read_exposure.clone();
    let entries: Vec<&Resting> = guard.view.orders.values().filter(|order| order.is_entry()).collect();
    let mut cancels = Vec::new();
    let mut found = excesses(guard, &exposure, Decimal::ZERO);
    // Order ids grow with time.
    for order in entries.iter().rev() {
        if found.is_empty() || cancels.len() >= BATCH {
            break;
        }
        let before = exposure.figures(order.asset);
        exposure.remove_entry(order.asset, order.is_buy, EntryLeg::of(order));
        let after = exposure.figures(order.asset);
        let helps = |excess: &Excess| {
            let is_its = excess.asset.is_none_or(|asset| asset == order.asset);
            is_its && excess.measure.of(&after) < excess.measure.of(&before)
        };
        if found.iter().any(helps) {
            cancels.push(Cancel { asset: order.asset, oid: order.oid });
            found = excesses(guard, &exposure, Decimal::ZERO);
        } else {
            exposure.add(&guard.view, order.asset, order.is_buy, false, EntryLeg::of(order));
        }
    }
    (cancels, entries.len())
}

/// What the account is over, and since when, once reads have proved it.
pub(crate) fn confirmed(guard: &Guard) -> Option<(Vec<Excess>, Option<u64>)> {
    let over = &guard.watch.over_limit;
    over.is_confirmed.then(|| (excesses(guard, &guard.read_exposure, TOLERANCE_PCT), over.since_ms))
}
