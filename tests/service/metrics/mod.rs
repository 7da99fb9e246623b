//! `GET /metrics` from outside: what it counts is what the events and the status say, and the page is what Prometheus reads.

mod parse;

use std::collections::BTreeMap;
use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;
use svc_guard::guard::Code;
use svc_guard::venue::signing::Source;

use crate::http::{bare, post};
use crate::pages::PAGE;
use crate::signing::{BTC, fresh_nonce, limit, place, resting, signed, signed_with};
use crate::stand::{ACCOUNT, Mode, Stand, run_with, until};
use parse::Scrape;

fn scrape(stand: &Stand) -> Scrape {
    let response = stand.get("/metrics");
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(response.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    Scrape::read(&response.body)
}

/// A scrape once everything has been read.
fn full(stand: &Stand) -> Scrape {
    until("a scrape in which everything is known", || {
        let scraped = scrape(stand);
        let known = ["svc_guard_day_pnl_usdc", "svc_guard_read_age_seconds{read=\"orders\"}"];
        known.iter().all(|series| scraped.text(series).is_some()).then_some(scraped)
    })
}

/// How many of the events have each of these fields' values.
fn counts(events: &[Value], of: impl Fn(&Value) -> Option<String>) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    events.iter().filter_map(of).for_each(|key| *counts.entry(key).or_default() += 1);
    counts
}

fn some(counts: BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}

/// Lines and bytes of the journal's files, but for what holds no lines of its own.
fn journal_size(stand: &Stand) -> (u64, u64) {
    let files = fs::read_dir(stand.journal()).unwrap().map(|entry| entry.unwrap().path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).map(|path| fs::read(path).unwrap());
    texts.fold((0, 0), |(lines, bytes), text| {
        let more = text.iter().filter(|byte| **byte == b'\n').count();
        (lines + more as u64, bytes + text.len() as u64)
    })
}

/// Holds the counters to the journal on disk, once both stand still.
fn hold_to_the_journal(stand: &Stand, before: (u64, u64)) -> Scrape {
    until("counters that are what the journal says", || {
        let (scrape, events, now) = (scrape(stand), stand.on_disk(), journal_size(stand));
        let kind = |event: &Value| Some(format!("kind=\"{}\"", event["kind"].as_str()?));
        let decided = |event: &Value| {
            let (verdict, code) = (event["verdict"].as_str()?, event["code"].as_str()?);
            Some(format!("verdict=\"{verdict}\",code=\"{code}\""))
        };
        let decisions = counts(&events, decided);
        let fits = some(scrape.of("svc_guard_events_total")) == counts(&events, kind)
            && some(scrape.of("svc_guard_decisions_total")) == decisions
            && scrape.count("svc_guard_decision_duration_seconds_count") == decisions.values().sum::<u64>()
            && scrape.count("svc_guard_journal_last_seq") == events.last()?["seq"].as_u64()?
            && scrape.count("svc_guard_journal_lines_total") == now.0 - before.0
            && scrape.count("svc_guard_journal_bytes_total") == now.1 - before.1;
        fits.then_some(scrape)
    })
}

/// A money gauge is the status's figure, which may move between the two.
fn hold_to_the_status(stand: &Stand) {
    let named = [
        ("day_pnl", "svc_guard_day_pnl_usdc"),
        ("daily_loss_limit", "svc_guard_daily_loss_limit_usdc"),
        ("drawdown", "svc_guard_drawdown_usdc"),
        ("drawdown_limit", "svc_guard_drawdown_limit_usdc"),
        ("open_risk", "svc_guard_open_risk_usdc"),
        ("open_risk_limit", "svc_guard_open_risk_limit_usdc"),
        ("exposure", "svc_guard_exposure_usdc"),
        ("exposure_limit", "svc_guard_exposure_limit_usdc"),
    ];
    until("figures that are what the status says", || {
        let (scrape, status) = (scrape(stand), stand.status());
        let fits = |series: &str, figure: &Value| scrape.text(series) == figure.as_str();
        let state = format!("svc_guard_risk_state{{state=\"{}\"}}", status["risk"]["state"].as_str()?);
        let alerts =
            counts(status["alerts"].as_array()?, |alert| Some(format!("code=\"{}\"", alert["code"].as_str()?)));
        let orders =
            counts(status["open_orders"].as_array()?, |order| Some(format!("owner=\"{}\"", order["owner"].as_str()?)));
        let positions = status["positions"].as_array()?;
        // Left out where nothing is left at the venue.
        let away = |key: &str| status["if_away"].get(key).cloned().unwrap_or_else(|| json!("0"));
        let bare = positions.iter().filter(|position| position["covered_size"] != position["size"]).count();
        let all = named.iter().all(|(field, series)| fits(series, &status["risk"][field]))
            && fits("svc_guard_equity_usdc", &status["equity"])
            && scrape.count(&state) == 1
            && scrape.of("svc_guard_risk_state").values().sum::<u64>() == 1
            && scrape.count("svc_guard_kill_latched") == u64::from(!status["killed"].is_null())
            && scrape.count("svc_guard_positions") == positions.len() as u64
            && scrape.count("svc_guard_positions_uncovered") == bare as u64
            && fits("svc_guard_if_away_loss_usdc", &away("loss"))
            && fits("svc_guard_if_away_without_stop_usdc", &away("without_stop"))
            && some(scrape.of("svc_guard_alerts")) == alerts
            && some(scrape.of("svc_guard_open_orders")) == orders;
        all.then_some(())
    });
}

#[test]
fn counters_and_gauges_are_what_the_events_and_the_status_say() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let before = journal_size(&stand);
    stand.start();
    stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}));
    stand.send(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 20}));
    stand.send(&resting());
    hold_to_the_status(&stand);
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0.4", "entry_px": "2500"})).unwrap();
    until("cover", || (!stand.events_of("protect").is_empty()).then_some(()));
    hold_to_the_status(&stand);
    let scraped = hold_to_the_journal(&stand, before);
    for sample in [
        "verdict=\"allow\",code=\"allowed\"",
        "verdict=\"resize\",code=\"resized\"",
        "verdict=\"veto\",code=\"leverage_too_high\"",
    ] {
        assert_eq!(scraped.of("svc_guard_decisions_total")[sample], 1, "{sample}");
    }
    assert_eq!(scraped.count("svc_guard_events_total{kind=\"protect\"}"), 1);
    assert_eq!(scraped.count("svc_guard_kill_latched"), 0);

    assert_eq!(run_with(&stand.home(), &["kill", "--reason", "enough"], "").status.code(), Some(0));
    until("a flat account", || stand.status()["positions"].as_array()?.is_empty().then_some(()));
    let scraped = hold_to_the_journal(&stand, before);
    hold_to_the_status(&stand);
    assert_eq!(scraped.count("svc_guard_kill_latched"), 1);
    assert_eq!(scraped.count("svc_guard_events_total{kind=\"kill\"}"), 1);
    // Each request that the venue saw was one call, and one time.
    until("as many calls as the venue saw", || {
        let scraped = scrape(&stand);
        let saw = stand.venue_saw().len() as u64;
        let calls = scraped.count("svc_guard_venue_calls_total{kind=\"exchange\",outcome=\"answered\"}");
        (calls == saw && scraped.count("svc_guard_send_duration_seconds_count") == saw).then_some(())
    });

    // The next life counts anew, but for the number of the last event.
    let last = stand.on_disk().last().unwrap()["seq"].as_u64().unwrap();
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    stand.start();
    let scraped = scrape(&stand);
    assert!(scraped.count("svc_guard_journal_last_seq") > last);
    assert_eq!(scraped.count("svc_guard_events_total{kind=\"started\"}"), 1);
    assert_eq!(scraped.of("svc_guard_decisions_total").values().sum::<u64>(), 0);
}

#[test]
fn a_halt_is_the_one_state() {
    let stand = Stand::up(Mode::Testnet, "");
    // The mid stays at 2500: what was paid above it is lost at once.
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "1", "entry_px": "3100"})).unwrap();
    let states = until("the halt", || {
        let states = scrape(&stand).of("svc_guard_risk_state");
        (states["state=\"halted_for_day\""] == 1).then_some(states)
    });
    assert_eq!(some(states).len(), 1);
    hold_to_the_status(&stand);
}

#[test]
fn a_venue_that_fails_shows() {
    let stand = Stand::up(Mode::Paper, "");
    let scraped = scrape(&stand);
    assert_eq!((scraped.count("svc_guard_healthy"), scraped.count("svc_guard_decision_loop_up")), (1, 1));
    stand.without_prices();
    let scraped = until("prices that are too old", || {
        let scraped = scrape(&stand);
        (scraped.count("svc_guard_alerts{code=\"price_stale\"}") == 1).then_some(scraped)
    });
    assert_eq!(scraped.count("svc_guard_healthy"), 0);
    let age = scraped.text("svc_guard_read_age_seconds{read=\"prices\"}").unwrap();
    assert!(age.parse::<f64>().unwrap() > 5.0, "{age}");
    let calls = |outcome: &str| {
        scraped.count(&format!("svc_guard_venue_calls_total{{kind=\"allMids\",outcome=\"{outcome}\"}}"))
    };
    assert!(calls("answered") > 0 && calls("refused") > 0);
    let weight = |name: &str| scraped.count(&format!("svc_guard_venue_weight_{name}"));
    assert!(weight("used") > 0 && weight("used") <= weight("limit"));
    let spent = |priority: &str| weight(&format!("spent_total{{priority=\"{priority}\"}}"));
    let own: u64 = ["flatten", "read", "early_read"].map(spent).iter().sum();
    assert!(spent("read") > 0 && own >= weight("used"), "only the guard has asked");
    assert_eq!(spent("client_entry"), 0);
}

/// Whatever clients send, no series comes of it that was not there.
#[test]
fn odd_requests_make_no_series() {
    let stand = Stand::up(Mode::Paper, "");
    let before = full(&stand);
    let known = Code::ALL.iter().all(|code: &Code| {
        before
            .series()
            .iter()
            .any(|series| series.starts_with("svc_guard_decisions_total") && series.contains(&format!("\"{code}\"")))
    });
    assert!(known, "every code has its series from the start");
    let stranger = SecretKey::parse(&format!("0x{}", "77".repeat(32))).unwrap();
    for n in 0..12 {
        let odd = format!("odd\"}} 1\n{n}");
        stand.post("/exchange", &signed(&stand.client, &json!({"type": odd})));
        stand.post("/exchange", &signed_with(&stranger, &json!({"type": odd}), fresh_nonce(), Source::Mainnet));
        stand.post("/exchange", &signed(&stand.client, &place(&limit(9_000 + n, true, "1", "1"))));
        stand.post("/exchange", &json!({ odd.clone(): 1 }));
        stand.post("/info", &json!({"type": odd, "coin": odd}));
        stand.post("/guard/kill", &json!({ odd.clone(): odd }));
        stand.get(&format!("/odd/{n}?odd={n}"));
        stand.get(&format!("/metrics?odd={n}"));
        stand.connect().exchange(&bare(&format!("ODD{n}"), "/metrics"), true).unwrap();
        stand.connect().exchange(&post("/exchange", "text/odd", odd.as_bytes()), true).unwrap();
    }
    let after = scrape(&stand);
    assert_eq!(after.series(), before.series());
    assert!(
        after.count("svc_guard_venue_calls_total{kind=\"passed_through\",outcome=\"answered\"}") > 0
            || after.count("svc_guard_venue_calls_total{kind=\"passed_through\",outcome=\"refused\"}") > 0
    );
    let decided = after.of("svc_guard_decisions_total");
    assert_eq!(
        (decided["verdict=\"veto\",code=\"market_unknown\""], decided["verdict=\"veto\",code=\"action_not_allowed\""]),
        (12, 12)
    );
}

#[test]
fn the_page_is_asked_for_as_every_page_is() {
    let stand = Stand::up(Mode::Paper, "");
    let head = stand.connect().exchange(&bare("HEAD", "/metrics"), false).unwrap();
    assert_eq!((head.status, head.header("content-type")), (200, Some("text/plain; version=0.0.4; charset=utf-8")));
    assert!(head.header("content-length").unwrap().parse::<usize>().unwrap() > 1_000);
    for method in ["POST", "PUT", "DELETE"] {
        let request = format!("{method} /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n");
        let refused = stand.connect().exchange(request.as_bytes(), true).unwrap();
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")), "{method}");
    }
    let from_elsewhere = |path: &str| {
        let request = format!("GET {path} HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n");
        stand.connect().exchange(request.as_bytes(), true).unwrap()
    };
    let (refused, other) = (from_elsewhere("/metrics"), from_elsewhere("/healthz"));
    assert_eq!((refused.status, refused.body), (other.status, other.body));
    assert!(refused.status >= 400);
}

/// What a person would ask of the machine and the wallet: held to what the system, the venue and the config say.
#[test]
fn the_wallets_end_the_clock_and_the_process_are_told() {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    let ends_ms = stand.venue.truth()["now_ms"].as_u64().unwrap() + 40 * 86_400_000;
    stand.venue.setting("agent_valid_until_ms", ends_ms).unwrap();
    stand.start();
    let end = until("the approval's end", || {
        scrape(&stand).text("svc_guard_api_wallet_end_timestamp_seconds").map(|text| text.parse::<f64>().unwrap())
    });
    assert!((end * 1_000.0 - ends_ms as f64).abs() < 1.0, "{end}, not {ends_ms}");
    let scraped = full(&stand);
    let offset: f64 = scraped.text("svc_guard_clock_offset_seconds").unwrap().parse().unwrap();
    assert!(offset.abs() < 1.0, "both clocks are this machine's: {offset}");
    let url = stand.venue.url();
    let (account, venue) = (format!("account=\"{ACCOUNT}\""), format!("venue=\"{}\"", &url["http://".len()..]));
    let info = scraped.of("svc_guard_build_info");
    assert!(
        info.len() == 1 && info.keys().all(|labels| labels.contains(&account) && labels.contains(&venue)),
        "{info:?}"
    );
    let fds = || fs::read_dir(format!("/proc/{}/fd", stand.pid())).unwrap().count() as u64;
    until("as many descriptors as the system says", || {
        let (least, told, most) = (fds(), scrape(&stand).count("process_open_fds"), fds());
        // The scrape's own connection may be one of them or not.
        (least.saturating_sub(2)..=most + 2).contains(&told).then_some(())
    });
    let cpu = |scraped: &Scrape| scraped.text("process_cpu_seconds_total").unwrap().parse::<f64>().unwrap();
    let before = cpu(&scraped);
    assert!(before > 0.0);
    until("more time spent", || (cpu(&scrape(&stand)) > before).then_some(()));
}

/// The manual page has every metric: its labels, its type and its help.
#[test]
fn the_manual_page_lists_every_metric() {
    let stand = Stand::up(Mode::Testnet, "");
    let scraped = full(&stand);
    let served: Vec<String> = scraped
        .families
        .iter()
        .map(|(name, family)| {
            let labels =
                if family.labels.is_empty() { String::new() } else { format!("{{{}}}", family.labels.join(",")) };
            format!("{name}{labels}\n{}: {}", family.kind, family.help)
        })
        .collect();
    let (_, part) = PAGE.split_once("\n.SH METRICS\n").unwrap();
    let part = part.split_once("\n.SH ").unwrap().0;
    let mut listed: Vec<&str> = part.split("\n.TP\n.B ").skip(1).collect();
    listed.sort_unstable();
    assert_eq!(listed, served);
    assert!(scraped.families.keys().all(|name| name.starts_with("svc_guard_") || name.starts_with("process_")));
}
