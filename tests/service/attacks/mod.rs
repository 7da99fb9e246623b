//! Attacks: what a client, or a world that lags and fails, must not bring about. One idea a file; each looks at what the
//! venue holds, not at what the guard believes.

mod dust;
mod endless_doubts;
mod hanging_reads;
mod killed_and_bare;
mod moved_home;
mod new_listing;
mod not_flat;
mod refused_closes;
mod small_share;
mod twaps;
