//! The real program in a throw-away home: set up by its own `init`, started by its own `run`, ended by a signal.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use svc_guard::base::address::Address;
use svc_guard::base::key::SecretKey;
use svc_guard::rules::Rules;
use tempfile::TempDir;

/// How long a start may take until entries are judged, and an end until the process is gone.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// What a guard is set up with.
pub(crate) struct Plan<'a> {
    /// Where its home is made; `None` takes the system's folder for temporary files.
    pub(crate) parent: Option<&'a Path>,
    /// The venue's base URL, the one line of config that is written by hand.
    pub(crate) venue_url: &'a str,
    /// The account guarded.
    pub(crate) account: Address,
    /// The API wallet's key for testnet mode; without one it is paper mode.
    pub(crate) api_wallet: Option<&'a str>,
    /// The owner's rules.
    pub(crate) rules: &'a Rules,
    /// Loopback address and port.
    pub(crate) listen: &'a str,
    /// Client keys, at least one.
    pub(crate) clients: usize,
    /// Its share of the venue's request budget.
    pub(crate) ip_share: &'a str,
}

/// A running guard. Dropped, it is killed and its home is gone.
pub(crate) struct Guard {
    program: PathBuf,
    network: &'static str,
    child: Child,
    folder: TempDir,
    /// Its base URL.
    pub(crate) url: String,
    /// The keys that bots sign with.
    pub(crate) client_keys: Vec<SecretKey>,
}

impl Guard {
    /// Sets a home up, starts the program in it, and waits until it has read its account.
    pub(crate) fn start(program: &Path, plan: &Plan<'_>) -> Result<Self, String> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("svc-guard-");
        let folder = match plan.parent {
            Some(parent) => builder.tempdir_in(parent),
            None => builder.tempdir(),
        };
        let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
        let mut client_keys = vec![init(program, plan, folder.path())?];
        while client_keys.len() < plan.clients {
            client_keys.push(add_client(program, folder.path(), client_keys.len())?);
        }
        let network = if plan.api_wallet.is_some() { "testnet" } else { "paper" };
        let child = run(program, network, folder.path())?;
        let program = program.to_owned();
        let mut guard = Self { program, network, child, folder, url: String::new(), client_keys };
        guard.await_ready().map_err(|error| format!("{error}\nIts log:\n{}", guard.log()))?;
        Ok(guard)
    }

    /// Runs another command of the program on the same home; gives what it printed.
    #[allow(dead_code, reason = "the load generator shares this file and needs no other command")]
    pub(crate) fn command(&self, arguments: &[&str]) -> Result<String, String> {
        let output = command(&self.program, self.folder.path()).args(arguments).stdin(Stdio::null()).output();
        let output = output.map_err(|error| format!("svc-guard {arguments:?} cannot be started: {error}"))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("svc-guard {arguments:?}: {}", String::from_utf8_lossy(&output.stderr).trim()))
    }

    /// A file of its home.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        home(self.folder.path()).join(name)
    }

    /// Ends the service and starts it anew on the same home.
    pub(crate) fn restart(&mut self) -> Result<(), String> {
        self.terminate()?;
        self.child = run(&self.program, self.network, self.folder.path())?;
        self.url.clear();
        self.await_ready().map_err(|error| format!("{error}\nIts log:\n{}", self.log()))
    }

    fn await_ready(&mut self) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.ended() {
                return Err(format!("svc-guard ended at once: {status}"));
            }
            if let Some((_, rest)) = self.log().split_once("listening on ") {
                rest.split_whitespace().next().unwrap_or_default().clone_into(&mut self.url);
            }
            // The account was read, and once more after the open orders: entries wait for both.
            let is_unread = |alert: &Value| alert["code"] == "account_stale" || alert["code"] == "orders_stale";
            let is_ready = |status: &Value| {
                status["equity"].is_string() && !status["alerts"].as_array().is_none_or(|all| all.iter().any(is_unread))
            };
            if !self.url.is_empty() && get(&format!("{}/guard/status", self.url)).is_ok_and(|status| is_ready(&status))
            {
                return Ok(());
            }
            std::thread::sleep(LOOK_AGAIN);
        }
        Err(format!("svc-guard has not read its account within {PATIENCE:?}"))
    }

    /// What it has written to standard error.
    fn log(&self) -> String {
        fs::read_to_string(log_file(self.folder.path())).unwrap_or_default()
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it did.
    pub(crate) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends SIGTERM and gives the time until the process was gone, and how it ended.
    pub(crate) fn stop(mut self) -> Result<(Duration, ExitStatus), String> {
        self.terminate()
    }

    /// The same, with its home kept for another start.
    pub(crate) fn terminate(&mut self) -> Result<(Duration, ExitStatus), String> {
        let asked = Instant::now();
        if self.ended().is_none() {
            let pid = i32::try_from(self.pid()).map_err(|error| error.to_string())?;
            kill(Pid::from_raw(pid), Signal::SIGTERM).map_err(|error| format!("SIGTERM: {error}"))?;
        }
        let until = asked + PATIENCE;
        while Instant::now() < until {
            if let Some(status) = self.ended() {
                return Ok((asked.elapsed(), status));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Err(format!("svc-guard runs on {PATIENCE:?} after SIGTERM"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Gone already where it was stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A GET whose answer is 200 and JSON.
pub(crate) fn get(url: &str) -> Result<Value, String> {
    let agent: ureq::Agent = ureq::config::Config::builder().proxy(None).timeout_global(Some(PATIENCE)).build().into();
    let mut answer = agent.get(url).call().map_err(|error| format!("GET {url}: {error}"))?;
    let text = answer.body_mut().read_to_string().map_err(|error| format!("GET {url}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("GET {url}: {error}"))
}

/// Runs `init` and gives the client key that it made.
fn init(program: &Path, plan: &Plan<'_>, folder: &Path) -> Result<SecretKey, String> {
    let failed = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    fs::create_dir(home(folder)).map_err(|error| failed("no home", &error))?;
    let config = format!("[venue]\nurl = \"{}\"\n", plan.venue_url);
    fs::write(home(folder).join("guard.toml"), config).map_err(|error| failed("no config", &error))?;
    let (code, account, client_key) = (plan.rules.to_code(), plan.account.to_string(), folder.join("client-key"));
    let mut command = command(program, folder);
    command.args(["init", "--non-interactive", "--account", &account, "--rules", &code, "--listen", plan.listen]);
    command.args(["--ip-share", plan.ip_share]);
    command.args(match plan.api_wallet {
        Some(_) => ["--network", "testnet", "--key-stdin", "--key-store", "file"].as_slice(),
        None => &["--account-network", "testnet"],
    });
    command.arg("--client-key-out").arg(&client_key);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| failed("svc-guard init cannot be started", &error))?;
    if let (Some(mut stdin), Some(key)) = (child.stdin.take(), plan.api_wallet) {
        // A set-up that refuses before it reads the key leaves the pipe broken; its reason comes below.
        let _ = stdin.write_all(key.as_bytes());
    }
    let output = child.wait_with_output().map_err(|error| failed("svc-guard init", &error))?;
    made_key(&output, &client_key)
}

/// Adds one more client and gives its key.
fn add_client(program: &Path, folder: &Path, number: usize) -> Result<SecretKey, String> {
    let file = folder.join(format!("client-key-{number}"));
    let output = command(program, folder).args(["client", "add", "--out"]).arg(&file).output();
    made_key(&output.map_err(|error| format!("svc-guard client add cannot be started: {error}"))?, &file)
}

/// The key that a command has written to a file.
fn made_key(output: &Output, file: &Path) -> Result<SecretKey, String> {
    if !output.status.success() {
        return Err(format!("svc-guard: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let key = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    SecretKey::parse(&key).map_err(|error| format!("{}: {error}", file.display()))
}

/// Starts the service.
fn run(program: &Path, network: &str, folder: &Path) -> Result<Child, String> {
    let log = fs::File::create(log_file(folder)).map_err(|error| format!("no log file: {error}"))?;
    command(program, folder)
        .args(["run", "--network", network])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .map_err(|error| format!("{} cannot be started: {error}", program.display()))
}

/// The program on its home, with none of its variables set.
fn command(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.as_encoded_bytes().starts_with(b"SVC_")) {
        command.env_remove(name);
    }
    command.env("SVC_GUARD_HOME", home(folder));
    command
}

fn home(folder: &Path) -> PathBuf {
    folder.join("home")
}

fn log_file(folder: &Path) -> PathBuf {
    folder.join("guard.log")
}
