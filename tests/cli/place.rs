//! A throw-away home, the program run in it, and what an answer must look like.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use svc_guard::rules::Rules;

const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const ACCOUNT: &str = "0x1111111111111111111111111111111111111111";
/// Obviously no real key; its address is [`WALLET`].
pub(crate) const FAKE_KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
/// Another one, as obviously no real one.
pub(crate) const OTHER_KEY: &str = "0x4444444444444444444444444444444444444444444444444444444444444444";
pub(crate) const WALLET: &str = "0x14791697260e4c9a71f18484c9f997b308e59325";
/// A venue that is never there: nothing listens on the discard port, and tests reach no other host.
pub(crate) const NO_VENUE: &str = "[venue]\nurl = \"http://127.0.0.1:9\"\n";

/// A throw-away home inside a throw-away folder.
pub(crate) struct Place {
    pub(crate) folder: tempfile::TempDir,
}

impl Place {
    /// A home with a venue that is not there and nothing else.
    pub(crate) fn empty() -> Self {
        Self::with(NO_VENUE)
    }

    pub(crate) fn with(config: &str) -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir(place.home()).unwrap();
        place.write_config(config);
        place
    }

    pub(crate) fn paper() -> Self {
        let place = Self::empty();
        succeeded(&place.run(&init(&["--client-key-out", place.path("bot").to_str().unwrap()])));
        place
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn config(&self) -> String {
        fs::read_to_string(self.home().join("guard.toml")).unwrap()
    }

    pub(crate) fn write_config(&self, text: &str) {
        let path = self.home().join("guard.toml");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = bare(args);
        command.env("SVC_GUARD_HOME", self.home());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Output {
        ended(&mut self.command(args))
    }

    pub(crate) fn run_with(&self, args: &[&str], stdin: &str) -> Output {
        let mut child =
            self.command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // A command that refuses before it reads leaves the pipe broken; that is its right.
        _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
        finished(child)
    }

    /// Every file and folder with its mode and content.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = fs::symlink_metadata(&path).unwrap();
                let content = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                if metadata.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path, metadata.permissions().mode() & 0o7777, content));
            }
        }
        found.sort();
        found
    }

    /// Runs a command that must refuse, for this reason, and leave everything as it was.
    pub(crate) fn refuses(&self, args: &[&str], reason: &str) {
        let before = self.listing();
        refused(&self.run(args), reason);
        assert!(self.listing() == before, "{args:?} left something behind");
    }
}

/// What became of a program that must end by itself; one that does not is ended, and its test fails.
pub(crate) fn finished(child: Child) -> Output {
    let id = Pid::from_raw(i32::try_from(child.id()).unwrap());
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    match ended.recv_timeout(PATIENCE) {
        Ok(output) => output.unwrap(),
        Err(_) => {
            kill(id, Signal::SIGKILL).unwrap();
            panic!("the program did not end");
        }
    }
}

/// Runs a command to its end.
pub(crate) fn ended(command: &mut Command) -> Output {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    loop {
        match command.spawn() {
            // A program that was just copied: another test's child holds it open until it runs what it was made for.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => std::thread::yield_now(),
            spawned => return finished(spawned.unwrap()),
        }
    }
}

/// The program with no variable of its own set.
pub(crate) fn bare(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-guard"));
    command.args(args).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SVC_")) {
        command.env_remove(name);
    }
    command
}

pub(crate) fn rules() -> String {
    Rules::default().to_code()
}

pub(crate) fn init(more: &[&str]) -> Vec<&'static str> {
    let args = ["init", "--non-interactive", "--account", ACCOUNT, "--rules"];
    let own = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    args.into_iter().chain([own(&rules())]).chain(more.iter().map(|text| own(text))).collect()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn succeeded(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// Exit 2, nothing on standard output, one line with the reason on standard error, no key.
pub(crate) fn refused(output: &Output, reason: &str) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    assert!(said.starts_with("svc-guard: ") && said.trim_end().lines().count() == 1, "{said}");
    assert!(said.contains(reason), "{reason:?} is not in {said}");
    assert!(!said.contains(&FAKE_KEY[2..20]), "{said}");
}

pub(crate) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

/// The value after a label of the program's own output.
pub(crate) fn labelled(output: &str, label: &str) -> String {
    let line = output.lines().find(|line| line.starts_with(label)).unwrap_or_else(|| panic!("no {label} in {output}"));
    line[label.len()..].trim().to_owned()
}

/// A venue that answers every `userRole` with the same body and knows no API wallet by name, as often as it is asked.
pub(crate) fn venue(answer: &'static str) -> String {
    venue_with(answer, "[]")
}

/// The same, with an answer to `extraAgents`.
pub(crate) fn venue_with(role: &'static str, agents: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = Vec::new();
            let mut part = [0; 1024];
            let answer = loop {
                let read = stream.read(&mut part).unwrap();
                assert!(read > 0, "a question that this venue does not know");
                request.extend_from_slice(&part[..read]);
                let asked = text(&request);
                if asked.contains(r#""type":"userRole""#) {
                    break role;
                } else if asked.contains(r#""type":"extraAgents""#) {
                    break agents;
                }
            };
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
            stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(answer.as_bytes())).unwrap();
        }
    });
    format!("[venue]\nurl = \"{url}\"\n")
}

pub(crate) const AGENT: &str = r#"{"role":"agent","data":{"user":"0x1111111111111111111111111111111111111111"}}"#;

/// The words of a refusal of these arguments, which leaves nothing behind.
pub(crate) fn said(place: &Place, args: &[&str]) -> String {
    let before = place.listing();
    let output = place.run(args);
    refused(&output, "");
    assert!(place.listing() == before, "{args:?} left something behind");
    text(&output.stderr)
}
