//! `journal-init`, `journal-resume` and `journal-show`: the risk journal in a person's hands.

use super::configured::configured;
use super::equity::{self, Measured};
use super::output::print;
use super::refusal::Refusal;
use super::{mainnet, values};
use crate::base::amount::to_wire;
use crate::base::clock::now_ms;
use crate::base::mode::Mode;
use crate::home::{Config, Home};
use crate::journal::{self, Options, RiskLine, read_risk};
use crate::record::risk_record::{Init, Resume, RiskRecord};

#[derive(Debug, clap::Args)]
pub(super) struct ChangeArgs {
    /// The journal's mode
    #[arg(long, value_parser = values::mode())]
    mode: Mode,
    /// Why; it is written into the journal
    #[arg(long, value_name = "TEXT")]
    note: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct ShowArgs {
    /// The journal's mode
    #[arg(long, value_parser = values::mode())]
    mode: Mode,
}

/// Starts a risk journal at the account's equity now.
pub(super) fn init(args: &ChangeArgs, home: &Home) -> Result<(), Refusal> {
    let config = config_of(args, home)?;
    let dir = home.journal_dir(args.mode, config.account);
    // Said before the venue is asked; the file itself is made so that it never replaces one.
    if read_risk(&dir).is_ok() {
        return Err(Refusal::Flags(
            "there is a risk journal already, and it is never replaced; journal-show prints it",
        ));
    }
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
    journal::create_risk(&dir, &record.to_line()).map_err(Refusal::Journal)?;
    print(&format!(
        "The risk journal for {} of {} starts at an equity of {} USDC.\n",
        args.mode,
        config.account,
        to_wire(equity)
    ))
}

/// Clears a drawdown halt: the peak starts anew at the account's equity now.
pub(super) fn resume(args: &ChangeArgs, home: &Home) -> Result<(), Refusal> {
    let config = config_of(args, home)?;
    let owner = crate::service::journal_owner(&config);
    let options = Options { fallback: config.journal_fallback.clone(), owner, ..Options::default() };
    let dir = home.journal_dir(args.mode, config.account);
    // Looked at before it is opened, so that a refusal leaves nothing behind.
    let lines: Result<Vec<String>, _> = read_risk(&dir).map_err(Refusal::Journal)?.collect();
    let lines = lines.map_err(Refusal::Journal)?;
    refuse_unless_stopped(&lines)?;
    // Locked from here on: a service that runs, or starts meanwhile, is noticed.
    let (mut store, opened) = journal::open(&dir, &options).map_err(Refusal::Journal)?;
    refuse_unless_stopped(&opened.risk)?;
    let Measured { equity, venue_ms } = equity::now(&config)?;
    let (at_ms, note) = (now_ms(), args.note.clone());
    let record = RiskRecord::Resume(Resume { at_ms, venue_ms: Some(venue_ms), equity: Some(equity), note });
    let line = RiskLine { text: record.to_line() };
    store.append(now_ms(), Vec::new(), vec![line]).map_err(Refusal::NotWritten)?;
    print(&format!("The drawdown halt is cleared; the peak starts anew at {} USDC.\n", to_wire(equity)))
}

/// The config, if it is of this mode and its owner asks; on mainnet with a person's confirmation.
fn config_of(args: &ChangeArgs, home: &Home) -> Result<Config, Refusal> {
    let config = configured(home)?;
    home.require_own().map_err(Refusal::Home)?;
    if args.note.trim().is_empty() {
        return Err(Refusal::Flags("--note must say why; it is written into the journal"));
    }
    if args.mode != config.mode {
        return Err(Refusal::Flags("--mode is not the config's mode; `svc-guard config get mode` prints that"));
    }
    if args.mode == Mode::Mainnet {
        mainnet::check_confirmed(&config)?;
    }
    Ok(config)
}

fn refuse_unless_stopped(records: &[String]) -> Result<(), Refusal> {
    if is_stopped(records) {
        return Ok(());
    }
    Err(Refusal::Flags("there is no drawdown halt to clear; journal-show prints the records"))
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
    for line in read_risk(&home.journal_dir(args.mode, config.account)).map_err(Refusal::Journal)? {
        print(&format!("{}\n", line.map_err(Refusal::Journal)?))?;
    }
    Ok(())
}
