//! The report after a set-up, with the next steps; the one place where a client key is shown.

use std::fmt::{Display, Formatter, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use super::super::kill_elsewhere::is_same;
use super::super::kill_told::kill_file_at;
use super::super::output::{print, say};
use super::super::reached::{CHOSEN, pairing_code, way_to_a_port};
use super::super::refusal::Refusal;
use super::super::set_up::{Done, risk_journal};
use super::super::start;
use crate::base::mode::Mode;
use crate::base::shell::place;
use crate::home::{Config, Home, KeyStore, Pairing, base_url, local_url};

/// Most addresses beside one that is taken that are tried.
const MOST_TAKEN: u16 = 20;

/// Who else reaches a guard at this address.
pub(super) fn open_to_others(listen: SocketAddr) -> Option<String> {
    let is_open = !listen.ip().is_loopback();
    is_open.then(|| format!("{listen} is not this machine's alone; other machines may reach it"))
}

pub(super) fn report(
    home: &Home,
    done: &Done,
    note: Option<&String>,
    client_key_file: Option<&Path>,
) -> Result<(), Refusal> {
    let Done { config, client, notes } = done;
    notes.iter().chain(note).for_each(|note| say(note));
    if let Some(warning) = open_to_others(config.listen) {
        say(&format!("warning: {warning}"));
    }
    let code = Pairing::new(config.listen, config.mode, config.account, client.address());
    let client_key = match client_key_file {
        Some(path) => format!("client key               in {}\n", path.display()).into(),
        None => Zeroizing::new(format!("client key (shown once)  {}\n", client.reveal().as_str())),
    };
    let api_wallet = match config.api_wallet {
        Some(address) => format!("API wallet               {address}, its key in {}\n", key_place(home, config)),
        None => String::new(),
    };
    // First, for whoever reads one line: nobody sees the key again.
    let text = Zeroizing::new(format!(
        "{client_key}\
         Set up for {mode} in {home}\n\
         account                  {account} on {account_network}\n\
         {api_wallet}\
         client address           {client}\n\
         pairing code             {code}\n\
         Next:\n{next}",
        mode = config.mode,
        home = home.dir().display(),
        account = config.account,
        account_network = config.account_network,
        client_key = client_key.as_str(),
        client = client.address(),
        code = pairing_code(code.as_ref()),
        next = next(home, config),
    ));
    print(&text)
}

fn key_place(home: &Home, config: &Config) -> String {
    match config.key_store {
        KeyStore::File => home.key_file().display().to_string(),
        KeyStore::HostCreds => format!("{} (sealed for this host)", home.sealed_key_file().display()),
    }
}

/// An address at which another home's guard answers by now.
struct Taken {
    listen: SocketAddr,
    by: PathBuf,
    /// One beside it at which nobody listens.
    free: SocketAddr,
}

impl Taken {
    fn of(home: &Home, listen: SocketAddr) -> Option<Self> {
        let file = kill_file_at(&base_url(listen)?).filter(|file| !is_same(file, home.kill_file().path()))?;
        let beside =
            (1..=MOST_TAKEN).filter_map(|more| Some(SocketAddr::new(listen.ip(), listen.port().checked_add(more)?)));
        let free = beside.into_iter().find(|address| TcpListener::bind(address).is_ok())?;
        Some(Self { listen, by: file.parent()?.to_owned(), free })
    }
}

impl Display for Taken {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { listen, by, free } = self;
        let by = place(by);
        write!(
            f,
            "`svc-guard config set listen {free}` gives it an address of its own: the guard of {by} listens on {listen}"
        )
    }
}

/// The commands that come next, in order.
fn next(home: &Home, config: &Config) -> String {
    let mode = config.mode;
    let mut steps = vec!["`svc-guard check-config` shows the rules".to_owned()];
    if mode != Mode::Paper && config.api_wallet.is_none() {
        steps.push(
            "`svc-guard key check --key-stdin < FILE` checks the API wallet's key and records its address".to_owned(),
        );
    }
    if mode == Mode::Mainnet && risk_journal(home, config).is_none() {
        steps.push(format!(
            "`SVC_MAINNET_CONFIRM={} svc-guard journal-init --mode mainnet --note TEXT` starts the risk journal at the \
             account's equity",
            config.account
        ));
    }
    let unknown = || format!("its base URL ({CHOSEN}; {})", way_to_a_port(config.listen));
    let mut url = base_url(config.listen).map_or_else(unknown, |url| format!("{url} as its base URL"));
    // What another guard answers at is no bot's way to this one.
    if let Some(taken) = Taken::of(home, config.listen) {
        url = format!("{} as its base URL", local_url(taken.free));
        steps.push(taken.to_string());
    }
    steps.push(format!("`{}` starts the service", start::command(home, config)));
    steps.push(format!("give the bot {url} and the client key as its key"));
    let mut text = String::new();
    for (number, step) in (1..).zip(steps) {
        // Writing to a String cannot fail.
        _ = writeln!(text, "  {number}. {step}");
    }
    text
}
