//! The disk of the home hangs: whoever kills hears it within seconds, and has another way.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::until_flat;

/// A disk in a file, mounted over a home; gone when dropped.
struct Disk {
    home: PathBuf,
    _image: tempfile::TempDir,
}

fn is_done(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

impl Disk {
    /// `None` where this user may not mount.
    fn under(home: &Path) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        std::fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        let (image, at) = (image.to_str().unwrap().to_owned(), home.to_str().unwrap());
        let is_mounted = is_done("mkfs.ext4", &["-q", &image]) && is_done("mount", &["-o", "loop", &image, at]);
        is_mounted.then(|| Self { home: home.to_owned(), _image: folder })
    }

    /// Whoever writes hangs from now on.
    fn freeze(&self) {
        assert!(is_done("fsfreeze", &["-f", self.home.to_str().unwrap()]));
    }

    fn thaw(&self) -> bool {
        is_done("fsfreeze", &["-u", self.home.to_str().unwrap()])
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        _ = self.thaw();
        _ = is_done("umount", &["-l", self.home.to_str().unwrap()]);
    }
}

/// What `kill` says on either stream, with its exit status.
fn killed(stand: &Stand, more: &[&str]) -> (Option<i32>, String, String) {
    let done = run_with(&stand.home(), &[&["kill", "--reason", "the disk hangs"], more].concat(), "");
    (done.status.code(), String::from_utf8(done.stdout).unwrap(), String::from_utf8(done.stderr).unwrap())
}

#[test]
fn a_kill_whose_disk_hangs_says_so_and_names_the_way() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, "", |home| disk = Disk::under(home));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a disk takes a privileged user");
        return;
    };
    stand.start();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).map(|_| ()));
    disk.freeze();
    let begun = Instant::now();
    let (code, out, err) = killed(&stand, &[]);
    let waited = begun.elapsed();
    assert!(waited < Duration::from_secs(8), "{waited:?}");
    assert!(code == Some(1) && out.is_empty() && err.lines().count() == 1, "{code:?} {out}{err}");
    let home = stand.home();
    let said = format!("the kill switch is NOT pulled: the disk of {} does not answer", home.display());
    assert!(err.contains(&said) && err.contains(&format!("--guard-url http://{}`", stand.address())), "{err}");

    // The way that it names, typed as it stands.
    let key = home.with_file_name("bot.key");
    let command = err.split('`').nth(1).unwrap().replace("--key-file FILE", &format!("--key-file {}", key.display()));
    let program = Path::new(env!("CARGO_BIN_EXE_svc-guard"));
    let typed = format!("PATH='{}':$PATH; {command}", program.parent().unwrap().display());
    let done = Command::new("/bin/sh").args(["-c", &typed]).output().unwrap();
    let answer = String::from_utf8(done.stdout).unwrap();
    // The guard's own disk work may take longer than an agent waits.
    let is_taken =
        ["is pulled", "MAY be pulled"].iter().any(|told| answer.contains(&format!("The kill switch {told}")));
    assert!(is_taken, "{answer}{}", String::from_utf8_lossy(&done.stderr));
    until("the guard to be killed", || stand.status()["killed"].as_str().map(|reason| assert_eq!(reason, "TEXT")));

    // Whoever asks again hears that it is killed all the same.
    let (code, out, err) = killed(&stand, &[]);
    assert!(code == Some(0) && out.contains("The guard is killed all the same: TEXT\nkilled; "), "{code:?} {out}{err}");
    assert!(!out.contains("restart the service") && !home.join("kill").exists(), "{out}");
    // What waited for the disk is done once it answers; without a fallback for its journal so does the guard.
    assert!(disk.thaw());
    until("the kill file", || home.join("kill").exists().then_some(()));
    until_flat(&stand);
}
