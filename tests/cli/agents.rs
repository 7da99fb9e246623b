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
