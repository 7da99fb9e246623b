//! Attacks: what a client, or a world that lags and fails, must not bring about. One idea a file; each looks at what the
//! venue holds, not at what the guard believes.

mod cut_journal;
mod heavy_refusals;
mod lagging_reads;
mod loosened_stop;
mod over_limit;
mod mixed_requests;
mod refused_stop;
mod resting_flip;
mod spent_reserve;
mod spoiled_index;
mod unread_orders;
mod stops_of_batches;
mod unseen_cover;
