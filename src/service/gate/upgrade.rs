//! A WebSocket's handshake, checked, on its way to the service that speaks with it.

use super::conn::Conn;
use super::slots::Slot;
use crate::service::http::types::Response;
use std::io::{self, Write};
use std::net::TcpStream;
use std::time::Duration;
use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};

/// An upgrade whose host, origin, path, version and key are good. Dropped, it closes without an answer.
#[derive(Debug)]
pub struct Upgrade {
    /// The path asked for.
    pub path: String,
    /// Before the stream, as in a plain connection.
    slot: Slot,
    stream: TcpStream,
    key: String,
    /// What the client sent after its handshake already.
    rest: Vec<u8>,
    write_timeout: Duration,
}

impl Upgrade {
    pub(super) fn new(conn: Conn, path: String, key: String) -> Self {
        let write_timeout = conn.shared.limits.write;
        let (stream, rest, slot) = conn.into_parts();
        Self { path, slot, stream, key, rest, write_timeout }
    }

    /// Switches to WebSocket. The slot counts as a connection of the gate until it is dropped, so it must live
    /// as long as the socket. Reads time out after one tick of the gate, writes after its write time-out.
    ///
    /// # Errors
    /// The system's reason when the answer cannot be written.
    pub fn accept(mut self, config: WebSocketConfig) -> io::Result<(WebSocket<TcpStream>, Slot)> {
        let accept = derive_accept_key(self.key.as_bytes());
        self.stream.set_write_timeout(Some(self.write_timeout))?;
        self.stream.write_all(
            format!(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            )
            .as_bytes(),
        )?;
        Ok((WebSocket::from_partially_read(self.stream, self.rest, Role::Server, Some(config)), self.slot))
    }

    /// Answers with a plain HTTP response and closes.
    ///
    /// # Errors
    /// The system's reason when the answer cannot be written.
    pub fn refuse(mut self, response: &Response) -> io::Result<()> {
        self.stream.set_write_timeout(Some(self.write_timeout))?;
        self.stream.write_all(&super::pipes::Answer::of(response, true).bytes)
    }
}
