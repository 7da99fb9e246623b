//! A throw-away home, a venue, and the service between them; stopped, killed and started again at will.

use std::fs::{self, File};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use svc_guard::base::key::SecretKey;
use svc_guard::venue::signing::Source;

use crate::http::{Connection, Response, bare};
use crate::signing::signed;
use crate::sim::{Sim, SimConfig, SimHandle};

pub(crate) const ACCOUNT: &str = "0x1111111111111111111111111111111111111111";
/// Obviously no real key; its address is [`WALLET`].
pub(crate) const WALLET_KEY: &str = "0x0123456789012345678901234567890123456789012345678901234567890123";
pub(crate) const WALLET: &str = "0x14791697260e4c9a71f18484c9f997b308e59325";

/// With this in the environment no test's venue lets a socket open: its service has nothing but reads.
const DEAF: &str = "SERVICE_TESTS_DEAF";

const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for what must come; a service that hangs fails its test, a slow machine does not.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Paper,
    Testnet,
    Mainnet,
}

/// Everything a test needs.
pub(crate) struct Stand {
    folder: tempfile::TempDir,
    mode: Mode,
    pub(crate) venue: SimHandle,
    pub(crate) client: SecretKey,
    service: Option<(Child, SocketAddr)>,
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Stand {
    /// A service that runs and is healthy. Its rules are the defaults but for `rules`, a TOML table.
    pub(crate) fn up(mode: Mode, rules: &str) -> Self {
        let mut stand = Self::set_up(mode, rules);
        stand.start();
        stand
    }

    /// A home that is set up, and nothing running.
    pub(crate) fn set_up(mode: Mode, rules: &str) -> Self {
        Self::set_up_as(mode, rules, "", |_| {})
    }

    /// The same on a disk of its own: `prepare` is given the home while it is empty.
    pub(crate) fn set_up_on(mode: Mode, rules: &str, prepare: impl FnOnce(&Path)) -> Self {
        Self::set_up_as(mode, rules, "", prepare)
    }

    /// The same, with intervals of its own: the `[watch]` table's lines.
    pub(crate) fn set_up_watching(mode: Mode, rules: &str, watch: &str) -> Self {
        Self::set_up_as(mode, rules, watch, |_| {})
    }

    fn set_up_as(mode: Mode, rules: &str, watch: &str, prepare: impl FnOnce(&Path)) -> Self {
        let venue = venue(mode);
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        fs::create_dir(&home).unwrap();
        prepare(&home);
        let config = format!("[venue]\nurl = \"{}\"\n[watch]\n{watch}", venue.url());
        fs::write(home.join("guard.toml"), config).unwrap();
        fs::write(folder.path().join("rules.toml"), rules).unwrap();

        let key_out = folder.path().join("bot.key");
        let rules = format!("@{}", folder.path().join("rules.toml").display());
        let mut args = vec!["init", "--non-interactive", "--account", ACCOUNT, "--rules", &rules];
        args.extend(["--client-key-out", key_out.to_str().unwrap()]);
        args.extend(match mode {
            Mode::Paper => ["--account-network", "testnet"].as_slice(),
            Mode::Testnet => ["--network", "testnet", "--key-stdin", "--key-store", "file"].as_slice(),
            Mode::Mainnet => &MAINNET,
        });
        let done = run_with(&home, &args, WALLET_KEY);
        assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        let client = SecretKey::parse(&fs::read_to_string(key_out).unwrap()).unwrap();
        if mode == Mode::Mainnet {
            let mut begin = command(&home, &["journal-init", "--mode", "mainnet", "--note", "begin"]);
            let done = begin.env("SVC_MAINNET_CONFIRM", ACCOUNT).output().unwrap();
            assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
        }
        Self { folder, mode, venue, client, service: None }
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    pub(crate) fn run_args(&self) -> Vec<&'static str> {
        match self.mode {
            Mode::Paper => vec!["run", "--listen", "127.0.0.1:0"],
            Mode::Testnet => vec!["run", "--listen", "127.0.0.1:0", "--network", "testnet"],
            Mode::Mainnet => vec!["run", "--listen", "127.0.0.1:0", "--network", "mainnet", "--key-stdin"],
        }
    }

    /// Starts the service and waits until it is healthy.
    pub(crate) fn start(&mut self) {
        self.launch();
        until("a healthy service", || (self.get("/healthz").status == 200).then_some(()));
    }

    /// Starts the service and waits until it listens.
    pub(crate) fn launch(&mut self) {
        if let Err(status) = self.try_launch() {
            panic!("the service ended with {status}: {}", self.log());
        }
    }

    /// The program in this home with what its mode needs to start.
    pub(crate) fn run_command(&self, args: &[&str]) -> Command {
        let mut command = command(&self.home(), args);
        if self.mode == Mode::Mainnet {
            // On mainnet the key comes on standard input only.
            command.env("SVC_MAINNET_CONFIRM", ACCOUNT).stdin(File::open(self.home().join("api-wallet-key")).unwrap());
        }
        command
    }

    /// Starts the service by this command and waits until it listens.
    pub(crate) fn launch_as(&mut self, command: Command) {
        if let Err(status) = self.try_launch_as(command) {
            panic!("the service ended with {status}: {}", self.log());
        }
    }

    /// Starts the service and waits until it listens, or gives the status it ended with instead.
    pub(crate) fn try_launch(&mut self) -> Result<(), ExitStatus> {
        let command = self.run_command(&self.run_args());
        self.try_launch_as(command)
    }

    /// Starts the service by this command and waits until it listens, or gives the status it ended with instead.
    pub(crate) fn try_launch_as(&mut self, mut command: Command) -> Result<(), ExitStatus> {
        assert!(self.service.is_none(), "it runs already");
        let before = self.log().len();
        let log = File::options().create(true).append(true).open(self.log_file()).unwrap();
        let mut child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        let address = until("the service to listen", || {
            let said = self.log()[before..].to_owned();
            if let Some((_, after)) = said.split_once("listening on http://") {
                return after.split_once('\n')?.0.parse().ok().map(Ok);
            }
            child.try_wait().unwrap().map(Err)
        });
        self.service = Some((child, address?));
        Ok(())
    }

    /// The status that the service ended with by itself, if it did.
    pub(crate) fn has_ended(&mut self) -> Option<ExitStatus> {
        let status = self.service.as_mut()?.0.try_wait().unwrap()?;
        self.service = None;
        Some(status)
    }

    pub(crate) fn is_running(&self) -> bool {
        self.service.is_some()
    }

    /// A life keeps to what the lives before it left of the minute's weight: several of them leave the last one little to
    /// ask with. The next one does not know of them.
    pub(crate) fn forget_spent_weight(&self) {
        _ = fs::remove_file(self.home().join("run").join("weight"));
    }

    /// Takes over a service that a test started by itself.
    pub(crate) fn adopt(&mut self, child: Child, address: SocketAddr) {
        assert!(self.service.is_none(), "it runs already");
        self.service = Some((child, address));
    }

    /// Nobody listens any more where the service looks for its venue; another one stands somewhere else.
    pub(crate) fn venue_gone(&mut self) {
        self.venue = venue(self.mode);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.service.as_ref().unwrap().0.id()
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.service.as_ref().unwrap().1
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.pid()).unwrap()), signal).unwrap();
    }

    /// Sends a signal and returns the exit status.
    pub(crate) fn stop(&mut self, signal: Signal) -> Option<i32> {
        self.signal(signal);
        let (mut child, _) = self.service.take().unwrap();
        until("the service to end", || child.try_wait().unwrap()).code()
    }

    /// Ends it at once, wherever it is.
    pub(crate) fn kill(&mut self) {
        if let Some((mut child, _)) = self.service.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.address())
    }

    pub(crate) fn get(&self, target: &str) -> Response {
        self.connect().exchange(&bare("GET", target), true).unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.connect().post(path, &body.to_string()).unwrap()
    }

    /// Has the client sign an action and post it.
    pub(crate) fn send(&self, action: &Value) -> Value {
        let response = self.post("/exchange", &signed(&self.client, action));
        assert_eq!(response.status, 200, "{response:?}");
        response.json()
    }

    pub(crate) fn status(&self) -> Value {
        self.read("/guard/status")
    }

    pub(crate) fn events(&self) -> Vec<Value> {
        self.read("/guard/events")["events"].as_array().unwrap().clone()
    }

    /// A busy service may turn a reader away; it is asked again.
    fn read(&self, path: &str) -> Value {
        until(path, || {
            let response = self.get(path);
            if response.status != 200 {
                eprintln!("{path}: {response:?}");
            }
            (response.status == 200).then(|| response.json())
        })
    }

    pub(crate) fn events_of(&self, kind: &str) -> Vec<Value> {
        self.events().into_iter().filter(|event| event["kind"] == kind).collect()
    }

    pub(crate) fn event(&self, seq: &Value) -> Value {
        let found: Vec<Value> = self.events().into_iter().filter(|event| event["seq"] == *seq).collect();
        assert_eq!(found.len(), 1, "events with seq {seq}");
        found[0].clone()
    }

    /// Every exchange request that the venue saw.
    pub(crate) fn venue_saw(&self) -> Vec<Value> {
        self.venue.truth()["requests"].as_array().unwrap().clone()
    }

    /// The journal's folder.
    pub(crate) fn journal(&self) -> PathBuf {
        let mode = match self.mode {
            Mode::Paper => "paper",
            Mode::Testnet => "testnet",
            Mode::Mainnet => "mainnet",
        };
        self.home().join("journals").join(format!("{mode}-{ACCOUNT}"))
    }

    /// The journal's files of events, oldest first: a test that runs over midnight has two.
    pub(crate) fn events_files(&self) -> Vec<PathBuf> {
        let named = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with("events-");
        let entries = fs::read_dir(self.journal()).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).filter(|path| named(path)).collect();
        // `events-<day>.jsonl` before `events-<day>.1.jsonl`.
        found.sort_by_key(|path| path.with_extension(""));
        found
    }

    /// The file that is being written.
    pub(crate) fn events_file(&self) -> PathBuf {
        self.events_files().pop().unwrap()
    }

    /// The whole lines of the event journal, as a crash leaves them.
    pub(crate) fn on_disk(&self) -> Vec<Value> {
        let text = self.events_files().iter().map(|file| fs::read(file).unwrap()).collect::<Vec<_>>().concat();
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..end]);
        let lines = whole
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice::<Value>(line).unwrap());
        // A file's first line may be a header, which is no event.
        lines.filter(|line| line.get("seq").is_some()).collect()
    }
}

/// How mainnet is set up.
const MAINNET: [&str; 9] = [
    "--network",
    "mainnet",
    "--key-stdin",
    "--key-store",
    "file",
    "--confirm-mainnet",
    ACCOUNT,
    "--equity-cap",
    "1000000",
];

/// Paper too reads the test network here, so that asset ids are the same in both modes.
fn venue(mode: Mode) -> SimHandle {
    let mut config = SimConfig::new(ACCOUNT.parse().unwrap(), WALLET.parse().unwrap());
    assert!(config.network == Source::Testnet);
    if mode == Mode::Mainnet {
        config.network = Source::Mainnet;
    }
    let venue = Sim::start(config).unwrap();
    if std::env::var_os(DEAF).is_some() {
        venue.control(&serde_json::json!({"op": "feed", "kind": "refuse"})).unwrap();
    }
    venue
}

/// The program in this home with no variable of its own set.
pub(crate) fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_svc-guard"));
    command.arg("--home").arg(home).args(args).stdin(Stdio::null());
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SVC_")) {
        command.env_remove(name);
    }
    // A service manager of whoever runs the tests is none of theirs.
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
        command.env_remove(name);
    }
    command
}

pub(crate) fn run_with(home: &Path, args: &[&str], stdin: &str) -> Output {
    let mut command = command(home, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that reads nothing leaves the pipe broken.
    _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    finished(child)
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
