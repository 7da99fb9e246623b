//! Starts that follow one another within a minute, each ended before it has seen much, leave the last one what it needs.

use crate::stand::{Mode, Stand, until};
use crate::watched::{hold, until_flat};

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
