//! Reads a request's head. Strict where two readers could disagree: a header that comes twice or means two things is refused.

use super::refusal::Refusal;

/// The most bytes of a request line and headers together.
pub(super) const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;

/// The methods that are distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Head,
    Post,
    Other,
}

/// How long the head says that the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// Neither `Content-Length` nor `Transfer-Encoding`.
    Absent,
    /// `Content-Length`; a number past 64 bits is cut to the largest.
    Bytes(u64),
    /// `Transfer-Encoding`, of any kind.
    Encoded,
}

/// The parts of a head that the gate needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) verb: Verb,
    /// Path and query as sent.
    pub(super) target: String,
    pub(super) host: Option<String>,
    pub(super) origin: Option<String>,
    pub(super) content_type: Option<String>,
    pub(super) length: Length,
    pub(super) expects_continue: bool,
    pub(super) keep_alive: bool,
    /// Set for an upgrade to a WebSocket: its key, where one of version 13 stands.
    pub(super) upgrade: Option<Option<String>>,
}

impl Head {
    /// The target without its query.
    pub(super) fn path(&self) -> &str {
        self.target.split_once('?').map_or(self.target.as_str(), |(path, _)| path)
    }

    /// Whether the head announces a body.
    pub(super) fn has_body(&self) -> bool {
        !matches!(self.length, Length::Absent | Length::Bytes(0))
    }

    /// Whether what follows may be a body rather than the next request: some clients send one unannounced.
    pub(super) fn may_have_body(&self) -> bool {
        self.has_body() || (self.length == Length::Absent && !matches!(self.verb, Verb::Get | Verb::Head))
    }
}

/// Reads the head at the start of `bytes` and says how long it is, or `None` while more must come.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Head, usize)>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let size = match request.parse(bytes) {
        Ok(httparse::Status::Complete(size)) if size <= MAX_HEAD => size,
        Ok(httparse::Status::Partial) if bytes.len() < MAX_HEAD => return Ok(None),
        Ok(_) => return Err(Refusal::new(431, "head_too_large", "the request's head is over 16384 bytes")),
        Err(httparse::Error::TooManyHeaders) => {
            return Err(Refusal::new(431, "head_too_large", "the request has more than 64 headers"));
        }
        Err(error) => return Err(bad(&format!("the request's head cannot be read: {error}"))),
    };
    let target = request.path.filter(|path| path.starts_with('/') && path.is_ascii());
    let target = target.ok_or_else(|| bad("the request's target must be an ASCII path"))?.to_owned();
    let verb = match request.method {
        Some("GET") => Verb::Get,
        Some("HEAD") => Verb::Head,
        Some("POST") => Verb::Post,
        _ => Verb::Other,
    };
    let head = read_headers(verb, target, request.version == Some(1), request.headers)?;
    Ok(Some((head, size)))
}

fn read_headers(verb: Verb, target: String, http_1_1: bool, headers: &[httparse::Header]) -> Result<Head, Refusal> {
    let mut seen = Seen::default();
    for header in headers {
        seen.take(header)?;
    }
    if http_1_1 && seen.host.is_none() {
        return Err(bad("an HTTP/1.1 request needs a Host header"));
    }
    let length = match (seen.length, seen.encoded) {
        (None, false) => Length::Absent,
        (Some(bytes), false) => Length::Bytes(bytes),
        (None, true) => Length::Encoded,
        (Some(_), true) => return Err(bad("Content-Length and Transfer-Encoding contradict each other")),
    };
    if seen.websocket && seen.key.as_deref().is_some_and(|key| !is_websocket_key(key)) {
        return Err(bad("Sec-WebSocket-Key must be 16 bytes in base64"));
    }
    let upgrade = (seen.connection_upgrade && seen.websocket).then(|| seen.key.filter(|_| seen.version_13));
    let keep_alive = if http_1_1 { !seen.connection_close } else { seen.connection_keep };
    Ok(Head {
        verb,
        target,
        host: seen.host,
        origin: seen.origin,
        content_type: seen.content_type,
        length,
        expects_continue: seen.expects_continue && http_1_1,
        keep_alive,
        upgrade,
    })
}

#[derive(Default)]
struct Seen {
    host: Option<String>,
    origin: Option<String>,
    content_type: Option<String>,
    length: Option<u64>,
    encoded: bool,
    expects_continue: bool,
    connection_close: bool,
    connection_keep: bool,
    connection_upgrade: bool,
    websocket: bool,
    key: Option<String>,
    version_13: bool,
}

impl Seen {
    fn take(&mut self, header: &httparse::Header) -> Result<(), Refusal> {
        match header.name.to_ascii_lowercase().as_str() {
            "host" => once(&mut self.host, header),
            "origin" => once(&mut self.origin, header),
            "content-type" => once(&mut self.content_type, header),
            "sec-websocket-key" => once(&mut self.key, header),
            "content-length" => self.take_length(header),
            "transfer-encoding" => {
                self.encoded = true;
                Ok(())
            }
            "expect" if header.value.eq_ignore_ascii_case(b"100-continue") => {
                self.expects_continue = true;
                Ok(())
            }
            "expect" => Err(Refusal::new(417, "expectation", "the only expectation that is met is 100-continue")),
            "connection" => self.take_connection(header),
            "upgrade" => {
                self.websocket |= tokens(header).any(|token| token.eq_ignore_ascii_case("websocket"));
                Ok(())
            }
            "sec-websocket-version" => {
                self.version_13 = header.value == b"13";
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn take_length(&mut self, header: &httparse::Header) -> Result<(), Refusal> {
        if self.length.is_some() {
            return Err(bad("Content-Length stands more than once"));
        }
        let digits = std::str::from_utf8(header.value).unwrap_or_default();
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(bad("Content-Length is not a whole number of bytes"));
        }
        self.length = Some(digits.parse().unwrap_or(u64::MAX));
        Ok(())
    }

    fn take_connection(&mut self, header: &httparse::Header) -> Result<(), Refusal> {
        for token in tokens(header) {
            self.connection_close |= token.eq_ignore_ascii_case("close");
            self.connection_keep |= token.eq_ignore_ascii_case("keep-alive");
            self.connection_upgrade |= token.eq_ignore_ascii_case("upgrade");
        }
        Ok(())
    }
}

/// Whether it is 16 bytes in base64: 22 letters, the last of which has four bits to spare, and what fills them up.
fn is_websocket_key(key: &str) -> bool {
    let is_base64 = |letter: u8| letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/');
    let letters = key.strip_suffix("==").filter(|letters| letters.len() == 22);
    letters.is_some_and(|letters| letters.bytes().all(is_base64) && letters.ends_with(['A', 'Q', 'g', 'w']))
}

fn tokens<'a>(header: &httparse::Header<'a>) -> impl Iterator<Item = &'a str> {
    std::str::from_utf8(header.value).unwrap_or_default().split(',').map(str::trim)
}

fn once(slot: &mut Option<String>, header: &httparse::Header) -> Result<(), Refusal> {
    let value = std::str::from_utf8(header.value).map_err(|_| bad(&format!("{} is not text", header.name)))?;
    match slot.replace(value.to_owned()) {
        None => Ok(()),
        Some(_) => Err(bad(&format!("{} stands more than once", header.name))),
    }
}

fn bad(msg: &str) -> Refusal {
    Refusal::new(400, "bad_request", msg)
}

#[cfg(test)]
#[path = "../../../../tests/fuzz/http_head.rs"]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head(text: &str) -> Result<Head, u16> {
        match parse(text.as_bytes()) {
            Ok(Some((head, size))) => {
                assert_eq!(size, text.len());
                Ok(head)
            }
            Ok(None) => panic!("partial: {text}"),
            Err(refusal) => Err(refusal.0.status),
        }
    }

    fn with(headers: &str) -> Result<Head, u16> {
        head(&format!("POST /exchange HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"))
    }

    #[test]
    fn lengths_are_read_strictly() {
        for (headers, length) in [
            ("", Ok(Length::Absent)),
            ("Content-Length: 0\r\n", Ok(Length::Bytes(0))),
            ("content-length:   17 \r\n", Ok(Length::Bytes(17))),
            ("Content-Length: 99999999999999999999999999\r\n", Ok(Length::Bytes(u64::MAX))),
            ("Content-Length: -1\r\n", Err(400)),
            ("Content-Length: +1\r\n", Err(400)),
            ("Content-Length: 0x10\r\n", Err(400)),
            ("Content-Length: 1 1\r\n", Err(400)),
            ("Content-Length: 5, 5\r\n", Err(400)),
            ("Content-Length:\r\n", Err(400)),
            ("Content-Length: 5\r\nContent-Length: 5\r\n", Err(400)),
            ("Transfer-Encoding: chunked\r\n", Ok(Length::Encoded)),
            ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", Err(400)),
        ] {
            assert_eq!(with(headers).map(|head| head.length), length, "{headers}");
        }
    }

    #[test]
    fn broken_heads_are_refused() {
        for (text, status) in [
            ("GET\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\n\r\n", 400),
            ("GET /\u{e9} HTTP/1.1\r\nHost: a\r\n\r\n", 400),
            ("GET http://localhost/healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
            ("OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHo\0st: a\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n", 417),
            ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400),
        ] {
            assert_eq!(head(text).map(|_| ()), Err(status), "{text:?}");
        }
    }

    #[test]
    fn connection_follows_the_version() {
        for (version, connection, kept) in [
            ("1.1", "", true),
            ("1.1", "Connection: close\r\n", false),
            ("1.1", "Connection: te, Close\r\n", false),
            ("1.0", "", false),
            ("1.0", "Connection: Keep-Alive\r\n", true),
        ] {
            let text = format!("GET / HTTP/{version}\r\nHost: a\r\n{connection}\r\n");
            assert_eq!(head(&text).map(|head| head.keep_alive), Ok(kept), "{text}");
        }
    }

    #[test]
    fn an_upgrade_needs_both_headers_and_a_key_of_version_13() {
        let full = "Connection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        assert_eq!(with(full).map(|head| head.upgrade), Ok(Some(Some("dGhlIHNhbXBsZSBub25jZQ==".to_owned()))));
        assert_eq!(with(&full.replace("13", "8")).map(|head| head.upgrade), Ok(Some(None)));
        assert_eq!(with(&full.replace("Key", "Kez")).map(|head| head.upgrade), Ok(Some(None)));
        assert_eq!(with(&full.replace("WebSocket\r", "h2c\r")).map(|head| head.upgrade), Ok(None));
        assert_eq!(with("Upgrade: websocket\r\n").map(|head| head.upgrade), Ok(None));
    }

    #[test]
    fn a_head_ends_at_its_limit() {
        let with_filler = |filler: usize| {
            let text = format!("GET / HTTP/1.1\r\nHost: a\r\nX: {}\r\n\r\n", "x".repeat(filler));
            (text.len(), parse(text.as_bytes()).map(|parsed| parsed.is_some()).map_err(|refusal| refusal.0.status))
        };
        let (frame, _) = with_filler(0);
        assert_eq!(with_filler(MAX_HEAD - frame), (MAX_HEAD, Ok(true)));
        assert_eq!(with_filler(MAX_HEAD - frame + 1), (MAX_HEAD + 1, Err(431)));
        assert_eq!(parse(&b"\r\n".repeat(MAX_HEAD / 2)).map_err(|refusal| refusal.0.status), Err(431));
        let many = |count: usize| head(&format!("GET / HTTP/1.0\r\n{}\r\n", "X: y\r\n".repeat(count)));
        assert!(many(MAX_HEADERS).is_ok());
        assert_eq!(many(MAX_HEADERS + 1), Err(431));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn a_cut_head_asks_for_more_and_says_nothing(cut in 0..57_usize) {
            let text = b"POST /info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n";
            prop_assert_eq!(parse(&text[..cut]).map(|parsed| parsed.is_none()).ok(), Some(true));
        }
    }
}
