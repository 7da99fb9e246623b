//! Starting, locking, and refusing what is not as it was written.

use std::os::unix::fs::{MetadataExt, symlink};

use serde_json::json;

use super::*;

/// Five events and a few risk records over two days.
pub(super) fn filled() -> Place {
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
    assert!(matches!(create_risk(&place.dir, r#"{"kind":"init"}"#, None), Err(OpenError::Exists(_))));
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

pub(super) fn damage_of(place: &Place) -> Damage {
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
    use crate::journal::folders::Folders;
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
fn who_reads_is_told_how_far_it_was_written() {
    let place = filled();
    let told = |before, last| Some(Reached { before, last });
    assert_eq!(reached(&place.dir).unwrap(), told(3, 5));
    // Whatever became of the files.
    std::fs::remove_file(place.file("events-2026-03-02.jsonl")).unwrap();
    assert_eq!(reached(&place.dir).unwrap(), told(3, 5));
    let place = filled();
    let (mut store, _) = place.open();
    store.append(NOON + DAY, vec![], vec![checkpoint(5)]).unwrap();
    assert_eq!(reached(&place.dir).unwrap(), told(5, 5));
    store.append(NOON + DAY, vec![], vec![record(3)]).unwrap();
    assert_eq!(reached(&place.dir).unwrap(), None);
    // Being written over just now.
    store.append(NOON + DAY, vec![event(6)], vec![]).unwrap();
    let redo = place.read("tail.redo");
    std::fs::write(place.file("tail.redo"), &redo[..40]).unwrap();
    assert_eq!(reached(&place.dir).unwrap(), None);
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
    for cut in [1, redo.len() / 2, redo.len() - 1] {
        std::fs::write(place.file("tail.redo"), &redo[..cut]).unwrap();
        assert_eq!(place.open().1.last_seq, 5);
        std::fs::write(place.file("tail.redo"), &redo).unwrap();
    }
    // It only ever grows, so that no death of a process or a machine leaves it empty.
    std::fs::write(place.file("tail.redo"), "").unwrap();
    assert!(matches!(damage_of(&place).what, What::NoRedo));
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

/// A line is moved by every trade: a start keeps the last of each market, and none that a checkpoint holds already.
#[test]
fn of_the_lines_of_positions_the_last_since_the_checkpoint_are_kept() {
    let place = Place::new();
    let line = |asset: u32, px: u32| {
        let line =
            json!({"kind": "line", "asset": asset, "is_long": true, "held": "1", "parts": [[px.to_string(), "1"]]});
        RiskLine { text: line.to_string() }
    };
    let kept = |opened: &Opened| -> Vec<String> {
        let records = opened.risk.iter().map(|text| serde_json::from_str::<Value>(text).unwrap());
        let lines = records.filter(|record| record["kind"] == "line");
        lines.map(|line| line["parts"][0][0].as_str().unwrap().to_owned()).collect()
    };
    let (mut store, opened) = place.open();
    assert!(kept(&opened).is_empty());
    store.append(NOON, vec![event(1)], (0..50).map(|at| line(at % 3, at)).collect()).unwrap();
    drop((store, opened));
    let (mut store, opened) = place.open();
    assert_eq!(kept(&opened), ["48", "49", "47"]);
    store.append(NOON, vec![event(2)], vec![checkpoint(2), line(1, 90), line(1, 91)]).unwrap();
    drop((store, opened));
    assert_eq!(kept(&place.open().1), ["91"]);
}

#[test]
fn a_line_that_is_no_text_is_refused_by_a_start_and_shown_as_far_as_it_goes() {
    let place = filled();
    let name = "events-2026-03-02.jsonl";
    let mut stored = place.read(name);
    let at = stored.windows(9).position(|part| part == b"\"seq\":4,\"").unwrap() + 10;
    stored[at] = 0xff;
    std::fs::write(place.file(name), &stored).unwrap();
    let lines: Vec<ChainedLine> = read_days(&place.dir, None).unwrap().map(Result::unwrap).collect();
    assert_eq!(
        lines.iter().map(|line| line.before.leads_to(&line.text)).collect::<Vec<_>>(),
        [true, true, true, false, true]
    );
    let text = &lines[3].text;
    assert!(text.starts_with("{\"seq\":4,") && text.ends_with('\u{fffd}'), "{text}");
    assert!(matches!(place.refusal(), OpenError::Damaged(_)), "a start");
    // What is asked for as text goes on behind it.
    let lines: Vec<_> = read_events(&place.dir, 3).unwrap().collect();
    let fault = |line: &Result<String, OpenError>| match line {
        Err(OpenError::Damaged(damage)) => Some((damage.file.clone(), damage.line, damage.byte)),
        line => line.as_ref().map(|_| None).unwrap(),
    };
    let byte = u64::try_from(at - 11).unwrap();
    let number = u64::try_from(stored[..at].iter().filter(|byte| **byte == b'\n').count()).unwrap() + 1;
    assert_eq!(lines.iter().find_map(fault), Some((place.file(name), number, byte)));
    let behind = lines.last().unwrap().as_ref().unwrap();
    assert!(behind.starts_with("{\"seq\":5,") && fault(&lines[0]).is_some() == (lines.len() == 2), "{lines:?}");
}
