//! The account's equity now, asked of the venue: what a risk journal starts from, and goes on from after a review.

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::{Value, json};

use super::refusal::Refusal;
use crate::home::Config;
use crate::venue::client::{Client, Timeouts};
use crate::venue::info::{AccountMode, ClearinghouseState, unified_equity, unvalued};

/// An equity and when the venue measured it.
pub(super) struct Measured {
    /// USDC.
    pub(super) equity: Decimal,
    /// The venue's time, UTC ms.
    pub(super) venue_ms: u64,
}

/// Asks the venue for the equity of the config's account, read where the account's mode keeps it.
pub(super) fn now(config: &Config) -> Result<Measured, Refusal> {
    measure(config).map_err(Refusal::NoEquity)
}

fn measure(config: &Config) -> Result<Measured, String> {
    let client = Client::new(config.venue_url(), Timeouts::default()).map_err(|error| error.to_string())?;
    let user = config.account;
    let ask = |question: Value| client.info(&question).map_err(|error| error.to_string());
    let mode = AccountMode::from_answer(&ask(json!({"type": "userAbstraction", "user": user}))?)?;
    let mode = mode.map_err(|mode| unvalued(&mode))?;
    let state = ask(json!({"type": "clearinghouseState", "user": user, "dex": ""}))?;
    let state = ClearinghouseState::deserialize(&state).map_err(|error| format!("clearinghouseState: {error}"))?;
    let equity = match mode {
        AccountMode::Standard => state.margin_summary.account_value,
        AccountMode::Unified => unified_equity(&ask(json!({"type": "spotClearinghouseState", "user": user}))?)?,
    };
    Ok(Measured { equity, venue_ms: state.time })
}
