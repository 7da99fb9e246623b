//! The program's clock set ahead and back while it runs, and the UTC day that turns.

use nix::sys::signal::Signal;
use serde_json::{Value, json};

use crate::script::set_clock;
use crate::signing::{BTC, limit, place, resting};
use crate::stand::{Mode, Stand, run_with, until};
use crate::truth;

const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

fn stand() -> Stand {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.venue.setting("weight_limit", Value::Null).unwrap();
    stand
}

/// Sends until the guard has read the account by its new clock, and takes the order.
fn taken(stand: &Stand, px: u64) -> Value {
    until("an order that is taken", || {
        let reply = stand.send(&place(&limit(BTC, true, &px.to_string(), "0.001")));
        (reply["status"] == "ok").then_some(reply)
    })
}

#[test]
fn nonces_stay_near_the_venues_time_whatever_the_clock_does() {
    let mut stand = stand();
    taken(&stand, 59_000);
    for (px, hours) in [(59_010, 20), (59_020, -20), (59_030, 2), (59_040, 0)] {
        let before = stand.status()["at_ms"].as_u64().unwrap();
        set_clock(&stand, hours * HOUR_MS);
        until("a turn of the loop", || (stand.status()["at_ms"].as_u64().unwrap() > before).then_some(()));
        taken(&stand, px);
        // The next life has another clock and the same journal; one that is off is no good health.
        assert_eq!(stand.stop(Signal::SIGTERM), Some(0), "{}", stand.log());
        stand.launch();
        taken(&stand, px + 5);
    }
    // A client may know before the disk what became of its order.
    // From the disk: each start refuses entries for a while, and memory holds no more than the last of these.
    until("every order to be told of", || truth::open_ends(&stand.on_disk()).is_empty().then_some(()));
    let truth = stand.venue.truth();
    for seen in truth["requests"].as_array().unwrap() {
        let (nonce, at_ms) = (seen["nonce"].as_u64().unwrap(), seen["at_ms"].as_u64().unwrap());
        assert!(nonce <= at_ms + 60_000, "{} ms ahead: {seen}", nonce - at_ms);
        let late_ms = seen["expires_after_ms"].as_u64().map_or(0, |expires_ms| expires_ms.saturating_sub(at_ms));
        assert!(late_ms <= 60_000, "may land {late_ms} ms late: {seen}");
    }
    truth::hold(&stand.on_disk(), &truth);
}

#[test]
fn a_clock_set_back_holds_up_neither_cover_nor_kill() {
    let stand = stand();
    taken(&stand, 59_000);
    set_clock(&stand, -5 * HOUR_MS);
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    until("the cover", || truth::bare(&stand.venue.truth()).is_none().then_some(()));
    std::fs::write(stand.home().join("kill"), "enough").unwrap();
    until("a flat account", || crate::acts::is_flat(&stand.venue.truth()).then_some(()));
}

#[test]
fn a_day_s_halt_ends_with_the_day() {
    let stand = stand();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.5", "entry_px": "5000"})).unwrap();
    until("the halt", || (stand.status()["risk"]["state"] == "halted_for_day").then_some(()));
    until("a flat account", || crate::acts::is_flat(&stand.venue.truth()).then_some(()));
    let reply = stand.send(&resting());
    assert_eq!(reply["guard"]["code"], "halted_for_day", "{reply}");
    // The machine's clock alone begins no day.
    set_clock(&stand, 24 * HOUR_MS);
    until("the clock to be told of", || {
        let alerts = stand.status()["alerts"].clone();
        alerts.as_array()?.iter().any(|alert| alert["code"] == "clock_off").then_some(())
    });
    assert_eq!(stand.status()["risk"]["state"], "halted_for_day");
    stand.venue.control(&json!({"op": "clock", "advance_ms": 24 * HOUR_MS})).unwrap();
    until("the next day", || (stand.status()["risk"]["state"] == "active").then_some(()));
    taken(&stand, 59_000);
}

/// Thirty years ahead and back: the service's own time stays there, and what clients sign by the right one passes.
#[test]
fn a_clock_that_was_far_ahead_shuts_no_client_out() {
    let stand = stand();
    taken(&stand, 59_000);
    let before = stand.status()["at_ms"].as_u64().unwrap();
    set_clock(&stand, 30 * 365 * DAY_MS);
    until("the leap", || (stand.status()["at_ms"].as_u64()? > before + 1_000_000_000).then_some(()));
    set_clock(&stand, 0);
    taken(&stand, 59_010);
}

/// What is left of the day, by the clock that the program then has, and when something moves in it.
const BEFORE_MIDNIGHT_MS: i64 = 3_000;
const AT_THE_END_MS: i64 = 800;
/// How much later the ledger shows it: the guard gives it two seconds.
const LEDGER_LATE_MS: i64 = 1_500;

/// A day's end, deposits and withdrawals on both sides of it, each on the ledger only after midnight: none counts as
/// profit or loss of either day, and a loss of the new day counts from where the new day began.
#[test]
fn flows_around_midnight_are_neither_profit_nor_loss() {
    let stand = stand();
    let risk = || stand.status()["risk"].clone();
    let moved = |what: &str, usd: &str| until(what, || Some(risk()).filter(|risk| risk["day_start_equity"] == usd));
    until("the day's start", || Some(risk()).filter(|risk| risk["day_start_equity"] == "10000"));

    let left_ms = || DAY_MS - stand.status()["at_ms"].as_i64().unwrap().rem_euclid(DAY_MS);
    let ahead_ms = left_ms() - BEFORE_MIDNIGHT_MS;
    stand.venue.control(&json!({"op": "clock", "advance_ms": ahead_ms})).unwrap();
    set_clock(&stand, ahead_ms);
    let today = risk()["day"].clone();
    let flow = |op: &str, usd: &str, late_ms: i64| {
        stand.venue.control(&json!({"op": op, "usd": usd, "ledger_delay_ms": late_ms})).unwrap();
    };
    // 9% and 15% of the account, where 5% fire the stop of the day; the second comes back in part.
    until("the end of the day", || (left_ms() <= AT_THE_END_MS || risk()["day"] != today).then_some(()));
    flow("withdraw", "900", LEDGER_LATE_MS);
    until("the next day", || Some(risk()).filter(|risk| risk["day"] != today));
    flow("withdraw", "1500", LEDGER_LATE_MS);
    flow("deposit", "400", 500);
    let after = moved("all of them to be known", "8000");
    let shown = (&after["state"], &after["day_pnl"], &after["peak_equity"], &after["drawdown"]);
    assert_eq!(shown, (&json!("active"), &json!("0"), &json!("8000"), &json!("0")), "{after}");
    assert!(stand.events_of("flatten").is_empty(), "{:?}", stand.events());

    // 5% of 8000 are lost, and a deposit of as much hides nothing.
    let position = json!({"op": "position", "coin": "ETH", "szi": "0.2", "entry_px": "4900"});
    stand.venue.control(&json!([position, {"op": "deposit", "usd": "420", "ledger_delay_ms": 800}])).unwrap();
    until("the halt", || (risk()["state"] == "halted_for_day").then_some(()));
    until("a flat account", || crate::acts::is_flat(&stand.venue.truth()).then_some(()));
}

/// Each day has its file; one that is gone leaves a gap in the chain.
#[test]
fn a_missing_day_is_refused() {
    let mut stand = stand();
    taken(&stand, 59_000);
    let first = stand.events_file();
    set_clock(&stand, 24 * HOUR_MS);
    let is_next = |path: &std::path::Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.starts_with("events-") && path != first
    };
    until("the next day's file", || {
        stand.send(&json!({"type": "noop"}));
        let mut files = std::fs::read_dir(stand.journal()).unwrap().map(|entry| entry.unwrap().path());
        files.find(|path| is_next(path))
    });
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let text = std::fs::read(&first).unwrap();
    std::fs::remove_file(&first).unwrap();
    let refused = run_with(&stand.home(), &stand.run_args(), "");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(said.contains("line 1, byte 0") && said.contains("journal-init"), "{said}");
    std::fs::write(&first, text).unwrap();
    // Its clock is off, which is no good health; it trades all the same.
    stand.launch();
    taken(&stand, 59_010);
}
