//! The account as a life has read it last, in a small file of the home. Cash that went while no life read it was withdrawn or lost, and
//! the next life has to tell which. Failing to read or write it does no harm.

use std::path::PathBuf;
use std::sync::Mutex;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::base::clock::now_ms;
use crate::base::files::{read_trusted, remove_leftovers};
use crate::base::sync::lock;
use crate::base::unsynced::replace_unsynced;
use crate::guard::Input;
use crate::home::{Config, Home};
use crate::venue::info::{AccountMode, ClearinghouseState};

/// It is gone by for so long: what moved before is in the ledger by then.
const GOOD_FOR_MS: u64 = 120_000;
/// A position in each core perp is a tenth of this.
const MAX_BYTES: u64 = 1024 * 1024;

/// The file.
pub(in crate::service) struct LastAccount {
    path: PathBuf,
    account: String,
    venue: String,
    /// What this life read last and is not written yet.
    news: Mutex<Option<Text>>,
}

/// What stands in the file.
#[derive(Serialize, Deserialize)]
struct Text {
    /// When the read began, UTC ms.
    at_ms: u64,
    account: String,
    venue: String,
    is_unified: bool,
    /// USDC.
    equity: Decimal,
    /// As the venue writes it.
    state: Value,
}

impl LastAccount {
    /// The file of a home, among what is the service's own.
    pub(super) fn of(home: &Home, config: &Config) -> Self {
        Self::at(home.run_dir().join("account"), config.account.to_string(), config.venue_url().to_owned())
    }

    /// A file, of an account at a venue.
    pub(super) fn at(path: PathBuf, account: String, venue: String) -> Self {
        Self { path, account, venue, news: Mutex::default() }
    }

    /// What an earlier life read last of this account and venue, as long as it is good.
    pub(in crate::service) fn recall(&self) -> Option<Input> {
        remove_leftovers(&self.path);
        let text = read_trusted(&self.path, &[nix::unistd::geteuid().as_raw()], MAX_BYTES).ok()?;
        let Text { at_ms, account, venue, is_unified, equity, state } = serde_json::from_str(&text).ok()?;
        // A time ahead of the clock says nothing.
        let is_good = now_ms().checked_sub(at_ms).is_some_and(|age_ms| age_ms < GOOD_FOR_MS);
        let state = serde_json::from_value(state).ok()?;
        let mode = if is_unified { AccountMode::Unified } else { AccountMode::Standard };
        let is_ours = is_good && account == self.account && venue == self.venue;
        is_ours.then_some(Input::LastAccount { state, equity, mode, begun_ms: at_ms })
    }

    /// Takes note of the account, read then (UTC ms).
    pub(super) fn keep(&self, state: &ClearinghouseState, equity: Decimal, mode: AccountMode, at_ms: u64) {
        let text = Text {
            at_ms,
            account: self.account.clone(),
            venue: self.venue.clone(),
            is_unified: mode == AccountMode::Unified,
            equity,
            state: as_told(state),
        };
        *lock(&self.news) = Some(text);
    }

    /// Replaces the file where something is new. It is not synced: what a power failure takes along is too old by the next start.
    pub(super) fn save(&self) {
        let Some(text) = lock(&self.news).take() else { return };
        _ = serde_json::to_vec(&text).map(|bytes| replace_unsynced(&self.path, &bytes));
    }
}

/// What tells of its cash.
fn as_told(state: &ClearinghouseState) -> Value {
    let positions = state.asset_positions.iter().map(|element| {
        let position = &element.position;
        json!({"position": {
            "coin": position.coin, "szi": position.szi, "leverage": {"type": "cross", "value": position.leverage.value},
            "positionValue": position.position_value, "unrealizedPnl": position.unrealized_pnl, "marginUsed": position.margin_used,
        }})
    });
    json!({
        "marginSummary": {"accountValue": state.margin_summary.account_value},
        "crossMaintenanceMarginUsed": state.cross_maintenance_margin_used,
        "assetPositions": positions.collect::<Vec<_>>(),
        "time": state.time,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rust_decimal::dec;

    use super::*;

    fn at(folder: &std::path::Path, account: &str) -> LastAccount {
        LastAccount::at(folder.join("account"), account.to_owned(), "http://127.0.0.1:1".to_owned())
    }

    fn state() -> ClearinghouseState {
        let position = json!({"coin": "ETH", "szi": "-0.4", "leverage": {"type": "cross", "value": 5}, "positionValue": "800.5",
            "unrealizedPnl": "-12.25", "marginUsed": "160.1"});
        let state = json!({"marginSummary": {"accountValue": "10000.5"}, "crossMaintenanceMarginUsed": "8",
            "assetPositions": [{"position": position}], "time": 5});
        serde_json::from_value(state).unwrap()
    }

    #[test]
    fn what_was_read_last_is_recalled_for_two_minutes_whole() {
        let folder = tempfile::tempdir().unwrap();
        for (age_ms, is_good) in [(0, true), (GOOD_FOR_MS - 5_000, true), (GOOD_FOR_MS, false)] {
            let (file, read_ms) = (at(folder.path(), "0x1"), now_ms() - age_ms);
            file.keep(&state(), dec!(1), AccountMode::Standard, read_ms - 1);
            file.keep(&state(), dec!(10000.5), AccountMode::Unified, read_ms);
            file.save();
            let Some(Input::LastAccount { state, equity, mode, begun_ms }) = file.recall() else {
                assert!(!is_good, "{age_ms}");
                continue;
            };
            assert!(
                is_good && mode == AccountMode::Unified && equity == dec!(10000.5) && begun_ms == read_ms,
                "{age_ms}"
            );
            assert_eq!(state, self::state());
        }
        assert!(at(folder.path(), "0x2").recall().is_none(), "another account's");
    }

    #[test]
    fn what_cannot_be_read_and_a_time_to_come_are_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path(), "0x1");
        file.save();
        assert!(file.recall().is_none() && !file.path.exists());
        file.keep(&state(), dec!(1), AccountMode::Standard, now_ms() + 60_000);
        file.save();
        assert!(file.path.exists() && file.recall().is_none());
        fs::write(&file.path, "{").unwrap();
        assert!(file.recall().is_none());
    }
}
