//! Reports: status, figures, alerts. They look at the state and change nothing.

pub(crate) mod alerts;
pub(crate) mod days_loss;
pub(crate) mod feed;
pub(crate) mod gauges;
pub(crate) mod headroom;
pub(crate) mod if_away;
pub(crate) mod measured;
pub(crate) mod open_entries;
pub(crate) mod open_orders;
pub(crate) mod problems;
pub(crate) mod status;
