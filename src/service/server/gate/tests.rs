//! The gate from outside, under clients of every kind.

mod bounds;
mod requests;
mod test_server;
mod workers;
