//! The sockets of `/ws` on the wire: the handshake, one thread that reads, one that writes, and one for each post that
//! waits for its answer. What they say and hear is the business of [`feed`](super::feed).

use super::feed::line::{Item, Line, Wire};
use super::feed::troubles::Refusal;
use super::feed::{self, Heard, Post};
use super::http::{Outcome, Reply};
use super::service::Service;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread::{Builder, Scope};
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocket};
use tungstenite::{Message, Utf8Bytes};

const BAD_GATEWAY: &str = "HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const TOO_MANY: &str = "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
/// How long a client has to answer a close frame.
const CLOSE_PATIENCE: Duration = Duration::from_secs(1);

/// Serves one connection until it ends.
pub(crate) fn serve(service: &Service, mut stream: TcpStream, key: &str, early: Vec<u8>) {
    let Ok(other) = stream.try_clone() else { return };
    let admitted = feed::admit(&mut service.venue(), other);
    let (id, line) = match admitted {
        Ok(admitted) => admitted,
        // Whether the refusal reaches the client is the client's business.
        Err(None) => return drop(stream.write_all(TOO_MANY.as_bytes())),
        Err(Some(Refusal::Http)) => return drop(stream.write_all(BAD_GATEWAY.as_bytes())),
        Err(Some(Refusal::Close)) => return drop(stream.shutdown(Shutdown::Both)),
        Err(Some(Refusal::Hang)) => return hang(&mut stream),
    };
    let accept = derive_accept_key(key.as_bytes());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-accept: \
         {accept}\r\n\r\n"
    );
    std::thread::scope(|scope| {
        let writer = Builder::new().name("venue-feed".into()).spawn_scoped(scope, || write(&line));
        if writer.is_ok() && line.write(head.as_bytes()).is_ok() {
            read(service, scope, id, &line, early);
        }
        feed::shut(&mut service.venue(), id);
        line.cut();
    });
}

/// Keeps a connection without a word until the client leaves.
fn hang(stream: &mut TcpStream) {
    let mut chunk = [0; 1024];
    while matches!(stream.read(&mut chunk), Ok(1..)) {}
}

/// Writes what is due until the end.
fn write(line: &Line) {
    let mut socket = WebSocket::from_raw_socket(Wire(line), Role::Server, None);
    while let Some(item) = line.next() {
        let written = match item {
            Item::Text(text) => socket.send(Message::Text(Utf8Bytes::from(text))),
            Item::Binary(bytes) => socket.send(Message::Binary(bytes.into())),
            Item::Wire(bytes) => line.write(&bytes).map_err(Into::into),
            Item::Close(reason) => {
                let frame = CloseFrame { code: CloseCode::Normal, reason: reason.into() };
                if socket.send(Message::Close(Some(frame))).is_ok() {
                    line.wait_end(CLOSE_PATIENCE);
                }
                return line.cut();
            }
            Item::End => return line.cut(),
        };
        if written.is_err() {
            return line.cut();
        }
    }
}

/// Reads what the client says until it leaves or is left.
fn read<'scope>(service: &'scope Service, scope: &'scope Scope<'scope, '_>, id: u64, line: &Line, early: Vec<u8>) {
    let mut socket = WebSocket::from_partially_read(Wire(line), early, Role::Server, None);
    while let Ok(message) = socket.read() {
        let Message::Text(text) = message else { continue };
        let heard = feed::hear(&mut service.venue(), id, &text);
        match heard {
            Heard::Done => {}
            Heard::Post(post) => {
                let answer = move || answer(service, id, &post, &text);
                if Builder::new().name("venue-post".into()).spawn_scoped(scope, answer).is_err() {
                    return;
                }
            }
        }
    }
}

/// Answers a post, or ends its socket where a fault says so.
fn answer(service: &Service, id: u64, post: &Post, said: &str) {
    let Post { id: post, is_action, payload } = post;
    let body = payload.to_string().into_bytes();
    let outcome = if *is_action { service.exchange(&body, "websocket") } else { service.info(&body) };
    let mut venue = service.venue();
    venue.feeds.end_post();
    let Outcome::Reply(Reply { status, body, .. }) = outcome else { return feed::shut(&mut venue, id) };
    let response = match serde_json::from_slice::<Value>(&body) {
        // A request that the venue does not know is answered without its id.
        _ if status == 422 => return feed::unread(&mut venue, id, said),
        _ if status == 429 => json!({"type": "error", "payload": "429 Too Many Requests"}),
        Ok(data) if status == 200 && !is_action => {
            json!({"type": "info", "payload": {"type": payload.get("type"), "data": data}})
        }
        Ok(reply) if status == 200 => json!({"type": "action", "payload": reply}),
        _ => json!({"type": "error", "payload": format!("{status} {}", String::from_utf8_lossy(&body))}),
    };
    let frame = json!({"channel": "post", "data": {"id": post, "response": response}});
    feed::send(&mut venue, id, "post", &frame);
}
