//! Notices of events, statuses and silences: each thing that an owner must hear of, and nothing twice.

use serde_json::{Value, json};

use super::*;
use crate::notify::notice::Severity;
use crate::record::event::Event;
use crate::record::status::Status;

mod alerts;
mod flat;
mod reach;
mod stops;
mod summary;

const NOW: u64 = 1_800_000_000_000;

fn codes(watch: &mut Watch) -> Vec<(String, Turn)> {
    watch.take().into_iter().map(|notice| (notice.code, notice.turn)).collect()
}

fn told(watch: &mut Watch) -> Vec<String> {
    codes(watch).into_iter().map(|(code, turn)| format!("{code} {}", turn.name())).collect()
}

#[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
fn event(watch: &mut Watch, seq: u64, body: Value) {
    let mut whole = json!({"seq": seq, "at_ms": NOW + seq});
    whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    watch.event(&Event::of(&whole).unwrap());
}

#[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
fn status(changes: Value) -> Status {
    let mut whole = json!({
        "schema": 1, "mode": "testnet", "account": "0x1111111111111111111111111111111111111111",
        "kill_file": "/home/me/g/kill", "at_ms": NOW, "risk": {"state": "active"}, "killed": null,
        "positions": [], "open_orders": [], "alerts": [], "venue": {"account_age_ms": 100}
    });
    whole.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

/// A watch that knows its guard, and has told nothing.
fn watch() -> Watch {
    let mut watch = Watch { cursor: Some(0), ..Watch::default() };
    watch.status(&status(json!({})));
    assert_eq!(told(&mut watch), [""; 0]);
    watch
}

/// What a home's config says of its guard is no word of another one.
#[test]
fn a_guard_that_was_expected_gives_way_to_the_one_that_is_heard() {
    let mut watch = Watch::default();
    let account = "0x2222222222222222222222222222222222222222".to_owned();
    watch.expect(Guard { account, mode: "mainnet".to_owned(), kill_file: "/h/kill".to_owned() });
    assert_eq!(watch.guard.command("health"), "svc-guard --home /h health");
    watch.status(&status(json!({})));
    assert_eq!((told(&mut watch).len(), watch.guard.mode.as_str()), (0, "testnet"));
    watch.cursor = Some(0);
    watch.expect(Guard::default());
    assert_eq!(watch.guard.mode, "testnet", "it was heard");
}

#[test]
fn a_halt_is_told_with_its_figures_and_its_end() {
    let mut watch = watch();
    let details = json!({"cause": "daily_loss", "equity": "9700", "day_start_equity": "10250.5", "loss": "550.5", "limit": "512.525", "limit_pct": "5"});
    event(&mut watch, 1, json!({"kind": "risk", "state": "halted_for_day", "details": details}));
    let notices = watch.take();
    assert!(
        notices[0].happened.contains("550.5 USDC of the day's start of 10250.5")
            && notices[0].todo.contains("00:00 UTC"),
        "{notices:?}"
    );
    event(&mut watch, 2, json!({"kind": "risk", "state": "halted_for_day"}));
    assert_eq!(told(&mut watch), [""; 0], "the same state");
    event(&mut watch, 3, json!({"kind": "risk", "state": "stopped", "details": {"drawdown": "2300"}}));
    let notices = watch.take();
    assert_eq!(
        notices.iter().map(|notice| (notice.code.as_str(), notice.turn)).collect::<Vec<_>>(),
        [("halted_for_day", Turn::Over), ("stopped", Turn::Begins)]
    );
    assert!(
        notices[1].todo.contains("svc-guard --home /home/me/g journal-resume --mode testnet --note"),
        "{}",
        notices[1].todo
    );
    event(&mut watch, 4, json!({"kind": "flat", "flatten": 2, "checked_ms": NOW}));
    assert_eq!(told(&mut watch), ["flat once"]);
    event(&mut watch, 5, json!({"kind": "risk", "state": "active"}));
    assert_eq!(told(&mut watch), ["stopped over"]);
}

#[test]
fn what_no_event_told_is_told_from_the_status() {
    let mut watch = Watch { cursor: Some(9), ..Watch::default() };
    watch.status(&status(json!({"killed": "before", "risk": {"state": "stopped", "details": {"drawdown": "7"}}})));
    assert_eq!(told(&mut watch), ["kill begins", "stopped begins"]);
    let closing = json!({"flat": true, "checked_ms": NOW + 59_000, "twaps": 0});
    watch.status(&status(
        json!({"killed": "before", "risk": {"state": "stopped"}, "at_ms": NOW + 60_000, "closing": closing}),
    ));
    assert_eq!(told(&mut watch), ["flat once"]);
}

#[test]
fn a_life_that_broke_off_is_told_from_one_that_stopped() {
    let mut watch = watch();
    event(&mut watch, 1, json!({"kind": "started", "version": "1"}));
    event(&mut watch, 2, json!({"kind": "stopped", "reason": "SIGTERM"}));
    event(&mut watch, 3, json!({"kind": "started", "version": "1"}));
    event(&mut watch, 4, json!({"kind": "decision", "verdict": "allow", "code": "allowed"}));
    event(&mut watch, 5, json!({"kind": "started", "version": "1"}));
    assert_eq!(told(&mut watch), ["started once", "service_stopped once", "started once", "restarted once"]);
}

#[test]
fn each_event_is_taken_in_once_and_a_gap_is_counted() {
    let mut watch = watch();
    let trouble = json!({"kind": "error", "text": "away"});
    event(&mut watch, 1, trouble.clone());
    event(&mut watch, 1, trouble.clone());
    assert_eq!(told(&mut watch), ["error once"]);
    event(&mut watch, 8, trouble.clone());
    let notices = watch.take();
    assert_eq!(notices[0].code, "missed");
    assert!(notices[0].happened.starts_with("6 events after event 1 were"), "{}", notices[0].happened);
    watch.begin_anew((3, 4), NOW + 1_000);
    assert_eq!(told(&mut watch), ["journal_changed once"]);
    // What stands in the new journal from before the last word of the old one is no news.
    event(&mut watch, 3, trouble.clone());
    assert_eq!(told(&mut watch), [""; 0]);
    let mut later = trouble;
    later.as_object_mut().unwrap().insert("at_ms".to_owned(), json!(NOW + 8));
    event(&mut watch, 4, later);
    assert_eq!(told(&mut watch), ["error once"]);
    // What was not in it then is news, whatever the clock said before.
    event(&mut watch, 5, json!({"kind": "error", "text": "back"}));
    assert_eq!(told(&mut watch), ["error once"]);
    // Where they were looked for is told too.
    watch.not_in_journal = "the journal in /j could not be read".to_owned();
    event(&mut watch, 7, json!({"kind": "done"}));
    let missed = &watch.take()[0].happened;
    assert!(
        missed.starts_with("1 event after event 5 was gone")
            && missed.ends_with("and the journal in /j could not be read.")
    );
}

#[test]
fn the_wallets_end_is_told_four_times() {
    let mut watch = watch();
    let day = 86_400_000;
    let until = NOW + 100 * day;
    let mut told_at = Vec::new();
    for hour in 0..100 * 24 {
        let now = NOW + hour * day / 24;
        let expiring = json!([{"code": "api_wallet_expiring", "text": "soon"}]);
        watch.status(&status(json!({"at_ms": now, "api_wallet_valid_until": until, "alerts": expiring})));
        told_at.extend(watch.take().into_iter().map(|notice| ((until - now) / day, notice.code, notice.severity)));
    }
    let ending = |days, severity| (days, "wallet_ending".to_owned(), severity);
    use Severity::{Critical, Info, Warning};
    assert_eq!(told_at, [ending(30, Info), ending(7, Warning), ending(3, Warning), ending(1, Critical)]);
    watch.status(&status(json!({"at_ms": until, "api_wallet_valid_until": until})));
    let ended = watch.take();
    assert_eq!((ended.len(), ended[0].title.as_str()), (1, "API wallet's approval has ended"));
    assert!(ended[0].did.starts_with("Nothing can be sent") && !ended[0].happened.contains("from now"), "{ended:?}");
    let replace = "svc-guard --home /home/me/g key replace --key-stdin < FILE";
    assert!(ended[0].todo.contains(replace) && ended[0].todo.contains("restart `svc-guard --home"), "{ended:?}");
    watch.status(&status(json!({"at_ms": until, "api_wallet_valid_until": until + 2 * day})));
    assert_eq!(told(&mut watch), ["wallet_ending once"], "another wallet, another end");
}

#[test]
fn a_limit_nearly_used_is_told_when_it_was_well_below_before() {
    let mut watch = watch();
    let used = |used: &str| {
        status(json!({"headroom": [
            {"rule": "exposure", "unit": "usdc", "used": used, "limit": "1000"},
            {"rule": "leverage", "unit": "times", "used": "5", "limit": "5"}
        ]}))
    };
    let mut said = Vec::new();
    for (step, amount) in ["899", "900", "850", "950", "799", "901"].into_iter().enumerate() {
        watch.status(&used(amount));
        said.extend(told(&mut watch).into_iter().map(|code| (step, code)));
    }
    assert_eq!(said, [(1, "limit_near once".to_owned()), (5, "limit_near once".to_owned())]);
    watch.status(&status(json!({"venue": {"weight_used": 1190, "weight_per_minute": 1200}})));
    watch.status(&status(json!({"venue": {"weight_used": 1000, "weight_per_minute": 1200}})));
    watch.status(&status(json!({"venue": {"weight_used": 900, "weight_per_minute": 1200}})));
    assert_eq!(told(&mut watch), ["weight_spent begins", "weight_spent over"]);
}

/// The halt that its limit fired has told more.
#[test]
fn a_limit_whose_halt_lasts_is_not_nearly_used() {
    for (state, rule, is_told) in [
        ("active", "daily_loss", true),
        ("halted_for_day", "daily_loss", false),
        ("halted_for_day", "drawdown", true),
        ("stopped", "daily_loss", false),
        ("stopped", "drawdown", false),
    ] {
        let mut watch = watch();
        let row = json!({"rule": rule, "unit": "usdc", "used": "608.418114", "limit": "400"});
        watch.status(&status(json!({"risk": {"state": state}, "headroom": [row]})));
        let near: Vec<Notice> = watch.take().into_iter().filter(|notice| notice.code == "limit_near").collect();
        assert_eq!(near.len(), usize::from(is_told), "{state} {rule}");
        assert!(near.iter().all(|notice| notice.happened.contains("608.42 of 400.00 USDC")), "{near:?}");
    }
}

/// A status that was made before an event says nothing about what that began.
#[test]
fn a_status_of_before_ends_nothing_that_an_event_has_just_begun() {
    let mut watch = watch();
    event(&mut watch, 7, json!({"kind": "kill", "reason": "enough"}));
    event(&mut watch, 8, json!({"kind": "risk", "state": "stopped"}));
    assert_eq!(told(&mut watch), ["missed once", "kill begins", "stopped begins"]);
    watch.status(&status(json!({"last_event": {"seq": 6, "at_ms": NOW + 6}, "at_ms": NOW + 20})));
    watch.status(&status(json!({"last_event": {"seq": 7, "at_ms": NOW + 7}, "at_ms": NOW + 20, "killed": "enough"})));
    // One that does not say which event was its last is as old as it says.
    watch.status(&status(json!({"at_ms": NOW + 5})));
    assert_eq!(told(&mut watch), [""; 0]);
    let killed = json!({"last_event": {"seq": 8}, "at_ms": NOW + 20, "killed": "enough", "risk": {"state": "stopped"}});
    watch.status(&status(killed));
    assert_eq!(told(&mut watch), [""; 0]);
    // What is decided meanwhile makes no status old.
    event(&mut watch, 9, json!({"kind": "decision", "verdict": "allow", "code": "allowed"}));
    watch.status(&status(json!({"last_event": {"seq": 8}, "at_ms": NOW + 30})));
    assert_eq!(told(&mut watch), ["kill over", "stopped over", "flat_unconfirmed once"]);
}

#[test]
fn another_guard_at_the_same_address_is_told() {
    let mut watch = watch();
    watch.status(&status(json!({"mode": "paper"})));
    assert_eq!(told(&mut watch), ["guard_changed once"]);
    // What lasted at the one before is not told to be over: nobody knows.
    event(&mut watch, 1, json!({"kind": "kill", "reason": "enough"}));
    event(&mut watch, 2, json!({"kind": "risk", "state": "stopped"}));
    assert_eq!(told(&mut watch), ["kill begins", "stopped begins"]);
    watch.status(&status(json!({"killed": "its own"})));
    let notices = watch.take();
    let codes: Vec<&str> = notices.iter().map(|notice| notice.code.as_str()).collect();
    assert_eq!(codes, ["guard_changed", "kill"]);
    assert!(notices[0].happened.contains("Last heard of the one before: Kill switch pulled"), "{notices:?}");
    assert!(notices[1].happened.contains("its own"), "{notices:?}");
    assert_eq!(watch.cursor, None, "its events are read on from its newest one");
}

#[test]
fn what_is_kept_is_read_back_as_it_was() {
    let mut watch = watch();
    event(&mut watch, 1, json!({"kind": "kill", "reason": "x"}));
    watch.take();
    let kept: Watch = serde_json::from_str(&serde_json::to_string(&watch).unwrap()).unwrap();
    assert_eq!(kept, watch);
    assert!(kept.lasts("kill"));
}

/// Whatever comes, in whatever order, with whatever in it: bounded, and what ends was told to begin.
#[test]
fn nothing_ends_that_was_not_told_to_begin() {
    let kinds = ["kill", "risk", "flatten", "protect", "sent", "error", "started", "stopped", "done", "nonsense"];
    let states = ["active", "halted_for_day", "stopped"];
    let alerts = ["uncovered", "not_flat", "disk_low", "unheard_of"];
    for seed in 0..300_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |most: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            usize::try_from(random % u64::try_from(most).unwrap()).unwrap()
        };
        let mut watch = Watch::default();
        let mut lasting = std::collections::BTreeSet::new();
        for step in 0..200 {
            let at_ms = NOW + u64::try_from(draw(10_000_000)).unwrap();
            match draw(3) {
                0 => {
                    let body = json!({"kind": kinds[draw(kinds.len())], "reason": "x", "state": states[draw(3)], "ok": false, "decision": draw(50)});
                    event(&mut watch, step + u64::try_from(draw(4)).unwrap(), body);
                }
                1 => {
                    let alert = json!([{"code": alerts[draw(4)], "text": "y"}]);
                    let killed = if draw(2) == 0 { json!("z") } else { Value::Null };
                    watch.status(&status(
                        json!({"at_ms": at_ms, "alerts": alert, "killed": killed, "risk": {"state": states[draw(3)]}}),
                    ));
                }
                _ => {
                    let seen = [Seen::Well, Seen::Unwell(vec![]), Seen::Away("a".to_owned())][draw(3)].clone();
                    watch.seen(&seen, (step * 20_000, step * 20_000), at_ms);
                }
            }
            for notice in watch.take() {
                match notice.turn {
                    Turn::Begins => _ = lasting.insert(notice.topic()),
                    Turn::Over => assert!(lasting.remove(&notice.topic()), "seed {seed}: {}", notice.topic()),
                    Turn::Once => {}
                }
            }
            assert_eq!(lasting, watch.open.keys().cloned().collect(), "seed {seed}");
        }
    }
}
