//! The client against scripted venues on this machine: answers, broken connections, bounds and deadlines.

use super::*;
use serde_json::json;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a scripted venue does once it has read a request.
#[derive(Clone)]
enum Act {
    Say(Vec<u8>),
    SayAndClose(Vec<u8>),
    Close,
    Stall,
}

/// A venue that plays its script, one act a request, and counts what it sees.
struct Venue {
    url: String,
    connections: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    seen: crossbeam_channel::Receiver<String>,
    closed: crossbeam_channel::Receiver<()>,
}

fn venue(script: Vec<Act>) -> Venue {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (connections, requests): (Arc<AtomicUsize>, Arc<AtomicUsize>) = Default::default();
    let (see, seen) = crossbeam_channel::bounded(64);
    let (close, closed) = crossbeam_channel::bounded(64);
    let (connected, requested) = (Arc::clone(&connections), Arc::clone(&requests));
    std::thread::spawn(move || {
        let mut script = script.into_iter();
        let mut stalled = Vec::new();
        while let Ok((mut stream, _)) = listener.accept() {
            connected.fetch_add(1, Ordering::SeqCst);
            while let Some(request) = read_request(&mut stream) {
                requested.fetch_add(1, Ordering::SeqCst);
                see.send(request).unwrap();
                match script.next() {
                    Some(Act::Say(bytes)) => stream.write_all(&bytes).unwrap(),
                    Some(Act::SayAndClose(bytes)) => {
                        let _ = stream.write_all(&bytes);
                        break;
                    }
                    Some(Act::Stall) => {
                        stalled.push(stream.try_clone().unwrap());
                        break;
                    }
                    Some(Act::Close) | None => break,
                }
            }
            drop(stream);
            let _ = close.send(());
        }
    });
    Venue { url, connections, requests, seen, closed }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut byte = [0; 1];
    while !bytes.ends_with(b"\r\n\r\n") {
        (stream.read(&mut byte).ok()? == 1).then(|| bytes.push(byte[0]))?;
    }
    let head = String::from_utf8(bytes).unwrap().to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1).unwrap().lines().next().unwrap().parse().unwrap();
    let mut body = vec![0; length];
    stream.read_exact(&mut body).ok()?;
    Some(head + &String::from_utf8(body).unwrap())
}

fn answer(status: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len())
        .into()
}

fn client(url: &str) -> Client {
    Client::new(url, Timeouts { connect_ms: 5_000, call_ms: 60_000 }).unwrap()
}

fn hurried(url: &str) -> Client {
    Client::new(url, Timeouts { connect_ms: 300, call_ms: 300 }).unwrap()
}

const SECRET: &str = "0x0123-not-to-be-told";

fn send(client: &Client) -> Result<Value, CallError> {
    let result = client.exchange(format!(r#"{{"action":"{SECRET}"}}"#).as_bytes());
    if let Err(error) = &result {
        assert!(!format!("{error} {error:?}").contains("not-to-be-told"), "{error:?}");
    }
    result
}

#[test]
fn a_good_answer_comes_back_and_the_connection_is_kept() {
    let venue = venue(vec![Act::Say(answer("200 OK", r#"{"status":"ok"}"#)); 3]);
    let client = client(&(venue.url.clone() + "/"));
    assert_eq!(send(&client), Ok(json!({"status": "ok"})));
    assert_eq!(client.info(&json!({"type": "meta"})), Ok(json!({"status": "ok"})));
    let raw = client.info_raw(br#"{"type":"x"}"#).unwrap();
    assert_eq!((raw.status, raw.content_type.as_str(), raw.body.len()), (200, "application/json", 15));
    assert_eq!(venue.connections.load(Ordering::SeqCst), 1);
    let (first, second) = (venue.seen.recv().unwrap(), venue.seen.recv().unwrap());
    assert!(first.starts_with("post /exchange http/1.1\r\n") && first.contains("content-type: application/json\r\n"));
    assert!(second.starts_with("post /info http/1.1\r\n") && second.ends_with(r#"{"type":"meta"}"#), "{second}");
}

#[test]
fn what_never_connected_was_not_sent() {
    // A call that went out on this thread before must not count for those that follow.
    assert!(send(&client(&venue(vec![Act::Say(answer("200 OK", "{}"))]).url)).is_ok());

    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let refused = send(&client(&format!("http://{free}"))).unwrap_err();
    assert!(matches!(refused, CallError::NotSent(_)) && !refused.may_have_happened(), "{refused:?}");

    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let handshake = send(&hurried(&format!("https://{}", mute.local_addr().unwrap()))).unwrap_err();
    assert!(matches!(handshake, CallError::NotSent(_)), "{handshake:?}");

    let plain = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", plain.local_addr().unwrap());
    let speak = std::thread::spawn(move || {
        let (mut stream, _) = plain.accept().unwrap();
        let _ = stream.write_all(&answer("200 OK", "{}"));
    });
    let no_tls = send(&client(&url)).unwrap_err();
    assert!(matches!(no_tls, CallError::NotSent(_)), "{no_tls:?}");
    speak.join().unwrap();
}

#[test]
fn what_was_cut_off_is_in_doubt_and_is_sent_once() {
    let half = b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{".to_vec();
    let head = b"HTTP/1.1 200 O".to_vec();
    for act in
        [Act::Close, Act::SayAndClose(half), Act::SayAndClose(head), Act::SayAndClose(b"nonsense\r\n\r\n".to_vec())]
    {
        let venue = venue(vec![act; 5]);
        let error = send(&client(&venue.url)).unwrap_err();
        assert!(matches!(error, CallError::NoAnswer(_)) && error.may_have_happened(), "{error:?}");
        venue.closed.recv().unwrap();
        assert_eq!(venue.requests.load(Ordering::SeqCst), 1);
    }
    let dropped = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", dropped.local_addr().unwrap());
    let drop_all = std::thread::spawn(move || drop(dropped.accept().unwrap()));
    let error = send(&client(&url)).unwrap_err();
    assert!(matches!(error, CallError::NoAnswer(_)), "{error:?}");
    drop_all.join().unwrap();
}

#[test]
fn a_kept_connection_that_breaks_under_a_request_is_in_doubt_and_no_other_is_tried() {
    let good = answer("200 OK", "{}");
    let venue = venue(vec![Act::Say(good.clone()), Act::Close, Act::Say(good)]);
    let client = client(&venue.url);
    assert!(send(&client).is_ok());
    assert!(matches!(send(&client), Err(CallError::NoAnswer(_))));
    venue.closed.recv().unwrap();
    assert_eq!((venue.requests.load(Ordering::SeqCst), venue.connections.load(Ordering::SeqCst)), (2, 1));
    assert!(send(&client).is_ok());
}

#[test]
fn a_connection_closed_while_idle_is_not_used() {
    let good = answer("200 OK", "{}");
    let venue = venue(vec![Act::SayAndClose(good.clone()), Act::Say(good)]);
    let client = client(&venue.url);
    assert!(send(&client).is_ok());
    venue.closed.recv().unwrap();
    assert!(send(&client).is_ok());
    assert_eq!(venue.connections.load(Ordering::SeqCst), 2);
}

#[test]
fn slow_answers_are_given_up() {
    for act in [Act::Stall, Act::Say(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{".to_vec())] {
        let venue = venue(vec![act]);
        let error = send(&hurried(&venue.url)).unwrap_err();
        assert!(matches!(error, CallError::NoAnswer(_)), "{error:?}");
    }
}

#[test]
fn statuses_are_answers() {
    let elsewhere = venue(vec![Act::Say(answer("200 OK", "{}"))]);
    let redirect = |status: &str| {
        format!("HTTP/1.1 {status}\r\nLocation: {}/exchange\r\nContent-Length: 0\r\n\r\n", elsewhere.url).into_bytes()
    };
    for (bytes, status, doubt) in [
        (answer("400 Bad Request", "no"), 400, false),
        (answer("408 Request Timeout", "no"), 408, true),
        (answer("422 Unprocessable Entity", "no"), 422, false),
        (answer("502 Bad Gateway", "no"), 502, true),
        (redirect("302 Found"), 302, true),
        (redirect("307 Temporary Redirect"), 307, true),
    ] {
        let venue = venue(vec![Act::Say(bytes)]);
        let error = send(&client(&venue.url)).unwrap_err();
        let CallError::Refused { status: told, body } = &error else { panic!("{error:?}") };
        assert_eq!((*told, error.may_have_happened()), (status, doubt));
        assert_eq!(body, if (300..400).contains(&status) { "" } else { "no" });
    }
    assert_eq!(elsewhere.requests.load(Ordering::SeqCst), 0);

    let limited = venue(vec![Act::Say(answer("429 Too Many Requests", "null")); 2]);
    assert_eq!(send(&client(&limited.url)), Err(CallError::RateLimited));
    let way = "`svc-guard config set ip_share SHARE` takes a smaller one";
    assert!(CallError::RateLimited.to_string().contains(way));
    assert_eq!(client(&limited.url).info_raw(b"{}").map(|raw| raw.status), Ok(429));

    let cut_off = venue(vec![Act::SayAndClose(b"HTTP/1.1 429 No\r\nContent-Length: 50\r\n\r\nnul".to_vec())]);
    assert_eq!(send(&client(&cut_off.url)), Err(CallError::RateLimited));
}

#[test]
fn garbage_is_in_doubt_and_bounded() {
    let most = usize::try_from(MAX_ANSWER).unwrap();
    let long = format!("\"{}\"", "x".repeat(most - 2));
    let longer = format!("\"{}\"", "x".repeat(most - 1));
    let venue = venue(vec![
        Act::Say(answer("200 OK", "<html>")),
        Act::Say(answer("200 OK", "")),
        Act::Say(answer("200 OK", &"[".repeat(100_000))),
        Act::Say(answer("200 OK", &long)),
        Act::SayAndClose(answer("200 OK", &longer)),
        Act::Say(answer("400 Bad Request", &longer)),
    ]);
    let client = client(&venue.url);
    for _ in 0..3 {
        let error = send(&client).unwrap_err();
        assert!(matches!(error, CallError::Garbage(_)) && error.may_have_happened(), "{error:?}");
    }
    assert!(send(&client).is_ok());
    assert_eq!(send(&client), Err(CallError::Garbage("over 8388608 bytes".to_owned())));
    assert!(matches!(send(&client), Err(CallError::Refused { status: 400, .. })));
}

#[test]
fn only_an_origin_is_a_base_url() {
    for (url, good) in [
        ("https://api.hyperliquid.xyz", true),
        ("http://127.0.0.1:3001/", true),
        ("http://[::1]:3001", true),
        ("http://localhost", true),
        ("ftp://localhost", false),
        ("localhost:3001", false),
        ("http://", false),
        ("http://user:word@localhost", false),
        ("http://localhost/info", false),
        ("http://localhost/?x=1", false),
        ("", false),
    ] {
        assert_eq!(Client::new(url, Timeouts::default()).is_ok(), good, "{url}");
    }
}

#[test]
fn a_named_host_is_found_and_kept() {
    let venue = venue(vec![Act::Say(answer("200 OK", "{}")); 2]);
    let client = client(&venue.url.replace("127.0.0.1", "localhost"));
    assert!(send(&client).is_ok() && send(&client).is_ok());
}

/// A person must see who was asked, and for what.
#[test]
fn a_venue_that_hangs_is_named_with_the_question() {
    let mute = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", mute.local_addr().unwrap());
    let error = hurried(&url).info(&json!({"type": "userRole", "user": SECRET})).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("no answer, it may have arrived: {url}: it did not answer in time, asked for userRole")
    );
}
