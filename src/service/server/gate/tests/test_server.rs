//! A gate with workers behind it, and how a test speaks to it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::super::context::{Handler, Setup};
use super::super::limits::Limits;
use super::super::listener::Gate;
use super::super::slots::{Slot, Slots};
use super::super::upgrade::{Upgrade, Upgrades};
use crate::base::address::Address;
use crate::service::server::gate::Hosts;
use crate::service::server::types::{Request, Response};
use crate::service::server::workers::{WorkerResponder, Workers, serve};
use crate::service::thread::Death;

/// The client of every request to the gate's own paths whose query begins with `signed`.
const CLIENT: Address = Address([1; 20]);

pub(super) type TestHandler = Arc<dyn Fn(Request) -> Response + Send + Sync>;

pub(super) struct TestServer {
    pub(super) gate: Option<Gate>,
    pub(super) workers: Option<Workers>,
    pub(super) address: SocketAddr,
    pub(super) deaths: Sender<Death>,
    pub(super) heard: Receiver<Death>,
    pub(super) folder: tempfile::TempDir,
}

/// Limits under which a waiting test ends soon and a busy machine still keeps up.
pub(super) fn limits() -> Limits {
    let long = Duration::from_secs(60);
    let tick = Duration::from_millis(20);
    Limits { idle: long, receive: long, answer: long, write: long, linger: long, tick, ..Limits::default() }
}

pub(super) fn no_upgrades() -> Upgrades {
    Arc::new(|upgrade: Upgrade| drop(upgrade))
}

/// A gate and workers with the same handler.
pub(super) fn open_with(limits: Limits, workers: usize, handler: &TestHandler, upgrades: Upgrades) -> TestServer {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("http.sock");
    let (deaths, heard) = bounded(16);
    let at_workers = Arc::clone(handler);
    let answer = move |request: Request, responder: WorkerResponder| responder.send(at_workers(request));
    let workers = serve(&path, workers, &(Arc::new(answer) as _), &deaths).unwrap();
    let slots = Arc::new(Slots::new(&limits, 1));
    let (hosts, answer) = (Hosts::default(), Arc::clone(handler));
    let handler: Handler = Arc::new(move |request: &Request, slot: &Slot| {
        if request.query.starts_with("signed") && slot.vouch(CLIENT).is_err() {
            return Response::error(503, "busy", "over its share");
        }
        answer(request.clone())
    });
    let setup = Setup { limits, hosts, slots, handler, workers: path, upgrades };
    let gate = Gate::open(TcpListener::bind("127.0.0.1:0").unwrap(), setup, &deaths).unwrap();
    let address = gate.address();
    TestServer { gate: Some(gate), workers: Some(workers), address, deaths, heard, folder }
}

pub(super) fn handler(answer: impl Fn(Request) -> Response + Send + Sync + 'static) -> TestHandler {
    Arc::new(answer)
}

pub(super) fn open(limits: Limits) -> TestServer {
    let describe = |request: Request| {
        let Request { method, path, query, body, bad_body } = request;
        let text = format!("{} {path} {query} {} {bad_body:?}", method.name(), body.len());
        Response::json(bad_body.map_or(200, |why| why.status()), text.into_bytes())
    };
    open_with(limits, 4, &handler(describe), no_upgrades())
}

impl TestServer {
    pub(super) fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).unwrap()
    }

    /// Sends and reads until the gate closes.
    pub(super) fn ask(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The gate may have refused and closed before it took everything.
        let _ = stream.write_all(bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        read_all(&mut stream)
    }

    /// Whether a worker answers.
    pub(super) fn serves(&self) -> bool {
        self.ask(b"GET /guard/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            .starts_with("HTTP/1.1 200 OK")
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        if let Some(gate) = self.gate.take() {
            gate.shut_down(Duration::ZERO);
        }
        if let Some(workers) = self.workers.take() {
            workers.shut_down();
        }
    }
}

pub(super) fn read_all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = stream.read(&mut chunk) {
        answer.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(answer).unwrap()
}

/// Reads the head of an answer.
pub(super) fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    let mut byte = [0; 1];
    while !head.ends_with(b"\r\n\r\n") {
        assert_eq!(stream.read(&mut byte).unwrap(), 1, "closed after {:?}", String::from_utf8_lossy(&head));
        head.push(byte[0]);
    }
    String::from_utf8(head).unwrap()
}

/// Reads one answer and leaves the connection open.
pub(super) fn read_one(stream: &mut TcpStream) -> (String, String) {
    let head = read_head(stream);
    let length = head.split("Content-Length: ").nth(1).map_or(0, |rest| rest.lines().next().unwrap().parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}
