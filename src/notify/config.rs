//! `notify.toml`: whom to tell, how, and what each wants to hear. Read here, and checked whole before anything starts.
//!
//! No token stands in this file: it names the file or the service manager's credential that holds one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::hours::{Clock, Hours, minute, parse_offset, span_ms};
use super::notice::Severity;
use crate::base::origin::Origin;

/// Targets at most: each has a thread of its own.
const MAX_TARGETS: usize = 16;
/// Longest name of a target: it stands in file and log.
const MAX_NAME: usize = 40;

/// The whole of `notify.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The guard's base URL, where it is not that of the home's config.
    pub guard: Option<String>,
    /// How far local time is ahead of UTC, such as `+02:00`; quiet hours and the summary go by it.
    pub utc_offset: Option<String>,
    /// When the daily summary is due, local time, such as `07:00`.
    pub summary: Option<String>,
    /// The URL called every minute while guard and notifier are well.
    pub heartbeat: Option<Place>,
    /// How often: `1m` by itself.
    pub heartbeat_every: Option<String>,
    /// Whom to tell.
    pub target: Vec<Target>,
}

/// Where a URL, a token or a password stands.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// Here, in the open.
    Here(String),
    /// In a file that only its owner can read.
    File {
        /// The file.
        file: PathBuf,
    },
    /// In a credential that the service manager passes on.
    Credential {
        /// Its name.
        credential: String,
    },
}

/// How a target is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A POST of JSON.
    Json,
    /// An ntfy server's topic.
    Ntfy,
    /// A Telegram bot.
    Telegram,
    /// A Slack incoming webhook.
    Slack,
    /// A Discord webhook.
    Discord,
    /// Mail.
    Smtp,
    /// A program of this machine.
    Command,
}

impl Form {
    /// The name, as in the config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Ntfy => "ntfy",
            Self::Telegram => "telegram",
            Self::Slack => "slack",
            Self::Discord => "discord",
            Self::Smtp => "smtp",
            Self::Command => "command",
        }
    }
}

/// How a mail server is spoken to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encryption {
    /// TLS from the first byte.
    #[default]
    Tls,
    /// TLS after the greeting, or no mail.
    Starttls,
    /// None: on loopback only.
    None,
}

/// One whom to tell.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// Its name, under which its place is kept.
    pub name: String,
    /// How it is told.
    pub form: Form,
    /// Where: for `json`, `ntfy`, `slack`, `discord`; a Telegram server of one's own.
    pub url: Option<Place>,
    /// A token: the bot's for `telegram`, a bearer's for `json` and `ntfy`.
    pub token: Option<Place>,
    /// The topic, for `ntfy`.
    pub topic: Option<String>,
    /// The chat, for `telegram`.
    pub chat: Option<String>,
    /// The mail server, `HOST` or `HOST:PORT`.
    pub server: Option<String>,
    /// How it is spoken to.
    #[serde(default)]
    pub encryption: Encryption,
    /// Who mails.
    pub from: Option<String>,
    /// Who is mailed.
    #[serde(default)]
    pub to: Vec<String>,
    /// The mail account.
    pub user: Option<String>,
    /// Its password.
    pub password: Option<Place>,
    /// The program and its arguments, for `command`.
    #[serde(default)]
    pub run: Vec<String>,
    /// The least that it wants to hear of.
    #[serde(default = "info")]
    pub least: Severity,
    /// The kinds that it wants; empty for all but decisions.
    #[serde(default)]
    pub kinds: Vec<String>,
    /// The codes that it wants; empty for all.
    #[serde(default)]
    pub codes: Vec<String>,
    /// The codes that it does not want.
    #[serde(default)]
    pub without: Vec<String>,
    /// Hours, `22:00-07:00`, in which what is not critical waits.
    pub quiet: Option<String>,
    /// How long one thing is not told again, by its code or `default`: `10m`.
    #[serde(default)]
    pub cooldown: BTreeMap<String, String>,
    /// How often what lasts is told again, by its code: `1h`; `0s` for never.
    #[serde(default)]
    pub repeat: BTreeMap<String, String>,
}

fn info() -> Severity {
    Severity::Info
}

impl Config {
    /// Reads and checks a `notify.toml`.
    ///
    /// # Errors
    /// All that is wrong with it, a line each.
    pub fn parse(text: &str) -> Result<Self, Vec<String>> {
        let config: Self = toml::from_str(text).map_err(|error| {
            // The message may repeat a line of the file, and somebody may have put a token there.
            vec![error.message().to_owned() + &line_of(text, error.span().map(|span| span.start))]
        })?;
        let mut problems = Vec::new();
        config.check(&mut problems);
        if problems.is_empty() { Ok(config) } else { Err(problems) }
    }

    /// The hours of the whole notifier.
    #[must_use]
    pub fn clock(&self) -> Clock {
        let offset = self.utc_offset.as_deref().and_then(parse_offset).unwrap_or(0);
        Clock { offset_minutes: offset }
    }

    /// How often the heartbeat's URL is called; 0 for what is no span.
    #[must_use]
    pub fn beat_ms(&self) -> u64 {
        self.heartbeat_every.as_deref().map_or(60_000, |text| span_ms(text).unwrap_or(0))
    }

    /// The minute of the day of the summary.
    pub(super) fn summary_minute(&self) -> Option<u64> {
        minute(self.summary.as_deref()?)
    }

    fn check(&self, problems: &mut Vec<String>) {
        let mut not = |wrong: bool, what: &str| {
            if wrong {
                problems.push(what.to_owned());
            }
        };
        not(
            self.utc_offset.as_deref().is_some_and(|text| parse_offset(text).is_none()),
            "utc_offset must be such as \"+02:00\"",
        );
        not(self.summary.is_some() && self.summary_minute().is_none(), "summary must be a time such as \"07:00\"");
        not(self.beat_ms() < 1_000, "heartbeat_every must be such as \"1m\", a second at least");
        not(self.target.is_empty(), "there is no [[target]], so nobody would be told");
        not(self.target.len() > MAX_TARGETS, "there are more than 16 targets");
        if let Some(Err(why)) = self.heartbeat.as_ref().map(check_url) {
            problems.push(format!("heartbeat {why}"));
        }
        let mut names: Vec<&str> = self.target.iter().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        if names.windows(2).any(|pair| pair.first() == pair.last()) {
            problems.push("two targets have one name".to_owned());
        }
        for target in &self.target {
            problems.extend(target.problems().into_iter().map(|why| format!("target {:?}: {why}", target.name)));
        }
    }
}

/// Where in the file a fault is.
fn line_of(text: &str, at: Option<usize>) -> String {
    let line = at.and_then(|at| text.get(..at)).map(|before| before.matches('\n').count() + 1);
    line.map_or_else(String::new, |line| format!(" (line {line})"))
}

/// Whether a URL that stands in the open may be called; one that stands elsewhere is checked when it is read.
fn check_url(place: &Place) -> Result<(), String> {
    match place {
        Place::Here(url) => private_url(url).map(|_| ()),
        Place::File { file } if !file.is_absolute() => Err("needs the whole path of its file".to_owned()),
        Place::Credential { credential } if credential.is_empty() || credential.contains('/') => {
            Err("needs the name of a credential, which is no path".to_owned())
        }
        _ => Ok(()),
    }
}

/// A URL that nobody on the way can read: https, or this machine. Gives its origin, which may be shown.
pub(super) fn private_url(url: &str) -> Result<Origin, String> {
    let wrong = || "must be an https:// URL, or an http:// one on loopback".to_owned();
    let rest = url.split_once("://").map(|(_, rest)| rest).ok_or_else(wrong)?;
    let end = url.len() - rest.len() + rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let origin = Origin::parse(url.get(..end).unwrap_or_default()).map_err(|_| wrong())?;
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    if origin.is_private() && is_plain { Ok(origin) } else { Err(wrong()) }
}

impl Target {
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.name.is_empty() || self.name.len() > MAX_NAME || !self.name.chars().all(fits) {
            problems.push("its name must be 1 to 40 letters, digits, -, _ or .".to_owned());
        }
        problems.extend(self.keys());
        for (what, place) in [("url", &self.url), ("token", &self.token), ("password", &self.password)] {
            problems.extend(self.place(what, place.as_ref()).map(|why| format!("{what} {why}")));
        }
        if self.quiet.as_deref().is_some_and(|text| Hours::parse(text).is_none()) {
            problems.push("quiet must be such as \"22:00-07:00\"".to_owned());
        }
        for (what, table) in [("cooldown", &self.cooldown), ("repeat", &self.repeat)] {
            let wrong = table.iter().filter(|(_, text)| span_ms(text).is_none());
            problems.extend(wrong.map(|(code, _)| format!("{what}.{code} must be such as \"90s\", \"10m\" or \"1h\"")));
        }
        if self.form == Form::Smtp {
            problems.extend(super::forms::smtp::check(self));
        }
        problems
    }

    /// What is wrong with the place of a URL or a secret.
    fn place(&self, what: &str, place: Option<&Place>) -> Option<String> {
        // These services' URLs are all that it takes to post there.
        let is_secret = what != "url" || matches!(self.form, Form::Slack | Form::Discord);
        match place? {
            Place::Here(_) if is_secret => {
                Some("is a secret: name { file = \"...\" } of mode 0600 or { credential = \"...\" }".to_owned())
            }
            place => check_url(place).err(),
        }
    }

    /// Keys that are missing, and keys that belong to another form.
    fn keys(&self) -> Vec<String> {
        let given = [
            ("url", self.url.is_some()),
            ("token", self.token.is_some()),
            ("topic", self.topic.is_some()),
            ("chat", self.chat.is_some()),
            ("server", self.server.is_some()),
            ("from", self.from.is_some()),
            ("to", !self.to.is_empty()),
            ("user", self.user.is_some()),
            ("password", self.password.is_some()),
            ("run", !self.run.is_empty()),
        ];
        let (needed, allowed): (&[&str], &[&str]) = match self.form {
            Form::Json => (&["url"], &["token"]),
            Form::Ntfy => (&["url", "topic"], &["token"]),
            Form::Telegram => (&["token", "chat"], &["url"]),
            Form::Slack | Form::Discord => (&["url"], &[]),
            Form::Smtp => (&["server", "from", "to"], &["user", "password"]),
            Form::Command => (&["run"], &[]),
        };
        let form = self.form.name();
        let mut problems = Vec::new();
        for (key, is_given) in given {
            if !is_given && needed.contains(&key) {
                problems.push(format!("{form} needs {key}"));
            } else if is_given && !needed.contains(&key) && !allowed.contains(&key) {
                problems.push(format!("{key} is no key of {form}"));
            }
        }
        problems
    }
}

#[cfg(test)]
mod tests;
