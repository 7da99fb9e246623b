//! Origins of URLs: a scheme, a host and perhaps a port, and nothing else.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Longest origin.
const MAX_LEN: usize = 200;

/// An `http://` or `https://` URL with a host, perhaps a port, and nothing else; no slash at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// Why an origin is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginError {
    /// It is not of the form wanted.
    Form,
    /// It must be encrypted or stay on this machine.
    Plain,
}

impl fmt::Display for OriginError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Form => "must be http://HOST[:PORT] or https://HOST[:PORT], without user, path or query",
            Self::Plain => {
                "must be https or on loopback in mainnet mode, so that nobody can read or change what is sent"
            }
        })
    }
}

impl std::error::Error for OriginError {}

impl Origin {
    /// Reads an origin; one slash at its end is dropped.
    ///
    /// # Errors
    /// [`OriginError::Form`].
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(OriginError::Form)?;
        let authority = rest.strip_suffix('/').unwrap_or(rest);
        let host_letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
        let (host, port) = split_port(authority).ok_or(OriginError::Form)?;
        let host_fits = if host.contains(['[', ']', ':']) { ip_of(host).is_some() } else { true };
        let fits = text.len() <= MAX_LEN && host_fits && port != Some(0) && authority.bytes().all(host_letter);
        if fits { Ok(Self(text.trim_end_matches('/').to_owned())) } else { Err(OriginError::Form) }
    }

    /// The origin, without a slash at its end.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the scheme is https.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The address that the host names, where it is written as one or as `localhost`, whatever a name server would say.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        match self.authority()?.0 {
            "localhost" => Some(Ipv4Addr::LOCALHOST.into()),
            host => ip_of(host),
        }
    }

    /// The host as it is written; an IPv6 address stands in brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        self.authority().map_or("", |(host, _)| host)
    }

    /// The port named.
    #[must_use]
    pub fn port(&self) -> Option<u16> {
        self.authority()?.1
    }

    /// Whether nobody on the way can read or change what is sent: https, or a host on loopback.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.is_encrypted() || self.ip().is_some_and(|ip| ip.is_loopback())
    }

    fn authority(&self) -> Option<(&str, Option<u16>)> {
        split_port(self.0.split_once("://")?.1)
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A host's name and port, or `None` where either is none. The colons inside an IPv6 host's brackets are the host's.
#[must_use]
pub fn split_port(host: &str) -> Option<(&str, Option<u16>)> {
    let bracket = if host.starts_with('[') { host.find(']')? } else { 0 };
    let (name, port) = match host.get(bracket..)?.find(':') {
        Some(colon) => {
            let (name, port) = host.split_at_checked(bracket.checked_add(colon)?)?;
            (name, Some(port.strip_prefix(':')?.parse().ok()?))
        }
        None => (host, None),
    };
    (!name.is_empty()).then_some((name, port))
}

/// The address that a host is written as; IPv6 stands in brackets.
fn ip_of(host: &str) -> Option<IpAddr> {
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']')?.parse::<Ipv6Addr>().ok().map(IpAddr::from),
        None => host.parse::<Ipv4Addr>().ok().map(IpAddr::from),
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
            assert_eq!(Origin::parse(text).map(|url| url.to_string()).as_deref(), Ok(kept));
        }
        for (text, host) in
            [("https://x.test", "x.test"), ("http://x.test:80/", "x.test"), ("http://[::1]:9000", "[::1]")]
        {
            assert_eq!(Origin::parse(text).unwrap().host(), host);
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
            "http://x:y:80",
            "http://::1",
            "http://[::1",
            "http://[127.0.0.1]:80",
        ] {
            assert_eq!(Origin::parse(bad), Err(OriginError::Form), "{bad}");
        }
    }

    #[test]
    fn private_is_encrypted_or_on_this_machine() {
        let private = |text: &str| Origin::parse(text).unwrap().is_private();
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
