//! Attacks: what a client, or a world that lags and fails, must not bring about. One idea a file; each looks at what the
//! venue holds, not at what the guard believes.

mod cut_journal;
mod heavy_refusals;
mod loosened_stop;
mod mixed_requests;
mod refused_stop;
mod spent_reserve;
mod spoiled_index;
mod stops_of_batches;
mod unseen_cover;
