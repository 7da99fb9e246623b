//! Times of which a report knows nothing, and lines that are not as they were written.

use serde_json::{Value, json};

use super::written::{HOUR, balance, fill};
use super::{DAY, day, line, report, whole};
use crate::report::{By, Finished, Question};

/// The fills of three hours of the second day, and the sum of the book after them.
fn events() -> Vec<Value> {
    let mut events: Vec<Value> = (1..=3).map(|hour| fill(DAY + hour * HOUR, json!({"fee": "1"}))).collect();
    events.push(balance(DAY + 4 * HOUR, "90"));
    events
}

/// The report about lines, each with whether it follows from the one before.
fn of(question: Question, lines: &[(u64, &Value, bool)]) -> Finished {
    let mut taken = report(question);
    for (seq, event, is_chained) in lines {
        taken.take(&line(*seq, event), *is_chained);
    }
    taken.finish()
}

fn json_of(report: &Finished) -> Value {
    Value::Object(report.to_json())
}

#[test]
fn the_newest_sum_of_the_book_says_whether_it_adds_up() {
    let mut last = balance(DAY + 5 * HOUR, "50");
    last["difference"] = Value::Null;
    last["why"] = json!("the last rows were not read");
    let mut events = events();
    events.push(last);
    let lines: Vec<_> = (1..).zip(&events).map(|(seq, event)| (seq, event, true)).collect();
    for question in [whole(), Question { by: By::Market, from: Some(day(1)), ..whole() }] {
        let report = of(question, &lines);
        let told = json_of(&report);
        assert_eq!(
            [&told["total"]["difference"], &told["total"]["difference_why"]],
            [&Value::Null, &json!("the last rows were not read")]
        );
        assert!(report.warnings().concat().contains("not known: the last rows were not read"), "{report:?}");
        assert!(report.to_table().contains("difference why"), "{}", report.to_table());
    }
    // Once it is compared again, that holds.
    let compared = balance(DAY + 6 * HOUR, "50");
    let later: Vec<_> = lines.iter().copied().chain([(6, &compared, true)]).collect();
    let report = of(whole(), &later);
    let told = json_of(&report);
    assert_eq!([&told["total"]["difference"], &told["total"]["difference_why"]], [&json!("0"), &Value::Null]);
    assert_eq!(report.warnings(), [""; 0]);
    // What did not add up once is not gone because the book began anew after it.
    let mut off = balance(DAY + 6 * HOUR, "50");
    off["difference"] = json!("-12");
    let mut anew = balance(DAY + 7 * HOUR, "50");
    (anew["opened_ms"], anew["difference"]) = (json!(DAY + 6 * HOUR), json!("0.001"));
    let mut still = anew.clone();
    still["at_ms"] = json!(DAY + 8 * HOUR);
    let later_ones = [(6, &off, true), (7, &anew, true), (8, &still, true)];
    let since: Vec<_> = lines.iter().copied().chain(later_ones).collect();
    assert_eq!(json_of(&of(whole(), &since))["total"]["difference"], "-11.999");
    // A life that begins has compared nothing yet.
    let started = json!({"kind": "started", "at_ms": DAY + 7 * HOUR});
    let begun: Vec<_> = later.iter().copied().chain([(7, &started, true)]).collect();
    for by in [By::Day, By::Market] {
        let told = json_of(&of(Question { by, ..whole() }, &begun));
        let why = told["total"]["difference_why"].as_str().unwrap();
        assert!(told["total"]["difference"].is_null() && why.starts_with("nothing was compared since"), "{told}");
    }
}

#[test]
fn a_book_that_begins_with_a_day_says_nothing_of_the_day_before() {
    let mut first = balance(2 * DAY + 44_000, "50");
    first["opened_ms"] = json!(2 * DAY + 44_000);
    let started = json!({"kind": "started", "at_ms": 2 * DAY});
    let report = of(whole(), &[(1, &started, true), (2, &first, true)]);
    let told = json_of(&report);
    let days: Vec<&Value> = told["rows"].as_array().unwrap().iter().map(|row| &row["key"]).collect();
    assert_eq!(days, [&json!("1970-01-03")], "{told}");
}

#[test]
fn of_days_before_and_after_the_journal_nothing_is_known() {
    let events = events();
    let lines: Vec<_> = (1..).zip(&events).map(|(seq, event)| (seq, event, true)).collect();
    let last = crate::base::day::day_of(u64::MAX);
    for (from, to, said) in [
        (day(0), day(0), "the journal begins at 1970-01-02T01:00:00.000Z"),
        (day(2), day(9), "the journal ends at 1970-01-02T04:00:00.000Z"),
        (last, last, "the journal ends at"),
    ] {
        let report = of(Question { from: Some(from), to: Some(to), ..whole() }, &lines);
        let told = json_of(&report);
        for (name, figure) in told["total"].as_object().unwrap() {
            let is_none = figure.is_null() || figure.as_object().is_some_and(serde_json::Map::is_empty);
            assert!(is_none, "{name} is {figure} from {from} to {to}");
        }
        assert_eq!(report.warnings().len(), 1, "{:?}", report.warnings());
        assert!(report.warnings().concat().contains(said), "{:?}", report.warnings());
    }
    // A part of the time that is asked about.
    let report = of(Question { from: Some(day(1)), to: Some(day(5)), ..whole() }, &lines);
    assert_eq!(json_of(&report)["total"]["net"], "-3");
    assert!(report.warnings().concat().contains("ends at 1970-01-02T04:00:00.000Z; what came after"));
    assert_eq!(of(whole(), &lines).warnings(), [""; 0]);
}

#[test]
fn while_its_guard_runs_a_quiet_day_has_no_fills() {
    let today = || Question { from: Some(day(3)), to: Some(day(3)), ..whole() };
    let mut taken = report(today());
    for (seq, event) in (1..).zip(&events()) {
        taken.take(&line(seq, event), true);
    }
    taken.runs_at(3 * DAY + HOUR);
    let report = taken.finish();
    let told = json_of(&report);
    assert_eq!(
        [&told["total"]["fills"], &told["total"]["halts"], &told["total"]["net"]],
        [&json!(0), &json!(0), &json!("0")]
    );
    assert_eq!(told["recorded_to"], "1970-01-04T01:00:00.000Z");
    assert_eq!(report.warnings(), [""; 0]);
}

#[test]
fn lines_that_were_changed_are_counted_and_told_of() {
    let events = events();
    let whole_number = [(1, true), (2, false), (3, true), (4, true)];
    let two_numbers = [(1, true), (92, false), (3, true), (4, true)];
    let two_lines = [(1, true), (2, false), (3, false), (4, true)];
    for (numbers, changed) in [(whole_number, 1), (two_numbers, 1), (two_lines, 2)] {
        let lines: Vec<_> =
            numbers.iter().zip(&events).map(|((seq, chained), event)| (*seq, event, *chained)).collect();
        let report = of(whole(), &lines);
        let told = json_of(&report);
        assert_eq!(
            [&told["changed_lines"], &told["missing_events"], &told["doubled_lines"], &told["total"]["fills"]],
            [&json!(changed), &json!(0), &json!(0), &json!(3)],
            "{numbers:?}"
        );
        let words = if changed == 1 { "1 line of the journal does not" } else { "2 lines of the journal do not" };
        let expected = format!("{words} follow from the one before");
        assert!(report.warnings().concat().contains(&expected), "{:?}", report.warnings());
    }
    // What follows a gap follows from no line that is there.
    let told = json_of(&of(whole(), &[(1, &events[0], true), (3, &events[2], false), (4, &events[3], true)]));
    assert_eq!([&told["changed_lines"], &told["missing_events"]], [&json!(0), &json!(1)]);
}

#[test]
fn lines_that_stand_twice_count_once() {
    let events = events();
    let order = [(1, true), (2, true), (3, true), (2, false), (3, true), (4, false)];
    let lines: Vec<_> = order.iter().map(|(seq, chained)| (*seq, &events[*seq as usize - 1], *chained)).collect();
    for lines in [&lines[..], &lines[..5]] {
        let report = of(whole(), lines);
        let told = json_of(&report);
        assert_eq!(
            [&told["doubled_lines"], &told["missing_events"], &told["changed_lines"], &told["total"]["fills"]],
            [&json!(2), &json!(0), &json!(0), &json!(3)]
        );
        assert!(report.warnings().concat().contains("2 lines of the journal stand in it twice"), "{report:?}");
    }
}

#[test]
fn a_line_whose_end_is_not_there_is_told_of_by_its_place() {
    let events = events();
    let mut taken = report(whole());
    taken.take(&line(1, &events[0]), true);
    // No text behind the head, and none at all.
    taken.take("{\"seq\":2,\"at_ms\":86400000,\"kind\":\"kill\",\"reason\":\"\u{fffd}", false);
    taken.take("\u{fffd}", false);
    taken.take(&line(4, &events[3]), true);
    let report = taken.finish();
    let told = json_of(&report);
    assert_eq!(
        [&told["unreadable_lines"], &told["missing_events"], &told["total"]["kills"]],
        [&json!(2), &json!(1), &json!(0)]
    );
    let said = report.warnings().join("\n");
    assert!(
        said.contains("2 lines of the journal could not be read, the first one at event 2 of 1970-01-02T00:00"),
        "{said}"
    );
    assert!(said.contains("1 event is not in the journal's folder"), "{said}");
    assert!(said.contains("1 line of the journal does not follow from the one before: it was changed"), "{said}");
}

/// An earlier version ran for seconds before this one did.
#[test]
fn a_life_before_the_book_is_told_of_however_short_it_was() {
    for (lives, is_told) in [(1, false), (2, true)] {
        let mut lines: Vec<Value> =
            (0..lives).map(|life| json!({"kind": "started", "at_ms": DAY + life * 5_000})).collect();
        let mut opened = balance(DAY + 20_000, "5");
        opened["opened_ms"] = json!(DAY + 15_000);
        lines.push(opened);
        // Lives after it say nothing of what was before.
        lines.extend((0..3).map(|life| json!({"kind": "started", "at_ms": DAY + HOUR + life})));
        let lines: Vec<_> = (1..).zip(&lines).map(|(seq, event)| (seq, event, true)).collect();
        let said = of(whole(), &lines).warnings().join("\n");
        assert_eq!(said.contains("equity are recorded from 1970-01-02T00:00:15.000Z on"), is_told, "{said}");
    }
}

#[test]
fn lines_of_before_the_book_are_told_of_whatever_day_is_asked_for() {
    let decided = |at: u64| json!({"kind": "decision", "at_ms": at, "verdict": "allow", "code": "allowed"});
    let opened = |ms: u64| {
        let mut opened = balance(ms + 9, "5");
        opened["opened_ms"] = json!(ms);
        opened
    };
    for (from, to, first_ms, is_told) in [
        (None, None, DAY + HOUR, true),
        (Some(day(2)), None, DAY + HOUR, true),
        (None, Some(day(2)), 2 * DAY + HOUR, true),
        // A guard that started then.
        (None, None, 2 * DAY + 2 * HOUR - 5_000, false),
        (Some(day(3)), None, DAY + HOUR, false),
    ] {
        let (first, book, last) = (decided(first_ms), opened(2 * DAY + 2 * HOUR), balance(3 * DAY + HOUR, "5"));
        let mut last = last;
        last["opened_ms"] = json!(2 * DAY + 2 * HOUR);
        let report = of(Question { from, to, ..whole() }, &[(1, &first, true), (2, &book, true), (3, &last, true)]);
        let said = report.warnings().join("\n");
        assert_eq!(
            said.contains("equity are recorded from 1970-01-03T02:00:00.000Z on; what was before"),
            is_told,
            "{said}"
        );
        assert!(is_told || said.is_empty(), "{said}");
    }
}
