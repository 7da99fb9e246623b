//! The feed against a venue that is played: what must hold whatever the socket does.

mod player;
mod schedules;
mod troubles;
mod venue;
