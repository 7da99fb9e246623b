//! Connections without a place: those that have said nothing yet, those that wait for a place, and those that were turned
//! away and still write. None of them has a thread, and each kind is bounded.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::answer::Answer;
use super::io::CHUNK;
use super::limits::Limits;
use super::refusal::Refusal;

/// How soon a place is looked for again.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// Connections that were turned away and are read on, at most; the oldest is cut off.
const MOST_LEAVING: usize = 64;
/// Bytes that are read away of one at most.
const MOST_DISCARDED: usize = 1024 * 1024;

/// A connection, and since when it is where it is.
type Since = (TcpStream, Instant);

/// The connections without a place.
pub(super) struct Lobby {
    /// Oldest first, as all of these.
    silent: VecDeque<Since>,
    ready: VecDeque<Since>,
    leaving: VecDeque<Leaving>,
    most: usize,
    idle: Duration,
    place: Duration,
    linger: Duration,
}

/// A connection that was told to go.
struct Leaving {
    stream: TcpStream,
    until: Instant,
    discarded: usize,
}

impl Lobby {
    pub(super) fn new(limits: &Limits) -> Self {
        let Limits { silent: most, idle, place, linger, .. } = *limits;
        let (silent, ready, leaving) = Default::default();
        Self { silent, ready, leaving, most, idle, place, linger }
    }

    /// Takes a new connection in; the one that was silent longest goes where there is no room.
    pub(super) fn take(&mut self, stream: TcpStream) {
        if stream.set_nonblocking(true).is_err() {
            return;
        }
        if self.silent.len() >= self.most {
            self.make_room();
        }
        self.silent.push_back((stream, Instant::now()));
    }

    /// Turns the connection away that was silent longest.
    pub(super) fn make_room(&mut self) {
        if let Some((stream, _)) = self.silent.pop_front() {
            self.turn_away(stream);
        }
    }

    /// Waits for a new connection at `listener`, or for anyone here to say something; one tick at most.
    pub(super) fn wait(&mut self, listener: &impl AsFd, tick: Duration) {
        let timeout = if self.ready.is_empty() { tick } else { LOOK_AGAIN };
        let watch = |stream| PollFd::new(AsFd::as_fd(stream), PollFlags::POLLIN);
        let mut polled = vec![PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        polled.extend(self.silent.iter().map(|(stream, _)| watch(stream)));
        polled.extend(self.leaving.iter().map(|leaving| watch(&leaving.stream)));
        // An error is a signal's, or want of memory for a moment: then nobody was heard.
        let heard = poll(&mut polled, PollTimeout::try_from(timeout).unwrap_or(PollTimeout::ZERO)).is_ok();
        let has_said = |polled: &PollFd| heard && polled.revents().is_none_or(|events| !events.is_empty());
        let mut said = polled.iter().skip(1).map(has_said).collect::<Vec<_>>().into_iter();
        let now = Instant::now();
        let mut overdue = Vec::new();
        for (stream, since) in std::mem::take(&mut self.silent) {
            if said.next().unwrap_or_default() {
                self.ready.push_back((stream, now));
            } else if now.duration_since(since) >= self.idle {
                overdue.push(stream);
            } else {
                self.silent.push_back((stream, since));
            }
        }
        self.leaving
            .retain_mut(|leaving| now < leaving.until && (!said.next().unwrap_or_default() || leaving.read_on()));
        overdue.into_iter().for_each(|stream| self.turn_away(stream));
    }

    /// Gives those who wait for a place to `seat`, which gives back whom it has none for. Who waited too long goes.
    pub(super) fn seat(&mut self, mut seat: impl FnMut(TcpStream) -> Result<(), TcpStream>) {
        while let Some((stream, since)) = self.ready.pop_front() {
            if let Err(stream) = seat(stream) {
                self.ready.push_front((stream, since));
                break;
            }
        }
        let place = self.place;
        let is_over = |(_, since): &Since| since.elapsed() >= place;
        while self.ready.len() > self.most || self.ready.front().is_some_and(is_over) {
            let Some((stream, _)) = self.ready.pop_front() else { return };
            self.turn_away(stream);
        }
    }

    /// Says why, and reads away what is still sent, so that the client gets to read it.
    fn turn_away(&mut self, mut stream: TcpStream) {
        let answer = Answer::of(&Refusal::busy().0, true);
        // An empty socket buffer holds this little; if not, the client sees the connection close.
        if stream.write(&answer.bytes).is_err() || stream.shutdown(Shutdown::Write).is_err() {
            return;
        }
        if self.leaving.len() >= MOST_LEAVING {
            self.leaving.pop_front();
        }
        self.leaving.push_back(Leaving { stream, until: Instant::now() + self.linger, discarded: 0 });
    }
}

impl Leaving {
    /// Reads away what is there; whether more may come.
    fn read_on(&mut self) -> bool {
        let mut chunk = [0_u8; CHUNK];
        match self.stream.read(&mut chunk) {
            Ok(0) => false,
            Ok(count) => {
                self.discarded = self.discarded.saturating_add(count);
                self.discarded < MOST_DISCARDED
            }
            Err(error) => error.kind() == std::io::ErrorKind::WouldBlock,
        }
    }
}
