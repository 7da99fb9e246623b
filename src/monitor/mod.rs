//! The monitor page: its files, and the headers that confine it.
//!
//! The page reads `/guard/status`, `/guard/events` and `/healthz` as any program may, and has nothing that acts. Its
//! files are part of the program; it asks no other host for anything. How it is served, the service knows.

/// A file of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asset {
    /// Where it is served.
    pub path: &'static str,
    /// Value of `Content-Type`.
    pub content_type: &'static str,
    /// The file.
    pub body: &'static str,
}

const SVG: &str = "image/svg+xml; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Every file of the page, the page itself first.
pub const ASSETS: &[Asset] = &[
    Asset { path: "/", content_type: "text/html; charset=utf-8", body: include_str!("page.html") },
    Asset { path: "/monitor/style.css", content_type: "text/css; charset=utf-8", body: include_str!("style.css") },
    Asset { path: "/monitor/icon.svg", content_type: SVG, body: include_str!("icon.svg") },
    Asset { path: "/monitor/icon-warn.svg", content_type: SVG, body: include_str!("icon-warn.svg") },
    Asset { path: "/monitor/icon-bad.svg", content_type: SVG, body: include_str!("icon-bad.svg") },
    Asset { path: "/monitor/script.js", content_type: SCRIPT, body: include_str!("script.js") },
    Asset { path: "/monitor/dom.js", content_type: SCRIPT, body: include_str!("dom.js") },
    Asset { path: "/monitor/feed.js", content_type: SCRIPT, body: include_str!("feed.js") },
    Asset { path: "/monitor/panels.js", content_type: SCRIPT, body: include_str!("panels.js") },
    Asset { path: "/monitor/plot.js", content_type: SCRIPT, body: include_str!("plot.js") },
    Asset { path: "/monitor/stream.js", content_type: SCRIPT, body: include_str!("stream.js") },
    Asset { path: "/monitor/text.js", content_type: SCRIPT, body: include_str!("text.js") },
];

/// What a browser lets the page do: run its own scripts, read from its own guard, and nothing else. No text can
/// become markup or a script, even by mistake: the sinks that would take it are closed.
pub const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; \
     trusted-types 'none'";

/// The headers that each file goes with, beside its content type.
pub const HEADERS: &[(&str, &str)] = &[
    ("Content-Security-Policy", POLICY),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    // A new version's files must never meet an old one's.
    ("Cache-Control", "no-store"),
];

/// The file that is served at a path.
#[must_use]
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}
