//! Starts that are refused, and stops: what each says, and what it leaves on disk.

use std::fs::{self, File};
use std::process::{Command, Output};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::json;

use crate::signing::{ETH, closing, resting, signed};
use crate::stand::{ACCOUNT, Mode, Stand, WALLET, command, run_with, until};

/// What a refused start said; it must be exit status 2 and one line.
fn refused(output: &Output) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("svc-guard: ") && said.trim_end().lines().count() == 1, "{said}");
    said
}

#[test]
fn a_signal_stops_it_and_the_last_event_says_so() {
    let mut stand = Stand::up(Mode::Testnet, "");
    for (signal, name) in [(Signal::SIGTERM, "SIGTERM"), (Signal::SIGINT, "SIGINT")] {
        stand.send(&json!({"type": "noop"}));
        assert_eq!(stand.stop(signal), Some(0), "{}", stand.log());
        let last = stand.on_disk().pop().unwrap();
        assert_eq!((&last["kind"], &last["reason"]), (&json!("stopped"), &json!(name)));
        stand.start();
    }
}

/// An action on its way when the signal comes is waited for: its answer is on disk and with the client.
#[test]
fn a_stop_waits_for_what_is_on_its_way() {
    let mut stand = Stand::up(Mode::Testnet, "");
    stand.send(&json!({"type": "updateLeverage", "asset": 3, "isCross": true, "leverage": 5}));
    stand.venue.control(&json!({"op": "fault", "on": "order", "kind": "delay", "times": 1, "ms": 1_000})).unwrap();
    let mut connection = stand.connect();
    let body = signed(&stand.client, &resting()).to_string();
    let reply = std::thread::scope(|scope| {
        let asked = scope.spawn(|| connection.post("/exchange", &body).unwrap().json());
        until("the decision", || stand.events_of("decision").into_iter().find(|event| event["action"] == "order"));
        stand.signal(Signal::SIGTERM);
        asked.join().unwrap()
    });
    assert_eq!(reply["status"], "ok", "{reply}");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let on_disk = stand.on_disk();
    let seq = &reply["guard"]["seq"];
    let sent = on_disk.iter().find(|event| event["kind"] == "sent" && event["decision"] == *seq).unwrap();
    assert_eq!(sent["ok"], true);
    assert_eq!(on_disk[on_disk.len() - 1]["kind"], "stopped");
}

#[test]
fn a_second_service_on_a_home_is_refused_and_told_by_whom() {
    let mut stand = Stand::up(Mode::Paper, "");
    let before = stand.events();
    let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
    assert!(said.contains(&stand.pid().to_string()), "{said}");
    // What it told before stands; what it reads meanwhile may have added to it.
    assert_eq!(stand.events()[..before.len()], before[..], "the first goes on untouched");
    assert_eq!(stand.send(&json!({"type": "noop"}))["status"], "ok");
    // A lock dies with its holder.
    stand.kill();
    stand.start();
}

#[test]
fn a_damaged_journal_is_refused_by_file_line_and_byte() {
    let mut stand = Stand::up(Mode::Paper, "");
    for _ in 0..8 {
        stand.send(&json!({"type": "noop"}));
    }
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let file = stand.events_file();
    let good = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = good.split_inclusive('\n').collect();
    let start_of = |line: usize| lines[..line - 1].iter().map(|line| line.len()).sum::<usize>();
    let mut swapped = lines.clone();
    swapped.swap(4, 5);
    let edited = good.replacen("\"action\":\"noop\"", "\"action\":\"noob\"", 3);
    let first_edited = 1 + lines.iter().position(|line| line.contains("\"action\":\"noop\"")).unwrap();
    for (name, text, line) in [
        ("a word changed", edited, first_edited),
        ("two lines swapped", swapped.concat(), 5),
        ("a line twice", [&lines[..6], &lines[5..]].concat().concat(), 7),
    ] {
        fs::write(&file, &text).unwrap();
        let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
        let place = format!("{}, line {line}, byte {}", file.display(), start_of(line));
        assert!(said.contains(&place), "{name}: {place} is not in {said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), text, "{name}: nothing is repaired");
    }
    // A file that ends within the batch that was written last is refused where that batch begins.
    let last_word = 1 + lines.iter().rposition(|line| line.contains("\"kind\":\"balance\"")).unwrap();
    let text = [&good[..start_of(6) + 20], "\n", &lines[6..].concat()].concat();
    fs::write(&file, &text).unwrap();
    let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
    let place = format!("{}, line {last_word}, byte {}: these bytes are not", file.display(), start_of(last_word));
    assert!(text.len() > start_of(last_word) && said.contains(&place), "a line cut short: {place} is not in {said}");
    // One that ends before that batch is refused at its end.
    for (name, text) in [
        ("lines missing", [&lines[..3], &lines[8..]].concat().concat()),
        ("a line cut short and one missing", [&good[..start_of(6) + 20], "\n", &lines[7..].concat()].concat()),
        ("the last lines missing", lines[..lines.len() - 4].concat()),
    ] {
        fs::write(&file, &text).unwrap();
        let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
        let place = format!("{}, line {}, byte {}", file.display(), text.lines().count() + 1, text.len());
        assert!(said.contains(&place) && said.contains("lines are missing"), "{name}: {place} is not in {said}");
    }
    // A last line cut off, as by a power failure: the batch that stands beside it completes it, and without that nothing does.
    let redo = stand.journal().join("tail.redo");
    let batch = fs::read(&redo).unwrap();
    fs::remove_file(&redo).unwrap();
    let cut = &good[..good.len() - 9];
    fs::write(&file, cut).unwrap();
    let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
    let place = format!("{}, line {}, byte {}", file.display(), lines.len(), start_of(lines.len()));
    assert!(said.contains(&place) && said.contains("journal-init"), "{place} is not in {said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), cut, "nothing is repaired");
    fs::write(&redo, batch).unwrap();
    stand.start();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    assert!(fs::read_to_string(&file).unwrap().starts_with(&good), "completed");
    stand.start();
}

#[test]
fn the_risk_journal_is_held_to_its_chain_too() {
    let mut stand = Stand::up(Mode::Paper, "");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let file = stand.journal().join("risk.jsonl");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, good.replacen("set up", "get up", 1)).unwrap();
    let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
    assert!(said.contains(&format!("{}, line 1, byte 0", file.display())), "{said}");
    fs::write(&file, good).unwrap();
    stand.start();
}

/// Whom actions are for is known from the last life, so nothing has to be asked first.
#[test]
fn exits_pass_at_once_after_a_restart_with_the_venue_away() {
    let mut stand = Stand::up(Mode::Testnet, "");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.venue_gone();
    stand.launch();
    let reply = stand.send(&closing(ETH, "2000", "0.1"));
    assert_eq!((&reply["guard"]["verdict"], &reply["guard"]["code"]), (&json!("allow"), &json!("reduces")), "{reply}");
    assert!(reply["response"].as_str().unwrap().contains("the venue was not reached"), "{reply}");
    let reply = stand.send(&resting());
    assert_eq!(reply["guard"]["code"], "starting", "{reply}");
}

/// A journal brought over from another account would have its halts and its open intents believed.
#[test]
fn a_journal_of_another_account_is_refused() {
    let mut stand = Stand::up(Mode::Paper, "");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let other = tempfile::tempdir().unwrap();
    let account = "0x2222222222222222222222222222222222222222";
    fs::write(other.path().join("guard.toml"), format!("[venue]\nurl = \"{}\"\n", stand.venue.url())).unwrap();
    let rules = format!("@{}", stand.home().parent().unwrap().join("rules.toml").display());
    let args = ["init", "--non-interactive", "--account", account, "--rules", &rules, "--account-network", "testnet"];
    let done = run_with(other.path(), &args, "");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    let theirs = other.path().join("journals").join(format!("paper-{account}")).join("risk.jsonl");
    let file = stand.journal().join("risk.jsonl");
    let good = fs::read(&file).unwrap();
    fs::remove_file(stand.journal().join("tail.redo")).unwrap();
    fs::copy(theirs, &file).unwrap();
    let said = refused(&run_with(&stand.home(), &stand.run_args(), ""));
    let place = format!("{}, line 1, byte 0", file.display());
    assert!(said.contains(&place) && said.contains(account) && said.contains("journal-init"), "{said}");
    fs::write(&file, good).unwrap();
    stand.start();
}

/// Another config file beside the first one names the same journal.
#[test]
fn a_second_service_on_a_journal_is_refused() {
    let stand = Stand::up(Mode::Paper, "");
    let other = stand.home().join("other.toml");
    fs::copy(stand.home().join("guard.toml"), &other).unwrap();
    let args = ["--config", other.to_str().unwrap(), "run", "--listen", "127.0.0.1:0"];
    let said = refused(&run_with(&stand.home(), &args, ""));
    assert!(said.contains(&format!("stop it first: `kill {}` ends it in order", stand.pid())), "{said}");
    assert_eq!(stand.send(&json!({"type": "noop"}))["status"], "ok");
}

/// What makes the program fail for tests stands in builds for tests only.
#[test]
#[cfg(not(feature = "faults"))]
fn the_program_cannot_be_told_to_fail() {
    let program = fs::read(env!("CARGO_BIN_EXE_svc-guard")).unwrap();
    for text in ["svc-guard fault script", "faults.json"] {
        assert!(!program.windows(text.len()).any(|bytes| bytes == text.as_bytes()), "{text}");
    }
}

/// What a person reads of the rules is money; where the venue does not answer, the rules are told all the same.
#[test]
fn the_rules_are_priced_at_the_accounts_equity() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let explain = |stand: &Stand| {
        let done = run_with(&stand.home(), &["check-config", "--explain"], "");
        assert_eq!(done.status.code(), Some(0));
        String::from_utf8(done.stdout).unwrap()
    };
    let said = explain(&stand);
    assert!(said.contains("of the day's starting equity  = 500.00 USDC"), "{said}");
    assert!(said.contains("In USDC at the account's equity now, 10000.00 USDC"), "{said}");
    let done = run_with(&stand.home(), &["config", "set", "equity_cap", "1000"], "");
    assert_eq!(done.status.code(), Some(0));
    let said = explain(&stand);
    assert!(said.contains("= 50.00 USDC") && said.contains("taken of 1000 USDC, the equity cap"), "{said}");
    let done = run_with(&stand.home(), &["config", "set", "rules", "markets=btc,ETH"], "");
    assert_eq!(done.status.code(), Some(0));
    let said = explain(&stand);
    let warned: Vec<&str> = said.lines().filter(|line| line.starts_with("Warning: ")).collect();
    assert!(warned.len() == 1 && warned[0].contains("markets names btc, which is no core perp"), "{said}");
    assert!(warned[0].ends_with("it lists BTC"), "{said}");
    stand.venue_gone();
    let said = explain(&stand);
    assert!(said.contains("Not compared with the venue's markets: "), "{said}");
    assert!(
        said.contains("Not priced in USDC: ") && said.contains("is not reached") && !said.contains("= 50"),
        "{said}"
    );
}

/// A slip in small letters is an address as good as any other: that nobody has it is told.
#[test]
fn an_account_that_nobody_has_is_told_of() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let nobody = "0x1111111111111111111111111111111111111112";
    let way = "from a home of its own";
    for (account, what) in [
        (nobody, format!("the venue knows no account {nobody}")),
        (WALLET, format!("the account {WALLET} is an API wallet of {ACCOUNT}")),
    ] {
        let rules = format!("@{}", stand.home().with_file_name("rules.toml").display());
        let args = ["init", "--non-interactive", "--force", "--account", account, "--rules", &rules];
        let done = run_with(&stand.home(), &[&args[..], &["--account-network", "testnet"]].concat(), "");
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let done = run_with(&stand.home(), &["check-config", "--explain"], "");
        let said = String::from_utf8(done.stdout).unwrap();
        assert!(said.contains(&format!("Warning: {what}")) && said.contains(way), "{said}");

        stand.launch();
        let told = until("the alert", || {
            let alerts = stand.status()["alerts"].as_array().unwrap().clone();
            alerts.into_iter().find(|alert| alert["code"] == "account_unknown")
        });
        let text = told["text"].as_str().unwrap();
        assert!(text.starts_with(&what) && text.contains(way), "{text}");
        let ill = stand.get("/healthz");
        assert!(ill.status == 503 && ill.json()["problems"].to_string().contains(&what), "{ill:?}");
        until("its line in the log", || stand.log().contains(&what).then_some(()));
        stand.kill();
    }
}

/// What earlier starts spent of the minute's budget puts reads off that a start can do without: they wait, and nobody is told of
/// a trouble.
#[test]
fn starts_one_after_another_are_no_trouble() {
    let mut stand = Stand::up(Mode::Testnet, "");
    for _ in 0..3 {
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        stand.start();
        until("an account that is read", || stand.status()["equity"].as_str().map(str::to_owned));
    }
    // By now everything was asked for that a start asks for at once.
    std::thread::sleep(std::time::Duration::from_secs(2));
    let told: Vec<_> = stand.events_of("error").into_iter().map(|event| event["text"].to_string()).collect();
    assert!(!told.iter().any(|text| text.contains("budget for this address")), "{told:?}");
    assert!(!stand.log().contains("has no room for it"), "{}", stand.log());
}

/// Two homes of one account at one venue: the second guard is told of, and one whose other has ended is not.
#[test]
fn a_second_guard_of_an_account_is_warned_of() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let folder = stand.home().parent().unwrap().to_owned();
    let other = folder.join("other");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    assert!(Command::new("cp").arg("-a").arg(stand.home()).arg(&other).status().unwrap().success());
    for is_beside in [true, false] {
        if is_beside {
            stand.start();
        }
        let log = folder.join(format!("other-{is_beside}.log"));
        let mut second = command(&other, &["run", "--listen", "127.0.0.1:0", "--network", "testnet"]);
        let mut second = second.stderr(File::create(&log).unwrap()).spawn().unwrap();
        let said = until("the second service to listen", || {
            let said = fs::read_to_string(&log).unwrap();
            said.contains("listening on http://").then_some(said)
        });
        kill(Pid::from_raw(second.id().cast_signed()), Signal::SIGTERM).unwrap();
        second.wait().unwrap();
        assert_eq!(said.contains("two guards of one account work against each other"), is_beside, "{said}");
        if is_beside {
            assert!(!stand.log().contains("two guards"), "{}", stand.log());
            assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        }
    }
}

/// What is set up where another home's guard answers is given an address of its own, and the bot that one.
#[test]
fn a_set_up_at_the_address_of_another_guard_says_so() {
    let stand = Stand::up(Mode::Paper, "");
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("second");
    let listen = stand.address().to_string();
    let account = format!("0x{}", "22".repeat(20));
    let init = ["init", "--non-interactive", "--rules", "@/dev/null", "--account", &account, "--listen", &listen];
    let done = run_with(&home, &init, "");
    let said = String::from_utf8(done.stdout).unwrap();
    let (_, behind) = said.split_once("config set listen ").unwrap_or_else(|| panic!("{said}"));
    let (own, behind) = behind.split_once('`').unwrap();
    let whose =
        format!(" gives it an address of its own: the guard of {} listens on {listen}\n", stand.home().display());
    assert!(behind.starts_with(&whose), "{said}");
    assert!(own != listen && said.contains(&format!("give the bot http://{own} as its base URL")), "{said}");
}
