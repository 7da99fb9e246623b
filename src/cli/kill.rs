//! `kill`: pulls the kill switch.

use super::output::print;
use super::refusal::Refusal;
use crate::base::kill_file::Pulled;
use crate::base::kill_watch::KillWatch;
use crate::home::Home;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Why: one line, at most 200 characters (the rest is cut)
    #[arg(long, value_name = "TEXT")]
    reason: String,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let kill = home.kill_file();
    let path = kill.path().display();
    let pulled = kill.pull(&args.reason).map_err(|error| Refusal::NotPulled(kill.path().to_owned(), error))?;
    let found = match pulled {
        Pulled::Now => "The kill switch is pulled",
        Pulled::Before => "The kill switch was pulled before",
    };
    if KillWatch::is_watched(&kill) == Some(false) {
        return Err(Refusal::Unheard(kill.path().to_owned(), kill.reason()));
    }
    print(&format!(
        "{found}: {}\nA running service opens nothing and closes everything. Only a person releases it: remove {path} and \
         restart the service.\n",
        kill.reason(),
    ))
}
