//! The feed's troubles: what it does not prove is read, what it loses is found, and it comes back.

use std::time::Duration;

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use super::{
    audited, covered_in_all, covered_once, feed, frames, listening, proved, reads, same_picture, set, trouble, unproved,
};
use crate::stand::{Stand, until};
use crate::watched::{closes, hold, is_flat};

/// A position comes, grows and goes, covered all the while.
fn lives_on(stand: &Stand) {
    for size in ["0.2", "0.5"] {
        hold(stand, "ETH", size);
        covered_in_all(stand, "ETH", size);
    }
    covered_once(stand, "ETH", "0.5");
    same_picture(stand);
    hold(stand, "ETH", "0");
    until("nothing to rest", || is_flat(stand).then_some(()));
    same_picture(stand);
    assert!(closes(stand).is_empty(), "{:?}", closes(stand));
}

/// Each trouble of the socket alone, and the feed is there again.
fn comes_back_from(kind: Value) {
    let stand = listening();
    audited(&stand);
    let sockets = feed(&stand)["sockets"].as_u64().unwrap();
    trouble(&stand, kind);
    lives_on(&stand);
    until("a new socket", || (feed(&stand)["sockets"].as_u64().unwrap() > sockets).then_some(()));
    proved(&stand);
    lives_on(&stand);
}

#[test]
fn a_socket_that_is_cut() {
    comes_back_from(json!({"kind": "drop"}));
}

#[test]
fn a_socket_that_is_closed_in_turn() {
    comes_back_from(json!({"kind": "rotate"}));
}

#[test]
fn a_socket_that_is_half_open() {
    comes_back_from(json!({"kind": "half_open"}));
}

#[test]
fn a_frame_that_may_tell_of_a_trade_and_cannot_be_read() {
    comes_back_from(json!({"kind": "garbage"}));
}

/// A process that is stopped and goes on has its waits cut short: nothing is wrong with its socket.
#[test]
fn a_stop_of_the_process_costs_no_socket() {
    let stand = listening();
    for _ in 0..5 {
        stand.signal(Signal::SIGSTOP);
        std::thread::sleep(Duration::from_millis(50));
        stand.signal(Signal::SIGCONT);
        frames(&stand, 2);
    }
    let feed = feed(&stand);
    assert_eq!((&feed["sockets"], &feed["ended"]), (&json!(1), &Value::Null), "{feed}");
}

#[test]
fn while_no_socket_opens_everything_is_read() {
    let stand = listening();
    trouble(&stand, json!({"kind": "refuse"}));
    trouble(&stand, json!({"kind": "drop"}));
    unproved(&stand);
    lives_on(&stand);
    let told = feed(&stand);
    assert_eq!((&told["audited"], told["down_since_ms"].is_null()), (&json!(false), false), "{told}");
    trouble(&stand, json!({"kind": "heal"}));
    proved(&stand);
    until("no alert", || stand.status()["alerts"].as_array().unwrap().is_empty().then_some(()));
}

#[test]
fn a_feed_that_falls_silent_alone_is_begun_anew() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "dead", "on": "clearinghouseState"}));
    unproved(&stand);
    lives_on(&stand);
    proved(&stand);
    assert_eq!(feed(&stand)["sockets"], json!(1), "on the same socket");
}

#[test]
fn lost_fills_are_found() {
    let stand = listening();
    audited(&stand);
    for on in ["userFills", "userEvents"] {
        trouble(&stand, json!({"kind": "lose", "on": on, "times": 1}));
    }
    lives_on(&stand);
    // By the fills before and after it, by a position that none explains, or by an account that is not the one that is read.
    let count = |what: &str| feed(&stand)[what].as_u64().unwrap();
    until("it to be known", || (count("missed") + count("differences") > 0).then_some(()));
}

#[test]
fn lost_news_of_orders_are_found() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "lose", "on": "orderUpdates", "times": 3}));
    lives_on(&stand);
}

#[test]
fn what_comes_late_takes_nothing_back() {
    let stand = listening();
    audited(&stand);
    for on in ["clearinghouseState", "openOrders"] {
        trouble(&stand, json!({"kind": "lag", "on": on, "ms": 2_000}));
    }
    lives_on(&stand);
    audited(&stand);
    lives_on(&stand);
}

#[test]
fn what_comes_out_of_turn_takes_nothing_back() {
    let stand = listening();
    audited(&stand);
    for on in ["userFills", "orderUpdates", "clearinghouseState", "openOrders"] {
        trouble(&stand, json!({"kind": "reorder", "on": on, "times": 20}));
    }
    lives_on(&stand);
    audited(&stand);
    lives_on(&stand);
}

#[test]
fn a_first_frame_that_is_short_hides_nothing() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "short_snapshot"}));
    trouble(&stand, json!({"kind": "drop"}));
    lives_on(&stand);
    proved(&stand);
    lives_on(&stand);
}

/// What happens between two sockets is in the reads between them.
#[test]
fn what_happens_between_two_sockets_is_covered() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "refuse", "times": 2}));
    trouble(&stand, json!({"kind": "drop"}));
    hold(&stand, "ETH", "0.4");
    covered_in_all(&stand, "ETH", "0.4");
    proved(&stand);
    same_picture(&stand);
    set(&stand, "feed_state_ms", &json!(5_000));
    audited(&stand);
    same_picture(&stand);
    covered_once(&stand, "ETH", "0.4");
}

/// What happened between two sockets is read before anything of the next one counts, and until then all is read.
#[test]
fn a_new_socket_counts_once_the_fills_before_it_were_read() {
    let stand = listening();
    audited(&stand);
    let fault = json!({"op": "fault", "on": "userFillsByTime", "kind": "http_502", "times": 100_000});
    stand.venue.control(&fault).unwrap();
    trouble(&stand, json!({"kind": "refuse"}));
    trouble(&stand, json!({"kind": "drop"}));
    unproved(&stand);
    hold(&stand, "ETH", "0.4");
    hold(&stand, "ETH", "0");
    trouble(&stand, json!({"kind": "heal"}));
    until("a socket", || (feed(&stand)["stage"] == "reading").then_some(()));
    let before = reads(&stand, "clearinghouseState");
    until("reads on their interval", || {
        assert_eq!(feed(&stand)["proved"], false, "not before the fills were read");
        (reads(&stand, "clearinghouseState") >= before + 4).then_some(())
    });
    stand.venue.control(&json!({"op": "clear"})).unwrap();
    let feed = proved(&stand);
    assert_eq!((&feed["missed"], &feed["differences"]), (&json!(0), &json!(0)), "{feed}");
    same_picture(&stand);
    assert!(closes(&stand).is_empty());
}

/// What the metrics say of the feed is what the status says, once something of each kind has happened.
#[test]
fn what_happens_to_it_is_counted() {
    let stand = listening();
    audited(&stand);
    trouble(&stand, json!({"kind": "drop"}));
    until("another socket", || (feed(&stand)["sockets"] == 2).then_some(()));
    proved(&stand);
    audited(&stand);
    // The one fill is missed at the next one, and another has none after it.
    for size in ["0.2", "0.5", "0.9"] {
        if size != "0.5" {
            for on in ["userFills", "userEvents"] {
                trouble(&stand, json!({"kind": "lose", "on": on, "times": 1}));
            }
        }
        hold(&stand, "ETH", size);
        covered_in_all(&stand, "ETH", size);
    }
    let shown = |name: &str| {
        let page = stand.get("/metrics").body;
        let line = page.lines().find_map(|line| line.strip_prefix(&format!("svc_guard_feed_{name} ")));
        line.unwrap_or_else(|| panic!("no {name} in {page}")).parse::<u64>().unwrap()
    };
    let told = until("what was never told", || Some(feed(&stand)).filter(|feed| feed["differences"] == 1));
    assert!(told["missed"].as_u64().unwrap() >= 1, "{told}");
    proved(&stand);
    let (before, frames) = (feed(&stand), shown("frames_total"));
    for (name, key) in [("sockets_total", "sockets"), ("missed_total", "missed"), ("differences_total", "differences")]
    {
        assert_eq!(json!(shown(name)), before[key], "{name}");
    }
    assert_eq!(shown("proved"), 1);
    assert!(
        frames >= before["frames"].as_u64().unwrap() && frames <= feed(&stand)["frames"].as_u64().unwrap(),
        "{frames}"
    );
}
