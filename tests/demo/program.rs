//! The `svc-guard` program beside this example: found, and built first where it is missing or older than its source.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

/// The program of the profile that this example was built with.
pub(crate) fn find() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find out where this program is: {error}"))?;
    let folder = own.parent().and_then(Path::parent).ok_or("this program is in no target folder")?;
    let program = folder.join("svc-guard");
    if built_at(&program) < newest_source() {
        build(folder)?;
    }
    Ok(program)
}

/// `None`, which is before any time, where it was never built.
fn built_at(program: &Path) -> Option<SystemTime> {
    fs::metadata(program).and_then(|metadata| metadata.modified()).ok()
}

/// When a file that the program is built from was last changed; `None` where the source is gone.
fn newest_source() -> Option<SystemTime> {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut newest = None;
    let mut paths = vec![project.join("src"), project.join("Cargo.toml"), project.join("Cargo.lock")];
    while let Some(path) = paths.pop() {
        let Ok(metadata) = fs::metadata(&path) else { continue };
        if metadata.is_dir() {
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            paths.extend(entries.map(|entry| entry.path()));
        } else {
            newest = newest.max(metadata.modified().ok());
        }
    }
    newest
}

fn build(folder: &Path) -> Result<(), String> {
    let profile = match folder.file_name().and_then(OsStr::to_str) {
        None | Some("debug") => "dev",
        Some(name) => name,
    };
    eprintln!("building the svc-guard program first (cargo build --profile {profile} --bin svc-guard) ...");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--quiet", "--bin", "svc-guard", "--profile", profile, "--manifest-path"])
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .arg("--target-dir")
        .arg(folder.parent().unwrap_or(folder))
        .status()
        .map_err(|error| format!("cargo cannot be run: {error}"))?;
    if built.success() { Ok(()) } else { Err(format!("cargo could not build svc-guard: {built}")) }
}
