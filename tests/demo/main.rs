//! The guard at work, in one command: `cargo run --release --example demo`.
//!
//! It starts a simulated venue, the real program in front of it in a throw-away home, and a bot; shows with numbers what
//! the guard does to the bot's requests, checks every step against the venue's own record, and then runs on, so
//! that one can look around. `--once` ends it after the last scene instead. All of it stays on 127.0.0.1, with keys
//! that are obviously no keys.

mod bot;
mod guard;
mod program;
mod scenes;
#[path = "../venue_sim/sim/mod.rs"]
mod sim;
mod stage;
mod watch;

use std::fmt;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use scenes::SCENES;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use stage::Stage;

/// The guard's own default port, so that what is shown is what a reader will meet.
const DEFAULT_PORT: u16 = 8547;
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Shows the guard at work against a simulated venue
#[derive(Parser)]
struct Arguments {
    /// Where the guard listens [default: 127.0.0.1:8547, or a free port when that is taken]
    #[arg(long, value_name = "127.0.0.1:PORT")]
    listen: Option<SocketAddr>,
    /// End after the last scene: exit 0 if all went as told
    #[arg(long)]
    once: bool,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("demo: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    // Taken first: a Ctrl-C at any moment ends what was started as well.
    let mut signals = Signals::new([SIGINT, SIGTERM]).map_err(|error| format!("signals cannot be taken: {error}"))?;
    let listen = arguments.listen.unwrap_or_else(free_default);
    let mut stage = Stage::set(&listen.to_string())?;
    for (number, scene) in (1..).zip(SCENES) {
        say(format_args!("\n{number}. {}", scene.title));
        (scene.play)(&mut stage).map_err(|error| format!("scene {number} did not go as told: {error}"))?;
        if signals.pending().next().is_some() {
            return stage.clear();
        }
    }
    if !arguments.once {
        say("\nCtrl-C ends the demo and removes all it made.");
        while signals.pending().next().is_none() {
            if let Some(status) = stage.guard.ended() {
                return Err(format!("svc-guard ended by itself: {status}"));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
    stage.clear()
}

/// The default address while nothing listens there.
fn free_default() -> SocketAddr {
    let default = SocketAddr::from((Ipv4Addr::LOCALHOST, DEFAULT_PORT));
    if TcpListener::bind(default).is_ok() { default } else { SocketAddr::from((Ipv4Addr::LOCALHOST, 0)) }
}

/// One line for whoever watches. A reader that went away stops nothing.
fn say(line: impl fmt::Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}
