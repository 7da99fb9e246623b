//! Starts that follow one another within a minute, each ended before it has seen much, leave the last one what it needs.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::stand::{Mode, Stand, until};
use crate::watched::{hold, hold_covered, until_flat};

/// Lives that end within their first second.
const LIVES: usize = 6;

#[test]
fn a_kill_acts_after_many_starts() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    hold(&stand, "ETH", "2");
    let reads = |stand: &Stand, kind: &str| stand.venue.truth()["reads"][kind].as_u64().unwrap_or_default();
    for _ in 0..LIVES {
        let before = reads(&stand, "frontendOpenOrders");
        stand.launch();
        until("the orders to be read", || (reads(&stand, "frontendOpenOrders") > before).then_some(()));
        stand.kill();
    }
    std::fs::write(stand.home().join("kill"), "hurry").unwrap();
    stand.launch();
    until_flat(&stand);
    let (reads, log) = (stand.venue.truth()["reads"].clone(), stand.log());
    assert!(!log.contains("the venue answered 429"), "the venue turned a start away: {reads}\n{log}");
}

/// Where lives before it have spent most of the minute, a life goes by the markets and the mode that they have read: it sees the
/// account without asking for either. What is held is covered and closed.
#[test]
fn a_late_start_goes_by_what_was_read_before_it() {
    let mut stand = Stand::up(Mode::Testnet, "");
    let carried = stand.home().join("run/venue");
    until("markets and mode to be kept", || carried.exists().then_some(()));
    stand.kill();
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    std::fs::write(stand.home().join("run/weight"), format!("{now_ms} 700 read\n")).unwrap();
    let asked = |stand: &Stand| {
        let reads = &stand.venue.truth()["reads"];
        ["metaAndAssetCtxs", "meta", "userAbstraction"].map(|kind| reads[kind].as_u64().unwrap_or_default())
    };
    let before = asked(&stand);
    stand.launch();
    until("the account to be seen", || stand.status()["equity"].as_str().map(str::to_owned));
    assert_eq!(asked(&stand), before);
    hold_covered(&stand, "ETH", "2");
    stand.pull("hurry");
    until_flat(&stand);
}
