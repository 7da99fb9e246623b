//! The HTTP server: the public listener, the handlers and workers behind it, and WebSocket connections.
//!
//! What is decided about a request may not enter: bodies are read and signers recovered here, and the decision loop answers.

pub(super) mod authenticate;
mod disk_reads;
pub(super) mod gate;
pub(super) mod handlers;
pub(super) mod info_proxy;
mod info_threads;
mod long_reads;
pub(super) mod reports;
mod routes;
mod signers;
mod turns;
mod types;
mod websocket;
mod workers;

use std::fs::File;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossbeam_channel::Sender;

use self::disk_reads::DiskReads;
use self::gate::{Gate, Handler, Hosts, Limits, Setup, Slot, Upgrade};
use self::handlers::Handlers;
use self::info_proxy::InfoProxy;
use self::info_threads::{Full, InfoQueue, TOO_MANY};
use self::reports::{ReportSource, Reports};
use self::types::{Request, Response};
use self::websocket::Sockets;
use self::workers::{WORKERS, WorkerHandler, WorkerResponder, Workers};
use super::relay_hub::RelayHub;
use super::thread::Death;

/// The open server.
pub(super) struct Server {
    gate: Gate,
    workers: Workers,
    /// Has WebSocket connections close.
    shutting_down: Arc<AtomicBool>,
    /// Keeps the way to the workers' socket open, where its path is too long to be named.
    _run_dir: File,
}

/// A server that is not open yet.
pub(super) struct ServerSetup<'a> {
    /// Bound already.
    pub(super) listener: TcpListener,
    /// Further names that this guard answers to.
    pub(super) allowed_hosts: &'a [String],
    /// The folder of the workers' socket.
    pub(super) run_dir: &'a Path,
    /// The bounds of connections.
    pub(super) limits: Limits,
    /// Answers requests.
    pub(super) handlers: Handlers,
    /// Answers `/info`.
    pub(super) info: InfoProxy,
    /// What clients subscribe to.
    pub(super) relay: Arc<RelayHub>,
    /// The journal that is reported on.
    pub(super) reports: ReportSource,
}

impl Server {
    /// Opens the listener to the world, with everything behind it in place.
    ///
    /// # Errors
    /// The system's, when it grants no thread or socket.
    pub(super) fn open(setup: ServerSetup<'_>, deaths: &Sender<Death>) -> io::Result<Self> {
        let ServerSetup { listener, allowed_hosts, run_dir, limits, handlers, info, relay, reports } = setup;
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", run_dir.display()));
        let (socket, folder) = workers::socket_path(run_dir, "http.sock").map_err(named)?;
        handlers.authenticator.start(deaths)?;
        let (http, websockets) = info_threads::start(&Arc::new(info), deaths)?;
        let reading =
            Reading { disk: DiskReads::start(deaths)?, reports: Reports::start(reports, deaths)?, info: http };
        let (slots, handlers) = (Arc::clone(&handlers.slots), Arc::new(handlers));
        let workers = workers::serve(&socket, WORKERS, &worker_handler(&handlers, reading), deaths)?;
        let shutting_down = Arc::new(AtomicBool::new(false));
        let (all, ending) = (Arc::clone(&handlers), Arc::clone(&shutting_down));
        let sockets = Sockets { handlers: all, info: websockets, relay, shutting_down: ending };
        let handler: Handler = Arc::new(move |request: &Request, slot: &Slot| handlers.answer(request, Some(slot)));
        let upgrades = Arc::new(move |upgrade: Upgrade| websocket::serve(&sockets, upgrade));
        let hosts = Hosts::new(allowed_hosts);
        let setup = Setup { limits, hosts, slots, handler, workers: socket, upgrades };
        let gate = Gate::open(listener, setup, deaths)?;
        gate.open_ahead();
        Ok(Self { gate, workers, shutting_down, _run_dir: folder })
    }

    /// The address listened on.
    pub(super) fn address(&self) -> SocketAddr {
        self.gate.address()
    }

    /// Closes it. Requests at work may take until `grace` to end.
    pub(super) fn close(self, grace: Duration) {
        self.shutting_down.store(true, Ordering::SeqCst);
        if self.gate.shut_down(grace) {
            self.workers.shut_down();
        }
    }
}

/// The threads that workers pass requests on to.
struct Reading {
    disk: DiskReads,
    reports: Reports,
    info: InfoQueue,
}

impl Reading {
    /// Has a report made, or a question asked.
    fn pass_on(&self, request: &Request, responder: WorkerResponder) {
        if request.path == "/guard/report" {
            return self.reports.ask(&request.query, move |response| responder.send(response));
        }
        if let Err(Full(take)) = self.info.ask(&request.body, move |response| responder.send(response)) {
            take(Response::error(429, "rate_limited", TOO_MANY));
        }
    }
}

/// The workers answer all that is at hand, and pass on what must be asked of the venue or read from a disk.
fn worker_handler(handlers: &Arc<Handlers>, reading: Reading) -> WorkerHandler {
    let handlers = Arc::clone(handlers);
    Arc::new(move |request: Request, responder: WorkerResponder| {
        let handlers = Arc::clone(&handlers);
        match request.path.as_str() {
            "/guard/decision" | "/guard/equity" => {
                reading.disk.ask(move || handlers.answer(&request, None), move |response| responder.send(response));
            }
            "/guard/report" | "/info" => match handlers.pass() {
                Ok(()) => reading.pass_on(&request, responder),
                Err(refusal) => responder.send(refusal),
            },
            _ => responder.send(handlers.answer(&request, None)),
        }
    })
}
