//! A guard that is started again and again within a minute: what is bare is covered by each life, also when the lives before
//! it have spent the minute's weight.

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, covered, hold};

#[test]
fn each_of_several_quick_starts_covers_what_it_finds() {
    for share in ["1", "1/8"] {
        let mut stand = Stand::set_up(Mode::Testnet, WIDE);
        for (coin, szi) in [("ETH", "0.4"), ("BTC", "0.02"), ("SOL", "-4"), ("ETH", "0.6")] {
            // Opened while nobody watches.
            hold(&stand, coin, szi);
            let args = [&stand.run_args()[..], &["--ip-share", share]].concat();
            stand.launch_as(stand.run_command(&args));
            covered(&stand, coin, szi);
            stand.kill();
        }
        covered(&stand, "BTC", "0.02");
        covered(&stand, "SOL", "-4");
    }
}

/// As many as the package's units make one after another: each has read what is held and what rests, and the next one has the weight
/// for it still.
#[test]
fn ten_quick_starts_leave_the_next_one_its_weight() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    for _ in 0..10 {
        stand.launch();
        let is_read = || {
            let venue = stand.status()["venue"].clone();
            ["account_age_ms", "orders_age_ms"].iter().all(|age| !venue[age].is_null()).then_some(())
        };
        until("account and orders", is_read);
        stand.kill();
    }
    let used = stand.venue.truth()["weight_used"].as_u64().unwrap();
    assert!(used <= 1_190, "{used} of 1200");
    assert!(!stand.venue_saw().iter().any(|request| request["verdict"] == "weight_exceeded"));
    hold(&stand, "SOL", "4");
    stand.launch();
    covered(&stand, "SOL", "4");
}
