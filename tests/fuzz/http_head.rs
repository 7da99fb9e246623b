//! A request's head: no byte past its end is looked at, nothing shorter is taken for it, and what was understood prints
//! to a head that is understood alike.

use super::*;

const WORDS: &[&str] = &[
    "\r\n",
    "\n",
    "\r\n\r\n",
    "Host: localhost\r\n",
    "Content-Length: 2\r\n",
    "Content-Length: 18446744073709551616\r\n",
    "Transfer-Encoding: chunked\r\n",
    "Connection: close\r\n",
    "Connection: keep-alive, Upgrade\r\n",
    "Upgrade: websocket\r\n",
    "Sec-WebSocket-Version: 13\r\n",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
    "Expect: 100-continue\r\n",
    "Origin: http://localhost\r\n",
    "Content-Type: application/json\r\n",
    " HTTP/1.1",
    " HTTP/1.0",
    "GET ",
    "POST ",
    "X: y\r\n",
    "\t",
    ": ",
    "\u{e9}",
];

/// A head that says what was understood and no more.
fn print(head: &Head) -> String {
    let verb = match head.verb {
        Verb::Get => "GET",
        Verb::Head => "HEAD",
        Verb::Post => "POST",
        Verb::Other => "PUT",
    };
    let version = if head.host.is_some() { "1.1" } else { "1.0" };
    let mut text = format!("{verb} {} HTTP/{version}\r\n", head.target);
    let mut line = |name: &str, value: Option<&str>| {
        text.extend(value.map(|value| format!("{name}: {value}\r\n")));
    };
    line("Host", head.host.as_deref());
    line("Origin", head.origin.as_deref());
    line("Content-Type", head.content_type.as_deref());
    match head.length {
        Length::Absent => {}
        Length::Bytes(bytes) => line("Content-Length", Some(&bytes.to_string())),
        Length::Encoded => line("Transfer-Encoding", Some("chunked")),
    }
    line("Expect", head.expects_continue.then_some("100-continue"));
    line("Connection", Some(if head.keep_alive { "keep-alive" } else { "close" }));
    if let Some(key) = &head.upgrade {
        line("Connection", Some("upgrade"));
        line("Upgrade", Some("websocket"));
        line("Sec-WebSocket-Version", key.as_ref().map(|_| "13"));
        line("Sec-WebSocket-Key", key.as_deref());
    }
    text.push_str("\r\n");
    text
}

fn check(input: &[u8]) -> String {
    match parse(input) {
        Ok(Some((head, size))) => {
            assert!(size <= input.len() && size <= MAX_HEAD, "{size} bytes of {}", input.len());
            assert!(input[..size].ends_with(b"\n"));
            let same = |bytes: &[u8]| matches!(parse(bytes), Ok(Some(read)) if read == (head.clone(), size));
            assert!(same(&input[..size]), "what follows the head is read as well");
            assert!(same(&[&input[..size], b"\0 HTTP/1.1\r\n"].concat()), "what follows the head is read as well");
            assert!(matches!(parse(&input[..size - 1]), Ok(None)), "the head ends before its end");
            assert!(head.target.starts_with('/') && head.path().len() <= head.target.len());
            assert!(head.may_have_body() || !head.has_body());
            let printed = print(&head);
            match parse(printed.as_bytes()) {
                Ok(Some((again, length))) => assert_eq!((&again, length), (&head, printed.len()), "{printed}"),
                // Names in full and blanks after them may take a full head over its limit.
                other => {
                    assert!(printed.len() > MAX_HEAD, "{:?} of {printed}", other.map_err(|refusal| refusal.0.status));
                }
            }
            format!(
                "{:?} {:?} {}",
                head.verb,
                head.length,
                head.upgrade.map_or("", |key| key.map_or("bare", |_| "upgrade"))
            )
        }
        Ok(None) => {
            assert!(input.len() < MAX_HEAD, "{} bytes and more wanted", input.len());
            "more".to_owned()
        }
        Err(refusal) => {
            let (status, body) = (refusal.0.status, refusal.0.body);
            assert!(matches!(status, 400 | 417 | 431), "{status}");
            assert!(body.len() <= 512, "{} bytes of refusal", body.len());
            String::from_utf8(body).unwrap().to_ascii_lowercase()
        }
    }
}

#[test]
fn http_head() {
    crate::fuzz::run("http_head", WORDS, check);
}
