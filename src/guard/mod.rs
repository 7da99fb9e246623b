//! The pure core: judges requests, keeps the view of the account and decides what is sent.
//!
//! One function drives it: [`Guard::step`] takes an input and the time, and returns effects. There is no clock, no
//! I/O, no randomness and no thread in this room, so that a seeded simulation can drive it through any schedule.
//!
//! Two storeys: `state` below, types that know no verdict and no flow; above it `judge` (what may pass), `flow` (what
//! an input sets in motion), `recovery` (the state made again from the journal) and `report` (status, figures, alerts);
//! `step` on top.

mod alert_code;
mod code;
mod config;
mod effects;
mod feed_news;
mod flow;
mod input;
mod judge;
mod kept_request;
mod recovery;
mod reply;
mod report;
mod state;
mod step;

#[cfg(test)]
mod tests;

pub use alert_code::AlertCode;
pub use code::Code;
pub use config::{Config, Mode};
pub use effects::{Answer, Command, Decided, Effects, Read, Record, RiskLine, SendAction, Urgency};
pub use feed_news::{FeedCommand, FeedFigures, FeedNews, Pace};
pub use input::{Input, Request, RequestBody, SendOutcome, Via};
pub use reply::{Verdict, unrecorded};
pub use report::days_loss::DaysLoss;
pub use report::gauges::{Gauges, Money, OWNERS, RISK_STATES};
pub use report::measured::Measured;
pub use state::guard::Guard;
