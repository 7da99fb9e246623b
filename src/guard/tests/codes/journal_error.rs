//! `journal_error`: a journal that cannot be written and entries.

use crate::guard::tests::fixture::*;
use crate::guard::{Command, Input};
use serde_json::json;

fn entry() -> serde_json::Value {
    buy(ETH, "2000", "0.1")
}

#[test]
fn entries_are_refused_until_the_journal_works() {
    let mut desk = Desk::live();
    desk.step(Input::Journal(Some("no space left".into())));
    desk.order(entry()).vetoed("journal_error").says(&["no space left"]);
    desk.step(Input::Journal(None));
    desk.order(entry()).resized();
}

#[test]
fn on_a_full_disk_refusals_are_counted_and_told_of_together() {
    let mut desk = Desk::live();
    desk.step(Input::Journal(Some("the disk is full".into())));
    desk.step(Input::DiskFull(true));
    let before = desk.guard.last_seq();
    for _ in 0..3 {
        let effects = desk.post(place(vec![entry()]));
        assert!(events(&effects).is_empty() && effects.after_commit.is_empty(), "no byte of it");
        let answers =
            effects.immediate.iter().filter(|deed| matches!(deed, Command::Answer(told) if told.http_status == 503));
        assert_eq!(answers.count(), 1);
    }
    desk.step(Input::Untold { count: 2, code: "malformed" });
    desk.step(Input::Tick);
    assert_eq!(desk.guard.last_seq(), before);
    desk.step(Input::Journal(None));
    desk.step(Input::DiskFull(false));
    let told = events(&desk.step(Input::Tick));
    assert_eq!((told.len(), &told[0]["count"], &told[0]["code"]), (1, &json!(5), &json!("malformed")));
    assert!(told[0]["request"].is_null() && told[0]["verdict"] == "veto");
    assert!(events(&desk.step(Input::Tick)).is_empty());
}
