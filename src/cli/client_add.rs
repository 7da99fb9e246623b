//! `client add`: a new client key in a new file, never shown.

use std::fs;
use std::path::PathBuf;

use super::configured::LockedConfig;
use super::init::expanded;
use super::output::print;
use super::refusal::Refusal;
use super::set_up::SignalsBlocked;
use super::usage::check_new_key_file;
use crate::base::files::Replace;
use crate::home::{Home, generate_key, write_key_file};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// New file for the key, readable by its owner only
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    check_new_key_file(&args.out, "--out FILE")?;
    let out = args.out.to_str().map_or_else(|| args.out.clone(), expanded);
    let locked = LockedConfig::open(home)?;
    home.check_new_file(&out).map_err(Refusal::Home)?;
    let key = generate_key().map_err(|error| Refusal::Io("make a key", error))?;
    // No signal comes between the key's file and the config that lists it.
    let _whole = SignalsBlocked::new();
    write_key_file(&out, &key, Replace::No).map_err(Refusal::File)?;
    if let Err(refusal) = locked.add_client(key.address()) {
        // A key that no guard accepts is of no use; what was refused leaves nothing behind.
        _ = fs::remove_file(&out);
        return Err(refusal);
    }
    let told = print(&format!(
        "client key      in {}\nclient address  {}\nA running service accepts it after a restart.\n",
        out.display(),
        key.address(),
    ));
    told.map_err(|refusal| {
        _ = fs::remove_file(&out);
        locked.undone(&refusal)
    })
}
