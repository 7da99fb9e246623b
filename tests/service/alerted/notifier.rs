//! The notifier as a process, with a config of a test's own.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::http::bare;
use crate::stand::{Stand, command, run_with, until};

/// A notifier, and the folder that it lives in.
pub(crate) struct Notifier {
    folder: tempfile::TempDir,
    child: Option<Child>,
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Notifier {
    /// A config that was written, and nothing running.
    pub(crate) fn set_up(config: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notify.toml"), config).unwrap();
        Self { folder, child: None }
    }

    /// A config with one webhook.
    pub(crate) fn telling(url: &str, more: &str) -> Self {
        Self::set_up(&format!("[[target]]\nname = \"hook\"\nform = \"json\"\nurl = \"{url}\"\n{more}"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A file that only its owner can read.
    pub(crate) fn secret(&self, name: &str, text: &str) -> PathBuf {
        let file = self.path(name);
        fs::write(&file, text).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        file
    }

    pub(crate) fn config(&self, text: &str) {
        fs::write(self.path("notify.toml"), text).unwrap();
    }

    /// Runs `notify test`.
    pub(crate) fn test(&self) -> Output {
        run_with(self.folder.path(), &["notify", "test"], "")
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    pub(crate) fn state(&self) -> String {
        fs::read_to_string(self.path("state").join("state.json")).unwrap_or_default()
    }

    /// Starts it beside a guard, and waits until it has its place among that one's events.
    pub(crate) fn start(&mut self, stand: &Stand) {
        self.start_in(&stand.home(), stand);
    }

    /// The same with another home: of one that is not the guard's it reads no journal.
    pub(crate) fn start_in(&mut self, home: &Path, stand: &Stand) {
        self.start_at(home, &format!("http://{}", stand.address()));
        self.has_its_place();
    }

    /// Waits until it has its place among a guard's events.
    pub(crate) fn has_its_place(&self) {
        until("the notifier to have its place", || {
            self.state().contains("\"cursor\":").then_some(()).filter(|()| !self.state().contains("\"cursor\":null"))
        });
    }

    /// Starts it on a home's journal and a guard's address.
    pub(crate) fn start_at(&mut self, home: &Path, guard: &str) {
        self.start_with(home, &["notify", "--guard-url", guard]);
    }

    /// Starts it for a home, wherever that one's guard answers.
    pub(crate) fn start_for(&mut self, home: &Path) {
        self.start_with(home, &["notify"]);
    }

    fn start_with(&mut self, home: &Path, args: &[&str]) {
        assert!(self.child.is_none(), "it runs already");
        let log = File::options().create(true).append(true).open(self.path("log")).unwrap();
        let mut command = command(home, args);
        command.arg("--file").arg(self.path("notify.toml")).arg("--state").arg(self.path("state"));
        self.child = Some(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.as_ref().unwrap().id()).unwrap()), signal).unwrap();
    }

    /// The exit status that it ends with by itself.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let mut child = self.child.take().unwrap();
        until("the notifier to end", || child.try_wait().unwrap()).code()
    }

    /// Ends it by a signal and gives its exit status.
    pub(crate) fn stop(&mut self) -> Option<i32> {
        self.signal(Signal::SIGTERM);
        let mut child = self.child.take().unwrap();
        until("the notifier to end", || child.try_wait().unwrap()).code()
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// A service on this port, so that a notifier finds it again after a restart.
pub(crate) fn start_on(stand: &mut Stand, port: u16) {
    let listen = format!("127.0.0.1:{port}");
    let args: Vec<&str> =
        stand.run_args().into_iter().map(|arg| if arg == "127.0.0.1:0" { listen.as_str() } else { arg }).collect();
    let command = stand.run_command(&args);
    stand.launch_as(command);
    until("a healthy service", || {
        (stand.connect().exchange(&bare("GET", "/healthz"), true).ok()?.status == 200).then_some(())
    });
}
