//! A read that began in the moment in which an answer came may be older than what that tells.

use serde_json::json;

use super::cancels::cancel;
use super::fixture::*;
use crate::guard::Read;

/// The child of an entry gets no id in the answer. A read of the open orders that began in the moment of that answer may be older.
#[test]
fn a_read_of_the_answers_moment_does_not_show_that_a_child_is_gone() {
    for (after_ms, waits) in [(0, true), (1, false)] {
        let mut desk = Desk::live();
        let group = vec![buy(ETH, "2000", "1"), stop(ETH, false, "1960", "1")];
        let placed = desk.ask(json!({"type": "order", "orders": group, "grouping": "normalTpsl"}));
        desk.now += 1;
        let told = json!([{"filled": {"totalSz": "1", "avgPx": "2000", "oid": 7}}, "waitingForTrigger"]);
        desk.answer(placed.seq(), 0, statuses(told));
        desk.now += after_ms;
        desk.read_orders(desk.now);
        let effects = desk.post(cancel(&[8]));
        assert_eq!(reads(&effects).contains(&&Read::OrdersSoon), waits, "{after_ms}");
    }
}
