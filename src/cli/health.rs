//! `health`: exits 0 when the service is healthy, 1 with the problem on standard error when it is not. A pulled kill switch
//! and a halt are no ill health: they count where `--trading` asks whether anything can be opened.
//!
//! Never 2: container health checks keep that number for themselves, so here even a bad setting is ill health.

use std::net::SocketAddr;
use std::time::Duration;

use super::configured::configured;
use super::refusal::Refusal;
use super::{environment, local_http};
use crate::base::origin::Origin;
use crate::base::text::printable;
use crate::home::{Home, local_url, parse_listen};
use crate::record::error_body::Health;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The service's listen address [default: the config's] [env: SVC_GUARD_LISTEN]
    #[arg(long, value_name = "L", value_parser = parse_listen, conflicts_with = "url")]
    listen: Option<SocketAddr>,
    /// The service's base URL, http://host:port
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Exits 1 for a pulled kill switch and for a halt too
    #[arg(long)]
    trading: bool,
}

/// Time for the whole exchange.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Most bytes read of an answer.
const MAX_BODY: u64 = 64 * 1024;

/// Most characters of a service's own words repeated.
const MAX_SHOWN: usize = 500;

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    check(args, home).map_err(Refusal::Unhealthy)
}

fn check(args: Args, home: &Home) -> Result<(), String> {
    let is_to_trade = args.trading;
    let base = base_url(args, home)?;
    let (status, body) = local_http::get(&format!("{base}/healthz"), TIMEOUT, MAX_BODY)
        .map_err(|error| format!("no answer from {base}: {error}"))?;
    match status {
        200 if !is_to_trade => Ok(()),
        200 => match serde_json::from_slice::<Health<'_>>(&body) {
            Ok(health) => line(&health.not_trading).map_or(Ok(()), Err),
            Err(_) => Err(format!("{base}/healthz does not say whether it trades: is that the guard?")),
        },
        503 => {
            let health: Option<Health<'_>> = serde_json::from_slice(&body).ok();
            let told = health.and_then(|health| line(&health.problems));
            Err(told.unwrap_or_else(|| "the service is not healthy".to_owned()))
        }
        status => Err(format!("{base}/healthz answered with status {status}: is that the guard?")),
    }
}

fn base_url(args: Args, home: &Home) -> Result<String, String> {
    if let Some(url) = args.url {
        let url = Origin::parse(&url).map_err(|_| "--url must be http://host:port".to_owned())?;
        return Ok(url.as_str().to_owned());
    }
    match environment::listen(args.listen).map_err(|refusal| refusal.to_string())? {
        Some(listen) => Ok(local_url(listen)),
        None => configured(home).map(|config| local_url(config.listen)).map_err(|refusal| refusal.to_string()),
    }
}

/// What keeps the service from something, in one line; `None` where nothing does.
fn line(told: &[String]) -> Option<String> {
    let shown = printable(&told.join("; "), MAX_SHOWN);
    (!shown.is_empty()).then_some(shown)
}
