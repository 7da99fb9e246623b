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
