//! The kill switch is the folder that the guard started in, wherever that is moved to; where it is gone, it is told.

use std::fs;

use crate::full_disk::Disk;
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, hold_covered, until_flat};

fn has_alert(stand: &Stand) -> bool {
    stand.status()["alerts"].as_array().unwrap().iter().any(|alert| alert["code"] == "home_gone")
}

#[test]
fn a_home_that_was_moved_still_kills_and_is_told_of() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    let moved = stand.home().with_file_name("moved");
    fs::rename(stand.home(), &moved).unwrap();
    until("the alert", || has_alert(&stand).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    let done = run_with(&moved, &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    until_flat(&stand);
    assert_eq!(stand.status()["killed"], "enough");
    fs::rename(&moved, stand.home()).unwrap();
    until("the alert to end", || (!has_alert(&stand)).then_some(()));
    until("good health", || (stand.get("/healthz").status == 200).then_some(()));
}

#[test]
fn a_kill_file_that_was_there_for_a_moment_has_killed() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    stand.pull("enough");
    fs::remove_file(stand.home().join("kill")).unwrap();
    until_flat(&stand);
}

/// The command says whether anybody heard it.
#[test]
fn a_kill_that_no_guard_reads_says_so() {
    let stand = Stand::set_up(Mode::Testnet, WIDE);
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    let said = String::from_utf8(done.stderr).unwrap();
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("no running guard reads"), "{said}");
    assert!(stand.home().join("kill").exists());
}

/// The path is there and empty, and the folder that was watched is on no path any more. Where mounting is not allowed,
/// `full_disk::a_small_disk_can_be_had` says so.
#[test]
fn a_home_whose_mount_went_away_is_told_of() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::under(home));
    let Some(disk) = disk else { return };
    stand.start();
    hold_covered(&stand, "ETH", "0.4");
    assert!(!has_alert(&stand));
    drop(disk);
    until("the alert", || has_alert(&stand).then_some(()));
    assert_eq!(stand.get("/healthz").status, 503);
    // Whoever puts a kill file where the home was is heard all the same, and told so.
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    until("the kill to be heard", || (stand.status()["killed"] == "enough").then_some(()));
    until_flat(&stand);
}
