//! The HTTP workers: tiny_http on a private Unix socket, where only the gate connects. They serve the monitor page and
//! reads of the service's own memory and disk; `/info` they pass to threads that may wait for the venue.
//!
//! tiny_http bounds neither heads, bodies, connections nor time, so nothing may reach it but what the gate has read whole
//! and written anew. There are few workers, so nothing that waits for the network may be done on one.

use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crossbeam_channel::Sender;
use tiny_http::{Header, Server, StatusCode};

use super::types::{Method, Request, Response};
use crate::service::thread::{Death, spawn};

/// Workers. Each request takes one for milliseconds, and a second at most where the decision loop does not answer.
pub(super) const WORKERS: usize = 8;

/// Answers a request now, or hands the responder to a thread that will.
pub(super) type WorkerHandler = Arc<dyn Fn(Request, WorkerResponder) + Send + Sync>;

/// Where the answer to one request goes. Dropped, it answers 500.
pub(super) struct WorkerResponder(tiny_http::Request);

impl WorkerResponder {
    /// Answers.
    pub(super) fn send(self, response: Response) {
        let content_type = ("Content-Type", response.content_type);
        let headers = std::iter::once(content_type)
            .chain(response.headers)
            .filter_map(|(name, value)| Header::from_bytes(name, value).ok())
            .collect();
        let (status, length) = (StatusCode(response.status), response.body.len());
        let outgoing = tiny_http::Response::new(status, headers, Cursor::new(response.body), Some(length), None)
            .with_chunked_threshold(usize::MAX);
        // An error means that the gate gave up waiting; it has answered its client.
        let _ = self.0.respond(outgoing);
    }
}

/// The first request of the gate on a new connection, which a worker answers at once.
///
/// tiny_http counts a waiting thread as free until it has woken up, so of many connections opened in one moment
/// some are queued behind others that never end. One that has answered has its thread; the gate opens the next
/// only then.
pub(super) const PROBE: &[u8] = b"HEAD / HTTP/1.1\r\n\r\n";

/// The workers and their listener.
pub(super) struct Workers {
    server: Arc<Server>,
    shutting_down: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Listens on the Unix socket `path` with this many workers.
///
/// # Errors
/// The system's reason when the socket or a thread is refused.
pub(super) fn serve(
    path: &Path,
    workers: usize,
    handler: &WorkerHandler,
    deaths: &Sender<Death>,
) -> io::Result<Workers> {
    // A socket that a killed service left behind would refuse the address; the folder is private and locked by this one.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let server = Arc::new(Server::http_unix(path).map_err(io::Error::other)?);
    let shutting_down = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::with_capacity(workers);
    for number in 0..workers {
        let (server, shutting_down, handler) = (Arc::clone(&server), Arc::clone(&shutting_down), Arc::clone(handler));
        let work = move || work(&server, &shutting_down, &handler);
        threads.push(spawn(&format!("http-{number}"), deaths, work)?);
    }
    Ok(Workers { server, shutting_down, threads })
}

impl Workers {
    /// Ends the workers, each after the request that it is at. Shut the gate first, so that none comes in.
    pub(super) fn shut_down(self) {
        self.shutting_down.store(true, Ordering::SeqCst);
        for _ in &self.threads {
            self.server.unblock();
        }
        for thread in self.threads {
            // A worker that died has been heard of by its own channel.
            let _ = thread.join();
        }
    }
}

fn work(server: &Server, shutting_down: &AtomicBool, handler: &WorkerHandler) -> Result<(), String> {
    loop {
        match server.recv() {
            Ok(request) => take(request, handler),
            Err(_) if shutting_down.load(Ordering::SeqCst) => return Ok(()),
            Err(error) => return Err(format!("the private HTTP listener failed: {error}")),
        }
    }
}

fn take(mut incoming: tiny_http::Request, handler: &WorkerHandler) {
    let read = whole(&mut incoming);
    let responder = WorkerResponder(incoming);
    match read {
        Ok(Some(request)) => handler(request, responder),
        Ok(None) => responder.send(Response::json(200, Vec::new())),
        Err(error) => {
            responder.send(Response::error(400, "bad_request", &format!("the request broke off: {error}")));
        }
    }
}

/// The request, or `None` for a [`PROBE`].
fn whole(incoming: &mut tiny_http::Request) -> io::Result<Option<Request>> {
    let method = match incoming.method() {
        tiny_http::Method::Get => Method::Get,
        tiny_http::Method::Post => Method::Post,
        tiny_http::Method::Head => return Ok(None),
        other => return Err(io::Error::other(format!("method {other} does not pass the gate"))),
    };
    let (path, query) = incoming.url().split_once('?').unwrap_or((incoming.url(), ""));
    let (path, query) = (path.to_owned(), query.to_owned());
    let mut body = Vec::with_capacity(incoming.body_length().unwrap_or(0));
    incoming.as_reader().read_to_end(&mut body)?;
    Ok(Some(Request { method, path, query, body, bad_body: None }))
}

/// The path of a Unix socket through its folder's descriptor, which the returned file keeps open: it stays right where the
/// folder is moved, and is shorter than the 107 bytes that such a path may have.
///
/// # Errors
/// The system's reason when the folder cannot be opened.
pub(super) fn socket_path(folder: &Path, name: &str) -> io::Result<(PathBuf, std::fs::File)> {
    use std::os::fd::AsRawFd;
    let folder = std::fs::File::open(folder)?;
    Ok((PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())), folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    fn ask(path: &Path, head: &str, body: &[u8]) -> String {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    fn echo() -> WorkerHandler {
        Arc::new(|request: Request, responder: WorkerResponder| {
            assert!(request.path != "/panic", "asked to");
            let response = Response::json(200, format!("{request:?}").into_bytes());
            responder.send(response.with_header("Allow", "X".to_owned()));
        })
    }

    #[test]
    fn a_request_reaches_the_handler_whole_and_a_long_answer_has_a_length() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let (deaths, heard) = crossbeam_channel::bounded(4);
        let workers = serve(&path, 2, &echo(), &deaths).unwrap();
        let body = vec![b'7'; 100_000];
        let head = "POST /info?a=b HTTP/1.1\r\nContent-Length: 100000";
        let answer = ask(&path, head, &body);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer:.200}");
        assert!(answer.contains("Content-Length: ") && !answer.contains("chunked"));
        assert!(answer.contains("Content-Type: application/json\r\n") && answer.contains("Allow: X\r\n"));
        assert!(answer.contains(r#"path: "/info", query: "a=b""#));
        assert_eq!(answer.matches("55, ").count(), 99_999);
        workers.shut_down();
        assert!(heard.is_empty());
        assert!(UnixStream::connect(&path).is_err());
    }

    #[test]
    fn a_panic_in_the_handler_is_a_death() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let (deaths, heard) = crossbeam_channel::bounded(4);
        let workers = serve(&path, 1, &echo(), &deaths).unwrap();
        assert!(ask(&path, "GET /panic HTTP/1.1", b"").starts_with("HTTP/1.1 500 "));
        assert_eq!(heard.recv().unwrap().thread, "http-0");
        workers.shut_down();
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_a_deep_folder_serves() {
        let home = tempfile::tempdir().unwrap();
        let deep = home.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        std::fs::write(deep.join("http.sock"), b"").unwrap();
        let (path, _folder) = socket_path(&deep, "http.sock").unwrap();
        let (deaths, _heard) = crossbeam_channel::bounded(4);
        let workers = serve(&path, 1, &echo(), &deaths).unwrap();
        assert!(ask(&path, "GET /guard/status HTTP/1.1", b"").starts_with("HTTP/1.1 200 "));
        workers.shut_down();
    }
}
