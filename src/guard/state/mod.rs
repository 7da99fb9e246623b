//! The ground floor of the core: what it remembers, as types that know neither verdict nor flow.
//!
//! Everything above (judge, flow, recovery, report) reads and changes these; none of them may be used here.

pub(crate) mod allowance;
pub(crate) mod book;
pub(crate) mod by_fill;
pub(crate) mod client_cloids;
pub(crate) mod cover;
pub(crate) mod cover_line;
pub(crate) mod cover_lines;
pub(crate) mod ended_lines;
pub(crate) mod entry_leg;
pub(crate) mod exposure;
pub(crate) mod feed;
pub(crate) mod filled;
pub(crate) mod filled_entries;
pub(crate) mod flatten;
pub(crate) mod guard;
pub(crate) mod in_doubt;
pub(crate) mod intent;
pub(crate) mod lifetime;
pub(crate) mod marks;
pub(crate) mod max_ages;
pub(crate) mod may_hold;
pub(crate) mod nonces;
pub(crate) mod open_intents;
pub(crate) mod order_attempts;
pub(crate) mod over_limit;
pub(crate) mod own_cancels;
pub(crate) mod own_cloid;
pub(crate) mod paper_orders;
pub(crate) mod pending_reply;
pub(crate) mod risk;
pub(crate) mod send_result;
pub(crate) mod sent;
pub(crate) mod signer;
pub(crate) mod spending;
pub(crate) mod standing_stops;
pub(crate) mod stop_geometry;
pub(crate) mod throttle;
pub(crate) mod twap_watch;
pub(crate) mod unsettled;
pub(crate) mod untold;
pub(crate) mod venue_clock;
pub(crate) mod view;
pub(crate) mod watch;
