//! That the account is flat is told when the guard says so of a time after the close, and at no other time.

use super::*;

#[test]
fn a_kill_is_told_with_the_way_back_and_its_flat_account() {
    let mut watch = watch();
    event(&mut watch, 1, json!({"kind": "kill", "reason": "enough"}));
    event(
        &mut watch,
        2,
        json!({"kind": "flatten", "reason": "kill switch: enough", "actions": [{}, {}], "sent": true}),
    );
    let notices = watch.take();
    assert_eq!(notices.iter().map(|notice| notice.code.as_str()).collect::<Vec<_>>(), ["kill", "flatten"]);
    assert!(notices.iter().all(|notice| notice.severity == Severity::Critical));
    assert!(
        notices[0].happened.contains("enough") && notices[0].todo.contains("rm /home/me/g/kill and then restart"),
        "{:?}",
        notices[0]
    );
    assert!(notices[1].did.starts_with("2 actions go to the venue."), "{:?}", notices[1]);

    let killed = |at_ms: u64, closing: Value| {
        status(json!({"killed": "enough", "at_ms": at_ms, "closing": closing, "equity": "9990.5"}))
    };
    // Checked before the close; something is left; nobody can say whether a TWAP order runs; a guard that says nothing of it.
    watch.status(&killed(NOW + 20_000, json!({"flat": true, "checked_ms": NOW, "twaps": 0})));
    watch.status(&killed(NOW + 20_000, json!({"flat": false, "checked_ms": NOW + 20_000, "twaps": 1})));
    watch.status(&killed(NOW + 20_000, json!({"flat": false, "checked_ms": NOW + 20_000, "twaps": null})));
    watch.status(&killed(NOW + 20_000, Value::Null));
    assert_eq!(told(&mut watch), [""; 0]);
    watch.status(&killed(NOW + 21_000, json!({"flat": true, "checked_ms": NOW + 20_500, "twaps": 0})));
    let notices = watch.take();
    let flat = notices.last().unwrap();
    assert_eq!((flat.code.as_str(), flat.severity), ("flat", Severity::Critical));
    assert_eq!(flat.happened, "0 positions, 0 orders, checked at 2027-01-15 08:00:20 UTC. Equity: 9990.5 USDC.");
    watch.status(&killed(NOW + 30_000, json!({"flat": true, "checked_ms": NOW + 30_000, "twaps": 0})));
    assert_eq!(told(&mut watch), [""; 0], "once");
    watch.status(&status(json!({"at_ms": NOW + 90_000})));
    assert_eq!(told(&mut watch), ["kill over"]);
    event(&mut watch, 3, json!({"kind": "flatten", "reason": "a halt", "actions": [{}], "sent": true}));
    assert!(watch.take()[0].did.starts_with("1 action goes to the venue."));
}

fn closing(watch: &mut Watch) {
    event(watch, 1, json!({"kind": "kill", "reason": "enough"}));
    let flatten = json!({"kind": "flatten", "reason": "kill switch: enough", "actions": [{}], "sent": true});
    event(watch, 2, flatten);
    assert_eq!(told(watch), ["kill begins", "flatten once"]);
}

fn flat(seq: u64) -> Value {
    json!({"kind": "flat", "flatten": 2, "positions": 0, "orders": 0, "checked_ms": NOW + seq, "equity": "9990.5"})
}

/// The guard ended right after it, and the kill file is gone at its next start: no status ever said so.
#[test]
fn a_flat_account_is_told_from_the_journal_alone() {
    let mut watch = watch();
    closing(&mut watch);
    event(&mut watch, 3, flat(3));
    let notices = watch.take();
    assert_eq!((notices[0].code.as_str(), notices[0].severity), ("flat", Severity::Critical));
    assert_eq!(notices[0].happened, "0 positions, 0 orders, checked at 2027-01-15 08:00:00 UTC. Equity: 9990.5 USDC.");
    event(&mut watch, 4, json!({"kind": "stopped", "reason": "SIGTERM"}));
    event(&mut watch, 5, json!({"kind": "started"}));
    watch.status(&status(json!({"at_ms": NOW + 90_000, "last_event": {"seq": 5, "at_ms": NOW + 5}})));
    assert_eq!(told(&mut watch), ["service_stopped once", "started once", "kill over"]);
}

#[test]
fn status_and_journal_tell_of_one_flat_account_once() {
    let mut watch = watch();
    closing(&mut watch);
    let seen = json!({"flat": true, "checked_ms": NOW + 500, "twaps": 0});
    let killed = json!({"killed": "enough", "at_ms": NOW + 600, "closing": seen});
    watch.status(&status(killed.clone()));
    assert_eq!(told(&mut watch), ["flat once"]);
    event(&mut watch, 3, flat(500));
    watch.status(&status(killed));
    assert_eq!(told(&mut watch), [""; 0]);
    // The next closing is told anew.
    event(&mut watch, 4, json!({"kind": "flatten", "reason": "a halt", "actions": [{}], "sent": true}));
    event(&mut watch, 5, flat(700));
    assert_eq!(told(&mut watch), ["flatten once", "flat once"]);
}

#[test]
fn what_ended_before_it_was_flat_is_told_as_such() {
    let mut watch = watch();
    closing(&mut watch);
    event(&mut watch, 3, json!({"kind": "stopped", "reason": "SIGTERM"}));
    let stopped = watch.take();
    assert!(stopped[0].happened.contains("the account was not seen flat yet"), "{stopped:?}");
    // The events in between are on their way: one of them may be the word of it.
    let after = json!({"at_ms": NOW + 90_000, "last_event": {"seq": 5, "at_ms": NOW + 5}});
    watch.status(&status(after.clone()));
    assert_eq!(told(&mut watch), ["kill over"]);
    event(&mut watch, 4, json!({"kind": "started"}));
    watch.status(&status(after));
    assert_eq!(told(&mut watch), ["started once"]);
    event(&mut watch, 5, json!({"kind": "risk", "state": "active"}));
    watch.status(&status(json!({"at_ms": NOW + 91_000, "last_event": {"seq": 9, "at_ms": NOW + 9}})));
    let notices = watch.take();
    assert_eq!((notices[0].code.as_str(), notices[0].severity), ("flat_unconfirmed", Severity::Critical));
    assert!(notices[0].happened.contains("kill switch: enough. That is over, and no word came"), "{notices:?}");
    watch.status(&status(json!({"at_ms": NOW + 92_000})));
    assert_eq!(told(&mut watch), [""; 0], "once");
}

#[test]
fn on_paper_nothing_was_closed_and_nothing_is_missing() {
    let mut watch = Watch { cursor: Some(0), ..Watch::default() };
    let paper = |more: Value| {
        let mut status = status(more);
        status.mode = "paper".into();
        status
    };
    watch.status(&paper(json!({})));
    event(&mut watch, 1, json!({"kind": "kill", "reason": "enough"}));
    event(&mut watch, 2, json!({"kind": "stopped", "reason": "SIGTERM"}));
    watch.status(&paper(json!({"at_ms": NOW + 90_000, "last_event": {"seq": 2, "at_ms": NOW + 2}})));
    assert_eq!(told(&mut watch), ["kill begins", "service_stopped once", "kill over"]);
}
