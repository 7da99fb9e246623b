//! The book of money where rows are of another time or come in another order than they are told in.

use std::collections::BTreeSet;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::book::{all_on_record, in_time, kept};
use crate::stand::{Mode, Stand};
use crate::watched::WIDE;

/// A transfer between both purses of the account, which the ledger alone shows.
fn class_transfer(stand: &Stand, usdc: &str) {
    let delta = json!({"type": "accountClassTransfer", "usdc": usdc, "toPerp": true});
    stand.venue.control(&json!([{"op": "ledger", "delta": delta}, {"op": "clock", "advance_ms": 1}])).unwrap();
}

fn transfers(stand: &Stand, count: usize) -> Vec<(Value, bool)> {
    in_time("the transfers", || (kept(stand, "transfer").len() >= count).then_some(()));
    let rows = kept(stand, "transfer");
    rows.iter().map(|row| (row["usdc"].clone(), row.get("why").is_some())).collect()
}

/// The account becomes one purse while nobody watches. What moved between its parts before that moved the guarded equity, what moves
/// later moves nothing of it, and of what lies between nobody knows it.
#[test]
fn a_transfer_counts_in_the_purse_of_its_own_time() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    in_time("the first sum", || stand.events_of("balance").pop());
    class_transfer(&stand, "77");
    let before = (json!("77"), false);
    assert_eq!(transfers(&stand, 1), std::slice::from_ref(&before));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    class_transfer(&stand, "78");
    stand.venue.setting("abstraction", json!("unifiedAccount")).unwrap();
    stand.forget_spent_weight();
    stand.start();
    let between = (Value::Null, true);
    assert_eq!(transfers(&stand, 2), [before.clone(), between.clone()]);
    class_transfer(&stand, "79");
    assert_eq!(transfers(&stand, 3), [before, between, (json!("0"), true)]);
    let report = stand.get("/guard/report?from=2020-01-01&by=market").json();
    let told = ["transfers", "transfers_unknown"].map(|name| report["total"][name].clone());
    assert_eq!(told, [json!("77"), json!(1)], "{report}");
}

/// The feed loses fills of a moment, now this one and now that one: a read brings it, and nothing is said to be missing.
#[test]
fn a_fill_that_the_feed_lost_among_others_of_its_moment_is_found() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    in_time("the first sum", || stand.events_of("balance").pop());
    let trade = |szi: &str| json!({"op": "position", "coin": "ETH", "szi": szi, "entry_px": "2500"});
    let lose = json!({"op": "feed", "kind": "lose", "on": "userFills", "times": 1});
    let sizes = [["0.01", "0.03", "0.02", "0.04"], ["0.05", "0.07", "0.06", "0.08"], ["0.09", "0.11", "0.1", "0.12"]];
    for (lost, [first, second, third, next]) in sizes.into_iter().enumerate() {
        let mut ops: Vec<Value> = [first, second, third].map(trade).to_vec();
        ops.insert(lost, lose.clone());
        stand.venue.control(&json!(ops)).unwrap();
        all_on_record(&stand);
        stand.venue.control(&json!([trade(next)])).unwrap();
        all_on_record(&stand);
    }
    let times: BTreeSet<u64> = kept(&stand, "fill").iter().map(|fill| fill["time"].as_u64().unwrap()).collect();
    assert!(times.len() < kept(&stand, "fill").len(), "fills of one millisecond");
    // Three reads would look for what is missing.
    let reads = || stand.venue.truth()["reads"]["userFillsByTime"].as_u64().unwrap_or_default();
    let before = reads();
    in_time("another look at the fills", || (reads() > before).then_some(()));
    let errors = kept(&stand, "error");
    assert!(errors.iter().all(|error| error.get("lacks").is_none()), "{errors:?}");
}
