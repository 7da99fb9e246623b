//! Answers from a person: each question says what it is about and what its default is, checks what is answered at once,
//! and can be gone back to. What was answered before is the default then.

use std::path::{Path, PathBuf};

use super::super::refusal::Refusal;
use super::super::terminal::{BACK, Terminal};
use super::super::{mainnet, wallet};
use super::answers::{Answers, Args, KeyStoreChoice};
use super::report::open_to_others;
use super::{new_file, rules, summary};
use crate::base::address::Address;
use crate::base::ip_share::IpShare;
use crate::base::key::SecretKey;
use crate::base::mode::{Mode, Network};
use crate::home::{Config, Home, LoadedConfig, parse_address, parse_listen, parse_usdc, read_key};
use crate::rules::Rules;

/// Whether a question was asked, so that there is something to go back to.
type Asked = Result<bool, Refusal>;

/// The flags that were given, and what was answered so far.
struct Interview<'a> {
    terminal: &'a Terminal,
    home: &'a Home,
    /// The set-up that is there, if any.
    found: &'a LoadedConfig,
    /// As given by flags and variables: what stands here is not asked for.
    given: Args,
    /// With the answers.
    answered: Args,
    /// The key and its owner, once the venue has taken it.
    api_wallet: Option<(SecretKey, Address)>,
    client_key_out: Option<PathBuf>,
}

pub(super) fn answers(terminal: &Terminal, given: Args, home: &Home, found: &LoadedConfig) -> Result<Answers, Refusal> {
    terminal.say(&format!(
        "Setting svc-guard up in {}.\nEnter takes the answer in brackets, `back` goes to the question before; Ctrl-D leaves, \
         and nothing is set up then.\n",
        home.dir().display()
    ))?;
    over_an_earlier_one(terminal, home, found)?;
    let answered = given.clone();
    let mut interview = Interview { terminal, home, found, given, answered, api_wallet: None, client_key_out: None };
    interview.ask_all()?;
    let mut config = interview.config();
    config.api_wallet_owner = interview.api_wallet.as_ref().map(|(_, owner)| *owner);
    let api_wallet = interview.api_wallet.map(|(key, _)| key);
    Ok(Answers { config, api_wallet, client_key_out: interview.client_key_out })
}

/// Setting up anew is said in full and has to be wanted.
fn over_an_earlier_one(terminal: &Terminal, home: &Home, found: &LoadedConfig) -> Result<(), Refusal> {
    let LoadedConfig::SetUp(config) = found else { return Ok(()) };
    terminal.say(&format!(
        "\n{} holds a set-up for {} of {}.\nSetting up anew writes a new config: its {} clients are no longer accepted. A \
         stored API wallet key is kept aside under another name, and journals go on as they are. One value alone is changed \
         by `svc-guard config set`, the key by `svc-guard key replace`.\n",
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

impl Interview<'_> {
    /// The questions, in order.
    const QUESTIONS: [fn(&mut Self) -> Asked; 11] = [
        Self::mode,
        Self::account,
        Self::account_network,
        Self::rules,
        Self::equity_cap,
        Self::listen,
        Self::ip_share,
        Self::confirm_mainnet,
        Self::api_wallet,
        Self::client_key_out,
        Self::agree,
    ];

    /// Asks every question that is open, and goes back where that is wished.
    fn ask_all(&mut self) -> Result<(), Refusal> {
        let (mut place, mut before) = (0_usize, Vec::new());
        while let Some(question) = Self::QUESTIONS.get(place) {
            match question(self) {
                Ok(true) => before.push(place),
                Ok(false) => {}
                Err(Refusal::Back) => {
                    match before.pop() {
                        Some(last) => place = last,
                        None => self.terminal.say("  This is the first question.\n")?,
                    }
                    continue;
                }
                Err(refusal) => return Err(refusal),
            }
            place = place.saturating_add(1);
        }
        Ok(())
    }

    fn chosen(&self) -> Mode {
        self.answered.network.unwrap_or(Mode::Paper)
    }

    /// The config of the answers so far.
    fn config(&self) -> Config {
        let account = self.answered.account.unwrap_or(Address([0; 20]));
        let rules = self.answered.rules.clone().unwrap_or_default();
        self.answered.config(self.chosen(), account, rules, self.found)
    }

    fn mode(&mut self) -> Asked {
        let refused = self.given.refuse_mainnet.clone();
        let is_open = self.given.network.is_none();
        if is_open {
            self.terminal.say(
                "\nThe mode:\n  paper    judges and records, and sends nothing to the venue; needs no key\n  testnet  \
                 trades on the venue's test network\n  mainnet  trades real money\n",
            )?;
            let mode = self.terminal.ask_for("Mode", Some(self.chosen().name()), |answer| {
                match (answer.parse()?, &refused) {
                    (Mode::Mainnet, Some(reason)) => Err(format!("mainnet is refused here: {reason}")),
                    (mode, _) => Ok(mode),
                }
            })?;
            self.answered.network = Some(mode);
        }
        if let (Mode::Mainnet, Some(reason)) = (self.chosen(), refused) {
            return Err(mainnet::refused(&reason));
        }
        self.given.idle(self.chosen())?;
        Ok(is_open)
    }

    fn account(&mut self) -> Asked {
        if self.given.account.is_some() {
            return Ok(false);
        }
        self.terminal.say("\nThe account is the venue account to guard, by its address; not an API wallet's.\n")?;
        let before = self.answered.account.map(|account| account.to_string());
        self.answered.account = Some(self.terminal.ask_for("Account (0x...)", before.as_deref(), parse_address)?);
        Ok(true)
    }

    fn account_network(&mut self) -> Asked {
        if self.chosen() != Mode::Paper || self.given.account_network.is_some() {
            self.answered.account_network = self.given.account_network;
            return Ok(false);
        }
        self.terminal.say("\nPaper mode reads a real account. On which network is it?\n")?;
        let before = self.answered.account_network.unwrap_or(Network::Mainnet);
        let network = self.terminal.ask_for("Network of the account", Some(before.name()), str::parse::<Network>)?;
        self.answered.account_network = Some(network);
        Ok(true)
    }

    fn rules(&mut self) -> Asked {
        if self.given.rules.is_some() {
            return Ok(false);
        }
        let before = self.answered.rules.take().unwrap_or_default();
        let mut rules: Rules = before;
        let chosen = rules::choose(self.terminal, self.chosen(), &mut rules);
        // What was changed stays changed, also for who goes back from here.
        self.answered.rules = Some(rules);
        chosen.map(|()| true)
    }

    fn equity_cap(&mut self) -> Asked {
        if self.given.equity_cap.is_some() {
            return Ok(false);
        }
        self.terminal.say(
            "\nThe equity cap is the USDC beyond which equity does not enlarge any limit: every percentage is of the \
             account's equity, or of the cap where that is less.\n",
        )?;
        let is_needed = self.chosen() == Mode::Mainnet;
        let before = self.answered.equity_cap.map(|cap| cap.to_string());
        let default = before.as_deref().or(if is_needed { None } else { Some("none") });
        self.answered.equity_cap = self.terminal.ask_for("Equity cap in USDC", default, |answer| match answer {
            "none" if !is_needed => Ok(None),
            _ => parse_usdc(answer.trim_end_matches("USDC").trim()).map(Some),
        })?;
        Ok(true)
    }

    fn listen(&mut self) -> Asked {
        if self.given.listen.is_some() {
            return Ok(false);
        }
        self.terminal.say("\nThe bot reaches the guard at this address, on this machine.\n")?;
        let before = self.config().listen.to_string();
        let listen = self.terminal.ask_for("Listen address", Some(&before), parse_listen)?;
        if let Some(warning) = open_to_others(listen) {
            self.terminal.say(&format!("  Warning: {warning}\n"))?;
        }
        self.answered.listen = Some(listen);
        Ok(true)
    }

    /// The share of this machine's allowance at the venue.
    fn ip_share(&mut self) -> Asked {
        if self.given.ip_share.is_some() {
            return Ok(false);
        }
        self.terminal.say("\nThe venue counts requests by machine. With N guards on this machine each takes 1/N.\n")?;
        let before = self.config().ip_share.to_string();
        let read = |answer: &str| {
            IpShare::parse(answer).map_err(|error| format!("{error}: try {}", IpShare::likely(answer, None)))
        };
        self.answered.ip_share = Some(self.terminal.ask_for("Share", Some(&before), read)?);
        Ok(true)
    }

    fn confirm_mainnet(&mut self) -> Asked {
        let config = self.config();
        config.check(&self.home.config_file()).map_err(Refusal::Config)?;
        if config.mode != Mode::Mainnet {
            return Ok(false);
        }
        let is_open = self.given.confirm_mainnet.is_none();
        if is_open {
            self.terminal.say(
                "\nMainnet trades real money. Type the account's address once more to say that this is meant.\n",
            )?;
            self.terminal.ask_for("Account once more", None, |answer| match parse_address(answer)? {
                said if said == config.account => Ok(()),
                _ => Err(format!("is not {}", config.account)),
            })?;
        }
        mainnet::check_set_up(&config, self.given.confirm_mainnet.or(Some(config.account)), true)?;
        Ok(is_open)
    }

    /// The API wallet's key and its owner, asked for until the venue takes it or it is left out. One that was taken is the
    /// default of who comes back here, and is checked again: the account may be another one.
    fn api_wallet(&mut self) -> Asked {
        let before = self.api_wallet.take();
        let config = self.config();
        if config.mode == Mode::Paper || self.given.no_key {
            return Ok(false);
        }
        self.terminal.say(
            "\nThe API wallet is a key that the venue lets trade for the account, and not withdraw. Approve one at the venue \
             and give its key here; it is not shown as you type, is checked with the venue, and kept on this machine only.\n",
        )?;
        let question = before.as_ref().map_or_else(
            || "API wallet key (Enter: none now)".to_owned(),
            |(key, _)| format!("API wallet key (Enter: the one of {}, `none`: none now)", key.address()),
        );
        loop {
            let typed = self.terminal.ask_hidden(&question)?;
            if typed.as_slice() == BACK.as_bytes() {
                self.api_wallet = before;
                return Err(Refusal::Back);
            }
            let owner_of = |key: &SecretKey| wallet::check(&config, self.found.clients(), key.address());
            let checked = match (typed.as_slice(), &before) {
                (b"none", _) | (b"", None) => return self.no_key(),
                (b"", Some((key, _))) => owner_of(key).map(|owner| (None, owner)),
                (typed, _) => read_key(typed, "what was typed")
                    .map_err(Refusal::Key)
                    .and_then(|key| owner_of(&key).map(|owner| (Some(key), owner))),
            };
            match checked {
                Ok((key, owner)) => {
                    let key = key.or_else(|| before.map(|(key, _)| key));
                    self.api_wallet = key.map(|key| (key, owner));
                    return Ok(true);
                }
                Err(refusal) => self.terminal.say(&format!("  {refusal}\n"))?,
            }
        }
    }

    fn no_key(&self) -> Asked {
        self.terminal.say("  No key: `svc-guard key replace --key-stdin < FILE` installs one later.\n")?;
        if self.given.key_store == KeyStoreChoice::HostCreds {
            self.terminal.say("  So --key-store host-creds has nothing to seal.\n")?;
        }
        Ok(true)
    }

    fn client_key_out(&mut self) -> Asked {
        if let Some(file) = &self.given.client_key_out {
            self.client_key_out = Some(file.clone());
            return Ok(false);
        }
        self.terminal.say(
            "\nThe bot signs with a client key, which is made now. Name a new file for it, or have it shown once.\n",
        )?;
        const SHOWN: &str = "show it";
        let before = self.client_key_out.as_deref().map_or(SHOWN.into(), Path::to_string_lossy);
        self.client_key_out =
            self.terminal.ask_for("File for the client key", Some(&before), |answer| match answer {
                SHOWN => Ok(None),
                word if new_file::is_answer(word) => Err(format!(
                    "is taken for no file's name: `{SHOWN}` has the key shown once, and a new file is named by its path, such as ./bot.key"
                )),
                file => new_file::check(file, self.home).map(Some),
            })?;
        Ok(true)
    }

    fn agree(&mut self) -> Asked {
        let key = self.api_wallet.as_ref().map(|(key, _)| key.address());
        let text = summary::text(self.home, &self.config(), key, self.given.key_store, self.client_key_out.as_deref());
        self.terminal.say(&text)?;
        if self.terminal.agree("Set up now?", true)? {
            Ok(true)
        } else {
            Err(Refusal::Flags("not set up; nothing was written"))
        }
    }
}
