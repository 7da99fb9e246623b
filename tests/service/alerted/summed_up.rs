//! The daily summary of the real notifier: it comes whatever the guard can tell of the day, and says what is not known.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::base::clock::now_ms;
use svc_guard::base::day::day_of;

use super::hook::Hook;
use super::notifier::Notifier;
use crate::stand::{Mode, Stand, until};

/// Has the state of a notifier that is not running say that the last summary was told a day ago.
fn a_day_later(notifier: &Notifier) {
    let path = notifier.path("state").join("state.json");
    let mut state: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let round = state["watch"]["summary_round"].as_u64().unwrap();
    state["watch"]["summary_round"] = json!(round - 1);
    state["watch"]["summary_to"] = Value::Null;
    fs::write(&path, state.to_string()).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
}

/// The day before the guard was there has no figures, and no 0 in their place. A guard that is gone keeps no summary back.
#[test]
fn a_summary_comes_without_what_nobody_recorded_and_without_a_guard() {
    let stand = Stand::up(Mode::Testnet, "");
    let hook = Hook::new();
    let top = "summary = \"00:00\"\n";
    let target =
        format!("[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{}\"\nkinds = [\"summary\"]\n", hook.url());
    let mut notifier = Notifier::set_up(&format!("{top}{target}"));
    notifier.start(&stand);
    until("its round", || notifier.state().contains("\"summary_round\":").then_some(()));
    assert_eq!(notifier.stop(), Some(0));
    let yesterday = day_of(now_ms()).preceding().to_string();

    a_day_later(&notifier);
    notifier.start(&stand);
    let told = hook.hears("summary")["happened"].as_str().unwrap().to_owned();
    let lacking = "Not recorded: net, fees, funding, volume, fills, stops fired, halts, decisions vetoed, because";
    assert!(told.contains(&format!("{yesterday} (UTC): {lacking} the guard wrote nothing then")), "{told}");
    assert_eq!(notifier.stop(), Some(0));

    let url = format!("http://{}", stand.address());
    stand.signal(Signal::SIGSTOP);
    a_day_later(&notifier);
    notifier.start_at(&stand.home(), &url);
    let told = until("another one", || hook.sent().get(1).map(|sent| sent.json()["happened"].clone()));
    let told = told.as_str().unwrap();
    assert!(
        told.contains("is not told, because the guard does not answer. The next summary tells it; `svc-guard"),
        "{told}"
    );
    assert!(
        told.contains(&format!(" report --mode testnet --from {yesterday} --to {yesterday}` tells it now.")),
        "{told}"
    );
    stand.signal(Signal::SIGCONT);
    assert_eq!(notifier.stop(), Some(0));
}
