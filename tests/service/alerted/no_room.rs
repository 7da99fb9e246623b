//! A disk without one byte left for the notifier's state: what happens meanwhile is told, over its deaths too.

use std::fs;
use std::process::Command;

use super::deaths::{heard, refuse};
use super::hook::{Hook, Manner};
use super::notifier::Notifier;
use crate::full_disk::Disk;
use crate::stand::{Mode, Stand, until};

/// Room for a state of some pages.
const MIB: u32 = 1;

#[test]
fn all_of_it_arrives_after_a_disk_was_full() {
    let stand = Stand::up(Mode::Paper, "orders_per_minute = 1200\nduplicate_window = \"0\"\n");
    let guard = format!("http://{}", stand.address());
    let hook = Hook::new();
    let more = "kinds = [\"decision\", \"notifier\"]\ncooldown = { default = \"0s\" }\n";
    let mut notifier = Notifier::telling(&hook.url(), more);
    let state = notifier.path("state");
    fs::create_dir(&state).unwrap();
    let Some(disk) = Disk::sized(&state, MIB) else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    notifier.start(&stand);
    refuse(&stand, 0);
    until("the first", || (heard(&hook) == [0]).then_some(()));

    // The target takes what its place cannot be kept behind.
    disk.fill();
    refuse(&stand, 1);
    hook.hears("state_not_kept");
    until("the second", || (heard(&hook) == [0, 1]).then_some(()));
    assert!(notifier.log().contains("the state cannot be written"), "{}", notifier.log());

    // Nor can what the target does not take.
    hook.manner(Manner::Status(500));
    let before = hook.sent().len();
    refuse(&stand, 2);
    until("a try in vain", || (hook.sent().len() > before).then_some(()));
    notifier.kill();
    refuse(&stand, 3);
    notifier.start_at(&stand.home(), &guard);
    let before = hook.sent().len();
    until("another try in vain", || (hook.sent().len() > before).then_some(()));
    refuse(&stand, 4);

    disk.free();
    hook.manner(Manner::Status(200));
    until("all of it, in order", || (heard(&hook) == [0, 1, 2, 3, 4]).then_some(()));
    until("a state that is kept", || notifier.log().contains("the state is written again").then_some(()));
    assert_eq!(notifier.stop(), Some(0));
    let mut left: Vec<String> =
        fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    left.sort();
    assert_eq!(left, ["lock", "state.json"], "nothing is left of what could not be written");
    let told = hook.sent().len();
    notifier.start_at(&stand.home(), &guard);
    refuse(&stand, 5);
    until("the next one", || (heard(&hook) == [0, 1, 2, 3, 4, 5]).then_some(()));
    assert_eq!(hook.sent().len(), told + 1, "what was told is on the disk again");
}

/// Who is refused by a disk that takes nothing now is started again until it does; who named a wrong folder is told so once.
#[test]
fn a_disk_that_takes_nothing_at_the_start_is_tried_again() {
    let stand = Stand::up(Mode::Paper, "");
    let guard = format!("http://{}", stand.address());
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    let state = notifier.path("state");
    fs::create_dir(&state).unwrap();
    let Some(_disk) = Disk::sized(&state, MIB) else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    let remount = |how: &str| {
        let done = Command::new("mount").args(["-o", &format!("remount,{how}")]).arg(&state).status();
        assert!(done.is_ok_and(|status| status.success()));
    };
    remount("ro");
    notifier.start_at(&stand.home(), &guard);
    assert_eq!(notifier.ended(), Some(1), "{}", notifier.log());
    remount("rw");
    notifier.start(&stand);
    stand.pull("enough");
    hook.hears("kill");
    let wrong = notifier.path("notify.toml").join("state");
    let mut wrong_one = crate::stand::command(&stand.home(), &["notify", "--guard-url", &guard]);
    let done = wrong_one.arg("--file").arg(notifier.path("notify.toml")).arg("--state").arg(wrong).output().unwrap();
    assert_eq!(done.status.code(), Some(2));
}
