//! The core at start: its settings from the config, its memory from the journal.

use rust_decimal::Decimal;

use super::reporting::recent_events::RecentEvents;
use super::venue_io::intervals::{Intervals, marks_max_age_ms};
use crate::base::life;
use crate::base::mode::{Mode, Network};
use crate::guard::{self, DaysLoss, Guard};
use crate::home::{Config, Home};
use crate::journal::{OpenError, Opened, StoredEvent};
use crate::record::risk_record::{Checkpoint, RiskRecord};
use crate::venue::signing::Source;

/// A read is stale after so many of its intervals, but not before [`LEAST_AGE_MS`].
const STALE_INTERVALS: u64 = 3;
const LEAST_AGE_MS: u64 = 5_000;
/// The open orders are read less often, and early whenever something moves.
const LEAST_ORDERS_AGE_MS: u64 = 15_000;

/// The core with its journal replayed, one event in memory at a time. The last of them become the first of the recent ones.
pub(super) fn restored_guard(
    home: &Home,
    config: &Config,
    intervals: Intervals,
    opened: &Opened,
    recent_events: &RecentEvents,
) -> Result<Guard, OpenError> {
    let mut guard = Guard::new(settings(home, config, intervals), opened.last_seq);
    opened.risk.iter().filter_map(|line| RiskRecord::parse(line)).for_each(|record| guard.restore_risk(record));
    if let Some(checkpoint) = last_checkpoint(&opened.risk) {
        guard.restore_checkpoint(checkpoint);
    }
    opened.events.each(|StoredEvent { text, event, .. }| {
        recent_events.push([(event.seq, text)]);
        guard.restore(event);
    })?;
    Ok(guard)
}

/// The day's loss at this equity as a start on these records of the risk journal would have it.
#[must_use]
pub fn days_loss(home: &Home, config: &Config, records: &[String], equity: Decimal) -> Option<DaysLoss> {
    let mut guard = Guard::new(settings(home, config, intervals(config)), 0);
    records.iter().filter_map(|line| RiskRecord::parse(line)).for_each(|record| guard.restore_risk(record));
    guard.days_loss(equity)
}

fn settings(home: &Home, config: &Config, intervals: Intervals) -> guard::Config {
    let max_age = |interval_ms: u64, least_ms: u64| interval_ms.saturating_mul(STALE_INTERVALS).max(least_ms);
    guard::Config {
        mode: match config.mode {
            Mode::Paper => guard::Mode::Paper,
            Mode::Testnet => guard::Mode::Testnet,
            Mode::Mainnet => guard::Mode::Mainnet,
        },
        account: config.account,
        account_network: source(config.account_network),
        api_wallet: config.api_wallet,
        clients: config.auth.clients.iter().copied().collect(),
        require_network: config.auth.require_network,
        rules: config.rules.clone(),
        equity_cap: config.equity_cap,
        account_max_age_ms: max_age(intervals.account_ms, LEAST_AGE_MS),
        prices_max_age_ms: max_age(intervals.prices_ms, LEAST_AGE_MS),
        marks_max_age_ms: marks_max_age_ms(config.ip_share.budget_per_minute()),
        orders_max_age_ms: max_age(intervals.orders_ms, LEAST_ORDERS_AGE_MS),
        feed: true,
        weight_per_minute: config.ip_share.budget_per_minute(),
        kill_file: home.kill_file().path().display().to_string(),
        life: life::of_process().to_owned(),
        venue_url: config.venue_url().to_owned(),
    }
}

/// Whether an earlier life found out whom actions are for: without that nothing can be sent.
pub(super) fn is_role_known(opened: &Opened) -> bool {
    let mut records = opened.risk.iter().filter_map(|line| RiskRecord::parse(line));
    records.any(|record| matches!(record, RiskRecord::Role(_)))
}

fn last_checkpoint(risk: &[String]) -> Option<Checkpoint> {
    risk.iter().rev().find_map(|line| match RiskRecord::parse(line)? {
        RiskRecord::Checkpoint(checkpoint) => Some(*checkpoint),
        _ => None,
    })
}

/// How often things are read: as the config says, else as often as the budget affords.
pub(super) fn intervals(config: &Config) -> Intervals {
    let afforded = Intervals::for_budget(config.ip_share.budget_per_minute());
    let watch = &config.deployment.watch;
    Intervals {
        prices_ms: watch.prices_ms.map_or(afforded.prices_ms, u64::from),
        account_ms: watch.account_ms.map_or(afforded.account_ms, u64::from),
        orders_ms: watch.open_orders_ms.map_or(afforded.orders_ms, u64::from),
    }
}

/// The network that a signature is for.
pub(super) fn source(network: Network) -> Source {
    match network {
        Network::Testnet => Source::Testnet,
        Network::Mainnet => Source::Mainnet,
    }
}
