//! Alerts of the status: each is told when it begins and when it is over, also where several have one code.

use super::*;

#[test]
fn an_alert_begins_and_ends_each_position_by_itself() {
    let mut watch = watch();
    let held = json!([{"coin": "ETH", "side": "long", "size": "1"}, {"coin": "SOL", "side": "long", "size": "1"}]);
    let bare = |coins: &[&str]| {
        let alerts = coins.iter().map(|coin| json!({"code": "uncovered", "about": coin, "text": format!("1 of the position in {coin} has no stop"), "since_ms": NOW - 5_000}));
        status(json!({"positions": held, "alerts": alerts.collect::<Vec<_>>()}))
    };
    watch.status(&bare(&["ETH"]));
    let notices = watch.take();
    assert_eq!(
        (notices[0].topic().as_str(), notices[0].severity, notices[0].at_ms),
        ("uncovered/ETH", Severity::Critical, NOW - 5_000)
    );
    watch.status(&bare(&["ETH", "SOL"]));
    let notices = watch.take();
    assert_eq!((notices.len(), notices[0].about.as_str()), (1, "SOL"));
    watch.status(&bare(&["SOL"]));
    let notices = watch.take();
    assert_eq!((notices.len(), notices[0].topic().as_str(), notices[0].turn), (1, "uncovered/ETH", Turn::Over));
    let unknown = json!([{"code": "of_a_newer_guard", "text": "<b>x</b>\nsecond"}]);
    watch.status(&status(json!({"alerts": unknown})));
    let notices = watch.take();
    assert_eq!(notices[1].happened, "<b>x</b> second");
}

/// A loss near its limit ends with its halt too: nobody must read there that it went well.
#[test]
fn a_loss_whose_halt_fired_is_no_good_news() {
    for (rule, title, halt) in [
        ("daily_loss", "Daily loss over 60% of its limit", "halted_for_day"),
        ("daily_loss", "Daily loss over 60% of its limit", "stopped"),
        ("drawdown", "Drawdown over 60% of its limit", "stopped"),
    ] {
        let code = format!("{rule}_near");
        let near = json!([{"code": code, "text": "it is over 60% of its limit", "since_ms": NOW - 5_000}]);
        let mut watch = watch();
        watch.status(&status(json!({"alerts": near})));
        event(&mut watch, 1, json!({"kind": "risk", "state": halt}));
        watch.take();
        watch.status(&status(json!({"at_ms": NOW + 5_000, "risk": {"state": halt}})));
        let ends = watch.take();
        let ended = ends.iter().find(|notice| notice.code == code).unwrap();
        assert_eq!(
            (ended.turn, ended.weight(), ended.title.clone()),
            (Turn::Over, "warning", format!("A halt fired: {title}"))
        );
        assert!(ended.happened.ends_with("lasted 10 s, until a halt fired in its place."), "{}", ended.happened);
        // Where it goes back by itself it is over, as ever.
        let mut watch = self::watch();
        watch.status(&status(json!({"alerts": near})));
        watch.take();
        watch.status(&status(json!({"at_ms": NOW + 5_000})));
        let ends = watch.take();
        assert_eq!((ends[0].weight(), ends[0].title.clone()), ("good", format!("Over: {title}")));
    }
}

/// Two of one code stand beside each other: of two markets, of none, or by one and the same name.
#[test]
fn each_alert_of_a_code_is_told_and_so_is_its_end() {
    let over = |coin: &str| json!({"code": "over_limit", "about": coin, "text": format!("position: 2 USDC of {coin} could be")});
    let odd = |what: &str| json!({"code": "ledger_odd", "about": what, "text": format!("{what}; it counts")});
    let same = || json!({"code": "of_another_guard", "text": "no name at all"});
    let steps = [
        (json!([over("ETH")]), vec![("over_limit/ETH", "begins")]),
        (
            json!([over("ETH"), over("BTC"), odd("a of 5")]),
            vec![("ledger_odd/a of 5", "begins"), ("over_limit/BTC", "begins")],
        ),
        (
            json!([over("BTC"), odd("a of 5"), odd("a of 7")]),
            vec![("over_limit/ETH", "over"), ("ledger_odd/a of 7", "begins")],
        ),
        (
            json!([same(), same()]),
            vec![
                ("ledger_odd/a of 5", "over"),
                ("ledger_odd/a of 7", "over"),
                ("over_limit/BTC", "over"),
                ("of_another_guard", "begins"),
                ("of_another_guard/(2)", "begins"),
            ],
        ),
        (json!([same()]), vec![("of_another_guard/(2)", "over")]),
    ];
    let mut watch = watch();
    for (alerts, wanted) in steps {
        watch.status(&status(json!({"alerts": alerts})));
        let told: Vec<(String, &str)> =
            watch.take().iter().map(|notice| (notice.topic(), notice.turn.name())).collect();
        assert_eq!(told, wanted.iter().map(|(topic, turn)| ((*topic).to_owned(), *turn)).collect::<Vec<_>>());
    }
}

/// What stands keeps its place whatever comes: what has no room is told together, and neither again and again nor in the place of
/// the kill switch. Many of one code hide no other.
#[test]
fn alerts_beyond_the_bound_are_told_together_and_put_out_nothing() {
    let most = super::super::alerts::MAX_ALERTS;
    let shows = |bare: usize, odd: usize, killed: Option<&str>| {
        let bare = (0..bare).map(|coin| json!({"code": "uncovered", "about": format!("Z{coin:03}"), "text": "bare"}));
        let odd = (0..odd).map(|row| json!({"code": "ledger_odd", "about": format!("a{row:03}"), "text": "odd"}));
        status(json!({"alerts": odd.chain(bare).collect::<Vec<_>>(), "killed": killed}))
    };
    let mut watch = watch();
    watch.status(&shows(most, 0, None));
    assert_eq!(told(&mut watch), vec!["uncovered begins"; most], "as many as there is room for");
    watch.status(&shows(most + 12, 3, None));
    let notices = watch.take();
    let more: Vec<(&str, String)> = notices.iter().map(|notice| (notice.title.as_str(), notice.topic())).collect();
    assert_eq!(
        more[1..],
        [
            ("And 12 more alerts", "alerts_more/critical".to_owned()),
            ("And 2 more alerts", "alerts_more/warning".to_owned())
        ]
    );
    assert_eq!(more[0].1, "ledger_odd/a000", "the first of its code is told by itself");
    assert!(
        notices[1].happened.contains("uncovered/Z128, ") && notices[1].happened.ends_with("uncovered/Z132 and others.")
    );
    for _ in 0..3 {
        watch.status(&shows(most + 12, 3, None));
        assert_eq!(told(&mut watch), [""; 0], "and once only");
    }
    watch.status(&shows(most + 12, 3, Some("the file")));
    assert_eq!(told(&mut watch), ["kill begins"]);
    watch.status(&shows(most + 12, 3, Some("the file")));
    assert_eq!(told(&mut watch), [""; 0]);
    watch.status(&shows(most + 12, 3, None));
    let told_now = told(&mut watch);
    assert!(told_now.contains(&"kill over".to_owned()), "{told_now:?}");
    // The gravest go first where there is room, and what stands is not told anew.
    watch.status(&shows(most - 2, 2, None));
    let told_now = told(&mut watch);
    let over = ["uncovered over", "uncovered over"];
    assert_eq!(told_now, [&over[..], &["ledger_odd begins", "alerts_more over", "alerts_more over"]].concat());
    watch.status(&shows(0, 0, None));
    let ended = told(&mut watch);
    assert_eq!((ended.len(), ended.iter().filter(|told| told.ends_with("over")).count()), (most, most));
}

/// The row of a rule is that of its nearest market, which may be another one than before.
#[test]
fn a_limit_that_another_market_comes_near_is_told_of_too() {
    let near = |coin: &str, used: &str| {
        status(json!({"headroom": [{"rule": "position", "unit": "usdc", "coin": coin, "used": used, "limit": "1000"}]}))
    };
    let mut watch = watch();
    let mut said = Vec::new();
    for (coin, used) in [("ETH", "950"), ("BTC", "960"), ("ETH", "970"), ("BTC", "700"), ("ETH", "910")] {
        watch.status(&near(coin, used));
        said.extend(watch.take().into_iter().map(|notice| notice.about));
    }
    assert_eq!(said, ["position ETH", "position BTC", "position ETH"]);
}

/// What a person has to do is typed as it stands: with this home, and with the flags that the command wants.
#[test]
fn a_command_in_an_alert_is_one_for_this_home() {
    let mut watch = watch();
    let text = "approve a new one at the venue, give its key with `svc-guard key replace --key-stdin < FILE`";
    let alerts = json!([{"code": "role_unread", "text": text}, {"code": "signer_unknown", "text": "x"}]);
    watch.status(&status(json!({"alerts": alerts})));
    let notices = watch.take();
    let command = |words: &str| format!("`svc-guard --home /home/me/g {words} --key-stdin < FILE`");
    assert!(notices[0].happened.contains(&command("key replace")), "{notices:?}");
    assert!(notices[0].todo.contains(&command("key check")), "{notices:?}");
    assert!(notices[1].todo.contains(&command("key replace")), "{notices:?}");
}

/// Whatever an alert is, and wherever its guard lives: who is told to stop, restart or kill is told how, for this one.
#[test]
fn whoever_is_to_stop_or_restart_something_is_told_how() {
    let of_home = [
        ("/home/me/g/kill", "testnet", "svc-guard --home /home/me/g "),
        ("/home/me/g/kill", "mainnet", "svc-guard --home /home/me/g "),
        ("/var/lib/svc-guard/guards/b/kill", "testnet", "sudo "),
        ("/var/lib/svc-guard/guards/b/kill", "paper", "sudo "),
    ];
    for (kill_file, mode, command) in of_home {
        let mut watch = Watch { cursor: Some(0), ..Watch::default() };
        let alerts = alert_words::codes().map(|code| json!({"code": code, "text": "x"}));
        let rows = ["daily_loss", "drawdown", "position"]
            .map(|rule| json!({"rule": rule, "unit": "usdc", "used": "95", "limit": "100"}));
        let alerts: Vec<Value> = alerts.collect();
        watch.status(&status(json!({"kill_file": kill_file, "mode": mode, "alerts": alerts, "headroom": rows})));
        let notices = watch.take();
        assert_eq!(notices.len(), alert_words::codes().count() + rows.len());
        let mut with_one = Vec::new();
        for notice in &notices {
            let todo = notice.todo.to_lowercase();
            let speaks = ["restart", "stop the", "kill", "whether the bot should go on"];
            if speaks.iter().any(|word| todo.contains(word)) {
                assert!(notice.todo.contains(command), "{kill_file}: {notice:?}");
                with_one.push(notice.code.as_str());
            }
            assert!(!notice.todo.contains(['{', '}']), "{notice:?}");
        }
        for code in ["account_mode", "daily_loss_near", "drawdown_near", "home_gone", "limit_near", "markets_changed"] {
            assert!(with_one.contains(&code), "{code}: {with_one:?}");
        }
    }
}

/// A guard may tell of two by one name: the one that is over is told to be over, whatever place the other has now.
#[test]
fn of_two_alerts_by_one_name_the_one_that_ended_is_told_to_be_over() {
    let alert = |text: &str, since_ms: u64| json!({"code": "position_unknown", "about": "XYZ", "text": text, "since_ms": NOW - since_ms});
    let (first, second, third) = (alert("first", 9_000), alert("second", 5_000), alert("third", 1_000));
    let grown = alert("second, larger", 5_000);
    let named = |about: &str, turn: &str| (about.to_owned(), turn.to_owned());
    let mut watch = watch();
    let mut now_ms = NOW;
    for (alerts, wanted) in [
        (json!([first, second]), vec![named("XYZ", "begins"), named("XYZ (2)", "begins")]),
        (json!([second, first]), vec![]),
        (json!([second]), vec![named("XYZ", "over")]),
        (json!([grown]), vec![]),
        (json!([third, grown]), vec![named("XYZ", "begins")]),
        (json!([third]), vec![named("XYZ (2)", "over")]),
        (json!([]), vec![named("XYZ", "over")]),
    ] {
        now_ms += 1_000;
        watch.status(&status(json!({"alerts": alerts, "at_ms": now_ms})));
        let told: Vec<_> = watch.take().iter().map(|told| named(&told.about, told.turn.name())).collect();
        assert_eq!(told, wanted, "{alerts}");
    }
}

/// Beyond these two everything is closed: that is nothing to let be.
#[test]
fn a_limit_of_losses_that_is_near_is_told_with_what_comes_beyond_it() {
    let near = |rule: &str| {
        let row = json!({"rule": rule, "unit": "usdc", "used": "95", "limit": "100"});
        let mut watch = watch();
        watch.status(&status(json!({"headroom": [row]})));
        watch.take().remove(0)
    };
    for (rule, until) in [("daily_loss", "until the UTC day ends"), ("drawdown", "until a person resumes")] {
        let told = near(rule);
        assert!(told.did.contains("everything is closed") && told.did.contains(until), "{told:?}");
        assert!(!told.did.contains("exits pass") && !told.todo.starts_with("Nothing"), "{told:?}");
    }
    assert!(near("exposure").did.contains("exits pass"));
    for code in ["daily_loss_near", "drawdown_near"] {
        assert!(!alert_words(code).did.starts_with("Nothing yet"), "it may stand at its limit");
    }
}

/// What the guard wrote down before it named its home, and what names it already.
#[test]
fn a_command_in_an_error_is_one_for_this_home() {
    let mut watch = watch();
    let wanted = "give its key with `svc-guard --home /home/me/g key replace --key-stdin < FILE`";
    for (seq, text) in [(1, wanted.replace(" --home /home/me/g", "")), (2, wanted.to_owned())] {
        event(&mut watch, seq, json!({"kind": "error", "text": text}));
        assert_eq!(watch.take()[0].happened, wanted);
    }
}

/// A later version's alert, or none at all: the others, and the rest of the status, are told all the same.
#[test]
fn an_alert_that_cannot_be_read_takes_no_other_along() {
    for odd in [
        json!({"code": "of_tomorrow", "text": null}),
        json!({"code": "of_tomorrow", "text": {"en": "x"}, "about": 7, "since_ms": "y"}),
        json!({"code": "of_tomorrow", "text": ["x"], "about": null}),
    ] {
        let mut watch = watch();
        let bare = json!({"code": "uncovered", "about": "ETH", "text": "ETH has no stop", "since_ms": NOW});
        watch.status(&status(json!({"alerts": [odd, bare], "killed": "enough"})));
        let notices = watch.take();
        let codes: Vec<&str> = notices.iter().map(|notice| notice.code.as_str()).collect();
        assert_eq!(codes, ["kill", "of_tomorrow", "uncovered"], "{odd}");
        assert!(notices[1].happened.contains("in a form that is not known here"), "{:?}", notices[1]);
        watch.status(&status(json!({"alerts": [], "killed": "enough"})));
        assert_eq!(told(&mut watch), ["of_tomorrow over", "uncovered over"]);
    }
    let mut watch = watch();
    watch.status(&status(json!({"alerts": [7, null, "x"], "killed": "enough"})));
    let mut told = told(&mut watch);
    told.sort();
    assert_eq!(told, ["kill begins", "unreadable begins", "unreadable begins", "unreadable begins"]);
}
