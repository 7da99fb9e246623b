//! The summary of a day: when it comes, and what it says of the days that have ended.

use super::*;
use crate::notify::hours::Clock;

const DAY: u64 = 86_400_000;
/// NOW is 08:00 of this day, UTC.
const TODAY: &str = "2027-01-15";
const YESTERDAY: &str = "2027-01-14";

/// Tells the summary if it is due, and gives the days that it is about.
fn summarise(watch: &mut Watch, clock: Clock, minute: u64, now_ms: u64) -> Option<(String, String)> {
    let due = watch.summary_due(clock, minute, now_ms)?;
    watch.summarise(Some(&status(json!({"equity": "10000"}))), due, Err("it is busy"), now_ms);
    Some((due.from.to_string(), due.to.to_string()))
}

fn report(total: Value, members: &Value) -> Report {
    let mut whole = json!({"recorded_from": "2026-12-01T00:00:00.000Z", "recorded_to": "2027-01-15T08:00:00.000Z",
        "missing_events": 0, "unreadable_lines": 0, "changed_lines": 0, "doubled_lines": 0, "book_lacks": 0});
    whole.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    whole["total"] = total;
    serde_json::from_value(whole).unwrap()
}

/// A day's figures, all of them recorded.
fn figures() -> Value {
    json!({"net": "-10.6195", "fees": "0.1095", "funding": "-0.5", "volume": "511.01", "fills": 3, "stops_fired": 2, "halts": 1,
        "vetoed": 4, "fees_in": {"HYPE": "0.01"}, "allowed": 7, "equity_end": null})
}

/// The text of the summary with this report, of a notifier that began a day ago.
fn said(report: &Report) -> String {
    let mut watch = watch();
    assert!(watch.summary_due(Clock::default(), 0, NOW - DAY).is_none());
    let due = watch.summary_due(Clock::default(), 0, NOW).unwrap();
    watch.summarise(Some(&status(json!({}))), due, Ok(report), NOW);
    watch.take().remove(0).happened
}

#[test]
fn a_summary_comes_once_a_day_whatever_the_clock_does() {
    let mut watch = watch();
    let (clock, seven, hour) = (Clock { offset_minutes: 60 }, 7 * 60, 3_600_000);
    let quarter = 900_000;
    let mut times = Vec::new();
    // NOW is 08:00 UTC; the clock is set back by half a day once.
    for turn in (0..4 * 60).chain(4 * 48..4 * 80) {
        let now = NOW + turn * quarter;
        summarise(&mut watch, clock, seven, now);
        times.extend(watch.take().into_iter().map(|notice| (notice.code, (now - NOW) / hour)));
    }
    let at = |hours| ("summary".to_owned(), hours);
    assert_eq!(times, [at(22), at(46), at(70)], "06:00 UTC");
}

#[test]
fn a_summary_comes_again_after_a_clock_that_was_far_ahead() {
    let mut watch = watch();
    let clock = Clock::default();
    assert_eq!(summarise(&mut watch, clock, 0, NOW), None);
    summarise(&mut watch, clock, 0, NOW + 3_000 * DAY);
    assert_eq!(told(&mut watch), ["summary once"], "the clock was ahead");
    let days = (0..4).filter_map(|later| summarise(&mut watch, clock, 0, NOW + later * DAY));
    // What it told of then is no day that it could miss now; what it could not tell comes the next time.
    let wanted = [TODAY, "2027-01-16", "2027-01-17"].map(|to| (TODAY, to));
    assert_eq!(days.collect::<Vec<_>>(), wanted.map(|(from, to)| (from.to_owned(), to.to_owned())));
    assert_eq!(told(&mut watch), ["summary once"; 3]);
}

/// A clock that stood some days ahead told of days that had not ended: each is told again once it has, and no day of before is.
#[test]
fn a_day_that_was_told_before_it_had_ended_is_told_once_it_has() {
    for (ahead, kept) in [(1, false), (1, true), (2, false), (40, true)] {
        let mut watch = watch();
        let (clock, hour) = (Clock::default(), 3_600_000);
        let mut told = |now_ms: u64| {
            if kept {
                watch = serde_json::from_str(&serde_json::to_string(&watch).unwrap()).unwrap();
            }
            let due = watch.summary_due(clock, 0, now_ms)?;
            watch.summarise(None, due, Ok(&report(figures(), &json!({}))), now_ms);
            Some((due.from.to_string(), due.to.to_string()))
        };
        let of = |day: &str| Some((day.to_owned(), day.to_owned()));
        assert_eq!(told(NOW - DAY), None);
        assert_eq!(told(NOW), of(YESTERDAY));
        assert!(told(NOW + ahead * DAY).is_some(), "the clock is {ahead} days ahead");
        for later in [1, 2] {
            assert_eq!(told(NOW + later * hour), None, "it is set right again");
        }
        assert_eq!(told(NOW + DAY), of(TODAY), "{ahead} {kept}");
        assert_eq!(told(NOW + DAY + hour), None);
        assert_eq!(told(NOW + 2 * DAY), of("2027-01-16"), "{ahead} {kept}");
        assert_eq!(told(NOW + 3 * DAY), of("2027-01-17"), "{ahead} {kept}");
    }
}

#[test]
fn a_summary_tells_the_book_of_the_day_that_has_ended() {
    let said = said(&report(figures(), &json!({})));
    let wanted = format!(
        "{YESTERDAY} (UTC): net -10.6195 USDC, fees 0.1095 and 0.01 HYPE, funding -0.5, volume 511.01, fills 3, stops fired 2, \
         halts 1, decisions vetoed 4."
    );
    assert!(said.starts_with("State: active.") && said.ends_with(&wanted), "{said}");
}

/// Null is what nobody recorded: no 0, and with the reason.
#[test]
fn what_is_not_recorded_is_said_with_why() {
    let no_book = json!({"net": null, "fees": null, "funding": null, "volume": null, "fills": null, "stops_fired": null,
        "halts": 0, "vetoed": 4});
    let nothing = json!({"halts": null, "vetoed": null});
    let (book, all) = (
        "net, fees, funding, volume, fills, stops fired",
        "net, fees, funding, volume, fills, stops fired, halts, decisions vetoed",
    );
    for (total, members, lacking, why) in [
        (&no_book, json!({"recorded_from": null}), book, "the guard kept no book of money then"),
        (
            &no_book,
            json!({"recorded_from": "2027-01-15T07:00:00.000Z"}),
            book,
            "the book of money begins at 2027-01-15T07:00:00.000Z",
        ),
        (&nothing, json!({"recorded_to": null}), all, "the journal holds nothing of before"),
        (
            &nothing,
            json!({"recorded_to": "2027-01-10T09:00:00.000Z"}),
            all,
            "the journal ends at 2027-01-10T09:00:00.000Z",
        ),
        (&nothing, json!({}), all, "the guard wrote nothing then, or the journal's files of that time are gone"),
    ] {
        let said = said(&report(total.clone(), &members));
        assert!(said.ends_with(&format!("Not recorded: {lacking}, because {why}.")), "{said}");
        assert_eq!(said.contains("halts 0, decisions vetoed 4."), total["vetoed"] == 4, "{said}");
        assert!(!said.contains("net 0") && !said.contains("fills 0"), "{said}");
    }
}

#[test]
fn what_makes_figures_less_than_whole_is_said() {
    for (members, words) in [
        (
            json!({"recorded_from": "2027-01-14T12:00:00.000Z"}),
            "The book begins at 2027-01-14T12:00:00.000Z: what was before",
        ),
        (json!({"missing_events": 1}), "1 event is missing or unreadable, and not in these figures."),
        (json!({"unreadable_lines": 1, "missing_events": 1}), "2 events are missing or unreadable"),
        (json!({"changed_lines": 1}), "do not rely on these figures"),
        (json!({"doubled_lines": 1}), "do not rely on these figures"),
        (json!({"book_lacks": 1}), "rows may be missing in the book"),
    ] {
        let said = said(&report(figures(), &members));
        assert!(said.contains("net -10.6195 USDC") && said.contains(words), "{said}");
    }
}

/// The summary goes out without a report that does not come; the days are told with the next one, a month of them at most.
#[test]
fn days_whose_report_did_not_come_are_told_the_next_time() {
    let mut watch = watch();
    let clock = Clock::default();
    assert_eq!(summarise(&mut watch, clock, 0, NOW - DAY), None);
    assert_eq!(summarise(&mut watch, clock, 0, NOW), Some((YESTERDAY.to_owned(), YESTERDAY.to_owned())));
    let text = watch.take().remove(0).happened;
    let command = format!("`svc-guard --home /home/me/g report --mode testnet --from {YESTERDAY} --to {YESTERDAY}`");
    assert!(text.contains("because it is busy.") && text.contains(&command), "{text}");
    let kept: Watch = serde_json::from_str(&serde_json::to_string(&watch).unwrap()).unwrap();
    let mut watch = kept;
    let due = watch.summary_due(clock, 0, NOW + DAY).unwrap();
    assert_eq!((due.from.to_string(), due.to.to_string()), (YESTERDAY.to_owned(), TODAY.to_owned()));
    watch.summarise(None, due, Ok(&report(figures(), &json!({}))), NOW + DAY);
    let text = watch.take().remove(0).happened;
    assert!(text.starts_with("The guard does not answer. 2027-01-14 to 2027-01-15 (UTC): net"), "{text}");
    let of = |due: Due| (due.from.to_string(), due.to.to_string());
    assert_eq!(
        watch.summary_due(clock, 0, NOW + 2 * DAY).map(of),
        Some(("2027-01-16".to_owned(), "2027-01-16".to_owned()))
    );
    let due = watch.summary_due(clock, 0, NOW + 400 * DAY).unwrap();
    assert_eq!(due.to.number() - due.from.number(), 30);
}

/// Another guard's days are none of this one's.
#[test]
fn another_guards_book_begins_with_its_own_day() {
    let mut watch = watch();
    let clock = Clock::default();
    summarise(&mut watch, clock, 0, NOW - DAY);
    summarise(&mut watch, clock, 0, NOW);
    watch.status(&status(json!({"mode": "paper"})));
    let due = watch.summary_due(clock, 0, NOW + DAY).unwrap();
    assert_eq!(due.from, due.to);
}
