//! A pseudo-terminal with the program on it: what stands on the screen, and a person who types.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use nix::pty::openpty;
use nix::sys::signal::{Signal, kill};
use nix::sys::termios::{LocalFlags, tcgetattr};
use nix::unistd::Pid;

use crate::place::text;

const PATIENCE: Duration = Duration::from_secs(60);

/// A program at a terminal; ended with the test.
pub(crate) struct Screen {
    child: Option<Child>,
    keyboard: File,
    shown: Arc<Mutex<Vec<u8>>>,
    /// Ends with what the terminal has to show.
    reader: JoinHandle<()>,
    /// How much of what is shown was waited for.
    seen: usize,
}

impl Drop for Screen {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            _ = child.kill();
            _ = child.wait();
        }
    }
}

impl Screen {
    /// Starts a command with standard input and error on the terminal; its result goes to a pipe.
    pub(crate) fn start(mut command: Command) -> Self {
        let pty = openpty(None, None).unwrap();
        let stderr = pty.slave.try_clone().unwrap();
        command.stdin(Stdio::from(pty.slave)).stderr(Stdio::from(stderr)).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        // The command holds the terminal's other end; without it the screen has an end.
        drop(command);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (mut screen, lines) = (File::from(pty.master.try_clone().unwrap()), Arc::clone(&shown));
        let reader = std::thread::spawn(move || {
            let mut part = [0; 1024];
            while let Ok(read @ 1..) = screen.read(&mut part) {
                lines.lock().unwrap().extend_from_slice(&part[..read]);
            }
        });
        Self { child: Some(child), keyboard: File::from(pty.master), shown, reader, seen: 0 }
    }

    /// Everything shown so far.
    pub(crate) fn shown(&self) -> String {
        text(&self.shown.lock().unwrap())
    }

    /// Waits until this is shown, after all that was waited for before.
    pub(crate) fn expect(&mut self, what: &str) {
        let begun = Instant::now();
        loop {
            let shown = self.shown();
            if let Some(at) = shown[self.seen..].find(what) {
                self.seen += at + what.len();
                return;
            }
            assert!(begun.elapsed() < PATIENCE, "{what:?} is not shown: {}", &shown[self.seen..]);
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Whether the terminal shows what is typed.
    pub(crate) fn echoes(&self) -> bool {
        tcgetattr(&self.keyboard).unwrap().local_flags.contains(LocalFlags::ECHO)
    }

    /// Sends the program a signal.
    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.child.as_ref().unwrap().id()).unwrap();
        kill(Pid::from_raw(id), signal).unwrap();
    }

    /// Types this as it is.
    pub(crate) fn type_in(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a question and answers it.
    pub(crate) fn answer(&mut self, question: &str, answer: &str) {
        self.expect(question);
        self.expect(": ");
        self.type_in(&format!("{answer}\n"));
    }

    /// As [`Screen::end`], and whether the terminal shows what is typed after it.
    pub(crate) fn end_and_echo(self) -> (Output, bool) {
        let terminal = self.keyboard.try_clone().unwrap();
        let output = self.end();
        let echoes = tcgetattr(&terminal).unwrap().local_flags.contains(LocalFlags::ECHO);
        (output, echoes)
    }

    /// Waits for the end; what came out, and all that was shown as its errors.
    pub(crate) fn end(mut self) -> Output {
        let mut output = self.child.take().unwrap().wait_with_output().unwrap();
        // What was shown last may still be on its way to the reader, whose end comes when nobody holds the terminal.
        let begun = Instant::now();
        while !self.reader.is_finished() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(10));
        }
        output.stderr = self.shown.lock().unwrap().clone();
        output
    }
}
