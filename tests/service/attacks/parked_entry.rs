//! A cancel overtakes no entry that waits: who is told that an order was never placed finds it nowhere afterwards.

use serde_json::json;

use crate::signing::{ETH, limit, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::WIDE;

const ID: &str = "0x18181818181818181818181818181818";

#[test]
fn an_entry_that_is_cancelled_while_it_waits_never_reaches_the_venue() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    // The setting of the market's leverage takes its time.
    let slow = json!({"op": "fault", "on": "activeAssetData", "kind": "delay", "times": 1_000, "ms": 1_500});
    stand.venue.control(&slow).unwrap();
    let mut entry = limit(ETH, true, "2490", "0.1");
    entry["c"] = json!(ID);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| stand.send(&place(&entry)));
        let left = || stand.venue.truth()["faults"][0]["times"].as_u64().unwrap();
        until("the question for the setting", || (left() < 1_000).then_some(()));
        let cancel = json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": ID}]});
        let told = stand.send(&cancel);
        assert!(told["response"]["data"]["statuses"][0].get("error").is_some(), "{told}");
        let reply = asked.join().unwrap();
        assert_eq!(
            (&reply["guard"]["verdict"], &reply["guard"]["code"]),
            (&json!("veto"), &json!("cancelled")),
            "{reply}"
        );
    });
    // The setting is there, and another entry goes by it: the first one had its chance.
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    let next = stand.send(&place(&limit(ETH, true, "2480", "0.1")));
    assert!(next["response"]["data"]["statuses"][0].get("resting").is_some(), "{next}");
    let saw = stand.venue_saw();
    let named = |request: &&serde_json::Value| request["action"]["type"] == "order" && request.to_string().contains(ID);
    assert_eq!(saw.iter().filter(named).count(), 0, "{saw:?}");
}
