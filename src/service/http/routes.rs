//! The paths that exist and how each may be asked. The gate refuses the rest, so a handler sees only these.

/// One path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The exact path.
    pub path: &'static str,
    /// Whether it answers GET, and with it HEAD.
    pub get: bool,
    /// Whether it answers POST.
    pub post: bool,
    /// Whether it may be upgraded to a WebSocket.
    pub upgrade: bool,
    /// Whether every POST is a decision, also one whose body cannot be judged.
    pub judged: bool,
}

const GET: Route = Route { path: "", get: true, post: false, upgrade: false, judged: false };
const POST: Route = Route { path: "", get: false, post: true, upgrade: false, judged: false };

/// Every path of the service.
pub const ROUTES: &[Route] = &[
    Route { path: "/exchange", upgrade: true, judged: true, ..POST },
    Route { path: "/ws", post: false, upgrade: true, ..POST },
    Route { path: "/info", ..POST },
    Route { path: "/guard/kill", ..POST },
    Route { path: "/guard/events", ..GET },
    Route { path: "/guard/decision", ..GET },
    Route { path: "/guard/status", ..GET },
    Route { path: "/healthz", ..GET },
    Route { path: "/metrics", ..GET },
    Route { path: "/", ..GET },
    Route { path: "/monitor/style.css", ..GET },
    Route { path: "/monitor/icon.svg", ..GET },
    Route { path: "/monitor/script.js", ..GET },
    Route { path: "/monitor/dom.js", ..GET },
    Route { path: "/monitor/feed.js", ..GET },
    Route { path: "/monitor/panels.js", ..GET },
    Route { path: "/monitor/plot.js", ..GET },
    Route { path: "/monitor/stream.js", ..GET },
    Route { path: "/monitor/text.js", ..GET },
];

impl Route {
    /// The value of `Allow` when another method was used.
    #[must_use]
    pub fn allow(&self) -> &'static str {
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
