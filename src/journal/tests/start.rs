//! Starting, locking, and refusing what is not as it was written.

use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::json;

use super::*;

/// Five events and a few risk records over two days.
fn filled() -> Place {
    let place = Place::new();
    let (mut store, _) = place.open();
    store.append(NOON, vec![event(1), event(2)], vec![record(1)]).unwrap();
    store.append(NOON, vec![event(3)], vec![checkpoint(3)]).unwrap();
    store.append(NOON + DAY, vec![event(4), event(5)], vec![record(2)]).unwrap();
    place
}

#[test]
fn what_was_written_is_found_again() {
    let place = filled();
    let (_store, opened) = place.open();
    assert_eq!(seqs(&opened), [1, 2, 3, 4, 5]);
    assert_eq!(numbers(&opened.risk), [0, 1, 2]);
    assert_eq!(opened.last_seq, 5);
    let texts = texts(&opened).into_iter().chain(opened.risk.clone());
    assert!(texts.into_iter().all(|text| !text.contains("\"chain\"") && text.ends_with('}')));
}

#[test]
fn a_journal_is_started_once() {
    let place = filled();
    assert!(matches!(create_risk(&place.dir, r#"{"kind":"init"}"#), Err(OpenError::Exists(_))));
    assert_eq!(numbers(&place.open().1.risk), [0, 1, 2]);
    let nowhere = place.dir.join("none");
    assert!(matches!(open(&nowhere, &Options::default()).map(|_| ()), Err(OpenError::NoRiskJournal(_))));
    assert!(matches!(read_risk(&nowhere).map(|_| ()), Err(OpenError::NoRiskJournal(_))));
    assert!(!nowhere.exists());
}

#[test]
fn a_second_service_is_told_who_holds_the_lock() {
    let place = filled();
    let held = place.open();
    match place.refusal() {
        OpenError::Locked { pid, .. } => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other}"),
    }
    drop(held);
    place.open();
}

#[test]
fn modes_do_not_depend_on_the_umask() {
    nix::sys::stat::umask(nix::sys::stat::Mode::from_bits_truncate(0o077));
    let place = filled();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().mode() & 0o7777;
    assert_eq!(mode(&place.dir), 0o755);
    assert_eq!(mode(place.dir.parent().unwrap()), 0o755);
    for name in ["risk.jsonl", "events-2026-03-01.jsonl", "tail.redo", "reserve"] {
        assert_eq!(mode(&place.file(name)), 0o644, "{name}");
    }
    assert_eq!(mode(&place.file("lock")), 0o600);
    assert!(std::fs::metadata(place.file("reserve")).unwrap().blocks() * 512 >= 1024 * 1024);
}

#[test]
fn symbolic_links_and_pipes_are_refused() {
    for name in ["risk.jsonl", "events-2026-03-02.jsonl", "tail.redo", "lock"] {
        let place = filled();
        std::fs::rename(place.file(name), place.file("elsewhere")).unwrap();
        symlink(place.file("elsewhere"), place.file(name)).unwrap();
        assert!(matches!(place.refusal(), OpenError::NotOurs { why: "a symbolic link", .. }), "{name}");
        std::fs::remove_file(place.file(name)).unwrap();
        nix::unistd::mkfifo(&place.file(name), nix::sys::stat::Mode::from_bits_truncate(0o644)).unwrap();
        assert!(matches!(place.refusal(), OpenError::NotOurs { .. } | OpenError::Io { .. }), "{name}");
    }
}

fn damage_of(place: &Place) -> Damage {
    match place.refusal() {
        OpenError::Damaged(damage) => *damage,
        other => panic!("{other}"),
    }
}

#[test]
fn an_edited_line_is_named_by_file_line_and_byte() {
    for (name, line) in [("risk.jsonl", 3), ("events-2026-03-01.jsonl", 2), ("events-2026-03-02.jsonl", 1)] {
        let place = filled();
        let mut bytes = place.read(name);
        let starts: Vec<_> =
            std::iter::once(0).chain(bytes.iter().zip(1..).filter(|(b, _)| **b == b'\n').map(|(_, at)| at)).collect();
        let start = starts[line - 1];
        bytes[start + 8] ^= 1;
        std::fs::write(place.file(name), &bytes).unwrap();
        let damage = damage_of(&place);
        assert_eq!((damage.file.clone(), damage.line, damage.byte), (place.file(name), line as u64, start as u64));
        assert!(damage.to_string().contains("journal-init"), "{damage}");
        assert_eq!(place.read(name), bytes, "nothing is repaired");
    }
}

#[test]
fn a_missing_end_is_noticed() {
    // Without the redo file, the end of the risk journal is its own; the events' end is known to the checkpoint.
    let place = filled();
    std::fs::remove_file(place.file("tail.redo")).unwrap();
    std::fs::remove_file(place.file("events-2026-03-02.jsonl")).unwrap();
    let bytes = place.read("events-2026-03-01.jsonl");
    let last = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    std::fs::write(place.file("events-2026-03-01.jsonl"), &bytes[..last]).unwrap();
    assert!(matches!(damage_of(&place).what, What::Short { .. }));
    std::fs::remove_file(place.file("events-2026-03-01.jsonl")).unwrap();
    assert!(matches!(damage_of(&place).what, What::Short { .. }));
}

#[test]
fn another_journal_s_events_are_not_the_checkpoint_s() {
    let (place, other) = (filled(), Place::new());
    let (mut store, _) = other.open();
    for seq in 1..9 {
        let text = json!({"seq": seq, "kind": "error", "text": "other"});
        store.append(NOON, vec![line(&text)], vec![]).unwrap();
    }
    std::fs::remove_file(place.file("tail.redo")).unwrap();
    std::fs::remove_file(place.file("events-2026-03-02.jsonl")).unwrap();
    std::fs::copy(other.file("events-2026-03-01.jsonl"), place.file("events-2026-03-01.jsonl")).unwrap();
    assert!(matches!(damage_of(&place).what, What::NotTheCheckpoint));
}

#[test]
fn a_cut_tail_without_its_redo_is_refused() {
    let place = filled();
    let bytes = place.read("events-2026-03-02.jsonl");
    std::fs::write(place.file("events-2026-03-02.jsonl"), &bytes[..bytes.len() - 5]).unwrap();
    let mut redo = place.read("tail.redo");
    let middle = redo.len() / 2;
    redo[middle] ^= 1;
    std::fs::write(place.file("tail.redo"), redo).unwrap();
    assert!(matches!(damage_of(&place).what, What::Line(LineFault::Cut)));
}

#[test]
fn more_missing_than_the_last_batch_is_refused() {
    let place = filled();
    let (mut store, _) = place.open();
    store.append(NOON + DAY, vec![event(6)], vec![]).unwrap();
    drop(store);
    let bytes = place.read("events-2026-03-02.jsonl");
    std::fs::write(
        place.file("events-2026-03-02.jsonl"),
        &bytes[..bytes.iter().position(|b| *b == b'\n').unwrap() + 1],
    )
    .unwrap();
    assert!(matches!(damage_of(&place).what, What::Short { says: "tail.redo", .. }));
}

/// The batch's first part began a new file, its second continues one; each is cut at every byte, and removed.
#[test]
fn the_last_batch_is_completed_from_every_cut() {
    use crate::journal::folder::Folders;
    let place = filled();
    let folders = Folders::of(&place.dir).unwrap();
    let risk = place.read("risk.jsonl");
    let last = risk[..risk.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
    for (name, whole_from) in [("events-2026-03-02.jsonl", 0), ("risk.jsonl", last)] {
        let whole = place.read(name);
        for cut in whole_from..=whole.len() {
            std::fs::write(place.file(name), &whole[..cut]).unwrap();
            crate::journal::redo::complete(&folders, &Faults::default()).unwrap();
            assert_eq!(place.read(name), whole, "{name} cut at {cut}");
        }
    }
    std::fs::remove_file(place.file("events-2026-03-02.jsonl")).unwrap();
    assert_eq!(seqs(&place.open().1), [1, 2, 3, 4, 5]);
}

#[test]
fn a_tail_that_is_not_the_batch_s_is_refused() {
    let place = filled();
    let mut bytes = place.read("events-2026-03-02.jsonl");
    bytes[9] ^= 1;
    std::fs::write(place.file("events-2026-03-02.jsonl"), &bytes[..20]).unwrap();
    assert!(matches!(damage_of(&place).what, What::NotTheBatch));
}

#[test]
fn a_redo_cut_before_its_batch_began_says_nothing() {
    let place = filled();
    let redo = place.read("tail.redo");
    for cut in [0, 1, redo.len() / 2, redo.len() - 1] {
        std::fs::write(place.file("tail.redo"), &redo[..cut]).unwrap();
        assert_eq!(place.open().1.last_seq, 5);
        std::fs::write(place.file("tail.redo"), &redo).unwrap();
    }
}

#[test]
fn only_the_end_is_read_and_the_history_behind_it() {
    let place = Place::new();
    let (mut store, _) = place.open();
    for day in 0..20 {
        let events = (1..=1000).map(|n| event(day * 1000 + n)).collect();
        store.append(NOON + day * DAY, events, vec![checkpoint((day + 1) * 1000)]).unwrap();
    }
    store.append(NOON + 19 * DAY, vec![event(20_001)], vec![]).unwrap();
    drop(store);

    let (store, opened) = place.open();
    assert_eq!(seqs(&opened), (19_002..=20_001).collect::<Vec<_>>());
    assert_eq!(opened.risk.len(), 2, "of the checkpoints the last");
    assert_eq!(opened.last_seq, 20_001);
    verify(&opened);
    drop(store);

    let name = "events-2026-03-08.jsonl";
    let mut bytes = place.read(name);
    let at = bytes.len() / 2;
    bytes[at] ^= 1;
    std::fs::write(place.file(name), bytes).unwrap();
    let (_store, opened) = place.open();
    match opened.history.verify() {
        Err(OpenError::Damaged(damage)) => assert_eq!(damage.file, place.file(name)),
        other => panic!("{other:?}"),
    }
    std::fs::remove_file(place.file(name)).unwrap();
    assert!(opened.history.verify().is_err());
}

#[test]
fn a_thousand_events_are_counted_over_days_with_few() {
    let place = Place::new();
    let (mut store, _) = place.open();
    for day in 0..300 {
        let events = (1..=5).map(|n| event(day * 5 + n)).collect();
        store.append(NOON + day * DAY, events, vec![checkpoint(day * 5 + 5)]).unwrap();
    }
    drop(store);
    let (_store, opened) = place.open();
    assert_eq!(seqs(&opened), (501..=1500).collect::<Vec<_>>());
    verify(&opened);
}

#[test]
fn a_clock_set_back_does_not_lead_back_to_an_older_file() {
    let place = filled();
    let (mut store, _) = place.open();
    store.append(NOON, vec![event(6)], vec![]).unwrap();
    drop(store);
    assert_eq!(place.event_files(), ["events-2026-03-01.jsonl", "events-2026-03-02.jsonl"]);
    assert_eq!(place.open().1.last_seq, 6);
}

#[test]
fn the_risk_journal_is_read_beside_the_writer() {
    let place = filled();
    let (mut store, _) = place.open();
    let read = || read_risk(&place.dir).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    assert_eq!(read().concat().len() + 4, place.read("risk.jsonl").len(), "as stored, without line feeds");
    assert_eq!(read().len(), 4);
    store.append(NOON, vec![], vec![record(9)]).unwrap();
    assert!(read()[4].starts_with(r#"{"kind":"peak","n":9,"events_file":""#));
    // A line that is being written now.
    let whole = place.read("risk.jsonl");
    std::fs::write(place.file("risk.jsonl"), &whole[..whole.len() - 1]).unwrap();
    assert_eq!(read().len(), 4);
}

#[test]
fn a_journal_of_somebody_else_is_refused() {
    let place = filled();
    let (mut store, _) = place.open();
    let started = line(&json!({"seq": 6, "kind": "started", "account": "0xAB", "mode": "paper"}));
    store.append(NOON + DAY, vec![started], vec![]).unwrap();
    drop(store);
    let open_as = |account: &str| {
        let owner = vec![("account", account.to_owned()), ("mode", "paper".to_owned())];
        open(&place.dir, &Options { owner, ..Options::default() }).map(|_| ())
    };
    open_as("0xab").unwrap();
    match open_as("0xcd") {
        Err(OpenError::Damaged(damage)) => {
            assert_eq!((damage.file.clone(), damage.line), (place.file("events-2026-03-02.jsonl"), 3));
            assert!(damage.to_string().contains("0xAB, not 0xcd"), "{damage}");
        }
        other => panic!("{other:?}"),
    }
}

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
    let begun_anew = create_risk(&place.dir, r#"{"kind":"init"}"#);
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

#[test]
fn older_days_may_be_moved_away_and_not_lost() {
    let place = Place::new();
    let (mut store, _) = place.open();
    for day in 0..4 {
        let events = (1..=600).map(|n| event(day * 600 + n)).collect();
        store.append(NOON + day * DAY, events, vec![checkpoint((day + 1) * 600)]).unwrap();
    }
    drop(store);
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
