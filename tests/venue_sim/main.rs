//! The simulated venue as a program, on a loopback port that it prints.

#[cfg(test)]
mod checks;
mod sim;

use clap::{Parser, ValueEnum};
use rust_decimal::Decimal;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use sim::{Sim, SimConfig};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use svc_guard::base::address::Address;
use svc_guard::venue::signing::Source;

/// A simulated venue on a loopback port.
#[derive(Parser)]
struct Arguments {
    /// Loopback address to listen on; port 0 takes a free one.
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// The account that trades.
    #[arg(long)]
    account: Address,
    /// An API wallet of the account; may be given several times.
    #[arg(long = "agent", required = true)]
    agents: Vec<Address>,
    /// The account's owner, when the account is a sub-account or vault; the API wallets are then the owner's.
    #[arg(long)]
    master: Option<Address>,
    /// USDC the account starts with.
    #[arg(long, default_value = "10000")]
    equity: Decimal,
    /// Seed of a random walk of all prices; without it they stand still until told.
    #[arg(long)]
    seed: Option<u64>,
    /// Which signatures and asset ids.
    #[arg(long, value_enum, default_value = "testnet")]
    network: NetworkName,
}

#[derive(Clone, Copy, ValueEnum)]
enum NetworkName {
    Testnet,
    Mainnet,
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("venue_sim: {error}");
            ExitCode::from(2)
        }
    }
}

/// Serves until SIGTERM or SIGINT.
fn run(arguments: Arguments) -> io::Result<()> {
    let Arguments { listen, account, agents, master, equity, seed, network } = arguments;
    let network = match network {
        NetworkName::Testnet => Source::Testnet,
        NetworkName::Mainnet => Source::Mainnet,
    };
    let mut signals = Signals::new([SIGTERM, SIGINT])?;
    let handle = Sim::start(SimConfig { listen, account, agents, master, equity, seed, network })?;
    let mut stdout = io::stdout();
    writeln!(stdout, "listening on {}", handle.url())?;
    stdout.flush()?;
    signals.forever().next();
    Ok(())
}
