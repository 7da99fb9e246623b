//! The venue's address.

use std::fmt;
use std::net::IpAddr;

/// Longest address.
const MAX_LEN: usize = 200;

/// An `http://` or `https://` address with a host, perhaps a port, and nothing else; no slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VenueUrl(String);

/// Why an address is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlError {
    /// It is not of the form wanted.
    Form,
    /// On mainnet it must be encrypted or stay on this machine.
    Plain,
}

impl fmt::Display for UrlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "must be http://HOST[:PORT] or https://HOST[:PORT], without user, path or query",
            Self::Plain => {
                "must be https or on loopback in mainnet mode, so that nobody can read or change what is sent"
            }
        })
    }
}

impl VenueUrl {
    /// Reads an address.
    ///
    /// # Errors
    /// [`UrlError::Form`].
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(UrlError::Form)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let host_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        let (host, port) = split_port(authority);
        let port_fits = port.is_none_or(|port| port.parse::<u16>().is_ok_and(|port| port != 0));
        let fits = text.len() <= MAX_LEN && !host.is_empty() && port_fits && authority.bytes().all(host_letter);
        if fits { Ok(Self(text.trim_end_matches('/').to_owned())) } else { Err(UrlError::Form) }
    }

    /// The address, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether nobody on the way can read or change what is sent: https, or a host on loopback.
    #[must_use]
    pub fn is_private(&self) -> bool {
        let Some(rest) = self.0.strip_prefix("http://") else { return true };
        let (host, _) = split_port(rest);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for VenueUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Host and port of an authority; the colons inside an IPv6 host's brackets are the host's.
fn split_port(authority: &str) -> (&str, Option<&str>) {
    match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, Some(port)),
        _ => (authority, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_form() {
        for (text, kept) in [
            ("https://api.example.test", "https://api.example.test"),
            ("http://127.0.0.1:9000/", "http://127.0.0.1:9000"),
            ("http://[::1]:9000", "http://[::1]:9000"),
        ] {
            assert_eq!(VenueUrl::parse(text).map(|url| url.to_string()).as_deref(), Ok(kept));
        }
        for bad in [
            "",
            "api.example.test",
            "ftp://x",
            "http://",
            "http://:80",
            "http://x:0",
            "http://x:99999",
            "http://x:",
            "http://user@x",
            "http://x/y",
            "http://x//",
            "http://x?y",
            "http://x#y",
            "http://x y",
            "HTTP://x",
        ] {
            assert_eq!(VenueUrl::parse(bad), Err(UrlError::Form), "{bad}");
        }
    }

    #[test]
    fn private_is_encrypted_or_on_this_machine() {
        let private = |text: &str| VenueUrl::parse(text).unwrap().is_private();
        for text in
            ["https://x.test", "http://localhost", "http://127.0.0.1:1", "http://127.9.9.9", "http://[::1]:9000"]
        {
            assert!(private(text), "{text}");
        }
        for text in
            ["http://x.test", "http://10.0.0.1", "http://localhost.x.test", "http://127.0.0.1.x.test", "http://[::2]"]
        {
            assert!(!private(text), "{text}");
        }
    }
}
