//! The least share sees from the first second of a start, also right after another life spent its minute.

use std::time::{Duration, Instant};

use nix::sys::signal::Signal;

use crate::stand::{Mode, Stand, until};
use crate::watched::{WIDE, hold, hold_covered, stops, until_flat};

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
    stand.without_feed();
    launch(&mut stand);
    is_soon_covered(&stand, "ETH", "0.4");
    is_soon_covered(&stand, "BTC", "0.02");
    // Another life begins in the same minute.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    launch(&mut stand);
    is_soon_covered(&stand, "SOL", "4");
    // Set-up and two starts, for each of which the key is asked about, overdraw the share, and leave half of what the address
    // has. That a life keeps to its share `pressure::a_small_share_is_kept_to_and_is_enough` tries.
    let used = stand.venue.truth()["weight_used"].as_u64().unwrap();
    assert!(used <= 600, "{used} in one minute");
}

/// That the mode does not come is known although the share has no room for another question about it.
#[test]
fn a_mode_that_never_comes_leaves_nothing_bare_at_the_least_share() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.without_feed();
    let hang = serde_json::json!({"op": "fault", "on": "userAbstraction", "kind": "stall", "times": 1_000_000});
    stand.venue.control(&hang).unwrap();
    launch(&mut stand);
    is_soon_covered(&stand, "ETH", "0.4");
}

#[test]
fn what_the_last_life_spent_is_remembered() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.without_feed();
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

/// How often the venue was asked each of these.
fn reads(stand: &Stand, kinds: &[&str]) -> Vec<u64> {
    let truth = stand.venue.truth();
    kinds.iter().map(|kind| truth["reads"][kind].as_u64().unwrap_or_default()).collect()
}

/// Right after a start has spent the share cover does without nothing that it should look at, and a halt is explained by
/// the ledger and the mode rather than waited out.
#[test]
fn cover_and_halt_have_their_reads_after_a_start() {
    let mut stand = Stand::set_up(Mode::Testnet, &WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\""));
    // What a fill tells is covered before any read.
    stand.without_feed();
    launch(&mut stand);
    until("the first reads", || stand.status()["equity"].is_string().then_some(()));
    let orders = || reads(&stand, &["frontendOpenOrders"])[0];
    until("the open orders", || (orders() > 0).then_some(()));
    let before = orders();
    hold_covered(&stand, "ETH", "4");
    assert!(orders() > before, "it was covered blindly");
    hold_covered(&stand, "BTC", "0.01");
    let explained = ["userNonFundingLedgerUpdates", "userAbstraction"];
    let before = reads(&stand, &explained);
    stand.venue.price("ETH", "2360").unwrap();
    until("the halt", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
    let after = reads(&stand, &explained);
    assert!(before.iter().zip(&after).all(|(before, after)| before < after), "{before:?} {after:?}");
    until_flat(&stand);
}

/// A service that its manager starts again and again: each life sees account, orders and prices at once.
#[test]
fn several_quick_starts_leave_the_next_one_its_eyes() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    stand.without_feed();
    for life in 0..6 {
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
        if life == 5 {
            is_soon_covered(&stand, "ETH", "0.4");
        }
        stand.kill();
    }
    assert!(!stand.venue_saw().iter().any(|request| request["verdict"] == "weight_exceeded"));
}
