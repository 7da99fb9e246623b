//! Answers on their way back to a connection's thread, and what wakes it.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::service::message::{Reply, Responder};

/// The connection's end.
pub(super) struct Outbox {
    answers: Receiver<String>,
    address: Address,
}

/// Where answers are put.
#[derive(Clone)]
pub(super) struct Address {
    answers: Sender<String>,
    bell: Arc<EventFd>,
}

impl Outbox {
    /// An outbox with room for this many answers.
    pub(super) fn new(room: usize) -> nix::Result<Self> {
        let (sender, answers) = bounded(room);
        let bell = EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        Ok(Self { answers, address: Address { answers: sender, bell: Arc::new(bell) } })
    }

    pub(super) fn address(&self) -> Address {
        self.address.clone()
    }

    /// What becomes readable when an answer is there.
    pub(super) fn bell(&self) -> BorrowedFd<'_> {
        self.address.bell.as_fd()
    }

    /// All answers that are there.
    pub(super) fn take(&self) -> Vec<String> {
        // Silenced first: an answer that comes after it rings anew. An error says that it was silent.
        let _ = self.address.bell.read();
        self.answers.try_iter().collect()
    }
}

impl Address {
    /// Puts an answer in. As many as there is room for are asked for at a time, so it never is full.
    pub(super) fn put(&self, answer: String) {
        if self.answers.try_send(answer).is_ok() {
            // A bell that cannot ring has rung already.
            let _ = self.bell.write(1);
        }
    }

    /// A responder that puts the reply in, as `shape` words it.
    pub(super) fn responder(
        self,
        received: Instant,
        shape: impl FnOnce(&Reply) -> String + Send + 'static,
    ) -> Responder {
        Responder::new(received, move |reply| self.put(shape(&reply)))
    }
}
