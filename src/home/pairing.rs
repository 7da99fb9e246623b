//! The pairing code: address, mode and account by which a bot recognises its guard. It holds no secret.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};

use crate::base::address::Address;
use crate::base::mode::Mode;
use crate::base::sealed;
use crate::base::sealed::CodeError;

/// First characters of every pairing code.
pub const PAIRING_PREFIX: &str = "sp1_";

/// The content of a pairing code. Field order is the canonical (alphabetical) order of its JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairing {
    /// The account guarded.
    pub account: Address,
    /// The client key's address.
    pub client: Address,
    /// The guard's mode.
    pub mode: Mode,
    /// The guard's base URL as seen from this machine.
    pub url: String,
}

impl Pairing {
    /// The pairing of a client with the guard that listens on `listen`; none where that is another port at each start.
    #[must_use]
    pub fn new(listen: SocketAddr, mode: Mode, account: Address, client: Address) -> Option<Self> {
        base_url(listen).map(|url| Self { account, client, mode, url })
    }

    /// The code.
    #[must_use]
    pub fn to_code(&self) -> String {
        // Serialising strings cannot fail; an empty content would be refused by the reader.
        sealed::close(PAIRING_PREFIX, &serde_json::to_string(self).unwrap_or_default())
    }

    /// Reads a code; exactly the codes that [`Pairing::to_code`] writes are accepted.
    ///
    /// # Errors
    /// When it is mistyped, cut, or holds something else.
    pub fn from_code(code: &str) -> Result<Self, CodeError> {
        let json = sealed::open(PAIRING_PREFIX, code)?;
        let pairing: Self = serde_json::from_slice(&json).map_err(|_| CodeError::Content)?;
        if pairing.to_code() == code { Ok(pairing) } else { Err(CodeError::NotCanonical) }
    }
}

/// The base URL of the guard that is told to listen there; none where the system chooses the port, at each start another.
pub(crate) fn base_url(listen: SocketAddr) -> Option<String> {
    (listen.port() != 0).then(|| local_url(listen))
}

/// The URL under which this machine reaches a listener; an address that means "every interface" becomes loopback.
pub(crate) fn local_url(listen: SocketAddr) -> String {
    let mut reached = listen;
    if listen.ip().is_unspecified() {
        reached.set_ip(match listen {
            SocketAddr::V4(_) => std::net::Ipv4Addr::LOCALHOST.into(),
            SocketAddr::V6(_) => std::net::Ipv6Addr::LOCALHOST.into(),
        });
    }
    format!("http://{reached}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairing(listen: &str) -> Pairing {
        Pairing::new(listen.parse().unwrap(), Mode::Paper, Address([0xab; 20]), Address([1; 20])).unwrap()
    }

    #[test]
    fn a_pairing_survives_its_code() {
        let pairing = pairing("127.0.0.1:8547");
        let code = pairing.to_code();
        assert!(code.starts_with("sp1_"));
        assert_eq!(Pairing::from_code(&code), Ok(pairing));
        assert_eq!(Pairing::from_code(&code[..code.len() - 4]), Err(CodeError::Checksum));
        assert_eq!(Pairing::from_code(&code.replace("sp1_", "sr1_")), Err(CodeError::Prefix("sp1_")));
        let json = String::from_utf8(sealed::open("sp1_", &code).unwrap()).unwrap();
        let reordered = json.replacen(r#""mode":"paper","#, "", 1).replacen('{', r#"{"mode":"paper","#, 1);
        assert_eq!(Pairing::from_code(&sealed::close("sp1_", &reordered)), Err(CodeError::NotCanonical));
        assert_eq!(Pairing::from_code(&sealed::close("sp1_", "{}")), Err(CodeError::Content));
    }

    #[test]
    fn the_url_is_one_that_this_machine_can_call() {
        assert_eq!(pairing("0.0.0.0:1").url, "http://127.0.0.1:1");
        assert_eq!(pairing("[::]:1").url, "http://[::1]:1");
        assert_eq!(pairing("10.0.0.7:1").url, "http://10.0.0.7:1");
        assert_eq!(base_url("127.0.0.1:0".parse().unwrap()), None, "nobody can call it");
    }
}
