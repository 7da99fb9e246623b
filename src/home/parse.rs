//! Reading `guard.toml`: every key by name, every problem at once.

use std::path::{Path, PathBuf};

use rust_decimal::Decimal;
use toml::{Table, Value};

use super::address::parse_address;
use super::config::{Auth, Config, ConfigError, Deployment, KeyStore, LoadedConfig, Watch};
use super::known_keys::{KEYS, NO_KEY, unknown};
use super::listen::parse_listen;
use crate::base::amount::parse_setting;
use crate::base::ip_share::IpShare;
use crate::base::mode::{Mode, Network};
use crate::base::origin::{Origin, OriginError};
use crate::base::plain_number::{self, Plain};
use crate::base::text::{holds_key, start};
use crate::rules::{CODE_PREFIX, Problem, Problems, Rules, toml_fault};

/// Most entries of a list.
const MAX_LIST: usize = 256;
/// Longest host name (the domain name system's own limit).
const MAX_HOST_LEN: usize = 253;
/// Longest reason for refusing mainnet, in characters.
const MAX_REASON_LEN: usize = 200;
/// Longest value repeated in an error.
const MAX_SHOWN: usize = 60;

/// The way out of a config that lacks a key: commands that would write it read it first.
const MISSING: &str = "is missing; add it by hand, as guard.toml(5) lists it. Or move the file away, and `svc-guard init` writes a whole one: \
                       of this one's rules, clients and listen address it takes none over";

/// Why a config's text is refused, before its path is known.
#[derive(Debug)]
pub(super) enum ParseError {
    Toml(String),
    Problems(Problems),
}

impl ParseError {
    pub(super) fn at(self, path: &Path) -> ConfigError {
        match self {
            Self::Toml(message) => ConfigError::Toml(path.to_owned(), message),
            Self::Problems(problems) => ConfigError::Problems(path.to_owned(), problems),
        }
    }
}

/// Reads an equity cap: USDC above 0 with at most 6 decimal places.
///
/// # Errors
/// What is expected there.
pub fn parse_usdc(text: &str) -> Result<Decimal, String> {
    usdc(text).ok_or_else(|| {
        let way = match likely_usdc(text) {
            Some(plain) => format!("; {plain}"),
            // Beside a number an example would pass for the one that was meant.
            None if text.contains(char::is_numeric) => ", at most six of them behind a point".to_owned(),
            None => ", such as 10000".to_owned(),
        };
        format!("must be USDC above 0 in plain digits{way}")
    })
}

fn usdc(text: &str) -> Option<Decimal> {
    let value = parse_setting(text)?.normalize();
    (value > Decimal::ZERO && value.scale() <= 6).then_some(value)
}

/// The equity cap that was meant by a text that is none, where that is certain.
#[must_use]
pub fn likely_usdc(text: &str) -> Option<Plain> {
    plain_number::meant(text).filter(|plain| usdc(&plain.digits).is_some())
}

/// Reads a config's text.
pub(super) fn parse(text: &str) -> Result<LoadedConfig, ParseError> {
    let table: Table = toml::from_str(text).map_err(|error| ParseError::Toml(toml_fault(&error, text)))?;
    let empty = table.keys().all(|key| ["venue", "watch", "allowed_hosts"].contains(&key.as_str()));
    let mut problems = Vec::new();
    let mut top = Section { name: "", table, problems: &mut problems };
    let deployment = deployment(&mut top);
    let config = if empty { None } else { set_up(&mut top, deployment.clone()) };
    top.finish();
    match config {
        _ if !problems.is_empty() => Err(ParseError::Problems(Problems(problems))),
        Some(config) => Ok(LoadedConfig::SetUp(Box::new(config))),
        None => Ok(LoadedConfig::NotSetUp(deployment)),
    }
}

/// The deployment's keys.
fn deployment(top: &mut Section) -> Deployment {
    let mut venue = top.section("venue");
    let venue_url = venue.text("url", |text| Origin::parse(text).map_err(|error| error.to_string()));
    venue.finish();
    let mut watch = top.section("watch");
    let intervals = Watch {
        prices_ms: watch.whole("prices_ms", 50, 10_000),
        account_ms: watch.whole("account_ms", 50, 10_000),
        open_orders_ms: watch.whole("open_orders_ms", 50, 30_000),
    };
    watch.finish();
    let allowed_hosts = top.list("allowed_hosts", host);
    Deployment { venue_url, watch: intervals, allowed_hosts }
}

/// The keys of a set-up. `None` when a required one is missing, with its problem reported.
fn set_up(top: &mut Section, deployment: Deployment) -> Option<Config> {
    let mode = top.required("mode", str::parse::<Mode>);
    let account = top.required("account", parse_address);
    let rules = top.required("rules", |code| match Rules::from_code(code) {
        Err(_) if !code.starts_with(CODE_PREFIX) => Err(no_code()),
        read => read.map_err(|error| error.to_string()),
    });
    let account_network = top.text("account_network", str::parse::<Network>);
    let api_wallet = top.text("api_wallet", parse_address);
    let api_wallet_owner = top.text("api_wallet_owner", parse_address);
    let listen = top.text("listen", parse_listen);
    let ip_share = top.number("ip_share", |text| IpShare::parse(text).map_err(|error| error.to_string()));
    let allow_mainnet = top.boolean("allow_mainnet");
    let refuse_mainnet = top.text("refuse_mainnet", reason);
    let equity_cap = top.number("equity_cap", parse_usdc);
    let key_store = top.text("key_store", str::parse::<KeyStore>);
    let journal_fallback = top.text("journal_fallback", absolute);
    let mut auth = top.section("auth");
    let clients = auth.list("clients", parse_address);
    let require_network = auth.boolean("require_network");
    auth.finish();

    let new = Config::new(mode?, account?, rules?, deployment);
    let config = Config {
        account_network: account_network.unwrap_or(new.account_network),
        api_wallet,
        api_wallet_owner,
        listen: listen.unwrap_or(new.listen),
        ip_share: ip_share.unwrap_or(new.ip_share),
        allow_mainnet,
        refuse_mainnet,
        equity_cap,
        key_store: key_store.unwrap_or(new.key_store),
        journal_fallback,
        auth: Auth { clients, require_network },
        ..new
    };
    top.problems.extend(disagreements(&config));
    Some(config)
}

/// What stands in the place of a code of rules. The commands that change them read the one that is there first.
fn no_code() -> String {
    format!(
        "must be an sr1_ code in quotes, which `svc-guard init` wrote there; every default is rules = \"{}\", and with that in its \
         place `svc-guard config set rules @FILE` takes a table of rules from a file of its own, `svc-guard config set rules stop=1.5` one \
         rule",
        Rules::default().to_code()
    )
}

/// Keys that are right each for itself but not together.
pub(super) fn disagreements(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut say = |key: &str, value: String, allowed: &str| {
        problems.push(Problem { key: key.to_owned(), value, allowed: allowed.to_owned() });
    };
    if config.mode != Mode::Paper && config.account_network != config.mode.default_network() {
        let allowed = format!(
            "must be the mode's own network; only paper mode reads another's account. A home keeps its mode: `svc-guard --home DIR \
             init --network {}` sets another home up",
            config.mode
        );
        say("account_network", config.account_network.to_string(), &allowed);
    }
    if let Some(url) = config.deployment.venue_url.as_ref().filter(|url| !url.is_private())
        && config.mode == Mode::Mainnet
    {
        say("venue.url", url.to_string(), &OriginError::Plain.to_string());
    }
    if config.api_wallet == Some(config.account) {
        say("api_wallet", config.account.to_string(), "must be an API wallet's address, not the account itself");
    }
    for client in &config.auth.clients {
        if *client == config.account || Some(*client) == config.api_wallet {
            let allowed = "must be a client key's address; a client that held the account's or the API wallet's key \
                           would not need the guard";
            say("auth.clients", client.to_string(), allowed);
        }
    }
    problems
}

fn host(text: &str) -> Result<String, String> {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    if (1..=MAX_HOST_LEN).contains(&text.len()) && text.bytes().all(letter) {
        Ok(text.to_ascii_lowercase())
    } else {
        Err("must be a host name or address, with its port where it has one".to_owned())
    }
}

pub(super) fn reason(text: &str) -> Result<String, String> {
    let fits = (1..=MAX_REASON_LEN).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if fits { Ok(text.to_owned()) } else { Err(format!("must be one line of 1 to {MAX_REASON_LEN} characters")) }
}

fn absolute(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if path.is_absolute() { Ok(path) } else { Err("must be an absolute path".to_owned()) }
}

/// One table being read. Keys are taken out as they are read; what is left at the end is unknown.
struct Section<'a> {
    name: &'static str,
    table: Table,
    problems: &'a mut Vec<Problem>,
}

impl Section<'_> {
    fn key(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }

    fn take(&mut self, key: &str) -> Option<Value> {
        debug_assert!(
            KEYS.iter().any(|(table, keys)| *table == self.name && keys.contains(&key)),
            "{key} is read from [{}] and not listed",
            self.name
        );
        self.table.remove(key)
    }

    fn refuse(&mut self, key: &str, value: Option<&Value>, allowed: String) {
        let value = value.map(Value::to_string).unwrap_or_default();
        let allowed = if holds_key(&value) { format!("{allowed}; {NO_KEY}") } else { allowed };
        let value = start(&value, MAX_SHOWN);
        self.problems.push(Problem { key: self.key(key), value, allowed });
    }

    fn section(&mut self, name: &'static str) -> Section<'_> {
        let table = match self.table.remove(name) {
            Some(Value::Table(table)) => table,
            Some(other) => {
                self.refuse(name, Some(&other), format!("must be a table, [{name}]"));
                Table::new()
            }
            None => Table::new(),
        };
        Section { name, table, problems: self.problems }
    }

    fn text<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.take(key)?;
        let read = match &value {
            Value::String(text) => read(text),
            _ if key == "rules" => Err(no_code()),
            _ => Err("must be text in quotes".to_owned()),
        };
        read.map_err(|allowed| self.refuse(key, Some(&value), allowed)).ok()
    }

    fn required<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        if !self.table.contains_key(key) {
            self.refuse(key, None, MISSING.to_owned());
        }
        self.text(key, read)
    }

    /// A number, as text in quotes or bare. A bare decimal is read from its shortest text, so it stays exact.
    fn number<T>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        let value = self.take(key)?;
        let read = match &value {
            Value::String(text) => read(text),
            Value::Integer(_) | Value::Float(_) => read(&value.to_string()),
            _ => Err("must be a number or text in quotes".to_owned()),
        };
        read.map_err(|allowed| self.refuse(key, Some(&value), allowed)).ok()
    }

    fn boolean(&mut self, key: &str) -> bool {
        match self.take(key) {
            Some(Value::Boolean(value)) => value,
            Some(other) => {
                self.refuse(key, Some(&other), "must be true or false, without quotes".to_owned());
                false
            }
            None => false,
        }
    }

    fn whole(&mut self, key: &str, min: u32, max: u32) -> Option<u32> {
        let value = self.take(key)?;
        let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
        let fitting = number.filter(|number| (min..=max).contains(number));
        if fitting.is_none() {
            self.refuse(key, Some(&value), format!("must be a whole number of milliseconds from {min} to {max}"));
        }
        fitting
    }

    fn list<T: PartialEq>(&mut self, key: &str, read: impl Fn(&str) -> Result<T, String>) -> Vec<T> {
        let items = match self.take(key) {
            None => return Vec::new(),
            Some(Value::Array(items)) if items.len() <= MAX_LIST => items,
            Some(other) => {
                let form = match other.as_str().and_then(|one| read(one).ok().map(|_| one)) {
                    Some(one) => format!(", in square brackets: {key} = [{one:?}]"),
                    None => String::new(),
                };
                self.refuse(key, Some(&other), format!("must be a list of at most {MAX_LIST}{form}"));
                return Vec::new();
            }
        };
        let mut list = Vec::with_capacity(items.len());
        for item in &items {
            match item.as_str().ok_or_else(|| "must be text in quotes".to_owned()).and_then(&read) {
                Ok(value) if list.contains(&value) => self.refuse(key, Some(item), "stands there twice".to_owned()),
                Ok(value) => list.push(value),
                Err(allowed) => self.refuse(key, Some(item), allowed),
            }
        }
        list
    }

    fn finish(mut self) {
        for (key, value) in &std::mem::take(&mut self.table) {
            self.refuse(&start(key, MAX_SHOWN), None, unknown(self.name, key, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!("../../man/guard.toml.5");

    /// The entries under a heading of the page: their heads and texts.
    fn entries(heading: &str) -> Vec<(String, String)> {
        let (_, part) = PAGE.split_once(&format!("\n.S{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
        let part = format!("\n{part}");
        let end = part.find("\n.SH ").into_iter().chain(part.find("\n.SS ")).min().unwrap_or(part.len());
        let split = part[..end].split("\n.TP\n.B ").skip(1).map(|entry| entry.split_once('\n').unwrap());
        split.map(|(head, body)| (head.to_owned(), body.replace("\\-", "-").replace('\n', " "))).collect()
    }

    #[test]
    fn the_manual_page_lists_every_key() {
        for (table, keys) in KEYS {
            let heading = if table.is_empty() { "S Top level".to_owned() } else { format!("S [{table}]") };
            let listed: Vec<String> = entries(&heading).into_iter().map(|(head, _)| head).collect();
            assert_eq!(listed, *keys, "{heading}");
        }
        assert_eq!(PAGE.matches("\n.SS ").count(), KEYS.len());
    }

    #[test]
    fn the_manual_page_lists_every_rule_with_its_default_and_words() {
        let listed = entries("H RULES");
        let known = Rules::default().describe();
        assert_eq!(
            listed.iter().map(|(head, _)| head.as_str()).collect::<Vec<_>>(),
            known.iter().map(|rule| rule.key).collect::<Vec<_>>()
        );
        for ((_, text), rule) in listed.iter().zip(&known) {
            let default = if rule.value == "null" { "none".to_owned() } else { rule.value.replace('"', "") };
            assert!(text.starts_with(&format!("Default {default}: {}. ", rule.words)), "{}: {text}", rule.key);
        }
    }

    #[test]
    fn every_listed_key_is_read() {
        for (table, keys) in KEYS {
            for key in *keys {
                let head = if table.is_empty() { String::new() } else { format!("[{table}]\n") };
                // No key takes a date, and an unknown one would be called so.
                let said = match parse(&format!("{head}{key} = 2026-01-01\n")) {
                    Err(ParseError::Problems(problems)) => problems.to_string(),
                    other => panic!("{key}: {other:?}"),
                };
                assert!(said.contains(key) && !said.contains("is not a key"), "{said}");
            }
        }
    }
}
