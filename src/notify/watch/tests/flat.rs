//! That the account is flat is told when the guard says so after the close, and that it no longer is when something is opened.

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
    // Of before the close; something is left; nobody can say whether a TWAP order runs; a guard that says nothing of it.
    watch.status(&killed(NOW, json!({"flat": true, "checked_ms": NOW, "twaps": 0})));
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

/// Closed and flat, by the journal; four events.
fn closed() -> Watch {
    let mut watch = watch();
    closing(&mut watch);
    event(&mut watch, 3, flat(3));
    event(&mut watch, 4, json!({"kind": "done", "intent": 2}));
    assert_eq!(told(&mut watch), ["flat once"]);
    watch
}

/// A round of a close, for the sake of this event.
fn round(watch: &mut Watch, seq: u64, of: u64, action: &str) {
    event(watch, seq, json!({"kind": "intent", "of": of, "action": {"type": action}}));
}

/// A status of a guard that is killed, after this event.
fn killed_at(seq: u64, is_flat: bool, held: usize) -> Status {
    let position = json!({"coin": "BTC", "side": "long", "size": "0.1"});
    status(json!({
        "killed": "enough", "at_ms": NOW + 600, "last_event": {"seq": seq, "at_ms": NOW + seq},
        "closing": {"flat": is_flat, "checked_ms": NOW + 500, "twaps": 0}, "positions": vec![position; held],
    }))
}

#[test]
fn what_is_opened_after_it_was_flat_is_told_and_so_is_the_next_flat_account() {
    // By the journal: a round of the close, or one of what came of it; by the status: what is held or rests.
    for by_status in [false, true] {
        let mut watch = closed();
        // Made before the word that it is flat; reads that are too old, and show nothing.
        watch.status(&killed_at(2, false, 1));
        watch.status(&killed_at(4, false, 0));
        assert_eq!(told(&mut watch), [""; 0]);
        match by_status {
            true => {
                event(&mut watch, 5, json!({"kind": "risk", "state": "active", "open_positions": 1}));
                watch.status(&killed_at(5, false, 1));
            }
            false => round(&mut watch, 5, 2, "order"),
        }
        let notices = watch.take();
        assert_eq!((notices[0].code.as_str(), notices[0].severity), ("flat_ended", Severity::Critical), "{notices:?}");
        assert!(notices[0].happened.starts_with("At 2027-01-15 08:00:00 UTC the account was flat."), "{notices:?}");
        // The next rounds, and the status of before.
        round(&mut watch, 6, 2, "order");
        watch.status(&killed_at(5, true, 0));
        watch.status(&killed_at(6, false, 1));
        assert_eq!(told(&mut watch), [""; 0], "once");
        match by_status {
            true => watch.status(&killed_at(7, true, 0)),
            false => event(&mut watch, 7, flat(7)),
        }
        assert_eq!(told(&mut watch), ["flat once"]);
        event(&mut watch, 7, flat(7));
        assert_eq!(told(&mut watch), [""; 0], "both tell of one");
        event(&mut watch, 8, json!({"kind": "stopped", "reason": "SIGTERM"}));
        assert!(!watch.take()[0].happened.contains("closing"));
    }
}

#[test]
fn what_is_held_again_when_the_kill_is_over_was_not_seen_flat() {
    let mut watch = closed();
    round(&mut watch, 5, 2, "order");
    watch.take();
    event(&mut watch, 6, json!({"kind": "stopped", "reason": "SIGTERM"}));
    let stopped = watch.take();
    assert!(stopped[0].happened.ends_with("and the account was not seen flat again."), "{stopped:?}");
    event(&mut watch, 7, json!({"kind": "started"}));
    watch.status(&status(json!({"at_ms": NOW + 900, "last_event": {"seq": 7, "at_ms": NOW + 7}})));
    let notices = watch.take();
    assert_eq!(
        notices.iter().map(|notice| notice.code.as_str()).collect::<Vec<_>>(),
        ["started", "kill", "flat_unconfirmed"]
    );
    assert!(notices[2].happened.contains("the account was flat, and something was opened after that."), "{notices:?}");
}

/// The guard says so of a time after its last close: when the notifier began to look does not matter.
#[test]
fn a_first_look_at_a_flat_account_tells_so_at_once() {
    let mut watch = Watch { cursor: Some(9), ..Watch::default() };
    let flat = killed_at(9, true, 0);
    watch.status(&flat);
    assert_eq!(told(&mut watch), ["kill begins", "flat once"]);
    event(&mut watch, 10, json!({"kind": "stopped", "reason": "SIGTERM"}));
    assert!(!watch.take()[0].happened.contains("closing"));
    event(&mut watch, 11, json!({"kind": "started"}));
    watch.status(&status(json!({"at_ms": NOW + 900, "last_event": {"seq": 11, "at_ms": NOW + 11}})));
    assert_eq!(told(&mut watch), ["started once", "kill over"]);
}

/// Nobody looked from before the first kill's end to after the second one.
#[test]
fn a_kill_that_was_not_there_at_the_start_is_another_one() {
    let mut watch = watch();
    closing(&mut watch);
    event(&mut watch, 3, json!({"kind": "stopped", "reason": "SIGTERM"}));
    event(&mut watch, 4, json!({"kind": "started"}));
    watch.take();
    event(&mut watch, 5, json!({"kind": "kill", "reason": "again", "at_start": false}));
    let notices = watch.take();
    let told_now: Vec<_> = notices.iter().map(|notice| (notice.code.as_str(), notice.turn, notice.at_ms)).collect();
    let wanted =
        [("kill", Turn::Over, NOW + 4), ("flat_unconfirmed", Turn::Once, NOW + 4), ("kill", Turn::Begins, NOW + 5)];
    assert_eq!(told_now, wanted);
    event(&mut watch, 6, json!({"kind": "flatten", "reason": "kill switch: again", "actions": [{}], "sent": true}));
    assert_eq!(told(&mut watch), ["flatten once"]);

    // The same one goes on: its file was there at the start, or an earlier version does not say.
    for kill in
        [json!({"kind": "kill", "reason": "again", "at_start": true}), json!({"kind": "kill", "reason": "again"})]
    {
        let mut watch = super::watch();
        closing(&mut watch);
        event(&mut watch, 3, json!({"kind": "started"}));
        event(&mut watch, 4, kill);
        event(&mut watch, 5, json!({"kind": "flatten", "reason": "kill switch: again", "actions": [{}], "sent": true}));
        assert_eq!(told(&mut watch), ["restarted once", "kill begins", "flatten_again once"]);
    }
}

#[test]
fn a_halt_that_ended_before_it_was_flat_is_told_as_such_before_the_next_one() {
    let mut watch = watch();
    let halt = |watch: &mut Watch, seq: u64| {
        event(watch, seq, json!({"kind": "risk", "state": "stopped"}));
        event(watch, seq + 1, json!({"kind": "flatten", "reason": "drawdown", "actions": [{}], "sent": true}));
    };
    halt(&mut watch, 1);
    assert_eq!(told(&mut watch), ["stopped begins", "flatten once"]);
    event(&mut watch, 3, json!({"kind": "risk", "state": "active"}));
    halt(&mut watch, 4);
    assert_eq!(told(&mut watch), ["stopped over", "flat_unconfirmed once", "stopped begins", "flatten once"]);
    // A kill goes on when the halt in it is over.
    event(&mut watch, 6, json!({"kind": "kill", "reason": "x"}));
    event(&mut watch, 7, json!({"kind": "risk", "state": "active"}));
    assert_eq!(told(&mut watch), ["kill begins", "stopped over"]);
}
