//! Flatten: everything goes. Every order that is no cover is cancelled and every position closed, round after round on
//! fresh reads, until the account is flat; the stops go last. What appears while it must stay flat goes as well.

use crate::guard::config::Mode;
use crate::guard::effects::{Command, Read};
use crate::guard::flow::close_order::order_action;
use crate::guard::flow::guard_actions::Cause;
use crate::guard::flow::step_context::Step;
use crate::guard::flow::{close_order, guard_actions, make_room, read_progress};
use crate::guard::state::cover;
use crate::guard::state::flatten::{Left, Prices};
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::cancel;
use crate::guard::state::view::Resting;
use crate::record::events::{Problem, Trouble};
use crate::record::risk_record::{HaltFlatten, RiskRecord};
use crate::venue::action::{Action, Cancel, CancelByCloid, Target};
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;
use std::collections::BTreeSet;

/// Cancels or closes in one action at most.
const BATCH: usize = 100;

/// The open orders are waited for this long before a first round without them.
const ORDERS_WAIT_MS: u64 = 3_000;

/// Whether the rounds ended with nothing left, no TWAP order runs, and nothing has turned up since, in no market that is
/// known either.
pub(crate) fn is_flat(guard: &Guard) -> bool {
    let flatten = &guard.watch.flatten;
    let has_unknown = guard.view.account.as_ref().is_some_and(|account| !account.unknown.is_empty());
    flatten.is_flat && flatten.twaps.is_clear() && !has_unknown && all_must_go(guard).0.is_empty()
}

/// Starts a flatten, or its next round.
pub(crate) fn run(step: &mut Step<'_>) {
    if let Some((reason, since_ms)) = step.guard.watch.flatten.wanted.clone() {
        if step.guard.view.orders_ms.is_some() || step.now_ms.saturating_sub(since_ms) > ORDERS_WAIT_MS {
            begin(step, &reason);
        }
        return;
    }
    if step.guard.config.mode == Mode::Paper {
        return;
    }
    ask_for_twaps(step);
    let (left, prices) = what_is_left(step.guard);
    let flatten = &step.guard.watch.flatten;
    let Some(of) = flatten.of else { return };
    let is_read = read_progress::is_read_since(step.guard, flatten.reads_since_ms, step.now_ms);
    // What is sent in vain goes by what is read, and less and less often.
    let is_shown =
        is_read || flatten.has_other(&left) && read_progress::is_told_since(step.guard, flatten.reads_since_ms);
    if step.now_ms < flatten.next_ms(&left, &prices) || !is_shown {
        return;
    }
    let unanswered = Unanswered::of(step.guard);
    let (mut actions, _) = all_must_go(step.guard);
    let is_unsure = !step.guard.lines.ended.is_empty() || step.guard.sent.orders.iter().any(|order| !order.reduce_only);
    if actions.is_empty() && (is_unsure || !is_read) {
        // Another read tells whether nothing is left.
        return;
    }
    let is_last = actions.is_empty() && !unanswered.is_any();
    if is_last {
        actions = cancels(&idle_stops(step.guard));
    }
    let actions: Vec<Action> = actions.into_iter().filter_map(|action| unanswered.without(action)).collect();
    let flatten = &mut step.guard.watch.flatten;
    flatten.is_flat = is_last && actions.is_empty();
    if flatten.is_flat {
        return flatten.rest();
    }
    let actions = room(step.guard).into_iter().chain(actions);
    let actions: Vec<Action> = actions.filter_map(|action| due(step.guard, action, step.now_ms)).collect();
    if actions.is_empty() {
        return;
    }
    begin_round(step, (left, prices), &actions);
    for action in actions {
        guard_actions::submit(step, Cause::FollowUp { of }, vec![action]);
    }
}

/// The cancel that makes room for closes which were refused for want of it, where the round before made none: what is no cover has
/// gone by then.
fn room(guard: &Guard) -> Option<Action> {
    let is_wanted = guard.watch.wants_room() && !guard.watch.flatten.has_cancelled;
    let cancels = if is_wanted { make_room::for_close(guard, 1) } else { Vec::new() };
    (!cancels.is_empty()).then_some(Action::Cancel { cancels, fast: false })
}

fn begin_round(step: &mut Step<'_>, (left, prices): (Left, Prices), actions: &[Action]) {
    let watch = &mut step.guard.watch;
    watch.flatten.begin_round(left, prices, step.now_ms);
    watch.flatten.has_cancelled = actions.iter().any(|action| !cancel::targets(action).is_empty());
    watch.on_room_made();
}

/// What is left of an action without cancels of orders that are gone by the venue's word: reads that go on showing them lag.
fn due(guard: &Guard, action: Action, now_ms: u64) -> Option<Action> {
    let Action::Cancel { mut cancels, fast } = action else { return Some(action) };
    cancels.retain(|cancel| guard.watch.own_cancels.is_due_at_once(cancel.oid, now_ms));
    (!cancels.is_empty()).then_some(Action::Cancel { cancels, fast })
}

/// The flatten event: one for every cause.
fn begin(step: &mut Step<'_>, reason: &str) {
    let (actions, problems) = all_must_go(step.guard);
    let (left, prices) = what_is_left(step.guard);
    begin_round(step, (left, prices), &actions);
    let seq = guard_actions::submit(step, Cause::Flatten { reason, problems }, actions);
    let flatten = &mut step.guard.watch.flatten;
    (flatten.wanted, flatten.of, flatten.reads_since_ms) = (None, Some(seq), step.now_ms);
    if step.guard.risk.is_halted() {
        let halt_flatten = HaltFlatten { at_ms: step.now_ms, seq: Some(seq) };
        step.effects.risk.push(RiskRecord::Flatten(halt_flatten).into());
    }
    if step.guard.config.mode != Mode::Paper {
        step.effects.immediate.extend([Read::OrdersNow, Read::AccountNow].map(Command::Read));
        ask_for_twaps(step);
    }
}

fn ask_for_twaps(step: &mut Step<'_>) {
    if step.guard.watch.flatten.twaps.ask(step.now_ms) {
        step.effects.immediate.push(Command::Read(Read::Twaps));
    }
}

/// The stops that stand for nothing that is held: without a position there is nothing that they could spare.
fn idle_stops(guard: &Guard) -> Vec<Cancel> {
    let stops = guard.view.orders.values().filter(|order| order.stop_px.is_some());
    stops.filter(|order| guard.view.position(order.asset).is_zero()).copied_ids()
}

/// The guard's own closes and cancels that have no answer: they hold up nothing but themselves.
struct Unanswered<'a>(Vec<&'a Action>);

impl<'a> Unanswered<'a> {
    fn of(guard: &'a Guard) -> Self {
        let ends = |action: &&Action| {
            is_close(action) || matches!(action, Action::Cancel { .. } | Action::CancelByCloid { .. })
        };
        Self(guard_actions::unanswered(guard).filter(ends).collect())
    }

    fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// What is left of an action without them.
    fn without(&self, action: Action) -> Option<Action> {
        let is_open =
            |target: Target| !self.0.iter().flat_map(|action| cancel::targets(action)).any(|own| own == target);
        let closes =
            |asset: u32| self.0.iter().any(|own| is_close(own) && own.orders().any(|order| order.asset == asset));
        match action {
            Action::Order(mut action) => {
                action.orders.retain(|order| !closes(order.asset));
                (!action.orders.is_empty()).then_some(Action::Order(action))
            }
            Action::Cancel { mut cancels, fast } => {
                cancels.retain(|cancel| is_open(Target::Oid(cancel.oid)));
                (!cancels.is_empty()).then_some(Action::Cancel { cancels, fast })
            }
            Action::CancelByCloid { mut cancels, fast } => {
                cancels.retain(|cancel| is_open(Target::Cloid(cancel.cloid)));
                (!cancels.is_empty()).then_some(Action::CancelByCloid { cancels, fast })
            }
            action => Some(action),
        }
    }
}

fn is_close(action: &Action) -> bool {
    matches!(action, Action::Order(_)) && !action.orders().any(Order::is_trigger)
}

fn what_is_left(guard: &Guard) -> (Left, Prices) {
    let positions = || guard.view.account.iter().flat_map(|account| &account.positions);
    let prices = positions().filter_map(|(asset, _)| Some((*asset, guard.view.price(*asset)?))).collect();
    let left = (positions().map(|(asset, position)| (*asset, position.szi)).collect(), guard.view.orders.len());
    (left, prices)
}

/// The closes and cancels that are left to do, and what cannot be done. Closes come first: they are reduce-only, so that
/// nothing which rests keeps them from filling, and how long its cancels take must not hold them up.
fn all_must_go(guard: &Guard) -> (Vec<Action>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut problem = |coin: &str, text: String| problems.push(Problem { coin: coin.to_owned(), text });
    let covers = cover_ids(guard);
    let seen = guard.view.orders.values().chain(guard.sent.resting());
    let doomed = seen.filter(|order| !covers.contains(&order.oid)).copied_ids();
    for order in &guard.view.foreign_orders {
        problem(&order.coin, format!("order {} is of no core perp and cannot be cancelled here", order.oid));
    }
    let mut closes = Vec::new();
    let account = guard.view.account.as_ref();
    for (asset, position) in account.into_iter().flat_map(|account| &account.positions) {
        let size = position.szi.abs();
        if guard.watch.retry(*asset).is_some_and(|retry| retry.is_dust(size)) {
            continue;
        }
        if position.position_value < MIN_NOTIONAL {
            let value = position.position_value.normalize();
            let text = format!("worth {value}, under the venue's minimum of {MIN_NOTIONAL} USDC, which it may keep to");
            problem(&position.coin, text);
        }
        match close_order::close_order(guard, *asset, guard.watch.flatten.round) {
            Some(order) => closes.push(order),
            None => problem(&position.coin, "there is no price to close it at".to_owned()),
        }
    }
    for coin in account.into_iter().flat_map(|account| account.unknown.keys()) {
        problem(coin, "its market is not known, so the position cannot be closed here".to_owned());
    }
    let batch = if guard.watch.flatten.singly { 1 } else { BATCH };
    let mut actions: Vec<Action> = closes.chunks(batch).map(|orders| order_action(orders.to_vec())).collect();
    actions.extend(cancels(&doomed));
    actions.extend(cancels_in_flight(guard));
    (actions, problems)
}

/// The market stops that stand for a position: they go last.
fn cover_ids(guard: &Guard) -> BTreeSet<u64> {
    let may_cover = |order: &Resting| {
        let (asset, side) = (order.asset, cover::side_covered(order.is_buy));
        // What filled, or may have, and no read shows is closed once one does: also of an entry that goes with this cancel.
        let is_held = || {
            guard.may_be_held(asset, side)
                || guard.lines.ended.may_be_held(asset, side)
                || guard.may_be_opening(asset, side)
        };
        order.stop_px.is_some() && is_held()
    };
    let covers = |order: &&Resting| cover::covers(order, guard.view.position(order.asset)) || may_cover(order);
    // One that was just accepted counts as well, though no read has shown it yet.
    guard.view.orders.values().chain(guard.sent.resting()).filter(covers).map(|order| order.oid).collect()
}

/// Cancels, by client order id, for entries that were sent and that nothing has shown yet.
fn cancels_in_flight(guard: &Guard) -> Vec<Action> {
    let known = |cloid: &crate::base::address::Cloid| guard.orders_by_cloid(*cloid).next().is_some();
    let entries = guard.sent.open().filter(|order| !order.reduce_only && order.key.intent != 0);
    let cancels: Vec<CancelByCloid> = entries
        .filter_map(|order| Some(CancelByCloid { asset: order.asset, cloid: order.cloid? }))
        .filter(|cancel| !known(&cancel.cloid))
        .collect();
    cancels.chunks(BATCH).map(|cancels| Action::CancelByCloid { cancels: cancels.to_vec(), fast: false }).collect()
}

/// Stops the TWAP orders that run.
pub(crate) fn on_twaps(step: &mut Step<'_>, twaps: Result<Vec<(String, u64)>, String>) {
    let Some(of) =
        step.guard.watch.flatten.of.filter(|_| step.guard.must_be_flat() && guard_actions::can_act(step.guard))
    else {
        return;
    };
    let running = match twaps {
        Ok(running) => running,
        Err(text) => {
            if step.guard.watch.flatten.twaps.on_failure(step.now_ms) {
                let text = format!("TWAP orders could not be read, so none was stopped: {text}");
                step.record(Trouble::new(text));
            }
            return;
        }
    };
    // What runs in other markets moves no position that could be closed here.
    let asset_of = |coin: &str| step.guard.view.universe.by_coin(coin).map(|market| market.asset);
    let all = running.len();
    let running: Vec<(u32, u64)> = running.iter().filter_map(|(coin, id)| Some((asset_of(coin)?, *id))).collect();
    step.guard.watch.flatten.twaps.on_read(running.len(), all.saturating_sub(running.len()));
    for (asset, twap_id) in running.into_iter().filter(|(_, id)| !is_cancelling(step.guard, *id)).collect::<Vec<_>>() {
        guard_actions::submit(step, Cause::FollowUp { of }, vec![Action::TwapCancel { asset, twap_id }]);
    }
}

/// Whether a cancel of this TWAP order is on its way. One without an answer is not: another does no harm.
fn is_cancelling(guard: &Guard, id: u64) -> bool {
    let actions = guard.intents.values().flat_map(|intent| &intent.actions);
    actions.into_iter().any(|planned| matches!(planned.action, Action::TwapCancel { twap_id, .. } if twap_id == id))
}

/// Market and id of each order.
trait Ids {
    fn copied_ids(self) -> Vec<Cancel>;
}

impl<'a, I: Iterator<Item = &'a Resting>> Ids for I {
    fn copied_ids(self) -> Vec<Cancel> {
        self.map(|order| Cancel { asset: order.asset, oid: order.oid }).collect()
    }
}

fn cancels(doomed: &[Cancel]) -> Vec<Action> {
    let actions = doomed.chunks(BATCH);
    actions.map(|cancels| Action::Cancel { cancels: cancels.to_vec(), fast: false }).collect()
}
