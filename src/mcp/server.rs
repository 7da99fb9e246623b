//! The server's threads: one reads lines, a worker runs each tool call, one writes the answers, and none waits for another.
//! So neither a call that hangs nor a client that reads no answers holds up the kill switch.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::context::Context;
use super::dispatch::{Call, Step, step};
use super::guard_client::KILL_MS;
use super::lines::{Line, MAX_LINE, is_more, read_line};
use super::run_error::RunError;
use super::wire::{self, INVALID_REQUEST, RpcError};

/// Calls under way at one time.
const MAX_CALLS: usize = 16;
/// Room that is kept for pulling the kill switch.
const MAX_KILLS: usize = 4;
/// Answers that wait for the client to read them.
const MAX_UNREAD: usize = 256;
/// Time that a client may read nothing while that many wait; after that it counts as gone.
const UNREAD_PATIENCE: Duration = Duration::from_secs(5);
/// Time that answers may still take when the client has closed its side.
const GRACE: Duration = Duration::from_secs(1);
/// Time that a kill in progress may still take: asked of a guard that hangs, and then written as a file.
const KILL_GRACE: Duration = Duration::from_millis(KILL_MS + 1_000);
/// Lines that are still searched for a kill once nobody reads answers any more.
const LAST_LINES: usize = 4096;

/// The state that the reader and the workers share.
struct Shared {
    context: Context,
    /// Set when nobody reads the answers any more.
    unread: AtomicBool,
    /// To the thread that writes; `None` ends it.
    answers: Sender<Option<String>>,
    calls: AtomicUsize,
    kills: AtomicUsize,
}

/// Serves until standard input ends, or nobody reads the answers any more.
///
/// # Errors
/// When standard input cannot be read, or no thread can be had that writes the answers.
pub(super) fn serve(mut input: BufReader<File>, context: Context) -> Result<(), RunError> {
    let read_only = context.key.is_none();
    let (answers, waiting) = bounded(MAX_UNREAD);
    let (calls, kills) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let shared = Arc::new(Shared { context, unread: AtomicBool::new(false), answers, calls, kills });
    // Each worker holds an end; when the last one is gone, all have answered. The writer has one of its own.
    let (working, ended) = bounded::<()>(0);
    let (writing, written) = bounded::<()>(0);
    let writer = move || {
        let _writing = writing;
        write_answers(&waiting);
    };
    std::thread::Builder::new().name("answers".to_owned()).spawn(writer).map_err(RunError::Thread)?;
    let mut last_lines = LAST_LINES;
    loop {
        if shared.is_unread() {
            // A kill that is written already is still pulled; nothing else is begun, and nothing new is waited for.
            last_lines = last_lines.saturating_sub(1);
            if last_lines == 0 || !is_more(&input) {
                break;
            }
        }
        let line = match read_line(&mut input).map_err(RunError::Input)? {
            Line::End => break,
            Line::TooLong => {
                let text = format!("a line is over {MAX_LINE} bytes");
                shared.say(wire::error(None, &RpcError::new(INVALID_REQUEST, text)));
                continue;
            }
            Line::Whole(line) => line,
        };
        match step(&line, read_only) {
            Step::Call(call) if call.is_kill() || !shared.is_unread() => start(&shared, call, working.clone()),
            Step::Reply(reply) => shared.say(reply),
            Step::Call(_) | Step::Nothing => {}
        }
    }
    drop(working);
    // Disconnected when all are done, a time-out when one hangs: the process ends either way.
    let _ = ended.recv_timeout(GRACE);
    shared.wait_for_kills();
    let _ = shared.answers.send_timeout(None, GRACE);
    let _ = written.recv_timeout(GRACE);
    Ok(())
}

/// Writes answers as they come. One that cannot be written ends it: nobody is there to hear.
fn write_answers(waiting: &Receiver<Option<String>>) {
    while let Ok(Some(mut line)) = waiting.recv() {
        line.push('\n');
        let mut out = io::stdout().lock();
        if out.write_all(line.as_bytes()).and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Runs a call on a thread of its own, where there is room.
fn start(shared: &Arc<Shared>, call: Call, working: Sender<()>) {
    let is_kill = call.is_kill();
    let (count, most) = if is_kill { (&shared.kills, MAX_KILLS) } else { (&shared.calls, MAX_CALLS) };
    let took =
        count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |now| (now < most).then_some(now.saturating_add(1)));
    if took.is_err() {
        shared.say(call.refused());
        return;
    }
    let refusal = call.refused();
    let worker = Arc::clone(shared);
    let run = move || {
        let _working = working;
        let reply = call.run(&worker.context);
        let count = if is_kill { &worker.kills } else { &worker.calls };
        count.fetch_sub(1, Ordering::SeqCst);
        worker.say(reply);
    };
    if std::thread::Builder::new().name("call".to_owned()).spawn(run).is_err() {
        count.fetch_sub(1, Ordering::SeqCst);
        shared.say(refusal);
    }
}

impl Shared {
    /// Hands a line to the writer. Where it takes none nobody is there to hear, and nothing more is begun.
    fn say(&self, line: String) {
        if self.is_unread() {
            return;
        }
        if self.answers.send_timeout(Some(line), UNREAD_PATIENCE).is_err() {
            self.unread.store(true, Ordering::SeqCst);
        }
    }

    fn is_unread(&self) -> bool {
        self.unread.load(Ordering::SeqCst)
    }

    /// An agent that goes away in the middle of pulling the kill switch has pulled it.
    fn wait_for_kills(&self) {
        let until = Instant::now() + KILL_GRACE;
        while self.kills.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
