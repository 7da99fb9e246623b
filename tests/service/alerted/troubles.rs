//! Targets that hang, fail, redirect, flood and close; a disk that takes no state: nothing is lost and nobody waits for another.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use serde_json::json;

use super::hook::{Hook, Manner};
use super::notifier::{Notifier, start_on};
use crate::stand::{Mode, Stand, until};

/// Pulls the switch by the file, as anybody may.
#[test]
fn one_target_that_hangs_holds_up_no_other_and_each_gets_all_in_the_end() {
    let stand = Stand::up(Mode::Paper, "");
    let [good, hangs, fails, closes, limited, floods, elsewhere, breaks_off] = std::array::from_fn(|_| Hook::new());
    let bad = [
        (&hangs, Manner::Hang),
        (&fails, Manner::Status(500)),
        (&closes, Manner::Close),
        (&limited, Manner::Limited),
        (&floods, Manner::Flood),
        (&elsewhere, Manner::Redirect),
        (&breaks_off, Manner::BreakOff),
    ];
    bad.iter().for_each(|(hook, manner)| hook.manner(*manner));
    let targets = [&good, &hangs, &fails, &closes, &limited, &floods, &elsewhere, &breaks_off];
    let config: Vec<String> = targets
        .iter()
        .enumerate()
        .map(|(number, hook)| {
            format!(
                "[[target]]\nname = \"t{number}\"\nform = \"json\"\nurl = \"{}\"\nkinds = [\"kill\", \"flatten\"]\n",
                hook.url()
            )
        })
        .collect();
    let mut notifier = Notifier::set_up(&config.concat());
    notifier.start(&stand);
    stand.pull("<b>enough</b> & more");
    let told = good.hears("kill");
    assert_eq!((&told["severity"], &told["happened"]), (&json!("critical"), &json!("Reason: <b>enough</b> & more")));
    assert!(told["todo"].as_str().unwrap().contains(&format!("rm {}", stand.home().join("kill").display())), "{told}");
    for (hook, _) in bad {
        until("a try", || (!hook.sent().is_empty()).then_some(()));
        hook.manner(Manner::Status(204));
    }
    // The one that hangs gives its connection up by its own time-out; the others are tried again within seconds.
    for (hook, _) in &bad[1..] {
        let wanted = ["kill", "flatten"].map(str::to_owned);
        until("all of it, in order", || {
            let mut codes = hook.codes();
            codes.dedup();
            (codes == wanted).then_some(())
        });
    }
    assert_eq!(good.codes(), ["kill", "flatten"]);
    let log = notifier.log();
    assert!(
        log.contains("t2 was not told, and is tried again: http://")
            && log.contains("told t0: CRITICAL: Kill switch pulled"),
        "{log}"
    );
    assert!(!log.contains("secret-path"), "{log}");
    let stamped = |line: &str| line.starts_with("20") && line.contains("Z svc-guard notify: ");
    assert!(log.lines().all(stamped), "{log}");
    assert_eq!(notifier.stop(), Some(0));
}

#[test]
fn a_state_that_cannot_be_written_is_told_and_holds_nothing_up() {
    let stand = Stand::up(Mode::Paper, "");
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    // Nothing can be written there: its folder is gone, as on a disk that is.
    fs::rename(notifier.path("state"), notifier.path("away")).unwrap();
    stand.pull("enough");
    hook.hears("kill");
    let told = hook.hears("state_not_kept");
    assert_eq!(told["turn"], "begins");
    fs::rename(notifier.path("away"), notifier.path("state")).unwrap();
    until("its end", || {
        hook.sent()
            .iter()
            .any(|sent| sent.json()["code"] == "state_not_kept" && sent.json()["turn"] == "over")
            .then_some(())
    });
    assert_eq!(notifier.stop(), Some(0));
    notifier.start(&stand);
    std::thread::sleep(Duration::from_secs(2));
    let told: Vec<String> =
        hook.sent().iter().map(|sent| format!("{} {}", sent.json()["code"], sent.json()["turn"])).collect();
    let once: std::collections::BTreeSet<&String> = told.iter().collect();
    assert_eq!(once.len(), told.len(), "nothing is told twice where the state was kept: {told:?}");
}

#[test]
fn two_notifiers_do_not_share_a_state() {
    let stand = Stand::up(Mode::Paper, "");
    let hook = Hook::new();
    let mut notifier = Notifier::telling(&hook.url(), "");
    notifier.start(&stand);
    let mut second =
        crate::stand::command(&stand.home(), &["notify", "--guard-url", &format!("http://{}", stand.address())]);
    let done = second
        .arg("--file")
        .arg(notifier.path("notify.toml"))
        .arg("--state")
        .arg(notifier.path("state"))
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert!(String::from_utf8(done.stderr).unwrap().contains("another notifier keeps its state"));
}

/// More events than the guard keeps in memory come while the notifier is away: the journal has them.
#[test]
fn what_is_gone_from_memory_is_read_from_the_journal() {
    let mut stand = Stand::up(Mode::Paper, "orders_per_minute = 1200\n");
    let port = stand.address().port();
    let hook = Hook::new();
    let more = "kinds = [\"decision\", \"started\", \"stopped\", \"notifier\"]\ncooldown = { default = \"0s\" }\n";
    let mut notifier = Notifier::telling(&hook.url(), more);
    notifier.start(&stand);
    assert_eq!(notifier.stop(), Some(0));
    // What nobody signed is refused at a few bytes each.
    let begun = Instant::now();
    let first = stand.status()["last_event"]["seq"].as_u64().unwrap();
    let mut connection = stand.connect();
    while stand.status()["last_event"]["seq"].as_u64().unwrap() < first + 1_050 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", stand.status()["last_event"]);
        for _ in 0..50 {
            let action = json!({"type": "order", "orders": [{"a": 4, "b": true, "p": "59800.123", "s": "0.01", "r": false, "t": {"limit": {"tif": "Gtc"}}}], "grouping": "na"});
            let body = crate::signing::signed(&stand.client, &action);
            connection.post("/exchange", &body.to_string()).unwrap();
        }
    }
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    start_on(&mut stand, port);
    let oldest = stand.get("/guard/events?since=0&limit=1").json()["oldest"].as_u64().unwrap();
    assert!(oldest > first + 1, "the test needs events that are gone: {oldest}");
    let vetoes = stand
        .on_disk()
        .iter()
        .filter(|event| event["kind"] == "decision" && event["seq"].as_u64().unwrap() > first)
        .count();
    notifier.start_at(&stand.home(), &format!("http://127.0.0.1:{port}"));
    hook.hears("started");
    let codes = hook.codes();
    assert!(!codes.contains(&"missed".to_owned()), "{codes:?}");
    let told = codes.iter().filter(|code| *code == "price_invalid").count();
    assert!(vetoes > 1_000 && told == vetoes, "{told} of {vetoes}");
}
