//! Setting a home up, whole or not at all: folders, keys, risk journal, and last the config, which makes it count.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::kept_aside::free_name;
use super::output::say;
use super::refusal::Refusal;
use super::{not_kept, one_rule};
use crate::base::address::Address;
use crate::base::clock::now_ms;
use crate::base::disk_fault::folder_in_the_way;
use crate::base::files::{FileError, Replace, Why};
use crate::base::key::SecretKey;
use crate::base::mode::Mode;
use crate::home::{
    Config, Home, KeyStore, LoadedConfig, generate_key, load, read_key_file, write_key_file, write_sealed_key_file,
};
use crate::journal::{self, OpenError};
use crate::record::risk_record::{Init, RiskRecord};
use crate::service::note_key_check;
use nix::sys::signal::{SigSet, SigmaskHow, Signal};

/// Mode of a key that is kept aside: its owner alone reads it.
const KEPT_MODE: u32 = 0o600;

/// A set-up to be made.
pub(super) struct SetUp<'a> {
    pub(super) home: &'a Home,
    /// The config without the new client.
    pub(super) config: Config,
    /// The config file's content when the answers were taken.
    pub(super) found: LoadedConfig,
    /// The API wallet's key to store.
    pub(super) stored: Option<Stored>,
    /// File for the client key.
    pub(super) client_key_out: Option<PathBuf>,
    /// Whether a stored key gives way (it is kept under another name).
    pub(super) force: bool,
}

/// The form in which the API wallet's key is stored.
pub(super) enum Stored {
    /// As it is, in a file that only its owner can read.
    File(SecretKey),
    /// Sealed for this host.
    HostCreds(Vec<u8>),
}

impl Stored {
    pub(super) fn key_store(&self) -> KeyStore {
        match self {
            Self::File(_) => KeyStore::File,
            Self::HostCreds(_) => KeyStore::HostCreds,
        }
    }

    fn path(&self, home: &Home) -> PathBuf {
        match self {
            Self::File(_) => home.key_file(),
            Self::HostCreds(_) => home.sealed_key_file(),
        }
    }

    /// Whether the key stands in its file already, and in no other form beside it. A sealed one cannot be told.
    fn stands(&self, home: &Home) -> bool {
        let Self::File(key) = self else { return false };
        let there = read_key_file(&home.key_file(), false).is_ok_and(|there| there.key.address() == key.address());
        there && fs::symlink_metadata(home.sealed_key_file()).is_err()
    }

    fn write(&self, path: &Path, replace: Replace) -> Result<(), FileError> {
        match self {
            Self::File(key) => write_key_file(path, key, replace),
            Self::HostCreds(sealed) => write_sealed_key_file(path, sealed, replace),
        }
    }
}

/// A set-up that is made but for its config.
pub(super) struct Done {
    pub(super) config: Config,
    /// The client's key.
    pub(super) client: SecretKey,
    /// Notes for the person about keys, clients and journals that were there before.
    pub(super) notes: Vec<String>,
}

impl SetUp<'_> {
    /// Does it. The person is told before the config makes it count, so that no key that is shown once is lost: when that or
    /// anything else is refused, what was made so far is taken back.
    pub(super) fn run(mut self, tell: impl FnOnce(&Done) -> Result<(), Refusal>) -> Result<Config, Refusal> {
        let path = self.home.config_file();
        let client = generate_key().map_err(|error| Refusal::Io("make a key", error))?;
        self.config.auth.clients.push(client.address());
        self.config.check(&path).map_err(Refusal::Config)?;

        let _whole = SignalsBlocked::new();
        let mut rollback = Rollback::default();
        rollback.home =
            fs::metadata(self.home.dir()).ok().map(|found| (self.home.dir().to_owned(), found.permissions()));
        rollback.made.extend(self.home.create().map_err(Refusal::Home)?);
        let _lock = self.home.lock().map_err(Refusal::Home)?;
        if load(&path, &self.home.trusted()).map_err(Refusal::Config)? != self.found {
            return Err(Refusal::ChangedMeanwhile(path));
        }
        let mut notes = match &self.found {
            LoadedConfig::SetUp(earlier) => not_kept::notes(self.home, earlier, &self.config),
            LoadedConfig::NotSetUp(_) => Vec::new(),
        };
        notes.extend(one_rule::doubt(&self.config.rules));
        // A start would take an earlier key for the one that is not given. It goes when the new config counts.
        let mut left_over = Vec::new();
        match &self.stored {
            Some(stored) => notes.extend(store_key(self.home, stored, self.force, &mut rollback)?),
            None if self.force && self.config.mode != Mode::Paper => left_over = stored_keys(self.home),
            None => {}
        }
        for earlier in &left_over {
            notes.push(keep_aside(earlier, |from, to| fs::hard_link(from, to), &mut rollback)?);
        }
        let journal_there = risk_journal(self.home, &self.config);
        if let Some(out) = &self.client_key_out {
            // Again, for the home was made just now, perhaps.
            self.home.check_new_file(out).map_err(Refusal::Home)?;
            write_key_file(out, &client, Replace::No).map_err(Refusal::File)?;
            rollback.made.push(out.clone());
        }
        // Mainnet's is a person's to start, with a word for it.
        if self.config.mode != Mode::Mainnet {
            start_journal(self.home, &self.config, &mut rollback)?;
        }
        notes.extend(journal_there.map(|dir| format!("the risk journal in {} goes on as it is", dir.display())));
        // A person may have written in it what no set-up knows.
        if let LoadedConfig::SetUp(_) = &self.found {
            let aside = free_name(&path);
            // Some disks know no second name of a file.
            let kept = fs::hard_link(&path, &aside).or_else(|_| fs::copy(&path, &aside).map(drop));
            kept.map_err(|error| unkept(&path, error))?;
            notes.push(format!("the earlier config is kept in {}", aside.display()));
            rollback.made.push(aside);
        }
        let config = self.config.stage(&path).map_err(Refusal::Config)?;
        let done = Done { config: self.config, client, notes };
        tell(&done).map_err(|refusal| Refusal::Given(format!("{refusal}; nothing is set up")))?;
        for earlier in &left_over {
            fs::remove_file(earlier).map_err(|error| unkept(earlier, error))?;
        }
        config.put(Replace::Yes).map_err(|error| {
            Refusal::Given(format!("{error}; nothing is set up, and what was told of it before does not hold"))
        })?;
        rollback.keep();
        if self.stored.is_some() {
            note_key_check(self.home);
        }
        // Without the ready-made file the switch still works, unless the disk is full.
        if let Err(error) = self.home.kill_file().make_ready() {
            say(&format!("warning: the kill file could not be made ready for a full disk: {error}"));
        }
        Ok(done.config)
    }
}

/// Starts the risk journal of the config's mode and account, in its folder. One that is there is never replaced.
fn start_journal(home: &Home, config: &Config, rollback: &mut Rollback) -> Result<(), Refusal> {
    let dir = home.journal_dir(config.mode, config.account);
    let files = [dir.join("lock"), dir.join("risk.jsonl")];
    let new = [&dir].into_iter().chain(&files).filter(|path| fs::symlink_metadata(path).is_err()).cloned();
    rollback.made.extend(new.collect::<Vec<_>>());
    let witness = home.journal_witness(config.mode, config.account);
    match journal::create_risk(&dir, &first_record(config), Some(&witness)) {
        Ok(()) | Err(OpenError::Exists(_)) => Ok(()),
        Err(error) => Err(Refusal::Journal(error, config.mode)),
    }
}

/// The folder of the risk journal that the config's mode and account have already.
pub(super) fn risk_journal(home: &Home, config: &Config) -> Option<PathBuf> {
    let dir = home.journal_dir(config.mode, config.account);
    fs::symlink_metadata(dir.join("risk.jsonl")).is_ok().then_some(dir)
}

/// The record a risk journal starts with. It holds no equity: a set-up connects to no account, so the service takes the
/// day's start and the peak from its first read.
fn first_record(config: &Config) -> String {
    RiskRecord::Init(Init {
        at_ms: now_ms(),
        mode: config.mode.name().into(),
        account: config.account.to_string(),
        account_network: config.account_network.name().into(),
        note: "set up".to_owned(),
        ..Init::default()
    })
    .to_line()
}

/// Stores another API wallet's key, and then records it; where that is refused, all is as it was. Where it is now, and notes
/// for the person. The home is locked by the caller.
pub(super) fn replace_key(
    home: &Home,
    stored: &Stored,
    record: impl FnOnce() -> Result<(), Refusal>,
) -> Result<(PathBuf, Vec<String>), Refusal> {
    let _whole = SignalsBlocked::new();
    let mut rollback = Rollback::default();
    let notes = if stored.stands(home) { Vec::new() } else { store_key(home, stored, true, &mut rollback)? };
    record()?;
    rollback.keep();
    note_key_check(home);
    Ok((stored.path(home), notes))
}

fn unkept(path: &Path, error: io::Error) -> Refusal {
    if path.is_dir() {
        return Refusal::Given(folder_in_the_way(path));
    }
    Refusal::File(FileError { path: path.to_owned(), why: Why::Io("put aside", error) })
}

/// Records another API wallet's address, and stores no key of it. Another one's in the file, which a start would take for it, is
/// kept under another name; notes for the person about it. The home is locked by the caller.
pub(super) fn replace_by_none(
    home: &Home,
    wallet: Address,
    record: impl FnOnce() -> Result<(), Refusal>,
) -> Result<Vec<String>, Refusal> {
    let _whole = SignalsBlocked::new();
    let (mut rollback, mut notes) = (Rollback::default(), Vec::new());
    let earlier = home.key_file();
    // Also one that others can read, which no start would take.
    let is_its = read_key_file(&earlier, true).is_ok_and(|there| there.key.address() == wallet);
    if !is_its && fs::symlink_metadata(&earlier).is_ok() {
        notes.push(keep_aside(&earlier, |from, to| fs::rename(from, to), &mut rollback)?);
    }
    record()?;
    rollback.keep();
    note_key_check(home);
    Ok(notes)
}

/// Keeps an earlier key under another name, put there so; a note of it for the person.
fn keep_aside(
    earlier: &Path,
    put: fn(&Path, &Path) -> io::Result<()>,
    rollback: &mut Rollback,
) -> Result<String, Refusal> {
    let aside = free_name(earlier);
    put(earlier, &aside).map_err(|error| unkept(earlier, error))?;
    rollback.moved.push((aside.clone(), earlier.to_owned()));
    // Nobody looks whether others can read it there. What a link leads to is not the home's.
    if fs::symlink_metadata(&aside).is_ok_and(|there| there.is_file()) {
        fs::set_permissions(&aside, fs::Permissions::from_mode(KEPT_MODE)).map_err(|error| unkept(&aside, error))?;
    }
    Ok(format!("the earlier API wallet key is kept in {}", aside.display()))
}

/// The files of the API wallet's key that are there, in whichever form.
fn stored_keys(home: &Home) -> Vec<PathBuf> {
    let is_there = |path: &PathBuf| fs::symlink_metadata(path).is_ok();
    [home.key_file(), home.sealed_key_file()].into_iter().filter(is_there).collect()
}

/// Stores the API wallet's key; an earlier one, in whichever form, gives way only by `force`, and is kept under another
/// name. It stays in its place until the new one is there: a command that is cut off leaves one of the two.
fn store_key(home: &Home, stored: &Stored, force: bool, rollback: &mut Rollback) -> Result<Vec<String>, Refusal> {
    let mut notes = Vec::new();
    let path = stored.path(home);
    let earlier = stored_keys(home);
    if let Some(stands) = earlier.iter().find(|_| !force) {
        return Err(Refusal::KeyStands(stands.clone()));
    }
    let (same, other): (Vec<PathBuf>, Vec<PathBuf>) = earlier.into_iter().partition(|earlier| *earlier == path);
    for same in &same {
        notes.push(keep_aside(same, |from, to| fs::hard_link(from, to), rollback)?);
    }
    stored.write(&path, if same.is_empty() { Replace::No } else { Replace::Yes }).map_err(Refusal::File)?;
    for other in &other {
        notes.push(keep_aside(other, |from, to| fs::rename(from, to), rollback)?);
    }
    if same.is_empty() {
        rollback.made.push(path);
    }
    Ok(notes)
}

/// While this lives, the signals that would end the program wait, so that none leaves half of a set-up, or a client whose key
/// nobody saw.
pub(super) struct SignalsBlocked(Option<SigSet>);

impl SignalsBlocked {
    pub(super) fn new() -> Self {
        let mut held = SigSet::empty();
        [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP].into_iter().for_each(|signal| held.add(signal));
        Self(held.thread_swap_mask(SigmaskHow::SIG_BLOCK).ok())
    }
}

impl Drop for SignalsBlocked {
    fn drop(&mut self) {
        if let Some(before) = self.0.take() {
            _ = before.thread_set_mask();
        }
    }
}

/// Changes that are taken back when a set-up is refused half-way, unless it is kept.
#[derive(Default)]
struct Rollback {
    /// Files and folders made, in order.
    made: Vec<PathBuf>,
    /// Files moved: where they are, where they were.
    moved: Vec<(PathBuf, PathBuf)>,
    /// The home and its permissions, when it was there before.
    home: Option<(PathBuf, fs::Permissions)>,
}

impl Rollback {
    fn keep(&mut self) {
        self.made.clear();
        self.moved.clear();
        self.home = None;
    }
}

impl Drop for Rollback {
    fn drop(&mut self) {
        // Best effort on the way out of a refusal: a folder that holds something else stays.
        for path in self.made.iter().rev() {
            _ = fs::remove_file(path).or_else(|_| fs::remove_dir(path));
        }
        for (from, to) in self.moved.iter().rev() {
            // Of two names of one file a rename removes none.
            _ = fs::rename(from, to).and_then(|()| fs::remove_file(from));
        }
        if let Some((home, permissions)) = self.home.take() {
            _ = fs::set_permissions(home, permissions);
        }
    }
}
