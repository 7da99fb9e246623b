//! The guard's own traffic with the venue: reads on a schedule, sends with the API wallet's key, and the check of that key.
//!
//! Answers go to the decision loop as they are. Their consequences may not enter: the core decides.

pub mod api_wallet_check;
pub(super) mod carried;
pub(super) mod feed_link;
pub(super) mod feed_thread;
pub(super) mod info_cache;
pub(super) mod intervals;
mod last_account;
mod ledger_pages;
pub(super) mod passed_on;
pub(super) mod poller;
pub(super) mod read_board;
mod read_error;
pub(super) mod read_task;
pub(super) mod relay_line;
mod schedule;
pub(super) mod send_queue;
pub(super) mod sender;
pub(super) mod spent_weight;
mod token_bucket;
pub(super) mod venue_access;
pub(super) mod venue_reads;
