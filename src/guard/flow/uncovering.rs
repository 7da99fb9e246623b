//! Which ends of a send may have left a position without its stop: the open orders are read for those at once. For what else clients
//! send they are read in turn, so that nobody who trades uses up the reads that cover waits for.

use crate::guard::state::send_result::SendResult;
use crate::venue::action::Action;
use crate::venue::order::Order;
use crate::venue::reply::{Reply, Status};

/// Whether an action that ended so may have taken cover away or opened what its stop did not come with.
pub(crate) fn may_uncover(action: &Action, result: &SendResult) -> bool {
    let moves = matches!(action, Action::Modify { .. } | Action::BatchModify { .. });
    match result {
        SendResult::NotSent(..) => false,
        // What a lost order opened the account shows; what a lost change of a stop did, the open orders alone.
        SendResult::Unknown(_) => moves,
        SendResult::Answered(Reply::Statuses(statuses), _) if moves => {
            statuses.iter().any(|status| matches!(status, Status::Error(_)))
        }
        SendResult::Answered(Reply::Refused(_), _) => moves,
        SendResult::Answered(reply, _) => {
            let told = || action.orders().enumerate().map(|(place, order)| (order, reply.status(place)));
            told().any(|(_, status)| matches!(status, Status::Filled(..)))
                && told().any(|(order, status)| filled_in_part(order, &status) || is_refused_stop(order, &status))
        }
    }
}

/// Whether an entry filled in part: the venue may cancel its stop then.
fn filled_in_part(order: &Order, status: &Status) -> bool {
    matches!(status, Status::Filled(size, ..) if !order.reduce_only && *size < order.size)
}

/// Whether the stop that should have come with a fill was refused.
fn is_refused_stop(order: &Order, status: &Status) -> bool {
    order.market_stop_px().is_some() && matches!(status, Status::Error(_))
}
