//! Attacks: what a client, or a world that lags and fails, must not bring about. One idea a file; each looks at what the
//! venue holds, not at what the guard believes.

mod burnt_allowance;
mod closing_flip;
mod crowded_book;
mod cut_journal;
mod dust;
mod endless_doubts;
mod flip_overtaken;
mod flood_of_exits;
mod hanging_reads;
mod heavy_refusals;
mod killed_and_bare;
mod lagging_reads;
mod loosened_stop;
mod lowest_price;
mod mixed_requests;
mod moved_home;
mod new_listing;
mod not_flat;
mod one_client_floods;
mod over_limit;
mod parked_entry;
mod phantom_stops;
mod refused_closes;
mod refused_stop;
mod resting_flip;
mod shared_connections;
mod small_share;
mod spent_reserve;
mod spoiled_index;
mod stops_of_batches;
mod twaps;
mod unread_orders;
mod unseen_cover;
mod unseen_fill;
mod unshown_fill;
