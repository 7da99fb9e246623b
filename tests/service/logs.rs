//! The log: one line an event that matters, as much as was asked for, and what a service waits for.

use std::fs;
use std::net::{TcpListener, TcpStream};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::signing::{BTC, limit, place, resting};
use crate::stand::{Mode, Stand, until};
use crate::watched::hold;

/// The stand's service, started with one more argument.
fn started_with(stand: &mut Stand, more: &[&str]) {
    let args = [&stand.run_args()[..], more].concat();
    let command = stand.run_command(&args);
    stand.launch_as(command);
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
}

/// A request of each verdict, and a stop.
fn a_day(stand: &mut Stand) -> String {
    assert_eq!(stand.send(&json!({"type": "noop"}))["guard"]["verdict"], "allow");
    let rested = stand.send(&resting());
    assert_eq!(rested["guard"]["verdict"], "resize", "{rested}");
    assert_eq!(stand.send(&place(&limit(BTC, true, "59800.123", "0.01")))["guard"]["code"], "price_invalid");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.log()
}

#[test]
fn a_line_for_what_matters_and_more_when_asked_for() {
    // The second life begins within the window that it remembers.
    let mut stand = Stand::set_up(Mode::Paper, "duplicate_window = \"0\"\n");
    started_with(&mut stand, &[]);
    let said = a_day(&mut stand);
    // A file keeps no time of its own.
    let is_stamped = |line: &str| line.len() > 25 && line[..25].ends_with("Z ") && line[10..].starts_with('T');
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines.iter().all(|line| is_stamped(line) && line[25..].starts_with("svc-guard: ")), "{said}");
    assert!(said.contains(": resize (resized) for 0x") && said.contains(": veto (price_invalid) for 0x"), "{said}");
    assert!(said.contains("stopping on SIGTERM") && said.contains("svc-guard: stopped: SIGTERM"), "{said}");
    assert!(!said.contains("detail: ") && !said.contains("(allowed)"), "{said}");

    fs::remove_file(stand.log_file()).unwrap();
    started_with(&mut stand, &["-v"]);
    let said = a_day(&mut stand);
    assert!(said.contains("svc-guard: detail: event ") && said.contains(": allow ("), "{said}");
}

#[test]
fn quiet_is_warnings_and_errors_only() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let log = fs::File::create(stand.log_file()).unwrap();
    let child = stand.run_command(&[&stand.run_args()[..], &["--quiet"]].concat()).stderr(log).spawn().unwrap();
    // It does not say where it listens, and nobody asks it anything.
    stand.adopt(child, "127.0.0.1:9".parse().unwrap());
    let kill = stand.home().join("kill");
    fs::write(kill, "enough\n").unwrap();
    until("the switch to be told of", || {
        stand.log().contains("warning: the kill switch is pulled: enough").then_some(())
    });
    stand.kill();
    assert!(
        stand.log().lines().all(|line| line.contains(": warning: ") || line.contains(": error: ")),
        "{}",
        stand.log()
    );
    assert!(!stand.log().contains("listening"), "{}", stand.log());
}

#[test]
fn a_service_that_waits_says_for_what() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let fault = json!({"op": "fault", "on": "info", "kind": "http_502", "times": 1_000_000});
    stand.venue.control(&fault).unwrap();
    stand.launch();
    until("the wait to be told of", || stand.log().contains("svc-guard: warning: waiting: ").then_some(()));
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    until("its end to be told of", || stand.log().contains("svc-guard: all is well again").then_some(()));
    let said = stand.log();
    // The first of what a start reads; the others are not asked for before it is there.
    assert!(said.contains("error: reading the mode fails"), "{said}");
    assert!(said.contains("reading the mode works again"), "{said}");
}

/// What a person should look at although all is well has a line when it begins; that it is over is no warning.
#[test]
fn an_alert_has_a_line_when_it_begins_and_when_it_is_over() {
    for (wish, is_end_told) in [("-v", true), ("--quiet", false)] {
        let mut stand = Stand::set_up(Mode::Paper, "");
        // A quiet service does not say where it listens.
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let log = fs::File::create(stand.log_file()).unwrap();
        let mut command = stand.run_command(&["run", "--listen", &address.to_string(), wish]);
        stand.adopt(command.stderr(log).spawn().unwrap(), address);
        until("it to listen", || TcpStream::connect(address).ok());
        until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
        let is_near = |stand: &Stand| stand.status()["alerts"].to_string().contains("daily_loss_near");
        hold(&stand, "ETH", "4");
        stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2410"})).unwrap();
        let begins = "svc-guard: warning: alert daily_loss_near: the day's loss 3";
        until("the line of the alert", || stand.log().contains(begins).then_some(()));
        stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2500"})).unwrap();
        until("the alert to end", || (!is_near(&stand)).then_some(()));
        let ends = "svc-guard: alert daily_loss_near is over";
        if is_end_told {
            until("its end", || stand.log().contains(ends).then_some(()));
        }
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        let said = stand.log();
        assert_eq!((said.matches(begins).count(), said.contains(ends)), (1, is_end_told), "{said}");
        assert!(
            is_end_told || said.lines().all(|line| line.contains(": warning: ") || line.contains(": error: ")),
            "{said}"
        );
    }
}

/// Nobody reads the log: nothing waits for that.
#[test]
fn a_log_that_nobody_reads_holds_nobody_up() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let mut child = stand.run_command(&["run", "--listen", "127.0.0.1:0", "-v"]);
    let mut child = child.stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("listening on http://") {
        line.clear();
        std::io::BufRead::read_line(&mut log, &mut line).unwrap();
    }
    let address = line.trim().rsplit_once("http://").unwrap().1.parse().unwrap();
    stand.adopt(child, address);
    // More than the pipe and the queue hold.
    for _ in 0..3_000 {
        stand.send(&json!({"type": "noop"}));
    }
    assert_eq!(stand.get("/guard/status").status, 200);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// A service manager that keeps a journal names what it connected to it.
#[test]
fn a_journal_gets_priorities_and_no_time() {
    use std::os::unix::fs::MetadataExt;

    let mut stand = Stand::set_up(Mode::Paper, "");
    let log = fs::File::create(stand.log_file()).unwrap().metadata().unwrap();
    // A key that paper does not read is warned of before anything runs.
    let mut command = stand.run_command(&[&stand.run_args()[..], &["--key-stdin"]].concat());
    command.env("JOURNAL_STREAM", format!("{}:{}", log.dev(), log.ino()));
    stand.launch_as(command);
    assert!(stand.log().contains("<4>svc-guard: warning: paper mode reads no key"), "{}", stand.log());
    stand.pull("enough");
    let pulled = "<4>svc-guard: warning: the kill switch is pulled: enough\n";
    until("the switch to be told of", || stand.log().contains(pulled).then_some(()));
    let said = stand.log();
    assert!(said.lines().all(|line| line.starts_with('<') && line[3..].starts_with("svc-guard: ")), "{said}");
    assert!(said.lines().any(|line| line.starts_with("<6>svc-guard: 0.1.0 paper for account")), "{said}");
}
