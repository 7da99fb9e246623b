//! The guard between a trading bot and a derivatives venue.
//!
//! Rooms, outermost first; arrows go one way: `cli` → `service` → `guard` → `venue` and `rules`.
//! `feed` and `relay` stand beside `guard`; `journal`, `equity`, `home` and `faults` beside `service`. ARCHITECTURE.md holds the map of threads, channels and invariants.

pub mod base;
pub mod cli;
pub mod equity;
pub mod faults;
pub mod feed;
pub mod guard;
pub mod home;
pub mod journal;
pub mod mcp;
pub mod monitor;
pub mod notify;
pub mod record;
pub mod relay;
pub mod report;
pub mod rules;
pub mod service;
pub mod venue;

#[cfg(test)]
#[path = "../tests/fuzz/mod.rs"]
mod fuzz;
