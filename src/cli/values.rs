//! Parsers of flags' values: help names the values allowed, and a refusal says which are expected.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::base::ip_share::IpShare;
use crate::base::mode::{Mode, Network};

/// A mode by its name.
pub(super) fn mode() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::NAMES).try_map(|name| name.parse::<Mode>())
}

/// A network by its name.
pub(super) fn network() -> impl TypedValueParser<Value = Network> {
    PossibleValuesParser::new(Network::NAMES).try_map(|name| name.parse::<Network>())
}

/// A share of the IP budget.
pub(super) fn ip_share(text: &str) -> Result<IpShare, String> {
    IpShare::parse(text).map_err(|error| error.to_string())
}

/// How long a kill waits where no number is given.
pub(super) const USUAL_WAIT: &str = "60";

/// Reads how long a kill waits.
pub(super) fn seconds(typed: &str) -> Result<u16, String> {
    typed.parse().map_err(|_| format!("must be whole seconds, 65535 at most, such as {USUAL_WAIT}"))
}

/// Reads why something is done, in words. One that begins with a dash, such as -5%, is told from a flag whose value is missing.
pub(super) fn reason(typed: &str) -> Result<String, String> {
    let is_word = |name: &str| name.starts_with(|first: char| first.is_ascii_alphabetic()) && !name.contains(' ');
    let is_flag = typed.strip_prefix("--").is_some_and(is_word) || typed == "-h" || typed == "-V";
    if is_flag { Err("must be words and no flag".to_owned()) } else { Ok(typed.to_owned()) }
}
