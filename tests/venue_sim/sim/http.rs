//! A small HTTP/1.1 server: one thread a connection, keep-alive, bodies by `Content-Length`.
//!
//! A fault may hold a request for as long as it likes without holding up another connection, and every answer leaves
//! in one write on a socket without Nagle's delay, so that the venue's own time stays far below what is measured
//! against it.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

const MAX_CONNECTIONS: usize = 256;
const MAX_HEAD: usize = 16 * 1024;
const MAX_BODY: usize = 1024 * 1024;
const MAX_HEADERS: usize = 64;
/// How long a stop waits for connections to end.
const STOP_PATIENCE: Duration = Duration::from_secs(2);

/// A request whose body has arrived whole.
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) query: String,
    /// Without its parameters, lower-case; empty when absent.
    pub(crate) content_type: String,
    pub(crate) body: Vec<u8>,
}

/// What a request is answered.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
}

/// What becomes of a request.
pub(crate) enum Outcome {
    Reply(Reply),
    /// The connection is closed without an answer.
    Close,
}

/// Answers requests. Called from many threads at once.
pub(crate) trait Handler: Send + Sync + 'static {
    fn handle(&self, request: &Request) -> Outcome;
    /// Serves a connection that asked to become a WebSocket; `early` are bytes that came after its head.
    fn websocket(&self, stream: TcpStream, key: &str, early: Vec<u8>);
}

/// A running server; dropping it ends every connection and waits for their threads.
pub(crate) struct Server {
    addr: SocketAddr,
    connections: Arc<Connections>,
    acceptor: Option<JoinHandle<()>>,
}

/// The open connections, so that a stop can end them.
#[derive(Default)]
struct Connections {
    open: Mutex<Open>,
    ended: Condvar,
}

#[derive(Default)]
struct Open {
    stopping: bool,
    next_id: u64,
    streams: HashMap<u64, TcpStream>,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a connection; none when there are too many or the server is stopping.
    fn enter(self: &Arc<Self>, stream: &TcpStream) -> Option<Entered> {
        let mut open = self.lock();
        if open.stopping || open.streams.len() >= MAX_CONNECTIONS {
            return None;
        }
        let id = open.next_id;
        open.next_id = id.wrapping_add(1);
        open.streams.insert(id, stream.try_clone().ok()?);
        Some(Entered { id, connections: Arc::clone(self) })
    }
}

/// A registered connection; leaves when dropped.
struct Entered {
    id: u64,
    connections: Arc<Connections>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.connections.lock().streams.remove(&self.id);
        self.connections.ended.notify_all();
    }
}

impl Server {
    /// Listens on `listen` and serves until dropped.
    pub(crate) fn start(listen: SocketAddr, handler: Arc<dyn Handler>) -> io::Result<Self> {
        let listener = TcpListener::bind(listen)?;
        let addr = listener.local_addr()?;
        let connections = Arc::new(Connections::default());
        let accepting = Arc::clone(&connections);
        let acceptor = std::thread::Builder::new()
            .name("venue-accept".into())
            .spawn(move || accept(&listener, &accepting, &handler))?;
        Ok(Self { addr, connections, acceptor: Some(acceptor) })
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.stopping = true;
        for stream in open.streams.values() {
            // A connection that is already gone needs no ending.
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
        drop(open);
        // Wakes the acceptor, which sees that it is to stop.
        let _ = TcpStream::connect(self.addr);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        let open = self.connections.lock();
        let ended = self.connections.ended.wait_timeout_while(open, STOP_PATIENCE, |open| !open.streams.is_empty());
        drop(ended);
    }
}

fn accept(listener: &TcpListener, connections: &Arc<Connections>, handler: &Arc<dyn Handler>) {
    for stream in listener.incoming() {
        if connections.lock().stopping {
            return;
        }
        let Ok(stream) = stream else {
            // Out of descriptors, or a peer that left early: let some go, go on.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        let Some(entered) = connections.enter(&stream) else { continue };
        let handler = Arc::clone(handler);
        let serve = move || {
            // An error is the peer's leaving; there is nobody to tell.
            let _ = serve(stream, &*handler);
            drop(entered);
        };
        // Without a thread the connection is dropped, and with it its registration.
        let _ = std::thread::Builder::new().name("venue-connection".into()).spawn(serve);
    }
}

/// The head of a request.
struct Head {
    request: Request,
    body_len: usize,
    keep_alive: bool,
    websocket_key: Option<String>,
}

fn serve(mut stream: TcpStream, handler: &dyn Handler) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = Vec::with_capacity(4096);
    loop {
        let head = match read_head(&mut stream, &mut buffer)? {
            Some(Ok(head)) => head,
            Some(Err(status)) => return write(&mut stream, &text(status, "Bad Request"), false),
            None => return Ok(()),
        };
        let Head { mut request, body_len, keep_alive, websocket_key } = head;
        if let Some(key) = websocket_key.filter(|_| request.path == "/ws") {
            handler.websocket(stream, &key, buffer);
            return Ok(());
        }
        while buffer.len() < body_len {
            if read_more(&mut stream, &mut buffer)? == 0 {
                return Ok(());
            }
        }
        let rest = buffer.split_off(body_len);
        request.body = std::mem::replace(&mut buffer, rest);
        match handler.handle(&request) {
            Outcome::Reply(reply) => write(&mut stream, &reply, keep_alive)?,
            Outcome::Close => return Ok(()),
        }
        if !keep_alive {
            return Ok(());
        }
    }
}

/// Reads up to the end of a head and leaves what follows in `buffer`; none when the peer has left, a status when the
/// head cannot be served.
fn read_head(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<Option<Result<Head, u16>>> {
    loop {
        match parse_head(buffer) {
            Ok(Some((len, head))) => {
                buffer.drain(..len);
                return Ok(Some(Ok(head)));
            }
            Ok(None) if buffer.len() > MAX_HEAD => return Ok(Some(Err(431))),
            Ok(None) => {}
            Err(status) => return Ok(Some(Err(status))),
        }
        if read_more(stream, buffer)? == 0 {
            return Ok(None);
        }
    }
}

fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let mut chunk = [0; 8192];
    let read = stream.read(&mut chunk)?;
    buffer.extend_from_slice(chunk.get(..read).unwrap_or_default());
    Ok(read)
}

fn parse_head(bytes: &[u8]) -> Result<Option<(usize, Head)>, u16> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(len) = parsed.parse(bytes).map_err(|_| 400_u16)? else { return Ok(None) };
    let header = |name: &str| {
        let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
        found.and_then(|header| std::str::from_utf8(header.value).ok()).map(str::trim)
    };
    let body_len = match (header("content-length"), header("transfer-encoding")) {
        (_, Some(_)) => return Err(411),
        (Some(len), None) => len.parse().map_err(|_| 400_u16)?,
        (None, None) => 0,
    };
    if body_len > MAX_BODY {
        return Err(413);
    }
    let target = parsed.path.unwrap_or("/");
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let content_type = header("content-type").unwrap_or_default();
    let says = |name: &str, token: &str| header(name).is_some_and(|value| value.to_ascii_lowercase().contains(token));
    let websocket_key =
        if says("upgrade", "websocket") { header("sec-websocket-key").map(str::to_owned) } else { None };
    let request = Request {
        method: parsed.method.unwrap_or_default().to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        content_type: content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase(),
        body: Vec::new(),
    };
    let keep_alive =
        if parsed.version == Some(0) { says("connection", "keep-alive") } else { !says("connection", "close") };
    Ok(Some((len, Head { request, body_len, keep_alive, websocket_key })))
}

fn write(stream: &mut TcpStream, reply: &Reply, keep_alive: bool) -> io::Result<()> {
    let connection = if keep_alive { "keep-alive" } else { "close" };
    let mut bytes = format!(
        "HTTP/1.1 {} {}\r\ncontent-type: {}\r\ncontent-length: {}\r\nvary: origin\r\naccess-control-allow-origin: \
         *\r\nconnection: {connection}\r\n\r\n",
        reply.status,
        reason(reply.status),
        reply.content_type,
        reply.body.len()
    )
    .into_bytes();
    bytes.extend_from_slice(&reply.body);
    stream.write_all(&bytes)
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Payload Too Large",
        415 => "Unsupported Media Type",
        422 => "Unprocessable Entity",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        502 => "Bad Gateway",
        _ => "Internal Server Error",
    }
}

/// A plain text answer.
pub(crate) fn text(status: u16, body: &str) -> Reply {
    Reply { status, content_type: "text/plain; charset=utf-8", body: body.as_bytes().to_vec() }
}

/// A JSON answer.
pub(crate) fn json(status: u16, body: &serde_json::Value) -> Reply {
    Reply { status, content_type: "application/json", body: body.to_string().into_bytes() }
}
