//! The public listener: accepts connections, and gives each its thread once it has something to say.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::Sender;

use super::connection::Connection;
use super::context::{GateContext, Setup};
use super::lobby::Lobby;
use crate::service::thread::{Death, spawn, spawn_small};

/// Stack of a connection's thread.
const STACK_BYTES: usize = 256 * 1024;

/// After an accept that failed, for want of descriptors most likely, there is this pause.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Upgraded connections are to say goodbye in this time.
const GOODBYES: Duration = Duration::from_secs(3);
/// Connections that are accepted before anyone is listened to again.
const MOST_AT_ONCE: usize = 64;

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
        let context = Arc::new(GateContext::new(setup));
        let (accepting, heard) = (Arc::clone(&context), deaths.clone());
        let accept = move || accept_all(&accepting, &heard, &listener, || next_of(&listener));
        let acceptor = spawn("gate", deaths, accept)?;
        Ok(Self { context, address, acceptor })
    }

    /// Opens the road to the workers, while the disk of their socket is known to answer.
    pub(in crate::service::server) fn open_ahead(&self) {
        self.context.workers.open_ahead();
    }

    /// The address that it listens on.
    #[must_use]
    pub(in crate::service::server) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Closes the listener, lets no request begin any more, and waits for those at work; false when some are left
    /// after `grace`. Idle connections close by themselves within a tick; upgraded ones are their service's to close, which is
    /// waited for as well.
    pub(in crate::service::server) fn shut_down(self, grace: Duration) -> bool {
        self.context.shutting_down.store(true, Ordering::SeqCst);
        // Its death, if it died, has been heard of by its own channel.
        let _ = self.acceptor.join();
        let are_done = self.context.setup.slots.shut_down(grace);
        self.context.setup.slots.wait_for_upgraded(GOODBYES);
        are_done
    }
}

/// The next connection, if there is one.
fn next_of(listener: &TcpListener) -> std::io::Result<Option<TcpStream>> {
    match listener.accept() {
        Ok((stream, _)) => Ok(Some(stream)),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

pub(super) fn accept_all(
    context: &Arc<GateContext>,
    deaths: &Sender<Death>,
    listener: &impl AsFd,
    mut next: impl FnMut() -> std::io::Result<Option<TcpStream>>,
) -> Result<(), String> {
    let limits = &context.setup.limits;
    let mut lobby = Lobby::new(limits);
    while !context.shutting_down.load(Ordering::SeqCst) {
        if context.workers_gone.load(Ordering::SeqCst) {
            return Err("the HTTP workers' socket is gone".to_owned());
        }
        lobby.wait(listener, limits.tick);
        for _ in 0..MOST_AT_ONCE {
            match next() {
                Ok(Some(stream)) => lobby.take(stream),
                Ok(None) => break,
                // No accept error is a reason to end: the connection it belonged to is gone, or descriptors are short.
                Err(_) => {
                    lobby.make_room();
                    std::thread::sleep(ACCEPT_PAUSE);
                    break;
                }
            }
        }
        lobby.seat(|stream| receive(stream, context, deaths));
    }
    Ok(())
}

/// Gives a connection that has something to say its thread, or gives it back where there is no place. One that cannot be
/// served is closed.
fn receive(stream: TcpStream, context: &Arc<GateContext>, deaths: &Sender<Death>) -> Result<(), TcpStream> {
    let tick = Some(context.setup.limits.tick);
    let set = stream
        .set_nonblocking(false)
        .and_then(|()| stream.set_nodelay(true))
        .and_then(|()| stream.set_read_timeout(tick))
        .and_then(|()| stream.set_write_timeout(tick));
    let Ok(again) = set.and_then(|()| stream.try_clone()) else { return Ok(()) };
    let slot = match context.setup.slots.enter(again) {
        Ok(slot) => slot,
        Err(_) => return stream.set_nonblocking(true).map_or(Ok(()), |()| Err(stream)),
    };
    let connection = Connection::new(stream, slot, Arc::clone(context));
    // Without a thread, for want of memory most likely, the connection closes and its place is free again.
    let _ = spawn_small("gate-conn", STACK_BYTES, deaths, move || {
        connection.serve();
        Ok(())
    });
    Ok(())
}
