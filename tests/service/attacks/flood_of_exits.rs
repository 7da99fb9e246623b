//! A flood of what passes in every state leaves the guard its eyes: the loss of the day is seen and everything closed
//! while the flood goes on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::signing::{BTC, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, hold_covered, until_flat};

/// By then a minute's weight was spent and the reads were old.
const FLOOD: usize = 900;

/// What ends the day.
#[derive(Clone, Copy)]
enum Cause {
    DailyLoss,
    Drawdown,
    Kill,
}

#[test]
fn noops_keep_no_halt_asleep() {
    halted_under(&json!({"type": "noop"}));
}

#[test]
fn exits_keep_no_halt_asleep() {
    // Never filled: the price is out of reach.
    let order = json!({"a": BTC, "b": false, "p": "90000", "s": "0.001", "r": true, "t": {"limit": {"tif": "Ioc"}}});
    halted_under(&place(&order));
}

#[test]
fn cancels_keep_no_halt_asleep() {
    halted_under(&json!({"type": "cancel", "cancels": [{"a": BTC, "o": 4_711}]}));
}

#[test]
fn settings_keep_no_halt_asleep() {
    halted_under(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}));
}

/// Each halt and the kill switch, beside the live feed and by reads alone.
fn halted_under(action: &Value) {
    for cause in [Cause::DailyLoss, Cause::Drawdown, Cause::Kill] {
        closed_under(action, cause, true);
    }
    closed_under(action, Cause::DailyLoss, false);
}

fn closed_under(action: &Value, cause: Cause, has_feed: bool) {
    let rules = match cause {
        Cause::DailyLoss => WIDE.replace("daily_loss = \"90\"", "daily_loss = \"5\""),
        Cause::Drawdown => WIDE.replace("drawdown = \"95\"", "drawdown = \"5\""),
        Cause::Kill => WIDE.to_owned(),
    };
    let stand = Stand::up(Mode::Testnet, &rules);
    if !has_feed {
        stand.without_feed();
    }
    hold_covered(&stand, "BTC", "0.01");
    hold_covered(&stand, "ETH", "4");
    let (over, asked) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    if connection.post("/exchange", &signed(&stand.client, action).to_string()).is_err() {
                        connection = stand.connect();
                    }
                    asked.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _ends = Ends(&over);
        until("a flood", || (asked.load(Ordering::SeqCst) > FLOOD).then_some(()));
        match cause {
            Cause::Kill => stand.pull("flooded"),
            Cause::DailyLoss | Cause::Drawdown => _ = stand.venue.price("ETH", "2360").unwrap(),
        }
        until_flat(&stand);
    });
    let status = stand.status();
    match cause {
        Cause::DailyLoss => assert_eq!(status["risk"]["state"], "halted_for_day"),
        Cause::Drawdown => assert_eq!(status["risk"]["state"], "stopped"),
        Cause::Kill => assert_eq!(status["killed"], "flooded"),
    }
    assert!(stand.venue_saw().iter().all(|request| request["verdict"] != "weight_exceeded"));
}
