//! A disk that is really full: cover and closes are still journaled and sent, nothing is opened, and space heals it.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::sys::statvfs::statvfs;
use serde_json::{Value, json};

use crate::signing::{resting, signed};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, first, hold_covered, sends_are_named, until_flat};

/// A small disk under a home; gone when dropped, whoever still uses it.
pub(crate) struct Disk(PathBuf);

impl Disk {
    /// `None` where this user may not mount.
    pub(crate) fn under(home: &Path) -> Option<Self> {
        Self::sized(home, 8)
    }

    /// The same with so many MiB.
    pub(crate) fn sized(home: &Path, mib: u32) -> Option<Self> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={mib}m,mode=0755"), "tmpfs"]).arg(home);
        let is_done = mount.stderr(Stdio::null()).status().is_ok_and(|status| status.success());
        is_done.then(|| Self(home.to_owned()))
    }

    /// Leaves not one byte.
    pub(crate) fn fill(&self) {
        let mut file = File::options().create(true).append(true).open(self.filler()).unwrap();
        let block = vec![0; 64 * 1024];
        for size in [block.len(), 4096, 1] {
            while file.write_all(&block[..size]).is_ok() {}
        }
    }

    /// Leaves so many KiB.
    pub(crate) fn fill_to(&self, kib: u64) {
        let stat = statvfs(&self.0).unwrap();
        let free = stat.blocks_available() * stat.fragment_size();
        let block = vec![0; usize::try_from(free - kib * 1024).unwrap()];
        fs::write(self.filler(), block).unwrap();
    }

    pub(crate) fn free(&self) {
        fs::remove_file(self.filler()).unwrap();
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

/// Tests that need a small disk pass unseen without one, so that this one fails where nobody said that it may.
#[test]
fn a_small_disk_can_be_had() {
    let folder = tempfile::tempdir().unwrap();
    let is_excused = std::env::var_os("TEST_WITHOUT_MOUNT").is_some();
    assert!(
        Disk::under(folder.path()).is_some() || is_excused,
        "this user may not mount a small disk, so that the tests of a full one try nothing: run them as root, or set \
         TEST_WITHOUT_MOUNT=1 to do without"
    );
}

pub(crate) fn journal_alert(stand: &Stand) -> Option<Value> {
    let alerts = stand.status()["alerts"].clone();
    alerts.as_array()?.iter().find(|alert| alert["code"] == "journal_error").cloned()
}

/// Whether a file of the event journal holds this text: after a failure another one is begun.
fn is_on_disk(stand: &Stand, text: &str) -> bool {
    let files = fs::read_dir(stand.journal()).unwrap().map(|entry| entry.unwrap().path());
    let mut journal = files.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("events-"));
    journal.any(|path| fs::read_to_string(path).unwrap().contains(text))
}

/// Something is written until the disk has no room for it.
pub(crate) fn write_until_noticed(stand: &Stand) {
    until("the full disk to be noticed", || {
        let reply = stand.send(&json!({"type": "noop"}));
        assert_ne!(reply["guard"]["verdict"], "veto", "an exit is none to refuse: {reply}");
        journal_alert(stand)
    });
}

#[test]
fn the_reserve_lets_the_account_be_covered_and_closed() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::under(home));
    // Moved here so that it goes before the service does.
    let Some(disk) = disk else {
        // The journal's own tests hold the same with an injected fault.
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    stand.start();
    hold_covered(&stand, "BTC", "0.01");
    disk.fill();
    write_until_noticed(&stand);
    // A refusal is counted, and takes no byte of what is left.
    let reply = stand.post("/exchange", &signed(&stand.client, &resting()));
    assert_eq!((reply.status, &reply.json()["code"]), (503, &json!("journal_error")), "{reply:?}");
    assert_eq!(stand.get("/healthz").status, 503);

    // What is bare is covered, on the record.
    hold_covered(&stand, "ETH", "0.4");
    assert!(is_on_disk(&stand, "\"kind\":\"protect\",\"coins\":[\"ETH\"]"));
    // So is a kill, whose command writes no byte either.
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0), "{}", String::from_utf8_lossy(&done.stderr));
    until_flat(&stand);
    first(&stand, "flatten");
    assert!(is_on_disk(&stand, "\"kind\":\"flatten\""));
    sends_are_named(&stand);

    // With the reserve used up as well nothing can be on record, so nothing is sent: the client is told so.
    disk.fill();
    let refused = until("no room at all", || {
        let reply = stand.post("/exchange", &signed(&stand.client, &json!({"type": "noop"})));
        (reply.status == 503).then_some(reply)
    });
    let body = refused.json();
    assert_eq!((&body["code"], &body["status"]), (&json!("journal_error"), &json!("err")), "{body}");
    let saw = stand.venue_saw().len();
    assert_eq!(stand.post("/exchange", &signed(&stand.client, &json!({"type": "noop"}))).status, 503);
    assert_eq!(stand.venue_saw().len(), saw, "nothing is sent that is not on record");

    disk.free();
    until("a healthy service", || (stand.get("/healthz").status == 200).then_some(()));
    assert!(journal_alert(&stand).is_none());
    let told = until("the refusals to be told of", || {
        stand.events_of("decision").into_iter().find(|event| event.get("count").is_some())
    });
    assert_eq!((&told["verdict"], &told["request"]), (&json!("veto"), &Value::Null), "{told}");
}
