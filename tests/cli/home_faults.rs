//! Faults of a home and of its files, each told with what mends it: a config that was edited by hand, a folder in the place of a
//! file, a home that has gone.

use std::fs;

use crate::place::*;

#[test]
fn a_config_edited_by_hand_is_told_what_stands_where() {
    let place = Place::paper();
    let whole = place.config();
    for (from, to, said) in [
        ("mode = \"paper\"", "mode = “paper”", "the quotes are the curly ones of a text that was pasted"),
        ("[auth]", "[auht]", "auht: is not a table of guard.toml(5); [auth] is one"),
        ("[venue]", "[venu]", "[venue] is one"),
        ("[auth]", "", "clients stands under a line [auth]"),
        ("[venue]", "[venue]\nallowed_hosts = [\"x\"]", "allowed_hosts stands at the top of the file"),
        ("mode =", "Stop = 3\nmode =", "config set rules stop=VALUE`"),
        ("mode =", "stopp = 3\nmode =", "config set rules stop=VALUE`"),
        ("mode = \"paper\"", "mode = \"testnet\"", "--home DIR init --network testnet` sets another home up"),
        ("mode =", "private_key = \"x\"\nmode =", "private_key: no key stands in guard.toml"),
        (
            "mode =",
            &format!("wallet = \"{FAKE_KEY}\"\nmode ="),
            "key replace --key-stdin < FILE` stores that one's key",
        ),
        ("mode =", &format!("{FAKE_KEY}\nmode ="), "it does not belong in a file that others may read"),
    ] {
        place.write_config(&whole.replacen(from, to, 1));
        place.refuses(&["check-config"], said);
    }
    // A byte that no editor shows, or that is no text, is told with its line.
    let lines = whole.lines().count();
    for (odd, said) in [
        (&b"\0"[..], format!("line {}, \\x00: it holds a control character", lines + 1)),
        (b"# \xff\n", format!("is not UTF-8 text: line {}", lines + 1)),
    ] {
        fs::write(place.home().join("guard.toml"), [whole.as_bytes(), odd].concat()).unwrap();
        place.refuses(&["check-config"], &said);
    }
    let client = whole.lines().find(|line| line.trim().starts_with("\"0x")).unwrap().trim().trim_matches([',', '"']);
    let (before, behind) = whole.split_once("clients = [").unwrap();
    let one = format!("{before}clients = \"{client}\"{}", behind.split_once(']').unwrap().1);
    place.write_config(&one);
    place.refuses(
        &["check-config"],
        &format!("must be a list of at most 256, in square brackets: clients = [\"{client}\"]"),
    );
    // Without clients nobody is served, which is valid and of no use.
    let (before, behind) = whole.split_once("[auth]").unwrap();
    place.write_config(&format!("{before}[venue]{}", behind.split_once("[venue]").unwrap().1));
    let told = succeeded(&place.run(&["check-config"]));
    assert!(told.contains("clients  0, so nobody is served: `svc-guard") && told.contains("client add --out FILE`"));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_said_to_be_one() {
    let place = Place::paper();
    let testnet = Place::empty();
    succeeded(&testnet.run(&init(&["--network", "testnet", "--no-key"])));
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let said = format!("a folder; name a file in it: {folder}/NAME");
    for args in [
        &["check-config", "--config", folder][..],
        &["config", "set", "rules", &format!("@{folder}")],
        &["mcp", "--key-file", folder],
        &["notify", "test", "--file", folder],
    ] {
        place.refuses(args, &said);
    }
    place.refuses(&["client", "add", "--out", folder], &format!("is a folder; name a new file in it: {folder}/NAME"));
    testnet.refuses(&["run", "--network", "testnet", "--key-file", folder], &said);
}

/// Limits are taken of no more than that: who checks a config must see it without asking the venue.
#[test]
fn the_equity_cap_is_told_with_the_rules() {
    let place = Place::paper();
    let row = |value: &str| format!("\n  equity cap        {value}\n");
    let told = succeeded(&place.run(&["check-config"]));
    assert!(told.contains(&row("none")), "{told}");
    succeeded(&place.run(&["config", "set", "equity_cap", "2000"]));
    let told = succeeded(&place.run(&["check-config"]));
    assert!(told.contains(&row("2000 USDC")), "{told}");
}

/// A shell makes `~` of a word's beginning only.
#[test]
fn a_tilde_that_no_shell_saw_is_the_users_own_folder() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let own = place.path("own");
    fs::create_dir(&own).unwrap();
    let run = |args: &[&str]| text(&ended(place.command(args).env("HOME", &own)).stderr);
    let missing = format!("{}/key does not exist", own.display());
    assert!(run(&["run", "--network", "testnet", "--key-file=~/key"]).contains(&missing));
    let missing = format!("{}/notify.toml does not exist", own.display());
    assert!(run(&["notify", "test", "--file=~/notify.toml"]).contains(&missing));
    // Another user's, by the user database.
    let root = nix::unistd::User::from_uid(nix::unistd::Uid::from_raw(0)).unwrap().unwrap();
    let missing = format!("{}/no-such-key does not exist", root.dir.display());
    assert!(
        run(&["run", "--network", "testnet", &format!("--key-file=~{}/no-such-key", root.name)]).contains(&missing)
    );
    assert!(run(&["run", "--network", "testnet", "--key-file=~no-such-user/key"]).contains("~no-such-user/key"));
}

#[test]
fn a_home_that_has_gone_is_no_invitation_to_set_up_anew_only() {
    let place = Place::paper();
    fs::rename(place.home(), place.path("elsewhere")).unwrap();
    for args in [&["check-config"][..], &["config", "get", "rules"], &["pair"]] {
        let said = text(&place.run(args).stderr);
        assert!(said.contains("moved") && said.contains("place of today"), "{args:?}: {said}");
    }
}

#[test]
fn a_file_as_the_home_of_a_kill_is_told_with_its_folder() {
    let place = Place::paper();
    let config = place.home().join("guard.toml");
    let output = ended(&mut bare(&["--home", config.to_str().unwrap(), "kill", "--reason", "x"]));
    let said = format!("`svc-guard --home {} kill --reason x` kills the guard of that one", place.home().display());
    refused(&output, &said);
    assert!(text(&output.stderr).contains("the kill switch is NOT pulled"));
}

/// A folder that is made there pulls the switch of the home around it.
#[test]
fn a_home_in_the_place_of_a_kill_file_is_refused_with_the_one_that_is_meant() {
    let place = Place::paper();
    let home = place.home().display().to_string();
    let before = place.listing();
    for below in ["kill", "kill/x"] {
        let typed = place.home().join(below).display().to_string();
        let at = |args: &[&str]| ended(&mut bare(&[&["--home", &typed], args].concat()));
        let meant = |args: &str| format!("the kill switch of the home {home}, and `svc-guard --home {home} {args}");
        refused(&at(&init(&[])), &meant("init --non-interactive"));
        refused(&at(&["check-config"]), &meant("check-config"));
        refused(&at(&["run", "--account", ACCOUNT, "--rules", &rules()]), &meant("run --account"));
        let health = at(&["health", "--trading"]);
        let said = text(&health.stderr);
        assert!(health.status.code() == Some(1) && said.contains(&meant("health --trading")), "{said}");
        let kill = format!("`svc-guard --home {home} kill --reason x --wait 7` kills the guard of that one");
        refused(&at(&["kill", "--reason", "x", "--wait", "7"]), &kill);
    }
    assert!(place.listing() == before, "something was made");
    // Elsewhere a folder may have that name, and a home that stands in such a place is used on.
    let free = place.path("kill").display().to_string();
    succeeded(&ended(&mut bare(&[&["--home", &free], &init(&[])[..]].concat())));
    let place = Place { folder: tempfile::tempdir().unwrap() };
    let inner = place.path("kill").display().to_string();
    succeeded(&ended(&mut bare(&[&["--home", &inner], &init(&[])[..]].concat())));
    fs::write(place.path("kill.ready"), "").unwrap();
    succeeded(&ended(&mut bare(&["--home", &inner, "check-config"])));
}

/// Takes the attribute of a folder away again, which keeps it from being removed.
struct Immutable<'a>(&'a std::path::Path);

impl<'a> Immutable<'a> {
    /// A folder that was changed so, where that can be done here.
    fn made(folder: &'a std::path::Path, change: &str) -> Option<Self> {
        let made = Some(Self(folder)).filter(|folder| folder.set(change));
        if made.is_none() {
            eprintln!("skipped: no folder can be changed by chattr {change} here");
        }
        made
    }

    fn set(&self, change: &str) -> bool {
        let done = std::process::Command::new("chattr").arg(change).arg(self.0).output();
        done.is_ok_and(|done| done.status.success())
    }
}

impl Drop for Immutable<'_> {
    fn drop(&mut self) {
        self.set("-ia");
    }
}

/// No user may write there, root neither, and who may do what is said.
#[test]
fn a_kill_in_a_folder_that_takes_no_file_says_what_keeps_it() {
    let place = Place::paper();
    let home = place.home();
    let Some(_folder) = Immutable::made(&home, "+i") else { return };
    let output = place.run(&["kill", "--reason", "too wild", "--wait", "7"]);
    refused(&output, "the kill switch is NOT pulled: ");
    let (said, home) = (text(&output.stderr), home.display());
    let way = format!("`sudo chattr -ia {home} && svc-guard --home {home} kill --reason 'too wild' --wait 7`");
    for part in [way.as_str(), "`lsattr -d", "POST /guard/kill"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("write that file yourself"), "{said}");
}

/// Nothing can be renamed in a folder that only grows, and a file can be made there.
#[test]
fn a_kill_in_a_folder_that_only_grows_pulls_the_switch() {
    let place = Place::paper();
    let home = place.home();
    let Some(_folder) = Immutable::made(&home, "+a") else { return };
    let output = place.run(&["kill", "--reason", "too wild"]);
    assert_eq!(output.status.code(), Some(1), "no guard runs: {}", text(&output.stderr));
    assert_eq!(fs::read_to_string(home.join("kill")).unwrap(), "too wild\n");
}

/// A key file under the name of a kill file would have the guard of that home close everything, whichever home that is.
#[test]
fn no_key_is_written_in_the_place_of_a_kill_file() {
    let place = Place::paper();
    let other = place.path("other");
    fs::create_dir(&other).unwrap();
    for name in ["kill", "KILL"] {
        let out = other.join(name);
        let out = out.to_str().unwrap();
        let new = place.path("new");
        for args in [
            &["client", "add", "--out", out][..],
            &["--home", new.to_str().unwrap(), "init", "--non-interactive", "--client-key-out", out],
        ] {
            refused(&place.run(args), "is named as a kill file is");
        }
    }
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
    assert_eq!(place.run(&["client", "add", "--out", other.join("kill.key").to_str().unwrap()]).status.code(), Some(0));
}

/// What is open stays open while no guard runs: who hears of the refusal must hear of the kill.
#[test]
fn a_start_that_is_refused_names_the_kill_that_waits() {
    let place = Place::paper();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = taken.local_addr().unwrap().to_string();
    refused(&place.run(&["run", "--listen", &listen]), "cannot listen on");
    assert_eq!(place.run(&["kill", "--reason", "too wild"]).status.code(), Some(1));
    let output = place.run(&["run", "--listen", &listen]);
    refused(&output, "cannot listen on");
    let said = text(&output.stderr);
    assert!(said.contains("The kill switch of this home is pulled (too wild), and nothing is closed before"), "{said}");
}

#[test]
fn a_change_that_cannot_be_written_says_that_nothing_is_changed() {
    let place = Place::paper();
    // A name of which a temporary one beside it would be too long.
    let config = place.home().join("x".repeat(245));
    fs::copy(place.home().join("guard.toml"), &config).unwrap();
    let file = config.to_str().unwrap();
    for args in [&["config", "set", "ip_share", "1/2"][..], &["pair"]] {
        place.refuses(&[&["--config", file], args].concat(), "; nothing is changed");
    }
}

/// Whoever opens a pipe to read it waits until somebody writes: no process is left behind that does.
#[test]
fn a_pipe_in_the_place_of_a_home_holds_nobody() {
    let place = Place::empty();
    let pipe = place.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.to_str().unwrap();
    place.refuses(&["--home", pipe, "kill", "--reason", "x"], "the kill switch is NOT pulled");
    place.refuses(&["--home", pipe, "check-config"], "is no folder");
    let is_held = || {
        let processes = fs::read_dir("/proc").unwrap().filter_map(Result::ok);
        let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
        lines.map(|line| String::from_utf8_lossy(&line).into_owned()).any(|line| line.contains(pipe))
    };
    ends(&is_held);
}

/// Waits until it is so no longer; a machine that is busy takes its time.
fn ends(is_so: &dyn Fn() -> bool) {
    for _ in 0..1_000 {
        if !is_so() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it goes on");
}

/// The home's own names are given to no other file: what stands there is moved away.
#[test]
fn what_stands_in_the_place_of_the_homes_own_is_moved_away() {
    let place = Place::with(&venue(AGENT));
    succeeded(&place.run_with(&init(&["--network", "testnet", "--key-stdin", "--key-store", "file"]), FAKE_KEY));
    let key = place.home().join("api-wallet-key");
    let run = ["run", "--network", "testnet"];
    let replace = ["key", "replace", "--key-stdin"];
    fs::write(&key, "junk\n").unwrap();
    place.refuses(&run, "key replace --key-stdin < FILE` stores one");
    fs::remove_file(&key).unwrap();
    place.refuses(
        &[&run[..], &["--key-file", "/nowhere/key"]].concat(),
        "/nowhere/key does not exist; name the file with",
    );
    fs::create_dir(&key).unwrap();
    let away = |of: &std::path::Path, name: &str| format!("`mv {0} {0}.{name}`", of.display());
    place.refuses(&run, &away(&key, "folder"));
    refused(&place.run_with(&replace, FAKE_KEY), &away(&key, "folder"));
    fs::remove_dir(&key).unwrap();
    succeeded(&place.run_with(&replace, FAKE_KEY));
    let journals = place.home().join("journals");
    fs::remove_dir_all(&journals).unwrap();
    fs::write(&journals, "").unwrap();
    place.refuses(&run, &away(&journals, "file"));
    let kill = place.home().join("kill");
    fs::create_dir(&kill).unwrap();
    for released in ["unkill", "resume", "unhalt"] {
        place.refuses(&[released], &format!("by `rm -r {}`", kill.display()));
    }
}

/// What a person names is never moved away for them.
#[test]
fn a_folder_that_was_named_for_a_key_stays() {
    let place = Place::empty();
    succeeded(&place.run(&init(&["--network", "testnet", "--no-key"])));
    let output = place.run(&["run", "--network", "testnet", "--key-file", "/etc"]);
    refused(&output, "name a file in it: /etc/NAME");
    assert!(!text(&output.stderr).contains("mv /etc"), "{}", text(&output.stderr));
    let file = place.path("rules.toml");
    fs::write(&file, "").unwrap();
    let output = ended(&mut bare(&["--home", file.to_str().unwrap(), "check-config"]));
    refused(&output, "is a file, and a home is a folder: `svc-guard --home DIR init` sets one up");
}

/// A journal that a service has written is brought back rather than begun anew: that would forget a halt.
#[test]
fn a_journal_that_is_gone_is_brought_back() {
    let place = Place::paper();
    let (home, journals) = (place.home(), place.home().join("journals"));
    fs::create_dir_all(home.join("run")).unwrap();
    fs::write(home.join(format!("run/journal-end-paper-{ACCOUNT}")), "x\n").unwrap();
    fs::rename(&journals, place.path("away")).unwrap();
    let forgets = "starts a new one, which forgets the day's loss, the peak and any halt of that one";
    let mode = ["--mode", "paper"];
    for command in [
        &["run"][..],
        &[&["journal-show"], &mode[..]].concat(),
        &[&["journal-resume", "--note", "x"], &mode[..]].concat(),
        &[&["report"], &mode[..]].concat(),
    ] {
        place.refuses(command, "bring that folder back. `svc-guard --home ");
        place.refuses(command, forgets);
    }
    let killed = place.run(&["kill", "--reason", "x"]);
    let said = text(&killed.stderr);
    assert!(said.contains("no guard of this home starts as it is (") && !said.contains("closes everything"), "{said}");
    fs::remove_file(home.join("kill")).unwrap();
    fs::rename(place.path("away"), &journals).unwrap();
    succeeded(&place.run(&["journal-show", "--mode", "paper"]));
}

/// Without its home the usual address would be taken, where another one's guard may answer.
#[test]
fn an_agent_is_not_served_for_a_home_that_is_not_there() {
    let place = Place::empty();
    let gone = place.path("gone");
    let gone = gone.to_str().unwrap();
    let told = format!("{gone} does not exist");
    for more in [&["--read-only"][..], &[]] {
        let output = ended(&mut bare(&[&["--home", gone, "mcp"], more].concat()));
        refused(&output, &told);
    }
}
