//! `notify.toml`: whom to tell, how, and what each wants to hear. `check` reads it.
//!
//! No token stands in this file: it names the file or the service manager's credential that holds one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;

use super::hours::{Clock, minute, parse_offset, span_ms};
use super::notice::Severity;

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
    pub encryption: Option<Encryption>,
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
}
