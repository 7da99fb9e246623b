//! The end of a connection: why, for a moment in which it may still be heard.

use std::io::{self, Read};
use std::net::Shutdown;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, WebSocket};
use tungstenite::{Error, Utf8Bytes};

use super::wire::Wire;

/// A client may take so long to hear why it is closed.
pub(super) const GOODBYE: Duration = Duration::from_secs(1);
/// How often what it still sends is looked for.
const TICK_MS: u16 = 250;

/// Closes a connection with these words, behind all that waits to be written.
pub(super) fn say(socket: &mut WebSocket<Wire>, code: CloseCode, reason: &'static str) {
    let begun = Instant::now();
    let _ = socket.close(Some(CloseFrame { code, reason: Utf8Bytes::from_static(reason) }));
    if is_written(socket, begun) && socket.get_ref().stream().shutdown(Shutdown::Write).is_ok() {
        read_away(socket, begun);
    }
}

fn is_written(socket: &mut WebSocket<Wire>, begun: Instant) -> bool {
    loop {
        match socket.flush() {
            Ok(()) => return true,
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return false,
        }
        let left = GOODBYE.saturating_sub(begun.elapsed()).as_millis();
        let wanted = PollFd::new(socket.get_ref().stream().as_fd(), PollFlags::POLLOUT);
        // It is gone after this, whether it was heard or not.
        let is_over = poll(&mut [wanted], PollTimeout::from(u16::try_from(left).unwrap_or(u16::MAX)));
        if left == 0 || is_over.is_err() {
            return false;
        }
    }
}

/// Reads away what the client still sends, for a moment: a socket that is closed over it takes back what was said last.
fn read_away(socket: &WebSocket<Wire>, begun: Instant) {
    let (mut stream, mut is_open) = (socket.get_ref().stream(), true);
    let mut chunk = [0_u8; 4_096];
    while is_open && begun.elapsed() < GOODBYE {
        // What it says of the socket the read says again.
        let _ = poll(&mut [PollFd::new(stream.as_fd(), PollFlags::POLLIN)], PollTimeout::from(TICK_MS));
        is_open = match stream.read(&mut chunk) {
            Ok(count) => count > 0,
            Err(error) => error.kind() == io::ErrorKind::WouldBlock,
        };
    }
}
