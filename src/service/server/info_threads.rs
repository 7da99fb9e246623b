//! The threads that ask the venue clients' questions, so that a venue that is slow holds up nothing but questions.
//!
//! Those that come over HTTP and those over WebSockets have threads and a queue of their own each: neither kind can take all.

use std::io;
use std::sync::Arc;

use crossbeam_channel::{Sender, bounded};

use super::info_proxy::{InfoProxy, Question};
use super::types::Response;
use crate::service::thread::{Death, spawn};

/// Questions that wait for a thread at most, of each kind. Over HTTP there are never more than connections.
const QUEUE: usize = 64;
/// Threads for questions over HTTP. As many questions as there are connections are answered within two of the venue's
/// time-outs (10 s), well before the gate gives up on an answer (30 s).
const HTTP_THREADS: usize = 32;
/// Threads for questions over WebSockets, where clients wait on none of their answers.
const WEBSOCKET_THREADS: usize = 4;

/// A question whose answer is awaited elsewhere.
struct InfoJob {
    question: Question,
    take: Box<dyn FnOnce(Response) + Send>,
}

/// Too many questions wait; gives back what would have taken the answer.
pub(super) struct Full(pub(super) Box<dyn FnOnce(Response) + Send>);

/// The text for a client whose question found no room.
pub(super) const TOO_MANY: &str = "too many questions wait to be asked";

/// The queue to some of the threads.
pub(super) struct InfoQueue {
    proxy: Arc<InfoProxy>,
    jobs: Sender<InfoJob>,
}

/// Starts all threads; the queues for questions over HTTP and over WebSockets.
///
/// # Errors
/// The system's, when it grants no thread.
pub(super) fn start(proxy: &Arc<InfoProxy>, deaths: &Sender<Death>) -> io::Result<(InfoQueue, InfoQueue)> {
    let http = start_some(proxy, 0, HTTP_THREADS, deaths)?;
    let websockets = start_some(proxy, HTTP_THREADS, WEBSOCKET_THREADS, deaths)?;
    Ok((http, websockets))
}

fn start_some(proxy: &Arc<InfoProxy>, first: usize, count: usize, deaths: &Sender<Death>) -> io::Result<InfoQueue> {
    let (jobs, waiting) = bounded::<InfoJob>(QUEUE);
    for number in (first..).take(count) {
        let (proxy, waiting) = (Arc::clone(proxy), waiting.clone());
        spawn(&format!("info-{number}"), deaths, move || {
            waiting.iter().for_each(|job| (job.take)(proxy.answer(job.question)));
            Ok(())
        })?;
    }
    Ok(InfoQueue { proxy: Arc::clone(proxy), jobs })
}

impl InfoQueue {
    /// Has a question answered: at once where that needs no venue, else by a thread. `take` must not wait.
    ///
    /// # Errors
    /// [`Full`].
    pub(super) fn ask(&self, body: &[u8], take: impl FnOnce(Response) + Send + 'static) -> Result<(), Full> {
        let answer = match self.proxy.read(body) {
            Ok(question) => match self.proxy.recall(&question) {
                None => {
                    let asked = self.jobs.try_send(InfoJob { question, take: Box::new(take) });
                    return asked.map_err(|error| Full(error.into_inner().take));
                }
                Some(response) => response,
            },
            Err(refusal) => refusal,
        };
        take(answer);
        Ok(())
    }
}
