//! Modifies: the new order is judged on top of the old one, which may turn out not to be gone.
//!
//! As with orders: modifies into entries alone pass or fall as one, and in a mixed request those into what only reduces
//! go in any case.

use super::attached_stops::modified_text;
use super::closing_part;
use super::context::JudgeContext;
use super::entry::checks::{self, PassedEntry};
use super::entry::entry_cover::Cover;
use super::exit::{self, Class};
use super::following_stops::FollowingStops;
use super::left_out::{self, Refused};
use super::limits::duplicate_order;
use super::order_unknown::Replaced;
use super::plan::{Part, Plan};
use super::throttle::{self, AskedEntries};
use super::veto::Veto;
use super::{admission, guard_order, order_unknown, reserved_cloid, single_use_cloid, stop_loosened, unequal_siblings};
use crate::base::address::Address;
use crate::guard::code::Code;
use crate::guard::state::guard::Guard;
use crate::record::minute_record::EntryNote;
use crate::venue::action::{Action, Modify};

/// The modifies of a request as they are judged, each by its place.
struct Batch<'a> {
    context: JudgeContext<'a>,
    modifies: Vec<Modify>,
    /// What each replaces, where that is known.
    replaced: Vec<Option<Replaced>>,
    passed: Vec<Option<PassedEntry>>,
    refused: Refused,
    asked: AskedEntries,
}

/// Judges modifies; with `no_entry` every entry is refused with that. `action` puts some of them back into their action.
pub(crate) fn judge(
    guard: &Guard,
    client: Address,
    modifies: &[Modify],
    (now_ms, no_entry): (u64, Option<&Veto>),
    action: impl Fn(Vec<Modify>) -> Action,
) -> Result<Plan, Veto> {
    let mut batch = Batch::judge(guard, client, modifies, now_ms, no_entry);
    if let Err(veto) = throttle::check(guard, &batch.asked, now_ms) {
        batch = Batch::judge(guard, client, modifies, now_ms, Some(&veto));
    }
    batch.into_plan(action)
}

impl<'a> Batch<'a> {
    /// Judges each modify; with a `veto` every entry is refused with that.
    fn judge(guard: &'a Guard, client: Address, modifies: &[Modify], now_ms: u64, veto: Option<&Veto>) -> Self {
        let mut batch = Self {
            context: JudgeContext::new(guard, client, now_ms),
            replaced: Vec::with_capacity(modifies.len()),
            passed: vec![None; modifies.len()],
            refused: vec![None; modifies.len()],
            asked: AskedEntries::default(),
            modifies: modifies.to_vec(),
        };
        // Exits first, wherever they stand: the position that they close is not there for an entry to close.
        let classes: Vec<Option<Class>> = (0..modifies.len()).map(|place| batch.classify(place)).collect();
        for (place, class) in classes.into_iter().enumerate() {
            if class == Some(Class::Entry) {
                batch.judge_entry(place, veto);
            }
        }
        batch
    }

    /// Looks at the order that is replaced, and tells an exit from an entry; `None` where the modify is refused.
    fn classify(&mut self, place: usize) -> Option<Class> {
        let class = self.modifies.get(place).cloned().map(|modify| self.find_replaced(&modify))?;
        let class = class.map(|replaced| {
            self.replaced.push(Some(replaced));
            self.modifies.get_mut(place).map(|modify| exit::classify(&mut self.context, &mut modify.order))
        });
        class.unwrap_or_else(|veto| {
            self.replaced.push(None);
            self.refuse(place, veto);
            None
        })
    }

    /// The modifies that were looked at by now and that may go.
    fn going(&self) -> impl Iterator<Item = &Modify> {
        self.modifies.iter().zip(&self.replaced).filter_map(|(modify, replaced)| replaced.as_ref().map(|_| modify))
    }

    /// The order that a modify replaces, if it may.
    fn find_replaced(&mut self, modify: &Modify) -> Result<Replaced, Veto> {
        let guard = self.context.guard;
        reserved_cloid::check_order(&modify.order)?;
        guard_order::check(guard, modify.target)?;
        let replaced = order_unknown::find(guard, modify.target)?;
        if self.replaced.iter().flatten().any(|other| other.is(&replaced)) {
            let text = "one request modifies the same order twice; modify it once, place the rest as new orders";
            return Err(Veto::new(Code::DuplicateOrder, text));
        }
        // An order that is replaced may hand its id on.
        if replaced.cloid != modify.order.cloid {
            single_use_cloid::check_order(guard, self.context.client, &modify.order)?;
        }
        for old in order_unknown::named(guard, modify.target) {
            stop_loosened::check(guard, &mut self.context.exposure, old, &modify.order)?;
            let before: Vec<&Modify> = self.going().collect();
            unequal_siblings::check_modify(guard, &before, old, &modify.order)?;
        }
        Ok(replaced)
    }

    /// Judges the new order of a modify. One that is refused leaves no trace, but for the part of it that closes.
    fn judge_entry(&mut self, place: usize, veto: Option<&Veto>) {
        let Some(asked) = self.modifies.get(place).map(|modify| modify.order.clone()) else { return };
        let mut order = asked.clone();
        if !closing_part::close_but_dust(&mut self.context, &mut order) {
            let (changes, pre) = (self.context.changes.len(), self.context.pre.len());
            let outcome = match veto {
                Some(veto) => Err(veto.clone()),
                None => {
                    let checked = admission::checks::check(self.context.guard, self.context.now_ms);
                    checked.and_then(|()| checks::judge(&mut self.context, &mut order, &mut []))
                }
            };
            match outcome {
                Ok(passed) => {
                    if !passed.opening.is_zero() {
                        self.count(place, EntryNote::of(self.context.client, &asked), order.may_rest());
                    }
                    if let Some(slot) = self.passed.get_mut(place) {
                        *slot = Some(passed);
                    }
                }
                Err(veto) => {
                    self.context.changes.truncate(changes);
                    self.context.pre.truncate(pre);
                    match closing_part::of(&mut self.context, &asked, &veto) {
                        Some(closing) => order = closing,
                        None => return self.refuse(place, veto),
                    }
                }
            }
        }
        if let Some(modify) = self.modifies.get_mut(place) {
            modify.order = order;
        }
    }

    /// Counts an entry against the limits of the whole. It takes the place of the order that it replaces, if that is one
    /// of the open entries, and the id of that is free for it.
    fn count(&mut self, place: usize, note: EntryNote, rests: bool) {
        let replaced = self.replaced.get(place).and_then(Option::as_ref);
        let is_entry = replaced.is_some_and(|replaced| replaced.is_entry);
        let cloid = self.modifies.get(place).and_then(|modify| modify.order.cloid);
        self.asked.cloids.extend(cloid.filter(|cloid| replaced.and_then(|replaced| replaced.cloid) != Some(*cloid)));
        self.asked.notes.push(note);
        self.asked.resting += usize::from(rests && !is_entry);
    }

    fn refuse(&mut self, place: usize, veto: Veto) {
        if let Some(slot) = self.refused.get_mut(place) {
            *slot = Some(veto);
        }
    }

    /// The plan, unless something was refused and nothing else only reduces.
    fn into_plan(self, action: impl Fn(Vec<Modify>) -> Action) -> Result<Plan, Veto> {
        let Self { mut context, mut modifies, replaced, passed, refused, asked } = self;
        let reduces = |(modify, veto): (&Modify, &Option<Veto>)| veto.is_none() && modify.order.reduce_only;
        if let Some(veto) = refused.iter().flatten().next()
            && !modifies.iter().zip(&refused).any(reduces)
        {
            return Err(veto.clone());
        }
        let mut plan = Plan {
            stops: passed.iter().map(|passed| Some(passed.as_ref()?.cover.stop_at())).collect(),
            ..Plan::default()
        };
        let mut following = FollowingStops::default();
        let attached = passed.iter().enumerate().filter_map(|(place, passed)| match passed {
            Some(PassedEntry { cover: Cover::Attached(stop), .. }) => Some((place, &modifies.get(place)?.order, stop)),
            _ => None,
        });
        for (place, entry, stop) in attached.clone() {
            following.add(context.guard, entry, place, stop);
        }
        for (place, entry, stop) in attached {
            let follows = following.of(stop).filter(|_| following.holds(place));
            let text = modified_text(context.guard, entry, follows.unwrap_or(stop), follows.is_some());
            context.changes.push(text);
        }
        plan.post.extend(following.into_posts());
        plan.left_out = left_out::tell(&mut context.changes, &refused);
        // An order that is replaced may hand its id on.
        let ids = replaced.iter().map(|replaced| replaced.as_ref().and_then(|replaced| replaced.cloid));
        let renamed = modifies.iter_mut().zip(ids).filter(|(modify, id)| modify.order.cloid != *id);
        let renamed = renamed.map(|(modify, _)| &mut modify.order);
        duplicate_order::take_borrowed(context.guard, renamed, &mut context.changes);
        let kept = modifies.into_iter().zip(refused).enumerate().filter(|(_, (_, veto))| veto.is_none());
        let kept: Vec<(usize, Modify)> = kept.map(|(place, (modify, _))| (place, modify)).collect();
        let opens = !asked.notes.is_empty();
        let (at_once, rest): (Vec<_>, Vec<_>) =
            kept.into_iter().partition(|(_, modify)| opens && modify.order.reduce_only);
        let part = |kept: Vec<(usize, Modify)>| {
            let (places, modifies): (Vec<usize>, Vec<Modify>) = kept.into_iter().unzip();
            (!places.is_empty()).then(|| Part { action: action(modifies), places })
        };
        plan.at_once = part(at_once);
        if let Some(Part { action, places }) = part(rest) {
            (plan.forward, plan.kept) = (Some(action), Some(places));
        }
        (plan.is_entry, plan.reduces, plan.entries) = (opens, !opens, asked.notes);
        (plan.changes, plan.pre) = (context.changes, context.pre);
        Ok(plan)
    }
}
