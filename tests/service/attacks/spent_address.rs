//! Lives before this one, or reads that fail, use up what the address has in a minute: the last of it is for the prices and the
//! account. Told by what the venue was asked, by kind.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold_covered};

/// What lives before this one have spent: with a start's own reads it is more than the heavy reads leave.
const SPENT: u64 = 900;
/// From here on no read that weighs 20 is begun anew, but for what a halt waits for: 150 of 1,200 are kept.
const LAST_PART: u64 = 1_031;
/// What was spent counts for a minute: a run that took longer than this shows nothing, and is played again.
const CONCLUSIVE_S: u64 = 50;
const TRIES: usize = 3;

const LIGHT: [&str; 2] = ["allMids", "clearinghouseState"];
/// Steady reads that weigh 20; the open orders are due every five seconds.
const HEAVY: [&str; 3] = ["frontendOpenOrders", "metaAndAssetCtxs", "userRateLimit"];

fn asked(stand: &Stand, kind: &str) -> u64 {
    stand.venue.truth()["reads"][kind].as_u64().unwrap_or_default()
}

/// A service behind lives that have spent nearly all of the minute, as soon as heavy reads find no room in it.
fn behind_spenders() -> (Stand, Instant) {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    std::fs::write(stand.home().join("run/weight"), format!("{now_ms} {SPENT} read\n")).unwrap();
    let spent = Instant::now();
    stand.launch();
    until("the address to be used up", || {
        let used = stand.status()["venue"]["weight_used"].as_u64()?;
        (used >= LAST_PART || spent.elapsed().as_secs() >= CONCLUSIVE_S).then_some(())
    });
    (stand, spent)
}

#[test]
fn prices_and_account_are_read_in_the_last_part_of_a_minute() {
    for _ in 0..TRIES {
        let (stand, spent) = behind_spenders();
        let (heavy_before, light_before) =
            (HEAVY.map(|kind| asked(&stand, kind)), LIGHT.map(|kind| asked(&stand, kind)));
        until("prices and account", || {
            let now = LIGHT.map(|kind| asked(&stand, kind));
            now.iter().zip(light_before).all(|(now, before)| *now >= before + 2).then_some(())
        });
        let heavy_now = HEAVY.map(|kind| asked(&stand, kind));
        if spent.elapsed().as_secs() < CONCLUSIVE_S {
            assert_eq!(heavy_now, heavy_before, "{}", stand.venue.truth()["reads"]);
            // And what somebody opens meanwhile is seen, and gets its stop, in the same minute.
            hold_covered(&stand, "ETH", "0.4");
            if spent.elapsed().as_secs() < CONCLUSIVE_S {
                return;
            }
        }
    }
    panic!("prices and account come no sooner than the next minute");
}

/// A mode that cannot be read is asked for less and less often: twenty weight a second would be all that there is.
#[test]
fn a_mode_that_fails_leaves_the_address_to_the_others() {
    const PRICES: u64 = 12;
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    const MANY: u64 = 1_000_000;
    let fails = json!({"op": "fault", "on": "userAbstraction", "kind": "http_422", "times": MANY});
    stand.venue.control(&fails).unwrap();
    let before = asked(&stand, "allMids");
    stand.launch();
    until("the prices", || (asked(&stand, "allMids") >= before + PRICES).then_some(()));
    let modes = MANY - stand.venue.truth()["faults"][0]["times"].as_u64().unwrap();
    assert!(modes > 1 && modes * 2 <= PRICES, "{modes} beside {PRICES}");
}
