//! Shared by the listener and all connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::admission::Hosts;
use super::limits::Limits;
use super::slots::Slots;
use super::upgrade::Upgrades;
use super::worker_client::WorkerClient;
use crate::service::server::routes::Route;
use crate::service::server::types::Handler;

/// What every connection is served with.
pub(super) struct GateContext {
    pub(super) limits: Limits,
    pub(super) routes: &'static [Route],
    pub(super) hosts: Hosts,
    pub(super) handler: Handler,
    pub(super) workers: WorkerClient,
    pub(super) upgrades: Upgrades,
    pub(super) slots: Arc<Slots>,
    pub(super) shutting_down: AtomicBool,
    pub(super) workers_gone: AtomicBool,
}

impl GateContext {
    /// The workers' listener is gone, and with it this service's use: the gate's thread dies of it, and that is heard.
    pub(super) fn report_workers_gone(&self) {
        self.workers_gone.store(true, Ordering::SeqCst);
    }
}
