//! Decisions are answered over HTTP while the journal's index is made again.

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::faults::Step;

use crate::script::{hits, on, play};
use crate::signing::signed;
use crate::stand::{Mode, Stand, until};

/// More than a start reads by itself.
const LATER: usize = 1_100;

#[test]
fn decisions_are_answered_while_the_index_is_made_again() {
    let mut stand = Stand::up(Mode::Paper, "orders_per_minute = 1200\n");
    let asked = signed(&stand.client, &json!({"type": "noop"}));
    let reply = stand.post("/exchange", &asked).json();
    let bodies: Vec<Value> = (0..LATER).map(|_| signed(&stand.client, &json!({"type": "noop"}))).collect();
    std::thread::scope(|scope| {
        for part in bodies.chunks(LATER / 10) {
            let stand = &stand;
            scope.spawn(move || part.iter().for_each(|body| _ = stand.post("/exchange", body)));
        }
    });
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    std::fs::remove_dir_all(stand.journal().join("index")).unwrap();
    // The thread that makes it hangs for as long as this test could take.
    play(&stand, &[on(json!({"step": Step::Aside.name(), "times": 1, "do": "delay", "ms": 60_000}), "history")]);
    stand.launch();
    until("the thread to hang", || (hits(&stand, Step::Aside) > 0).then_some(()));
    let found = stand.get(&format!("/guard/decision?nonce={}", asked["nonce"]));
    assert_eq!(found.status, 200, "{found:?}");
    let found = found.json();
    let decision = &found["decisions"][0]["decision"];
    assert_eq!((&decision["nonce"], &decision["seq"]), (&asked["nonce"], &reply["guard"]["seq"]), "{found}");
    assert_eq!(stand.get("/guard/decision?nonce=1").status, 404);
    stand.kill();
}
