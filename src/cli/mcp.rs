//! `mcp`: the server for AI agents. Reads no environment variable.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use super::configured::{configured, loaded};
use super::kill_told::kill_file_at;
use super::output::say;
use super::refusal::Refusal;
use super::{key_stdin, kill_place, reached, values};
use crate::base::address::Address;
use crate::base::files::{FileError, Why, in_own_folder};
use crate::base::mode::Mode;
use crate::base::shell::{for_home, word};
use crate::home::{
    Home, HomeError, KeyFileError, LoadedConfig, in_container, parse_address, read_key_file, system_home,
};
use crate::mcp::{GuardUrl, Key, Options, OwnerRules, RuleInWords, run as serve};
use crate::rules::{Described, Markets, Rules};

/// The address of a guard with the default listen address.
const DEFAULT_LISTEN: &str = "127.0.0.1:8547";
/// The same as a URL.
const DEFAULT_URL: &str = "http://127.0.0.1:8547";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The mode that the guard must run in
    #[arg(long, value_parser = values::mode())]
    network: Option<Mode>,
    /// File with the client key
    #[arg(long, value_name = "FILE", conflicts_with = "key_stdin")]
    key_file: Option<PathBuf>,
    /// Read the client key from the first line of standard input
    #[arg(long)]
    key_stdin: bool,
    /// The guard's base URL, on this machine [default: that of the home's config, or http://127.0.0.1:8547]
    #[arg(long, value_name = "URL")]
    guard_url: Option<String>,
    /// The account that the guard must be guarding; required on mainnet
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    confirm_account: Option<Address>,
    /// The guard's kill file, written when the guard does not take a kill
    #[arg(long, value_name = "FILE")]
    kill_file: Option<PathBuf>,
    /// Serve only the tools that read; takes no key
    #[arg(long, conflicts_with_all = ["key_file", "key_stdin"])]
    read_only: bool,
}

/// Serves; `is_named` tells whether the home was typed.
pub(super) fn run(args: &Args, home: &Home, is_named: bool) -> Result<(), Refusal> {
    if args.network == Some(Mode::Mainnet) && args.confirm_account.is_none() {
        return Err(Refusal::Flags("--network mainnet asks for --confirm-account with the address of the account"));
    }
    // Of a home that is not there the usual address would be taken, where the guard of another one may answer.
    if is_named && args.guard_url.is_none() && !home.dir().exists() {
        return Err(Refusal::Home(HomeError::Missing(home.dir().to_owned())));
    }
    let (url, guard) = guard_url(args.guard_url.as_deref(), home)?;
    served(args, home, is_named, guard).map_err(|refusal| for_guard(refusal, &url))
}

/// The refusal with its commands for the home of the guard that answers there.
fn for_guard(refusal: Refusal, url: &str) -> Refusal {
    let told = refusal.to_string();
    let file = kill_file_at(url).filter(|_| told.contains("`svc-guard "));
    match file.as_deref().and_then(Path::parent).and_then(Path::to_str) {
        Some(home) => Refusal::Given(for_home(&told, home, "")),
        None => refusal,
    }
}

fn served(args: &Args, home: &Home, is_named: bool, guard: GuardUrl) -> Result<(), Refusal> {
    let key = key(args)?;
    let named = Some(home).filter(|_| is_named);
    let checked = args.kill_file.as_deref().map(|file| kill_place::checked(file, named)).transpose()?;
    let (kill_file, doubt) = checked.map_or((None, None), |(file, doubt)| (Some(file), doubt));
    doubt.iter().for_each(|doubt| say(&format!("warning: {doubt}")));
    let is_kill_file_sure = doubt.is_none();
    let of_file = kill_file.as_ref().and_then(|file| file.path().parent());
    let home_dir = named.map(Home::dir).or(of_file).map(Path::to_owned);
    let (network, account) = (args.network, args.confirm_account);
    serve(Options {
        guard,
        key,
        network,
        account,
        own: own(home),
        kill_file,
        is_kill_file_sure,
        home: home_dir,
        read_rules,
    })
    .map_err(Refusal::Mcp)
}

/// The account of this home and its API wallet, whose keys are no agent's. A home that cannot be read has none.
fn own(home: &Home) -> Vec<Address> {
    let config = configured(home).ok();
    config.into_iter().flat_map(|config| [Some(config.account), config.api_wallet]).flatten().collect()
}

/// The URL named, or the one that the home's config says, or the default.
fn guard_url(named: Option<&str>, home: &Home) -> Result<(String, GuardUrl), Refusal> {
    let url = match named {
        Some(url) => url.to_owned(),
        None if !home.config_file().exists() => DEFAULT_URL.to_owned(),
        None => match loaded(home)? {
            LoadedConfig::SetUp(config) => reached::guard_url(home, config.listen)?,
            LoadedConfig::NotSetUp(_) => DEFAULT_URL.to_owned(),
        },
    };
    match (GuardUrl::parse(&url), named) {
        (Ok(guard), _) => Ok((url, guard)),
        (Err(error), Some(_)) => Err(Refusal::GuardUrl(url, error)),
        (Err(_), None) => Err(Refusal::Given(format!(
            "this home's guard listens on {url} as its config says, and agents trade only through a guard on this machine: `svc-guard \
             config set listen {DEFAULT_LISTEN}` and a restart let it listen here"
        ))),
    }
}

fn key(args: &Args) -> Result<Key, Refusal> {
    match args.key_file.clone() {
        _ if args.read_only => Ok(Key::None),
        Some(file) => {
            let reading = read_key_file(&in_own_folder(file, system_home), in_container(None, Path::new("/")))
                .map_err(refused)?;
            reading.warning.iter().for_each(|warning| say(&format!("warning: {warning}")));
            Ok(Key::Given(reading.key))
        }
        None if !args.key_stdin => Err(Refusal::Flags(
            "give the client key with --key-file or --key-stdin (`svc-guard client add --out FILE` makes one), or serve with --read-only",
        )),
        None if std::io::stdin().is_terminal() => Err(Refusal::Flags(key_stdin::TYPED)),
        None => Ok(Key::FirstLine),
    }
}

/// A key that is not there can be made.
fn refused(error: KeyFileError) -> Refusal {
    match error {
        KeyFileError::File(FileError { path, why: Why::Missing }) => Refusal::Given(format!(
            "{} does not exist; `svc-guard client add --out {}` writes a new client key there",
            path.display(),
            word(&path)
        )),
        KeyFileError::NotAKey(place, found) => Refusal::Given(format!(
            "{place} holds no key but {found}; a client key is one line of 0x and 64 hex digits, as `svc-guard client add --out FILE` \
             writes one to a new file"
        )),
        error => Refusal::Key(error),
    }
}

/// The owner's rules from their code, in the form that agents are shown.
fn read_rules(code: &str) -> Option<OwnerRules> {
    let rules = Rules::from_code(code).ok()?;
    let percent_of_equity = |key: &str| match key {
        "loss_per_trade" => Some(rules.loss_per_trade),
        "open_risk" => Some(rules.open_risk),
        "position" => Some(rules.position),
        "exposure" => Some(rules.exposure),
        _ => None,
    };
    let in_words = |rule: Described| RuleInWords {
        key: rule.key,
        value: rule.value,
        words: rule.words,
        percent_of_equity: percent_of_equity(rule.key),
    };
    let markets = match &rules.markets {
        Markets::All => None,
        Markets::List(coins) => Some(coins.iter().map(ToString::to_string).collect()),
    };
    let list = rules.describe().into_iter().map(in_words).collect();
    Some(OwnerRules { list, markets, collar: rules.collar, exposure: rules.exposure })
}

#[cfg(test)]
mod tests {
    use rust_decimal::{Decimal, dec};

    use super::*;

    #[test]
    fn agents_are_shown_the_rules_of_the_code() {
        let toml = "markets = ['BTC']\ncollar = '0.3'\nloss_per_trade = '0.4'\nopen_risk = '1.5'\nposition = '25'\nexposure = '75'";
        let rules = Rules::from_toml(toml).unwrap();
        let shown = read_rules(&rules.to_code()).unwrap();
        assert_eq!((shown.collar, shown.exposure), (dec!(0.3), dec!(75)));
        assert_eq!(shown.markets.unwrap().into_iter().collect::<Vec<_>>(), ["BTC"]);
        let percents: Vec<(&str, Decimal)> =
            shown.list.iter().filter_map(|rule| Some((rule.key, rule.percent_of_equity?))).collect();
        let known =
            [("exposure", dec!(75)), ("loss_per_trade", dec!(0.4)), ("open_risk", dec!(1.5)), ("position", dec!(25))];
        assert_eq!(percents, known);
        for (rule, described) in shown.list.iter().zip(rules.describe()) {
            assert_eq!((rule.key, &rule.value, &rule.words), (described.key, &described.value, &described.words));
        }
        assert!(read_rules("sr1_x").is_none());
    }
}
