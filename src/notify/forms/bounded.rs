//! A connection that is bounded as a whole, for a library that bounds each read by itself and no line at all.
//!
//! The library is given an address of loopback. What the server says goes through here: so many bytes at most, and all of it
//! by one deadline, whoever is slow.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::base::sync::lock;

const PAUSE: Duration = Duration::from_millis(5);
const BLOCK: usize = 4096;

/// The bounds of one connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bounds {
    /// For the connection to be made, and for all of it.
    pub(super) connect: Duration,
    pub(super) whole: Duration,
    /// What the server may say.
    pub(super) bytes: usize,
}

/// A connection to be made through here, once.
#[derive(Debug)]
pub(super) struct Bounded {
    /// Where to connect to instead of the server.
    pub(super) address: SocketAddr,
    why: Arc<Mutex<Option<String>>>,
}

impl Bounded {
    /// Opens the way to a server. The time runs from now on.
    pub(super) fn to(host: &str, port: u16, bounds: Bounds) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let (address, why) = (listener.local_addr()?, Arc::default());
        let (said, host) = (Arc::clone(&why), host.to_owned());
        let carry = move || {
            let mut near = None;
            let ended = carry(&listener, (&host, port), bounds, &mut near);
            *lock(&said) = ended.err();
            // What ends the library's wait comes last, so that the reason is there by then.
            _ = near.map(|near| near.shutdown(Shutdown::Both));
            drop(listener);
        };
        std::thread::Builder::new().name("mail".to_owned()).spawn(carry)?;
        Ok(Self { address, why })
    }

    /// Why the connection was ended from here, if it was.
    pub(super) fn why(&self) -> Option<String> {
        lock(&self.why).clone()
    }
}

/// Carries one connection; `kept` is the library's side of it, which is still open then.
fn carry(
    listener: &TcpListener,
    server: (&str, u16),
    bounds: Bounds,
    kept: &mut Option<TcpStream>,
) -> Result<(), String> {
    let until = Instant::now() + bounds.whole;
    let slow = || format!("did not take it within {} s", bounds.whole.as_secs());
    let far = connect(server, bounds.connect.min(bounds.whole))?;
    let near = kept.insert(accept(listener, until).ok_or_else(slow)?);
    let sides = || Ok((far.try_clone()?, near.try_clone()?));
    let (far_again, near_again) = sides().map_err(|error: io::Error| error.to_string())?;
    _ = far.set_write_timeout(Some(bounds.whole));
    let answers = std::thread::Builder::new().name("mail-out".to_owned()).spawn(move || {
        _ = io::copy(&mut &near_again, &mut &far_again);
        _ = far_again.shutdown(Shutdown::Both);
    });
    let told = answers.map_err(|error| error.to_string());
    let ended = told.and_then(|_| listen(&far, near, until, bounds.bytes).map_err(|why| why.unwrap_or_else(slow)));
    _ = far.shutdown(Shutdown::Both);
    ended
}

/// Passes on what the server says until it or the other side has ended; `Err(None)` where the time was over before.
fn listen(mut far: &TcpStream, mut near: &TcpStream, until: Instant, most: usize) -> Result<(), Option<String>> {
    let (mut block, mut said) = ([0; BLOCK], 0_usize);
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(None);
        }
        _ = far.set_read_timeout(Some(left));
        let length = match far.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&error.kind()) => continue,
            Err(error) => return Err(Some(format!("broke off: {}", error.kind()))),
        };
        said = said.saturating_add(length);
        if said > most {
            return Err(Some(format!("said more than {most} bytes")));
        }
        if near.write_all(block.get(..length).unwrap_or_default()).is_err() {
            return Ok(());
        }
    }
}

fn connect(server: (&str, u16), patience: Duration) -> Result<TcpStream, String> {
    let failed = |error: io::Error| format!("could not be reached: {error}");
    let mut last = "has no known address".to_owned();
    let until = Instant::now() + patience;
    for address in server.to_socket_addrs().map_err(failed)? {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        match TcpStream::connect_timeout(&address, left) {
            Ok(stream) => return Ok(stream),
            Err(error) => last = failed(error),
        }
    }
    Err(last)
}

fn accept(listener: &TcpListener, until: Instant) -> Option<TcpStream> {
    listener.set_nonblocking(true).ok()?;
    while Instant::now() < until {
        match listener.accept() {
            Ok((stream, _)) => return stream.set_nonblocking(false).ok().map(|()| stream),
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says this for as long as it is heard, and waits as long after each time; and all that was passed on of it.
    fn heard(says: &'static [u8], pause: Duration, bounds: Bounds) -> (usize, Option<String>) {
        let server = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = server.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            while stream.write_all(says).is_ok() {
                std::thread::sleep(pause);
            }
        });
        let bounded = Bounded::to("127.0.0.1", port, bounds).unwrap();
        let mut near = TcpStream::connect(bounded.address).unwrap();
        let mut text = Vec::new();
        _ = near.read_to_end(&mut text);
        let begun = Instant::now();
        while bounded.why().is_none() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(PAUSE);
        }
        (text.len(), bounded.why())
    }

    #[test]
    fn a_server_that_never_ends_its_line_is_cut_off() {
        let bounds = Bounds { connect: Duration::from_secs(60), whole: Duration::from_secs(60), bytes: 10_000 };
        let (length, why) = heard(&[b'x'; 1000], Duration::ZERO, bounds);
        assert!(length <= 10_000, "{length}");
        assert_eq!(why.as_deref(), Some("said more than 10000 bytes"));
    }

    #[test]
    fn a_server_that_drips_has_one_deadline_for_all_of_it() {
        let bounds = Bounds { connect: Duration::from_secs(60), whole: Duration::from_secs(1), bytes: 10_000 };
        let (_, why) = heard(b"x", Duration::from_millis(50), bounds);
        assert_eq!(why.as_deref(), Some("did not take it within 1 s"));
    }

    #[test]
    fn a_server_that_is_not_there_is_said_to_be_so() {
        let bounds = Bounds { connect: Duration::from_secs(60), whole: Duration::from_secs(60), bytes: 10 };
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let bounded = Bounded::to("127.0.0.1", free, bounds).unwrap();
        _ = TcpStream::connect(bounded.address).map(|mut near| near.read(&mut [0]));
        let begun = Instant::now();
        while bounded.why().is_none() && begun.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(PAUSE);
        }
        assert!(bounded.why().unwrap().starts_with("could not be reached: "));
    }
}
