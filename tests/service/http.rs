//! HTTP as bytes: what a client that follows no rule but the protocol's sends and gets.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// A service that hangs fails its test.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// One connection, kept alive.
pub(crate) struct Connection(BufReader<TcpStream>);

impl Connection {
    pub(crate) fn open(to: SocketAddr) -> Self {
        Self::try_open(to).unwrap()
    }

    pub(crate) fn try_open(to: SocketAddr) -> std::io::Result<Self> {
        let stream = TcpStream::connect(to)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a whole request as it stands and reads the answer; an error when the connection ends before it.
    pub(crate) fn exchange(&mut self, request: &[u8], has_body: bool) -> std::io::Result<Response> {
        self.0.get_mut().write_all(request)?;
        let ended = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
        let mut line = String::new();
        self.0.read_line(&mut line)?;
        let status = line.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or_else(ended)?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if self.0.read_line(&mut line)? == 0 {
                return Err(ended());
            }
            match line.trim_end().split_once(':') {
                Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.trim().to_owned())),
                None => break,
            }
        }
        let mut response = Response { status, headers, body: String::new() };
        let length = response.header("content-length").and_then(|text| text.parse().ok()).ok_or_else(ended)?;
        if has_body {
            let mut body = vec![0; length];
            self.0.read_exact(&mut body)?;
            response.body = String::from_utf8(body).map_err(std::io::Error::other)?;
        }
        Ok(response)
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) -> std::io::Result<Response> {
        self.exchange(post(path, "application/json", body.as_bytes()).as_slice(), true)
    }
}

/// The bytes of a POST.
pub(crate) fn post(path: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// The bytes of a request without a body.
pub(crate) fn bare(method: &str, target: &str) -> Vec<u8> {
    format!("{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes()
}
