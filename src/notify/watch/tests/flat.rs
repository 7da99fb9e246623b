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
