//! Messages to the service manager, on a socket as it makes them: a path or an abstract name.

use std::fs::{self, File};
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;

use crate::http::{Connection, bare};
use crate::stand::{Mode, Stand, WALLET_KEY, until};

const PATH: fn(&Stand) -> String = |stand| stand.home().with_file_name("notify").display().to_string();
const ABSTRACT: fn(&Stand) -> String = |stand| format!("@{}", stand.home().display());

/// A service manager: its socket, and what it heard.
struct Manager {
    name: String,
    socket: UnixDatagram,
    heard: Vec<String>,
}

impl Manager {
    fn new(name: String) -> Self {
        let socket = match name.strip_prefix('@') {
            Some(name) => UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()),
            None => UnixDatagram::bind(&name),
        };
        let socket = socket.unwrap();
        socket.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        Self { name, socket, heard: Vec::new() }
    }

    fn listen(&mut self) {
        let mut bytes = [0; 4096];
        while let Ok(length) = self.socket.recv(&mut bytes) {
            self.heard.push(String::from_utf8(bytes[..length].to_vec()).unwrap());
        }
    }

    /// How many of the words said so far hold this line.
    fn count(&mut self, line: &str) -> usize {
        self.listen();
        self.heard.iter().filter(|word| word.lines().any(|said| said == line)).count()
    }

    /// Waits until this line was said, and gives the word that it stands in.
    fn waits_for(&mut self, line: &str) -> String {
        until(line, || (self.count(line) > 0).then_some(()));
        self.heard.iter().find(|word| word.lines().any(|said| said == line)).unwrap().clone()
    }

    fn starts(&self, stand: &Stand) -> Command {
        let mut command = stand.run_command(&stand.run_args());
        command.env("NOTIFY_SOCKET", &self.name).env_remove("WATCHDOG_USEC").env_remove("WATCHDOG_PID");
        command
    }
}

#[test]
fn it_is_ready_when_the_port_answers_and_says_when_it_stops() {
    for name in [PATH, ABSTRACT] {
        let mut stand = Stand::set_up(Mode::Paper, "");
        let mut manager = Manager::new(name(&stand));
        stand.launch_as(manager.starts(&stand));
        let ready = manager.waits_for("READY=1");
        let status = format!("listening on http://{}", stand.address());
        assert!(ready.lines().any(|line| line.starts_with("STATUS=") && line.ends_with(&status)), "{ready}");
        assert_eq!((manager.count("READY=1"), manager.count("STOPPING=1")), (1, 0));
        assert_eq!(manager.count("WATCHDOG=1"), 0, "nobody asked for signs of life");
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
        assert!(manager.waits_for("STOPPING=1").contains("STATUS="));
        assert_eq!((manager.count("READY=1"), manager.count("STOPPING=1")), (1, 1));
    }
}

/// Ended with its test.
struct Ended(Option<Child>);

impl Drop for Ended {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}

/// The port is taken before the key is read, so that a taken port costs no key; nobody answers there yet.
#[test]
fn it_is_not_ready_while_it_waits_for_the_key() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let mut manager = Manager::new(PATH(&stand));
    let port = UnusedPort::find();
    let mut command = stand.run_command(&["run", "--network", "testnet", "--key-stdin", "--listen", &port.0]);
    command.env("NOTIFY_SOCKET", &manager.name).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(File::create(stand.log_file()).unwrap());
    let mut child = Ended(Some(command.spawn().unwrap()));
    until("the port to be taken", || std::net::TcpStream::connect(&port.0).ok());
    assert_eq!(manager.count("READY=1"), 0, "{:?}", manager.heard);
    let mut stdin = child.0.as_mut().unwrap().stdin.take().unwrap();
    stdin.write_all(WALLET_KEY.as_bytes()).unwrap();
    drop(stdin);
    manager.waits_for("READY=1");
    let answer = Connection::open(port.0.parse().unwrap()).exchange(&bare("GET", "/guard/events"), true).unwrap();
    assert_eq!(answer.status, 200);
    stand.adopt(child.0.take().unwrap(), port.0.parse().unwrap());
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// A port of loopback that was free a moment ago, on an address that no other test takes ports of.
struct UnusedPort(String);

impl UnusedPort {
    fn find() -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.9:0").unwrap();
        Self(listener.local_addr().unwrap().to_string())
    }
}

/// A door that cannot be opened: the port is taken, and nobody will ever answer there.
#[test]
fn it_is_never_ready_when_the_door_does_not_open() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    fs::create_dir_all(stand.home().join("run/http.sock/in-the-way")).unwrap();
    let mut manager = Manager::new(PATH(&stand));
    let status = stand.try_launch_as(manager.starts(&stand)).unwrap_err();
    assert_eq!(status.code(), Some(1), "{}", stand.log());
    assert_eq!(manager.count("READY=1"), 0, "{:?}", manager.heard);
}

#[test]
fn signs_of_life_come_while_the_decision_loop_turns() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let mut manager = Manager::new(PATH(&stand));
    let mut command = manager.starts(&stand);
    command.env("WATCHDOG_USEC", "400000");
    stand.launch_as(command);
    until("signs of life", || (manager.count("WATCHDOG=1") >= 5).then_some(()));
    // A process that stands still says nothing, whatever was on its way before.
    stand.signal(Signal::SIGSTOP);
    let stands = || fs::read_to_string(format!("/proc/{}/stat", stand.pid())).unwrap().contains(") T ");
    until("the process to stand still", || stands().then_some(()));
    let before = manager.count("WATCHDOG=1");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(manager.count("WATCHDOG=1"), before);
    stand.signal(Signal::SIGCONT);
    until("signs of life again", || (manager.count("WATCHDOG=1") > before).then_some(()));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
}

/// A watchdog that was meant for another process is none of this one's.
#[test]
fn a_watchdog_for_another_process_is_not_fed() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let mut manager = Manager::new(PATH(&stand));
    let mut command = manager.starts(&stand);
    command.env("WATCHDOG_USEC", "1000").env("WATCHDOG_PID", std::process::id().to_string());
    stand.launch_as(command);
    manager.waits_for("READY=1");
    // The loop has turned since then: the answer came through it.
    stand.status();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    assert_eq!(manager.count("WATCHDOG=1"), 0);
}

#[test]
fn a_manager_that_is_not_there_stops_nothing() {
    for name in ["/nowhere/notify", "no-path-at-all"] {
        let mut stand = Stand::set_up(Mode::Paper, "");
        let mut command = stand.run_command(&stand.run_args());
        command.env("NOTIFY_SOCKET", name).env("WATCHDOG_USEC", "1000");
        stand.launch_as(command);
        assert_eq!(stand.get("/guard/events").status, 200);
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    }
}
