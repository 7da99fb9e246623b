//! Answers on their way back to a connection's thread, which they wake.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crossbeam_channel::{Receiver, Sender, bounded};
use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::service::message::{Reply, Responder};

/// The connection's end.
pub(super) struct Outbox {
    answers: Receiver<String>,
    reply_sender: ReplySender,
}

/// Puts answers into the outbox.
#[derive(Clone)]
pub(super) struct ReplySender {
    answers: Sender<String>,
    /// Of the answers that are there.
    bytes: Arc<AtomicUsize>,
    wakeup: Arc<EventFd>,
}

impl Outbox {
    /// An outbox with room for this many answers.
    pub(super) fn new(room: usize) -> nix::Result<Self> {
        let (sender, answers) = bounded(room);
        let wakeup = EventFd::from_value_and_flags(0, EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC)?;
        let reply_sender = ReplySender { answers: sender, bytes: Arc::default(), wakeup: Arc::new(wakeup) };
        Ok(Self { answers, reply_sender })
    }

    pub(super) fn reply_sender(&self) -> ReplySender {
        self.reply_sender.clone()
    }

    /// Becomes readable when an answer is there.
    pub(super) fn wakeup(&self) -> BorrowedFd<'_> {
        self.reply_sender.wakeup.as_fd()
    }

    /// All answers that are there.
    pub(super) fn take(&self) -> Vec<String> {
        // Reset first: an answer that comes after it wakes anew. An error says that there was nothing to reset.
        let _ = self.reply_sender.wakeup.read();
        let answers: Vec<String> = self.answers.try_iter().collect();
        self.reply_sender.bytes.fetch_sub(answers.iter().map(String::len).sum(), Ordering::Relaxed);
        answers
    }

    /// Bytes of the answers that are there.
    pub(super) fn bytes(&self) -> usize {
        self.reply_sender.bytes.load(Ordering::Relaxed)
    }
}

impl ReplySender {
    /// Puts an answer in. As many as there is room for are asked for at a time, so it never is full.
    pub(super) fn put(&self, answer: String) {
        let bytes = answer.len();
        // Before it can be taken.
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if self.answers.try_send(answer).is_ok() {
            // One that cannot be raised further has woken the thread already.
            let _ = self.wakeup.write(1);
        } else {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }

    /// What wakes the connection's thread.
    pub(super) fn wakeup(&self) -> Arc<EventFd> {
        Arc::clone(&self.wakeup)
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
