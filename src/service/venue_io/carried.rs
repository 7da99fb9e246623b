//! The markets and the account's mode as a life has read them, which change seldom, in a file of the home. Where starts
//! follow one another within a minute the later ones go by it: what is left of the minute's weight is then for the account itself.
//! Failing to read or write it does no harm.

use std::path::PathBuf;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crossbeam_channel::Sender;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::last_account::LastAccount;
use super::read_board::ReadBoard;
use crate::base::clock::now_ms;
use crate::base::files::{read_trusted, remove_leftovers};
use crate::base::sync::lock;
use crate::base::unsynced::replace_unsynced;
use crate::guard::Input;
use crate::home::{Config, Home};
use crate::service::message::Message;
use crate::venue::info::AccountMode;
use crate::venue::market::Universe;

/// It is gone by for so long: the minute's weight is free again then.
const GOOD_FOR_MS: u64 = 120_000;
/// The list of all core perps is a hundredth of this.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// The file.
pub(in crate::service) struct Carried {
    path: PathBuf,
    account: String,
    venue: String,
    read: Mutex<AsRead>,
    /// Something was read.
    told: Condvar,
    /// The account, in a file of its own: it is read each second.
    pub(in crate::service) last_account: LastAccount,
}

/// With the time of its read (UTC ms).
type Read<T> = (T, u64);

/// What this life has read.
#[derive(Default)]
struct AsRead {
    mode: Option<Read<AccountMode>>,
    markets: Option<Read<Value>>,
    /// Whether that is newer than the file.
    is_new: bool,
}

impl AsRead {
    /// Both, where one of them is newer than the file.
    fn news(&self) -> Option<(Read<AccountMode>, &Read<Value>)> {
        self.mode.zip(self.markets.as_ref().filter(|_| self.is_new))
    }
}

/// What stands in the file.
#[derive(Serialize, Deserialize)]
struct Text {
    /// When the older of the two was read, UTC ms.
    at_ms: u64,
    account: String,
    venue: String,
    is_unified: bool,
    meta: Value,
}

/// What an earlier life read.
#[derive(Debug)]
pub(in crate::service) struct Known {
    pub(in crate::service) mode: AccountMode,
    pub(in crate::service) universe: Universe,
    /// When, UTC ms.
    pub(in crate::service) at_ms: u64,
}

impl Known {
    /// Has the reads and the decision loop go by it, until it is read again.
    pub(in crate::service) fn tell(self, reads: &ReadBoard, inbox: &Sender<Message>) {
        let Self { mode, universe, at_ms } = self;
        reads.go_by(mode);
        for input in [Input::Universe(universe), Input::AccountMode { mode, begun_ms: at_ms }] {
            // Before the loop has begun there is.
            let _is_there_room = inbox.try_send(Message::Input(input));
        }
    }
}

impl Carried {
    /// The file of a home, among what is the service's own.
    pub(in crate::service) fn of(home: &Home, config: &Config) -> Self {
        let (account, venue) = (config.account.to_string(), config.venue_url().to_owned());
        let last_account = LastAccount::of(home, config);
        Self {
            path: home.run_dir().join("venue"),
            account,
            venue,
            read: Mutex::default(),
            told: Condvar::new(),
            last_account,
        }
    }

    /// What an earlier life read of this account and venue, as long as it is good.
    pub(in crate::service) fn recall(&self) -> Option<Known> {
        remove_leftovers(&self.path);
        let Text { at_ms, account, is_unified, meta, .. } = self.written()?;
        // A time ahead of the clock says nothing.
        let is_good = now_ms().checked_sub(at_ms).is_some_and(|age_ms| age_ms < GOOD_FOR_MS);
        let universe = Universe::from_meta(&meta).ok()?;
        let mode = if is_unified { AccountMode::Unified } else { AccountMode::Standard };
        (is_good && account == self.account).then_some(Known { mode, universe, at_ms })
    }

    /// The venue's list of markets as it was written down last, however long ago: a market keeps its place in it.
    pub(in crate::service) fn listed(&self) -> Option<Universe> {
        Universe::from_meta(&self.written()?.meta).ok().filter(|universe| !universe.is_empty())
    }

    /// What stands in the file, where it is of this venue.
    fn written(&self) -> Option<Text> {
        let text = read_trusted(&self.path, &[nix::unistd::geteuid().as_raw()], MAX_BYTES).ok()?;
        serde_json::from_str::<Text>(&text).ok().filter(|text| text.venue == self.venue)
    }

    /// Takes note of the account's mode, read then (UTC ms).
    pub(in crate::service) fn keep_mode(&self, mode: AccountMode, at_ms: u64) {
        let mut read = lock(&self.read);
        (read.mode, read.is_new) = (Some((mode, at_ms)), true);
        self.told.notify_all();
    }

    /// Takes note of the venue's list of markets, read then (UTC ms).
    pub(in crate::service) fn keep_markets(&self, meta: Value, at_ms: u64) {
        let mut read = lock(&self.read);
        (read.markets, read.is_new) = (Some((meta, at_ms)), true);
        self.told.notify_all();
    }

    /// Waits for something to write, so long at most; whether there is.
    pub(in crate::service) fn wait(&self, patience: Duration) -> bool {
        let waited = self.told.wait_timeout_while(lock(&self.read), patience, |read| read.news().is_none());
        let (read, _) = waited.unwrap_or_else(PoisonError::into_inner);
        read.news().is_some()
    }

    /// What is to be written, once both are known and something is new.
    fn news(&self) -> Option<Text> {
        let mut read = lock(&self.read);
        let ((mode, mode_ms), (meta, markets_ms)) = read.news()?;
        let text = Text {
            at_ms: mode_ms.min(*markets_ms),
            account: self.account.clone(),
            venue: self.venue.clone(),
            is_unified: mode == AccountMode::Unified,
            meta: meta.clone(),
        };
        read.is_new = false;
        Some(text)
    }

    /// Replaces the file where something is new: beside the reads, which wait for no disk. It is not synced: what a power failure
    /// takes along is too old by the next start.
    pub(in crate::service) fn save(&self) {
        self.last_account.save();
        let Some(text) = self.news() else { return };
        _ = serde_json::to_vec(&text).map(|bytes| replace_unsynced(&self.path, &bytes));
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    fn at(folder: &std::path::Path, account: &str) -> Carried {
        let (account, venue) = (account.to_owned(), "http://127.0.0.1:1".to_owned());
        let last_account = LastAccount::at(folder.join("account"), account.clone(), venue.clone());
        Carried {
            path: folder.join("venue"),
            account,
            venue,
            read: Mutex::default(),
            told: Condvar::new(),
            last_account,
        }
    }

    fn meta() -> Value {
        json!({"universe": [{"name": "BTC", "szDecimals": 5, "maxLeverage": 40}]})
    }

    #[test]
    fn what_was_read_of_both_is_recalled_for_two_minutes() {
        let folder = tempfile::tempdir().unwrap();
        for (age_ms, is_good) in [(0, true), (GOOD_FOR_MS - 5_000, true), (GOOD_FOR_MS, false)] {
            let file = at(folder.path(), "0x1");
            file.keep_markets(meta(), now_ms());
            file.keep_mode(AccountMode::Unified, now_ms() - age_ms);
            file.save();
            let known = file.recall();
            assert_eq!(known.is_some(), is_good, "{age_ms}");
            assert!(file.listed().is_some(), "a list is good for ever");
            if let Some(known) = known {
                assert!(known.mode == AccountMode::Unified && known.universe.by_coin("BTC").is_some());
            }
        }
        assert!(at(folder.path(), "0x2").recall().is_none(), "another account's");
    }

    #[test]
    fn half_of_it_a_time_to_come_and_what_cannot_be_read_are_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = at(folder.path(), "0x1");
        file.keep_mode(AccountMode::Standard, now_ms());
        file.save();
        assert!(file.recall().is_none() && !file.path.exists());
        file.keep_markets(json!({"universe": []}), now_ms());
        file.save();
        assert!(file.recall().is_none());
        file.keep_markets(meta(), now_ms() + 60_000);
        file.keep_mode(AccountMode::Standard, now_ms() + 60_000);
        file.save();
        assert!(file.recall().is_none());
        fs::write(&file.path, "{").unwrap();
        assert!(file.recall().is_none());
    }
}
