//! `nothing_to_reduce`: a reduce-only order in a market without a position. The venue refuses it and counts it all the
//! same, so that a client could use the account's allowance up with orders that pass in every state.

use super::veto::Veto;
use crate::guard::code::Code;
use crate::guard::config::Mode;
use crate::guard::state::guard::Guard;
use crate::venue::action::OrderAction;
use crate::venue::market::FIRST_NON_CORE_ASSET;
use crate::venue::order::Order;

/// Refuses an order of this action that surely finds nothing. In doubt it passes: a position that no read has shown yet,
/// or in a market that the guard does not read, may be one.
pub(crate) fn check_order(guard: &Guard, action: &OrderAction, order: &Order, now_ms: u64) -> Result<(), Veto> {
    let is_entry = |other: &Order| other.asset == order.asset && !other.reduce_only;
    let is_core = order.asset < FIRST_NON_CORE_ASSET && guard.view.market(order.asset).is_some();
    // On paper nothing is ever held.
    let is_known = is_core && guard.config.mode != Mode::Paper;
    if !order.reduce_only || !is_known || action.orders.iter().any(is_entry) || guard.may_hold(order.asset, now_ms) {
        return Ok(());
    }
    let coin = guard.view.market(order.asset).map_or("this market", |market| &market.coin);
    let text = format!(
        "nothing is held in {coin} and nothing on its way could open anything there, so a reduce-only order has nothing to \
         reduce; a position made elsewhere is seen with the next read of the account, within seconds"
    );
    Err(Veto::new(Code::NothingToReduce, text))
}
