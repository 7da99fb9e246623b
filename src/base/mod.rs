//! The ground floor: primitives that every room may stand on and that know no room.
//!
//! Addresses, keys and signatures, hashes, hex, exact amounts, UTC days, moments, origins of URLs, text made safe to show,
//! commands as a person types them, files that nobody else can plant, clocks. No rule, no order, no verdict and no word of
//! the venue's protocol may enter.

pub mod address;
pub mod amount;
pub mod clock;
pub mod cloid_prefix;
pub mod day;
pub mod denied;
pub mod disk_fault;
pub mod files;
pub mod hex;
pub mod ip_share;
pub mod keccak;
pub mod key;
pub mod kill_file;
pub mod kill_watch;
pub mod life;
pub mod listening;
pub mod lock_holder;
pub mod log_line;
pub mod mode;
pub mod moment;
mod named_enum;
pub mod origin;
pub mod packaged;
pub mod plain_number;
pub mod sealed;
pub mod shell;
pub mod signature;
pub mod sync;
pub mod text;
pub mod unsynced;

pub(crate) use named_enum::named_enum;
