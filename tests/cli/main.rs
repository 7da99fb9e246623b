//! The command line from outside: the real program in throw-away homes, every command and every refusal.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test ends where it goes wrong")]

mod advice;
mod agents;
mod almost;
mod anew;
mod asked;
mod changes;
mod clients;
mod home_faults;
mod home_meant;
mod host_creds;
mod init;
mod interactive;
mod leaks;
mod mainnet;
mod meant;
mod mistakes;
mod named;
mod nearly;
mod odd;
mod offered;
mod other_words;
mod others;
mod place;
mod read;
mod report;
mod run;
mod screen;
mod spelling;
mod table;
mod typed;
mod untold;
mod watch;
mod ways_out;
mod wrong_key;
