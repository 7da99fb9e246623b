//! A request that the minute's weight has no room for is refused by its code, with the time at which there is room.

use serde_json::{Value, json};

use crate::signing::{ETH, closing};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered};

#[test]
fn an_exit_without_weight_is_told_so_by_its_code() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "1");
    // Each of them is a request of its own, and finds nobody.
    let exit = closing(ETH, "2600", "0.01");
    let refusal = until("the weight to be used up", || {
        let reply = stand.send(&exit);
        let text = reply["response"].as_str().map(str::to_owned);
        text.filter(|_| reply["status"] == "err")
    });
    let told =
        refusal.strip_prefix("svc-guard: nothing was sent (venue_budget): ").unwrap_or_else(|| panic!("{refusal}"));
    assert!(told.contains("there is room in"), "{refusal}");
    let saw = stand.venue_saw().len();
    let last = stand.send(&exit);
    assert_eq!((&last["status"], stand.venue_saw().len()), (&json!("err"), saw), "{last}");
    let is_told = |event: &Value| event["text"].as_str().is_some_and(|text| text.contains("(venue_budget)"));
    assert!(stand.events_of("error").iter().any(is_told));
}
