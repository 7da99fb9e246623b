//! Cancels of ids that no known order has: the venue refuses each of them and counts it all the same, so a client has only
//! so many of them a minute. What is known is never held up by them.

use super::duplicate_order::alive;
use crate::base::address::{Address, Cloid};
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::sent::cancel::targets;
use crate::venue::action::{Action, Target};
use std::collections::BTreeSet;

/// A client's cancels of such ids in a minute, where its rules allow fewer entries than that: one that was quick to take
/// back what had just filled sends no more.
const LEAST: usize = 120;

/// Withholds those that are too many, at their places; says how many pass.
pub(crate) fn withhold_excess(
    guard: &Guard,
    client: Address,
    action: &Action,
    withheld: &mut [Option<Veto>],
    now_ms: u64,
) -> usize {
    // Where the open orders are not known, every id may be one of theirs.
    let is_known =
        guard.view.orders_ms.is_some_and(|at_ms| now_ms.saturating_sub(at_ms) <= guard.config.orders_max_age_ms);
    if guard.config.mode == Mode::Paper || !is_known {
        return 0;
    }
    let most = usize::try_from(guard.config.rules.orders_per_minute).unwrap_or(LEAST).max(LEAST);
    let spent = guard.throttle.unknown_in_last_minute(client, now_ms);
    let alive: BTreeSet<Cloid> = alive(guard).collect();
    let is_unknown = |target: &Target| match target {
        Target::Oid(oid) => guard.order(*oid).is_none(),
        Target::Cloid(cloid) => !alive.contains(cloid),
    };
    let mut passing = 0_usize;
    let unknown =
        targets(action).into_iter().zip(withheld).filter(|(target, veto)| veto.is_none() && is_unknown(target));
    for (_, veto) in unknown {
        if spent.saturating_add(passing) < most {
            passing = passing.saturating_add(1);
        } else {
            let text = format!(
                "no open order has this id, and this client has cancelled {most} such ids within a minute, which the venue \
                 counts; cancel orders that are open, or wait"
            );
            *veto = Some(Veto::new(Code::OrderUnknown, text).with(&most, &spent));
        }
    }
    passing
}
