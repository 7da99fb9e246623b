//! `config set`: changes one value of the config, and says in words what it was and what it is. All else stays as it is.

use std::net::SocketAddr;

use clap::ValueEnum;
use rust_decimal::Decimal;

use super::configured::LockedConfig;
use super::mainnet_gap::MainnetGap;
use super::output::print;
use super::refusal::Refusal;
use super::rules_place::Place;
use super::set_up::SignalsBlocked;
use super::{one_rule, reached, rule_offered, rules_source, slips};
use crate::base::ip_share::{IP_BUDGET, IpShare};
use crate::base::mode::Mode;
use crate::base::shell::word;
use crate::home::{Config, Home, base_url, likely_listen, likely_usdc, parse_listen, parse_usdc, set_value};
use crate::rules::Rules;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to change
    what: What,
    /// Its new value: for rules an sr1_ code, @FILE, or RULE=VALUE for one of them
    #[arg(allow_hyphen_values = true)]
    value: String,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
enum What {
    /// The rules: a code, @FILE, or one as in stop=3
    Rules,
    /// The listen address
    Listen,
    /// The share of this machine's IP budget
    #[value(alias = "ip-share")]
    IpShare,
    /// USDC beyond which equity enlarges no limit, or none
    #[value(alias = "equity-cap")]
    EquityCap,
}

/// A change of one key: its new value as the config writes it, none to leave it out, and what it means in words.
struct Change {
    key: &'static str,
    value: Option<String>,
    config: Config,
    words: Vec<String>,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let locked = LockedConfig::open(home)?;
    let change = change(args, &locked.config)?;
    if change.words.is_empty() {
        return print("That is its value already; nothing was written.\n");
    }
    let Change { key, value, config, words } = change;
    let _whole = SignalsBlocked::new();
    set_value(&locked.path, &locked.text, key, value.as_deref(), config).map_err(Refusal::Config)?;
    let told = print(&format!(
        "{}\nWritten to {}. A running service takes it at its next start; `svc-guard check-config --explain` asks the venue \
         for what the rules come to in USDC, and for the markets that they name.\n",
        words.join("\n"),
        locked.path.display(),
    ));
    told.map_err(|refusal| locked.undone(&refusal))
}

fn change(args: &Args, config: &Config) -> Result<Change, Refusal> {
    let (typed, new) = (args.value.trim(), config.clone());
    let bad = |expected: String| Refusal::Value(typed.to_owned(), expected);
    let line = |name: &str, before: String, after: String| {
        if before == after { Vec::new() } else { vec![format!("{name:<11} {before} -> {after}")] }
    };
    Ok(match args.what {
        What::Rules => {
            let rules = rules(typed, config)?;
            refuse_looser(config.mode, &rules)?;
            let words = one_rule::in_words(&config.rules, &rules).into_iter().chain(one_rule::doubt(&rules)).collect();
            Change { key: "rules", value: Some(rules.to_code()), config: Config { rules, ..new }, words }
        }
        What::Listen => {
            let likely = likely_listen(typed, config.listen);
            let way = format!("must be IP:PORT: `svc-guard config set listen {}`", word(likely.to_string()));
            let listen = parse_listen(typed).map_err(|_| bad(way))?;
            let mut words = line("listen", config.listen.to_string(), listen.to_string());
            if !words.is_empty() {
                words.extend(at(listen));
            }
            Change { key: "listen", value: Some(listen.to_string()), config: Config { listen, ..new }, words }
        }
        What::IpShare => {
            let likely = IpShare::likely(typed, Some(config.ip_share));
            let ip_share = IpShare::parse(typed)
                .map_err(|error| bad(format!("{error}: `svc-guard config set ip_share {likely}`")))?;
            let told = |share: IpShare| format!("{share} ({} weight a minute)", share.budget_per_minute());
            let mut words = line("ip_share", told(config.ip_share), told(ip_share));
            if ip_share.budget_per_minute() > config.ip_share.budget_per_minute() {
                words.push(format!(
                    "That is more of the {IP_BUDGET} weight a minute which all guards and bots of this machine share."
                ));
            }
            Change { key: "ip_share", value: Some(ip_share.to_string()), config: Config { ip_share, ..new }, words }
        }
        What::EquityCap => {
            let bad = |expected: String| {
                bad(likely_usdc(typed).map_or_else(
                    || format!("{expected}, or none: `svc-guard config set equity_cap USDC` with your number in the place of USDC"),
                    |plain| format!("{expected}: `svc-guard config set equity_cap {}`", plain.digits),
                ))
            };
            let is_none = typed.eq_ignore_ascii_case("none");
            let cap = if is_none { None } else { Some(parse_usdc(typed).map_err(bad)?) };
            if let (None, Mode::Mainnet, Some(now)) = (cap, config.mode, config.equity_cap) {
                return Err(Refusal::Given(format!(
                    "{UNCHANGED}: mainnet needs an equity_cap, which may be another number: `svc-guard config set equity_cap {now}` \
                     keeps the one there"
                )));
            }
            let told = |cap: Option<Decimal>| cap.map_or_else(|| "none".to_owned(), |cap| format!("{cap} USDC"));
            let mut words = line("equity_cap", told(config.equity_cap), told(cap));
            // No cap is the loosest.
            let is_looser = cap.is_none_or(|cap| config.equity_cap.is_some_and(|before| cap > before));
            words.iter_mut().for_each(|line| line.push_str(if is_looser { "  (looser)" } else { "  (stricter)" }));
            if let Some(whole) = grouped(typed).filter(|_| !words.is_empty()) {
                words.push(format!(
                    "A point stands before decimals; {whole} USDC are set by `svc-guard config set equity_cap {whole}`."
                ));
            }
            let value = cap.map(|cap| cap.to_string());
            Change { key: "equity_cap", value, config: Config { equity_cap: cap, ..new }, words }
        }
    })
}

/// The whole number that a person may have meant by one with a point before three digits, as in `1.000`.
fn grouped(typed: &str) -> Option<String> {
    let (thousands, rest) = typed.split_once('.')?;
    let is_group = rest.len() == 3 && !thousands.is_empty() && !thousands.starts_with('0');
    is_group.then(|| format!("{thousands}{rest}"))
}

/// What a new listen address means for the bot and for others.
fn at(listen: SocketAddr) -> Vec<String> {
    let url = match base_url(listen) {
        None => format!("The bot's base URL is not known before: {}.", reached::CHOSEN),
        Some(url) => format!("The bot's base URL is {url} from then on."),
    };
    let warning = format!("Warning: {listen} is not this machine's alone; other machines may reach it.");
    [url].into_iter().chain((!listen.ip().is_loopback()).then_some(warning)).collect()
}

const UNCHANGED: &str = "the config is left as it is";

/// The rules asked for: all of them, or one changed.
fn rules(typed: &str, config: &Config) -> Result<Rules, Refusal> {
    let (key, value) = match typed.split_once('=') {
        Some((key, value)) if !typed.starts_with(['@', '"']) && !typed.starts_with("sr1_") => (key.trim(), value),
        _ => return rules_source::read(typed, Place::Set),
    };
    let described = config.rules.describe();
    if !described.iter().any(|rule| rule.key == key) {
        return Err(Refusal::Value(key.to_owned(), rule_offered::instead(key, value)));
    }
    let several = one_rule::several(typed);
    if !several.is_empty() {
        return Err(Refusal::Given(slips::one_by_one(&several)));
    }
    let may = |rules: &Rules| refuse_looser(config.mode, rules).is_ok();
    one_rule::with(&described, key, value).map_err(|why| {
        let number = value.trim().trim_matches(['"', '\'', '%']);
        let makes_room = |other: &&str| one_rule::with(&described, other, number).is_ok_and(|rules| may(&rules));
        let way = match one_rule::before(key, &why).filter(makes_room) {
            Some(other) => format!("; change {other} first: `svc-guard config set rules {other}={number}`"),
            None => format!(": {}", rule_offered::command(&config.rules, key, value, may)),
        };
        Refusal::Value(typed.to_owned(), why + &way)
    })
}

/// On mainnet no rule may be looser than its default, as at set-up.
fn refuse_looser(mode: Mode, rules: &Rules) -> Result<(), Refusal> {
    let looser = rules.looser_than_default();
    match mode {
        Mode::Mainnet if !looser.is_empty() => {
            let commands = looser.iter().map(|key| {
                let change = word(format!("{key}={}", one_rule::default(key)));
                format!("`svc-guard config set rules {change}`")
            });
            let commands = commands.collect::<Vec<_>>().join(", ");
            let refused = Refusal::Mainnet(UNCHANGED, vec![MainnetGap::LooserRules(looser)]);
            Err(Refusal::Given(format!("{refused}; as loose as it may be: {commands}")))
        }
        _ => Ok(()),
    }
}
