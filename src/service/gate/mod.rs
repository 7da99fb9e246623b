//! The gate: the public listener, and everything that must be true of a request before a handler sees it.
//!
//! It bounds connections, heads, bodies and time, reads each request whole, refuses what comes from where it
//! must not, and passes the rest on: requests to be judged to their handler at once, others to the HTTP workers,
//! WebSocket handshakes to the service that speaks with them. What a request means may not enter: the gate reads no body.
//!
//! Connections are bounded, and the last few places are for guests: one request each, soon, then closed. So
//! whoever leaks or hoards connections cannot keep a kill or an exit out for longer than a guest may take.

mod admit;
mod conn;
mod head;
mod io;
mod pipes;
mod slots;
mod upgrade;

use crate::service::http::Handler;
use crate::service::http::routes::Route;
use crate::service::http::types::Response;
use crate::service::thread::{Death, spawn, spawn_small};
pub use admit::Hosts;
use conn::Conn;
use crossbeam_channel::Sender;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use pipes::{Answer, Pipes};
pub use slots::{Slot, Slots};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
pub use upgrade::Upgrade;

/// Serves an upgraded connection on the thread that it came in on, which has [`STACK_BYTES`] of stack.
pub type Upgrades = Arc<dyn Fn(Upgrade) + Send + Sync>;

/// Stack of a connection's thread.
pub const STACK_BYTES: usize = 256 * 1024;

/// After an accept that failed, for want of descriptors most likely, there is this pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What a connection may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections at one moment, upgraded ones included.
    pub connections: usize,
    /// How many of these are for guests, with one request each and no upgrade.
    pub guests: usize,
    /// How long a connection may stay between two requests.
    pub idle: Duration,
    /// From a request's first byte to its last.
    pub receive: Duration,
    /// The same for a guest, from the connection on.
    pub guest: Duration,
    /// For a worker's answer.
    pub answer: Duration,
    /// For the client to take an answer.
    pub write: Duration,
    /// For the rest of a request that was refused before its end.
    pub linger: Duration,
    /// How late a deadline or a stop may be noticed.
    pub tick: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 64,
            guests: 8,
            idle: Duration::from_secs(75),
            receive: Duration::from_secs(10),
            guest: Duration::from_secs(2),
            answer: Duration::from_secs(30),
            write: Duration::from_secs(5),
            linger: Duration::from_secs(2),
            tick: Duration::from_millis(250),
        }
    }
}

/// What the gate serves, and for whom.
pub struct Setup {
    /// What a connection may take.
    pub limits: Limits,
    /// The paths that exist.
    pub routes: &'static [Route],
    /// The names that this guard answers to.
    pub hosts: Hosts,
    /// The places there are for connections, as the limits say.
    pub slots: Arc<Slots>,
    /// Answers requests to judged paths, on the thread that they came in on: a client waits for each decision, and handing
    /// it over to a worker and back would cost about as much as all that must be done for it.
    pub judge: Handler,
    /// The HTTP workers' socket, for all other paths.
    pub workers: PathBuf,
    /// Where upgraded connections go.
    pub upgrades: Upgrades,
}

/// The open gate.
pub struct Gate {
    shared: Arc<Shared>,
    address: SocketAddr,
    acceptor: JoinHandle<()>,
}

struct Shared {
    limits: Limits,
    routes: &'static [Route],
    hosts: Hosts,
    judge: Handler,
    pipes: Pipes,
    upgrades: Upgrades,
    slots: Arc<Slots>,
    stopping: AtomicBool,
    workers_gone: AtomicBool,
    deaths: Sender<Death>,
}

impl Gate {
    /// Opens the gate on a listener that is bound already.
    ///
    /// # Errors
    /// The system's reason when the listener or a thread is refused.
    pub fn open(listener: TcpListener, setup: Setup, deaths: &Sender<Death>) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let Setup { limits, routes, hosts, slots, judge, workers, upgrades } = setup;
        let shared = Arc::new(Shared {
            limits,
            routes,
            hosts,
            judge,
            pipes: Pipes::new(workers, limits.tick),
            upgrades,
            slots,
            stopping: AtomicBool::new(false),
            workers_gone: AtomicBool::new(false),
            deaths: deaths.clone(),
        });
        let accepting = Arc::clone(&shared);
        let acceptor = spawn("gate", deaths, move || accept_all(&accepting, || next_of(&listener, limits.tick)))?;
        Ok(Self { shared, address, acceptor })
    }

    /// The address that it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the listener, lets no request begin any more, and waits for those at work; false when some are left
    /// after `grace`. Idle connections close by themselves within a tick; upgraded ones are their service's to close.
    pub fn stop(self, grace: Duration) -> bool {
        self.shared.stopping.store(true, Ordering::SeqCst);
        // Its death, if it died, has been heard of by its own channel.
        let _ = self.acceptor.join();
        self.shared.slots.stop(grace)
    }
}

impl Shared {
    /// The workers' listener is gone, and with it this service's use: the gate dies of it, and so is heard.
    fn report_gone(&self) {
        self.workers_gone.store(true, Ordering::SeqCst);
    }
}

/// Waits one tick at most for the next connection.
fn next_of(listener: &TcpListener, tick: Duration) -> std::io::Result<Option<TcpStream>> {
    let timeout = PollTimeout::try_from(tick).unwrap_or(PollTimeout::ZERO);
    poll(&mut [PollFd::new(listener.as_fd(), PollFlags::POLLIN)], timeout)?;
    match listener.accept() {
        Ok((stream, _)) => Ok(Some(stream)),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn accept_all(
    shared: &Arc<Shared>,
    mut next: impl FnMut() -> std::io::Result<Option<TcpStream>>,
) -> Result<(), String> {
    while !shared.stopping.load(Ordering::SeqCst) {
        if shared.workers_gone.load(Ordering::SeqCst) {
            return Err("the HTTP workers' socket is gone".to_owned());
        }
        match next() {
            Ok(Some(stream)) => receive(stream, shared),
            Ok(None) => {}
            // No accept error is a reason to end: the connection it belonged to is gone, or descriptors are short.
            Err(_) => std::thread::sleep(ACCEPT_PAUSE),
        }
    }
    Ok(())
}

/// Gives a new connection its thread. What cannot be served now is closed, with a word where that cannot block.
fn receive(stream: TcpStream, shared: &Arc<Shared>) {
    let tick = Some(shared.limits.tick);
    let set = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(tick))
        .and_then(|()| stream.set_write_timeout(tick));
    if set.is_err() {
        return;
    }
    let Some(slot) = shared.slots.enter() else {
        return turn_away(stream);
    };
    let conn = Conn::new(stream, slot, Arc::clone(shared));
    // Without a thread, for want of memory most likely, the connection closes and its place is free again.
    let _ = spawn_small("gate-conn", STACK_BYTES, &shared.deaths, move || {
        conn.serve();
        Ok(())
    });
}

fn turn_away(mut stream: TcpStream) {
    use std::io::Write;
    let answer = Answer::of(&Refusal::busy().0, true);
    if stream.set_nonblocking(true).is_ok() {
        // An empty socket buffer holds this little; if not, the client sees the connection close.
        let _ = stream.write(&answer.bytes);
    }
}

/// A request that the gate answers itself, with the one shape of all errors.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Refusal(Response);

impl Refusal {
    fn new(status: u16, code: &str, msg: &str) -> Self {
        Self(Response::error(status, code, msg))
    }

    fn with_header(self, name: &'static str, value: &str) -> Self {
        Self(self.0.with_header(name, value.to_owned()))
    }

    fn busy() -> Self {
        Self::new(503, "busy", "too many connections at once; close some, or try again")
    }

    fn stopping() -> Self {
        Self::new(503, "stopping", "the guard is stopping; nothing was judged")
    }

    fn unanswered(status: u16, why: &str) -> Self {
        let msg = format!("{why}; the request may have been judged: look it up at /guard/decision by its nonce");
        Self::new(status, "no_answer", &msg)
    }
}

#[cfg(test)]
mod tests;
