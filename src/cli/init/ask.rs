//! Answers from a person: each question says what it is about and what its default is.

use std::path::PathBuf;

use super::super::refusal::Refusal;
use super::super::terminal::Terminal;
use super::super::{mainnet, wallet};
use super::answers::{Answers, Args, KeyStoreChoice};
use super::rules;
use crate::base::address::Address;
use crate::base::ip_share::IpShare;
use crate::base::key::SecretKey;
use crate::base::mode::{Mode, Network};
use crate::home::{Config, Deployment, Home, LoadedConfig, parse_address, parse_listen, parse_usdc, read_key};

pub(super) fn answers(
    terminal: &Terminal,
    mut given: Args,
    deployment: Deployment,
    home: &Home,
    found: &LoadedConfig,
) -> Result<Answers, Refusal> {
    terminal.say(&format!(
        "Setting svc-guard up in {}.\nEnter takes the answer in brackets; Ctrl-D leaves, and nothing is set up then.\n",
        home.dir().display()
    ))?;
    over_an_earlier_one(terminal, home, found)?;
    let mode = mode(terminal, &given)?;
    given.idle(mode)?;
    let account = match given.account {
        Some(account) => account,
        None => {
            terminal.say("\nThe account is the venue account to guard, by its address.\n")?;
            terminal.ask_for("Account (0x...)", None, parse_address)?
        }
    };
    if mode == Mode::Paper && given.account_network.is_none() {
        terminal.say("\nPaper mode reads a real account. On which network is it?\n")?;
        given.account_network =
            Some(terminal.ask_for("Network of the account", Some("mainnet"), str::parse::<Network>)?);
    }
    let rules = match given.rules.take() {
        Some(rules) => rules,
        None => rules::choose(terminal, mode)?,
    };
    equity_cap(terminal, mode, &mut given)?;
    place(terminal, &mut given)?;
    let mut config = given.config(mode, account, rules, deployment);
    config.check(&home.config_file()).map_err(Refusal::Config)?;
    if mode == Mode::Mainnet {
        confirm_mainnet(terminal, &config, &given)?;
    }
    let (api_wallet, owner) = api_wallet(terminal, &config, &given)?.unzip();
    config.api_wallet_owner = owner;
    let client_key_out = client_key_out(terminal, &mut given)?;
    summary(terminal, home, &config, api_wallet.as_ref())?;
    if !terminal.agree("Set up now?", true)? {
        return Err(Refusal::Flags("not set up; nothing was written"));
    }
    Ok(Answers { config, api_wallet, client_key_out })
}

/// Setting up anew is said in full and has to be wanted.
fn over_an_earlier_one(terminal: &Terminal, home: &Home, found: &LoadedConfig) -> Result<(), Refusal> {
    let LoadedConfig::SetUp(config) = found else { return Ok(()) };
    terminal.say(&format!(
        "\n{} holds a set-up for {} of {}.\nSetting up anew writes a new config: its {} clients are no longer accepted. A \
         stored API wallet key is kept aside under another name, and journals go on as they are.\n",
        home.config_file().display(),
        config.mode,
        config.account,
        config.auth.clients.len(),
    ))?;
    match terminal.ask("Type `anew` to set up anew", Some("leave it"))?.as_str() {
        "anew" => Ok(()),
        _ => Err(Refusal::Flags("left as it is; nothing was written")),
    }
}

fn mode(terminal: &Terminal, given: &Args) -> Result<Mode, Refusal> {
    let mode = match given.network {
        Some(mode) => mode,
        None => {
            terminal.say(
                "\nThe mode:\n  paper    judges and records, and sends nothing to the venue; needs no key\n  testnet  \
                 trades on the venue's test network\n  mainnet  trades real money\n",
            )?;
            terminal.ask_for("Mode", Some("paper"), |answer| match (answer.parse()?, &given.refuse_mainnet) {
                (Mode::Mainnet, Some(reason)) => Err(format!("mainnet is refused here: {reason}")),
                (mode, _) => Ok(mode),
            })?
        }
    };
    match &given.refuse_mainnet {
        Some(reason) if mode == Mode::Mainnet => Err(mainnet::refused(reason)),
        _ => Ok(mode),
    }
}

fn equity_cap(terminal: &Terminal, mode: Mode, given: &mut Args) -> Result<(), Refusal> {
    if given.equity_cap.is_some() {
        return Ok(());
    }
    terminal.say(
        "\nThe equity cap is the USDC beyond which equity does not enlarge any limit: every percentage is of the account's \
         equity, or of the cap where that is less.\n",
    )?;
    let default = if mode == Mode::Mainnet { None } else { Some("none") };
    given.equity_cap = terminal.ask_for("Equity cap in USDC", default, |answer| match answer {
        "none" if default.is_some() => Ok(None),
        _ => parse_usdc(answer).map(Some),
    })?;
    Ok(())
}

/// Where the service listens, and its share of this machine's allowance at the venue.
fn place(terminal: &Terminal, given: &mut Args) -> Result<(), Refusal> {
    if given.listen.is_none() {
        terminal.say("\nThe bot reaches the guard at this address, on this machine.\n")?;
        given.listen = Some(terminal.ask_for("Listen address", Some("127.0.0.1:8547"), parse_listen)?);
    }
    if given.ip_share.is_none() {
        terminal.say("\nThe venue counts requests by machine. With N guards on this machine each takes 1/N.\n")?;
        let share =
            terminal.ask_for("Share", Some("1"), |answer| IpShare::parse(answer).map_err(|error| error.to_string()))?;
        given.ip_share = Some(share);
    }
    Ok(())
}

fn confirm_mainnet(terminal: &Terminal, config: &Config, given: &Args) -> Result<(), Refusal> {
    if given.confirm_mainnet.is_none() {
        terminal
            .say("\nMainnet trades real money. Type the account's address once more to say that this is meant.\n")?;
        terminal.ask_for("Account once more", None, |answer| match parse_address(answer)? {
            said if said == config.account => Ok(()),
            _ => Err(format!("is not {}", config.account)),
        })?;
    }
    mainnet::check_set_up(config, given.confirm_mainnet.or(Some(config.account)))
}

/// The API wallet's key and its owner, asked for until the venue takes it or it is left out.
fn api_wallet(terminal: &Terminal, config: &Config, given: &Args) -> Result<Option<(SecretKey, Address)>, Refusal> {
    if config.mode == Mode::Paper || given.no_key {
        return Ok(None);
    }
    terminal.say(
        "\nThe API wallet is a key that the venue lets trade for the account, and not withdraw. Approve one at the venue and \
         give its key here; it is not shown as you type, is checked with the venue, and kept on this machine only.\n",
    )?;
    loop {
        let typed = terminal.ask_hidden("API wallet key (Enter: none now)")?;
        if typed.is_empty() {
            terminal.say("  No key: `svc-guard key check --key-stdin` records its address later.\n")?;
            if given.key_store == KeyStoreChoice::HostCreds {
                terminal.say("  So --key-store host-creds has nothing to seal.\n")?;
            }
            return Ok(None);
        }
        let checked = read_key(typed.as_slice(), "what was typed")
            .map_err(Refusal::Key)
            .and_then(|key| wallet::check(config, key.address()).map(|owner| (key, owner)));
        match checked {
            Ok(checked) => return Ok(Some(checked)),
            Err(refusal) => terminal.say(&format!("  {refusal}\n"))?,
        }
    }
}

fn client_key_out(terminal: &Terminal, given: &mut Args) -> Result<Option<PathBuf>, Refusal> {
    if let Some(file) = given.client_key_out.take() {
        return Ok(Some(file));
    }
    terminal.say(
        "\nThe bot signs with a client key, which is made now. Name a new file for it, or have it shown once.\n",
    )?;
    let answer = terminal.ask("File for the client key", Some("show it"))?;
    Ok((answer != "show it").then(|| PathBuf::from(answer)))
}

fn summary(terminal: &Terminal, home: &Home, config: &Config, key: Option<&SecretKey>) -> Result<(), Refusal> {
    let key = key.map_or_else(|| "none".to_owned(), |key| key.address().to_string());
    let cap = config.equity_cap.map_or_else(|| "none".to_owned(), |cap| format!("{cap} USDC"));
    terminal.say(&format!(
        "\nTo be set up in {}:\n  mode        {}\n  account     {} on {}\n  API wallet  {key}\n  equity cap  {cap}\n  \
         listen      {}\n  ip share    {} ({} weight a minute)\n  rules       {}\n",
        home.dir().display(),
        config.mode,
        config.account,
        config.account_network,
        config.listen,
        config.ip_share,
        config.ip_share.budget_per_minute(),
        config.rules.to_code(),
    ))
}
