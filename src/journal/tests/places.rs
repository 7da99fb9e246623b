//! A journal whose folder, files or lock are moved, replaced or removed while it is written: it goes on beside them, says so
//! until they are back, and no start goes on from where an older copy ends.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::fcntl::{Flock, FlockArg};

use super::start::damage_of;
use super::*;
use crate::journal::in_place::is_in_place;

const EVENTS: &str = "events-2026-03-01.jsonl";

/// Gives a store the second that it looks around in.
fn look(store: &mut Store) -> Condition {
    store.look_at_places();
    store.health().condition()
}

/// A journal of two events and their records, the files as they were after the first, and the store.
fn begun(place: &Place) -> (Store, Vec<(&'static str, Vec<u8>)>) {
    let (mut store, _) = place.open();
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    let older = ["risk.jsonl", EVENTS, "tail.redo"].map(|name| (name, place.read(name)));
    store.append(NOON, vec![event(2)], vec![record(2)]).unwrap();
    (store, older.into())
}

/// Puts other bytes in a file's place by a rename.
fn put(place: &Place, name: &str, bytes: &[u8]) {
    fs::write(place.file("beside"), bytes).unwrap();
    fs::rename(place.file("beside"), place.file(name)).unwrap();
}

#[test]
fn older_copies_are_not_written_on() {
    for names in [&["risk.jsonl"][..], &[EVENTS], &["risk.jsonl", EVENTS, "tail.redo"]] {
        let place = Place::new();
        let (mut store, older) = begun(&place);
        older.iter().filter(|(name, _)| names.contains(name)).for_each(|(name, bytes)| put(&place, name, bytes));
        store.append(NOON, vec![event(3)], vec![record(3)]).unwrap();
        assert_eq!(store.health().condition(), Condition::Degraded, "{names:?}");
        let told = store.health().error().unwrap();
        assert!(
            told.contains(names[names.len().min(2) - 1].split('.').next().unwrap()) && told.contains("put it back"),
            "{told}"
        );
        drop(store);
        assert!(matches!(damage_of(&place).what, What::Short { .. }), "{names:?}");
    }
}

/// One line or one byte decides.
#[test]
fn a_copy_with_every_line_is_as_good_as_the_file() {
    let place = Place::new();
    let (mut store, _) = begun(&place);
    let whole = place.read(EVENTS);
    put(&place, EVENTS, &whole[..whole.len() - 1]);
    assert_eq!(look(&mut store), Condition::Degraded);
    put(&place, EVENTS, &whole);
    assert_eq!(look(&mut store), Condition::Good);
    store.append(NOON, vec![event(3)], vec![]).unwrap();
    // What somebody wrote behind the end is no part of it.
    let mut more = place.read("events-2026-03-01.1.jsonl");
    more.extend_from_slice(b"{\"seq\":9}\n");
    fs::write(place.file("events-2026-03-01.1.jsonl"), more).unwrap();
    store.append(NOON, vec![event(4)], vec![]).unwrap();
    assert_eq!(store.health().condition(), Condition::Good);
    drop(store);
    assert_eq!(seqs(&place.open().1), [1, 2, 3, 4]);
}

#[test]
fn files_set_aside_are_asked_for_until_they_are_back() {
    let place = Place::new();
    let (mut store, _) = begun(&place);
    for name in ["risk.jsonl", EVENTS] {
        fs::rename(place.file(name), place.file(&format!("{name}.aside"))).unwrap();
    }
    store.append(NOON, vec![event(3)], vec![record(3)]).unwrap();
    for (name, after) in [("risk.jsonl", Condition::Degraded), (EVENTS, Condition::Good)] {
        fs::rename(place.file(&format!("{name}.aside")), place.file(name)).unwrap();
        assert_eq!(look(&mut store), after);
    }
    drop(store);
    let opened = place.open().1;
    assert_eq!((seqs(&opened), numbers(&opened.risk)), (vec![1, 2, 3], vec![0, 1, 2, 3]));
}

#[test]
fn a_folder_that_was_moved_is_written_on_until_it_is_back() {
    let place = Place::new();
    let (mut store, _) = begun(&place);
    let moved = place.dir.with_file_name("moved");
    fs::rename(&place.dir, &moved).unwrap();
    store.append(NOON, vec![event(3)], vec![record(3)]).unwrap();
    assert_eq!(store.health().condition(), Condition::Degraded);
    fs::create_dir(&place.dir).unwrap();
    assert_eq!(look(&mut store), Condition::Degraded, "another folder");
    fs::remove_dir(&place.dir).unwrap();
    fs::rename(&moved, &place.dir).unwrap();
    assert_eq!(look(&mut store), Condition::Good);
    drop(store);
    assert_eq!(seqs(&place.open().1), [1, 2, 3]);
}

#[test]
fn the_fallback_takes_over_from_a_folder_that_is_gone() {
    let place = Place::new();
    let options = Options { fallback: Some(place.spare.clone()), ..Options::default() };
    let (mut store, _) = open(&place.dir, &options).unwrap();
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    let older = place.dir.with_file_name("older");
    copy_folder(&place.dir, &older);
    store.append(NOON, vec![event(2)], vec![record(2)]).unwrap();
    let moved = place.dir.with_file_name("moved");
    fs::rename(&place.dir, &moved).unwrap();
    fs::rename(&older, &place.dir).unwrap();
    store.append(NOON, vec![event(3)], vec![record(3)]).unwrap();
    assert_eq!(store.health().condition(), Condition::Degraded);
    assert!(store.health().error().unwrap().contains("fallback"));
    drop(store);
    let refused = open(&place.dir, &options).map(|_| ());
    assert!(matches!(refused, Err(OpenError::Damaged(damage)) if matches!(damage.what, What::Short { .. })));
    fs::remove_dir_all(&place.dir).unwrap();
    fs::rename(&moved, &place.dir).unwrap();
    assert_eq!(seqs(&open(&place.dir, &options).unwrap().1), [1, 2, 3]);
}

#[test]
fn a_removed_lock_is_taken_anew_and_one_that_is_taken_ends_the_writing() {
    let place = Place::new();
    let (mut store, _) = begun(&place);
    fs::remove_file(place.file("lock")).unwrap();
    assert_eq!(look(&mut store), Condition::Good);
    assert!(matches!(place.refusal(), OpenError::Locked { .. }));

    fs::remove_file(place.file("lock")).unwrap();
    let (other, _) = place.open();
    assert_eq!(look(&mut store), Condition::Failing);
    store.append(NOON, vec![event(3)], vec![]).unwrap_err();
    assert_eq!(store.health().condition(), Condition::Failing);
    assert!(store.health().error().unwrap().contains("another running service"));
    drop((store, other));
    assert_eq!(seqs(&place.open().1), [1, 2], "two services do not write on from one place");
}

/// Whoever sees the new lock finds it held.
#[test]
fn a_lock_that_is_taken_anew_is_never_there_for_another_to_take() {
    let place = Place::new();
    let (mut store, _) = begun(&place);
    let (file, is_over) = (place.file("lock"), AtomicBool::new(false));
    let (is_lost, taken) = std::thread::scope(|scope| {
        let rival = scope.spawn(|| {
            let mut taken = 0;
            while !is_over.load(Ordering::Acquire) {
                let Ok(lock) = fs::File::open(&file) else { continue };
                // One that was removed meanwhile is nobody's lock.
                let held = Flock::lock(lock, FlockArg::LockExclusiveNonblock);
                taken += u32::from(held.is_ok_and(|held| is_in_place(&file, &held)));
            }
            taken
        });
        let is_lost = (0..300).any(|_| fs::remove_file(&file).is_err() || look(&mut store) != Condition::Good);
        is_over.store(true, Ordering::Release);
        (is_lost, rival.join().unwrap())
    });
    assert_eq!((is_lost, taken), (false, 0));
}

#[test]
fn nothing_that_others_can_write_is_taken_at_a_start() {
    let place = Place::new();
    drop(begun(&place).0);
    let mode = |path: &Path, bits: u32| fs::set_permissions(path, fs::Permissions::from_mode(bits)).unwrap();
    for (name, own, open) in [
        ("..", 0o755, 0o777),
        (".", 0o755, 0o757),
        (".", 0o755, 0o775),
        ("risk.jsonl", 0o644, 0o646),
        (EVENTS, 0o644, 0o664),
    ] {
        let path = match name {
            ".." => place.dir.parent().unwrap().to_owned(),
            "." => place.dir.clone(),
            name => place.file(name),
        };
        mode(&path, open);
        let refusal = place.refusal();
        assert!(refusal.to_string().contains(&format!("chmod go-w {}", path.display())), "{refusal}");
        mode(&path, own);
        place.open();
    }
    // As in /tmp, where each takes away only what is its own.
    mode(place.dir.parent().unwrap(), 0o1777);
    place.open();
}

/// By a word outside the folder, which a new journal, a day moved away and a word that is torn do not contradict.
#[test]
fn an_older_copy_of_it_all_is_refused() {
    let place = Place::new();
    let witness = place.dir.with_file_name("end");
    let options = Options { witness: Some(witness.clone()), ..Options::default() };
    let begin = || open(&place.dir, &options);
    let (mut store, _) = begin().unwrap();
    store.append(NOON, vec![event(1)], vec![record(1)]).unwrap();
    drop(store);
    let older = place.dir.with_file_name("older");
    copy_folder(&place.dir, &older);
    let (mut store, _) = begin().unwrap();
    store.append(NOON, vec![event(2)], vec![record(2)]).unwrap();
    drop(store);
    let newer = place.dir.with_file_name("newer");
    fs::rename(&place.dir, &newer).unwrap();
    copy_folder(&older, &place.dir);
    let refusal = begin().map(|_| ()).unwrap_err();
    let said = refusal.to_string();
    assert!(matches!(refusal, OpenError::OlderCopy { .. }) && said.contains("older copy"), "{said}");
    assert!(said.contains(&format!("remove {}", witness.display())), "{said}");

    // The way out that it names, and one that is torn.
    let whole = fs::read(&witness).unwrap();
    for torn in [None, Some(&whole[..whole.len() - 1])] {
        fs::remove_file(&witness).unwrap();
        torn.iter().for_each(|torn| fs::write(&witness, torn).unwrap());
        begin().unwrap();
        fs::write(&witness, &whole).unwrap();
        assert!(begin().is_err());
    }
    // The newer one, and a new one in its place.
    fs::remove_dir_all(&place.dir).unwrap();
    fs::rename(&newer, &place.dir).unwrap();
    assert_eq!(seqs(&begin().unwrap().1), [1, 2]);
    // One of before the first event is as old as any; where it is a new one whoever began it has said so.
    let anew = |witness: Option<&Path>| {
        fs::remove_dir_all(&place.dir).unwrap();
        create_risk(&place.dir, &json!({"kind": "init", "n": 0}).to_string(), witness).unwrap();
        begin()
    };
    assert!(matches!(anew(None), Err(OpenError::OlderCopy { .. })));
    anew(Some(&witness)).unwrap();
    assert!(!witness.exists());
}
