//! `init`: sets a home up, by questions on a terminal or from its flags, and says what to do next.

mod answers;
mod ask;
mod flags;
mod new_file;
mod report;
mod rules;
mod summary;

pub(super) use answers::Args;

use answers::{Answers, KeyStoreChoice};
pub(super) use new_file::expanded;

use super::configured::loaded;
use super::output::is_seen;
use super::refusal::Refusal;
use super::running_here;
use super::set_up::{SetUp, Stored};
use super::terminal::Terminal;
use super::usage::check_new_key_file;
use crate::base::files::in_own_folder;
use crate::base::key::SecretKey;
use crate::home::{Home, LoadedConfig, seal_for_host};

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    let terminal = if args.non_interactive { None } else { Some(terminal(&args)?) };
    let (force, key_store) = (args.force, args.key_store);
    let found = loaded(home)?;
    if let (LoadedConfig::SetUp(config), false) = (&found, force) {
        home.check_config_place().map_err(Refusal::Home)?;
        return Err(Refusal::SetUpAlready(home.config_file(), config.mode));
    }
    if matches!(found, LoadedConfig::NotSetUp(_)) {
        running_here::refuse_beside(home)?;
    }
    let mut given = args.completed()?;
    given.client_key_out = given.client_key_out.map(|file| new_file::whole(in_own_folder(file, std::env::home_dir)));
    given.client_key_out.as_deref().map_or(Ok(()), |file| home.check_new_file(file)).map_err(Refusal::Home)?;
    given.refuse_mainnet = given.refuse_mainnet.or_else(|| earlier_refusal(&found));
    let answers = match &terminal {
        Some(terminal) => ask::answers(terminal, given, home, &found)?,
        None => flags::answers(given, &found, home)?,
    };
    let Answers { mut config, api_wallet, client_key_out } = answers;
    client_key_out.as_deref().map_or(Ok(()), |file| check_new_key_file(file, "--client-key-out FILE"))?;
    if client_key_out.is_none() && !is_seen() {
        return Err(Refusal::Unseen("the client key", "init --client-key-out FILE"));
    }
    config.api_wallet = api_wallet.as_ref().map(SecretKey::address);
    let (stored, note) = api_wallet.map(|key| keep(key, key_store)).transpose()?.unzip();
    if let Some(stored) = &stored {
        config.key_store = stored.key_store();
    }
    let (note, out) = (note.flatten(), client_key_out.clone());
    let set_up = SetUp { home, config, found, stored, client_key_out, force };
    set_up.run(|done| report::report(home, done, note.as_ref(), out.as_deref())).map(drop)
}

/// The person to ask.
fn terminal(args: &Args) -> Result<Terminal, Refusal> {
    if args.key_stdin {
        return Err(Refusal::Flags(
            "--key-stdin goes with --non-interactive; on a terminal the key is asked for and not shown",
        ));
    }
    Terminal::open()?.ok_or(Refusal::Flags(
        "init asks on a terminal, and standard input or standard error is none; give the answers as flags with \
         --non-interactive",
    ))
}

/// Why an earlier set-up refused mainnet: setting up anew is no way around that.
fn earlier_refusal(found: &LoadedConfig) -> Option<String> {
    match found {
        LoadedConfig::SetUp(config) => config.refuse_mainnet.clone(),
        LoadedConfig::NotSetUp(_) => None,
    }
}

/// The form in which the key is kept, and a note where it is not the best one.
fn keep(key: SecretKey, choice: KeyStoreChoice) -> Result<(Stored, Option<String>), Refusal> {
    if choice == KeyStoreChoice::File {
        return Ok((Stored::File(key), None));
    }
    match seal_for_host(&key) {
        Ok(sealed) => Ok((Stored::HostCreds(sealed), None)),
        Err(why) if choice == KeyStoreChoice::HostCreds => Err(Refusal::NotSealed(why)),
        Err(why) => Ok((
            Stored::File(key),
            Some(format!("the API wallet's key is kept in a file, not sealed for this host: {why}")),
        )),
    }
}
