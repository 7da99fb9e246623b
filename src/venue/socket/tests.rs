//! The socket against servers that behave and servers that do not.

use std::io::BufRead;
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection};
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;

use super::*;

const SOON: Duration = Duration::from_secs(5);
/// Long enough for a machine that is busy, short enough to wait for.
const LATE: Duration = Duration::from_millis(200);

/// A server on a port of its own: its origin, and its thread.
fn serve(scheme: &str, serve: impl FnOnce(TcpStream) + Send + 'static) -> (Origin, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let origin = Origin::parse(&format!("{scheme}://localhost:{}", listener.local_addr().unwrap().port())).unwrap();
    // A name may stand for an address of the other family first, where nobody listens.
    (origin, thread::spawn(move || serve(listener.accept().unwrap().0)))
}

fn venue(talk: impl FnOnce(&mut WebSocket<TcpStream>) + Send + 'static) -> (Socket, JoinHandle<()>) {
    let (origin, server) = serve("http", move |stream| talk(&mut tungstenite::accept(stream).unwrap()));
    (Socket::open(&origin, SOON).unwrap(), server)
}

/// Opens one that does not: the error.
fn refused(serve_with: impl FnOnce(TcpStream) + Send + 'static, within: Duration) -> String {
    let (origin, server) = serve("http", serve_with);
    let error = Socket::open(&origin, within).unwrap_err().to_string();
    server.join().unwrap();
    assert!(error.chars().count() <= REASON_CHARS && !error.contains(char::is_control), "{error:?}");
    error
}

fn text(text: &str) -> Message {
    Message::Text(Utf8Bytes::from(text))
}

#[test]
fn texts_go_both_ways() {
    let (mut socket, server) = venue(|venue| {
        assert_eq!(venue.read().unwrap(), text("one"));
        venue.send(Message::Ping(vec![7].into())).unwrap();
        venue.send(text("two")).unwrap();
        assert_eq!(venue.read().unwrap(), Message::Pong(vec![7].into()));
        assert!(matches!(venue.read().unwrap(), Message::Close(_)));
    });
    assert_eq!(socket.receive(LATE), Ok(None));
    socket.send("one").unwrap();
    assert_eq!(socket.receive(SOON), Ok(Some("two".to_owned())));
    assert_eq!(socket.receive(LATE), Ok(None));
    socket.close();
    server.join().unwrap();
}

#[test]
fn a_text_that_comes_in_parts_is_whole_in_the_end() {
    let (go_on, may) = mpsc::channel::<()>();
    let (mut socket, server) = venue(move |venue| {
        // A text of five letters, unmasked as a server's are.
        for part in [&b"\x81"[..], b"\x05he", b"llo"] {
            venue.get_mut().write_all(part).unwrap();
            may.recv().unwrap();
        }
    });
    assert_eq!(socket.receive(LATE), Ok(None));
    go_on.send(()).unwrap();
    assert_eq!(socket.receive(LATE), Ok(None));
    go_on.send(()).unwrap();
    assert_eq!(socket.receive(SOON), Ok(Some("hello".to_owned())));
    go_on.send(()).unwrap();
    server.join().unwrap();
}

#[test]
fn every_end_is_an_error() {
    let expired = |venue: &mut WebSocket<TcpStream>| {
        let close = CloseFrame { code: CloseCode::Normal, reason: "Expired".into() };
        venue.close(Some(close)).unwrap();
    };
    let too_long = |venue: &mut WebSocket<TcpStream>| {
        let mut head = vec![0x81, 127];
        head.extend_from_slice(&(MAX_FRAME as u64 + 1).to_be_bytes());
        venue.get_mut().write_all(&head).unwrap();
        let _client_goes = venue.read();
    };
    let binary = |venue: &mut WebSocket<TcpStream>| venue.send(Message::Binary(vec![1].into())).unwrap();
    let no_text = |venue: &mut WebSocket<TcpStream>| venue.get_mut().write_all(b"\x81\x02\xff\xff").unwrap();
    let nothing = |_: &mut WebSocket<TcpStream>| {};
    type Talk = fn(&mut WebSocket<TcpStream>);
    let ends: [(Talk, &str); 5] = [
        (expired, "1000 Expired"),
        (too_long, "too long"),
        (binary, "no text"),
        (no_text, "UTF-8"),
        (nothing, "without closing handshake"),
    ];
    for (end, part) in ends {
        let (mut socket, server) = venue(end);
        let error = socket.receive(SOON).unwrap_err().to_string();
        assert!(error.contains(part), "{error}, not {part}");
        drop(socket);
        server.join().unwrap();
    }
}

#[test]
fn what_does_not_open_says_why_and_in_time() {
    let closed = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap() };
    let origin = Origin::parse(&format!("http://{closed}")).unwrap();
    assert!(Socket::open(&origin, SOON).unwrap_err().to_string().contains("refused"));
    let busy = |mut stream: TcpStream| {
        read_head(&stream);
        stream.write_all(b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\n\r\n").unwrap();
    };
    assert!(refused(busy, SOON).contains("503"));
    let silent = |mut stream: TcpStream| while stream.read(&mut [0; 64]).is_ok_and(|read| read > 0) {};
    assert_eq!(refused(silent, LATE), "no answer in time");
    // A byte now and then must not keep it up.
    let slow = |mut stream: TcpStream| {
        read_head(&stream);
        stream.write_all(b"HTTP/1.1 101 Switching Protocols\r\nslow: ").unwrap();
        while stream.write_all(b"a").is_ok() {
            thread::sleep(Duration::from_millis(20));
        }
    };
    let error = refused(slow, LATE);
    assert_eq!(error, "no answer in time");
    // Nobody speaks TLS there.
    let (origin, server) = serve("https", |mut stream| drop(stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")));
    assert!(Socket::open(&origin, SOON).is_err());
    server.join().unwrap();
}

#[test]
fn a_reader_that_does_not_read_ends_the_socket() {
    let (done, wait) = mpsc::channel::<()>();
    let (mut socket, server) = venue(move |_| assert!(wait.recv().is_err()));
    let long = "x".repeat(MAX_UNSENT / 2);
    assert!((0..10_000).any(|_| socket.send(&long).is_err()));
    drop(done);
    server.join().unwrap();
}

fn read_head(stream: &TcpStream) -> Vec<String> {
    let lines = io::BufReader::new(stream).lines().map(Result::unwrap);
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn the_request_names_the_host_and_the_guard() {
    let (told, heard) = mpsc::channel();
    let _ = refused(move |stream| told.send(read_head(&stream)).unwrap(), SOON);
    let head = heard.recv().unwrap();
    assert_eq!(head[0], "GET /ws HTTP/1.1");
    let has = |start: &str| head.iter().any(|line| line.to_ascii_lowercase().starts_with(start));
    assert!(has("host: localhost:") && has("user-agent: svc-guard/") && !has("origin:"), "{head:?}");
}

/// A key for these tests alone, and its certificate for `localhost`.
const KEY: &str = "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgA2501JW+pdC7F5LcTSf6U/o5k4yfcWXACiEOicGZFRyhRANCAAQgq1n1QlF/gqKO\
    jbyvEwPE3h9SoKFYH059Vws7gGXhopzeo+tAUpMDUUqIjj2S5J5XsjTorEORWRKbG1wGFgvq";
const CERTIFICATE: &str = "MIIBXTCCAQSgAwIBAgIBATAKBggqhkjOPQQDAjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAw\
    MDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCCrWfVCUX+Coo6NvK8TA8TeH1KgoVgfTn1XCzuAZeGinN6j60BSkwNRSoiOPZLknley\
    NOisQ5FZEpsbXAYWC+qjRTBDMBQGA1UdEQQNMAuCCWxvY2FsaG9zdDAMBgNVHRMBAf8EAjAAMB0GA1UdDgQWBBSZm4iRiLHAAwJwckjf+stNuFUoHDAKBggqhkjOPQQDAgNHADBE\
    AiARVVtUXv66Do3YM9EGP2EcM2ac6t0r2GV3EWI+wqg05AIgXn3kWrmPEv19H5uqllTobxPbGUzGIcwlL5k6nR9puzM=";

fn certificate() -> CertificateDer<'static> {
    BASE64_STANDARD.decode(CERTIFICATE).unwrap().into()
}

fn tls_venue() -> (Origin, JoinHandle<()>) {
    serve("https", |stream| {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivateKeyDer::Pkcs8(BASE64_STANDARD.decode(KEY).unwrap().into());
        let versions = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        let config = versions.with_no_client_auth().with_single_cert(vec![certificate()], key).unwrap();
        let stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
        let Ok(mut venue) = tungstenite::accept(stream) else { return };
        while let Ok(message) = venue.read() {
            // A client that went reads no answer.
            let _gone = venue.send(message);
        }
    })
}

#[test]
fn an_encrypted_socket_is_one_like_any_other() {
    let (origin, server) = tls_venue();
    let roots = || {
        let mut roots = RootCertStore::empty();
        roots.add(certificate()).unwrap();
        roots
    };
    let mut socket = Socket::open_with(&origin, SOON, roots).unwrap();
    let long = "long ".repeat(8_000);
    for sent in ["short", &long] {
        assert_eq!(socket.receive(LATE), Ok(None));
        socket.send(sent).unwrap();
        assert_eq!(socket.receive(SOON).unwrap().as_deref(), Some(sent));
    }
    socket.close();
    server.join().unwrap();
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_refused() {
    let (origin, server) = tls_venue();
    let error = Socket::open(&origin, SOON).unwrap_err().to_string();
    assert!(error.contains("certificate"), "{error}");
    server.join().unwrap();
}
