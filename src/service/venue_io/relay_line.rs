//! The thread of one line to the venue for what clients subscribe to: it has a socket while somebody wants one. What to do
//! about it the relay's room says.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Receiver;

use super::feed_link::FeedLink;
use crate::base::clock::steady_ms;
use crate::base::origin::Origin;
use crate::relay::{Input, Output, Told};
use crate::service::relay_hub::RelayHub;
use crate::service::reporting::level::Level;
use crate::service::reporting::log;
use crate::venue::socket::{Socket, SocketError};

/// What is due is done so often, and what a client wants so soon.
const TICK_MS: u64 = 20;
/// A socket that does not open in this time is tried for again.
const OPEN: Duration = Duration::from_secs(5);

/// The thread's work.
pub(in crate::service) struct RelayLine {
    number: usize,
    hub: Arc<RelayHub>,
    /// Which knows the venue's time.
    link: Arc<FeedLink>,
    origin: Origin,
    /// Somebody wants something.
    nudged: Receiver<()>,
    socket: Option<Socket>,
    ticked_ms: u64,
    is_away: bool,
}

impl RelayLine {
    pub(in crate::service) fn new(
        number: usize,
        hub: Arc<RelayHub>,
        link: Arc<FeedLink>,
        origin: Origin,
        nudged: Receiver<()>,
    ) -> Self {
        Self { number, hub, link, origin, nudged, socket: None, ticked_ms: 0, is_away: false }
    }

    /// Passes frames on until the service ends.
    ///
    /// # Errors
    /// When nobody can want anything any more.
    pub(in crate::service) fn run(mut self) -> Result<(), String> {
        loop {
            match self.socket.as_mut().map(|socket| socket.receive(Duration::from_millis(TICK_MS))) {
                None => self.rest()?,
                Some(Ok(Some(text))) => self.step(Input::Frame(&Told::read(&text, self.link.venue_ms()))),
                Some(Ok(None)) => {}
                Some(Err(error)) => {
                    self.lose(&error);
                    self.step(Input::Closed);
                }
            }
            let now_ms = steady_ms();
            if now_ms.saturating_sub(self.ticked_ms) >= TICK_MS || self.socket.is_none() {
                self.ticked_ms = now_ms;
                self.step(Input::Tick);
            }
        }
    }

    /// Waits without a socket: for a pause to end, or for somebody to want one.
    fn rest(&self) -> Result<(), String> {
        if self.hub.is_wanted(self.number) {
            // Nudged or not, it is looked at again.
            let _ = self.nudged.recv_timeout(Duration::from_millis(TICK_MS));
            return Ok(());
        }
        self.nudged.recv().map_err(|_| "the relay is gone".to_owned())
    }

    /// Has the relay take something in, and does what it says.
    fn step(&mut self, input: Input<'_>) {
        let mut outputs = VecDeque::from(self.hub.step(self.number, input));
        while let Some(output) = outputs.pop_front() {
            if let Some(input) = self.act(output) {
                outputs.extend(self.hub.step(self.number, input));
            }
        }
    }

    /// Does one thing; what became of it goes back to the relay.
    fn act(&mut self, output: Output) -> Option<Input<'static>> {
        match output {
            Output::Connect => match Socket::open(&self.origin, OPEN) {
                Ok(socket) => {
                    self.socket = Some(socket);
                    if std::mem::take(&mut self.is_away) {
                        log::line(Level::Info, format_args!("socket {} for subscriptions is there again", self.number));
                    }
                    Some(Input::Connected)
                }
                Err(error) => {
                    self.lose(&error);
                    Some(Input::Closed)
                }
            },
            Output::Send(text) => {
                let error = self.socket.as_mut()?.send(&text).err()?;
                self.lose(&error);
                Some(Input::Closed)
            }
            Output::Close => {
                self.socket.take().into_iter().for_each(Socket::close);
                None
            }
        }
    }

    /// Writes to the log that the socket is gone, once until there is one again.
    fn lose(&mut self, error: &SocketError) {
        self.socket = None;
        if !std::mem::replace(&mut self.is_away, true) {
            log::line(Level::Warning, format_args!("socket {} for subscriptions is lost: {error}", self.number));
        }
    }
}
