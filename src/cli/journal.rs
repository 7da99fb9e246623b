//! `journal-init`, `journal-resume` and `journal-show`: the risk journal in a person's hands.

use rust_decimal::Decimal;

use super::configured::configured;
use super::equity::{self, Measured};
use super::output::{check_open, print, report};
use super::refusal::Refusal;
use super::running_here::is_running;
use super::{mainnet, running_here, values};
use crate::base::amount::cents;
use crate::base::clock::now_ms;
use crate::base::day::{Day, day_of};
use crate::base::mode::Mode;
use crate::base::shell::{confirmation, word};
use crate::base::text::without_keys;
use crate::guard::DaysLoss;
use crate::home::{Config, Home};
use crate::journal::{self, OpenError, Options, RiskLine, read_risk};
use crate::record::risk_record::{Init, Resume, RiskRecord};
use crate::service;

#[derive(Debug, clap::Args)]
pub(super) struct ChangeArgs {
    /// The journal's mode
    #[arg(long, value_parser = values::mode())]
    mode: Mode,
    /// Why; it is written into the journal
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true, value_parser = values::reason)]
    note: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The journal's mode
    #[arg(long, value_parser = values::mode())]
    mode: Mode,
}

/// What a journal that takes the place of another one does not know.
const FORGOTTEN: &str = "Another journal of this account was here before: the day's loss, the peak and any halt that stood in it are \
     forgotten, and losses count from this equity on.\n";

/// Starts a risk journal at the account's equity now.
pub(super) fn init(args: &ChangeArgs, home: &Home) -> Result<(), Refusal> {
    let config = config_of("journal-init", args, home)?;
    let dir = home.journal_dir(args.mode, config.account);
    // Said before the venue is asked; the file itself is made so that it never replaces one.
    if read_risk(&dir).is_ok() {
        return Err(Refusal::Given(format!(
            "there is a risk journal already, and it is never replaced; `svc-guard journal-show --mode {}` prints it",
            args.mode
        )));
    }
    running_here::refuse_beside(home)?;
    let Measured { equity, venue_ms } = equity::now(&config)?;
    let record = RiskRecord::Init(Init {
        at_ms: now_ms(),
        mode: args.mode.name().into(),
        account: config.account.to_string(),
        account_network: config.account_network.name().into(),
        venue_ms: Some(venue_ms),
        equity: Some(equity),
        note: args.note.clone(),
    });
    let _lock = home.lock().map_err(Refusal::Home)?;
    home.create().map_err(Refusal::Home)?;
    let (mode, account) = (args.mode, config.account);
    let had_written = home.has_written(mode, account);
    let witness = home.journal_witness(mode, account);
    journal::create_risk(&dir, &record.to_line(), Some(&witness)).map_err(|error| Refusal::Journal(error, mode))?;
    let done = format!("The risk journal for {mode} of {account} starts at an equity of {} USDC.", cents(equity));
    // Left by a service that ran on another journal of this account.
    let forgets = if had_written { FORGOTTEN } else { "" };
    report(&format!("{done}\n{forgets}"), &done)
}

/// Why a start would refuse this home's journal, in words.
pub(super) fn hindrance(home: &Home, config: &Config) -> Option<String> {
    let dir = home.journal_dir(config.mode, config.account);
    let witness = home.journal_witness(config.mode, config.account);
    let error = journal::check_risk(&dir, &service::journal_owner(config), Some(&witness)).err()?;
    Some(unread("journal-show", error, config.mode, config, home).to_string())
}

/// Clears a drawdown halt: the peak starts anew at the account's equity now.
pub(super) fn resume(args: &ChangeArgs, home: &Home) -> Result<(), Refusal> {
    let config = config_of("journal-resume", args, home)?;
    let owner = service::journal_owner(&config);
    let witness = Some(home.journal_witness(args.mode, config.account));
    let options = Options { fallback: config.journal_fallback.clone(), witness, owner, ..Options::default() };
    let dir = home.journal_dir(args.mode, config.account);
    // Looked at before it is opened, so that a refusal leaves nothing behind.
    let unread = |error| unread("journal-show", error, args.mode, &config, home);
    let lines: Result<Vec<String>, _> = read_risk(&dir).map_err(unread)?.collect();
    let lines = lines.map_err(unread)?;
    if let Err(refusal) = refuse_unless_stopped(&lines, args.mode) {
        // One that somebody changed may not show the halt that it told of.
        let checked = if is_running(home) {
            Ok(())
        } else {
            journal::check_risk(&dir, &options.owner, options.witness.as_deref())
        };
        checked.map_err(|error| Refusal::Journal(error, args.mode))?;
        return Err(refusal);
    }
    // Locked from here on: a service that runs, or starts meanwhile, is noticed.
    let (mut store, opened) = journal::open(&dir, &options).map_err(|error| Refusal::Journal(error, args.mode))?;
    refuse_unless_stopped(&opened.risk, args.mode)?;
    let Measured { equity, venue_ms } = equity::now(&config)?;
    let (at_ms, note) = (now_ms(), args.note.clone());
    let record = RiskRecord::Resume(Resume { at_ms, venue_ms: Some(venue_ms), equity: Some(equity), note });
    let line = RiskLine { text: record.to_line() };
    store.append(now_ms(), Vec::new(), vec![line]).map_err(Refusal::NotWritten)?;
    let still = days_loss(&config, home, &opened.risk, equity, day_of(venue_ms)).unwrap_or_default();
    let done = format!("The drawdown halt is cleared; the peak starts anew at {} USDC.", cents(equity));
    report(&format!("{done}\n{still}"), &done)
}

/// What to say where the day's own loss is at its limit: the next start halts for the rest of the day.
fn days_loss(config: &Config, home: &Home, records: &[String], equity: Decimal, today: Day) -> Option<String> {
    let DaysLoss { day, loss, limit } = service::days_loss(home, config, records, equity)?;
    let is_over = day == today && limit > Decimal::ZERO && loss >= limit;
    is_over.then(|| {
        format!(
            "The day's loss is about {} USDC, and its limit {}: a service that starts today halts for the rest \
             of the UTC day.\n",
            cents(loss),
            cents(limit)
        )
    })
}

/// The config, if it is of this mode and its owner asks; on mainnet with a person's confirmation.
fn config_of(command: &str, args: &ChangeArgs, home: &Home) -> Result<Config, Refusal> {
    let config = configured(home)?;
    home.require_own().map_err(Refusal::Home)?;
    if args.note.trim().is_empty() {
        return Err(Refusal::Given(format!(
            "--note must say why; it is written into the journal: `svc-guard {command} --mode {} --note 'looked into it'`",
            args.mode
        )));
    }
    if without_keys(&args.note) != args.note {
        return Err(Refusal::Flags(
            "--note holds over 40 hex digits, which may be a key, and is written into the journal: leave them out; if it was a key, \
             approve a new API wallet at the venue in its place",
        ));
    }
    if args.mode != config.mode {
        let (asked, way) = (args.mode, way_to(command, &config, home));
        return Err(Refusal::Given(format!(
            "--mode {asked} is not the config's mode, {}; {way}, and --home DIR names another home",
            config.mode
        )));
    }
    if args.mode == Mode::Mainnet {
        mainnet::check_confirmed(&config).map_err(|refusal| {
            let whole = for_own(command, &config).replace("TEXT", &word(&args.note));
            Refusal::Given(format!("{refusal}: `{whole}`"))
        })?;
    }
    Ok(config)
}

/// What can be done with the journal of this home's own mode: what was asked for, or else a look at it.
fn way_to(command: &str, config: &Config, home: &Home) -> String {
    let own = config.mode;
    let records = read_risk(&home.journal_dir(own, config.account))
        .ok()
        .and_then(|lines| lines.collect::<Result<Vec<_>, _>>().ok());
    let is_of_use = match &records {
        None => command == "journal-init",
        Some(records) => command == "journal-resume" && is_stopped(records),
    };
    match (is_of_use, records) {
        (true, _) => format!("`{}` is for that one", for_own(command, config)),
        (false, Some(_)) => format!("`svc-guard journal-show --mode {own}` prints that one's, which needs none of it"),
        (false, None) => format!("that one has no journal yet: `{}` starts it", for_own("journal-init", config)),
    }
}

/// A command that changes the journal of this home's own mode, on mainnet with a person's word.
fn for_own(command: &str, config: &Config) -> String {
    let word = match config.mode {
        Mode::Mainnet => confirmation(config.account),
        Mode::Paper | Mode::Testnet => String::new(),
    };
    format!("{word}svc-guard {command} --mode {} --note TEXT", config.mode)
}

/// Why a journal that was asked for cannot be read, with what would work where it is typed: another mode's is begun in another
/// home, and mainnet's with a person's word.
pub(super) fn unread(command: &str, error: OpenError, asked: Mode, config: &Config, home: &Home) -> Refusal {
    let own = config.mode;
    match error {
        OpenError::NoRiskJournal(folder) if asked != own => {
            let has_own = home.journal_dir(own, config.account).exists();
            let way = if has_own {
                format!(", whose journal `svc-guard {command} --mode {own}` reads")
            } else {
                String::new()
            };
            Refusal::Given(format!(
                "there is no risk journal in {}: this home is set up for {own}{way}; --home DIR names another home",
                folder.display()
            ))
        }
        OpenError::NoRiskJournal(folder) => {
            let error = if home.has_written(own, config.account) {
                OpenError::Lost(folder)
            } else {
                OpenError::NoRiskJournal(folder)
            };
            let told = Refusal::Journal(error, asked).to_string();
            let typed = format!("`svc-guard journal-init --mode {own} --note TEXT`");
            Refusal::Given(told.replace(&typed, &format!("`{}`", for_own("journal-init", config))))
        }
        error => Refusal::Journal(error, asked),
    }
}

fn refuse_unless_stopped(records: &[String], mode: Mode) -> Result<(), Refusal> {
    if is_stopped(records) {
        return Ok(());
    }
    Err(Refusal::Given(format!(
        "there is no drawdown halt to clear: a daily loss stop ends by itself with the UTC day, and a kill when a person \
         removes the kill file and restarts; `svc-guard journal-show --mode {mode}` prints the records"
    )))
}

/// Whether the last word of a risk journal is a drawdown halt.
fn is_stopped(records: &[String]) -> bool {
    let mut turns = records.iter().rev().filter_map(|line| match RiskRecord::parse(line)? {
        RiskRecord::Halt(halt) => Some(halt.state == "stopped"),
        RiskRecord::Resume(_) | RiskRecord::Init(_) => Some(false),
        _ => None,
    });
    turns.next().unwrap_or(false)
}

pub(super) fn show(args: &ShowArgs, home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    let unread = |error| unread("journal-show", error, args.mode, &config, home);
    check_open()?;
    let mut first_damage = None;
    for line in read_risk(&home.journal_dir(args.mode, config.account)).map_err(unread)? {
        match line {
            Ok(line) => print(&format!("{line}\n"))?,
            // What is behind it is shown all the same.
            Err(damage @ OpenError::Damaged(_)) => _ = first_damage.get_or_insert(damage),
            Err(error) => return Err(unread(error)),
        }
    }
    let dir = home.journal_dir(args.mode, config.account);
    // One that a guard writes meanwhile may end within a line. Of whichever mode it is, it is shown.
    let checked = || if is_running(home) { Ok(()) } else { journal::check_risk(&dir, &[], None) };
    first_damage.map_or_else(checked, Err).map_err(unread)
}

#[cfg(test)]
mod tests {
    use rust_decimal::dec;

    use super::*;
    use crate::base::address::Address;
    use crate::home::Deployment;
    use crate::rules::Rules;

    #[test]
    fn a_days_loss_at_its_limit_is_told_of() {
        let config = Config::new(Mode::Paper, Address([1; 20]), Rules::default(), Deployment::default());
        let today = day_of(1_800_000_000_000);
        let home = Home::resolve(Some("/nonexistent".into()), None, false).unwrap();
        let day = format!(r#"{{"kind":"day","day":"{today}","venue_ms":1800000000000,"equity":"10000"}}"#);
        let flow = |usd: &str, before: &str| {
            format!(r#"{{"kind":"flow","type":"send","time_ms":1800000001000,"usd":"{usd}","before":{before}}}"#)
        };
        let told = |config: &Config, flow: String, equity, day_asked| {
            days_loss(config, &home, &[day.clone(), flow], equity, day_asked)
        };
        let deposit = || flow("100", "null");
        assert_eq!(told(&config, deposit(), dec!(9595.01), today), None);
        assert!(
            told(&config, deposit(), dec!(9595), today).unwrap().contains("about 505.00 USDC, and its limit 505.00")
        );
        assert_eq!(told(&config, deposit(), dec!(1), day_of(1_800_086_400_000)), None);
        let capped = Config { equity_cap: Some(dec!(1000)), ..config.clone() };
        assert!(told(&capped, deposit(), dec!(10050), today).unwrap().contains("limit 50.00"));
        // The guard's own limit: of what a withdrawal has left, in parts of what there was.
        let withdrawn = || flow("-6000", "\"10000\"");
        assert_eq!(told(&config, withdrawn(), dec!(3800.01), today), None);
        assert!(
            told(&config, withdrawn(), dec!(3725), today).unwrap().contains("about 275.00 USDC, and its limit 200.00")
        );
        let after_a_loss = told(&config, flow("-2000", "\"9700\""), dec!(7000), today).unwrap();
        assert!(after_a_loss.contains("limit 396.91"), "{after_a_loss}");
    }
}
