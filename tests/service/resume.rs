//! A drawdown halt and the way out of it, which is a person's.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::stand::{Mode, Stand, run_with, until};

fn resume(stand: &Stand) -> (Option<i32>, String) {
    let args = ["journal-resume", "--mode", "paper", "--note", "the bot's fault is found"];
    let done = run_with(&stand.home(), &args, "");
    (done.status.code(), String::from_utf8([done.stdout, done.stderr].concat()).unwrap())
}

fn state(stand: &Stand) -> String {
    stand.status()["risk"]["state"].as_str().unwrap().to_owned()
}

#[test]
fn a_drawdown_halt_is_cleared_with_the_service_stopped_and_the_note_on_record() {
    let mut stand = Stand::up(Mode::Paper, "");
    let (code, said) = resume(&stand);
    assert!(code == Some(2) && said.contains("there is no drawdown halt to clear"), "{said}");
    // A position of the whole equity, and a fall of a fifth.
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "4", "entry_px": "2500"})).unwrap();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).map(|_| ()));
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2000"})).unwrap();
    until("the halt", || (state(&stand) == "stopped").then_some(()));

    // The service holds the journal, and says who it is. Its status is ahead of the disk.
    until("the service to be named", || {
        let (code, said) = resume(&stand);
        (code == Some(2) && said.contains(&stand.pid().to_string())).then_some(())
    });
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_eq!(state(&stand), "stopped", "a restart is no way out");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));

    let (code, said) = resume(&stand);
    assert!(code == Some(0) && said.contains("The drawdown halt is cleared"), "{said}");
    let (_, equity) = said.split_once("the peak starts anew at ").unwrap();
    let (_, cents) = equity.split_once(" USDC").unwrap().0.split_once('.').unwrap();
    assert_eq!(cents.len(), 2, "{said}");
    assert!(said.contains("a service that starts today halts for the rest of the UTC day"), "{said}");
    let shown = run_with(&stand.home(), &["journal-show", "--mode", "paper"], "");
    let last: Value = serde_json::from_str(String::from_utf8(shown.stdout).unwrap().lines().last().unwrap()).unwrap();
    assert_eq!((&last["kind"], &last["note"]), (&json!("resume"), &json!("the bot's fault is found")));
    assert!(last["equity"].is_string() && last["at_ms"].is_u64(), "{last}");
    let (code, said) = resume(&stand);
    assert!(code == Some(2) && said.contains("there is no drawdown halt to clear"), "{said}");
    stand.start();
    assert_ne!(state(&stand), "stopped");
    until("the halt of the day", || (state(&stand) == "halted_for_day").then_some(()));
}
