//! One small question to a guard on this machine: through no proxy, following no redirect, bounded in time and length.

use std::io::Read;
use std::time::Duration;

use ureq::Agent;

use crate::venue::client::reason;

/// Status and body of the answer, of which `most` bytes are read.
pub(super) fn get(url: &str, patience: Duration, most: u64) -> Result<(u16, Vec<u8>), String> {
    let config = Agent::config_builder()
        .timeout_global(Some(patience))
        .proxy(None)
        .max_redirects(0)
        .http_status_as_error(false)
        .build();
    let mut answer = Agent::new_with_config(config).get(url).call().map_err(|error| reason(&error))?;
    let mut body = Vec::new();
    let read = answer.body_mut().as_reader().take(most).read_to_end(&mut body);
    read.map_err(|error| error.to_string())?;
    Ok((answer.status().as_u16(), body))
}
