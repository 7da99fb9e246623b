//! The blocking client of the venue's WebSocket.
//!
//! One socket, opened, read and written by one thread. Everything has a bound: the opening and each wait a time, and what
//! comes a size. What the frames say, and when to open another socket, may not enter.
//!
//! Source: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket>.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use thiserror::Error;
use tungstenite::client::{IntoClientRequest, client_with_config};
use tungstenite::http::HeaderValue;
use tungstenite::http::header::USER_AGENT;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{HandshakeError, Message, Utf8Bytes, WebSocket};

use crate::base::origin::Origin;
use crate::base::text::one_line;

/// The longest frame that is read: some times what the open orders of an account can take.
pub const MAX_FRAME: usize = 8 * 1024 * 1024;

/// Frames that are sent have a few hundred bytes; what the venue does not take within the time ends the socket anyway.
const MAX_UNSENT: usize = 64 * 1024;
const BUFFER_BYTES: usize = 32 * 1024;
const SEND: Duration = Duration::from_secs(3);
const REASON_CHARS: usize = 160;

/// Why there is no socket, or no more. A line of text.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct SocketError(String);

impl SocketError {
    fn new(reason: &impl ToString) -> Self {
        Self(one_line(&reason.to_string(), REASON_CHARS))
    }
}

/// An open socket.
#[derive(Debug)]
pub struct Socket {
    inner: WebSocket<Stream>,
}

impl Socket {
    /// Opens the socket of the venue at `origin`, encrypted where that is; look-up, connection and handshakes take `within`
    /// together, but for a name server that is slower.
    ///
    /// # Errors
    /// When it does not open.
    pub fn open(origin: &Origin, within: Duration) -> Result<Self, SocketError> {
        Self::open_with(origin, within, || RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() })
    }

    /// The same, trusting these roots.
    fn open_with(
        origin: &Origin,
        within: Duration,
        roots: impl FnOnce() -> RootCertStore,
    ) -> Result<Self, SocketError> {
        let until = Instant::now().checked_add(within).ok_or_else(|| SocketError::new(&"no such time"))?;
        let port = origin.port().unwrap_or(if origin.is_encrypted() { 443 } else { 80 });
        let host = origin.host().trim_start_matches('[').trim_end_matches(']');
        let tcp = Timed { tcp: connect(host, port, until).map_err(|error| SocketError::new(&error))?, until };
        let stream = if origin.is_encrypted() {
            Stream::Tls(Box::new(encrypted(host, tcp, roots()).map_err(|error| SocketError::new(&error))?))
        } else {
            Stream::Plain(tcp)
        };
        let scheme = if origin.is_encrypted() { "wss" } else { "ws" };
        let authority = origin.as_str().split_once("://").map_or("", |(_, authority)| authority);
        let request = format!("{scheme}://{authority}/ws").into_client_request();
        let mut request = request.map_err(|error| SocketError::new(&error))?;
        let agent = HeaderValue::from_static(concat!("svc-guard/", env!("CARGO_PKG_VERSION")));
        request.headers_mut().insert(USER_AGENT, agent);
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER_BYTES)
            .write_buffer_size(0)
            .max_write_buffer_size(MAX_UNSENT)
            .max_message_size(Some(MAX_FRAME))
            .max_frame_size(Some(MAX_FRAME));
        match client_with_config(request, stream, Some(config)) {
            Ok((inner, _)) => Ok(Self { inner }),
            Err(HandshakeError::Failure(tungstenite::Error::Io(error))) if !is_late(&error) => {
                Err(SocketError::new(&error))
            }
            Err(HandshakeError::Interrupted(_) | HandshakeError::Failure(tungstenite::Error::Io(_))) => {
                Err(SocketError::new(&"no answer in time"))
            }
            Err(HandshakeError::Failure(error)) => Err(SocketError::new(&error)),
        }
    }

    /// Sends a text.
    ///
    /// # Errors
    /// When it did not go out in time: the socket is of no more use.
    pub fn send(&mut self, text: &str) -> Result<(), SocketError> {
        self.inner.get_mut().allow(SEND);
        self.inner.send(Message::Text(Utf8Bytes::from(text))).map_err(|error| SocketError::new(&error))
    }

    /// The next text; `None` where none came whole within `wait`. A part of one is kept for the next call.
    ///
    /// # Errors
    /// When the socket is closed, or what came is no text.
    pub fn receive(&mut self, wait: Duration) -> Result<Option<String>, SocketError> {
        self.inner.get_mut().allow(wait);
        loop {
            match self.inner.read() {
                Ok(Message::Text(text)) => return Ok(Some(text.as_str().to_owned())),
                // Answered by the library.
                Ok(Message::Ping(_) | Message::Pong(_)) => {}
                Ok(Message::Close(Some(close))) => {
                    return Err(SocketError::new(&format!("closed by the venue: {} {}", close.code, close.reason)));
                }
                Ok(Message::Close(None)) => return Err(SocketError::new(&"closed by the venue")),
                Ok(Message::Binary(_) | Message::Frame(_)) => return Err(SocketError::new(&"a frame that is no text")),
                Err(tungstenite::Error::Io(error)) if is_late(&error) => return Ok(None),
                Err(error) => return Err(SocketError::new(&error)),
            }
        }
    }

    /// Says goodbye, and waits for no answer.
    pub fn close(mut self) {
        self.inner.get_mut().allow(SEND);
        // It ends here either way.
        let _said = self.inner.close(None).and_then(|()| self.inner.flush());
    }
}

/// Whether a wait was over before anything came.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The first address of the host that answers.
fn connect(host: &str, port: u16, until: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(ErrorKind::NotFound, "the host has no address");
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, left(until)?) {
            Ok(tcp) => {
                tcp.set_nodelay(true)?;
                return Ok(tcp);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn encrypted(host: &str, tcp: Timed, roots: RootCertStore) -> io::Result<StreamOwned<ClientConnection, Timed>> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let config = versions.map_err(io::Error::other)?.with_root_certificates(roots).with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
    Ok(StreamOwned::new(connection, tcp))
}

/// The time left; an error of lateness where there is none.
fn left(until: Instant) -> io::Result<Duration> {
    let left = until.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// A connection that waits until a moment and no longer, however few bytes come at a time.
#[derive(Debug)]
struct Timed {
    tcp: TcpStream,
    until: Instant,
}

/// Does it again where the process was stopped, or got a signal, meanwhile: the system does not of itself where a wait has an end.
fn again<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match act() {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl Read for Timed {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        again(|| {
            self.tcp.set_read_timeout(Some(left(self.until)?))?;
            self.tcp.read(buffer)
        })
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        again(|| {
            self.tcp.set_write_timeout(Some(left(self.until)?))?;
            self.tcp.write(bytes)
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

/// A connection, encrypted or on this machine.
#[derive(Debug)]
enum Stream {
    Plain(Timed),
    Tls(Box<StreamOwned<ClientConnection, Timed>>),
}

impl Stream {
    /// What follows may take so long.
    fn allow(&mut self, time: Duration) {
        let timed = match self {
            Stream::Plain(timed) => timed,
            Stream::Tls(tls) => &mut tls.sock,
        };
        let now = Instant::now();
        timed.until = now.checked_add(time).unwrap_or(now);
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(timed) => timed.read(buffer),
            Stream::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(timed) => timed.write(bytes),
            Stream::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(timed) => timed.flush(),
            Stream::Tls(tls) => tls.flush(),
        }
    }
}

#[cfg(test)]
mod tests;
