//! The venue's language: actions, info answers, frames of its socket, amounts and ticks, hashing and signing, client and
//! weight ledger.
//!
//! Facts about the venue stand beside the code that relies on them, each with the address of the page that says so.
//! "Observed" marks what no page says: it was seen in recorded answers or in the sources and requests of the SDKs.
//! No rule of the owner may enter this room, and apart from [`client`] and [`socket`] nothing here touches the network or a
//! clock.

pub mod action;
pub mod client;
pub mod envelope;
mod fields;
pub mod fill;
pub mod history;
pub mod info;
pub mod json;
pub mod market;
pub mod order;
pub mod reply;
mod sdk_key_order;
pub mod side;
pub mod signing;
pub mod socket;
pub mod stream;
pub mod user_signed;
pub mod weight;
pub mod weight_ledger;

pub use fields::ShapeError;
pub use json::Node;

#[cfg(test)]
mod tests;
