//! A disk that hangs, or fails, where the kill file of a client's kill is to stand: the switch is pulled all the same.

use serde_json::{Value, json};
use svc_guard::faults::Step;

use crate::script::{hits, play};
use crate::signing::signed;
use crate::stand::{Mode, Stand, until};

/// A position that the guard covers.
fn hold(stand: &Stand) {
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    let is_covered = |order: &Value| order["stage"] == "armed" && order["reduceOnly"] == true;
    until("cover", || stand.venue.truth()["orders"].as_array().unwrap().iter().any(is_covered).then_some(()));
}

fn until_flat(stand: &Stand) {
    let is_flat = || {
        let truth = stand.venue.truth();
        truth["positions"].as_array().unwrap().is_empty() && truth["orders"].as_array().unwrap().is_empty()
    };
    until("the account to be flat", || is_flat().then_some(()));
}

#[test]
fn a_kill_file_that_cannot_be_written_holds_up_no_kill() {
    for fault in [json!({"do": "delay", "ms": 8_000}), json!({"do": "fail", "errno": 5})] {
        let mut stand = Stand::up(Mode::Testnet, "");
        hold(&stand);
        let mut hung = json!({"step": Step::KillFileWrite.name(), "times": 1});
        hung.as_object_mut().unwrap().extend(fault.as_object().unwrap().clone());
        play(&stand, &[hung]);
        let body = signed(&stand.client, &json!({"type": "guardKill", "reason": "enough"})).to_string();
        std::thread::scope(|scope| {
            let killed = scope.spawn(|| stand.connect().post("/guard/kill", &body).unwrap());
            until("the file to be written", || (hits(&stand, Step::KillFileWrite) > 0).then_some(()));
            // While the disk takes its time the loop answers, and says that it is killed.
            let told = stand.get("/guard/status");
            assert_eq!((told.status, &told.json()["killed"]), (200, &json!("enough")));
            assert_eq!(killed.join().unwrap().status, 200);
        });
        until_flat(&stand);
        // And it stays so over a restart, which knows of the file alone.
        until("the kill file", || stand.home().join("kill").exists().then_some(()));
        stand.kill();
        play(&stand, &[]);
        stand.forget_spent_weight();
        stand.start();
        assert_eq!(stand.status()["killed"], "enough");
    }
}
