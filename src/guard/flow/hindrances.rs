//! Why something is not covered, or not closed, although it should be: what the venue said last, and what the guard cannot do at
//! all, each with a way out. For people; nothing is decided by it.

use std::collections::BTreeMap;

use crate::base::amount::to_wire;
use crate::base::text::{visible, without_keys};
use crate::guard::state::guard::Guard;
use crate::guard::state::send_result::SendResult;
use crate::venue::reply::Status;

/// As much of the venue's words is kept.
const MOST_LETTERS: usize = 200;
/// Of a send that failed, which tells a way out as well.
const MOST_OF_A_SEND: usize = 500;
/// As many are told of.
const MOST_TOLD: usize = 20;

/// Why an order of the guard's at this place of an action came to nothing; `None` where the venue took it.
pub(crate) fn failure(ending: &SendResult, place: usize) -> Option<String> {
    let text = match ending {
        SendResult::Answered(reply, _) => match reply.status(place) {
            Status::Error(text) => format!("the venue says \u{201c}{}\u{201d}", words(&text, MOST_LETTERS)),
            _ => return None,
        },
        SendResult::NotSent(_, text) => format!("it was not sent, {}", words(text, MOST_OF_A_SEND)),
        SendResult::Unknown(text) => format!("the venue has not answered, {}", words(text, MOST_OF_A_SEND)),
    };
    Some(text)
}

/// Somebody else's text as a part of one of the guard's: in a terminal too it can be nothing but words.
fn words(text: &str, most: usize) -> String {
    visible(&without_keys(text), most)
}

/// What keeps everything from being closed, in words.
pub(crate) fn of_closing(guard: &Guard) -> Vec<String> {
    let mut foreign: BTreeMap<&str, usize> = BTreeMap::new();
    for order in &guard.view.foreign_orders {
        let count = foreign.entry(&order.coin).or_default();
        *count = count.saturating_add(1);
    }
    let foreign = foreign.into_iter().map(|(coin, count)| {
        let (orders, them) =
            if count == 1 { ("an order".to_owned(), "it") } else { (format!("{count} orders"), "them") };
        format!(
            "{coin}, no core perp, has {orders} that cannot be cancelled here: cancel {them} at the venue's own page"
        )
    });
    let account = guard.view.account.iter();
    let unknown = account.clone().flat_map(|account| account.unknown.keys()).map(|coin| {
        format!("the position in {coin} is in no market that is known here: close it at the venue's own page")
    });
    let held = account.flat_map(|account| &account.positions);
    let refused = held.filter_map(|(asset, position)| {
        let why = guard.watch.retry(*asset)?.failed_close()?;
        let (held, coin) = (to_wire(position.szi.abs()), &position.coin);
        Some(format!("{held} of {coin} stays: {why}; close it at the venue's own page if it lasts"))
    });
    foreign.chain(unknown).chain(refused).take(MOST_TOLD).collect()
}
