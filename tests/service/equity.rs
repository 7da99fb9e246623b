//! Equity by the minute: it is what the venue says, outlives the service, has no point where nothing was measured, and holds
//! nobody up.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};
use svc_guard::equity::{KEPT_MINUTES, MINUTE_MS, Point, Ring};

use crate::full_disk::Disk;
use crate::http::post;
use crate::stand::{ACCOUNT, Mode, Stand, until};
use crate::watched::{WIDE, hold, hold_covered};

fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis().try_into().unwrap()
}

fn file(stand: &Stand) -> PathBuf {
    let name = stand.journal().file_name().unwrap().to_str().unwrap().replace(ACCOUNT, "");
    stand.home().join("journals").join(format!("equity-{name}{ACCOUNT}"))
}

fn asked(stand: &Stand, query: &str) -> Value {
    let answer = stand.get(&format!("/guard/equity{query}"));
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn points(stand: &Stand) -> Vec<Value> {
    asked(stand, "?since=0")["points"].as_array().unwrap().clone()
}

fn amount(value: &Value) -> Decimal {
    value.as_str().unwrap().parse().unwrap()
}

/// What the venue itself says that the account is worth.
fn worth(stand: &Stand) -> Decimal {
    amount(&stand.venue.truth()["account"]["account_value"])
}

/// Waits until the newest point is what the venue says.
fn until_measured(stand: &Stand) -> Decimal {
    until("the venue's own equity", || {
        let known = amount(&points(stand).last()?["equity"]);
        (known == worth(stand)).then_some(known)
    })
}

/// Waits until the file has what is known.
fn until_kept(stand: &Stand) {
    until("the file to have it", || {
        let newest = points(stand).pop()?;
        let minute = newest["at_ms"].as_u64()? / MINUTE_MS;
        let kept = Ring::at(file(stand)).read(minute, minute).ok()?;
        let kept = kept.first()?;
        ([kept.last, kept.low, kept.high] == ["equity", "low", "high"].map(|name| amount(&newest[name]))).then_some(())
    });
}

#[test]
fn it_is_the_venues_own_and_outlives_a_kill() {
    let mut stand = Stand::up(Mode::Testnet, WIDE);
    hold_covered(&stand, "ETH", "0.4");
    stand.venue.price("ETH", "2600").unwrap();
    let high = until_measured(&stand);
    stand.venue.price("ETH", "2490").unwrap();
    let low = until_measured(&stand);
    assert!(high > low + dec!(40), "{high} and {low}");
    until_kept(&stand);
    let before = points(&stand);
    stand.kill();

    stand.venue.price("ETH", "2550").unwrap();
    stand.forget_spent_weight();
    stand.start();
    let after_away = until_measured(&stand);
    assert!(low < after_away && after_away < high, "{after_away}");
    let after = points(&stand);
    // Whatever minute it is now: what was measured before is there, and only the minute that both lives saw has grown.
    let (shared, earlier) = before.split_last().unwrap();
    assert_eq!(after[..earlier.len()], *earlier);
    let found = after.iter().find(|point| point["at_ms"] == shared["at_ms"]).unwrap();
    assert!(amount(&found["low"]) <= amount(&shared["low"]) && amount(&found["high"]) >= amount(&shared["high"]));
    let all = |name: &str| -> Vec<Decimal> { after.iter().map(|point| amount(&point[name])).collect() };
    assert_eq!(all("high").into_iter().max(), Some(high));
    assert_eq!(all("low").into_iter().min(), before.iter().map(|point| amount(&point["low"])).min());
    // So it is after an end in order.
    until_kept(&stand);
    assert_eq!(stand.stop(nix::sys::signal::Signal::SIGTERM), Some(0));
    stand.forget_spent_weight();
    stand.start();
    assert_eq!(points(&stand)[..after.len() - 1], after[..after.len() - 1]);
}

#[test]
fn a_minute_without_a_measurement_has_no_point() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let now = now_ms() / MINUTE_MS;
    let ring = Ring::at(file(&stand));
    // As an earlier life left it: away from nine minutes ago on.
    let left: Vec<u64> = (now - 20..now - 9).collect();
    left.iter().for_each(|minute| ring.write(&Point::of(minute * MINUTE_MS, dec!(9999.123456))).unwrap());
    // And one that had its clock ahead.
    ring.write(&Point::of((now + 500) * MINUTE_MS, dec!(1))).unwrap();
    stand.start();
    until_measured(&stand);
    let all = points(&stand);
    let (new, old): (Vec<&Value>, Vec<&Value>) =
        all.iter().partition(|point| point["at_ms"].as_u64().unwrap() / MINUTE_MS >= now);
    assert_eq!(old.iter().map(|point| point["at_ms"].as_u64().unwrap() / MINUTE_MS).collect::<Vec<_>>(), left);
    assert!(old.iter().all(|point| point["equity"] == "9999.123456" && point["minutes"] == 1));
    assert!(!new.is_empty() && new.iter().all(|point| point["equity"] == "10000"), "{new:?}");
    // However wide a point may be, it ends where nothing was measured.
    let wide = asked(&stand, "?since=0&step=1440")["points"].as_array().unwrap().clone();
    let wide: Vec<u64> = wide
        .iter()
        .map(|point| point["at_ms"].as_u64().unwrap() / MINUTE_MS + point["minutes"].as_u64().unwrap())
        .collect();
    assert!(wide.contains(&(now - 9)), "{wide:?}");
}

#[test]
fn ninety_days_are_told_in_bounded_answers() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let now = now_ms() / MINUTE_MS;
    let ring = Ring::at(file(&stand));
    let minutes = now - KEPT_MINUTES + 10..now;
    minutes.clone().for_each(|minute| ring.write(&Point::of(minute * MINUTE_MS, Decimal::from(minute))).unwrap());
    stand.launch();
    let mut since = 0;
    let mut told = Vec::new();
    loop {
        let page = asked(&stand, &format!("?since={since}"));
        let points = page["points"].as_array().unwrap();
        assert!(points.len() <= 1_500, "{}", points.len());
        told.extend(points.iter().map(|point| point["at_ms"].as_u64().unwrap() / MINUTE_MS));
        match page["next"].as_u64() {
            Some(next) => since = next,
            None => break,
        }
    }
    told.retain(|minute| *minute < now);
    assert!(told.into_iter().eq(minutes));
    let page = asked(&stand, "?since=0&step=90");
    assert!(page["next"].is_null() && page["points"].as_array().unwrap().len() <= 1_500, "{}", page["next"]);
    let day = asked(&stand, &format!("?since={}&until={}", (now - 1_440) * MINUTE_MS, (now - 1) * MINUTE_MS));
    let day = day["points"].as_array().unwrap();
    assert_eq!((day.len(), day[0]["at_ms"].as_u64().unwrap()), (1_440, (now - 1_440) * MINUTE_MS));
}

#[test]
fn a_question_that_makes_no_sense_is_named() {
    let mut stand = Stand::set_up(Mode::Paper, "");
    stand.launch();
    for (query, told) in [
        ("?since=x", "`since` must be an integer that is not negative"),
        ("?since=-1", "`since` must be an integer that is not negative"),
        ("?since=1&since=2", "`since` stands more than once"),
        ("?until=1.5", "`until` must be an integer that is not negative"),
        ("?step=0", "`step` must be from 1 to 1440 minutes"),
        ("?step=1441", "`step` must be from 1 to 1440 minutes"),
    ] {
        let answer = stand.get(&format!("/guard/equity{query}"));
        assert_eq!((answer.status, &answer.json()["code"]), (400, &json!("bad_request")), "{query}: {answer:?}");
        assert_eq!(answer.json()["msg"], told, "{query}");
    }
    for query in ["?since=18446744073709551615", "?until=0", "?since=5&until=4"] {
        assert_eq!(asked(&stand, query), json!({"schema": 1, "step": 1, "points": [], "next": null}), "{query}");
    }
    let posted = stand.connect().exchange(&post("/guard/equity", "application/json", b"{}"), true).unwrap();
    assert_eq!((posted.status, posted.header("allow")), (405, Some("GET, HEAD")));
}

#[test]
fn a_file_that_is_none_of_ours_is_named_and_holds_nobody_up() {
    let mut stand = Stand::set_up(Mode::Testnet, WIDE);
    fs::create_dir(file(&stand)).unwrap();
    stand.start();
    hold_covered(&stand, "ETH", "0.4");
    let answer = stand.get("/guard/equity");
    assert_eq!((answer.status, &answer.json()["code"]), (500, &json!("equity_error")), "{answer:?}");
    assert!(answer.json()["msg"].as_str().unwrap().contains(file(&stand).to_str().unwrap()), "{answer:?}");
    until("a word in the log", || stand.log().contains("the equity of this time is not kept").then_some(()));
    assert_eq!(stand.log().matches("the equity of this time is not kept").count(), 1, "said once");
    // What is known is not lost by it.
    fs::remove_dir(file(&stand)).unwrap();
    until_measured(&stand);
    until_kept(&stand);
    until("a word in the log", || stand.log().contains("the equity is kept again").then_some(()));
}

#[test]
fn a_full_disk_costs_no_point_and_no_cover() {
    let mut disk = None;
    let mut stand = Stand::set_up_on(Mode::Testnet, WIDE, |home| disk = Disk::sized(home, 16));
    let Some(disk) = disk else {
        eprintln!("skipped: mounting a small disk takes a privileged user");
        return;
    };
    stand.start();
    until_measured(&stand);
    until_kept(&stand);
    disk.fill();
    let length = fs::metadata(file(&stand)).unwrap().len();
    hold(&stand, "ETH", "0.4");
    stand.venue.price("ETH", "2520").unwrap();
    let high = until_measured(&stand);
    until("a word in the log", || stand.log().contains("the equity of this time is not kept").then_some(()));
    hold_covered(&stand, "ETH", "0.5");
    stand.venue.price("ETH", "2510").unwrap();
    until_measured(&stand);
    assert_eq!(fs::metadata(file(&stand)).unwrap().len(), length, "it takes nothing of what is left");
    assert!(points(&stand).iter().any(|point| amount(&point["high"]) == high));
    disk.free();
    until_kept(&stand);
    stand.kill();
    stand.forget_spent_weight();
    stand.start();
    assert!(points(&stand).iter().any(|point| amount(&point["high"]) == high));
}
