//! The threads that answer from the journal's disk where one line or a page of it is asked for. A disk may hang for ever, so nothing
//! that waits for one is done on an HTTP worker: the status, the metrics and questions are answered meanwhile.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::types::Response;
use crate::base::sync::lock;
use crate::service::thread::{Death, spawn};

/// Threads: one that hangs keeps no other from reading another disk.
const THREADS: usize = 2;
/// Requests that wait for one. Each keeps a road to the workers, of which there may be no new one meanwhile.
const QUEUE: usize = 8;
/// Whoever reads for longer reads from a disk that hangs.
const MOST_READING: Duration = Duration::from_secs(2);

/// Reads, and where the answer goes.
struct Job {
    read: Box<dyn FnOnce() -> Response + Send>,
    take: Box<dyn FnOnce(Response) + Send>,
}

/// The queue to the threads.
pub(super) struct DiskReads {
    jobs: Sender<Job>,
    waiting: Receiver<Job>,
    /// When each began what it reads now.
    begun: Arc<[Mutex<Option<Instant>>; THREADS]>,
}

impl DiskReads {
    /// Starts the threads.
    ///
    /// # Errors
    /// The system's, when it grants none.
    pub(super) fn start(deaths: &Sender<Death>) -> io::Result<Self> {
        let (jobs, waiting) = bounded::<Job>(QUEUE);
        let begun = Arc::new([const { Mutex::new(None) }; THREADS]);
        for number in 0..THREADS {
            let (waiting, begun) = (waiting.clone(), Arc::clone(&begun));
            spawn(&format!("disk-{number}"), deaths, move || {
                let is_at = |since: Option<Instant>| begun.get(number).into_iter().for_each(|at| *lock(at) = since);
                for job in waiting {
                    is_at(Some(Instant::now()));
                    let answer = (job.read)();
                    is_at(None);
                    (job.take)(answer);
                }
                Ok(())
            })?;
        }
        Ok(Self { jobs, waiting, begun })
    }

    /// Has something read and answered; refuses at once where that could not be soon. `take` must not wait.
    pub(super) fn ask(
        &self,
        read: impl FnOnce() -> Response + Send + 'static,
        take: impl FnOnce(Response) + Send + 'static,
    ) {
        let job = Job { read: Box::new(read), take: Box::new(take) };
        if self.hang() {
            let left = self.waiting.try_iter();
            return left.chain([job]).for_each(|job| (job.take)(silent()));
        }
        if let Err(refused) = self.jobs.try_send(job) {
            (refused.into_inner().take)(busy());
        }
    }

    /// Whether all of them have been at something for so long that their disk does not answer.
    fn hang(&self) -> bool {
        self.begun.iter().all(|begun| lock(begun).is_some_and(|begun| begun.elapsed() > MOST_READING))
    }
}

fn silent() -> Response {
    Response::error(503, "journal_error", "the disk of the journal does not answer: ask again once /healthz names none")
}

fn busy() -> Response {
    Response::error(503, "busy", "the journal is read for others: ask again in a moment")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(reads: &DiskReads, read: impl FnOnce() -> Response + Send + 'static) -> Receiver<Response> {
        let (told, heard) = bounded(1);
        reads.ask(read, move |response| _ = told.send(response));
        heard
    }

    fn read(text: &str) -> impl FnOnce() -> Response + Send + 'static {
        let text = text.as_bytes().to_vec();
        move || Response::json(200, text)
    }

    /// One read that hangs keeps no other from being answered, more do, and all are answered for that: also those that wait.
    #[test]
    fn a_disk_that_hangs_keeps_nobody_waiting_for_long() {
        let (deaths, died) = bounded(1);
        let reads = DiskReads::start(&deaths).unwrap();
        let (release, released) = bounded::<()>(0);
        let hanging = || {
            let released = released.clone();
            move || {
                _ = released.recv();
                Response::json(200, b"late".to_vec())
            }
        };
        let first = asked(&reads, hanging());
        assert_eq!(asked(&reads, read("beside it")).recv().unwrap().body, b"beside it");
        let second = asked(&reads, hanging());
        let behind = asked(&reads, read("behind them"));
        std::thread::sleep(MOST_READING + Duration::from_millis(100));
        let refused = asked(&reads, read("too late")).recv().unwrap();
        assert_eq!(refused.status, 503);
        assert!(String::from_utf8_lossy(&refused.body).contains("the disk of the journal does not answer"));
        assert_eq!(behind.recv().unwrap().status, 503);
        // It answers again.
        release.send(()).unwrap();
        release.send(()).unwrap();
        assert_eq!((first.recv().unwrap().status, second.recv().unwrap().status), (200, 200));
        assert_eq!(asked(&reads, read("again")).recv().unwrap().body, b"again");
        assert!(died.is_empty());
    }

    #[test]
    fn of_too_many_the_last_is_told_so() {
        let (deaths, _died) = bounded(1);
        let reads = DiskReads::start(&deaths).unwrap();
        let (release, released) = bounded::<()>(0);
        let at_once: Vec<_> = (0..THREADS + QUEUE + 1)
            .map(|_| {
                let released = released.clone();
                let heard = asked(&reads, move || {
                    _ = released.recv();
                    Response::json(200, Vec::new())
                });
                // Until a thread has it, it takes a place of those that wait.
                std::thread::sleep(Duration::from_millis(20));
                heard
            })
            .collect();
        let last = at_once.last().unwrap().recv().unwrap();
        assert!(last.status == 503 && String::from_utf8_lossy(&last.body).contains("\"busy\""), "{last:?}");
        (0..THREADS + QUEUE).for_each(|_| release.send(()).unwrap());
        assert!(at_once.iter().take(THREADS + QUEUE).all(|heard| heard.recv().unwrap().status == 200));
    }
}
