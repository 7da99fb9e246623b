//! Listen addresses as a person types them.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use super::config::DEFAULT_LISTEN;

/// Reads a listen address: `IP:PORT`, or `localhost:PORT` for loopback.
///
/// # Errors
/// What is expected there.
pub fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let expected = || format!("must be IP:PORT, such as {}", likely_listen(text, DEFAULT_LISTEN));
    match text.strip_prefix("localhost:") {
        Some(port) => Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port.parse().map_err(|_| expected())?))),
        None => text.parse().map_err(|_| expected()),
    }
}

/// The listen address that was likely meant by a text that is none: of a port alone, or of an address alone. What it does not say
/// is that of `now`.
#[must_use]
pub fn likely_listen(text: &str, now: SocketAddr) -> SocketAddr {
    let text = text.trim_end_matches('/').replace("localhost", "127.0.0.1");
    let text = text.as_str();
    if let Ok(whole) = text.parse() {
        return whole;
    }
    // A text of colons and numbers alone is an address too, and its last group the port that was meant.
    if let Some((head @ ("::1" | "::"), port)) = text.rsplit_once(':')
        && let (Ok(ip), Ok(port)) = (head.parse(), port.parse())
    {
        return SocketAddr::new(ip, port);
    }
    let address = [text, text.trim_matches(['[', ']'])].iter().find_map(|text| text.parse::<IpAddr>().ok());
    let port = text.rsplit(':').next().and_then(|port| port.parse::<u16>().ok()).filter(|_| address.is_none());
    SocketAddr::new(address.unwrap_or(now.ip()), port.unwrap_or(now.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_or_an_address_alone_is_completed() {
        for (text, likely) in [
            ("8548", "127.0.0.1:8548"),
            (":8548", "127.0.0.1:8548"),
            ("10.0.0.1", "10.0.0.1:8547"),
            ("::1", "[::1]:8547"),
            ("[::1]", "[::1]:8547"),
            ("::1:8548", "[::1]:8548"),
            (":::8548", "[::]:8548"),
            ("there", "127.0.0.1:8547"),
            ("70000", "127.0.0.1:8547"),
            ("127.0.0.1:8607/", "127.0.0.1:8607"),
        ] {
            let refused = parse_listen(text).unwrap_err();
            assert!(refused.ends_with(&format!("such as {likely}")), "{refused}");
            assert_eq!(parse_listen(likely), Ok(likely_listen(text, DEFAULT_LISTEN)));
        }
        assert_eq!(parse_listen("localhost:8548"), parse_listen("127.0.0.1:8548"));
        let now = "10.0.0.1:8607".parse().unwrap();
        for (text, likely) in [
            ("there", "10.0.0.1:8607"),
            ("70000", "10.0.0.1:8607"),
            ("8548", "10.0.0.1:8548"),
            ("127.0.0.1", "127.0.0.1:8607"),
            ("localhost", "127.0.0.1:8607"),
            ("localhost:8548/", "127.0.0.1:8548"),
        ] {
            assert_eq!(likely_listen(text, now), likely.parse().unwrap(), "{text}");
        }
    }
}
