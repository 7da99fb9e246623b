//! A kill waits behind a few at most that are not critical: neither at a target nor in the guard's journal.

use serde_json::{Value, json};

use super::*;

const SLOW: &str = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }";

#[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
fn event(seq: u64, body: Value) -> Event<'static> {
    let mut whole = json!({"seq": seq, "at_ms": NOW + seq});
    whole.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
    Event::of(&whole).unwrap()
}

fn trouble(seq: u64) -> Event<'static> {
    // Numbers alone make no other topic of it.
    event(seq, json!({"kind": "error", "text": format!("trouble {seq}")}))
}

/// What a title is about: the number of its event.
fn seq(notice: &Notice) -> u64 {
    notice.at_ms - NOW
}

#[test]
fn what_is_critical_waits_behind_a_few_others_at_most() {
    let mut office = office("cooldown = { default = '0s' }\nrepeat = { kill = '10m' }");
    for (before, first) in [(20, "i0"), (21, "kill")] {
        (0..before).for_each(|number| file(&mut office, notice(&format!("i{number}"), Severity::Info)));
        file(&mut office, notice("kill", Severity::Critical));
        file(&mut office, notice("after", Severity::Critical));
        let told = told(&mut office, NOW);
        assert_eq!(told[0], first, "{told:?}");
        let place = |title: &str| told.iter().position(|told| told == title).unwrap();
        assert!(place("kill") < place("after") && place("i0") < place("i1"), "{told:?}");
        assert_eq!(place("kill") == before, first == "i0", "{told:?}");
        assert_eq!(told.len(), before + 2);
    }
    // What lasts is told again before the others too, but a target that is too slow for even that hears the others as well.
    let begun = notice("kill", Severity::Critical).begins();
    office.watch.open.insert(begun.topic(), begun);
    for number in 0..3 {
        file(&mut office, notice(&format!("i{number}"), Severity::Info));
    }
    let mut heard = Vec::new();
    for turn in 1..=6 {
        let now = NOW + turn * HOUR;
        let draft = office.next("a", Pace::Brisk, now).unwrap();
        heard.push(draft.notice.code.clone());
        office.done("a", &draft, now);
    }
    assert_eq!(heard, ["kill", "i0", "kill", "i1", "kill", "i2"]);
}

/// Twenty others take a slow target minutes, so there a kill waits for none of them.
#[test]
fn a_slow_target_is_told_next_of_what_is_critical() {
    let mut office = office("cooldown = { default = '0s' }");
    for number in 0..3 {
        file(&mut office, notice(&format!("i{number}"), Severity::Info));
    }
    assert_eq!(office.next("a", Pace::Slow, NOW).unwrap().notice.code, "i0");
    file(&mut office, notice("kill", Severity::Critical));
    assert_eq!(office.next("a", Pace::Brisk, NOW).unwrap().notice.code, "i0");
    let draft = office.next("a", Pace::Slow, NOW).unwrap();
    assert_eq!(draft.notice.code, "kill");
    office.done("a", &draft, NOW);
    assert_eq!(told(&mut office, NOW), ["i0", "i1", "i2"], "and then the others in their order");
}

/// A target that was away is tried at once where something critical comes: only what is newer than the last try tells that.
#[test]
fn what_is_critical_and_new_is_seen_while_a_target_is_away() {
    let mut office = office("cooldown = { default = '0s' }");
    assert_eq!(office.newest_urgent("a"), None);
    file(&mut office, notice("i", Severity::Info));
    assert_eq!(office.newest_urgent("a"), None, "what is not critical waits out the pause");
    file(&mut office, notice("kill", Severity::Critical));
    let first = office.newest_urgent("a");
    file(&mut office, notice("i2", Severity::Warning));
    assert!(first.is_some() && office.newest_urgent("a") == first && office.newest_urgent("b").is_none());
    file(&mut office, notice("halt", Severity::Critical));
    assert!(office.newest_urgent("a") > first);
    told(&mut office, NOW);
    assert_eq!(office.newest_urgent("a"), None, "it was told");
}

/// A night of trouble is more than there is room for: what it brings waits in the guard's journal, and a kill is told at once.
#[test]
fn what_quiet_hours_hold_back_is_told_when_they_end() {
    const QUIET: &str =
        "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nquiet = '00:00-12:00'\ncooldown = { default = '0s' }";
    let mut record: Vec<Event<'static>> = (1..=1_500).map(trouble).collect();
    record.push(event(1_501, json!({"kind": "kill", "reason": "enough"})));
    let mut office = restarted(None, QUIET);
    office.watch.cursor = Some(0);
    record.iter().for_each(|event| _ = office.event(event));
    assert_eq!(told(&mut office, NOW), ["Kill switch pulled"]);
    let mut office = restarted(Some(&office), QUIET);
    let mut heard = Vec::new();
    for _ in 0..record.len() {
        if let Some(cursor) = office.later() {
            let page: Vec<_> = record.iter().filter(|event| event.seq > cursor).take(500).cloned().collect();
            office.event_later(&page, String::new(), NOW);
        }
        let Some(draft) = office.next("a", Pace::Brisk, NOW + 5 * HOUR) else { break };
        heard.push(seq(&draft.notice));
        office.done("a", &draft, NOW + 5 * HOUR);
    }
    heard.retain(|seq| *seq != NOW.abs_diff(NOW + 5 * HOUR));
    assert_eq!(heard, (1..=1_500).collect::<Vec<u64>>());
}

/// A pause that a target asks for is no quiet for what is critical.
#[test]
fn a_pause_that_was_asked_for_holds_back_what_is_not_critical() {
    let mut office = office("");
    file(&mut office, notice("low", Severity::Warning));
    assert_eq!(office.next("a", Pace::Paused, NOW), None);
    file(&mut office, notice("kill", Severity::Critical));
    assert_eq!(office.next("a", Pace::Paused, NOW).unwrap().notice.code, "kill");
    assert_eq!(told(&mut office, NOW), ["low", "kill"]);
}

/// A kill behind six hundred events of trouble, for a target that takes one while ten happen: it is told next, and everything else
/// after it, once and in order, over a death at any time.
#[test]
fn a_kill_behind_what_waits_in_the_journal_is_told_next() {
    for dies_every in [1_000_000, 7, 50] {
        let mut record: Vec<Event<'static>> = (1..=600).map(trouble).collect();
        record.push(event(601, json!({"kind": "kill", "reason": "enough"})));
        record.extend((602..=900).map(trouble));
        let mut office = restarted(None, SLOW);
        office.watch.cursor = Some(0);
        let (mut heard, mut since_kill): (Vec<u64>, usize) = (Vec::new(), 0);
        for turn in 0..2_000_usize {
            let new = record.iter().filter(|event| Some(event.seq) > office.watch.cursor).take(10).cloned();
            for event in new.collect::<Vec<_>>() {
                assert!(!office.is_full());
                office.event(&event);
            }
            if let Some(cursor) = office.later() {
                let page: Vec<_> = record.iter().filter(|event| event.seq > cursor).take(500).cloned().collect();
                office.event_later(&page, String::new(), NOW);
            }
            since_kill += usize::from(office.watch.cursor >= Some(601) && !heard.contains(&601));
            assert!(since_kill <= 1, "the kill is told next");
            assert!(office.filed.len() < MAX_WAITING);
            if let Some(draft) = office.next("a", Pace::Brisk, NOW) {
                heard.push(seq(&draft.notice));
                office.done("a", &draft, NOW);
            }
            if turn % dies_every == dies_every - 1 {
                let text = serde_json::to_string(&office).unwrap();
                office = restarted(Some(&Office::read(&text).unwrap()), SLOW);
            }
        }
        assert_eq!(heard.len(), 900);
        heard.retain(|seq| *seq != 601);
        assert!(heard.is_sorted());
        assert!(office.later.is_none() && office.filed.is_empty());
    }
}

/// What waited and cannot be had any more is said to be missed, and nothing waits for it for ever.
#[test]
fn what_waited_and_is_gone_is_told_as_missed() {
    let mut office = restarted(None, SLOW);
    office.watch.cursor = Some(0);
    (1..=300).for_each(|seq| _ = office.event(&trouble(seq)));
    let mut titles = told(&mut office, NOW);
    assert_eq!(titles.len(), BEHIND + 1);
    assert_eq!(office.later(), Some(201));
    // The journal has some of them, and the guard's memory begins behind the last one that was taken in.
    let rest: Vec<_> = (203..=250).chain([301]).map(trouble).collect();
    assert_eq!(office.event_later(&rest, "it is gone".to_owned(), NOW), (true, true));
    assert!(office.later.is_none());
    titles = told(&mut office, NOW);
    assert_eq!((titles.len(), titles.iter().filter(|title| *title == "Events were missed").count()), (50, 2));
    office.event(&trouble(301));
    assert_eq!(told(&mut office, NOW).len(), 1);
    // Another journal has none of it.
    (302..=600).for_each(|seq| _ = office.event(&trouble(seq)));
    told(&mut office, NOW);
    assert!(office.later().is_some());
    office.begin_anew(NOW);
    assert_eq!(office.later(), None);
    let missed = office.next("a", Pace::Brisk, NOW).unwrap().notice;
    assert!(missed.happened.starts_with("98 events after event 502 were gone"), "{}", missed.happened);
}
