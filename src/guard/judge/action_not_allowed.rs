//! `action_not_allowed`: action types, and one grouping of orders, that the guard never forwards.

use super::veto::Veto;
use crate::base::text::short;
use crate::guard::code::Code;
use crate::venue::action::{Grouping, OrderAction};

/// Refuses a bid for priority: its fee is money that no rule bounds.
pub(crate) fn check_grouping(action: &OrderAction) -> Result<(), Veto> {
    match action.grouping {
        Grouping::Priority(_) => {
            let text = "a grouping that bids a priority fee is never forwarded; use na, normalTpsl or positionTpsl";
            Err(Veto::new(Code::ActionNotAllowed, text))
        }
        _ => Ok(()),
    }
}

/// The refusal of the guard's own action where the venue's are posted.
pub(crate) fn guard_kill() -> Veto {
    Veto::new(Code::ActionNotAllowed, "guardKill is posted to /guard/kill, not to /exchange")
}

/// The refusal of a type that the guard does not judge, known to the venue or not.
pub(crate) fn other(name: &str) -> Veto {
    let name = short(name);
    let text = format!("{name} is never forwarded: it can move money or authority, or is not known here");
    Veto::new(Code::ActionNotAllowed, text)
}
