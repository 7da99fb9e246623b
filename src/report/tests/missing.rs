//! Things that are not there: days whose files were taken away, the journal's end, rows that the guard knows to be missing, and sums
//! that were never compared.

use serde_json::{Value, json};

use super::written::{HOUR, balance, fill};
use super::{DAY, day, line, report, whole};
use crate::report::{By, Finished, Question, Report};

fn taken(question: Question, lines: &[(u64, Value)]) -> Report {
    let mut taken = report(question);
    let mut last = 0;
    for (seq, event) in lines {
        taken.take(&line(*seq, event), *seq == last + 1);
        last = *seq;
    }
    taken
}

fn of(question: Question, lines: &[(u64, Value)]) -> (Value, Finished) {
    let report = taken(question, lines).finish();
    (Value::Object(report.to_json()), report)
}

fn started(at_ms: u64) -> Value {
    json!({"kind": "started", "at_ms": at_ms})
}

fn deposit(at_ms: u64, time: u64) -> Value {
    json!({"kind": "transfer", "at_ms": at_ms, "time": time, "type": "deposit", "usdc": "100", "late": true})
}

/// Every figure of a row but its key is null.
fn is_unknown(row: &Value) -> bool {
    let is_none = |figure: &Value| match figure {
        Value::Object(group) => group.values().all(Value::is_null),
        figure => figure.is_null(),
    };
    row.as_object().unwrap().iter().all(|(name, figure)| name == "key" || is_none(figure))
}

/// The second day's file is not there; the third one's has the balance that closes that day, and what was heard of late.
fn without_the_second_day() -> Vec<(u64, Value)> {
    let mut closing = balance(3 * DAY + 700, "90");
    closing["opened_ms"] = json!(DAY + HOUR);
    vec![
        (1, started(DAY)),
        (2, fill(DAY + 2 * HOUR, json!({"fee": "1"}))),
        (3, balance(DAY + 3 * HOUR, "99")),
        // Written before midnight, in the file of the day that begins then.
        (90, json!({"kind": "decision", "at_ms": 3 * DAY - 9, "verdict": "veto", "code": "busy"})),
        (91, closing),
        (92, deposit(3 * DAY + HOUR, 2 * DAY + HOUR)),
        (93, fill(3 * DAY + HOUR, json!({"time": 2 * DAY + HOUR, "late": true}))),
        (94, fill(3 * DAY + 2 * HOUR, json!({"fee": "2"}))),
        (95, balance(3 * DAY + 3 * HOUR, "88")),
    ]
}

#[test]
fn a_day_whose_file_is_gone_is_not_recorded_whatever_was_heard_of_it_later() {
    let lines = without_the_second_day();
    let (told, report) = of(whole(), &lines);
    let rows = told["rows"].as_array().unwrap();
    let keys: Vec<&Value> = rows.iter().map(|row| &row["key"]).collect();
    assert_eq!(keys, ["1970-01-02", "1970-01-03", "1970-01-04"]);
    assert!(is_unknown(&rows[1]) && !is_unknown(&rows[0]) && !is_unknown(&rows[2]), "{}", rows[1]);
    // The total is the sum of the rows.
    assert_eq!(
        [&told["total"]["fills"], &told["total"]["fees"], &told["total"]["transfers"], &told["total"]["vetoed"]],
        [&json!(2), &json!("3"), &json!("0"), &json!(0)]
    );
    assert_eq!(
        [&told["missing_events"], &told["missing_days"], &told["left_out_rows"]],
        [&json!(86), &json!([{"from": "1970-01-03", "to": "1970-01-03"}]), &json!(2)]
    );
    let said = report.warnings().join("\n");
    assert!(said.contains("of 1970-01-03 no event is in") && said.contains("and 2 rows of them"), "{said}");
    let table = report.to_table();
    let row = table.lines().find(|line| line.starts_with("1970-01-03")).unwrap();
    assert!(row.contains("not recorded") && !row.contains(" 0"), "{table}");

    // Alone, with the first lines that are read those of the day before, and in other rows.
    for by in [By::Day, By::Market, By::Client] {
        let (told, report) = of(Question { from: Some(day(2)), to: Some(day(2)), by, ..whole() }, &lines);
        assert!(is_unknown(&told["total"]), "{told}");
        assert!(told["rows"].as_array().unwrap().iter().all(is_unknown), "{told}");
        assert!(report.warnings()[0].contains("its events are not in the journal's folder"), "{report:?}");
    }
    // The days beside it say nothing of it.
    let (told, report) = of(Question { from: Some(day(3)), to: Some(day(3)), ..whole() }, &lines);
    assert_eq!([&told["total"]["fills"], &told["missing_days"]], [&json!(1), &json!([])]);
    assert!(!report.warnings().join("").contains("of 1970-01-03"), "{report:?}");
}

#[test]
fn the_first_days_may_be_the_ones_that_are_gone() {
    let mut lines = without_the_second_day();
    lines.drain(..3);
    let (told, _) = of(whole(), &lines);
    let rows = told["rows"].as_array().unwrap();
    assert!(rows.len() == 2 && is_unknown(&rows[0]), "{told}");
    assert_eq!(told["missing_days"], json!([{"from": null, "to": "1970-01-03"}]));
    assert_eq!(told["recorded_from"], "1970-01-03T23:59:59.991Z");
    let (told, _) = of(Question { to: Some(day(2)), ..whole() }, &lines);
    assert!(is_unknown(&told["total"]), "{told}");
    // A book that was opened on such a day tells of it as well.
    let (told, report) = of(whole(), &lines[4..]);
    let said = report.warnings().join("");
    assert_eq!(
        [&told["missing_days"], &told["left_out_rows"]],
        [&json!([{"from": null, "to": "1970-01-03"}]), &json!(0)]
    );
    assert!(said.contains("of the days up to 1970-01-03 no event is in the journal's folder"), "{said}");
    // Where nothing was heard of days before the first line, nobody knows that there were any.
    lines[5].1["opened_ms"] = json!(3 * DAY + HOUR);
    let (told, report) = of(whole(), &lines[4..]);
    let said = report.warnings().join("");
    assert_eq!(told["missing_days"], json!([]));
    assert!(said.contains("events are not in the journal's folder") && !said.contains("the days up to"), "{said}");
}

#[test]
fn a_day_of_which_a_part_is_gone_is_told_of() {
    let mut lines = without_the_second_day();
    lines.insert(3, (50, fill(2 * DAY + 5 * HOUR, json!({}))));
    let (told, report) = of(whole(), &lines);
    assert_eq!([&told["rows"][1]["fills"], &told["rows"][1]["transfers"]], [&json!(2), &json!("100")]);
    assert_eq!([&told["missing_days"], &told["left_out_rows"]], [&json!([]), &json!(0)]);
    assert!(report.warnings()[0].starts_with("85 events are not in the journal's folder"), "{report:?}");
    // Where a changed number alone had passed some over nothing is gone.
    let mut taken = super::report(whole());
    for (seq, event, is_chained) in
        [(1, started(DAY), true), (92, started(3 * DAY), false), (3, deposit(3 * DAY, 2 * DAY), true)]
    {
        taken.take(&line(seq, &event), is_chained);
    }
    let told = Value::Object(taken.finish().to_json());
    assert_eq!([&told["missing_days"], &told["rows"][0]["transfers"]], [&json!([]), &json!("100")]);
}

#[test]
fn an_end_that_was_cut_off_is_told_of() {
    let lines = without_the_second_day();
    for (written_to, missing) in [(95, 0), (90, 0), (99, 4)] {
        let mut taken = taken(whole(), &lines);
        taken.was_written_up_to(written_to);
        let report = taken.finish();
        let told = Value::Object(report.to_json());
        assert_eq!([&told["missing_at_end"], &told["missing_events"]], [&json!(missing), &json!(86 + missing)]);
        let said = report.warnings().join("\n");
        assert_eq!(said.contains("4 events at the journal's end are not in its files"), missing > 0, "{said}");
    }
    // Of a part that has no line nobody knows.
    for (from, missing) in [(None, 99), (Some(day(9)), 0)] {
        let mut taken = taken(Question { from, ..whole() }, &[]);
        taken.was_written_up_to(99);
        assert_eq!(taken.finish().to_json()["missing_at_end"], json!(missing));
    }
}

#[test]
fn what_the_guard_knows_to_be_missing_is_told_for_its_time() {
    let error =
        |lacks: Value| json!({"kind": "error", "at_ms": 5 * DAY + 9, "text": "3 rows cannot be read", "lacks": lacks});
    let span = error(json!({"from_ms": DAY + HOUR, "to_ms": 3 * DAY + HOUR}));
    let undated = error(json!({"from_ms": null, "to_ms": null}));
    let other = json!({"kind": "error", "at_ms": 2 * DAY, "text": "the venue did not answer"});
    let lines = [(1, started(DAY)), (2, other), (3, span), (4, undated)];
    for (from, to, count) in [(1, 1, 1), (2, 2, 1), (3, 4, 1), (4, 4, 0), (5, 5, 1), (1, 5, 2), (0, 0, 0)] {
        for by in [By::Day, By::Client] {
            let (told, report) = of(Question { from: Some(day(from)), to: Some(day(to)), by, ..whole() }, &lines);
            assert_eq!(told["book_lacks"], json!(count), "{from} to {to}");
            let said = report.warnings().join("\n");
            let times = if count == 1 { "time" } else { "times" };
            let expected =
                format!("{count} {times} the guard told that rows may be missing in the book, the last time: 3 rows");
            assert_eq!(said.contains(&expected), count > 0, "{said}");
        }
    }
}

/// Fills that a position said to be missing, and that came later: as many as it moved by, of its market and time.
#[test]
fn what_has_come_is_missing_no_more() {
    let lack = json!({"from_ms": DAY, "to_ms": 2 * DAY, "coin": "ETH", "size": "0.3"});
    let told = json!({"kind": "error", "at_ms": 2 * DAY, "text": "fills in ETH are missing", "lacks": lack});
    let late = |coin: &str, time: u64, before: &str, after: &str| {
        fill(
            3 * DAY,
            json!({"coin": coin, "time": time, "position_before": before, "position_after": after, "late": true}),
        )
    };
    let (first, rest) = (late("ETH", DAY, "0", "0.1"), late("ETH", 2 * DAY, "0.1", "0.3"));
    let cases = [
        (vec![], 1),
        (vec![first.clone()], 1),
        (vec![first.clone(), rest.clone()], 0),
        (vec![first.clone(), late("BTC", 2 * DAY, "0.1", "0.3")], 1),
        (vec![first, late("ETH", 2 * DAY + 1, "0.1", "0.3")], 1),
        (vec![rest, late("ETH", DAY, "0", "0.2")], 1),
    ];
    for (later, count) in cases {
        let lines = [started(DAY), told.clone()].into_iter().chain(later).zip(1..).map(|(line, seq)| (seq, line));
        let (json, report) = of(whole(), &lines.collect::<Vec<_>>());
        assert_eq!(json["book_lacks"], json!(count), "{json}");
        assert_eq!(report.warnings().join("\n").contains("fills in ETH are missing"), count > 0);
    }
}

#[test]
fn rows_behind_the_newest_sum_make_its_difference_unknown() {
    let before = [(1, started(DAY)), (2, fill(DAY + HOUR, json!({}))), (3, balance(DAY + 2 * HOUR, "90"))];
    let loss = fill(DAY + 3 * HOUR, json!({"closed_pnl": "-3000"}));
    let late = fill(DAY + 3 * HOUR, json!({"time": DAY + HOUR, "late": true}));
    // Written down before a sum of an account that was read earlier still.
    let overtaken = [(4, fill(DAY + 4 * HOUR, json!({}))), (5, balance(DAY + 3 * HOUR, "90"))];
    let nothing =
        json!({"kind": "transfer", "at_ms": DAY + 3 * HOUR, "time": DAY + 3 * HOUR, "type": "send", "usdc": "0"});
    let cases = [
        (vec![], true),
        (vec![(4, loss.clone())], false),
        (vec![(4, late)], false),
        (vec![(4, deposit(DAY + 3 * HOUR, DAY + 3 * HOUR))], false),
        (vec![(4, nothing)], true),
        (overtaken.to_vec(), false),
        (vec![(4, loss.clone()), (5, balance(DAY + 4 * HOUR, "90"))], true),
        // Compared at the end of the day, or by the next life.
        (vec![(4, loss.clone()), (5, balance(2 * DAY + 9, "90"))], true),
        (vec![(4, loss.clone()), (5, started(5 * DAY)), (6, balance(5 * DAY + HOUR, "90"))], true),
    ];
    for (behind, is_known) in cases {
        let lines = [&before[..], &behind].concat();
        for (from, to) in [(None, None), (Some(day(1)), Some(day(1)))] {
            let (told, report) = of(Question { from, to, ..whole() }, &lines);
            for figures in [&told["total"], &told["rows"][0]] {
                assert_eq!(figures["difference"].is_null(), !is_known, "{behind:?}: {figures}");
                assert_eq!(figures["difference_why"].is_null(), is_known, "{behind:?}: {figures}");
            }
            assert_eq!(
                report.warnings().join("").contains("were recorded after account and book"),
                !is_known,
                "{report:?}"
            );
        }
    }

    // A guard that runs compares as it goes, once it has begun to.
    for (is_compared, by) in [(true, By::Day), (true, By::Market), (false, By::Day)] {
        let mut lines = before.to_vec();
        if !is_compared {
            lines.push((4, started(DAY + 2 * HOUR)));
        }
        lines.push((5, loss.clone()));
        let mut taken = taken(Question { by, ..whole() }, &lines);
        taken.runs_at(DAY + 3 * HOUR + 60_000);
        let told = Value::Object(taken.finish().to_json());
        assert_eq!(told["total"]["difference"].is_null(), !is_compared, "{told}");
    }
}
