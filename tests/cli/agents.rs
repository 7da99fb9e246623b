//! `mcp` as a command: what it takes, where it looks, and what it refuses before it serves anybody.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use crate::place::*;

/// Nothing listens on the discard port.
const NOBODY: [&str; 3] = ["mcp", "--guard-url", "http://127.0.0.1:9"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&NOBODY[..], more].concat()
}

#[test]
fn mcp_refuses_flags_that_cannot_be() {
    let place = Place::empty();
    for (more, reason) in [
        (&["--read-only", "--network", "live"][..], "--network"),
        (&["--read-only", "--confirm-account", "0x12"], "--confirm-account"),
        (&["--read-only", "--network", "mainnet"], "--confirm-account"),
        (&["--read-only", "--guard-url", "http://0.0.0.0:8547"], "loopback"),
        (&["--read-only", "--speed"], "--speed"),
        (&["--read-only", "get_status"], "get_status"),
    ] {
        let line = if more.contains(&"--guard-url") { [&["mcp"], more].concat() } else { with(more) };
        place.refuses(&line, reason);
    }
}

#[test]
fn mcp_wants_a_key_from_one_place() {
    let place = Place::empty();
    let key = place.path("agent.key");
    let key = key.to_str().unwrap();
    place.refuses(&NOBODY, "--key-file or --key-stdin");
    place.refuses(&with(&["--key-file", key]), key);
    fs::write(key, "0x12\n").unwrap();
    fs::set_permissions(key, fs::Permissions::from_mode(0o600)).unwrap();
    place.refuses(&with(&["--key-file", key]), "holds no key");
    place.refuses(&with(&["--key-file", key, "--key-stdin"]), "cannot be used with");
    place.refuses(&with(&["--read-only", "--key-stdin"]), "cannot be used with");
    place.refuses(&with(&["--read-only", "--key-file", key]), "cannot be used with");
    place.refuses(&with(&["--key-stdin"]), "the first line of standard input is no key");
    refused(&place.run_with(&with(&["--key-stdin"]), "0x12\n"), "the first line of standard input is no key");
    refused(&place.run_with(&with(&["--key-stdin"]), &"1".repeat(9_000)), "is no key");
    // Not from a variable, whatever it is called.
    let mut command = place.command(&NOBODY);
    fs::write(key, format!("{FAKE_KEY}\n")).unwrap();
    for name in ["SVC_GUARD_KEY_FILE", "SVC_GUARD_CLIENT_KEY_FILE", "SVC_GUARD_KEY"] {
        command.env(name, key);
    }
    refused(&ended(&mut command), "--key-file or --key-stdin");
    // With one it serves; here until the end of its input, which is at once. A line may end as on other systems.
    for (line, stdin) in [
        (with(&["--key-file", key]), String::new()),
        (with(&["--key-stdin"]), format!("{FAKE_KEY}\r\n")),
        (with(&["--read-only"]), String::new()),
    ] {
        let output = place.run_with(&line, &stdin);
        assert_eq!(succeeded(&output), "", "nothing but protocol");
        let said = text(&output.stderr);
        assert!(said.contains("the guard was not reached") && !said.contains(&FAKE_KEY[2..20]), "{said}");
    }
}

#[test]
fn mcp_asks_the_guard_of_the_homes_config() {
    let place = Place::paper();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    place.write_config(&place.config().replace("127.0.0.1:8547", &address));
    assert!(place.config().contains(&address), "{}", place.config());
    let home = place.home();
    let mut command = bare(&["--home", home.to_str().unwrap(), "mcp", "--read-only"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It comes here with its first question. Hung up on, it says so, serves all the same, and ends with its input.
    drop(listener.accept().unwrap());
    drop(listener);
    let output = finished(child);
    assert_eq!(succeeded(&output), "");
    assert!(text(&output.stderr).contains("serving all the same"), "{}", text(&output.stderr));
    // A config that cannot be read is no reason to ask somebody else.
    place.write_config("mode = \"live\"\n");
    let output = ended(&mut bare(&["--home", home.to_str().unwrap(), "mcp", "--read-only"]));
    refused(&output, "guard.toml");
}

/// A kill that is written where no guard looks stops nothing, and says that it did.
#[test]
fn mcp_takes_a_kill_file_only_where_a_guard_looks_for_it() {
    let place = Place::paper();
    let home = place.home();
    let kill = home.join("kill");
    let folder = place.path("folder");
    fs::create_dir(&folder).unwrap();
    let read = |file: &std::path::Path| with(&["--read-only", "--kill-file", file.to_str().unwrap()]).join(" ");
    let refuses = |file: &std::path::Path, reason: &str| {
        let line = read(file);
        place.refuses(&line.split(' ').collect::<Vec<_>>(), reason);
    };
    refuses(&home, &format!("--kill-file {} is a folder", home.display()));
    refuses(&home, &format!("give the file in it: {}", kill.display()));
    refuses(std::path::Path::new("/dev/null"), "is none: a guard looks at the file `kill` in its home");
    refuses(&home.join("kil"), "is none: a guard looks at the file `kill` in its home");
    refuses(&place.path("none/kill"), "does not exist");
    // What stands there is told before an agent relies on it.
    nix::unistd::mkfifo(&kill, nix::sys::stat::Mode::S_IRWXU).unwrap();
    refuses(&kill, "is no regular file");
    fs::remove_file(&kill).unwrap();
    let mut relative = place.command(&with(&["--read-only", "--kill-file", "kill"]));
    let warned = ended(relative.current_dir(&folder));
    succeeded(&warned);
    assert!(text(&warned.stderr).contains("looks like no home of a guard; give HOME/kill"), "{}", text(&warned.stderr));
    // The home that was named is the one that is meant.
    let other = Place::paper();
    let (named, killed) = (home.to_str().unwrap(), other.home().join("kill"));
    let given = ["--home", named, "mcp", "--read-only", "--kill-file", killed.to_str().unwrap()];
    place.refuses(&given, &format!("--home names {named}, whose kill file is {}", kill.display()));
    let aside = place.path("aside");
    std::os::unix::fs::symlink(&home, &aside).unwrap();
    for file in [kill.clone(), aside.join("kill")] {
        let mut line = vec!["--home", named];
        let given = read(&file);
        line.extend(given.split(' '));
        succeeded(&place.run(&line));
    }
    fs::write(&kill, "pulled\n").unwrap();
    succeeded(&place.run(&read(&kill).split(' ').collect::<Vec<_>>()));
}
