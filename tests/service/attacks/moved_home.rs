//! The kill switch is the folder that the guard started in, wherever that is moved to; where it is gone, it is told.

use std::fs;

use crate::full_disk::Disk;
use crate::stand::{Mode, Stand, command, run_with, until};
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

/// Nothing at the path says where the guard is any more, and it answers still.
#[test]
fn a_kill_at_a_path_that_is_gone_names_the_way_to_the_guard_that_runs() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    let home = stand.home();
    fs::rename(&home, home.with_file_name("moved")).unwrap();
    until("the alert", || has_alert(&stand).then_some(()));
    let asked = |args: &[&str]| {
        let done = command(&home, args).env("SVC_GUARD_LISTEN", stand.address().to_string()).output().unwrap();
        (done.status.code(), String::from_utf8(done.stderr).unwrap())
    };
    let (code, told) = asked(&["kill", "--reason", "enough"]);
    let home_word = home.display().to_string();
    let way = format!("`mkdir -p {home_word} && svc-guard --home {home_word} kill --reason enough` kills it");
    assert!(code == Some(2) && told.contains(&way) && told.contains("POST /guard/kill"), "{told}");
    assert!(!told.contains(" init"), "{told}");
    let (code, told) = asked(&["health"]);
    assert!(code == Some(1) && told.contains("is gone") && !told.contains(" init"), "{told}");
    fs::create_dir(&home).unwrap();
    assert_eq!(asked(&["kill", "--reason", "enough"]).0, Some(0));
    until_flat(&stand);
}

/// Whoever starts an agent's server is told of the home whose guard answers there.
#[test]
fn a_server_of_agents_names_the_home_of_its_guard() {
    let stand = Stand::up(Mode::Paper, WIDE);
    let other = tempfile::tempdir().unwrap();
    let url = format!("http://{}", stand.address());
    let done = run_with(other.path(), &["mcp", "--guard-url", &url], "");
    let told = String::from_utf8(done.stderr).unwrap();
    let command = format!("`svc-guard --home {} client add --out FILE`", stand.home().display());
    assert!(done.status.code() == Some(2) && told.contains(&command), "{told}");
}
