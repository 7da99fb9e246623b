//! Flags and variables that a start takes over, and its warnings.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use nix::sys::signal::Signal;
use serde_json::json;

use crate::stand::{ACCOUNT, Mode, Stand, WALLET_KEY, run_with, until};

/// Starts the service with these variables, listening on a free port.
fn started(stand: &mut Stand, args: &[&str], variables: &[(&str, &str)]) {
    let mut command = stand.run_command(args);
    command.envs(variables.iter().copied());
    stand.launch_as(command);
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
}

#[test]
fn the_share_of_a_start_is_the_flags_then_the_variables_then_the_configs() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let config = stand.home().join("guard.toml");
    let text = fs::read_to_string(&config).unwrap().replace("ip_share = \"1\"", "ip_share = \"1/2\"");
    fs::write(&config, text).unwrap();
    let run = ["run", "--listen", "127.0.0.1:0"];
    let flagged = [&run[..], &["--ip-share", "1/3"]].concat();
    for (args, variables, weight) in [
        (&run[..], &[][..], 600),
        (&run, &[("SVC_GUARD_IP_SHARE", "1/4")], 300),
        (&flagged, &[("SVC_GUARD_IP_SHARE", "1/4")], 400),
    ] {
        started(&mut stand, args, variables);
        assert_eq!(stand.status()["venue"]["weight_per_minute"], json!(weight));
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    }
}

#[test]
fn the_listen_address_of_a_start_is_the_flags_then_the_variables_then_the_configs() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let config = stand.home().join("guard.toml");
    let text = fs::read_to_string(&config).unwrap().replace("127.0.0.1:8547", "127.0.0.3:0");
    fs::write(&config, text).unwrap();
    let flagged = ["run", "--listen", "127.0.0.4:0"];
    for (args, variables, ip) in [
        (&["run"][..], &[][..], "127.0.0.3"),
        (&["run"], &[("SVC_GUARD_LISTEN", "127.0.0.2:0")], "127.0.0.2"),
        (&flagged, &[("SVC_GUARD_LISTEN", "127.0.0.2:0")], "127.0.0.4"),
    ] {
        started(&mut stand, args, variables);
        assert_eq!(stand.address().ip().to_string(), ip);
        assert!(!stand.log().contains("which other machines may reach"), "{}", stand.log());
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    }
}

/// An address of the other family, where this machine has it.
#[test]
fn it_listens_on_the_other_family_too() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return;
    }
    let mut stand = Stand::set_up(Mode::Paper, "");
    started(&mut stand, &["run", "--listen", "[::1]:0"], &[]);
    assert!(stand.address().is_ipv6());
    let health = run_with(&stand.home(), &["health", "--listen", &stand.address().to_string()], "");
    assert_eq!(health.status.code(), Some(0), "{}", String::from_utf8_lossy(&health.stderr));
}

/// A service listens where it listened at its start, whatever its config says since.
#[test]
fn who_asks_after_a_running_service_finds_it() {
    let mut stand = Stand::up(Mode::Paper, "");
    let set = run_with(&stand.home(), &["config", "set", "listen", "127.0.0.1:9"], "");
    assert_eq!(set.status.code(), Some(0));
    // It leaves word of its address just after its start.
    until("the service to be found", || {
        (run_with(&stand.home(), &["health"], "").status.code() == Some(0)).then_some(())
    });
    // A notifier of this home goes where its guard answers.
    let (file, state) = (stand.home().with_file_name("whom to tell.toml"), stand.home().join("told"));
    fs::write(&file, "[[target]]\nname = \"a\"\nform = \"command\"\nrun = [\"/bin/true\"]\n").unwrap();
    let said = stand.home().join("said");
    let mut notifier = crate::stand::command(&stand.home(), &["notify", "--file", file.to_str().unwrap()]);
    let mut notifier = notifier.arg("--state").arg(&state).stderr(fs::File::create(&said).unwrap()).spawn().unwrap();
    let url = format!("http://{}", stand.address());
    let says = |what: &str| fs::read_to_string(&said).unwrap().contains(what).then_some(());
    until("the notifier to begin", || says(&format!("telling a of the guard at {url}")));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.launch();
    let later = format!("http://{}", stand.address());
    until("the notifier to follow", || says(&format!("the guard answers at {later} by now")));
    let is_heard = || {
        fs::read_to_string(state.join("state.json")).unwrap_or_default().contains(&stand.home().display().to_string())
    };
    until("the notifier to hear it", || is_heard().then_some(()));
    notifier.kill().unwrap();
    notifier.wait().unwrap();
    // One that does not run is looked for where the config says.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let gone = run_with(&stand.home(), &["health"], "");
    assert_eq!(gone.status.code(), Some(1));
    let told = String::from_utf8(gone.stderr).unwrap();
    assert!(told.contains("no answer from http://127.0.0.1:9") && !told.contains(&later), "{told}");
}

#[test]
fn listening_for_other_machines_is_warned_of() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let command = stand.run_command(&["run", "--listen", "0.0.0.0:0"]);
    stand.launch_as(command);
    let warning = "svc-guard: warning: listening on 0.0.0.0:0, which other machines may reach";
    assert!(stand.log().contains(warning), "{}", stand.log());
}

/// A stand whose API wallet's key is in another file than the home's own, and that file.
fn with_key_elsewhere() -> (Stand, String) {
    let stand = Stand::set_up(Mode::Testnet, "");
    let elsewhere = stand.home().join("elsewhere");
    fs::rename(stand.home().join("api-wallet-key"), &elsewhere).unwrap();
    (stand, elsewhere.to_str().unwrap().to_owned())
}

/// From a file by flag or variable, or from standard input.
#[test]
fn a_testnet_start_takes_its_key_from_where_it_is_said_to_be() {
    let (mut stand, key) = with_key_elsewhere();
    let args = stand.run_args();
    started(&mut stand, &[&args[..], &["--key-file", &key]].concat(), &[]);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    started(&mut stand, &args, &[("SVC_GUARD_KEY_FILE", &key)]);
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let mut command = stand.run_command(&[&args[..], &["--key-stdin"]].concat());
    command.stdin(fs::File::open(&key).unwrap());
    stand.launch_as(command);
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    assert_eq!(stand.status()["mode"], "testnet");
}

#[test]
fn in_a_container_a_key_that_others_can_read_is_taken_with_a_warning() {
    let (mut stand, key) = with_key_elsewhere();
    fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
    let flagged = [&stand.run_args()[..], &["--key-file", &key]].concat();
    for (more, variables) in [(&["--container"][..], &[][..]), (&[], &[("SVC_GUARD_CONTAINER", "1")])] {
        let before = stand.log().len();
        started(&mut stand, &[&flagged[..], more].concat(), variables);
        let said = stand.log()[before..].to_owned();
        assert!(said.contains("has mode 0644: others in this container can read the key"), "{said}");
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    }
}

/// Paper reads no key: one that is given stays where it is, and that is said.
#[test]
fn paper_leaves_a_key_unread() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let command = stand.run_command(&["run", "--listen", "127.0.0.1:0", "--key-file", "/nonexistent-folder/key"]);
    stand.launch_as(command);
    assert!(stand.log().contains("warning: paper mode reads no key; the one given is left unread"), "{}", stand.log());
}

/// A config for one mode is started in no other; the network may come from the variable.
#[test]
fn the_network_may_come_from_the_variable() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    started(&mut stand, &["run", "--listen", "127.0.0.1:0"], &[("SVC_GUARD_NETWORK", "testnet")]);
    assert_eq!(stand.status()["mode"], "testnet");
}

/// A new client key is accepted by a running service after a restart.
#[test]
fn a_new_client_is_accepted_after_a_restart() {
    let mut stand = Stand::up(Mode::Paper, "");
    let file = stand.home().join("second");
    let done = run_with(&stand.home(), &["client", "add", "--out", file.to_str().unwrap()], "");
    assert_eq!(done.status.code(), Some(0));
    let key = svc_guard::base::key::SecretKey::parse(&fs::read_to_string(file).unwrap()).unwrap();
    let ask = |stand: &Stand| {
        let body = crate::signing::signed(&key, &json!({"type": "noop"}));
        stand.post("/exchange", &body).json()["guard"]["code"].clone()
    };
    assert_eq!(ask(&stand), "bad_signature");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_ne!(ask(&stand), "bad_signature");
    let started = stand.events_of("started").pop().unwrap();
    assert_eq!(started["clients"].as_array().unwrap().len(), 2);
    // Its address taken out of the config, it is revoked with the next start.
    let config = stand.home().join("guard.toml");
    let text = fs::read_to_string(&config).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains(&key.address().to_string())).collect();
    fs::write(&config, kept.join("\n")).unwrap();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    assert_eq!(ask(&stand), "bad_signature");
}

/// `health` asks the service where the config, the flag or the variable says.
#[test]
fn health_asks_the_running_service() {
    let stand = Stand::up(Mode::Paper, "");
    let listen = stand.address().to_string();
    assert_eq!(run_with(&stand.home(), &["health", "--listen", &listen], "").status.code(), Some(0));
    let url = format!("http://{listen}");
    assert_eq!(run_with(&stand.home(), &["health", "--url", &url], "").status.code(), Some(0));
    stand.without("info");
    until("ill health", || {
        let done = run_with(&stand.home(), &["health", "--listen", &listen], "");
        let said = String::from_utf8(done.stderr).unwrap();
        (done.status.code() == Some(1) && said.contains("last read over")).then_some(())
    });
    // Nothing of a key or of the account's own is in any of it.
    assert!(!stand.log().contains(&WALLET_KEY[2..]) && stand.log().contains(ACCOUNT));
}
