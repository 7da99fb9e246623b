//! The `order` action: exits first, then each entry in turn with budgets running down, then the limits of the whole.
//!
//! A request of entries alone passes or falls as one. In a mixed request whatever can only reduce goes in any case, and
//! what cannot pass beside it is left out. The children of a group stand and fall with their parent.

use crate::guard::state::cover::side_covered;
use rust_decimal::Decimal;

use super::attached_stops::{self, Kept};
use super::closing_part;
use super::context::JudgeContext;
use super::entry::checks::{self, PassedEntry};
use super::entry::requested_stop::{covers_side, stops_for};
use super::exit::{self, Class};
use super::left_out::{self, Refused};
use super::limits::{duplicate_order, open_exits_limit};
use super::plan::Plan;
use super::throttle::{self, AskedEntries};
use super::veto::Veto;
use super::{
    admission, nothing_to_reduce, redundant_stops, requested_stops, reserved_cloid, single_use_cloid, stop_loosened,
    unequal_siblings,
};
use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::guard::state::stop_geometry::stop_order;
use crate::record::minute_record::EntryNote;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::market::FIRST_NON_CORE_ASSET;
use crate::venue::order::Order;
use crate::venue::side::PositionSide;

/// The orders of a request as they are judged, each by its place.
struct Batch<'a> {
    context: JudgeContext<'a>,
    action: &'a OrderAction,
    orders: Vec<Order>,
    /// The entries that passed.
    passed: Vec<Option<PassedEntry>>,
    /// The orders that did not.
    refused: Refused,
    asked: AskedEntries,
}

/// Judges the orders; with `no_room` every exit that may rest is refused with that, with `no_entry` every entry.
pub(crate) fn judge(
    guard: &Guard,
    client: Address,
    action: &OrderAction,
    now_ms: u64,
    [no_room, no_entry]: [Option<&Veto>; 2],
) -> Result<Plan, Veto> {
    let mut batch = Batch::judge(guard, client, action, now_ms, [no_room, no_entry]);
    if let Err(veto) = batch.check_whole() {
        // What its entries ask for together is too much: none of them passes.
        batch = Batch::judge(guard, client, action, now_ms, [no_room, Some(&veto)]);
    }
    batch.into_plan()
}

impl<'a> Batch<'a> {
    /// Judges each order; with a veto every exit that may rest, or every entry, is refused with that.
    fn judge(
        guard: &'a Guard,
        client: Address,
        action: &'a OrderAction,
        now_ms: u64,
        [no_room, veto]: [Option<&Veto>; 2],
    ) -> Self {
        let orders = action.orders.clone();
        let refused = orders.iter().enumerate().map(|(place, order)| {
            reserved_cloid::check_order(order)
                .and_then(|()| single_use_cloid::check_order(guard, client, order))
                .and_then(|()| nothing_to_reduce::check_order(guard, action, order, now_ms))
                .and_then(|()| stop_loosened::check_child(action, place))
                .and_then(|()| unequal_siblings::check_child(action, place))
                .err()
        });
        let mut refused: Refused = refused.collect();
        open_exits_limit::refuse_excess(guard, &orders, &mut refused);
        no_room.into_iter().for_each(|veto| open_exits_limit::refuse_resting(&orders, &mut refused, veto));
        let mut batch = Self {
            context: JudgeContext { can_split: true, ..JudgeContext::new(guard, client, now_ms) },
            action,
            passed: vec![None; orders.len()],
            refused,
            orders,
            asked: AskedEntries::default(),
        };
        let Self { context, orders, refused, .. } = &mut batch;
        // Exits first, wherever they stand: the position that they close is not there for an entry to close.
        let classes: Vec<Option<Class>> = orders
            .iter_mut()
            .zip(refused.iter_mut())
            .map(|(order, refused)| {
                // What only closes rests as well where it was not marked so.
                if let Some(veto) = no_room.filter(|_| refused.is_none() && exit::may_rest(context, order)) {
                    *refused = Some(veto.clone());
                }
                refused.is_none().then(|| exit::classify(context, order))
            })
            .collect();
        // Counted before each is looked at: what asks for far too much must cost little.
        let entries = || batch.orders.iter().zip(&classes).filter(|(_, class)| **class == Some(Class::Entry));
        let resting = entries().filter(|(order, _)| order.may_rest()).count();
        let too_many = throttle::check_counts(guard, client, (entries().count(), resting), now_ms).err();
        let veto = veto.or(too_many.as_ref());
        for (place, class) in classes.into_iter().enumerate() {
            if class == Some(Class::Entry) {
                batch.judge_entry(place, veto);
            }
        }
        if let Some(veto) = no_room {
            // So does the part of an entry that closes.
            open_exits_limit::refuse_resting(&batch.orders, &mut batch.refused, veto);
        }
        batch.fall_together();
        batch
    }

    /// Judges the entry at `place`. One that is refused leaves no trace, but for the part of it that closes.
    fn judge_entry(&mut self, place: usize, veto: Option<&Veto>) {
        let Some(asked) = self.orders.get(place).cloned() else { return };
        let mut order = asked.clone();
        if closing_part::close_but_dust(&mut self.context, &mut order) {
            self.put(place, order);
            return;
        }
        let side = (asked.asset, asked.is_buy);
        let stops = self.orders.iter().zip(&self.refused).enumerate();
        let stops = stops.filter(|(_, (order, refused))| refused.is_none() && covers_side(order, side));
        let stops: Vec<(usize, Order)> = stops.map(|(place, (order, _))| (place, order.clone())).collect();
        let (changes, pre) = (self.context.changes.len(), self.context.pre.len());
        let outcome = match veto {
            Some(veto) => Err(veto.clone()),
            None => self.pass_entry(&mut order),
        };
        match outcome {
            Ok(passed) => {
                if let Some(slot) = self.passed.get_mut(place) {
                    *slot = Some(passed);
                }
                self.put(place, order);
            }
            Err(veto) => {
                self.context.changes.truncate(changes);
                self.context.pre.truncate(pre);
                stops.into_iter().for_each(|(place, stop)| self.put(place, stop));
                match closing_part::of(&mut self.context, &asked, &veto) {
                    Some(closing) => self.put(place, closing),
                    None => self.refuse(place, veto),
                }
            }
        }
    }

    fn pass_entry(&mut self, order: &mut Order) -> Result<PassedEntry, Veto> {
        admission::checks::check(self.context.guard, self.context.now_ms)?;
        let note = EntryNote::of(self.context.client, order);
        // What is refused itself covers nothing.
        let sent = self.orders.iter_mut().zip(&self.refused).filter(|(_, refused)| refused.is_none());
        let mut stops = stops_for(sent.map(|(order, _)| order), (order.asset, order.is_buy));
        let passed = checks::judge(&mut self.context, order, &mut stops)?;
        if !passed.opening.is_zero() {
            self.asked.cloids.extend(order.cloid);
            self.asked.notes.push(note);
            self.asked.resting += usize::from(order.may_rest());
        }
        Ok(passed)
    }

    /// Refuses what goes nowhere without what was refused: the group of a refused order, and the stops of refused
    /// entries where nothing else is there for them to cover.
    fn fall_together(&mut self) {
        if self.action.grouping == Grouping::NormalTpsl {
            self.fall_with_parent();
            return;
        }
        for place in 0..self.orders.len() {
            let Some(order) = self.orders.get(place).filter(|order| order.reduce_only) else { continue };
            let is_its = |entry: &Order| covers_side(order, (entry.asset, entry.is_buy));
            let stays = self.opening().any(is_its) || self.is_held(order) && self.context.guard.view.account.is_some();
            let fallen = self
                .refused
                .iter()
                .zip(&self.orders)
                .find_map(|(veto, entry)| veto.clone().filter(|_| !entry.reduce_only && is_its(entry)));
            if let Some(veto) = fallen.filter(|_| !stays) {
                self.refuse(place, veto);
            }
        }
    }

    /// Of a group of which an order was refused, or whose parent opens nothing any more, only the parent may be left.
    fn fall_with_parent(&mut self) {
        let parent_closes = |batch: &Self| {
            let (asked, order) = (batch.action.orders.first(), batch.orders.first());
            order.zip(asked).is_some_and(|(order, asked)| order.reduce_only && order.size != asked.size)
        };
        let opens_nothing = || Veto::new(Code::Resized, "its entry was cut to what closes");
        let veto = self.refused.iter().flatten().next().cloned();
        let Some(veto) = veto.or_else(|| parent_closes(self).then(opens_nothing)) else { return };
        let parent_stays = self.orders.first().is_some_and(|order| order.reduce_only);
        for place in usize::from(parent_stays)..self.orders.len() {
            self.refuse(place, veto.clone());
        }
    }

    /// The limits on all entries together.
    fn check_whole(&self) -> Result<(), Veto> {
        requested_stops::check_shared(self.context.guard, &self.orders, &self.passed)?;
        throttle::check(self.context.guard, &self.asked, self.context.now_ms)
    }

    /// The plan, unless something was refused and nothing else reduces what is held.
    fn into_plan(self) -> Result<Plan, Veto> {
        let reduces: Vec<bool> = (0..self.orders.len()).map(|place| self.reduces(place)).collect();
        let Self { mut context, action, orders, passed, refused, asked } = self;
        // What finds nothing to reduce takes nothing else down with it, and goes nowhere by itself.
        let is_alone = refused.iter().all(Option::is_some);
        let mut grave = refused.iter().flatten().filter(|veto| is_alone || veto.code != Code::NothingToReduce);
        if let Some(veto) = grave.next()
            && !reduces.contains(&true)
        {
            return Err(veto.clone());
        }
        let stops = passed.iter().map(|passed| passed.as_ref().map(|passed| passed.cover.stop_at())).collect();
        let left_out = left_out::tell(&mut context.changes, &refused);
        let is_kept = refused.iter().map(Option::is_none);
        let kept = orders.into_iter().zip(passed).zip(reduces).zip(is_kept).enumerate();
        let mut kept: Vec<Kept> = kept
            .filter(|(_, (_, is_kept))| *is_kept)
            .map(|(place, (((order, passed), reduces), _))| Kept { place, order, passed, reduces })
            .collect();
        requested_stops::fit_to_entries(&mut context, action, &mut kept);
        let orders = kept.iter_mut().map(|kept| &mut kept.order);
        duplicate_order::take_borrowed(context.guard, orders, &mut context.changes);
        // Before the guard's stops are added: only a client's stop lets one of them go.
        let as_sent: Vec<Order> = kept.iter().map(|kept| kept.order.clone()).collect();
        let mut released = redundant_stops::own_stops(context.guard, &as_sent, action.grouping);
        for post in &mut released {
            for place in &mut post.after_places {
                *place = kept.get(*place).map_or(*place, |kept| kept.place);
            }
        }
        let mut plan = attached_stops::split(&mut context, action, kept);
        plan.post.extend(released);
        let is_entry = !asked.notes.is_empty();
        Ok(Plan {
            pre: context.pre,
            changes: context.changes,
            stops,
            left_out,
            entries: asked.notes,
            is_entry,
            reduces: !is_entry,
            ..plan
        })
    }

    /// Whether the order at `place` reduces what is held, whatever becomes of the others.
    fn reduces(&self, place: usize) -> bool {
        let is_child = self.action.grouping == Grouping::NormalTpsl && place > 0;
        let is_refused = self.refused.get(place).is_some_and(Option::is_some);
        let Some(order) = self.orders.get(place).filter(|order| order.reduce_only) else { return false };
        let is_stop_of_entry = self.opening().any(|entry| covers_side(order, (entry.asset, entry.is_buy)));
        !is_child && !is_refused && !is_stop_of_entry && self.is_held(order)
    }

    /// Whether there may be a position for a reduce-only order to reduce. A close goes where one alone would go, and a stop beside
    /// a refused entry only where something is known to be held: it may be meant for that entry.
    fn is_held(&self, order: &Order) -> bool {
        let JudgeContext { guard, now_ms, .. } = self.context;
        let is_unknown = order.asset >= FIRST_NON_CORE_ASSET || guard.view.account.is_none();
        let may_close = !order.is_trigger() && guard.may_hold(order.asset, now_ms);
        is_unknown || may_close || guard.may_be_held(order.asset, side_covered(order.is_buy))
    }

    /// The entries that passed and open something.
    fn opening(&self) -> impl Iterator<Item = &Order> {
        let opens = |passed: &Option<PassedEntry>| passed.as_ref().is_some_and(|passed| !passed.opening.is_zero());
        self.orders.iter().zip(&self.passed).filter(move |(_, passed)| opens(passed)).map(|(order, _)| order)
    }

    fn put(&mut self, place: usize, order: Order) {
        if let Some(slot) = self.orders.get_mut(place) {
            *slot = order;
        }
    }

    fn refuse(&mut self, place: usize, veto: Veto) {
        if let Some(slot) = self.refused.get_mut(place) {
            slot.get_or_insert(veto);
        }
        if let Some(slot) = self.passed.get_mut(place) {
            *slot = None;
        }
    }
}

/// The guard's own stop for `size` of one side at `trigger_px`.
pub(crate) fn own_stop(
    guard: &Guard,
    asset: u32,
    side: PositionSide,
    trigger_px: Decimal,
    size: Decimal,
) -> Option<Action> {
    let market = guard.view.market(asset)?;
    let orders = vec![stop_order(market, side, trigger_px, size)];
    Some(Action::Order(OrderAction { orders, grouping: Grouping::Na, builder: None }))
}
