//! The way out over HTTP: one POST, bounded in time and size, through no proxy and following no redirect.

use std::io::Read;
use std::time::Duration;

use serde_json::Value;

use super::answer::Answer;
use crate::base::clock::wall_ms;
use crate::base::text::visible;
use crate::notify::url::private_url;
use crate::notify::words::heard;

/// For look-up and connection, and for all of one try.
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE: Duration = Duration::from_secs(20);
/// The most of an answer that is read: it says why, and nothing more is wanted of it.
const MAX_ANSWER: u64 = 4096;
/// Most characters of what TLS says.
const MAX_WORDS: usize = 200;
/// The system's word for a name that it finds no address for: it gives that no kind of its own.
const LOOK_UP: &str = "lookup address";
const NO_ADDRESS: &str = "has no known address: its name cannot be looked up";
/// Longest pause that a target may ask for; and one that has trouble of its own, which may be over before it says.
const MAX_PAUSE_MS: u64 = 3_600_000;
const MAX_TROUBLE_MS: u64 = 60_000;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::notify) struct Post {
    pub(super) url: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Value,
}

impl Post {
    /// A POST of JSON.
    pub(super) fn json(url: impl Into<String>, body: Value) -> Self {
        Self { url: url.into(), headers: Vec::new(), body }
    }

    /// The same with a bearer's token, where there is one.
    pub(super) fn bearer(mut self, token: Option<&str>) -> Self {
        self.headers.extend(token.map(|token| ("Authorization", format!("Bearer {token}"))));
        self
    }
}

/// The settings that every call of this room is made with.
pub(in crate::notify) fn agent(whole: Duration) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .proxy(None)
        .max_redirects(0)
        .http_status_as_error(false)
        .timeout_resolve(Some(CONNECT.min(whole)))
        .timeout_connect(Some(CONNECT.min(whole)))
        .timeout_global(Some(whole))
        .max_response_header_size(16 * 1024)
        .user_agent(concat!("svc-guard/", env!("CARGO_PKG_VERSION")))
        .build();
    ureq::Agent::new_with_config(config)
}

/// The way to one target.
#[derive(Debug)]
pub(in crate::notify) struct Way {
    agent: ureq::Agent,
    /// What may be shown of its URL.
    origin: String,
}

impl Way {
    /// The way to a URL that was checked.
    pub(super) fn to(url: &str) -> Self {
        Self {
            agent: agent(WHOLE),
            origin: private_url(url).map_or_else(|_| "it".to_owned(), |origin| origin.to_string()),
        }
    }

    /// Sends once. The library's errors may name the URL, so only their kind is told.
    pub(super) fn send(&self, post: &Post) -> Answer {
        let mut request = self.agent.post(&post.url).content_type("application/json");
        for (name, value) in &post.headers {
            request = request.header(*name, value);
        }
        match request.send(post.body.to_string().as_bytes()) {
            Ok(answer) => judge(answer, &self.origin),
            Err(error) => Answer::Later(format!("{} {}", self.origin, failure(&error)), None),
        }
    }
}

/// Why a call failed, without what it was for.
pub(in crate::notify) fn failure(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Timeout(_) => "did not answer in time".to_owned(),
        ureq::Error::Io(error) if error.to_string().contains(LOOK_UP) => NO_ADDRESS.to_owned(),
        ureq::Error::Io(error) => format!("could not be reached: {}", error.kind()),
        ureq::Error::HostNotFound => NO_ADDRESS.to_owned(),
        ureq::Error::ConnectionFailed => "could not be reached".to_owned(),
        ureq::Error::Rustls(error) => {
            format!("has no TLS that can be trusted: {}", visible(&error.to_string(), MAX_WORDS))
        }
        _ => "gave no answer that can be read".to_owned(),
    }
}

fn judge(mut answer: ureq::http::Response<ureq::Body>, origin: &str) -> Answer {
    let status = answer.status().as_u16();
    if (200..300).contains(&status) {
        return Answer::Taken;
    }
    let header = answer.headers().get("retry-after").and_then(|value| waited_ms(value.to_str().ok()?, wall_ms()));
    let mut body = Vec::new();
    _ = answer.body_mut().as_reader().take(MAX_ANSWER).read_to_end(&mut body);
    let words = heard(&String::from_utf8_lossy(&body));
    let why = match status {
        300..400 => format!("{origin} sends elsewhere (HTTP {status}), which is not followed: name the place itself"),
        _ => format!("{origin} answered HTTP {status}: {words}"),
    };
    let pause_ms = header.or_else(|| asked_ms(&body));
    match status {
        // The message itself, and no state of the target's: what is wrong with its token can be mended. A filter before it
        // forbids a message as well as a token.
        400 | 403 | 413 | 422 => Answer::Refused(why),
        500.. => Answer::Later(why, pause_ms.map(|ms| ms.min(MAX_TROUBLE_MS))),
        _ => Answer::Later(why, pause_ms.map(|ms| ms.min(MAX_PAUSE_MS))),
    }
}

/// The pause that a header asks for (RFC 9110): in seconds, or until a time.
fn waited_ms(text: &str, now_ms: u64) -> Option<u64> {
    if let Ok(seconds) = text.trim().parse::<u64>() {
        return Some(seconds.saturating_mul(1_000));
    }
    let until = httpdate::parse_http_date(text.trim()).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(u64::try_from(until.as_millis()).ok()?.saturating_sub(now_ms))
}

/// The pause that a body asks for: Discord's `retry_after`, and Telegram's below `parameters`, in seconds.
fn asked_ms(body: &[u8]) -> Option<u64> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let named = body.get("retry_after").or_else(|| body.get("parameters")?.get("retry_after"))?;
    let seconds: rust_decimal::Decimal = named.to_string().parse().ok()?;
    u64::try_from(seconds.checked_mul(rust_decimal::Decimal::from(1_000))?.ceil()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_that_is_asked_for_is_read_from_either_body() {
        assert_eq!(asked_ms(br#"{"message":"limited","retry_after":0.35,"global":false}"#), Some(350));
        assert_eq!(asked_ms(br#"{"ok":false,"error_code":429,"parameters":{"retry_after":7}}"#), Some(7_000));
        assert_eq!(asked_ms(b"busy"), None);
        assert_eq!(asked_ms(br#"{"retry_after":"x"}"#), None);
    }

    #[test]
    fn a_pause_has_its_bound_and_a_shorter_one_where_the_target_is_in_trouble() {
        let of = |status: u16, seconds: u64| {
            let answer = ureq::http::Response::builder().status(status).header("retry-after", seconds.to_string());
            match judge(answer.body(ureq::Body::builder().data("")).unwrap(), "it") {
                Answer::Later(_, pause_ms) => pause_ms,
                other => panic!("{other:?}"),
            }
        };
        for (status, most) in [(500, 60), (503, 60), (429, 3_600)] {
            let asked = [most - 1, most, most + 1].map(|seconds| of(status, seconds));
            assert_eq!(asked, [most - 1, most, most].map(|seconds| Some(seconds * 1_000)), "{status}");
        }
    }

    #[test]
    fn the_pause_of_a_header_is_in_seconds_or_until_a_time() {
        let now = 784_111_777_000;
        assert_eq!(waited_ms("30", now), Some(30_000));
        assert_eq!(waited_ms("Sun, 06 Nov 1994 08:49:50 GMT", now), Some(13_000));
        assert_eq!(waited_ms("Sun, 06 Nov 1994 08:40:00 GMT", now), Some(0), "it is over");
        assert_eq!(waited_ms("-5", now), None);
        assert_eq!(waited_ms("soon", now), None);
    }

    #[test]
    fn a_name_that_has_no_address_is_said_to_have_none() {
        let way = Way::to("https://no-such-host.invalid/x");
        let Answer::Later(why, None) = way.send(&Post::json("https://no-such-host.invalid/x", Value::Null)) else {
            panic!("nobody can have taken it")
        };
        assert_eq!(why, "https://no-such-host.invalid has no known address: its name cannot be looked up");
    }
}
