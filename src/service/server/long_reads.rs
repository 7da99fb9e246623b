//! Long requests on connections on which nobody signed yet: read one at a time, all on one thread.
//!
//! A text takes up to a hundred times its length while it is read, and the allocator keeps as much for each thread that read one. Whoever
//! sends such texts on many connections has all of them cost what one costs.

use std::io;
use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::signers::Signers;
use super::turns::{Turn, Turns};
use crate::base::address::Address;
use crate::guard::RequestBody;
use crate::service::thread::{Death, spawn};
use crate::venue::json::is_short;

/// The one thread, and whose turn it is.
#[derive(Debug)]
pub(super) struct LongReads {
    turns: Turns,
    jobs: Sender<Job>,
    waiting: Receiver<Job>,
}

struct Job {
    body: Box<[u8]>,
    answer: Sender<RequestBody>,
}

/// A turn at it; the next one's when dropped.
#[derive(Debug)]
pub(super) struct LongTurn<'a> {
    jobs: &'a Sender<Job>,
    _turn: Turn<'a>,
}

impl LongReads {
    pub(super) fn new() -> Self {
        let (jobs, waiting) = bounded(1);
        Self { turns: Turns::new(1), jobs, waiting }
    }

    /// Whether a body that came in on a connection of `known` is read here.
    pub(super) fn is_for(body: &[u8], known: Option<Address>) -> bool {
        known.is_none() && is_short(body).is_err()
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// The system's, when it grants none.
    pub(super) fn start(&self, signers: &Arc<Signers>, deaths: &Sender<Death>) -> io::Result<()> {
        let (waiting, signers) = (self.waiting.clone(), Arc::clone(signers));
        let work = move || {
            for Job { body, answer } in waiting {
                // Who asked waits for it.
                let _ = answer.send(signers.read(&body));
            }
            Ok(())
        };
        spawn("long-reads", deaths, work).map(drop)
    }

    /// Waits for a turn: who came first has the first.
    pub(super) fn wait(&self) -> LongTurn<'_> {
        LongTurn { jobs: &self.jobs, _turn: self.turns.take(None) }
    }
}

impl LongTurn<'_> {
    /// Has a body read. It is copied for that, and no second one at the time.
    pub(super) fn read(&self, body: &[u8], signers: &Signers) -> RequestBody {
        let (answer, read) = bounded(1);
        let asked = self.jobs.send(Job { body: body.into(), answer });
        // Without the thread the service ends; who waits is answered all the same.
        asked.ok().and_then(|()| read.recv().ok()).unwrap_or_else(|| signers.read(body))
    }
}
