//! Refused messages, a state that cannot be read and a program that hangs: nothing is lost without a word, nothing is left behind.

use std::fs;

use nix::sys::signal::kill;
use nix::unistd::Pid;
use serde_json::{Value, json};

use super::hook::{Hook, Manner, Sent};
use super::notifier::Notifier;
use crate::stand::{Mode, Stand, until};

/// A target says that a message is wrong, as for a chat that it does not know; later it takes what it is sent.
#[test]
fn what_a_target_refuses_arrives_when_it_takes_messages_again() {
    let stand = Stand::up(Mode::Paper, "");
    let hook = Hook::new();
    hook.manner(Manner::Status(400));
    let mut notifier = Notifier::telling(&hook.url(), "codes = [\"kill\", \"service_stopped\", \"left_out\"]\n");
    notifier.start(&stand);
    stand.pull("enough");
    until("the switch to be refused for good", || {
        notifier.log().contains("refuses it: CRITICAL: Kill switch pulled").then_some(())
    });
    // Over a restart of the notifier too.
    assert_eq!(notifier.stop(), Some(0));
    let refused = hook.sent().len();
    hook.manner(Manner::Status(200));
    notifier.start(&stand);
    let whole = |sent: &Value| sent["code"] == "kill" && sent["happened"] == "Reason: enough";
    let told = until("the whole of it", || hook.sent().iter().skip(refused).map(Sent::json).find(whole));
    assert_eq!((&told["title"], &told["severity"]), (&json!("Late: Kill switch pulled"), &json!("critical")));
    assert!(!hook.codes().contains(&"left_out".to_owned()), "nothing was left out: {:?}", hook.codes());
    assert_eq!(notifier.stop(), Some(0));
}

/// A state that nobody can read is put aside, and whoever is told hears that something may be missing.
#[test]
fn a_state_that_cannot_be_read_is_told() {
    let stand = Stand::up(Mode::Paper, "");
    for spoilt in [&b"\xff\xfe\x00"[..], b"{\"schema\":1,", b"{\"schema\":2}", b"{\"schema\":1}"] {
        let hook = Hook::new();
        let mut notifier = Notifier::telling(&hook.url(), "");
        fs::create_dir(notifier.path("state")).unwrap();
        fs::write(notifier.path("state").join("state.json"), spoilt).unwrap();
        notifier.start_at(&stand.home(), &format!("http://{}", stand.address()));
        let told = hook.hears("state_unread");
        assert_eq!(told["severity"], "warning");
        let aside = notifier.path("state").join("state.unread.json");
        assert!(told["happened"].as_str().unwrap().contains(&aside.display().to_string()), "{told}");
        assert_eq!(fs::read(&aside).unwrap(), spoilt);
        assert!(notifier.log().contains("state cannot be read"), "{}", notifier.log());
        assert_eq!(notifier.stop(), Some(0));
    }
}

/// A program that runs when the notifier ends is ended with it, and so is what it started.
#[test]
fn no_program_outlives_the_notifier() {
    let stand = Stand::up(Mode::Paper, "");
    let mut notifier = Notifier::set_up("");
    let pids = notifier.path("pids");
    let script = format!("sleep 1000 & echo $$ $! > {0}.new; mv {0}.new {0}; wait", pids.display());
    notifier.config(&format!("[[target]]\nname = 'run'\nform = 'command'\nrun = ['sh', '-c', {script:?}]\n"));
    notifier.start(&stand);
    stand.pull("enough");
    let started = until("the program", || fs::read_to_string(&pids).ok());
    assert_eq!(notifier.stop(), Some(0));
    for pid in started.split_whitespace() {
        let pid = Pid::from_raw(pid.parse().unwrap());
        until("the program's end", || {
            // One that has ended and that nobody has asked for is as good as gone.
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            (stat.is_empty() || stat.contains(") Z ") || kill(pid, None).is_err()).then_some(())
        });
    }
}
