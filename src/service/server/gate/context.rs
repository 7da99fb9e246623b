//! The gate's parts, and what the listener and all connections share.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::admission::Hosts;
use super::limits::Limits;
use super::slots::{Slot, Slots};
use super::upgrade::Upgrades;
use super::worker_client::WorkerClient;
use crate::service::server::types::{Request, Response};

/// Answers a request that came in on this place. Called by many threads at once, so it must hold no lock while it waits. A
/// panic in it ends the thread, and with it the service.
pub(in crate::service::server) type Handler = Arc<dyn Fn(&Request, &Slot) -> Response + Send + Sync>;

/// The parts that a gate is opened with.
pub(in crate::service::server) struct Setup {
    /// The bounds of a connection.
    pub(in crate::service::server) limits: Limits,
    /// The names that this guard answers to.
    pub(in crate::service::server) hosts: Hosts,
    /// The places there are for connections, as the limits say.
    pub(in crate::service::server) slots: Arc<Slots>,
    /// Answers requests on the threads that they came in on: a client waits for each decision, and handing it over to a
    /// worker and back would cost about as much as all that must be done for it.
    pub(in crate::service::server) handler: Handler,
    /// The HTTP workers' socket, for all other paths.
    pub(in crate::service::server) workers: PathBuf,
    /// Serves upgraded connections.
    pub(in crate::service::server) upgrades: Upgrades,
}

/// Shared by the listener and all connections.
pub(super) struct GateContext {
    pub(super) setup: Setup,
    pub(super) workers: WorkerClient,
    pub(super) shutting_down: AtomicBool,
    pub(super) workers_gone: AtomicBool,
}

impl GateContext {
    pub(super) fn new(setup: Setup) -> Self {
        let workers = WorkerClient::new(setup.workers.clone(), setup.limits.tick);
        Self { setup, workers, shutting_down: AtomicBool::new(false), workers_gone: AtomicBool::new(false) }
    }

    /// The workers' listener is gone, and with it this service's use: the gate's thread dies of it, and that is heard.
    pub(super) fn report_workers_gone(&self) {
        self.workers_gone.store(true, Ordering::SeqCst);
    }
}
