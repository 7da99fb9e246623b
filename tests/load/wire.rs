//! A client that does as little as a client can: requests ready as bytes, one kept connection, no library's own time.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::samples::Nanos;

/// An answer takes no longer, or the run is broken.
const PATIENCE: Duration = Duration::from_secs(30);
const MAX_HEADERS: usize = 32;

/// A POST to `/exchange`, ready to be written.
pub(crate) fn request(body: &str) -> Vec<u8> {
    let head = "POST /exchange HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ";
    format!("{head}{}\r\n\r\n{body}", body.len()).into_bytes()
}

/// A kept connection.
pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    /// Connects to a base URL.
    pub(crate) fn open(url: &str) -> Result<Self, String> {
        let address = url.strip_prefix("http://").unwrap_or(url);
        let stream = TcpStream::connect(address).map_err(|error| format!("{url}: {error}"))?;
        let set = stream.set_nodelay(true).and_then(|()| stream.set_read_timeout(Some(PATIENCE)));
        set.map_err(|error| format!("{url}: {error}"))?;
        Ok(Self { stream, buffer: vec![0; 64 * 1024] })
    }

    /// Sends a request and gives the time until its answer was whole. An answer that is not `"status":"ok"`, as that of
    /// every veto, is an error: what is measured is work done, not refused.
    pub(crate) fn time(&mut self, request: &[u8]) -> Result<Nanos, String> {
        let begun = Instant::now();
        self.stream.write_all(request).map_err(|error| error.to_string())?;
        let answer = self.read_answer()?;
        let took = Nanos::of(begun.elapsed());
        let is_ok = |answer: &[u8]| answer.windows(13).any(|part| part == br#""status":"ok""#);
        if is_ok(answer) { Ok(took) } else { Err(String::from_utf8_lossy(answer).into_owned()) }
    }

    fn read_answer(&mut self) -> Result<&[u8], String> {
        let mut have = 0;
        loop {
            let room = self.buffer.get_mut(have..).filter(|room| !room.is_empty()).ok_or("an answer too long")?;
            match self.stream.read(room) {
                Ok(0) => return Err("the connection was closed".to_owned()),
                Ok(count) => have += count,
                Err(error) => return Err(error.to_string()),
            }
            let so_far = self.buffer.get(..have).unwrap_or_default();
            if end_of(so_far)?.is_some_and(|end| have >= end) {
                break;
            }
        }
        Ok(self.buffer.get(..have).unwrap_or_default())
    }
}

/// Where the answer ends, once its head is there.
fn end_of(bytes: &[u8]) -> Result<Option<usize>, String> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut answer = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(head) = answer.parse(bytes).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let length = answer.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
    let length = length.and_then(|header| std::str::from_utf8(header.value).ok()?.parse::<usize>().ok());
    length.map(|length| Some(head + length)).ok_or_else(|| "an answer without a length".to_owned())
}
