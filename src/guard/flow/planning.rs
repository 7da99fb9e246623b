//! A plan made ready to go: its actions in their order, named, numbered, and with their nonces.

use crate::guard::config::Mode;
use crate::guard::flow::dispatch::name_orders;
use crate::guard::judge::plan::{Part, Plan, Post};
use crate::guard::state::guard::Guard;
use crate::guard::state::intent::{FORWARD_LIFE_MS, Planned, Role};
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
    for (role, Part { mut action, places }) in in_order(plan, asked) {
        name_orders(&mut action, if role == Role::Forward { places.len() } else { 0 }, seq, &mut place);
        let Some(node) = action.to_node() else { continue };
        let nonce = if guard.config.mode == Mode::Paper { 0 } else { guard.next_nonce(now_ms) };
        let terms = Terms { nonce, vault: guard.acts_for.flatten(), expires_after_ms: None };
        let mut planned = Planned { role, action, node, terms, places };
        if role == Role::Forward {
            // By the venue's time, so that no entry lands late. Where the clocks disagree an exit gets the longer life:
            // one that the venue takes for expired would leave its client in the market.
            let is_entry = opens && !planned.only_reduces();
            let from_ms = if is_entry { guard.clock.best_ms() } else { guard.clock.latest_ms() };
            let life = expires_ms.unwrap_or(u64::MAX).min(from_ms.saturating_add(FORWARD_LIFE_MS));
            planned.terms.expires_after_ms = Some(life);
        }
        actions.push(planned);
    }
    actions
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
