//! A target over HTTP: keeps what it was sent, and answers as it is told to.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::stand::until;

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Manner {
    /// With this status and a short body.
    Status(u16),
    /// With 429 and a pause of a second.
    Limited,
    /// Not at all, for as long as the test runs.
    Hang,
    /// By closing the connection.
    Close,
    /// By closing the connection in the middle of a yes.
    BreakOff,
    /// With a redirect to itself.
    Redirect,
    /// With a refusal and megabytes after it.
    Flood,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) line: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Sent {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }
}

/// The target.
pub(crate) struct Hook {
    pub(crate) address: SocketAddr,
    sent: Arc<Mutex<Vec<Sent>>>,
    manner: Arc<Mutex<Manner>>,
}

impl Hook {
    /// One that takes everything.
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sent, manner): (Arc<Mutex<Vec<Sent>>>, _) = (Arc::default(), Arc::new(Mutex::new(Manner::Status(200))));
        let (kept, asked) = (Arc::clone(&sent), Arc::clone(&manner));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (kept, asked) = (Arc::clone(&kept), Arc::clone(&asked));
                std::thread::spawn(move || serve(stream, address, &kept, &asked));
            }
        });
        Self { address, sent, manner }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/in/secret-path", self.address)
    }

    pub(crate) fn manner(&self, manner: Manner) {
        *self.manner.lock().unwrap() = manner;
    }

    pub(crate) fn sent(&self) -> Vec<Sent> {
        self.sent.lock().unwrap().clone()
    }

    /// The codes of the messages that came, in order, for a webhook that takes JSON.
    pub(crate) fn codes(&self) -> Vec<String> {
        self.sent().iter().map(|sent| sent.json()["code"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Waits until a message of this code came, and gives it.
    pub(crate) fn hears(&self, code: &str) -> Value {
        until(code, || self.sent().iter().map(Sent::json).find(|json| json["code"] == code))
    }
}

fn serve(stream: TcpStream, own: SocketAddr, kept: &Mutex<Vec<Sent>>, manner: &Mutex<Manner>) {
    let mut reader = BufReader::new(stream);
    while let Some(sent) = read(&mut reader) {
        kept.lock().unwrap().push(sent);
        let manner = *manner.lock().unwrap();
        let answer = |status: u16, more: &str, body: &str| {
            format!("HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\n\r\n{body}", body.len())
        };
        let text = match manner {
            Manner::Status(status) => answer(status, "", "said <b>so</b>"),
            Manner::Limited => answer(429, "Retry-After: 1\r\n", ""),
            Manner::Redirect => answer(307, &format!("Location: http://{own}/elsewhere\r\n"), ""),
            Manner::Close => return,
            Manner::BreakOff => {
                _ = reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Le");
                return;
            }
            Manner::Hang => loop {
                sleep(Duration::from_secs(1));
            },
            Manner::Flood => answer(503, "", &"x".repeat(30 * 1024 * 1024)),
        };
        if reader.get_mut().write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Sent> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if line.trim_end().is_empty() {
            break;
        }
        lines.push(line.trim_end().to_owned());
    }
    let (line, headers) = lines.split_first()?;
    let headers: Vec<(String, String)> = headers
        .iter()
        .filter_map(|line| {
            line.split_once(':').map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        })
        .collect();
    let length =
        headers.iter().find(|(name, _)| name == "content-length").map_or(0, |(_, value)| value.parse().unwrap());
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(Sent { line: line.clone(), headers, body: String::from_utf8(body).ok()? })
}
