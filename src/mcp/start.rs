//! The start of the server: takes the client key in and refuses a guard that is another than asked for.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::context::{Context, GuardRequirements};
use super::guard_client::{GuardCallError, GuardClient, GuardUrl};
use super::log::log;
use super::owner_rules::ReadRules;
use super::run_error::RunError;
use super::sanitize;
use super::server::serve;
use super::status::Status;
use crate::base::address::Address;
use crate::base::key::SecretKey;
use crate::base::kill_file::KillFile;
use crate::base::mode::Mode;

/// Longest line that can hold a key.
const MAX_KEY_LINE: usize = 200;

/// The settings of a server.
#[derive(Debug)]
pub struct Options {
    /// The guard's base URL.
    pub guard: GuardUrl,
    /// The client key; with none the server only reads.
    pub key: Key,
    /// The mode that the guard must run in.
    pub network: Option<Mode>,
    /// The account that the guard must guard.
    pub account: Option<Address>,
    /// Those whose keys are no client's: the account and its API wallet, as far as they are known before the guard is asked.
    pub own: Vec<Address>,
    /// The kill file to write where the guard does not take a kill.
    pub kill_file: Option<KillFile>,
    /// Whether a guard looks for it, as far as can be seen there.
    pub is_kill_file_sure: bool,
    /// The guard's home, as far as it is known before the guard is asked: a command for a person names it.
    pub home: Option<PathBuf>,
    /// Reads the code of the owner's rules that the guard's status has.
    pub read_rules: ReadRules,
}

/// The source of the client key.
#[derive(Debug)]
pub enum Key {
    /// There is none: nothing that writes is served.
    None,
    /// Read already.
    Given(SecretKey),
    /// The first line of standard input.
    FirstLine,
}

/// Serves until standard input ends.
///
/// # Errors
/// The [`RunError`], before anything is served but for one of standard input.
pub fn run(options: Options) -> Result<(), RunError> {
    // A descriptor of our own, unbuffered: a key must not stay behind in a buffer that is shared.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned().map_err(RunError::Input)?);
    let key = match options.key {
        Key::None => None,
        Key::Given(key) => Some(key),
        Key::FirstLine => Some(first_line(&mut input)?),
    };
    let guard = GuardClient::new(&options.guard).map_err(RunError::Url)?;
    let signer = key.as_ref().map(SecretKey::address);
    if let Some(own) = signer.filter(|signer| options.own.contains(signer)) {
        return Err(RunError::NoClientKey(own));
    }
    let requirements = GuardRequirements { network: options.network, account: options.account, signer };
    let kill_file = options.kill_file.map(|file| (file, options.is_kill_file_sure));
    let context = Context::new(guard, key, requirements, kill_file, options.home, options.read_rules);
    check_guard(&context)?;
    serve(BufReader::new(input), context)
}

/// Refuses a guard that is another than asked for. One that does not answer may come later, and is checked then.
fn check_guard(context: &Context) -> Result<(), RunError> {
    let other = |why: String| Err(RunError::OtherGuard(why));
    let found = match context.guard.probe() {
        Ok(found) => found,
        Err(GuardCallError::Refused(status @ 400..=499, ..)) => {
            return other(format!("what answers at the guard's address is no guard: its answer is HTTP {status}"));
        }
        Err(error) => {
            log(&format!("{error}; serving all the same, each call asks it again"));
            return Ok(());
        }
    };
    let Some(status) = Status::read(found) else {
        return other("what answers at the guard's address is no guard of this version".to_owned());
    };
    context.requirements.check(&status).or_else(other)?;
    context.remember(&status);
    let clients = &status.known().clients;
    if let Some(signer) = context.requirements.signer.filter(|signer| !clients.is_empty() && !clients.contains(signer))
    {
        log(&format!(
            "warning: the key is that of {signer}, which is none of this guard's clients: it refuses what is signed with it. A \
             client that was added since its start is taken after a restart"
        ));
    }
    if let (Some((named, _)), Some(own)) = (&context.kill_file, status.kill_file())
        && named.path() != Path::new(own)
    {
        let (named, own) = (named.path().display(), sanitize::text(own));
        log(&format!("warning: --kill-file is {named}, and the guard watches {own}"));
    }
    Ok(())
}

/// The key in the first line, read byte by byte so that nothing behind it is taken.
fn first_line(input: &mut impl Read) -> Result<SecretKey, RunError> {
    let mut line = Zeroizing::new(Vec::with_capacity(MAX_KEY_LINE));
    let mut byte = Zeroizing::new([0_u8; 1]);
    loop {
        match input.read(byte.as_mut_slice()) {
            Ok(0) => break,
            Ok(_) if byte.first() == Some(&b'\n') => break,
            Ok(_) if line.len() >= MAX_KEY_LINE => return Err(RunError::NotAKey),
            Ok(_) => line.extend_from_slice(byte.as_slice()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(RunError::Input(error)),
        }
    }
    let text = std::str::from_utf8(&line).map_err(|_| RunError::NotAKey)?;
    SecretKey::parse(text).map_err(|_| RunError::NotAKey)
}
