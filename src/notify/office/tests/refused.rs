//! Targets that refuse what they are told, one message or all of them, for long.

use super::*;

/// A target that refuses everything for a while, as for a wrong chat, hears all of it once that is mended.
#[test]
fn a_target_that_refused_everything_hears_all_of_it_once_it_takes_something() {
    let mut office = office("");
    let refuse = |office: &mut Office, now: u64| {
        while let Some(draft) = office.next("a", Pace::Brisk, now) {
            assert!(!office.refused("a", &draft, now), "{draft:?}");
        }
    };
    for number in 0..5 {
        file(&mut office, notice(&format!("n{number}"), Severity::Critical));
        refuse(&mut office, NOW + number * MINUTE);
    }
    for minute in 5..47 * 60 {
        refuse(&mut office, NOW + minute * MINUTE);
    }
    let heard = told(&mut office, NOW + 48 * HOUR);
    let mut whole: Vec<String> = heard.clone();
    whole.dedup();
    assert_eq!(whole, ["Late: n0", "Late: n1", "Late: n2", "Late: n3", "Late: n4"], "{heard:?}");
    assert!(office.filed.is_empty() && !office.is_deaf("a", NOW));
}

/// After a day in which others were taken it is given up, and that is told, however often that is refused too.
#[test]
fn what_was_refused_for_a_day_is_counted_and_the_count_is_never_lost() {
    let mut office = office("");
    (0..3).for_each(|number| file(&mut office, notice(&format!("n{number}"), Severity::Critical)));
    for minute in 0..30 * 60 {
        file(&mut office, notice("other", Severity::Info));
        while let Some(draft) = office.next("a", Pace::Brisk, NOW + minute * MINUTE) {
            match draft.notice.code.as_str() {
                "other" => office.done("a", &draft, NOW + minute * MINUTE),
                _ => _ = office.refused("a", &draft, NOW + minute * MINUTE),
            }
        }
    }
    assert!(told(&mut office, NOW + 31 * HOUR).contains(&"3 messages left out".to_owned()));
}
