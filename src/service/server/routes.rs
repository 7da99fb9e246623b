//! The paths that exist and how each may be asked. The gate refuses the rest, so a handler sees only these.

/// Which thread answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnsweredBy {
    /// The connection's own, and every POST is a decision, also one whose body cannot be decided on.
    ConnectionAsDecision,
    /// The connection's own: safety must not depend on a queue, a socket or another thread.
    Connection,
    /// One of the few HTTP workers: reads of the service's own memory and disk, and files.
    Workers,
}

/// One path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Route {
    /// The exact path.
    pub(super) path: &'static str,
    /// Whether it answers GET, and with it HEAD.
    pub(super) get: bool,
    /// Whether it answers POST.
    pub(super) post: bool,
    /// Whether it may be upgraded to a WebSocket.
    pub(super) upgrade: bool,
    /// Which thread answers.
    pub(super) answered_by: AnsweredBy,
}

const GET: Route = Route { path: "", get: true, post: false, upgrade: false, answered_by: AnsweredBy::Workers };
const POST: Route = Route { get: false, post: true, ..GET };

/// Every path of the service.
const ROUTES: &[Route] = &[
    Route { path: "/exchange", upgrade: true, answered_by: AnsweredBy::ConnectionAsDecision, ..POST },
    Route { path: "/ws", post: false, upgrade: true, ..POST },
    Route { path: "/info", ..POST },
    Route { path: "/guard/kill", answered_by: AnsweredBy::Connection, ..POST },
    Route { path: "/guard/events", ..GET },
    Route { path: "/guard/decision", ..GET },
    Route { path: "/guard/equity", ..GET },
    Route { path: "/guard/status", ..GET },
    Route { path: "/guard/report", ..GET },
    Route { path: "/healthz", answered_by: AnsweredBy::Connection, ..GET },
    Route { path: "/metrics", ..GET },
    Route { path: "/", ..GET },
    Route { path: "/monitor/style.css", ..GET },
    Route { path: "/monitor/icon.svg", ..GET },
    Route { path: "/monitor/icon-warn.svg", ..GET },
    Route { path: "/monitor/icon-bad.svg", ..GET },
    Route { path: "/monitor/book.js", ..GET },
    Route { path: "/monitor/script.js", ..GET },
    Route { path: "/monitor/dom.js", ..GET },
    Route { path: "/monitor/feed.js", ..GET },
    Route { path: "/monitor/panels.js", ..GET },
    Route { path: "/monitor/plot.js", ..GET },
    Route { path: "/monitor/stream.js", ..GET },
    Route { path: "/monitor/text.js", ..GET },
];

/// The path's route, if there is one.
pub(super) fn route_of(path: &str) -> Option<&'static Route> {
    ROUTES.iter().find(|route| route.path == path)
}

/// The paths that a caller may mean, but for those of the page's files.
pub(super) fn named() -> String {
    let paths = ROUTES.iter().map(|route| route.path).filter(|path| *path != "/" && !path.starts_with("/monitor/"));
    paths.collect::<Vec<_>>().join(", ")
}

impl Route {
    /// The value of `Allow` when another method was used.
    #[must_use]
    pub(super) fn allow(&self) -> &'static str {
        match (self.get, self.post) {
            (true, true) => "GET, HEAD, POST",
            (true, false) => "GET, HEAD",
            (false, true) => "POST",
            (false, false) => "GET",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::ASSETS;

    #[test]
    fn every_file_of_the_page_has_its_route_and_no_route_is_left_over() {
        let is_pages = |path: &str| path == "/" || path.starts_with("/monitor/");
        let routed: Vec<&str> =
            ROUTES.iter().filter(|route| route.get && is_pages(route.path)).map(|route| route.path).collect();
        assert_eq!(routed, ASSETS.iter().map(|asset| asset.path).collect::<Vec<_>>());
    }
}
