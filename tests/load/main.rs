//! The figures, measured in one run: `cargo run --release --example load`.
//!
//! Each number stands beside the reference that was measured in the same run on the same machine, their ratio, and
//! the figure to reach. Nothing is asserted: on a busy machine, or another disk, numbers tell that too. The exit
//! status is 0 unless a request was refused or something broke, because then nothing was measured.

mod bare;
#[path = "../demo/bot.rs"]
mod bot;
mod feed;
#[path = "../demo/guard.rs"]
mod guard;
mod history;
mod orders;
mod phases;
#[path = "../demo/program.rs"]
mod program;
mod reference;
mod relay;
mod report;
mod samples;
#[path = "../venue_sim/sim/mod.rs"]
mod sim;
mod soak;
mod starts;
mod strangers;
mod table;
mod watch;
mod wire;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use bare::Work;
use clap::Parser;
use phases::{Pair, Paper};
use reference::Reference;
use samples::Nanos;
use table::Table;

/// Requests one after the other in paper mode.
const ONE_BY_ONE: u64 = 2_000;
/// Requests through a live guard: with its start and its own reads they stay within a client's part of 1200 weight a minute.
const LIVE: u64 = 120;
/// Connections, requests of each and time of the flood.
const CONNECTIONS: usize = 16;
const FLOOD: u64 = 2_000;
const FLOOD_FOR: Duration = Duration::from_secs(10);
/// Decisions of one client, quiet and beside another.
const BESIDE: u64 = 1_000;
/// Idle before it is stopped.
const IDLE: Duration = Duration::from_secs(2);

/// Measures the guard against its figures
#[derive(Parser)]
struct Arguments {
    /// Where the throw-away homes are made: the disk that is measured [default: the folder for temporary files]
    #[arg(long)]
    folder: Option<PathBuf>,
    /// How long cover, a kill and a halt take instead, also while reads of the venue hang, at this share (1 or 1/8):
    /// some minutes
    #[arg(long, value_name = "SHARE")]
    watch: Option<String>,
    /// Seconds that each guard of `--watch` has run before
    #[arg(long, default_value_t = 1)]
    after: u64,
    /// What the live feed brings instead: some minutes
    #[arg(long)]
    feed: bool,
    /// What the relay adds instead, and what clients of it cost
    #[arg(long)]
    relay: bool,
    /// So many minutes beside a feed with troubles at random instead
    #[arg(long, value_name = "MINUTES")]
    soak: Option<u64>,
    /// What the troubles of `--soak` are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Starts behind a million events instead: takes a gigabyte
    #[arg(long)]
    starts: bool,
    /// A report of a year with a million fills instead: takes two gigabytes
    #[arg(long)]
    report: bool,
    /// A bot beside strangers' connections instead
    #[arg(long)]
    strangers: bool,
    /// One client beside another instead, so many times
    #[arg(long, default_value_t = 0)]
    beside: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("load: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    if cfg!(debug_assertions) {
        eprintln!("load: not a release build; its numbers say nothing (cargo run --release --example load)");
    }
    let program = program::find()?;
    let parent = arguments.folder.clone().unwrap_or_else(std::env::temp_dir);
    let folder = tempfile::Builder::new().prefix("svc-guard-load-").tempdir_in(&parent);
    let folder = folder.map_err(|error| format!("{}: {error}", parent.display()))?;
    match arguments {
        Arguments { watch: Some(share), after, .. } => {
            watch::print(&program, folder.path(), share, Duration::from_secs(*after))
        }
        Arguments { feed: true, .. } => feed::print(&program, folder.path()),
        Arguments { relay: true, .. } => relay::print(&program, folder.path()),
        Arguments { soak: Some(minutes), seed, .. } => soak::print(&program, folder.path(), *minutes, *seed),
        Arguments { starts: true, .. } => starts::print(&program, folder.path()),
        Arguments { report: true, .. } => report::print(&program, folder.path()),
        Arguments { strangers: true, .. } => strangers::print(&Pair::start(&program, folder.path(), false, 1)?),
        Arguments { beside: 0, .. } => measure(&program, folder.path()).map(|table| println!("{table}")),
        Arguments { beside, .. } => (0..*beside).try_for_each(|_| {
            let mut table = Table::default();
            beside_another(&program, folder.path(), &mut table)?;
            println!("{table}");
            Ok(())
        }),
    }
}

fn measure(program: &Path, folder: &Path) -> Result<Table, String> {
    let mut table = Table::default();

    let pair = Pair::start(program, folder, false, 1)?;
    let paper = Paper::prepare(&pair, ONE_BY_ONE)?;
    let event_bytes = pair.event_bytes()?;
    let mut reference = Reference::new(folder, event_bytes)?;
    let paper = paper.run(&mut reference)?;
    pair.guard.stop()?;
    let what = |percent: &str| format!("decision in paper mode, {} one by one, {percent}", paper.len());
    let least = reference.recovery().plus(reference.sync());
    let told = format!("recovery {} + fdatasync {}", reference.recovery(), reference.sync());
    table.ratio(what("p50"), paper.percentile(50), (told.clone(), least), "1.35");
    table.ratio(what("p99"), paper.percentile(99), (told, least), "5");
    for (work, name) in [(Work::Here, "on one thread"), (Work::Shared, "handed to a thread")] {
        let bare = bare::measure(folder, event_bytes, work)?;
        table.least(format!("recovery + fdatasync behind a bare socket, {name}"), bare.percentile(50), least);
    }

    let pair = Pair::start(program, folder, true, 1)?;
    let mut reference = Reference::new(folder, event_bytes)?;
    let [added, direct] = phases::live(&pair, LIVE, &mut reference)?;
    pair.guard.stop()?;
    let (recovery, sync, signing) = (reference.recovery(), reference.sync(), reference.signing());
    let what = format!("added to {} live requests of {}, p50", added.len(), direct.percentile(50));
    let told = format!("recovery {recovery} + fdatasync {sync} + signature {signing}");
    table.ratio(what, added.percentile(50), (told, recovery.plus(sync).plus(signing)), "1.5");

    let pair = Pair::start(program, folder, false, CONNECTIONS)?;
    let mut reference = Reference::new(folder, event_bytes)?;
    let flood = phases::flood(&pair, FLOOD, FLOOD_FOR, &mut reference)?;
    let what = format!("decisions a second, {CONNECTIONS} connections, {} CPU each", flood.each);
    table.rate(what, &flood, reference.recovery())?;
    std::thread::sleep(IDLE);
    let resident_kib = phases::resident_kib(&pair.guard)?;
    let (stopped, _) = pair.guard.stop()?;
    table.most("SIGTERM to exit when idle", Nanos::of(stopped).0 / 1_000_000, "ms", 1_000);
    table.most("resident memory after the flood", resident_kib, "KiB", 40 * 1024);

    beside_another(program, folder, &mut table)?;
    let size = std::fs::metadata(program).map_err(|error| error.to_string())?.len();
    table.most("the program on disk", size / 1024, "KiB", 8 * 1024);
    Ok(table)
}

/// What one client notices of another.
fn beside_another(program: &Path, folder: &Path, table: &mut Table) -> Result<(), String> {
    let pair = Pair::start(program, folder, false, 2)?;
    let [quiet, beside] = phases::beside_another(&pair, BESIDE)?;
    pair.guard.stop()?;
    for percent in [50, 99] {
        let what = format!("a client's {} decisions beside another at full speed, p{percent}", beside.len());
        let quiet = quiet.percentile(percent);
        table.ratio(what, beside.percentile(percent), (format!("the same, quiet: {quiet}"), quiet), "2");
    }
    Ok(())
}
