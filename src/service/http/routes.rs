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
