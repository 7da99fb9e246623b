//! `init`: sets a home up from its flags, and says what to do next.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::ValueEnum;
use rust_decimal::Decimal;

use super::set_up::{Done, SetUp};
use super::{Refusal, agent, environment, key_stdin, print, rules_source, say, values};
use crate::home::{
    Config, Deployment, Home, IpShare, Loaded, Mode, Network, Pairing, load, parse_address, parse_listen, parse_usdc,
};
use crate::venue::Address;
use crate::venue::signing::SecretKey;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Ask on the terminal (the default)
    #[arg(long, conflicts_with = "non_interactive")]
    interactive: bool,
    /// Take every answer from the flags and the key from standard input
    #[arg(long)]
    non_interactive: bool,
    /// The rules: an sr1_ code, or @FILE with a TOML table [env: SVC_GUARD_RULES]
    #[arg(long, value_name = "sr1_...")]
    rules: Option<String>,
    /// The account guarded [env: SVC_GUARD_ACCOUNT]
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    account: Option<Address>,
    /// The mode [default: paper] [env: SVC_GUARD_NETWORK]
    #[arg(long, value_parser = values::mode())]
    network: Option<Mode>,
    /// Paper mode: the network whose account is read [default: mainnet]
    #[arg(long, value_parser = values::network())]
    account_network: Option<Network>,
    /// Mainnet: the account's address once more
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    confirm_mainnet: Option<Address>,
    /// USDC beyond which equity does not enlarge any limit
    #[arg(long, value_name = "USDC", value_parser = parse_usdc)]
    equity_cap: Option<Decimal>,
    /// Read the API wallet's key from standard input
    #[arg(long, conflicts_with = "no_key")]
    key_stdin: bool,
    /// Store no API wallet key
    #[arg(long)]
    no_key: bool,
    /// The listen address [default: 127.0.0.1:8547]
    #[arg(long, value_name = "L", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Share of this machine's IP budget, 1/N for N services [default: 1] [env: SVC_GUARD_IP_SHARE]
    #[arg(long, value_name = "S", value_parser = values::ip_share)]
    ip_share: Option<IpShare>,
    /// Where the API wallet's key is kept
    #[arg(long, value_enum, default_value_t = KeyStoreChoice::Auto)]
    key_store: KeyStoreChoice,
    /// Set up anew over an earlier set-up
    #[arg(long)]
    force: bool,
    /// Write the client key to a new file instead of showing it
    #[arg(long, value_name = "FILE")]
    client_key_out: Option<PathBuf>,
    /// Write into the config that mainnet must not start, and why
    #[arg(long, value_name = "REASON")]
    refuse_mainnet: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum KeyStoreChoice {
    /// The best this host offers
    Auto,
    /// A file in the home, readable by its owner only
    File,
    /// Encrypted for this host by systemd
    HostCreds,
}

pub(super) fn run(args: Args, home: &Home) -> Result<(), Refusal> {
    if !args.non_interactive {
        return Err(Refusal::Flags(
            "setting up by questions on the terminal is not in this build yet; give the answers as flags with \
             --non-interactive",
        ));
    }
    let found = load(&home.config_file(), &home.trusted()).map_err(Refusal::Config)?;
    let deployment = match &found {
        Loaded::Config(_) if !args.force => return Err(Refusal::SetUpAlready(home.config_file())),
        Loaded::Config(config) => config.deployment.clone(),
        Loaded::Empty(deployment) => deployment.clone(),
    };
    let (force, client_key_out, key_stdin) = (args.force, args.client_key_out.clone(), args.key_stdin);
    let mut config = answers(args, deployment)?;
    // Everything else is judged before a key is taken in.
    config.check(&home.config_file()).map_err(Refusal::Config)?;
    let api_wallet = if key_stdin { Some(checked_key(&config)?) } else { None };
    config.api_wallet = api_wallet.as_ref().map(SecretKey::address);
    let shown = client_key_out.is_none();
    let told = client_key_out.clone();
    let done = SetUp { home, config, found, api_wallet, client_key_out, force }.run()?;
    report(home, &done, if shown { None } else { told })
}

/// The config that the flags and variables ask for.
fn answers(args: Args, deployment: Deployment) -> Result<Config, Refusal> {
    let mode = environment::network(args.network)?.unwrap_or(Mode::Paper);
    let needed = "init --non-interactive needs --rules sr1_... (or @FILE, SVC_GUARD_RULES) and --account 0x... \
                  (SVC_GUARD_ACCOUNT)";
    let rules = environment::rules(args.rules)?.ok_or(Refusal::Flags(needed))?;
    let account = environment::account(args.account)?.ok_or(Refusal::Flags(needed))?;
    let rules = rules_source::read(&rules)?;
    let with_key = args.key_stdin;
    match mode {
        Mode::Mainnet => return Err(Refusal::NotYet("`init` for mainnet")),
        Mode::Paper if with_key => {
            return Err(Refusal::Flags("paper mode uses no API wallet key; leave out --key-stdin"));
        }
        Mode::Testnet if !with_key && !args.no_key => {
            return Err(Refusal::Flags(
                "testnet needs the API wallet's key on standard input (--key-stdin), or --no-key to store none",
            ));
        }
        Mode::Paper | Mode::Testnet => {}
    }
    if args.confirm_mainnet.is_some() {
        return Err(Refusal::Flags("--confirm-mainnet is for --network mainnet only; leave it out"));
    }
    if args.key_store == KeyStoreChoice::HostCreds {
        return Err(Refusal::NotYet("--key-store host-creds"));
    }
    let new = Config::new(mode, account, rules, deployment);
    Ok(Config {
        account_network: args.account_network.unwrap_or(new.account_network),
        listen: args.listen.unwrap_or(new.listen),
        ip_share: environment::ip_share(args.ip_share)?.unwrap_or(new.ip_share),
        refuse_mainnet: args.refuse_mainnet,
        equity_cap: args.equity_cap,
        ..new
    })
}

/// The API wallet's key from standard input, checked with the venue.
fn checked_key(config: &Config) -> Result<SecretKey, Refusal> {
    let key = key_stdin::read()?;
    agent::check(config.venue_url(), config.account, key.address()).map_err(Refusal::Agent)?;
    Ok(key)
}

/// Says what was set up and what to do next; the one place where a client key is shown.
fn report(home: &Home, done: &Done, client_key_file: Option<PathBuf>) -> Result<(), Refusal> {
    let Done { config, client, notes } = done;
    notes.iter().for_each(|note| say(note));
    let code = Pairing::new(config.listen, config.mode, config.account, client.address()).to_code();
    let client_key = match client_key_file {
        Some(path) => format!("client key               in {}\n", path.display()).into(),
        None => zeroize::Zeroizing::new(format!("client key (shown once)  {}\n", client.reveal().as_str())),
    };
    let api_wallet =
        config.api_wallet.map(|address| format!("API wallet               {address}\n")).unwrap_or_default();
    let network = if config.mode == Mode::Paper { String::new() } else { format!(" --network {}", config.mode) };
    print(&format!(
        "Set up for {mode} in {home}\n\
         account                  {account} on {account_network}\n\
         {api_wallet}{client_key}\
         client address           {client}\n\
         pairing code             {code}\n\
         Next: `svc-guard check-config` shows the rules, `svc-guard run{network}` starts the service; give the bot \
         http://{listen} as its base URL and the client key as its key.\n",
        mode = config.mode,
        home = home.dir().display(),
        account = config.account,
        account_network = config.account_network,
        client_key = client_key.as_str(),
        client = client.address(),
        listen = config.listen,
    ))
}
