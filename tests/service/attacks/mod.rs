//! What a client could try against the rules, held to the venue's own state.

mod loosened_stop;
mod refused_stop;
mod unseen_cover;
