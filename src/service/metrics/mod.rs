//! `GET /metrics`, for Prometheus and its like.
//!
//! Threads count where they work, by atomic additions alone; the figures of the moment are asked of the decision loop, which
//! answers a scrape as it answers for the status and waits for nothing. Every set of labels is bounded by a table in the
//! code, or is the config's own: nothing that a client or the venue writes becomes a label.

mod counts;
mod histogram;
mod page;
mod process;
mod text;

pub(super) use counts::Metrics;
pub(super) use page::Now;
pub(super) use text::CONTENT_TYPE;
