//! The service from outside: the real program as a child process, a simulated venue behind it, and raw HTTP in front.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test ends where it goes wrong")]

mod alerted;
mod attacks;
mod away;
mod bad_input;
mod book;
mod book_games;
mod clients;
mod codes;
mod crash;
mod equity;
mod events;
mod faults;
mod feed;
mod flatten;
mod flood;
mod flows;
mod frozen_disk;
mod full_disk;
mod halts;
mod http;
mod keys;
mod kill;
mod logs;
mod mainnet;
mod many_events;
mod metrics;
mod moved_journal;
mod notify;
mod overrides;
mod page;
mod pages;
mod pressure;
mod procedures;
mod protect;
mod purses;
mod reads;
mod reports;
mod resume;
mod signers;
mod signing;
mod silent_venue;
#[allow(dead_code, reason = "each program uses its own part of it")]
mod stand;
mod start;
mod subscriptions;
mod wallet;
mod watched;
mod whose_guard;

#[path = "../load/history.rs"]
#[allow(dead_code, reason = "each program uses its own part of it")]
mod history;
#[path = "../venue_sim/sim/mod.rs"]
#[allow(dead_code, reason = "each program that embeds the venue uses its own part of it")]
mod sim;
