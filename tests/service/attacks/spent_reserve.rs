//! A full disk and somebody who goes on asking: nobody without a key, no refused entry and no bot that exits without end
//! uses up what cover, kill and flatten are written with.

use serde_json::{Value, json};

use crate::clients::{another, filled, send_as};
use crate::full_disk::{Disk, write_until_noticed};
use crate::signing::{BTC, ETH, closing, resting, signed};
use crate::stand::{Mode, Stand, run_with, until};
use crate::watched::{WIDE, held, hold_covered, is_same, sends_are_named, until_flat};

/// A request of 180 KB that nobody signed.
fn unsigned() -> Value {
    let action = json!({"type": "x".repeat(180_000)});
    json!({"action": action, "nonce": 1, "signature": {"r": "0x1", "s": "0x1", "v": 27}, "vaultAddress": null})
}

/// A service with a covered position on a disk that is full; `None` where this user may not mount.
fn on_a_full_disk() -> Option<(Stand, Disk)> {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::under(home));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return None;
    };
    stand.start();
    hold_covered(&stand, "BTC", "0.01");
    disk.fill();
    Some((stand, disk))
}

/// What is bare is covered, a client's exit passes, and a kill closes everything, at the venue and on record.
fn still_works(stand: &Stand) {
    let exit = stand.send(&closing(BTC, "59000", "0.004"));
    assert_eq!(filled(&exit), Some("0.004"), "{exit}");
    assert!(held(stand, "BTC").is_some_and(|left| is_same(&left, "0.006")));
    covers_and_kills(stand);
}

fn covers_and_kills(stand: &Stand) {
    hold_covered(stand, "ETH", "0.4");
    let done = run_with(&stand.home(), &["kill", "--reason", "enough"], "");
    assert_eq!(done.status.code(), Some(0));
    until_flat(stand);
    sends_are_named(stand);
}

#[test]
fn unsigned_requests_take_no_byte_of_the_reserve() {
    let Some((stand, _disk)) = on_a_full_disk() else { return };
    for _ in 0..30 {
        let reply = stand.post("/exchange", &unsigned());
        assert!(reply.status == 503 || reply.status == 429 || reply.status == 200, "{reply:?}");
    }
    still_works(&stand);
}

#[test]
fn refused_entries_take_no_byte_of_the_reserve() {
    let Some((stand, disk)) = on_a_full_disk() else { return };
    let mut connection = stand.connect();
    let mut refused = 0;
    for _ in 0..3_000 {
        let reply = connection.post("/exchange", &signed(&stand.client, &resting()).to_string()).unwrap();
        refused += u64::from(reply.status == 503);
    }
    still_works(&stand);
    disk.free();
    let told = || -> u64 {
        let counts = stand.events_of("decision").into_iter().filter_map(|event| event["count"].as_u64());
        counts.sum()
    };
    until("every refusal to be told of", || (told() == refused).then_some(()));
}

#[test]
fn a_bot_that_exits_without_end_leaves_the_guard_its_own_part() {
    let Some((stand, _disk)) = on_a_full_disk() else { return };
    write_until_noticed(&stand);
    let cancels: Vec<Value> = (1..=400).map(|oid| json!({"a": 3, "o": oid})).collect();
    let many = json!({"type": "cancel", "cancels": cancels});
    until("the clients' part to be used up", || {
        let reply = stand.post("/exchange", &signed(&stand.client, &many));
        (reply.status == 503).then_some(())
    });
    covers_and_kills(&stand);
}

/// The part of the reserve that is for exits has a part for each client.
#[test]
fn a_bot_that_exits_without_end_leaves_another_its_part() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::under(home));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    let second = another(&stand);
    stand.start();
    hold_covered(&stand, "ETH", "0.5");
    disk.fill();
    write_until_noticed(&stand);
    let cancels: Vec<Value> = (1..=400).map(|oid| json!({"a": 3, "o": oid})).collect();
    let many = json!({"type": "cancel", "cancels": cancels});
    until("the part of the one to be used up", || {
        let reply = stand.post("/exchange", &signed(&stand.client, &many));
        (reply.status == 503).then_some(())
    });
    let reply = send_as(&stand, &second, &closing(ETH, "2400", "0.2"));
    assert_eq!(filled(&reply), Some("0.2"), "{reply}");
    assert_eq!(held(&stand, "ETH").as_deref(), Some("0.3"));
    covers_and_kills(&stand);
}

/// Nothing but the spare kill file is missing: the account is watched all the same.
#[test]
fn a_start_on_a_full_disk_needs_no_spare_kill_file() {
    let Some((mut stand, disk)) = on_a_full_disk() else { return };
    stand.kill();
    std::fs::remove_file(stand.home().join("kill.ready")).unwrap();
    disk.fill();
    stand.launch();
    covers_and_kills(&stand);
}
