//! Equity by the minute while the clock moves: what nobody measured is a gap, and no clock brings a point twice or takes one.

use nix::sys::signal::Signal;
use serde_json::Value;
use svc_guard::equity::{MINUTE_MS, Ring};

use crate::script::set_clock;
use crate::stand::{ACCOUNT, Mode, Stand, until};

fn minutes(stand: &Stand) -> Vec<u64> {
    let answer = stand.get("/guard/equity?since=0").json();
    let points = answer["points"].as_array().unwrap().clone();
    points.iter().map(|point| point["at_ms"].as_u64().unwrap() / MINUTE_MS).collect()
}

fn stand() -> Stand {
    let stand = Stand::up(Mode::Paper, "");
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    stand
}

fn until_point_after(stand: &Stand, minute: u64) -> u64 {
    until("a later point", || minutes(stand).last().copied().filter(|last| *last > minute))
}

#[test]
fn nothing_is_measured_while_the_venue_is_gone() {
    let mut stand = stand();
    let first = until_point_after(&stand, 0);
    stand.venue_gone();
    set_clock(&stand, 10 * 60_000);
    until("ten minutes to pass", || {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array()?.iter().any(|alert| alert["code"] == "account_stale").then_some(())
    });
    assert_eq!(stand.status()["equity"], "10000", "it is shown on");
    assert!(minutes(&stand).last().unwrap() <= &(first + 1), "{:?}", minutes(&stand));
}

#[test]
fn the_time_between_two_lives_is_a_gap_and_a_clock_set_back_takes_nothing() {
    let mut stand = stand();
    let first = until_point_after(&stand, 0);
    let file = Ring::at(stand.home().join("journals").join(format!("equity-paper-{ACCOUNT}")));
    until("the file to have it", || file.read(first, first).ok()?.pop());
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    set_clock(&stand, 10 * 60_000);
    // With such a clock it is not well, once it has seen that.
    stand.launch();
    let second = until_point_after(&stand, first + 8);
    let known = minutes(&stand);
    assert!(known.iter().all(|minute| *minute <= first + 1 || *minute >= second), "{known:?}");
    // The clock was wrong: what it counted ahead is not shown before its time, and nothing else is lost.
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    set_clock(&stand, 3 * 60_000);
    stand.launch();
    let third = until_point_after(&stand, first + 1);
    let after = minutes(&stand);
    assert!(third < second && after.contains(&first), "{after:?}");
    assert!(after.windows(2).all(|pair| pair[0] < pair[1]), "{after:?}");
}
