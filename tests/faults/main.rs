//! The program under faults, from outside: it is killed, failed and held up at every step that it names, and at random
//! moments. After each fault what its journal tells is compared with what the venue did.
//!
//! Only a program with the feature `faults` can be told to fail: `cargo test --features faults --test faults`.
//! `FAULT_LIVES=300 cargo test --features faults --test faults lives` lives and dies more often than that does.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test ends where it goes wrong")]

mod acts;
mod busy;
mod clock;
mod equity;
mod indexing;
mod killing;
mod lives;
mod notifier;
mod script;
mod steps;
mod threads;
mod truth;

#[path = "../service/alerted/hook.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod hook;
#[path = "../service/alerted/notifier.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod notifier_process;

#[path = "../service/http.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod http;
#[path = "../service/signing.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod signing;
#[path = "../venue_sim/sim/mod.rs"]
#[allow(dead_code, reason = "each program that embeds the venue uses its own part of it")]
mod sim;
#[path = "../service/stand.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod stand;
