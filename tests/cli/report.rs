//! `report`: what the journal says of the money, on files written as the service writes them.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use svc_guard::journal::{Chain, seal};

use crate::place::*;

const CLIENT: &str = "0xc1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1";
/// The first millisecond of 2026-03-01.
const MARCH: u64 = 1_772_323_200_000;
const HOUR: u64 = 3_600_000;
const DAY: u64 = 24 * HOUR;
/// Two fills of March 1st by a client, and of the second day one by nobody, heard of on the third, whose fee is no USDC; then the
/// sum of the book that closes that day.
fn events() -> Vec<String> {
    let fill =
        |at: u64, time: u64, rest: &str| format!(r#""at_ms":{at},"kind":"fill","time":{time},"tid":{time},{rest}}}"#);
    let of_client = format!(r#""client":"{CLIENT}","intent":2"#);
    let balance = |at: u64, equity: &str, worst: &str| {
        format!(
            r#""at_ms":{at},"kind":"balance","venue_ms":{at},"opened_ms":{MARCH},"opening_equity":"1000","equity":"{equity}","difference":"0","highest":"1000","lowest":"{equity}","worst_fall":"{worst}"}}"#
        )
    };
    vec![
        format!(r#""at_ms":{MARCH},"kind":"started","schema":1,"mode":"paper"}}"#),
        format!(
            r#""at_ms":{},"kind":"decision","client":"{CLIENT}","verdict":"allow","code":"allowed","request":{{"type":"noop"}}}}"#,
            MARCH + HOUR
        ),
        fill(
            MARCH + HOUR,
            MARCH + HOUR,
            &format!(
                r#""coin":"ETH","side":"buy","px":"2500.1","size":"0.1","fee":"0.1125","fee_token":"USDC","closed_pnl":"0","position_before":"0","position_after":"0.1",{of_client}"#
            ),
        ),
        fill(
            MARCH + 2 * HOUR,
            MARCH + 2 * HOUR,
            &format!(
                r#""coin":"ETH","side":"sell","px":"2400","size":"0.1","fee":"-0.003","fee_token":"USDC","closed_pnl":"-10.01","position_before":"0.1","position_after":"0",{of_client}"#
            ),
        ),
        balance(MARCH + 3 * HOUR, "989.8805", "10.1195"),
        format!(
            r#""at_ms":{},"kind":"decision","client":null,"verdict":"veto","code":"bad_signature","count":3,"request":null}}"#,
            MARCH + 4 * HOUR
        ),
        format!(
            r#""at_ms":{},"kind":"funding","coin":"BTC","usdc":"-0.5","size":"1","time":{}}}"#,
            MARCH + DAY + 1,
            MARCH + DAY
        ),
        balance(MARCH + DAY + 2 * HOUR, "989.3805", "0"),
        fill(
            MARCH + 2 * DAY + 10_000,
            MARCH + DAY + HOUR,
            r#""coin":"=cmd()","side":"buy","px":"3","size":"7","fee":"0.01","fee_token":"HYPE","closed_pnl":"0","position_before":"0","position_after":"7","late":true,"client":null,"intent":null"#,
        ),
        balance(MARCH + 2 * DAY + 20_000, "989.3805", "0"),
    ]
}

/// A paper home with a journal of these events, a file a day.
fn place_with(events: &[String]) -> Place {
    let place = Place::paper();
    write(&journal(&place), events);
    place
}

fn journal(place: &Place) -> PathBuf {
    place.home().join(format!("journals/paper-{ACCOUNT}"))
}

fn write(dir: &Path, events: &[String]) {
    let (mut chain, mut files) = (Chain::START, std::collections::BTreeMap::<String, Vec<u8>>::new());
    for (seq, event) in (1..).zip(events) {
        let body = format!(r#"{{"seq":{seq},{event}"#);
        let at_ms = serde_json::from_str::<Value>(&body).unwrap()["at_ms"].as_u64().unwrap();
        let name = format!("events-2026-03-{:02}.jsonl", (at_ms - MARCH) / DAY + 1);
        chain = seal(chain, &body, files.entry(name).or_default()).unwrap();
    }
    for (name, lines) in files {
        fs::write(dir.join(&name), lines).unwrap();
        fs::set_permissions(dir.join(&name), fs::Permissions::from_mode(0o644)).unwrap();
    }
}

fn json(place: &Place, args: &[&str]) -> Value {
    let out = succeeded(&place.run(&[&["report", "--mode", "paper", "--format", "json"], args].concat()));
    serde_json::from_str(&out).unwrap()
}

#[test]
fn the_report_of_a_journal_is_printed_in_each_format() {
    let place = place_with(&events());
    let before = place.listing();
    let report = json(&place, &[]);
    let total = &report["total"];
    for (name, value) in [
        ("volume", "511.01"),
        ("gross", "-10.01"),
        ("fees", "0.1095"),
        ("funding", "-0.5"),
        ("net", "-10.6195"),
        ("equity_start", "989.8805"),
        ("equity_end", "989.3805"),
        ("worst_drawdown", "10.6195"),
        ("difference", "0"),
    ] {
        assert_eq!(total[name], value, "{name} in {report}");
    }
    assert_eq!(
        (&total["fills"], &total["late_fills"], &total["fees_in"]["HYPE"]),
        (&3.into(), &1.into(), &"0.01".into())
    );
    assert_eq!(
        (&total["allowed"], &total["vetoed"], &total["codes"]["veto bad_signature"]),
        (&1.into(), &3.into(), &3.into())
    );
    let keys: Vec<&str> = report["rows"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap()).collect();
    assert_eq!(keys, ["2026-03-01", "2026-03-02"], "what is heard of late counts when it was");
    let table = succeeded(&place.run(&["report", "--mode", "paper"]));
    let row = table.lines().find(|line| line.starts_with("2026-03-01")).unwrap();
    for amount in ["490.01", "-10.01", "0.1095", "0", "-10.1195", "989.3805", "10.1195"] {
        assert!(row.split_whitespace().any(|cell| cell == amount), "{amount} in {table}");
    }
    let csv = succeeded(&place.run(&["report", "--mode", "paper", "--format", "csv"]));
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!((lines.len(), lines[0].split(',').nth(1)), (4, Some("\"fills\"")), "{csv}");
    assert!(lines[3].starts_with("\"(total)\",\"3\",\"1\",\"0\",\"511.01\",\"-10.01\",\"0.1095\""), "{csv}");
    assert!(place.listing() == before, "a report changes nothing");
}

#[test]
fn rows_are_days_markets_or_clients() {
    let place = place_with(&events());
    let rows = |by: &str| -> Vec<(Value, Value, Value)> {
        let report = json(&place, &["--by", by]);
        report["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| (row["key"].clone(), row["volume"].clone(), row["net"].clone()))
            .collect()
    };
    let row = |key: Option<&str>, volume: &str, net: &str| (Value::from(key), Value::from(volume), Value::from(net));
    assert_eq!(rows("day"), [row(Some("2026-03-01"), "490.01", "-10.1195"), row(Some("2026-03-02"), "21", "-0.5")]);
    assert_eq!(
        rows("market"),
        [row(Some("=cmd()"), "21", "0"), row(Some("BTC"), "0", "-0.5"), row(Some("ETH"), "490.01", "-10.1195")]
    );
    assert_eq!(rows("client"), [row(None, "21", "-0.5"), row(Some(CLIENT), "490.01", "-10.1195")]);
    place.refuses(&["report", "--mode", "paper", "--by", "week"], "week");
}

/// A fill of this market by this client at this price, ten minutes after the one before it.
fn named(number: u64, market: &str, client: Option<&str>, px: &str) -> String {
    let (at, coin, client) = (MARCH + number * 600_000, Value::from(market), Value::from(client));
    format!(
        r#""at_ms":{at},"kind":"fill","time":{at},"tid":{at},"coin":{coin},"side":"buy","px":"{px}","size":"1","fee":"0","fee_token":"USDC","closed_pnl":"0","position_before":"0","position_after":"1","client":{client},"intent":null}}"#
    )
}

/// Markets and clients that are called like the report's own words, and like those in quotes.
#[test]
fn names_are_told_apart_from_the_reports_own_words() {
    const NAMES: [&str; 6] = ["(nobody)", "(others)", "(total)", "\"(total)\"", "'=x", "=x"];
    let mut events = vec![format!(r#""at_ms":{MARCH},"kind":"started","schema":1,"mode":"paper"}}"#)];
    events.extend((1..).zip(NAMES).map(|(number, name)| named(number, name, Some(name), &number.to_string())));
    events.push(named(9, "ETH", None, "100"));
    let place = place_with(&events);
    for (by, last) in [("market", "ETH"), ("client", "(nobody)")] {
        let report = json(&place, &["--by", by]);
        let rows = report["rows"].as_array().unwrap();
        let told = |volume: &str| rows.iter().find(|row| row["volume"] == volume).unwrap()["key"].clone();
        (1..).zip(NAMES).for_each(|(number, name)| assert_eq!(told(&number.to_string()), name));
        assert_eq!(told("100"), if by == "market" { Value::from("ETH") } else { Value::Null });
        assert!(rows.iter().all(|row| row.get("is_others").is_none()), "{report}");
        let csv = succeeded(&place.run(&["report", "--mode", "paper", "--by", by, "--format", "csv"]));
        let keys: std::collections::BTreeSet<&str> =
            csv.lines().map(|line| line.split(",\"").next().unwrap()).collect();
        assert_eq!(keys.len(), 1 + NAMES.len() + 2, "{csv}");
        assert!(
            csv.lines()
                .any(|line| line.starts_with(r#""""(total)""","3","#) || line.starts_with(r#""""(total)""","1","#))
        );
        assert!(csv.lines().last().unwrap().starts_with(r#""(total)","7","#), "{csv}");
        let table = succeeded(&place.run(&["report", "--mode", "paper", "--by", by]));
        let line = |name: &str| table.lines().filter(|line| line.starts_with(&format!("{name} "))).count();
        let counts = ["(total)", "\"(total)\"", "\"\"(total)\"\"", "\"(nobody)\"", last].map(line);
        assert_eq!(counts, [1; 5], "{table}");
    }
}

#[test]
fn each_fill_is_listed() {
    let place = place_with(&events());
    let report = json(&place, &["--fills", "--from", "2026-03-01", "--to", "2026-03-02"]);
    let fills = report["fills"].as_array().unwrap();
    assert_eq!(fills.len(), 3);
    assert_eq!(
        (&fills[0]["value"], &fills[0]["net"], &fills[0]["time"]),
        (&"250.01".into(), &"-0.1125".into(), &"2026-03-01T01:00:00.000Z".into())
    );
    assert_eq!(
        (&fills[2]["net"], &fills[2]["fee_token"], &fills[2]["late"]),
        (&Value::Null, &"HYPE".into(), &true.into())
    );
    assert_eq!(report["total"]["fills"], 3);
    let csv = succeeded(&place.run(&["report", "--mode", "paper", "--fills", "--format", "csv"]));
    assert_eq!(csv.lines().count(), 4, "{csv}");
    assert!(csv.contains(r#","'=cmd()","buy","3","7","21","#), "{csv}");
    assert!(csv.contains(r#","-10.01","-0.003","USDC","","-10.007","#), "amounts stay numbers: {csv}");
    let table = succeeded(&place.run(&["report", "--mode", "paper", "--fills"]));
    assert_eq!(table.lines().filter(|line| line.contains(" ETH ")).count(), 2, "{table}");
    assert!(table.contains("late") && table.contains("(total)"), "{table}");
}

#[test]
fn days_bound_what_is_reported() {
    let place = place_with(&events());
    let first = json(&place, &["--to", "2026-03-01"]);
    assert_eq!((&first["total"]["fills"], &first["total"]["net"]), (&2.into(), &"-10.1195".into()));
    let second = json(&place, &["--from", "2026-03-02", "--to", "2026-03-02"]);
    assert_eq!((&second["total"]["fills"], &second["total"]["net"]), (&1.into(), &"-0.5".into()));
    assert_eq!(second["missing_events"], 0);
    assert_eq!(json(&place, &["--from", "2026-03-03"])["rows"], Value::Array(Vec::new()));
}

#[test]
fn days_that_are_none_or_turned_round_are_refused() {
    let place = place_with(&events());
    let report = ["report", "--mode", "paper"];
    for day in ["2026-02-30", "yesterday", "2026-3-1", "1969-12-31", ""] {
        place.refuses(&[&report[..], &["--from", day]].concat(), "is no day; write it as 2026-01-31");
    }
    let turned = [&report[..], &["--from", "2026-03-02", "--to", "2026-03-01"]].concat();
    place.refuses(&turned, "the first day, 2026-03-02, is after the last, 2026-03-01");
    place.refuses(&["report"], "--mode");
    place.refuses(&[&report[..], &["--format", "xml"]].concat(), "xml");
}

#[test]
fn no_journal_is_refused() {
    let place = Place::paper();
    place.refuses(&["report", "--mode", "mainnet"], "there is no risk journal");
    Place::empty().refuses(&["report", "--mode", "paper"], "holds no set-up");
}

#[test]
fn what_was_not_recorded_is_no_zero() {
    let before: Vec<String> = events().into_iter().take(2).collect();
    let place = place_with(&before);
    let report = json(&place, &[]);
    assert_eq!(
        (&report["total"]["net"], &report["total"]["equity_end"], &report["total"]["allowed"]),
        (&Value::Null, &Value::Null, &1.into())
    );
    let out = place.run(&["report", "--mode", "paper"]);
    let table = succeeded(&out);
    assert!(table.lines().any(|line| line.starts_with("net ") && line.ends_with("  not recorded")), "{table}");
    assert!(text(&out.stderr).contains("no fills, fees or equity are recorded"), "{}", text(&out.stderr));
}

#[test]
fn a_cut_journal_is_told_of() {
    let place = place_with(&events());
    // A day's file was moved away without a trace.
    fs::remove_file(journal(&place).join("events-2026-03-02.jsonl")).unwrap();
    let out = place.run(&["report", "--mode", "paper"]);
    let said = text(&out.stderr);
    assert!(said.contains("2 events are not in the journal's folder") && !said.contains("do not follow"), "{said}");
    assert!(said.contains("of 2026-03-02 no event is in the journal's folder"), "{said}");
    let report = json(&place, &[]);
    assert_eq!((&report["missing_events"], &report["left_out_rows"]), (&2.into(), &1.into()));
    let day = &report["rows"][1];
    assert_eq!((&day["key"], &day["fills"], &day["volume"]), (&"2026-03-02".into(), &Value::Null, &Value::Null));
    assert_eq!(report["total"]["fills"], 2);
    // The next one says where it goes on from, and that is not there.
    let mut second = String::new();
    write!(second, "{{\"follows\":\"events-2026-03-01.jsonl\",\"at\":999999}}").unwrap();
    let mut line = Vec::new();
    seal(Chain::START, &second, &mut line).unwrap();
    fs::write(journal(&place).join("events-2026-03-02.jsonl"), line).unwrap();
    place.refuses(&["report", "--mode", "paper"], "lines are missing");
}

#[test]
fn lines_that_were_changed_or_doubled_are_told_of() {
    let place = place_with(&events());
    let path = journal(&place).join("events-2026-03-01.jsonl");
    let stored = fs::read_to_string(&path).unwrap();
    let told = |lines: &str| {
        fs::write(&path, lines).unwrap();
        let report = json(&place, &[]);
        let figures =
            ["changed_lines", "doubled_lines", "missing_events", "unreadable_lines"].map(|name| report[name].clone());
        let out = place.run(&["report", "--mode", "paper"]);
        (figures, report["total"]["fills"].clone(), text(&out.stderr))
    };
    let counts = |all: [u64; 4]| all.map(Value::from);
    assert_eq!(told(&stored), (counts([0; 4]), 3.into(), String::new()));
    let (figures, fills, said) = told(&stored.replace("2500.1", "9500.1"));
    assert_eq!((figures, fills), (counts([1, 0, 0, 0]), 3.into()));
    assert!(said.contains("1 line of the journal does not follow from the one before"), "{said}");
    // The very first line too.
    assert_eq!(told(&stored.replace(r#""schema":1"#, r#""schema":2"#)).0, counts([1, 0, 0, 0]));
    let twice: String = stored.lines().chain(stored.lines().skip(1).take(3)).map(|line| format!("{line}\n")).collect();
    let (figures, fills, said) = told(&twice);
    assert_eq!((figures, fills), (counts([0, 3, 0, 0]), 3.into()));
    assert!(said.contains("3 lines of the journal stand in it twice"), "{said}");
}

#[test]
fn a_line_that_is_being_written_is_left_out() {
    let place = place_with(&events());
    let path = journal(&place).join("events-2026-03-03.jsonl");
    let mut lines = fs::read(&path).unwrap();
    let first = lines.iter().position(|byte| *byte == b'\n').unwrap();
    lines.truncate(first - 9);
    fs::write(&path, lines).unwrap();
    assert_eq!(json(&place, &[])["total"]["fills"], 2);
}

#[test]
fn lines_that_were_cut_off_the_end_are_told_of() {
    let place = place_with(&events());
    let path = journal(&place).join("events-2026-03-03.jsonl");
    let stored = fs::read_to_string(&path).unwrap();
    let (first, last) = stored.split_at(stored.find('\n').unwrap() + 1);
    let from = serde_json::from_str::<Value>(first).unwrap()["chain"].as_str().unwrap().to_owned();
    let part = format!(
        r#"{{"file":"events-2026-03-03.jsonl","offset":{},"length":{},"from":"{from}"}}"#,
        first.len(),
        last.len()
    );
    let mut redo = Vec::new();
    seal(Chain::START, &format!(r#"{{"parts":[{part}]}}"#), &mut redo).unwrap();
    redo.extend_from_slice(last.as_bytes());
    let redo_path = journal(&place).join("tail.redo");
    fs::write(&redo_path, redo).unwrap();
    fs::set_permissions(&redo_path, fs::Permissions::from_mode(0o644)).unwrap();
    for (left, missing, fills) in
        [(stored.len(), 0, 3), (stored.len() - 5, 1, 3), (first.len(), 1, 3), (first.len() - 5, 2, 2)]
    {
        fs::write(&path, &stored[..left]).unwrap();
        let report = json(&place, &[]);
        assert_eq!(
            (&report["missing_at_end"], &report["missing_events"], &report["total"]["fills"]),
            (&missing.into(), &missing.into(), &fills.into())
        );
        let said = text(&place.run(&["report", "--mode", "paper"]).stderr);
        let events = if missing == 1 { "1 event at the journal's end is" } else { "2 events at the journal's end are" };
        let told = format!("{events} not in its files");
        assert_eq!(said.contains(&told), missing > 0, "{said}");
    }
}
