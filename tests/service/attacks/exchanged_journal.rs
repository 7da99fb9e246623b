//! A journal that is moved away, replaced by copies, or emptied under a running service: nothing is opened while what is
//! recorded may be lost, what closes goes on, and no start goes on from where an older copy ends.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::full_disk::journal_alert;
use crate::signing::{ETH, closing, limit, place, signed};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, covered, held, hold_covered};

/// The journal's own files, without the lock and what can be made again.
fn files(stand: &Stand) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = fs::read_dir(stand.journal()).unwrap().map(|entry| entry.unwrap().path());
    let is_part = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".jsonl") || name == "tail.redo"
    };
    paths.filter(is_part).map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Puts other files under these names, as an editor or a tool that brings copies back does.
fn put(files: &[(PathBuf, Vec<u8>)]) {
    for (path, bytes) in files {
        let beside = path.with_extension("copy");
        fs::write(&beside, bytes).unwrap();
        fs::rename(&beside, path).unwrap();
    }
}

fn entry() -> Value {
    place(&limit(ETH, true, "2490", "0.1"))
}

/// An entry is refused with what is wrong, health and alert tell of it, and what closes goes on.
fn only_closes(stand: &Stand, left: &str) -> String {
    until("the alert", || journal_alert(stand));
    let refused = stand.send(&entry());
    assert_eq!(refused["guard"]["code"], "journal_error", "{refused}");
    assert_eq!(stand.get("/healthz").status, 503);
    stand.send(&closing(ETH, "2400", "0.1"));
    assert_eq!(held(stand, "ETH").as_deref(), Some(left));
    covered(stand, "ETH", left);
    refused["guard"]["text"].as_str().unwrap().to_owned()
}

fn works(stand: &Stand) {
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    assert!(journal_alert(stand).is_none());
    let reply = stand.send(&entry());
    assert!(reply["response"]["data"]["statuses"][0].get("resting").is_some(), "{reply}");
}

fn refused_start(stand: &Stand) -> String {
    let output = run_with(&stand.home(), &stand.run_args(), crate::stand::WALLET_KEY);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    said
}

#[test]
fn older_copies_are_not_gone_on_from() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.5");
    let older = files(&stand);
    stand.send(&json!({"type": "noop"}));
    put(&older);
    only_closes(&stand, "0.4");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let said = refused_start(&stand);
    assert!(said.contains("lines are missing") && said.contains("bring the file back"), "{said}");
}

#[test]
fn files_that_are_put_back_make_it_whole() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.5");
    let aside = |path: &Path| path.with_extension("aside");
    let held_back: Vec<PathBuf> = files(&stand).into_iter().map(|(path, _)| path).collect();
    held_back.iter().for_each(|path| fs::rename(path, aside(path)).unwrap());
    let said = only_closes(&stand, "0.4");
    assert!(said.contains("put"), "{said}");
    held_back.iter().filter(|path| !path.ends_with("tail.redo")).for_each(|path| {
        fs::rename(aside(path), path).unwrap();
    });
    works(&stand);
    let body = signed(&stand.client, &entry());
    assert_eq!(stand.post("/exchange", &body).status, 200);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    let again = stand.post("/exchange", &body).json();
    assert_eq!(again["guard"]["code"], "nonce_reused", "{again}");
}

#[test]
fn emptied_files_are_told_of() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.5");
    files(&stand).iter().for_each(|(path, _)| fs::write(path, "").unwrap());
    only_closes(&stand, "0.4");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    refused_start(&stand);
}

#[test]
fn a_folder_that_was_moved_is_told_of_until_it_is_back() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.5");
    let (folder, moved) = (stand.journal(), stand.home().join("moved"));
    fs::rename(&folder, &moved).unwrap();
    let said = only_closes(&stand, "0.4");
    assert!(said.contains(folder.to_str().unwrap()), "{said}");
    fs::rename(&moved, &folder).unwrap();
    works(&stand);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
}

#[test]
fn an_older_copy_of_the_folder_is_not_gone_on_from() {
    let mut stand = Stand::up(Mode::Paper, "");
    let older = files(&stand);
    stand.send(&json!({"type": "noop"}));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let newer = files(&stand);
    put(&older);
    let said = refused_start(&stand);
    assert!(said.contains("older copy") && said.contains("Bring the newer one back"), "{said}");
    put(&newer);
    stand.start();
}

/// Nor from one of before the first event, which looks like a new one: the day's loss, the halt and the nonces were in the other.
#[test]
fn a_copy_of_before_the_first_event_is_not_gone_on_from() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let first = files(&stand);
    stand.start();
    stand.send(&json!({"type": "noop"}));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    fs::remove_dir_all(stand.journal()).unwrap();
    fs::create_dir(stand.journal()).unwrap();
    put(&first);
    let said = refused_start(&stand);
    assert!(said.contains("older copy") && said.contains("Bring the newer one back"), "{said}");
}

#[test]
fn a_removed_lock_lets_no_second_service_in() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let lock = stand.journal().join("lock");
    fs::remove_file(&lock).unwrap();
    until("the lock to be taken anew", || lock.exists().then_some(()));
    let said = refused_start(&stand);
    assert!(said.contains("locked by another running service"), "{said}");
    works(&stand);
}

#[test]
fn a_folder_or_file_that_others_can_write_is_refused_with_the_way_out() {
    use std::os::unix::fs::PermissionsExt;
    let mut stand = Stand::up(Mode::Paper, "");
    stand.send(&json!({"type": "noop"}));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let chmod = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let (folder, risk, events) = (stand.journal(), stand.journal().join("risk.jsonl"), stand.events_file());
    let above = folder.parent().unwrap().to_owned();
    let open_to_others =
        [(&above, 0o777, 0o755), (&folder, 0o777, 0o755), (&risk, 0o666, 0o644), (&events, 0o664, 0o644)];
    for (path, open, closed) in open_to_others {
        chmod(path, open);
        let said = refused_start(&stand);
        assert!(said.contains(&format!("chmod go-w {}", path.display())), "{said}");
        chmod(path, closed);
    }
    stand.start();
}
