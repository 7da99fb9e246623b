//! Messages to the service manager (systemd): ready, watchdog, shutting down, status.
//! Protocol: <https://www.freedesktop.org/software/systemd/man/latest/sd_notify.html>.
//!
//! Each is one datagram to the socket that the manager named. Where none was named, nothing is sent; a manager that does not
//! listen holds nobody up.

use std::ffi::{OsStr, OsString};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use super::level::Level;
use super::log;
use crate::base::text::one_line;

/// How often `READY=1` is tried, and the pause between two tries.
const READY_TRIES: usize = 50;
const READY_PAUSE: Duration = Duration::from_millis(20);

/// Most characters of a status line.
const MAX_STATUS: usize = 200;

/// The wishes of the service manager that started the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The socket it listens on: a path, or `@` and an abstract name.
    pub socket: Option<OsString>,
    /// How long it waits for a sign of life.
    pub watchdog: Option<Duration>,
    /// What it connected to its journal, as `JOURNAL_STREAM` names it.
    pub journal: Option<OsString>,
}

/// The socket of the service manager, or none.
#[derive(Clone, Debug, Default)]
pub(in crate::service) struct Notify {
    line: Option<Arc<(UnixDatagram, SocketAddr)>>,
    watchdog: Option<Duration>,
}

impl Notify {
    /// Opens the socket that was asked for. One that cannot be used is logged: the manager will end the service by itself
    /// if it waits for a message.
    pub(in crate::service) fn open(asked: &Asked) -> Self {
        let Some(name) = &asked.socket else { return Self::default() };
        match connect(name) {
            Ok(line) => Self { line: Some(Arc::new(line)), watchdog: asked.watchdog },
            Err(why) => {
                let name = name.display();
                log::line(Level::Warning, format_args!("the service manager's socket {name} cannot be used: {why}"));
                Self::default()
            }
        }
    }

    /// The journals are verified and requests are served.
    ///
    /// A manager that never hears it ends a guard that works, so a socket that is full is tried for a while.
    pub(in crate::service) fn ready(&self, status: &str) {
        self.ready_with(status, || std::thread::sleep(READY_PAUSE));
    }

    fn ready_with(&self, status: &str, mut pause: impl FnMut()) {
        let text = format!("READY=1\n{}", status_line(status));
        for _ in 0..READY_TRIES {
            if self.send(&text) {
                return;
            }
            pause();
        }
        log::line(Level::Warning, "the service manager could not be told that the service is ready");
    }

    /// The shutdown has begun.
    pub(in crate::service) fn shutting_down(&self, status: &str) {
        self.send(&format!("STOPPING=1\n{}", status_line(status)));
    }

    /// The line that `systemctl status` shows.
    pub(in crate::service) fn status(&self, status: &str) {
        self.send(&status_line(status));
    }

    /// The handle that feeds the watchdog.
    pub(in crate::service) fn watchdog(&self) -> Watchdog {
        Watchdog { notify: self.clone(), half: self.watchdog.map(|patience| patience / 2), fed: Duration::ZERO }
    }

    fn send(&self, text: &str) -> bool {
        self.line.as_ref().is_none_or(|line| line.0.send_to_addr(text.as_bytes(), &line.1).is_ok())
    }
}

/// Tells the manager that the decision loop turns, at half of the time that it waits. Only that loop holds one.
pub(in crate::service) struct Watchdog {
    notify: Notify,
    half: Option<Duration>,
    /// When it was last fed, by the service's steady clock.
    fed: Duration,
}

impl Watchdog {
    /// Feeds it when that is due. What the manager's full socket refuses is tried again at the loop's next turn.
    pub(in crate::service) fn turn(&mut self, steady_ms: u64) {
        let now = Duration::from_millis(steady_ms);
        let is_due = |half: Duration| self.fed == Duration::ZERO || now.saturating_sub(self.fed) >= half;
        if self.half.is_some_and(is_due) && self.notify.send("WATCHDOG=1") {
            self.fed = now.max(Duration::from_millis(1));
        }
    }
}

/// A socket that never makes its sender wait, and whom to send to.
fn connect(name: &OsStr) -> Result<(UnixDatagram, SocketAddr), String> {
    let failed = |error: std::io::Error| error.to_string();
    let address = match name.as_bytes() {
        [b'@', name @ ..] => SocketAddr::from_abstract_name(name),
        [b'/', ..] => SocketAddr::from_pathname(name),
        _ => return Err("it is neither a path nor an abstract name".to_owned()),
    };
    let socket = UnixDatagram::unbound().map_err(failed)?;
    socket.set_nonblocking(true).map_err(failed)?;
    Ok((socket, address.map_err(failed)?))
}

/// One line, so that no text can pass for another assignment.
fn status_line(text: &str) -> String {
    format!("STATUS={}", one_line(text, MAX_STATUS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manager(watchdog: Option<Duration>) -> (tempfile::TempDir, UnixDatagram, Notify) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let notify = Notify::open(&Asked { socket: Some(path.into_os_string()), watchdog, journal: None });
        (folder, socket, notify)
    }

    fn heard(socket: &UnixDatagram) -> Vec<String> {
        let mut bytes = [0; 1024];
        let next = || socket.recv(&mut bytes).ok().map(|length| String::from_utf8(bytes[..length].to_vec()).unwrap());
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn each_word_is_one_datagram_and_no_text_is_another_word() {
        let (_folder, socket, notify) = manager(None);
        notify.status("a\nREADY=1");
        notify.ready("up");
        notify.shutting_down(&"x".repeat(500));
        let long = format!("STOPPING=1\nSTATUS={}", "x".repeat(MAX_STATUS));
        assert_eq!(heard(&socket), ["STATUS=a READY=1", "READY=1\nSTATUS=up", &long]);
    }

    #[test]
    fn the_watchdog_is_fed_at_once_and_then_at_half_of_its_patience() {
        let (_folder, socket, notify) = manager(Some(Duration::from_secs(10)));
        let mut watchdog = notify.watchdog();
        for (at_ms, fed) in [(0, 1), (4_999, 0), (5_001, 1), (5_002, 0), (10_000, 0), (10_001, 1)] {
            watchdog.turn(at_ms);
            assert_eq!(heard(&socket), vec!["WATCHDOG=1"; fed], "{at_ms}");
        }
    }

    #[test]
    fn a_watchdog_that_nobody_asked_for_is_silent() {
        let (_folder, socket, notify) = manager(None);
        notify.watchdog().turn(0);
        assert!(heard(&socket).is_empty());
    }

    #[test]
    fn that_it_is_ready_is_said_again_to_a_manager_that_is_not_there_at_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let notify =
            Notify::open(&Asked { socket: Some(path.clone().into_os_string()), watchdog: None, journal: None });
        let mut socket = None;
        notify.ready_with("up", || socket = Some(UnixDatagram::bind(&path).unwrap()));
        let socket = socket.unwrap();
        socket.set_nonblocking(true).unwrap();
        assert_eq!(heard(&socket), ["READY=1\nSTATUS=up"]);
    }

    #[test]
    fn that_it_is_ready_is_said_again_to_a_manager_whose_socket_is_full() {
        let (_folder, socket, notify) = manager(None);
        while notify.send("more") {}
        let mut before = Vec::new();
        notify.ready_with("up", || before.extend(heard(&socket)));
        assert!(before.iter().all(|word| word == "more"));
        assert_eq!(heard(&socket), ["READY=1\nSTATUS=up"]);
    }

    #[test]
    fn a_manager_that_does_not_listen_stops_nothing() {
        for socket in [None, Some("/nowhere/notify"), Some("relative"), Some("@nobody-listens-on-this-name"), Some("")]
        {
            let asked =
                Asked { socket: socket.map(OsString::from), watchdog: Some(Duration::from_secs(1)), journal: None };
            let notify = Notify::open(&asked);
            notify.ready("up");
            notify.watchdog().turn(0);
        }
    }

    /// A manager that no longer reads must not hold up the decision loop.
    #[test]
    fn a_manager_that_does_not_read_holds_nobody_up() {
        let (_folder, socket, notify) = manager(Some(Duration::from_secs(10)));
        (0..100_000).for_each(|_| notify.status("more"));
        let mut watchdog = notify.watchdog();
        watchdog.turn(0);
        assert!(heard(&socket).iter().all(|word| word == "STATUS=more"));
        watchdog.turn(1);
        assert_eq!(heard(&socket), ["WATCHDOG=1"], "what was refused is tried again");
    }
}
