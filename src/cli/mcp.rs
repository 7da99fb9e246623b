//! `mcp`: the server for AI agents. Reads no environment variable.

use std::path::PathBuf;

use super::{Refusal, values};
use crate::home::{Mode, parse_address};
use crate::venue::Address;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The guard's mode
    #[arg(long, value_parser = values::mode())]
    network: Option<Mode>,
    /// File with the client key
    #[arg(long, value_name = "FILE", conflicts_with = "key_stdin")]
    key_file: Option<PathBuf>,
    /// Read the client key from standard input
    #[arg(long)]
    key_stdin: bool,
    /// The guard's base URL, on this machine
    #[arg(long, value_name = "URL")]
    guard_url: Option<String>,
    /// The account that the guard must be guarding
    #[arg(long, value_name = "0x...", value_parser = parse_address)]
    confirm_account: Option<Address>,
    /// The kill file to watch
    #[arg(long, value_name = "FILE")]
    kill_file: Option<PathBuf>,
}

pub(super) fn run(_args: &Args) -> Result<(), Refusal> {
    Err(Refusal::NotYet("`mcp`"))
}
