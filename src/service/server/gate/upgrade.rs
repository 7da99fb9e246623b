//! A WebSocket's handshake, checked, on its way to the service that speaks with it.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tungstenite::handshake::derive_accept_key;
use tungstenite::protocol::{Role, WebSocket, WebSocketConfig};

use super::slots::Slot;

/// Serves an upgraded connection on the thread that it came in on, which has little stack.
pub(in crate::service::server) type Upgrades = Arc<dyn Fn(Upgrade) + Send + Sync>;

/// An upgrade whose host, origin, path, version and key are good. Dropped, it closes without an answer.
#[derive(Debug)]
pub(in crate::service::server) struct Upgrade {
    /// The path asked for.
    pub(in crate::service::server) path: String,
    /// Before the stream, as in a plain connection.
    pub(super) slot: Slot,
    pub(super) stream: TcpStream,
    pub(super) key: String,
    /// Bytes that the client sent after its handshake already.
    pub(super) rest: Vec<u8>,
    pub(super) write_timeout: Duration,
}

impl Upgrade {
    /// Switches to WebSocket. The slot counts as a connection of the gate until it is dropped, so it must live
    /// as long as the socket. Reads time out after one tick of the gate, writes after its write time-out.
    ///
    /// # Errors
    /// The system's reason when the answer cannot be written.
    pub(in crate::service::server) fn accept<S: Read + Write>(
        mut self,
        config: WebSocketConfig,
        wrap: impl FnOnce(TcpStream, &Rc<Slot>) -> S,
    ) -> io::Result<(WebSocket<S>, Rc<Slot>)> {
        let accept = derive_accept_key(self.key.as_bytes());
        self.stream.set_write_timeout(Some(self.write_timeout))?;
        self.stream.write_all(
            format!(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                 Sec-WebSocket-Accept: {accept}\r\n\r\n"
            )
            .as_bytes(),
        )?;
        let slot = Rc::new(self.slot);
        let stream = wrap(self.stream, &slot);
        Ok((WebSocket::from_partially_read(stream, self.rest, Role::Server, Some(config)), slot))
    }
}
