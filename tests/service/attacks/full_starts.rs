//! A full disk and one life after the other on it, while something else takes every byte that comes free: each start goes on,
//! takes nothing of the reserve, and leaves no empty file.

use nix::sys::signal::Signal;

use crate::full_disk::{Disk, journal_alert};
use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered, sends_are_named};

/// Lives enough to fill a block of the journal: a start says of itself a thousand bytes.
const LIVES: usize = 5;

const RESERVES: [&str; 2] = ["reserve", "reserve-own"];

/// One life after another, each ended so.
fn live_on(stand: &mut Stand, disk: &Disk, lives: usize, end: impl Fn(&mut Stand)) {
    for life in 1..=lives {
        end(stand);
        disk.fill();
        if let Err(status) = stand.try_launch() {
            panic!("life {life} was refused with {status}: {}", stand.log());
        }
        let files = std::fs::read_dir(stand.journal()).unwrap().map(|file| file.unwrap());
        let mut files = files.filter(|file| file.file_name().to_str().unwrap().ends_with(".jsonl"));
        let empty = files.find(|file| file.metadata().is_ok_and(|data| data.len() == 0));
        assert!(empty.is_none(), "life {life} leaves {empty:?}");
    }
}

#[test]
fn no_start_pays_with_the_reserve_and_none_is_refused_without() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::under(home));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    stand.start();
    hold_covered(&stand, "BTC", "0.01");
    // What the guard did is written, and has no later life say more of it.
    until("its end", || stand.on_disk().iter().any(|event| event["kind"] == "done").then_some(()));
    let risk = stand.journal().join("risk.jsonl");
    until("its line", || std::fs::read_to_string(&risk).ok()?.contains("\"line\"").then_some(()));
    let reserves = RESERVES.map(|name| stand.journal().join(name));
    let is_whole = |stand: &Stand| {
        let kinds = || stand.events().iter().map(|event| event["kind"].to_string()).collect::<Vec<_>>();
        assert!(reserves.iter().all(|part| part.exists()), "{:?}", kinds());
    };
    live_on(&mut stand, &disk, LIVES, Stand::kill);
    is_whole(&stand);
    // Nor does an end in order.
    live_on(&mut stand, &disk, 2, |stand| assert_eq!(stand.stop(Signal::SIGTERM), Some(0), "{}", stand.log()));
    is_whole(&stand);

    // Somebody used it up.
    stand.kill();
    for part in &reserves {
        std::fs::remove_file(part).unwrap();
    }
    live_on(&mut stand, &disk, LIVES, Stand::kill);

    // What the last life waits to say is on disk once there is room.
    let starts = || stand.on_disk().iter().filter(|event| event["kind"] == "started").count();
    let before = starts();
    disk.free();
    until("the last start to be on disk", || (starts() > before).then_some(()));
    until("no alert of the journal", || journal_alert(&stand).is_none().then_some(()));
    sends_are_named(&stand);
}
