//! Where the bot, an agent and the notifier reach this home's guard, also where the system chooses the port.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::refusal::Refusal;
use super::running_here::running;
use crate::home::{Home, Pairing, base_url, local_url};

/// What a port 0 means.
pub(super) const CHOSEN: &str = "the system chooses a free port at each start, and the service's log says which";

/// The base URL of the guard with this listen address: of the one that runs on this home, where the port is chosen at each start.
pub(super) fn guard_url(home: &Home, listen: SocketAddr) -> Result<String, Refusal> {
    let running = || running(home).map(local_url).ok_or(Refusal::PortUnknown(listen));
    base_url(listen).map_or_else(running, Ok)
}

/// The code, or why there is none: a client that is new is accepted from the next start on.
pub(super) fn pairing_code(pairing: Option<&Pairing>) -> String {
    pairing.map_or_else(|| format!("none: {CHOSEN}"), Pairing::to_code)
}

/// How the port stays what it is.
pub(super) fn way_to_a_port(listen: SocketAddr) -> String {
    let kept = SocketAddr::new(listen.ip(), USUAL_PORT);
    format!("`svc-guard config set listen {kept}` gives it one that stays")
}

/// The port of the default listen address.
const USUAL_PORT: u16 = 8547;
/// The default listen address.
pub(super) const USUAL: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), USUAL_PORT);
