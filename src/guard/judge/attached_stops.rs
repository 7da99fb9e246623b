//! A request on its way to the venue: what goes at once, what goes together, and the guard's stops with the entries that
//! they are for or after them.

use super::context::JudgeContext;
use super::entry::checks::{Apart, PassedEntry};
use super::entry::entry_cover::Cover;
use super::following_stops::FollowingStops;
use super::plan::{Part, Plan};
use super::stop;
use crate::base::amount::to_wire;
use crate::guard::state::guard::Guard;
use crate::venue::action::{Action, Grouping, OrderAction};
use crate::venue::order::Order;

/// The venue refuses a `normalTpsl` group whole that has more than these behind its entry.
const MOST_CHILDREN: usize = 2;

/// Entries of one request that go as requests of their own, one after the other; where the venue is slow, what is left of
/// them goes together (`flow/regroup.rs`).
const MOST_GROUPS: usize = 40;

/// The part of a minute's weight that they may take.
const GROUPS_SHARE: u32 = 10;

/// An order that is sent.
pub(crate) struct Kept {
    /// Its place in the request.
    pub(crate) place: usize,
    pub(crate) order: Order,
    pub(crate) passed: Option<PassedEntry>,
    /// It reduces what is held, whatever becomes of the others.
    pub(crate) reduces: bool,
}

impl Kept {
    /// The guard's stop that this entry needs.
    fn stop(&self) -> Option<&Order> {
        match &self.passed.as_ref()?.cover {
            Cover::Attached(stop) => Some(stop),
            Cover::Requested(_) | Cover::Resting(_) => None,
        }
    }

    /// The closing part of it that goes ahead as an order of its own, taken from it. The client's id stays with what
    /// opens.
    fn take_closing_part(&mut self) -> Option<Self> {
        let Apart { size, px } = self.passed.as_mut()?.apart.take()?;
        self.order.size = self.order.size.saturating_sub(size);
        let order = Order { size, limit_px: px, reduce_only: true, cloid: None, ..self.order.clone() };
        Some(Self { place: self.place, order, passed: None, reduces: true })
    }

    fn opens(&self) -> bool {
        self.passed.as_ref().is_some_and(|passed| !passed.opening.is_zero())
    }
}

/// How the guard's stop of an entry comes to rest.
#[derive(Clone, Copy)]
enum Way {
    /// With the entry, as its child.
    Child,
    /// The same, where the entry may not come to rest, or its group be one of many: it is there once the entry has filled.
    ChildOnFill,
    /// Right after it: the entry fills at once.
    After,
    /// Once the entry has filled.
    OnFill,
}

/// Splits a request into the actions that it goes out as.
///
/// What only reduces goes first. An entry that may rest goes with its stop as a child, so that it is covered when it
/// fills while nobody watches; in a batch each such group is an action of its own. Entries that fill at once go together,
/// each followed by its stop, and so do all entries of a batch that is too large or comes too fast for groups: those are
/// covered when they fill.
pub(crate) fn split(context: &mut JudgeContext<'_>, action: &OrderAction, mut kept: Vec<Kept>) -> Plan {
    let is_group = action.grouping == Grouping::NormalTpsl;
    let opens = kept.iter().any(Kept::opens);
    let closing: Vec<Kept> = kept.iter_mut().filter_map(Kept::take_closing_part).collect();
    let in_two = closing.iter().map(|part| part.place).collect();
    let (mut at_once, rest): (Vec<Kept>, Vec<Kept>) =
        kept.into_iter().partition(|kept| opens && !is_group && kept.reduces);
    at_once.extend(closing);
    let grouping = if is_group { Grouping::Na } else { action.grouping };
    let mut plan = Plan { at_once: part(action, grouping, at_once), in_two, ..Plan::default() };
    let has_room = rest.len() == 1 || (is_group && rest.len() <= MOST_CHILDREN);
    let (groups, together): (Vec<Kept>, Vec<Kept>) = if has_room || action.grouping != Grouping::Na {
        (Vec::new(), rest)
    } else {
        let may_group = may_group(context, &rest);
        rest.into_iter().partition(|kept| may_group && needs_group(kept))
    };
    let (mut stops, mut following) = (Vec::new(), FollowingStops::default());
    let takes_children = has_room && action.grouping != Grouping::PositionTpsl;
    for entry in &together {
        let Some(stop) = entry.stop() else { continue };
        if takes_children {
            tell(context, entry, stop, if entry.order.may_rest() { Way::Child } else { Way::ChildOnFill });
            stops.push(stop.clone());
        } else if !following.add(context.guard, &entry.order, entry.place, stop) {
            tell(context, entry, stop, Way::OnFill);
        }
    }
    for entry in together.iter().filter(|entry| following.holds(entry.place)) {
        let stop = entry.stop().and_then(|stop| following.of(stop));
        stop.into_iter().for_each(|stop| tell(context, entry, stop, Way::After));
    }
    plan.post.extend(following.into_posts());
    let alone = together.len() == 1 && action.orders.len() > 1;
    let grouping = match action.grouping {
        _ if !stops.is_empty() => Grouping::NormalTpsl,
        Grouping::NormalTpsl if alone => Grouping::Na,
        grouping => grouping,
    };
    if let Some(Part { action: Action::Order(mut orders), places }) = part(action, grouping, together) {
        orders.orders.extend(stops);
        (plan.forward, plan.kept) = (Some(Action::Order(orders)), Some(places));
    }
    for entry in groups {
        let Some(stop) = entry.stop().cloned() else { continue };
        tell(context, &entry, &stop, Way::ChildOnFill);
        let orders = vec![entry.order, stop];
        let group = OrderAction { orders, grouping: Grouping::NormalTpsl, builder: action.builder.clone() };
        plan.groups.push(Part { action: Action::Order(group), places: vec![entry.place] });
    }
    plan
}

/// Whether an entry of a batch goes with its stop as a request of its own.
fn needs_group(kept: &Kept) -> bool {
    kept.stop().is_some() && kept.order.may_rest()
}

/// Whether there is room in the minute's weight for all such entries of a batch.
fn may_group(context: &JudgeContext<'_>, kept: &[Kept]) -> bool {
    let more = kept.iter().filter(|kept| needs_group(kept)).count();
    let most = usize::try_from(context.guard.config.weight_per_minute / GROUPS_SHARE).unwrap_or(usize::MAX);
    let recent = context.guard.throttle.groups_in_last_minute(context.now_ms);
    more <= MOST_GROUPS && recent.saturating_add(more) <= most
}

/// An action of these orders; none of none.
fn part(action: &OrderAction, grouping: Grouping, kept: Vec<Kept>) -> Option<Part> {
    let (places, orders): (Vec<usize>, Vec<Order>) = kept.into_iter().map(|kept| (kept.place, kept.order)).unzip();
    let orders = OrderAction { orders, grouping, builder: action.builder.clone() };
    (!places.is_empty()).then_some(Part { action: Action::Order(orders), places })
}

fn tell(context: &mut JudgeContext<'_>, entry: &Kept, stop: &Order, way: Way) {
    let text = text(context.guard, &entry.order, stop, way);
    context.changes.push(text);
}

/// Tells of the stop of an entry that is modified, which has no room for a child.
pub(crate) fn modified_text(guard: &Guard, entry: &Order, stop: &Order, follows: bool) -> String {
    text(guard, entry, stop, if follows { Way::After } else { Way::OnFill })
}

fn text(guard: &Guard, entry: &Order, stop: &Order, way: Way) -> String {
    let coin = guard.view.market(entry.asset).map_or("", |market| market.coin.as_str());
    let px = stop.market_stop_px().unwrap_or_default();
    let (how, when) = match way {
        Way::Child => ("attached", ""),
        Way::ChildOnFill => ("to be attached", " when it fills"),
        Way::After => ("to follow", " once it fills"),
        Way::OnFill => ("to be placed", " when it fills"),
    };
    format!(
        "{coin} market stop {how} at {}{when}, {}% from the price {} (rule: {}%)",
        to_wire(px),
        stop::distance_pct(entry.limit_px, px),
        to_wire(entry.limit_px),
        guard.config.rules.stop
    )
}
