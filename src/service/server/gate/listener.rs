//! The public listener: accepts connections and gives each its thread.

use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::Sender;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::answer::Answer;
use super::connection::Connection;
use super::context::{GateContext, Setup};
use super::refusal::Refusal;
use crate::service::thread::{Death, spawn, spawn_small};

/// Stack of a connection's thread.
const STACK_BYTES: usize = 256 * 1024;

/// After an accept that failed, for want of descriptors most likely, there is this pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The open gate.
pub(in crate::service::server) struct Gate {
    pub(super) context: Arc<GateContext>,
    address: SocketAddr,
    acceptor: JoinHandle<()>,
}

impl Gate {
    /// Opens the gate on a listener that is bound already.
    ///
    /// # Errors
    /// The system's reason when the listener or a thread is refused.
    pub(in crate::service::server) fn open(
        listener: TcpListener,
        setup: Setup,
        deaths: &Sender<Death>,
    ) -> std::io::Result<Self> {
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let tick = setup.limits.tick;
        let context = Arc::new(GateContext::new(setup));
        let (accepting, heard) = (Arc::clone(&context), deaths.clone());
        let accept = move || accept_all(&accepting, &heard, || next_of(&listener, tick));
        let acceptor = spawn("gate", deaths, accept)?;
        Ok(Self { context, address, acceptor })
    }

    /// The address that it listens on.
    #[must_use]
    pub(in crate::service::server) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the listener, lets no request begin any more, and waits for those at work; false when some are left
    /// after `grace`. Idle connections close by themselves within a tick; upgraded ones are their service's to close.
    pub(in crate::service::server) fn shut_down(self, grace: Duration) -> bool {
        self.context.shutting_down.store(true, Ordering::SeqCst);
        // Its death, if it died, has been heard of by its own channel.
        let _ = self.acceptor.join();
        self.context.setup.slots.shut_down(grace)
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

pub(super) fn accept_all(
    context: &Arc<GateContext>,
    deaths: &Sender<Death>,
    mut next: impl FnMut() -> std::io::Result<Option<TcpStream>>,
) -> Result<(), String> {
    while !context.shutting_down.load(Ordering::SeqCst) {
        if context.workers_gone.load(Ordering::SeqCst) {
            return Err("the HTTP workers' socket is gone".to_owned());
        }
        match next() {
            Ok(Some(stream)) => receive(stream, context, deaths),
            Ok(None) => {}
            // No accept error is a reason to end: the connection it belonged to is gone, or descriptors are short.
            Err(_) => std::thread::sleep(ACCEPT_PAUSE),
        }
    }
    Ok(())
}

/// Gives a new connection its thread. One that cannot be served now is closed, with a word where that cannot block.
fn receive(stream: TcpStream, context: &Arc<GateContext>, deaths: &Sender<Death>) {
    let tick = Some(context.setup.limits.tick);
    let set = stream
        .set_nodelay(true)
        .and_then(|()| stream.set_read_timeout(tick))
        .and_then(|()| stream.set_write_timeout(tick));
    if set.is_err() {
        return;
    }
    let Some(slot) = context.setup.slots.enter() else {
        return turn_away(stream);
    };
    let connection = Connection::new(stream, slot, Arc::clone(context));
    // Without a thread, for want of memory most likely, the connection closes and its place is free again.
    let _ = spawn_small("gate-conn", STACK_BYTES, deaths, move || {
        connection.serve();
        Ok(())
    });
}

fn turn_away(mut stream: TcpStream) {
    let answer = Answer::of(&Refusal::busy().0, true);
    if stream.set_nonblocking(true).is_ok() {
        // An empty socket buffer holds this little; if not, the client sees the connection close.
        let _ = stream.write(&answer.bytes);
    }
}
