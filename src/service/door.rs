//! The way in: the public listener, the workers behind it, and WebSocket connections.

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::{Sender, bounded};

use super::gate::{Gate, Hosts, Limits, Setup, Upgrades};
use super::http::routes::ROUTES;
use super::http::types::Request;
use super::http::{self, Workers};
use super::questions::{ERRAND_THREADS, ERRANDS, run_errands};
use super::routes::Routes;
use super::thread::{Death, spawn};
use super::ws::{self, Sockets};

/// The public listener and the workers behind it.
pub(super) struct Door {
    gate: Gate,
    workers: Workers,
    /// Has WebSocket connections close.
    sockets_stopping: Arc<AtomicBool>,
    /// Keeps the way to the workers' socket open, where its path is too long to be named.
    _run_dir: Option<File>,
}

impl Door {
    /// Opens the listener to the world, with everything behind it in place.
    ///
    /// # Errors
    /// The system's, when it grants no thread or socket.
    pub(super) fn open(
        listener: TcpListener,
        allowed_hosts: &[String],
        run_dir: &Path,
        limits: Limits,
        routes: Routes,
        deaths: &Sender<Death>,
    ) -> io::Result<Self> {
        let (socket, folder) = http::socket_path(run_dir, "http.sock")?;
        let slots = Arc::clone(&routes.slots);
        let routes = Arc::new(routes);
        let stopping = Arc::new(AtomicBool::new(false));
        let upgrades = open_sockets(&routes, &stopping, deaths)?;
        let handler: http::Handler = Arc::new(move |request: Request| routes.answer(&request));
        // As many workers as the gate lets in: no request waits for another client's.
        let workers = http::serve(&socket, limits.connections, &handler, deaths)?;
        let hosts = Hosts::new(allowed_hosts);
        let judge = Arc::clone(&handler);
        let setup = Setup { limits, routes: ROUTES, hosts, slots, judge, workers: socket, upgrades };
        let gate = Gate::open(listener, setup, deaths)?;
        Ok(Self { gate, workers, sockets_stopping: stopping, _run_dir: folder })
    }

    /// The address listened on.
    pub(super) fn address(&self) -> SocketAddr {
        self.gate.address()
    }

    /// Closes it. Requests at work may take until `grace` to end.
    pub(super) fn close(self, grace: Duration) {
        self.sockets_stopping.store(true, Ordering::SeqCst);
        if self.gate.stop(grace) {
            self.workers.stop();
        }
    }
}

/// WebSocket connections, and the threads that ask questions for them.
fn open_sockets(routes: &Arc<Routes>, stopping: &Arc<AtomicBool>, deaths: &Sender<Death>) -> io::Result<Upgrades> {
    let (errands, waiting) = bounded(ERRANDS);
    for number in 0..ERRAND_THREADS {
        let (questions, waiting) = (Arc::clone(&routes.questions), waiting.clone());
        spawn(&format!("ask-{number}"), deaths, move || {
            run_errands(&questions, &waiting);
            Ok(())
        })?;
    }
    let sockets = Sockets { routes: Arc::clone(routes), errands, stopping: Arc::clone(stopping) };
    Ok(Arc::new(move |upgrade| ws::serve(&sockets, upgrade)))
}
