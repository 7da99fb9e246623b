//! Journals that vouch for each other, risk journals carried over, and days moved away.

use serde_json::json;

use super::start::{damage_of, filled};
use super::*;

#[test]
fn each_journal_knows_the_other_s_end() {
    let place = filled();
    std::fs::remove_file(place.file("tail.redo")).unwrap();
    let whole = place.read("risk.jsonl");
    let starts = |bytes: &[u8]| -> Vec<usize> {
        std::iter::once(0).chain(bytes.iter().zip(1..).filter(|(b, _)| **b == b'\n').map(|(_, at)| at)).collect()
    };
    // init, 1 and the checkpoint were seen by the events after them; 2 was not, and only the redo file could say so.
    let ends = starts(&whole);
    for (lines, is_short) in [(0, false), (1, true), (2, true), (3, false)] {
        std::fs::write(place.file("risk.jsonl"), &whole[..ends[lines]]).unwrap();
        let what = damage_of(&place).what;
        let is_told = matches!(what, What::Short { says: "the event journal", .. });
        assert_eq!(is_told, is_short, "{lines} lines: {what:?}");
        assert!(is_told || matches!(what, What::NoBeginning | What::NoRedo), "{lines} lines: {what:?}");
    }
    std::fs::remove_file(place.file("risk.jsonl")).unwrap();
    assert!(matches!(damage_of(&place).what, What::Gone { .. }));
    let begun_anew = create_risk(&place.dir, r#"{"kind":"init"}"#, None);
    assert!(matches!(begun_anew, Err(OpenError::Damaged(damage)) if matches!(damage.what, What::Gone { .. })));
    // A whole one of another life of the same account.
    let other = filled();
    let events = other.open().0.append(NOON + DAY, vec![event(6), event(7)], vec![record(3), record(4)]);
    events.unwrap();
    std::fs::write(place.file("risk.jsonl"), other.read("risk.jsonl")).unwrap();
    assert!(matches!(damage_of(&place).what, What::Short { says: "the risk journal", .. }));
}

#[test]
fn a_journal_that_ended_in_order_needs_no_file_beside_it() {
    let place = filled();
    let (mut store, _) = place.open();
    let stopped = line(&json!({"seq": 6, "at_ms": NOON, "kind": "stopped", "reason": "SIGTERM"}));
    store.append(NOON + DAY, vec![stopped], vec![checkpoint(6)]).unwrap();
    drop(store);
    for helper in ["tail.redo", "reserve", "reserve-own"] {
        std::fs::remove_file(place.file(helper)).unwrap();
    }
    assert_eq!(place.open().1.last_seq, 6);
}

/// Journals as an earlier version wrote them are taken once, and vouch for each other from then on.
#[test]
fn a_journal_of_before_the_vouching_is_taken_once() {
    let place = Place::new();
    let mut chain = Chain::START;
    let mut bytes = Vec::new();
    for seq in 1..=3 {
        chain = crate::journal::seal(chain, &event(seq).text, &mut bytes).unwrap();
    }
    std::fs::write(place.file("events-2026-03-01.jsonl"), bytes).unwrap();
    let (mut store, opened) = place.open();
    assert_eq!(seqs(&opened), [1, 2, 3]);
    store.append(NOON, vec![event(4)], vec![record(1)]).unwrap();
    store.append(NOON, vec![event(5)], vec![]).unwrap();
    drop(store);
    let text = String::from_utf8(place.read("events-2026-03-01.jsonl")).unwrap();
    let seen: Vec<bool> = text.lines().map(|line| line.contains(",\"seen\":\"risk.jsonl ")).collect();
    assert_eq!(seen, [false, false, false, true, true]);
    let whole = place.read("risk.jsonl");
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(place.file("risk.jsonl"), &whole[..first]).unwrap();
    std::fs::remove_file(place.file("tail.redo")).unwrap();
    assert!(matches!(damage_of(&place).what, What::Short { says: "the event journal", .. }));
}

#[test]
fn a_risk_journal_that_has_grown_goes_on_in_a_file_of_its_own() {
    let place = Place::new();
    let (mut store, _) = place.open();
    let checkpoint = |seq: u64| RiskLine {
        text: json!({"kind": "checkpoint", "seq": seq, "note": "x".repeat(100_000)}).to_string(),
    };
    let upto = |store: &mut Store, from: u64, to: u64| {
        for n in from..=to {
            store.append(NOON, vec![event(n)], vec![record(n), checkpoint(n)]).unwrap();
        }
    };
    upto(&mut store, 1, 41);
    drop(store);
    let (store, opened) = place.open();
    assert_eq!(numbers(&opened.risk), (0..=41).collect::<Vec<_>>());
    assert!(!place.file("risk.1.jsonl").exists(), "not yet");
    drop(store);
    let (mut store, _) = place.open();
    upto(&mut store, 42, 45);
    drop(store);
    let (mut store, _) = place.open();
    assert!(place.read("risk.1.jsonl").len() < 200_000);
    upto(&mut store, 46, 46);
    drop(store);
    let shown: Vec<String> = read_risk(&place.dir).unwrap().map(Result::unwrap).collect();
    assert_eq!(numbers(&shown), (0..=46).collect::<Vec<_>>());
    // The first file is nobody's any more, and the second is missed.
    std::fs::rename(place.file("risk.jsonl"), place.file("risk.jsonl.away")).unwrap();
    let (store, opened) = place.open();
    assert_eq!(numbers(&opened.risk), (0..=46).collect::<Vec<_>>());
    drop(store);
    std::fs::rename(place.file("risk.jsonl.away"), place.file("risk.jsonl")).unwrap();
    std::fs::remove_file(place.file("risk.1.jsonl")).unwrap();
    assert!(matches!(place.refusal(), OpenError::Damaged(_)));
}

/// A journal that was written on four days, and is not open.
fn of_four_days() -> Place {
    let place = Place::new();
    let (mut store, _) = place.open();
    for day in 0..4 {
        let events = (1..=600).map(|n| event(day * 600 + n)).collect();
        store.append(NOON + day * DAY, events, vec![checkpoint((day + 1) * 600)]).unwrap();
    }
    drop(store);
    place
}

#[test]
fn older_days_may_be_moved_away_and_not_lost() {
    let place = of_four_days();
    let first = place.file("events-2026-03-01.jsonl");
    std::fs::rename(&first, place.file("events-2026-03-01.jsonl.gz")).unwrap();
    verify(&place.open().1);
    std::fs::remove_dir_all(place.file("index")).unwrap();
    let (store, opened) = place.open();
    let journal = start(store, Some(opened.history), 1, |(), _| {});
    assert!(journal.lookup().by_nonce(7).is_ok(), "the index is whole without it");
    drop(journal);
    std::fs::remove_file(place.file("events-2026-03-01.jsonl.gz")).unwrap();
    assert!(place.open().1.history.verify().is_err(), "lost without a trace");
}

/// Damage is told of once, and its end without a restart: when the day's file is back, or was moved away as it should be.
#[test]
fn older_days_that_are_put_back_are_whole_again() {
    let place = of_four_days();
    let day = place.file("events-2026-03-02.jsonl");
    let whole = std::fs::read(&day).unwrap();
    let spoiled = || std::fs::write(&day, [&whole[..999], b"#", &whole[1000..]].concat()).unwrap();
    spoiled();
    let (store, opened) = place.open();
    let (tell, told) = std::sync::mpsc::channel();
    let history = opened.history;
    let (journal, writer, _) = store.writer(1, |_| {}, |(), _| {});
    let writer = std::thread::spawn(move || writer.run());
    let watcher = std::thread::spawn(move || {
        history.run(|damage| tell.send(damage.map(ToString::to_string)).unwrap());
    });
    let next = || told.recv_timeout(std::time::Duration::from_secs(60)).unwrap();
    assert!(next().unwrap().contains("events-2026-03-02.jsonl"));
    std::fs::write(&day, &whole).unwrap();
    assert_eq!(next(), None);
    drop(journal);
    writer.join().unwrap();
    watcher.join().unwrap();
    assert_eq!(told.try_iter().count(), 0, "each is told of once");

    // The next start finds nothing where it was put right, and the same damage where it was not.
    verify(&place.open().1);
    spoiled();
    assert!(place.open().1.history.verify().is_err());
}
