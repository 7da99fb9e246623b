//! One connection: reads frames, has them answered, writes the answers as they come.

use std::io;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tungstenite::error::CapacityError;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};
use tungstenite::{Error, Message as Packet, Utf8Bytes};

use super::frame::{self, Frame};
use super::goodbye::{self, GOODBYE};
use super::outbox::Outbox;
use super::wire::{Wire, Words};
use crate::guard::Via;
use crate::relay::NotServed;
use crate::service::message::Reply;
use crate::service::relay_hub::{RelayHub, Subscriber};
use crate::service::server::gate::{Slot, Upgrade};
use crate::service::server::handlers::Handlers;
use crate::service::server::info_threads::{InfoQueue, TOO_MANY};
use crate::service::server::types::BadBody;

/// A frame holds one exchange body and little around it.
const MAX_FRAME: usize = 256 * 1024 + 1024;
/// Posts of one connection at work at once, as at the venue. Source:
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/rate-limits-and-user-limits>
const MAX_AT_WORK: usize = 100;
/// A connection on which nothing was told but answers for so long is closed, as at the venue; SDKs ping every 50 s at least. Source:
/// <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats>
const IDLE: Duration = Duration::from_secs(60);
/// A client that takes none of its answers for so long is cut off.
const STUCK: Duration = Duration::from_secs(5);
/// The status of a question that the venue has not, which is told here as any frame that it cannot read.
const NO_QUESTION: u16 = 422;
/// Bytes of answers that may wait to be written.
const MAX_UNWRITTEN: usize = 8 * 1024 * 1024;
/// What was subscribed to is written in such parts: what waits meanwhile is the newest of each state.
const PART: usize = 64 * 1024;
/// Frames that are read before answers are written: a client that sends without end keeps neither these nor its close waiting.
const READS: usize = 64;
/// What was written of answers and may wait, until the client has taken all of it, before nothing more is read of what it sends.
const MAX_UNREAD: usize = 64 * 1024;
/// What is read of a client at once.
const READ_BYTES: usize = 8 * 1024;
/// Pongs that may wait to be written.
const PONG_BYTES: usize = 4 * 1024;
/// Why a client is closed that does not take its answers.
const TOO_SLOW: &str = "too slow: answers piled up unread";
/// Why a connection that is no client's is closed.
const GAVE_WAY: &str = "too many connections, or too much that is kept for them; those on which a client signed stay";
/// How late a shutdown may be noticed.
const TICK_MS: u16 = 250;

/// Shared by all connections.
pub(in crate::service::server) struct Sockets {
    /// The handlers' parts: a WebSocket's requests go the same way.
    pub(in crate::service::server) handlers: Arc<Handlers>,
    /// Questions go to threads of their own: the venue may be slow.
    pub(in crate::service::server) info: InfoQueue,
    /// What clients subscribe to.
    pub(in crate::service::server) relay: Arc<RelayHub>,
    /// Set when the service shuts down.
    pub(in crate::service::server) shutting_down: Arc<AtomicBool>,
}

/// Serves an upgraded connection until it ends.
pub(in crate::service::server) fn serve(sockets: &Sockets, upgrade: Upgrade) {
    let is_exchange = upgrade.path == "/exchange";
    // A connection that cannot be set up is closed by being dropped.
    let Ok((socket, slot)) = upgrade.accept(config(), |stream, slot| Wire::new(stream, Rc::clone(slot))) else {
        return;
    };
    let Ok(outbox) = Outbox::new(MAX_AT_WORK) else { return };
    if socket.get_ref().stream().set_nonblocking(true).is_err() {
        return;
    }
    let mut connection = Connection {
        sockets,
        slot,
        socket,
        outbox,
        subscriber: None,
        is_exchange,
        at_work: 0,
        told: Instant::now(),
        may_have_more: false,
        unwritten_since: None,
        unread: 0,
        ending_since: None,
    };
    let end = connection.run();
    connection.end(end);
}

/// The library reads messages, and writes no more than pongs and the close.
fn config() -> WebSocketConfig {
    let config = WebSocketConfig::default().read_buffer_size(READ_BYTES).write_buffer_size(0);
    config.max_write_buffer_size(PONG_BYTES).max_message_size(Some(MAX_FRAME)).max_frame_size(Some(MAX_FRAME))
}

struct Connection<'a> {
    sockets: &'a Sockets,
    slot: Rc<Slot>,
    socket: WebSocket<Wire>,
    outbox: Outbox,
    /// There once it has subscribed to something.
    subscriber: Option<Subscriber>,
    /// On this path every frame that is none of the protocol's is a request that cannot be read.
    is_exchange: bool,
    at_work: usize,
    /// When it was last sent data or a pong.
    told: Instant,
    /// Whether frames may have been taken off the socket that are not read yet: then there is nothing to wait for.
    may_have_more: bool,
    unwritten_since: Option<Instant>,
    /// Bytes of answers that were written, or wait to be, since the client had taken all.
    unread: usize,
    /// Since when the service ends.
    ending_since: Option<Instant>,
}

/// How a connection ends.
#[derive(Clone, Copy)]
enum End {
    Gone,
    /// What is kept for it goes first, and a word comes after where one can.
    GiveWay(CloseCode, &'static str),
    Close(CloseCode, &'static str),
}

/// Its place is another's.
const GIVES_WAY: End = End::GiveWay(CloseCode::Again, GAVE_WAY);

impl Connection<'_> {
    fn run(&mut self) -> End {
        loop {
            // Before the end of the stream is read, after which nothing can be said.
            if self.slot.is_lost() {
                return GIVES_WAY;
            }
            if let Err(end) = self.read_all().and_then(|()| self.write_all()) {
                return if self.slot.is_lost() { GIVES_WAY } else { end };
            }
            self.socket.get_mut().hold(self.outbox.bytes());
            if self.sockets.shutting_down.load(Ordering::SeqCst) {
                let since = *self.ending_since.get_or_insert_with(Instant::now);
                if self.at_work == 0 || since.elapsed() > GOODBYE {
                    return End::Close(CloseCode::Away, "the guard is stopping");
                }
            }
            if self.told.elapsed() > IDLE && self.at_work == 0 {
                return End::Close(CloseCode::Normal, "Inactive");
            }
            if self.unwritten_since.is_some_and(|since| since.elapsed() > STUCK) {
                // It may hear why if it reads on.
                let reason = self.subscriber.as_ref().map_or(TOO_SLOW, Subscriber::give_up);
                return End::Close(CloseCode::Policy, reason);
            }
            if self.wait().is_err() {
                return End::Gone;
            }
        }
    }

    /// Whether so many answers wait to be written that nothing more is read. What an answer takes is bounded by that, and who
    /// does not read waits for nobody but itself.
    fn is_held_up(&self) -> bool {
        self.unwritten_since.is_some() && self.unread > MAX_UNREAD
    }

    /// Waits for the socket or an answer, one tick at most, and not where there is more to read.
    fn wait(&self) -> nix::Result<()> {
        let mut wanted = if self.is_held_up() { PollFlags::empty() } else { PollFlags::POLLIN };
        if self.unwritten_since.is_some() {
            wanted |= PollFlags::POLLOUT;
        }
        let socket = PollFd::new(self.socket.get_ref().stream().as_fd(), wanted);
        let wakeup = PollFd::new(self.outbox.wakeup(), PollFlags::POLLIN);
        let timeout = if self.may_have_more && !self.is_held_up() { 0 } else { TICK_MS };
        match poll(&mut [socket, wakeup], PollTimeout::from(timeout)) {
            Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Takes in the frames that are there, as many as are read in one turn.
    fn read_all(&mut self) -> Result<(), End> {
        self.may_have_more = false;
        for _ in 0..READS {
            // They are written first.
            if self.unread.saturating_add(self.outbox.bytes()) > MAX_UNREAD {
                break;
            }
            let read = self.socket.read();
            if read.is_ok() {
                self.socket.get_mut().came_whole();
            }
            match read {
                Ok(Packet::Text(text)) => {
                    // No subscription and no pong keeps this path's connections open.
                    if self.is_exchange {
                        self.told = Instant::now();
                    }
                    self.take(&text)?;
                }
                Ok(Packet::Binary(_)) => return Err(End::Close(CloseCode::Unsupported, "frames are JSON text")),
                Ok(_) => self.told = Instant::now(),
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(Error::Capacity(CapacityError::MessageTooLong { .. })) => {
                    if self.is_exchange {
                        self.request_decision(&[], Some(BadBody::TooLarge), |reply| reply.body.clone());
                    }
                    return Err(End::Close(CloseCode::Size, "a frame has at most 257 KiB"));
                }
                Err(_) => return Err(End::Gone),
            }
        }
        self.may_have_more = true;
        Ok(())
    }

    fn take(&mut self, text: &Utf8Bytes) -> Result<(), End> {
        let text = text.as_str();
        match Frame::read(text) {
            Frame::Action(id, _) | Frame::Info(id, _) if self.at_work >= MAX_AT_WORK => {
                self.reply(frame::post_error(id, 429, "too many posts are at work on this connection"))
            }
            Frame::Bare | Frame::Unknown if self.at_work >= MAX_AT_WORK => self.reply(Reply::busy().body),
            Frame::Action(id, body) => {
                self.request_decision(body.as_bytes(), None, move |reply| frame::action_answer(id, &reply.body));
                Ok(())
            }
            Frame::Info(id, question) => self.ask(id, question, text),
            Frame::Ping => {
                self.told = Instant::now();
                self.reply(frame::pong())
            }
            Frame::Subscribe(what) => {
                let owner = self.slot.client();
                self.relay(text, |subscriber| subscriber.subscribe(owner, what))
            }
            Frame::Unsubscribe(what) => self.relay(text, |subscriber| subscriber.unsubscribe(what)),
            Frame::Unknown if !self.is_exchange => self.reply(frame::not_served(text)),
            Frame::Bare | Frame::Unknown => {
                self.request_decision(text.as_bytes(), None, |reply| reply.body.clone());
                Ok(())
            }
        }
    }

    /// Has the relay answer. What that puts in for the client at once is an answer like others; what it is told later is none, so
    /// that a bot's exit is read however much it has left untaken of what it subscribed to. It goes before what answers later frames.
    fn relay(&mut self, text: &str, ask: impl FnOnce(&Subscriber) -> Result<(), NotServed>) -> Result<(), End> {
        let (relay, outbox) = (&self.sockets.relay, &self.outbox);
        let subscriber = self.subscriber.get_or_insert_with(|| relay.enter(outbox.reply_sender().wakeup()));
        let before = subscriber.waiting();
        let asked = ask(subscriber);
        self.unread = self.unread.saturating_add(subscriber.waiting().saturating_sub(before));
        match asked {
            Ok(()) => self.write_told(),
            Err(NotServed) => self.reply(frame::not_served(text)),
        }
    }

    /// Has a body decided on; its answer comes through the outbox.
    fn request_decision(
        &mut self,
        body: &[u8],
        bad_body: Option<BadBody>,
        shape: impl Fn(&Reply) -> String + Send + 'static,
    ) {
        let reply = self.outbox.reply_sender().responder(Instant::now(), shape);
        self.at_work = self.at_work.saturating_add(1);
        self.sockets.handlers.request_decision(Via::WebSocket, (body, bad_body), Some(&self.slot), reply);
    }

    /// Has a question answered, which came in this frame.
    fn ask(&mut self, id: u64, question: &str, text: &str) -> Result<(), End> {
        let (reply_sender, kind) = (self.outbox.reply_sender(), frame::kind_of(question));
        let not_served = frame::not_served(text);
        self.at_work = self.at_work.saturating_add(1);
        let asked = self.sockets.info.ask(question.as_bytes(), move |response| {
            let text = String::from_utf8_lossy(&response.body);
            reply_sender.put(match response.status {
                200 => frame::info_answer(id, &kind, &text),
                NO_QUESTION => not_served,
                status => frame::post_error(id, status, &text),
            });
        });
        match asked {
            Ok(()) => Ok(()),
            Err(_) => {
                self.at_work = self.at_work.saturating_sub(1);
                self.reply(frame::post_error(id, 429, TOO_MANY))
            }
        }
    }

    /// Writes the answers that are there and what is left of earlier ones.
    fn write_all(&mut self) -> Result<(), End> {
        for answer in self.outbox.take() {
            self.at_work = self.at_work.saturating_sub(1);
            self.reply(answer)?;
        }
        self.flush()?;
        self.write_told()
    }

    /// Writes what the relay has for the client. What it has not read yet waits there, where a newer state can take its place.
    fn write_told(&mut self) -> Result<(), End> {
        while let Some(subscriber) = &self.subscriber {
            if self.unwritten_since.is_some() {
                let heavy = subscriber.too_heavy();
                return heavy.map_or(Ok(()), |reason| Err(End::GiveWay(CloseCode::Policy, reason)));
            }
            let frames = subscriber.take(PART).map_err(|reason| End::Close(CloseCode::Policy, reason))?;
            if frames.is_empty() {
                break;
            }
            if frames.iter().any(|frame| !frame.is_answer()) {
                self.told = Instant::now();
            }
            frames.into_iter().for_each(|frame| self.socket.get_mut().put(Words::Shared(frame)));
            self.flush()?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), End> {
        match self.socket.flush() {
            Ok(()) => (self.unwritten_since, self.unread) = (None, 0),
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.unwritten_since.get_or_insert_with(Instant::now);
            }
            Err(_) => return Err(End::Gone),
        }
        Ok(())
    }

    /// Writes what answers something that the client sent.
    fn reply(&mut self, text: String) -> Result<(), End> {
        self.unread = self.unread.saturating_add(text.len());
        let wire = self.socket.get_mut();
        if wire.own().saturating_add(text.len()) > MAX_UNWRITTEN {
            return Err(End::Close(CloseCode::Policy, TOO_SLOW));
        }
        wire.put(Words::Own(text));
        Ok(())
    }

    /// Says goodbye where somebody may still hear it.
    fn end(mut self, end: End) {
        match end {
            End::Gone => {}
            End::Close(code, reason) => {
                let _ = self.write_all();
                goodbye::say(&mut self.socket, code, reason);
            }
            End::GiveWay(code, reason) => {
                let mut wire = self.socket.into_inner();
                if wire.let_go() {
                    let mut socket = WebSocket::from_raw_socket(wire, Role::Server, Some(config()));
                    goodbye::say(&mut socket, code, reason);
                }
            }
        }
    }
}
