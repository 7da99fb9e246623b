//! Modifies: the new order is judged on top of the old one, which may turn out not to be gone.

use super::attached_stops::follow_up;
use super::context::JudgeContext;
use super::entry::checks::{self, PassedEntry};
use super::entry::entry_cover::Cover;
use super::exit::{self, Class};
use super::plan::Plan;
use super::throttle::{self, AskedEntries};
use super::veto::Veto;
use super::{admission, guard_order, order_unknown, stop_loosened};
use crate::base::address::Address;
use crate::guard::state::guard::Guard;
use crate::guard::state::throttle::EntryNote;
use crate::venue::action::{Action, Modify};
use crate::venue::order::Order;

/// Modifies that passed, before they are put back into their action.
pub(crate) struct PassedModifies {
    modifies: Vec<Modify>,
    plan: Plan,
}

impl PassedModifies {
    pub(crate) fn into_plan(self, action: impl FnOnce(Vec<Modify>) -> Action) -> Plan {
        Plan { forward: Some(action(self.modifies)), ..self.plan }
    }
}

pub(crate) fn judge(guard: &Guard, client: Address, modifies: &[Modify], now_ms: u64) -> Result<PassedModifies, Veto> {
    let mut context = JudgeContext::new(guard, client, now_ms);
    let mut modifies = modifies.to_vec();
    let mut asked = AskedEntries::default();
    let mut plan = Plan::default();
    // Exits first, wherever they stand: the position that they close is not there for an entry to close.
    let mut classes = Vec::with_capacity(modifies.len());
    for modify in &mut modifies {
        classes.push(classify(&mut context, modify, &mut asked)?);
    }
    for (place, (modify, class)) in modifies.iter_mut().zip(classes).enumerate() {
        let mut stop = None;
        if class == Class::Entry {
            let order = &mut modify.order;
            let PassedEntry { cover, .. } = judge_entry(&mut context, order, &mut asked)?;
            stop = Some(cover.stop_at());
            if let Cover::Attached(attached) = cover {
                plan.post.extend(follow_up(guard, order, place, attached));
            }
        }
        plan.stops.push(stop);
    }
    throttle::check(guard, &asked, now_ms)?;
    plan.is_entry = !asked.notes.is_empty();
    plan.reduces = !plan.is_entry;
    plan.entries = asked.notes;
    plan.changes = context.changes;
    plan.pre = context.pre;
    Ok(PassedModifies { modifies, plan })
}

/// Looks at the order that is replaced, and tells an exit from an entry.
fn classify(context: &mut JudgeContext<'_>, modify: &mut Modify, asked: &mut AskedEntries) -> Result<Class, Veto> {
    guard_order::check(context.guard, modify.target)?;
    let replaced = order_unknown::find(context.guard, modify.target)?;
    if let Some(old) = replaced.resting {
        stop_loosened::check(context.guard, &mut context.exposure, old, &modify.order)?;
    }
    let class = exit::classify(context, &mut modify.order);
    if class == Class::Entry {
        // The id of the order that is replaced is free for the one that replaces it.
        asked.cloids.extend(modify.order.cloid.filter(|cloid| replaced.cloid != Some(*cloid)));
    }
    Ok(class)
}

/// Judges the new order of a modify. It takes the place of an open one, so it adds none to the count of open entries.
fn judge_entry(
    context: &mut JudgeContext<'_>,
    order: &mut Order,
    asked: &mut AskedEntries,
) -> Result<PassedEntry, Veto> {
    admission::checks::check(context.guard, context.now_ms)?;
    let note = EntryNote::of(context.client, order);
    let passed = checks::judge(context, order, &mut [])?;
    asked.notes.extend((!passed.opening.is_zero()).then_some(note));
    Ok(passed)
}
