//! The HTTP workers: tiny_http on a private Unix socket, where only the gate connects.
//!
//! tiny_http bounds neither heads, bodies, connections nor time, so nothing may reach it but what the gate has
//! read whole and written anew. What a request means may not enter: a handler knows.

pub mod routes;
pub mod types;

use crate::service::thread::{Death, spawn};
use crossbeam_channel::Sender;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use tiny_http::{Header, Server, StatusCode};
use types::{Method, Request, Response};

/// What answers requests; called by every worker, so it must hold no lock while it waits. A panic in it ends the
/// worker, and with it the service.
pub type Handler = Arc<dyn Fn(Request) -> Response + Send + Sync>;

/// What the gate asks first on a new connection, and a worker answers at once.
///
/// tiny_http counts a waiting thread as free until it has woken up, so of many connections opened in one moment
/// some are queued behind others that never end. One that has answered has its thread; the gate opens the next
/// only then.
pub(super) const PROBE: &[u8] = b"HEAD / HTTP/1.1\r\n\r\n";

/// The workers and their listener.
pub struct Workers {
    server: Arc<Server>,
    stopping: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

/// Listens on the Unix socket `path` with this many workers. A request waits while all of them are at work, so
/// there should be as many as the gate lets in.
///
/// # Errors
/// The system's reason when the socket or a thread is refused.
pub fn serve(path: &Path, workers: usize, handler: &Handler, deaths: &Sender<Death>) -> io::Result<Workers> {
    // What a killed service left behind would refuse the address; the folder is private and locked by this one.
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let server = Arc::new(Server::http_unix(path).map_err(io::Error::other)?);
    let stopping = Arc::new(AtomicBool::new(false));
    let mut threads = Vec::with_capacity(workers);
    for number in 0..workers {
        let (server, stopping, handler) = (Arc::clone(&server), Arc::clone(&stopping), Arc::clone(handler));
        let work = move || work(&server, &stopping, handler.as_ref());
        threads.push(spawn(&format!("http-{number}"), deaths, work)?);
    }
    Ok(Workers { server, stopping, threads })
}

impl Workers {
    /// Ends the workers, each after the request that it is at. Stop the gate first, so that none comes in.
    pub fn stop(self) {
        self.stopping.store(true, Ordering::SeqCst);
        for _ in &self.threads {
            self.server.unblock();
        }
        for thread in self.threads {
            // A worker that died has been heard of by its own channel.
            let _ = thread.join();
        }
    }
}

fn work(server: &Server, stopping: &AtomicBool, handler: &dyn Fn(Request) -> Response) -> Result<(), String> {
    loop {
        match server.recv() {
            Ok(request) => answer(request, handler),
            Err(_) if stopping.load(Ordering::SeqCst) => return Ok(()),
            Err(error) => return Err(format!("the private HTTP listener failed: {error}")),
        }
    }
}

fn answer(mut incoming: tiny_http::Request, handler: &dyn Fn(Request) -> Response) {
    let response = match whole(&mut incoming) {
        Ok(Some(request)) => handler(request),
        Ok(None) => Response::json(200, Vec::new()),
        Err(error) => Response::error(400, "bad_request", &format!("the request broke off: {error}")),
    };
    let content_type = ("Content-Type", response.content_type);
    let headers = std::iter::once(content_type)
        .chain(response.headers)
        .filter_map(|(name, value)| Header::from_bytes(name, value).ok())
        .collect();
    let length = response.body.len();
    let outgoing =
        tiny_http::Response::new(StatusCode(response.status), headers, Cursor::new(response.body), Some(length), None)
            .with_chunked_threshold(usize::MAX);
    // The gate gave up waiting: its client has been told, and the decision stands in the journal.
    let _ = incoming.respond(outgoing);
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
    Ok(Some(Request { method, path, query, body, unjudgeable: None }))
}

/// A Unix socket's path may have 107 bytes; a longer one is reached through the folder's descriptor, which the
/// returned file keeps open.
///
/// # Errors
/// The system's reason when the folder cannot be opened.
pub fn socket_path(folder: &Path, name: &str) -> io::Result<(PathBuf, Option<std::fs::File>)> {
    use std::os::fd::AsRawFd;
    const LONGEST: usize = 107;
    let path = folder.join(name);
    if path.as_os_str().len() <= LONGEST {
        return Ok((path, None));
    }
    let folder = std::fs::File::open(folder)?;
    Ok((PathBuf::from(format!("/proc/self/fd/{}/{name}", folder.as_raw_fd())), Some(folder)))
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

    fn echo() -> Handler {
        Arc::new(|request: Request| {
            assert!(request.path != "/panic", "asked to");
            Response::json(200, format!("{request:?}").into_bytes()).with_header("Allow", "X".to_owned())
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
        workers.stop();
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
        workers.stop();
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
        assert!(ask(&path, "GET /healthz HTTP/1.1", b"").starts_with("HTTP/1.1 200 "));
        workers.stop();
    }
}
