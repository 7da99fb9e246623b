//! `trigger_entry_not_allowed`: an entry by trigger fills when nobody judges it any more.

use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::venue::order::Order;

pub(crate) fn check(order: &Order) -> Result<(), Veto> {
    if !order.is_trigger() {
        return Ok(());
    }
    let text = "a trigger order that is not reduce-only could open a position later, unseen; mark it reduce-only";
    Err(Veto::new(Code::TriggerEntryNotAllowed, text))
}
