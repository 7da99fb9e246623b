//! URLs, tokens and passwords, read from where the config says: files that only their owner can read, or credentials of the
//! service manager. All that is read is remembered, so that no text shows it.

use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use nix::unistd::Uid;

use super::config::Place;
use super::url::private_url;
use super::words::LEAST_SECRET;
use crate::base::files::{FileError, Why, open_regular};
use crate::base::shell::word;

/// Longest secret.
const MAX_SECRET: u64 = 4096;

/// Shortest secret that nobody is warned of.
const SHORT_SECRET: usize = 8;
/// Shortest part of a secret that is one by itself: shorter ones are words.
const LEAST_PART: usize = 16;
/// Shortest value in a URL's query that is taken for a secret.
const LEAST_VALUE: usize = 8;

/// Why a secret cannot be had. No part of it is repeated.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// Its file is not there.
    #[error("{0} does not exist, where a token, password or URL is to stand alone; `install -m 600 /dev/stdin {word}` makes it of what is \
             typed", word = word(.0))]
    Missing(PathBuf),
    /// Its file is refused.
    #[error("{0}")]
    File(FileError),
    /// Others can read its file (which, its mode).
    #[error("{0} has mode {1:04o}, so others can read the secret in it; run `chmod 600 {word}`", word = word(.0))]
    Readable(PathBuf, u32),
    /// There are no credentials (the one that is wanted).
    #[error(
        "there is no credential {0:?}: the unit names it with LoadCredential= or LoadCredentialEncrypted=, and only that unit has it; \
         where no unit starts it, {{ file = \"/whole/path\" }} stands in the place of {{ credential = {0:?} }}"
    )]
    NoCredential(String),
    /// It is not one line of letters that a request can hold (where it stands).
    #[error("{0} must hold one line, without spaces")]
    NotALine(String),
    /// A URL is refused (where it stands, why).
    #[error("the URL in {0} {1}")]
    Url(String, String),
    /// A target cannot be reached so (its name, why).
    #[error("target {0:?}: {1}")]
    Target(String, String),
    /// A target's secret cannot be had (its name, why).
    #[error("target {0:?}: {1}")]
    Of(String, Box<SecretError>),
}

impl SecretError {
    /// The same of a target of this name.
    pub(super) fn of(self, target: &str) -> Self {
        match self {
            Self::Target(..) | Self::Of(..) => self,
            error => Self::Of(target.to_owned(), Box::new(error)),
        }
    }

    /// The credential that there is not.
    #[must_use]
    pub fn credential(&self) -> Option<&str> {
        match self {
            Self::NoCredential(name) => Some(name),
            Self::Of(_, error) => error.credential(),
            _ => None,
        }
    }
}

/// Reads secrets, and remembers them.
#[derive(Debug)]
pub(super) struct Secrets {
    credentials: Option<PathBuf>,
    in_container: bool,
    read: Vec<String>,
    /// What may be a secret and may be a word: a place of a service's, a name in a query.
    words: Vec<String>,
    warnings: Vec<String>,
}

impl Secrets {
    pub(super) fn new(credentials: Option<PathBuf>, in_container: bool) -> Self {
        Self { credentials, in_container, read: Vec::new(), words: Vec::new(), warnings: Vec::new() }
    }

    /// All that was read, and the parts of it that could be shown by themselves: what no text from outside shows.
    pub(super) fn texts(&self) -> Vec<String> {
        self.read.iter().chain(&self.words).cloned().collect()
    }

    /// The same without what may be a word: what no text of the program's own shows, whose commands stay whole.
    pub(super) fn keys(&self) -> Vec<String> {
        self.read.clone()
    }

    /// Remembers a part of a URL. One of small letters alone is a word, unless it is long enough to be none.
    fn remember_part(&mut self, part: &str) {
        let is_telling = part.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if is_telling || part.len() >= LEAST_PART { &mut self.read } else { &mut self.words }.push(part.to_owned());
    }

    /// What was taken that only a container makes good, and what is no good secret.
    pub(super) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A secret, where one is named.
    pub(super) fn optional(&mut self, place: Option<&Place>) -> Result<Option<String>, SecretError> {
        place.map(|place| self.text(place)).transpose()
    }

    /// A URL that may be called; empty where none is named.
    pub(super) fn url(&mut self, place: Option<&Place>) -> Result<String, SecretError> {
        let Some(place) = place else { return Ok(String::new()) };
        let url = self.text(place)?;
        private_url(&url).map_err(|why| SecretError::Url(shown(place), why))?;
        if !matches!(place, Place::Here(_)) {
            // A library's message may hold its path alone, and a server's what it did not know of it.
            let path = url.splitn(4, '/').nth(3).unwrap_or_default();
            self.remember_part(path);
            self.read.extend(parts(path));
            let values = path.split_once('?').map(|(_, query)| query.split(['&', ';'])).into_iter().flatten();
            let values = values.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
            values.filter(|value| value.len() >= LEAST_VALUE).for_each(|value| self.remember_part(value));
        }
        Ok(url)
    }

    fn text(&mut self, place: &Place) -> Result<String, SecretError> {
        let text = match place {
            Place::Here(text) => return Ok(text.clone()),
            Place::File { file } => match (read(file, true), self.in_container) {
                (Err(error @ SecretError::Readable(..)), true) => {
                    let text = read(file, false)?;
                    self.warnings.push(error.to_string());
                    text
                }
                (read, _) => read?,
            },
            Place::Credential { credential } => {
                let folder = self.credentials.as_ref().ok_or_else(|| SecretError::NoCredential(credential.clone()))?;
                // The service manager gives them to this unit alone; their mode is its own affair.
                read(&folder.join(credential), false).map_err(|error| match error {
                    SecretError::Missing(_) => SecretError::NoCredential(credential.clone()),
                    error => error,
                })?
            }
        };
        let text = text.trim().to_owned();
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(SecretError::NotALine(shown(place)));
        }
        if text.len() < SHORT_SECRET {
            self.warnings.push(format!(
                "the secret in {} has fewer than {SHORT_SECRET} letters, so it is soon guessed, and one of fewer than {LEAST_SECRET} is \
                 left out of no message and no log that holds it, for it may be a word: take a longer one",
                shown(place)
            ));
        }
        self.read.push(text.clone());
        if !text.contains("://") {
            self.read.extend(parts(&text));
        }
        Ok(text)
    }
}

/// The parts of a secret that may be shown by themselves, where each is long enough to be one.
fn parts(text: &str) -> impl Iterator<Item = String> {
    let parts = text.split(['/', '?', '&', ';', '=', '#', ':', '@', ',']).filter(|part| part.len() >= LEAST_PART);
    parts.map(str::to_owned)
}

/// Where something stands, without what it is.
fn shown(place: &Place) -> String {
    match place {
        Place::Here(_) => "notify.toml".to_owned(),
        Place::File { file } => file.display().to_string(),
        Place::Credential { credential } => format!("the credential {credential:?}"),
    }
}

/// A small file of this user's or root's that nobody else can write, and in the strict case nobody else can read.
fn read(path: &Path, strict: bool) -> Result<String, SecretError> {
    let refused = |why| SecretError::File(FileError { path: path.to_owned(), why });
    let (file, metadata) = open_regular(path).map_err(|error| match error {
        FileError { why: Why::Missing, path } => SecretError::Missing(path),
        error => SecretError::File(error),
    })?;
    let mode = metadata.permissions().mode() & 0o7777;
    if ![Uid::effective().as_raw(), 0].contains(&metadata.uid()) {
        return Err(refused(Why::Owner(metadata.uid())));
    }
    if mode & 0o022 != 0 {
        return Err(refused(Why::Writable(mode)));
    }
    if strict && mode & 0o077 != 0 {
        return Err(SecretError::Readable(path.to_owned(), mode));
    }
    let mut text = Vec::new();
    file.take(MAX_SECRET + 1).read_to_end(&mut text).map_err(|error| refused(Why::Io("read", error)))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > MAX_SECRET {
        return Err(refused(Why::TooLarge(MAX_SECRET)));
    }
    String::from_utf8(text).map_err(|error| refused(Why::not_text(&error)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_secret_is_read_only_where_nobody_else_can() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "hunter22\n").unwrap();
        let place = Place::File { file: file.clone() };
        let mode = |mode| fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let mut strict = Secrets::new(None, false);
        for bad in [0o644, 0o640, 0o620, 0o602] {
            mode(bad);
            let said = strict.optional(Some(&place)).unwrap_err().to_string();
            assert!(said.contains("others can") && !said.contains("hunter22"), "{bad:o}: {said}");
        }
        mode(0o644);
        let said = strict.optional(Some(&place)).unwrap_err().to_string();
        assert_eq!(
            said,
            format!("{0} has mode 0644, so others can read the secret in it; run `chmod 600 {0}`", file.display())
        );
        let mut lax = Secrets::new(None, true);
        assert_eq!(lax.optional(Some(&place)).unwrap().as_deref(), Some("hunter22"));
        assert_eq!(lax.warnings(), [said], "a container takes it, and says so");
        mode(0o600);
        assert_eq!(strict.optional(Some(&place)).unwrap().as_deref(), Some("hunter22"));
        assert_eq!((strict.texts(), strict.warnings().len()), (vec!["hunter22".to_owned()], 0));
        assert_eq!(lax.warnings().len(), 1);
        for (short, is_warned_of) in [("hunter2", true), ("a", true), ("hunter22", false)] {
            fs::write(&file, short).unwrap();
            let mut strict = Secrets::new(None, false);
            strict.optional(Some(&place)).unwrap();
            assert_eq!(strict.warnings().len(), usize::from(is_warned_of), "{short}");
            assert!(
                strict.warnings().iter().all(|said| said.contains("take a longer one") && !said.contains("hunter"))
            );
        }
        fs::write(&file, "two words").unwrap();
        assert!(matches!(strict.optional(Some(&place)), Err(SecretError::NotALine(_))));
        fs::write(&file, "http://x.example/hunter22").unwrap();
        let said = strict.url(Some(&place)).unwrap_err().to_string();
        assert!(said.contains("https") && !said.contains("hunter22"), "{said}");
    }

    #[test]
    fn the_last_part_of_a_hooks_url_is_a_secret_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let place = |name: &str, url: &str| {
            let file = folder.path().join(name);
            fs::write(&file, url).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
            Place::File { file }
        };
        let mut secrets = Secrets::new(None, false);
        secrets
            .url(Some(&place("hook", "https://hooks.example/services/T000/B000/abcdefghijklmnopqrstuvwx?y=1")))
            .unwrap();
        secrets.url(Some(&place("plain", "https://x.example/notify"))).unwrap();
        let (middle, query) =
            ("https://x.example/hooks/HookMiddle_3456789/run/", "https://x.example/h?user=bob&key=qk9XwVuT");
        secrets.url(Some(&place("middle", middle))).unwrap();
        secrets.url(Some(&place("query", query))).unwrap();
        secrets.optional(Some(&place("bot", "123456789:AAHsecretHalfOfTheToken"))).unwrap();
        for said in ["abcdefghijklmnopqrstuvwx", "HookMiddle_3456789", "qk9XwVuT", "AAHsecretHalfOfTheToken"] {
            let told = crate::notify::words::redacted(&format!("no such: {said}, bob"), &secrets.texts());
            assert_eq!(told, "no such: [left out], bob");
        }
        let said = crate::notify::words::redacted("svc-guard notify", &secrets.texts());
        assert_eq!(said, "svc-guard [left out]", "its path as a whole is left out as before");
    }

    /// A name in a URL's query must not take the program's own commands apart; a token there is left out of every text.
    #[test]
    fn a_word_in_a_url_leaves_the_programs_own_words_whole() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("hook");
        let url = "https://x.example/message?token=AbCdEf123456&title=svc-guard&channel=testnet-bot";
        fs::write(&file, url).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let mut secrets = Secrets::new(None, false);
        secrets.url(Some(&Place::File { file })).unwrap();
        let told = |text: &str| crate::notify::words::redacted(text, &secrets.keys());
        let command = "svc-guard --home /home/me/testnet-bot run --network testnet";
        assert_eq!(told(command), command);
        assert_eq!(told(&format!("{command} AbCdEf123456")), format!("{command} [left out]"));
        assert!(!told(&format!("see {url}")).contains("AbCdEf"));
        let said = crate::notify::words::redacted("no testnet-bot for AbCdEf123456", &secrets.texts());
        assert_eq!(said, "no [left out] for [left out]", "what came from outside as before");
    }

    #[test]
    fn a_credential_is_the_service_managers() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("bot"), "12:hunter22").unwrap();
        let place = |name: &str| Place::Credential { credential: name.to_owned() };
        let mut secrets = Secrets::new(Some(folder.path().to_owned()), false);
        assert_eq!(secrets.optional(Some(&place("bot"))).unwrap().as_deref(), Some("12:hunter22"));
        assert!(matches!(secrets.optional(Some(&place("other"))), Err(SecretError::NoCredential(_))));
        assert!(matches!(Secrets::new(None, false).optional(Some(&place("bot"))), Err(SecretError::NoCredential(_))));
    }
}
