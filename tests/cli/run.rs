//! `run`: every gate before the service, and the set-up of an empty home.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use svc_guard::base::key::SecretKey;
use svc_guard::base::kill_file::KillFile;
use svc_guard::base::kill_watch::KillWatch;
use svc_guard::rules::Rules;

use crate::place::*;

/// A service that was started, ended with the test.
struct Service(Child);

impl Drop for Service {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn run_sets_an_empty_home_up_for_paper() {
    let place = Place::empty();
    let mut command = place.command(&["run", "--listen", "127.0.0.1:0"]);
    command.env("SVC_GUARD_RULES", rules()).env("SVC_GUARD_ACCOUNT", ACCOUNT);
    let mut service = Service(command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
    let config = place.home().join("guard.toml");
    let set_up = (0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        fs::read_to_string(&config).is_ok_and(|text| text.contains("mode = \"paper\""))
    });
    assert!(set_up, "no set-up was made");
    let key_file = place.home().join("client-key");
    assert_eq!(mode(&key_file), 0o600);
    let key = SecretKey::parse(&fs::read_to_string(&key_file).unwrap()).unwrap();
    assert!(place.config().contains(&key.address().to_string()));
    // What was said until then: where the key is, never the key.
    std::thread::sleep(Duration::from_millis(100));
    service.0.kill().unwrap();
    let mut said = String::new();
    service.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert!(said.contains("client-key") && said.contains(&key.address().to_string()), "{said}");
    assert!(!said.contains(&key.reveal()[2..]));
}

/// Without its venue a service waits, names it, and does not fill the log: one line of each kind, and then one a minute.
#[test]
fn paper_without_its_venue_says_little() {
    let place = Place::paper();
    let log = place.path("log");
    let mut command = place.command(&["run", "--listen", "127.0.0.1:0"]);
    command.env("SVC_GUARD_CONTAINER", "0");
    let file = fs::File::create(&log).unwrap();
    let _service = Service(command.stderr(file).stdout(Stdio::null()).spawn().unwrap());
    let said = || fs::read_to_string(&log).unwrap();
    let waits = (0..6_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        said().contains("waiting: ")
    });
    assert!(waits && said().contains("http://127.0.0.1:9 is not reached"), "{}", said());
    assert!(said().lines().count() < 12, "{}", said());
    let is_root = nix::unistd::Uid::effective().is_root();
    assert_eq!(said().contains("running as root, which a guard has no need of"), is_root, "{}", said());
}

#[test]
fn a_guard_whose_port_was_chosen_is_found() {
    let place = Place::paper();
    succeeded(&place.run(&["config", "set", "listen", "127.0.0.1:0"]));
    let mut command = place.command(&["run"]);
    let _service = Service(command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    let kill_file = KillFile::new(place.home().join("kill"));
    let runs = (0..6_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        KillWatch::is_watched(&kill_file) == Some(true)
    });
    assert!(runs);
    let home = place.home().display().to_string();
    let output = place.run(&["--home", &home, "mcp", "--read-only"]);
    succeeded(&output);
    assert!(!text(&output.stderr).contains("was not reached"), "{}", text(&output.stderr));
}

#[test]
fn run_refuses_an_empty_home_without_rules() {
    let place = Place::empty();
    place.refuses(&["run"], "is empty: set it up");
    place.refuses(&["run", "--rules", &rules()], "is empty: set it up");
    place.refuses(&["run", "--account", ACCOUNT], "is empty: set it up");
    for network in ["testnet", "mainnet"] {
        let args = ["run", "--rules", &rules(), "--account", ACCOUNT, "--network", network];
        place.refuses(&args, "guard.toml holds no set-up; `svc-guard");
    }
    fs::write(place.home().join("client-key"), "precious").unwrap();
    refused(&place.run(&["run", "--rules", &rules(), "--account", ACCOUNT]), "client-key exists already");
    assert!(!place.config().contains("mode"));
}

#[test]
fn run_starts_no_other_mode_than_the_configs() {
    let place = Place::paper();
    place.refuses(&["run", "--network", "testnet"], "--network testnet (SVC_GUARD_NETWORK) is not the config's mode: ");
    place.refuses(&["run", "--network", "testnet"], "`svc-guard --home DIR init --network testnet` sets one up");
    refused(&place.command(&["run"]).env("SVC_GUARD_NETWORK", "mainnet").output().unwrap(), "is not the config's mode");
    place.write_config(&place.config().replace("\"paper\"", "\"testnet\"").replace("\"mainnet\"", "\"testnet\""));
    let start =
        format!("`svc-guard --home {} run --network testnet --key-stdin < FILE` starts it", place.home().display());
    place.refuses(
        &["run"],
        &format!("the config's mode is testnet, and without --network only paper mode starts; {start}"),
    );
    place.refuses(&["run", "--network", "paper"], &format!("home is set up for testnet, and {start}"));
}

#[test]
fn run_refuses_to_be_set_up_twice_differently() {
    let place = Place::paper();
    let other = Rules::from_toml("leverage = 1").unwrap().to_code();
    place.refuses(&["run", "--rules", &other], "has other rules");
    let account = "0x2222222222222222222222222222222222222222";
    place.refuses(&["run", "--account", account], "each account needs its own home");
}

#[test]
fn run_refuses_a_share_too_small_and_names_the_variable() {
    let place = Place::paper();
    let output = place.command(&["run"]).env("SVC_GUARD_IP_SHARE", "1/10").output().unwrap();
    refused(&output, "SVC_GUARD_IP_SHARE: \"1/10\" leaves 120 of the venue's 1200 weight a minute");
    assert_eq!(place.run(&["run", "--ip-share", "1/10"]).status.code(), Some(2));
}

fn testnet() -> Place {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    place
}

#[test]
fn run_judges_the_key_file() {
    let place = testnet();
    place.refuses(&["run", "--network", "testnet"], "api-wallet-key does not exist");
    let key = place.path("key");
    fs::write(&key, format!("{FAKE_KEY}\n")).unwrap();
    let with_mode = |bits: u32| fs::set_permissions(&key, fs::Permissions::from_mode(bits)).unwrap();
    let run = ["run", "--network", "testnet", "--key-file", key.to_str().unwrap()];
    let contained: Vec<&str> = run.into_iter().chain(["--container"]).collect();
    if !svc_guard::home::in_container(None, Path::new("/")) {
        with_mode(0o644);
        place.refuses(&run, "others can read the key");
    }
    with_mode(0o666);
    place.refuses(&run, "others can write it");
    place.refuses(&contained, "others can write it");
    with_mode(0o600);
    let link = place.path("link");
    symlink(&key, &link).unwrap();
    let variable = |path: &Path| place.command(&run[..3]).env("SVC_GUARD_KEY_FILE", path).output().unwrap();
    refused(&variable(&link), "symbolic link");
    refused(&variable(&place.home()), "not a regular file");
    with_mode(0o644);
    let said = |word: &str| place.command(&run).env("SVC_GUARD_CONTAINER", word).output().unwrap();
    refused(&said("0"), "others can read the key");
    refused(&said("2"), "SVC_GUARD_CONTAINER: \"2\" must be 1, true, yes, 0, false or no");
    with_mode(0o600);
    fs::write(&key, "0x0123").unwrap();
    place.refuses(&run, "holds no key");
}

#[test]
fn run_takes_the_configured_wallets_key_only() {
    let place = testnet();
    let other = "0x3333333333333333333333333333333333333333";
    place.write_config(&format!("api_wallet = \"{other}\"\n{}", place.config()));
    let run = ["run", "--network", "testnet", "--key-stdin"];
    refused(&place.run_with(&run, FAKE_KEY), WALLET);
    refused(&place.run_with(&run, "nonsense"), "standard input holds no key");
    refused(&place.run_with(&run, &"0".repeat(100_000)), "standard input holds no key");
    place.write_config(&place.config().replace(ACCOUNT, WALLET));
    let journal = place.home().join(format!("journals/testnet-{WALLET}"));
    let owner = format!(r#"{{"kind":"init","mode":"testnet","account":"{WALLET}","account_network":"testnet"}}"#);
    svc_guard::journal::create_risk(&journal, &owner, None).unwrap();
    refused(&place.run_with(&run, FAKE_KEY), "the config names as the account itself");
    assert_eq!(place.run(&[&run[..], &["--key-file", "x"]].concat()).status.code(), Some(2));
}

#[test]
fn run_refuses_mainnet_naming_everything_that_is_missing() {
    let place = Place::paper();
    let looser = Rules::from_toml("leverage = 6").unwrap().to_code();
    let config = place.config().replace("\"paper\"", "\"mainnet\"").replace(&rules(), &looser);
    place.write_config(&format!("refuse_mainnet = \"not yet\"\n{config}"));
    let output = place.run(&["run", "--network", "mainnet"]);
    for gap in [
        "mainnet is refused here (not yet)",
        "allow_mainnet = true",
        "equity_cap",
        "api_wallet",
        "looser: leverage",
        "SVC_MAINNET_CONFIRM=0x1111",
        "risk journal",
        "--key-stdin",
    ] {
        refused(&output, gap);
    }
    let wrong = "0x2222222222222222222222222222222222222222";
    let output = place.command(&["run", "--network", "mainnet"]).env("SVC_MAINNET_CONFIRM", wrong).output().unwrap();
    refused(&output, "SVC_MAINNET_CONFIRM must be the account");
    place.refuses(&["run"], "run --network mainnet --key-stdin < FILE` starts it");
}

#[test]
fn run_refuses_a_home_that_others_could_change() {
    let place = Place::paper();
    fs::set_permissions(place.home(), fs::Permissions::from_mode(0o777)).unwrap();
    place.refuses(&["run"], "chmod 1733");
    place.refuses(&["pair"], "chmod 1733");
    place.refuses(&["check-config"], "chmod 1733");
}

#[test]
fn what_stands_where_the_services_own_folder_must_is_named() {
    let place = Place::paper();
    fs::remove_dir_all(place.home().join("run")).unwrap();
    fs::write(place.home().join("run"), "").unwrap();
    place.refuses(&["run"], "home/run is not a directory");
}

/// The guard that holds the home closes what is open: nobody is told to do it at the venue.
#[test]
fn a_second_start_on_a_killed_home_says_only_that_one_runs() {
    let place = Place::paper();
    let address = place.home().join("journals/listening");
    let mut command = place.command(&["run", "--listen", "127.0.0.1:0"]);
    let mut service = Service(command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap());
    assert!((0..3_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        address.exists()
    }));
    fs::write(place.home().join("kill"), "enough").unwrap();
    let second = |place: &Place| {
        let output = place.run(&["run", "--listen", "127.0.0.1:0"]);
        assert_eq!(output.status.code(), Some(2));
        text(&output.stderr)
    };
    let said = second(&place);
    assert!(said.contains(&format!("locked by another running service (pid {}", service.0.id())), "{said}");
    assert!(!said.contains("kill switch"), "{said}");
    // Without one, what is open stays open.
    service.0.kill().unwrap();
    service.0.wait().unwrap();
    fs::remove_dir_all(place.home().join("journals")).unwrap();
    let said = second(&place);
    assert!(said.contains("nothing is closed before a guard runs on it"), "{said}");
}
