//! The least share sees from the first second of a start, also right after another life spent its minute.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold, stops};

/// A few of the least share's intervals, and well under the minute in which a spent budget comes back.
const SOON: Duration = Duration::from_secs(24);

fn launch(stand: &mut Stand) {
    let args = [&stand.run_args()[..], &["--ip-share", "1/8"]].concat();
    stand.launch_as(stand.run_command(&args));
}

fn is_soon_covered(stand: &Stand, coin: &str, szi: &str) {
    hold(stand, coin, szi);
    let begun = Instant::now();
    while stops(stand, coin).is_empty() {
        assert!(begun.elapsed() < SOON, "waited in vain for a stop in {coin}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_start_at_the_least_share_sees_from_its_first_second() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    launch(&mut stand);
    is_soon_covered(&stand, "ETH", "0.4");
    is_soon_covered(&stand, "BTC", "0.02");
    // Another life begins in the same minute.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    launch(&mut stand);
    is_soon_covered(&stand, "SOL", "4");
    // Three starts' worth at most, for each of which the key is asked about, and an eighth of the address's budget.
    let used = stand.venue.truth()["weight_used"].as_u64().unwrap();
    assert!(used <= 600, "{used} in one minute");
}

#[test]
fn what_the_last_life_spent_is_remembered() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    launch(&mut stand);
    is_soon_covered(&stand, "ETH", "0.4");
    let used = || stand.status()["venue"]["weight_used"].as_u64().unwrap();
    let spent = used();
    assert!(spent > 150, "set-up and start weigh more than the share: {spent}");
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    launch(&mut stand);
    let again = stand.status()["venue"]["weight_used"].as_u64().unwrap();
    assert!(again > spent, "{again} after {spent}");
}

/// A service that its manager starts again and again: each life sees account, orders and prices at once.
#[test]
fn several_quick_starts_leave_the_next_one_its_eyes() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    for life in 0..5 {
        let weight = stand.home().join("run/weight");
        let spent = || std::fs::read_to_string(&weight).unwrap_or_default();
        let before = spent();
        launch(&mut stand);
        let begun = Instant::now();
        let unread = || {
            let alerts = stand.status()["alerts"].as_array().unwrap().clone();
            alerts.into_iter().find(|alert| {
                ["account_stale", "orders_stale", "price_stale"].iter().any(|code| alert["code"] == *code)
            })
        };
        while let Some(alert) = unread() {
            assert!(begun.elapsed() < SOON, "life {life}: {alert}");
            std::thread::sleep(Duration::from_millis(20));
        }
        until("the weight on disk", || (spent() != before).then_some(()));
        stand.kill();
    }
    assert!(!stand.venue_saw().iter().any(|request| request["verdict"] == "weight_exceeded"));
}
