//! Admission of a request by its head: host, path, method, origin, body. No byte of a body is read here.

use std::net::IpAddr;

use super::head::{Head, Length, Verb};
use super::refusal::Refusal;
use crate::base::origin::split_port;
use crate::base::text::cut;
use crate::service::server::routes::{AnsweredBy, Route, named, route_of};
use crate::service::server::types::{BadBody, JSON, Method};

/// The most bytes of one body.
pub(super) const MAX_BODY: usize = 256 * 1024;
const _: () = assert!(MAX_BODY == 262_144, "BadBody::text names the limit");

/// An admitted request, by what follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Admitted {
    /// A WebSocket's handshake, with its key.
    Upgrade(String),
    /// A request whose body has this many bytes.
    Plain { method: Method, body: usize },
    /// A request for a decision whose body cannot be decided on. It is whole only where a length is given.
    Bad { why: BadBody, body: Option<usize> },
}

/// Most characters of a path that are repeated.
const MAX_SHOWN: usize = 100;

/// Checks a head that came in on the local address `local`.
pub(super) fn admit(head: &Head, hosts: &Hosts, local: IpAddr) -> Result<Admitted, Refusal> {
    if let Some(host) = head.host.as_deref().filter(|host| !hosts.allow(host, local)) {
        let msg = format!(
            "host {host:.100} is neither a loopback name nor the address of this guard; name it under allowed_hosts in \
             guard.toml, let `listen` be an address that the caller reaches, and restart"
        );
        return Err(Refusal::new(403, "host_not_allowed", &msg));
    }
    let route = route_of(head.path()).ok_or_else(|| Refusal::new(404, "not_found", &nothing_at(head.path())))?;
    let upgrade = head.upgrade.as_ref().filter(|_| route.upgrade && head.verb == Verb::Get);
    let method = match (head.verb, upgrade) {
        (_, Some(_)) => Method::Get,
        (Verb::Get | Verb::Head, _) if route.get => Method::Get,
        (Verb::Post, _) if route.post => Method::Post,
        (Verb::Get, _) if route.upgrade && !route.post => return Err(upgrade_required()),
        _ => return Err(method_not_allowed(route)),
    };
    if (method == Method::Post || upgrade.is_some()) && !own_origin(head, hosts, local) {
        return Err(Refusal::new(403, "origin_not_allowed", "a page of another origin may not use this guard"));
    }
    if let Some(key) = upgrade {
        return key.clone().map(Admitted::Upgrade).ok_or_else(upgrade_required);
    }
    match method {
        Method::Get if head.has_body() => Err(Refusal::new(400, "bad_request", "a GET has no body here")),
        Method::Get => Ok(Admitted::Plain { method, body: 0 }),
        Method::Post => check_body(head, route),
    }
}

/// The refusal of a path that does not exist, with those that do.
fn nothing_at(path: &str) -> String {
    let slash = if path.starts_with("//") { "; a base URL ends without a slash" } else { "" };
    format!("there is nothing at {:?}{slash}; there are {}, and the monitor page at /", cut(path, MAX_SHOWN), named())
}

fn check_body(head: &Head, route: &Route) -> Result<Admitted, Refusal> {
    let length = match head.length {
        Length::Absent | Length::Encoded => Err(BadBody::NoLength),
        Length::Bytes(bytes) => usize::try_from(bytes).ok().filter(|b| *b <= MAX_BODY).ok_or(BadBody::TooLarge),
    };
    let (why, body) = match length {
        Ok(body) if is_json(head) => return Ok(Admitted::Plain { method: Method::Post, body }),
        Ok(body) => (BadBody::ContentType, Some(body)),
        Err(why) => (why, None),
    };
    if route.answered_by == AnsweredBy::ConnectionAsDecision {
        return Ok(Admitted::Bad { why, body });
    }
    let code = match why {
        BadBody::NoLength => "length_required",
        BadBody::TooLarge => "body_too_large",
        BadBody::ContentType => "content_type",
    };
    Err(Refusal::new(why.status(), code, why.text()))
}

fn is_json(head: &Head) -> bool {
    let media = head.content_type.as_deref().unwrap_or_default().split(';').next().unwrap_or_default();
    media.trim().eq_ignore_ascii_case(JSON)
}

/// Absent, or one of this guard's own names on the port by which the client reached it.
fn own_origin(head: &Head, hosts: &Hosts, local: IpAddr) -> bool {
    let Some(origin) = head.origin.as_deref() else { return true };
    let Some(named) = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")) else { return false };
    let own_port = split_port(head.host.as_deref().unwrap_or_default()).map(|(_, port)| port);
    hosts.allow(named, local) && split_port(named).map(|(_, port)| port) == own_port
}

fn upgrade_required() -> Refusal {
    Refusal::new(426, "upgrade_required", "this path speaks WebSocket, version 13")
        .with_header("Upgrade", "websocket")
        .with_header("Sec-WebSocket-Version", "13")
}

fn method_not_allowed(route: &Route) -> Refusal {
    let allow = route.allow();
    Refusal::new(405, "method_not_allowed", &format!("{} answers {allow} only", route.path)).with_header("Allow", allow)
}

/// The names that this guard answers to. A page that made its own name point to this machine uses another.
#[derive(Clone, Debug, Default)]
pub(in crate::service::server) struct Hosts {
    allowed: Vec<String>,
}

impl Hosts {
    /// The config's `allowed_hosts`, each `name` or `name:port`; loopback and the guard's own address always count.
    #[must_use]
    pub(in crate::service::server) fn new(allowed: &[String]) -> Self {
        Self { allowed: allowed.iter().map(|host| host.to_ascii_lowercase()).collect() }
    }

    fn allow(&self, host: &str, local: IpAddr) -> bool {
        let host = host.to_ascii_lowercase();
        let Some((name, _)) = split_port(&host) else { return false };
        let bare = name.trim_start_matches('[').trim_end_matches(']');
        let address: Option<IpAddr> = bare.parse().ok();
        name == "localhost"
            || address.is_some_and(|address| address.is_loopback() || address == local.to_canonical())
            || self.allowed.iter().any(|allowed| *allowed == host || allowed == name || allowed == bare)
    }
}

#[cfg(test)]
mod tests {
    use super::super::head::parse;
    use super::*;

    type Refused = (u16, Vec<(&'static str, String)>);

    fn admitted(text: &str) -> Result<Admitted, Refused> {
        let (head, _) = parse(text.as_bytes()).unwrap().unwrap();
        let hosts = Hosts::new(&["guard.lan".to_owned(), "Port.lan:99".to_owned()]);
        admit(&head, &hosts, "192.168.7.1".parse().unwrap()).map_err(|refusal| (refusal.0.status, refusal.0.headers))
    }

    fn status(text: &str) -> u16 {
        admitted(text).map_or_else(|refused| refused.0, |_| 200)
    }

    #[test]
    fn hosts() {
        for (host, good) in [
            ("localhost", true),
            ("LOCALHOST:8547", true),
            ("127.0.0.1:8547", true),
            ("127.9.9.9", true),
            ("[::1]:8547", true),
            ("192.168.7.1:8547", true),
            ("192.168.7.2:8547", false),
            ("guard.lan", true),
            ("Guard.LAN:1", true),
            ("port.lan:99", true),
            ("port.lan:98", false),
            ("port.lan", false),
            ("evil.example", false),
            ("localhost.evil.example", false),
            ("127.0.0.1.evil.example", false),
            ("localhost:port", false),
            ("localhost:", false),
            ("localhost:99999", false),
            ("", false),
            ("[::1", false),
            ("evil.example@localhost", false),
        ] {
            let text = format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(status(&text), if good { 200 } else { 403 }, "{host}");
        }
        assert_eq!(status("GET /healthz HTTP/1.0\r\n\r\n"), 200);
    }

    #[test]
    fn paths_and_methods() {
        for (line, code, allow) in [
            ("GET /healthz", 200, ""),
            ("HEAD /healthz?x=1", 200, ""),
            ("GET /healthz/", 404, ""),
            ("GET /", 200, ""),
            ("HEAD /", 200, ""),
            ("POST /", 405, "GET, HEAD"),
            ("GET /monitor", 404, ""),
            ("POST /%65xchange", 404, ""),
            ("POST /healthz", 405, "GET, HEAD"),
            ("DELETE /guard/events", 405, "GET, HEAD"),
            ("GET /exchange", 405, "POST"),
            ("OPTIONS /exchange", 405, "POST"),
            ("GET /guard/kill", 405, "POST"),
            ("POST /ws", 405, "GET"),
            ("GET /ws", 426, ""),
        ] {
            let asked = admitted(&format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n"));
            let (status, headers) = asked.map_or_else(|refused| refused, |_| (200, Vec::new()));
            assert_eq!(status, code, "{line}");
            let found = headers.iter().find(|(name, _)| *name == "Allow").map_or("", |(_, value)| value);
            assert_eq!(found, allow, "{line}");
        }
    }

    #[test]
    fn bodies() {
        let asked =
            |path: &str, headers: &str| admitted(&format!("POST {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"));
        let plain = |body| Ok(Admitted::Plain { method: Method::Post, body });
        let json = "Content-Type: Application/JSON; charset=utf-8\r\n";
        assert_eq!(asked("/info", &format!("{json}Content-Length: 262144\r\n")), plain(MAX_BODY));
        for (headers, why, body) in [
            (format!("{json}Content-Length: 262145\r\n"), BadBody::TooLarge, None),
            (format!("{json}Content-Length: 99999999999999999999\r\n"), BadBody::TooLarge, None),
            (format!("{json}Transfer-Encoding: chunked\r\n"), BadBody::NoLength, None),
            (json.to_owned(), BadBody::NoLength, None),
            ("Content-Type: text/plain\r\nContent-Length: 2\r\n".to_owned(), BadBody::ContentType, Some(2)),
            ("Content-Length: 2\r\n".to_owned(), BadBody::ContentType, Some(2)),
        ] {
            assert_eq!(asked("/exchange", &headers), Ok(Admitted::Bad { why, body }), "{headers}");
            assert_eq!(asked("/info", &headers).map_err(|refused| refused.0), Err(why.status()), "{headers}");
        }
        assert_eq!(status("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n\r\n"), 400);
        assert_eq!(status("GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"), 200);
    }

    #[test]
    fn origins() {
        let upgrade = "Connection: upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
        let post = "Content-Type: application/json\r\nContent-Length: 0\r\n";
        for (line, headers) in [("GET /ws", upgrade), ("GET /exchange", upgrade), ("POST /exchange", post)] {
            for (origin, code) in [
                ("", 200),
                ("Origin: http://localhost:8547\r\n", 200),
                ("Origin: https://LOCALHOST:8547\r\n", 200),
                ("Origin: http://localhost:1234\r\n", 403),
                ("Origin: http://127.0.0.1:8547\r\n", 200),
                ("Origin: http://localhost\r\n", 403),
                ("Origin: ftp://localhost:8547\r\n", 403),
                ("Origin: http://localhost:8547/\r\n", 403),
                ("Origin: http://evil.example\r\n", 403),
                ("Origin: null\r\n", 403),
            ] {
                let text = format!("{line} HTTP/1.1\r\nHost: localhost:8547\r\n{headers}{origin}\r\n");
                assert_eq!(status(&text), code, "{text}");
            }
        }
        let keyless = upgrade.replace("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", "");
        assert_eq!(status(&format!("GET /ws HTTP/1.1\r\nHost: localhost\r\n{keyless}\r\n")), 426);
    }
}
