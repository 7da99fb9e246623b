//! A transport and a look-up that add what the HTTP library's own ones lack: whether a byte of the request went out,
//! and a host's addresses kept between calls.

use crate::base::sync::lock;
use crate::faults::{Faults, Step};
use std::cell::Cell;
use std::net::{IpAddr, SocketAddr};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs};
use ureq::unversioned::transport::{Buffers, ConnectionDetails, DefaultConnector, NextTimeout, Transport};

thread_local! {
    /// A call runs on its caller's thread from start to end, so this belongs to one call at a time.
    static SENT: Cell<bool> = const { Cell::new(false) };
    /// The step to pass once the request is out.
    static WRITTEN: Cell<Option<Step>> = const { Cell::new(None) };
}

/// Marks the start of a call on this thread. `written` is the step that it passes once the request is out.
pub(super) fn begin(written: Step) {
    SENT.set(false);
    WRITTEN.set(Some(written));
}

/// Whether a byte of this thread's request may have been handed to the system.
pub(super) fn has_sent() -> bool {
    SENT.get()
}

/// Opens connections as the library does, TLS included, and watches what is written on them.
#[derive(Debug, Default)]
pub(super) struct Connector {
    inner: DefaultConnector,
    faults: Faults,
}

impl Connector {
    pub(super) fn new(faults: Faults) -> Self {
        Self { inner: DefaultConnector::default(), faults }
    }
}

impl ureq::unversioned::transport::Connector for Connector {
    type Out = Watched;

    fn connect(&self, details: &ConnectionDetails, chained: Option<()>) -> Result<Option<Watched>, Error> {
        Ok(self.inner.connect(details, chained)?.map(|inner| Watched { inner, faults: self.faults.clone() }))
    }
}

/// A connection, TLS already made: whatever is written here is a part of a request.
#[derive(Debug)]
pub(super) struct Watched {
    inner: Box<dyn Transport>,
    faults: Faults,
}

impl Transport for Watched {
    fn buffers(&mut self) -> &mut dyn Buffers {
        self.inner.buffers()
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        // Before the write: one that fails may have been done in part.
        SENT.set(true);
        self.inner.transmit_output(amount, timeout)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        if let Some(step) = WRITTEN.take().filter(|_| has_sent()) {
            self.faults.pass(step)?;
        }
        self.inner.await_input(timeout)
    }

    fn is_open(&mut self) -> bool {
        self.inner.is_open()
    }

    fn is_tls(&self) -> bool {
        self.inner.is_tls()
    }
}

/// How long a host's addresses serve before they are looked up again.
const FRESH: Duration = Duration::from_secs(60);

/// Looks a host up once a minute and lives on its last known addresses while the look-up fails.
///
/// The library asks before every call, also when a connection is open already: an order would wait for the
/// name server, and fail with it. A client talks to one host, so one entry is kept.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    inner: DefaultResolver,
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    asked_at: Instant,
    addresses: ResolvedSocketAddrs,
}

impl ureq::unversioned::resolver::Resolver for Resolver {
    fn resolve(&self, uri: &Uri, config: &Config, timeout: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        if let Some(address) = literal(uri) {
            let mut addresses = self.empty();
            addresses.push(address);
            return Ok(addresses);
        }
        if let Some(addresses) = self.fresh() {
            return Ok(addresses);
        }
        match self.inner.resolve(uri, config, timeout) {
            Ok(addresses) => {
                let known = Known { asked_at: Instant::now(), addresses: addresses.clone() };
                *self.lock() = Some(known);
                Ok(addresses)
            }
            Err(error) => self.lock().as_ref().map(|known| known.addresses.clone()).ok_or(error),
        }
    }
}

impl Resolver {
    /// The addresses while they are fresh. The first caller to find them old looks them up; the others go on with the
    /// old ones, so that a dead name server holds up one call a minute, not all.
    fn fresh(&self) -> Option<ResolvedSocketAddrs> {
        let mut known = self.lock();
        let known = known.as_mut()?;
        if known.asked_at.elapsed() >= FRESH {
            known.asked_at = Instant::now();
            return None;
        }
        Some(known.addresses.clone())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Known>> {
        lock(&self.known)
    }
}

/// The address in a URL that names an IP address instead of a host.
fn literal(uri: &Uri) -> Option<SocketAddr> {
    let host = uri.host()?.trim_start_matches('[').trim_end_matches(']');
    let address: IpAddr = host.parse().ok()?;
    let port = uri.port_u16().or(match uri.scheme_str()? {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    })?;
    Some(SocketAddr::new(address, port))
}
