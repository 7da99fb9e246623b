//! A plan made ready to go: its actions in their order, named, numbered, and with their nonces.

use crate::guard::config::Mode;
use crate::guard::flow::dispatch::name_orders;
use crate::guard::judge::plan::{Part, Plan, Post};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{Planned, Role};
use crate::guard::state::lifetime::{FORWARD_LIFE_MS, Price, is_short, life_ms};
use crate::record::events::RequestPart;
use crate::venue::action::Action;
use crate::venue::signing::Terms;

/// The actions of a plan in the order they are sent, named and numbered. Paper mode uses no nonces up.
pub(crate) fn plan_actions(
    guard: &mut Guard,
    plan: Plan,
    asked: &Action,
    expires_ms: Option<u64>,
    now_ms: u64,
) -> Vec<Planned> {
    let seq = guard.seq.saturating_add(1);
    let opens = plan.is_entry;
    let mut place = 0;
    let mut actions = Vec::new();
    let mut spent = 0;
    for (role, Part { mut action, places }) in in_order(plan, asked) {
        name_orders(&mut action, if role == Role::Forward { places.len() } else { 0 }, seq, &mut place);
        let Some(node) = action.to_node() else { continue };
        let nonce = if guard.config.mode == Mode::Paper { 0 } else { guard.next_nonce(now_ms) };
        let terms = Terms { nonce, vault: guard.acts_for.flatten(), expires_after_ms: None };
        let mut planned = Planned { role, action, node, terms, life_ms: None, places };
        if role == Role::Forward {
            // By the venue's time, so that no entry lands late. Where the clocks disagree an exit gets the longer life:
            // one that the venue takes for expired would leave its client in the market.
            let is_entry = opens && !planned.only_reduces();
            let from_ms = if is_entry { guard.clock.best_ms() } else { guard.clock.latest_ms() };
            planned.life_ms = Some(life_ms(expires_ms, from_ms));
            let latest_ms = from_ms.saturating_add(FORWARD_LIFE_MS);
            planned.terms.expires_after_ms = Some(expires_ms.map_or(latest_ms, |expires_ms| expires_ms.min(latest_ms)));
            if planned.only_reduces() && !is_kept(guard, &planned, spent) {
                planned.life_ms = Some(FORWARD_LIFE_MS);
                planned.terms.expires_after_ms = Some(latest_ms);
            }
            spent = spent.saturating_add(planned.price().most);
        }
        actions.push(planned);
    }
    actions
}

/// Whether what only reduces keeps the end that its client gave, where so much goes in front of it. It has the guard's own
/// where it would come too late to do anything, and where that would cost what is kept: it goes out in any case.
fn is_kept(guard: &Guard, planned: &Planned, spent: u64) -> bool {
    let Price { most, .. } = planned.price();
    !planned.life_ms.is_some_and(is_short) && guard.allowance.spares(spent.saturating_add(most))
}

/// Which orders of the request each action holds, for the event: nothing to tell where all went as one, each at its place.
pub(crate) fn parts(actions: &[Planned]) -> Vec<RequestPart> {
    let parts = actions.iter().enumerate().filter(|(_, planned)| planned.role == Role::Forward);
    let mut sent = parts.clone().map(|(_, planned)| planned);
    let is_as_asked = |planned: &Planned| {
        planned.action.orders().next().is_none() || planned.places.iter().enumerate().all(|(at, place)| at == *place)
    };
    match (sent.next(), sent.next()) {
        (Some(only), None) if is_as_asked(only) => Vec::new(),
        _ => parts.map(|(index, planned)| RequestPart { index, places: planned.places.clone() }).collect(),
    }
}

/// The actions of a plan, each with the places of the request that it holds or follows. The stops of what fills at once
/// go before the groups, of which there may be many.
fn in_order(plan: Plan, asked: &Action) -> Vec<(Role, Part)> {
    let own = |role: Role, action: Action| (role, Part { action, places: Vec::new() });
    let places = plan.kept.unwrap_or_else(|| (0..asked.batch_len()).collect());
    let forward = plan.forward.map(|action| Part { action, places });
    let at_once = plan.at_once.into_iter().map(|part| (Role::Forward, part));
    let pre = plan.pre.into_iter().map(|action| own(Role::Pre, action));
    let forward = forward.into_iter().map(|part| (Role::Forward, part));
    let groups = plan.groups.into_iter().map(|part| (Role::Forward, part));
    let (stops, cancels): (Vec<Post>, Vec<Post>) =
        plan.post.into_iter().partition(|post| matches!(post.action, Action::Order(_)));
    let post = |post: Post| (Role::Post, Part { action: post.action, places: post.after_places });
    let stops = stops.into_iter().map(post);
    at_once.chain(pre).chain(forward).chain(stops).chain(groups).chain(cancels.into_iter().map(post)).collect()
}
