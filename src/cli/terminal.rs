//! Questions to a person at a terminal: asked on standard error, answered on standard input, a key without an echo.
//!
//! Nothing typed is buffered anywhere but in the answer itself, so that a typed key is in one place, which is wiped.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::termios::{LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr};
use zeroize::Zeroizing;

use super::here;
use super::refusal::Refusal;
use crate::base::text::{QUOTES, holds_key, lines, without_keys};

/// Longest answer in bytes, the most a terminal takes for one line.
const MAX_ANSWER: usize = 4096;

/// The answer that goes to the question before.
pub(super) const BACK: &str = "back";

/// The answers of a person who does not know what to answer.
const HELP: [&str; 4] = ["help", "?", "--help", "-h"];

/// What can be done at every question.
const WAYS: &str = "Type an answer, then Enter; Enter alone takes what stands in brackets. `back` goes to the question before, Ctrl-D \
                    leaves, and nothing is set up before the last question is answered with yes.";

/// What is said of an arrow or another key that moves.
const ODD_KEY: &str = "There is a key in it that types nothing, such as an arrow; type it anew.";

/// What is said of a key that was typed where it is seen.
const SHOWN_KEY: &str = "A key may stand in it, which was on the screen as it was typed: approve a new API wallet at the venue in its place. Keys are \
                         asked for by a question of their own, and are not shown there.";

/// What is said of lines that were typed before the question that hides what is typed.
const THROWN_AWAY: &str = "What was typed before this question was on the screen, and is thrown away; answer it anew.";

const END_OF_TRANSMISSION: u8 = 4;
const INTERRUPT: u8 = 3;
const ERASE_LINE: u8 = 0x15;
const ERASE: [u8; 2] = [8, 0x7f];

/// A terminal with a person at it.
pub(super) struct Terminal {
    input: File,
}

/// The person left before the end.
fn left() -> Refusal {
    Refusal::Flags("left before the end; nothing was set up")
}

fn failed(error: impl Into<io::Error>) -> Refusal {
    Refusal::Io("use the terminal", error.into())
}

impl Terminal {
    /// The terminal on standard input and standard error; none where either is something else.
    pub(super) fn open() -> Result<Option<Self>, Refusal> {
        let stdin = io::stdin();
        if !stdin.is_terminal() || !io::stderr().is_terminal() {
            return Ok(None);
        }
        let input = stdin.as_fd().try_clone_to_owned().map_err(failed)?;
        Ok(Some(Self { input: File::from(input) }))
    }

    /// Says something, without a key that was typed where it is shown.
    pub(super) fn say(&self, text: &str) -> Result<(), Refusal> {
        let mut out = io::stderr().lock();
        out.write_all(lines(&without_keys(&here::exact(text))).as_bytes()).and_then(|()| out.flush()).map_err(failed)
    }

    /// Asks for a line; an empty one is the default, where there is one.
    pub(super) fn ask(&self, question: &str, default: Option<&str>) -> Result<String, Refusal> {
        loop {
            let held = Held::new(&[Signal::SIGINT]).map_err(failed)?;
            match default {
                Some(default) => self.say(&format!("{question} [{default}]: "))?,
                None => self.say(&format!("{question}: "))?,
            }
            let mut line = Vec::new();
            loop {
                if !held.is_typed(&self.input).map_err(failed)? {
                    // Taken, so that it does not end the program before this is said.
                    _ = held.waiting.read_signal();
                    self.say("\n")?;
                    return Err(left());
                }
                match self.byte()? {
                    Some(b'\n') => break,
                    Some(byte) => line.push(byte),
                    None => {
                        self.say("\n")?;
                        return Err(left());
                    }
                }
                if line.len() > MAX_ANSWER {
                    return Err(Refusal::Flags("an answer is too long; nothing was set up"));
                }
            }
            let answer = String::from_utf8_lossy(&line).trim().to_owned();
            if holds_key(&answer) {
                self.say(&format!("  {SHOWN_KEY}\n"))?;
            }
            match (answer.is_empty(), default) {
                _ if answer == BACK => return Err(Refusal::Back),
                _ if HELP.contains(&answer.as_str()) => self.say(&format!("  {WAYS}\n"))?,
                // Such keys are not taken back by typing on, and are not seen in what they spoil.
                _ if answer.contains(char::is_control) => self.say(&format!("  {ODD_KEY}\n"))?,
                (false, _) => return Ok(answer),
                (true, Some(default)) => return Ok(default.to_owned()),
                (true, None) => self.say("  This needs an answer; Ctrl-D leaves.\n")?,
            }
        }
    }

    /// Asks until the answer can be read.
    pub(super) fn ask_for<T>(
        &self,
        question: &str,
        default: Option<&str>,
        read: impl Fn(&str) -> Result<T, String>,
    ) -> Result<T, Refusal> {
        loop {
            let typed = self.ask(question, default)?;
            // In quotes or without: a person may have read either form.
            let answer = typed.trim_matches(QUOTES).trim();
            match read(answer) {
                Ok(value) => return Ok(value),
                Err(expected) => self.say(&format!("  {answer}: {expected}\n"))?,
            }
        }
    }

    /// Asks for yes or no.
    pub(super) fn agree(&self, question: &str, default: bool) -> Result<bool, Refusal> {
        self.ask_for(question, Some(if default { "yes" } else { "no" }), |answer| match answer {
            "y" | "yes" => Ok(true),
            "n" | "no" => Ok(false),
            _ => Err("answer yes or no".to_owned()),
        })
    }

    /// Asks for a line that is not shown as it is typed.
    pub(super) fn ask_hidden(&self, question: &str) -> Result<Zeroizing<Vec<u8>>, Refusal> {
        let quiet = NoEcho::new(&self.input).map_err(failed)?;
        if quiet.is_ahead {
            self.say(&format!("  {THROWN_AWAY}\n"))?;
        }
        self.say(&format!("{question}: "))?;
        // Of full size from the start: a buffer that grows leaves copies behind.
        let mut line = Zeroizing::new(Vec::with_capacity(MAX_ANSWER));
        loop {
            if !quiet.held.is_typed(&self.input).map_err(failed)? {
                return Err(left());
            }
            match self.byte()? {
                Some(b'\n' | b'\r') => break,
                None | Some(INTERRUPT | END_OF_TRANSMISSION) => {
                    self.say("\n")?;
                    return Err(left());
                }
                Some(byte) if ERASE.contains(&byte) => _ = line.pop(),
                Some(ERASE_LINE) => line.clear(),
                Some(byte) if line.len() < MAX_ANSWER => line.push(byte),
                Some(_) => {}
            }
        }
        self.say("\n")?;
        Ok(line)
    }

    /// The next byte typed; none at the end of input.
    fn byte(&self) -> Result<Option<u8>, Refusal> {
        let mut byte = [0];
        loop {
            match (&self.input).read(&mut byte) {
                Ok(0) => return Ok(None),
                Ok(_) => return Ok(byte.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }
}

/// While this lives, signals that would end the program wait, and end it then.
struct Held {
    before: SigSet,
    waiting: SignalFd,
}

impl Held {
    fn new(signals: &[Signal]) -> nix::Result<Self> {
        let mut held = SigSet::empty();
        signals.iter().for_each(|signal| held.add(*signal));
        let waiting = SignalFd::with_flags(&held, SfdFlags::SFD_CLOEXEC)?;
        let before = held.thread_swap_mask(nix::sys::signal::SigmaskHow::SIG_BLOCK)?;
        Ok(Self { before, waiting })
    }

    /// Waits for a key to be typed; not, where a signal wants the program to end.
    fn is_typed(&self, terminal: &File) -> nix::Result<bool> {
        let mut waited = [self.waiting.as_fd(), terminal.as_fd()].map(|either| PollFd::new(either, PollFlags::POLLIN));
        loop {
            match poll(&mut waited, PollTimeout::NONE) {
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error),
                Ok(_) => return Ok(!waited.first().and_then(PollFd::any).unwrap_or(false)),
            }
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // Nothing better can be done for signals that stay held.
        _ = self.before.thread_set_mask();
    }
}

/// A terminal that neither echoes nor interrupts. It is put back as it was when this is dropped, before the signals that wait
/// are let go: those end the program then.
struct NoEcho<'a> {
    terminal: &'a File,
    before: Termios,
    held: Held,
    /// Whether a line stood there that was typed before.
    is_ahead: bool,
}

impl<'a> NoEcho<'a> {
    fn new(terminal: &'a File) -> nix::Result<Self> {
        let before = tcgetattr(terminal)?;
        let mut quiet = before.clone();
        quiet.local_flags.remove(LocalFlags::ECHO | LocalFlags::ECHONL | LocalFlags::ICANON | LocalFlags::ISIG);
        for (index, value) in [(SpecialCharacterIndices::VMIN, 1), (SpecialCharacterIndices::VTIME, 0)] {
            if let Some(slot) = quiet.control_chars.get_mut(index as usize) {
                *slot = value;
            }
        }
        let held = Held::new(&[Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT])?;
        let mut waited = [PollFd::new(terminal.as_fd(), PollFlags::POLLIN)];
        let is_ahead = poll(&mut waited, PollTimeout::ZERO).is_ok_and(|lines| lines > 0);
        let hushed = Self { terminal, before, held, is_ahead };
        tcsetattr(terminal, SetArg::TCSAFLUSH, &quiet)?;
        Ok(hushed)
    }
}

impl Drop for NoEcho<'_> {
    fn drop(&mut self) {
        // Nothing better can be done for a terminal that is gone.
        _ = tcsetattr(self.terminal, SetArg::TCSADRAIN, &self.before);
    }
}
