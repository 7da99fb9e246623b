//! A guard whose journal or home was moved away under it: nothing takes its place by halves.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::full_disk::Disk;
use crate::stand::{Mode, Stand, run_with};
use crate::watched::{hold_covered, until_flat};

fn said(stand: &Stand, args: &[&str]) -> (Option<i32>, String) {
    let done = run_with(&stand.home(), args, "");
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

/// A second guard beside the first would take its socket, and leave what it held to nobody.
#[test]
fn no_second_guard_begins_on_a_home_whose_journal_was_moved() {
    let stand = Stand::up(Mode::Testnet, "");
    hold_covered(&stand, "ETH", "0.4");
    let (journals, away) = (stand.home().join("journals"), stand.home().join("away"));
    fs::rename(&journals, &away).unwrap();
    let runs = format!("a guard runs on {} already, whose home or journal was moved since", stand.home().display());
    for args in [
        &["run", "--network", "testnet", "--listen", "127.0.0.1:0"][..],
        &["journal-init", "--mode", "testnet", "--note", "x"],
    ] {
        let (code, told) = said(&stand, args);
        assert!(code == Some(2) && told.contains(&runs) && told.contains("`kill "), "{args:?}: {told}");
    }
    assert!(!journals.exists(), "nothing was begun");
    // Its address stands in what was moved: it is killed by the file all the same.
    let (code, told) = said(&stand, &["kill", "--reason", "enough"]);
    assert_eq!(code, Some(0), "{told}");
    until_flat(&stand);
}

/// Nor is a new home set up at the path that it watches.
#[test]
fn no_home_is_set_up_where_one_was_moved_away_under_its_guard() {
    let stand = Stand::up(Mode::Testnet, "");
    let (old, new) = (stand.home(), stand.home().with_file_name("moved"));
    fs::rename(&old, &new).unwrap();
    fs::create_dir(&old).unwrap();
    let account = format!("0x{}", "22".repeat(20));
    let init = ["init", "--non-interactive", "--rules", "@/dev/null", "--account", &account];
    let refused = || {
        let done = run_with(&old, &init, "");
        let told = String::from_utf8(done.stderr).unwrap();
        (done.status.code() == Some(2) && told.contains("a guard runs on")).then_some(told)
    };
    // It looks for such a folder now and then.
    crate::stand::until("the guard to watch that folder too", || {
        if old.join("kill.watched").exists() { refused() } else { None }
    });
    assert!(!old.join("guard.toml").exists());
    // A kill at either place is one of the same guard.
    let done = run_with(&old, &["kill", "--reason", "enough"], "");
    let told = String::from_utf8(done.stdout).unwrap();
    assert!(told.contains("is pulled: enough") && !told.contains("NOT killed"), "{told}");
}

/// A guard's mark on a disk of its own, with what the disk is to hold until it goes.
fn on_a_small_disk() -> Option<(Stand, Disk)> {
    let mut disk = None;
    let stand = Stand::set_up_on(Mode::Testnet, "", |home| disk = Disk::under(home));
    Some((stand, disk?))
}

/// Puts a file with this number of its disk in the place of a home's mark.
fn mark_with(number: u64, home: &Path) {
    for place in 0..2_000 {
        let file = home.join(format!("filler-{place}"));
        fs::write(&file, "").unwrap();
        if fs::metadata(&file).unwrap().ino() == number {
            return fs::rename(file, home.join("kill.watched")).unwrap();
        }
    }
    panic!("no file of {} gets the number {number}", home.display());
}

/// Files of two disks bear the same number: the one guard is no other one's.
#[test]
fn a_guard_of_another_disk_keeps_none_from_starting() {
    let (Some((mut other, _disk)), Some((mut stand, _small))) = (on_a_small_disk(), on_a_small_disk()) else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    for place in 0..200 {
        fs::write(other.home().join(format!("filler-{place}")), "").unwrap();
    }
    other.start();
    mark_with(fs::metadata(other.home().join("kill.watched")).unwrap().ino(), &stand.home());
    stand.start();
    assert_eq!(stand.get("/healthz").status, 200);
}
