//! Each target is told what it wants, in time, and that survives deaths, clocks that step and targets that take nothing.

use super::*;
use crate::notify::config::Config;
use crate::notify::draft::Pick;
use crate::notify::notice::{Severity, Turn};
use crate::notify::wishes::Wishes;

mod ahead;
mod behind;
mod numbers;
mod refused;
mod topics;

const NOW: u64 = 1_800_000_000_000;
const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// An office with one target, `a`, with these keys more.
fn office(keys: &str) -> Office {
    let text = format!("[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\n{keys}");
    restarted(None, &text)
}

fn restarted(kept: Option<&Office>, text: &str) -> Office {
    let config = Config::parse(text, &["boring", "loud"]).unwrap();
    let kept = kept.map(|kept| serde_json::from_str(&serde_json::to_string(kept).unwrap()).unwrap());
    let wishes = config.target.iter().map(|target| (target.name.clone(), Wishes::of(target))).collect();
    Office::of(kept, wishes, config.clock())
}

fn notice(code: &str, severity: Severity) -> Notice {
    Notice::once("risk", code, severity, code).at(NOW)
}

fn file(office: &mut Office, notice: Notice) {
    office.watch.tell_for_test(notice);
    assert!(office.file());
}

/// The titles of all that `a` is told at a time; each is taken.
fn told(office: &mut Office, now_ms: u64) -> Vec<String> {
    let mut titles = Vec::new();
    while let Some(draft) = office.next("a", Pace::Brisk, now_ms) {
        titles.push(draft.notice.title.clone());
        office.done("a", &draft, now_ms);
        assert!(titles.len() < 1_000);
    }
    titles
}

#[test]
fn a_place_moves_only_with_a_yes() {
    let mut office = office("");
    file(&mut office, notice("one", Severity::Info));
    file(&mut office, notice("two", Severity::Critical));
    for _ in 0..3 {
        assert_eq!(office.next("a", Pace::Brisk, NOW).unwrap().pick, Pick::Filed(1), "asked again, the same");
    }
    assert_eq!(told(&mut office, NOW), ["one", "two"]);
    assert!(office.filed.is_empty(), "nothing is kept that everybody has had");
}

#[test]
fn a_target_hears_what_it_wants() {
    let mut office = office("least = 'warning'\nkinds = ['risk', 'sent']\nwithout = ['boring']");
    file(&mut office, notice("low", Severity::Info));
    file(&mut office, notice("boring", Severity::Critical));
    file(&mut office, Notice::once("kill", "kill", Severity::Critical, "other kind"));
    file(&mut office, Notice { kind: "sent".to_owned(), ..notice("killed", Severity::Warning) });
    assert_eq!(told(&mut office, NOW), ["killed"]);
    let mut all = super::tests::office("");
    file(&mut all, Notice { kind: "decision".to_owned(), ..notice("killed", Severity::Critical) });
    assert_eq!(told(&mut all, NOW), [""; 0], "refused requests are heard of by those alone who name their kind");
}

#[test]
fn quiet_hours_hold_back_what_is_not_critical_and_nothing_more() {
    // NOW is 08:00 UTC, 10:00 there.
    let text = "utc_offset = '+02:00'\n[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nquiet = '09:00-11:00'";
    let mut office = restarted(None, text);
    file(&mut office, notice("one", Severity::Warning));
    file(&mut office, notice("two", Severity::Critical));
    file(&mut office, notice("three", Severity::Info));
    assert_eq!(told(&mut office, NOW), ["two"]);
    let mut office = restarted(Some(&office), text);
    assert_eq!(told(&mut office, NOW + HOUR - 1), [""; 0]);
    assert_eq!(told(&mut office, NOW + HOUR), ["one", "three"]);
}

#[test]
fn a_topic_rests_and_what_came_meanwhile_is_counted() {
    let mut office = office("cooldown = { default = '10m', loud = '0s' }");
    for _ in 0..5 {
        file(&mut office, notice("near", Severity::Warning));
        file(&mut office, notice("loud", Severity::Warning));
    }
    assert_eq!(told(&mut office, NOW), ["near", "loud", "loud", "loud", "loud", "loud"]);
    assert_eq!(told(&mut office, NOW + 10 * MINUTE - 1), [""; 0]);
    assert_eq!(told(&mut office, NOW + 10 * MINUTE), ["near (4 times more since 2027-01-15 08:00:00 UTC)"]);
    assert_eq!(told(&mut office, NOW + 30 * MINUTE), [""; 0]);
    // That it is over is told although that it began was told just now.
    file(&mut office, notice("near", Severity::Warning).begins());
    file(&mut office, Notice { turn: Turn::Over, ..notice("near", Severity::Warning) });
    assert_eq!(told(&mut office, NOW + HOUR), ["near", "near"]);
}

/// A flat account is told of by three topics, and none of them is told late over a newer one.
#[test]
fn the_last_that_is_told_of_a_closing_is_how_it_is() {
    let begin = || {
        let mut office = office("cooldown = { default = '10m' }");
        (0..2).for_each(|_| file(&mut office, notice("flat", Severity::Critical)));
        assert_eq!(told(&mut office, NOW), ["flat"]);
        office
    };
    assert_eq!(told(&mut begin(), NOW + 10 * MINUTE), ["flat (1 time more since 2027-01-15 08:00:00 UTC)"]);
    for other in ["flat_ended", "flat_unconfirmed"] {
        let mut office = begin();
        file(&mut office, notice(other, Severity::Critical));
        assert_eq!(told(&mut office, NOW + MINUTE), [other]);
        assert_eq!(told(&mut office, NOW + HOUR), [""; 0], "the flat that was held back is of before {other}");
        let mut office = begin();
        for code in [other, "flat", other, "flat"] {
            file(&mut office, notice(code, Severity::Critical));
            assert_eq!(told(&mut office, NOW + MINUTE), [code], "each is news");
        }
    }
    for over in ["kill", "halted_for_day", "stopped", "near"] {
        let mut office = begin();
        file(&mut office, Notice { turn: Turn::Over, ..notice(over, Severity::Critical) });
        told(&mut office, NOW + MINUTE);
        assert_eq!(told(&mut office, NOW + HOUR).len(), usize::from(over == "near"), "{over}");
    }
}

#[test]
fn what_is_critical_is_never_held_back_unless_that_is_asked_for() {
    let mut office = office("");
    (0..5).for_each(|_| file(&mut office, notice("kill", Severity::Critical)));
    assert_eq!(told(&mut office, NOW).len(), 5);
}

#[test]
fn what_lasts_is_told_again_until_it_is_over() {
    let text = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nrepeat = { kill = '10m', uncovered = '0s' }";
    let mut office = restarted(None, text);
    for code in ["kill", "uncovered", "disk_low"] {
        let begun = notice(code, Severity::Critical).begins();
        office.watch.open.insert(begun.topic(), begun.clone());
        file(&mut office, begun);
    }
    assert_eq!(told(&mut office, NOW), ["kill", "uncovered", "disk_low"]);
    assert_eq!(told(&mut office, NOW + 10 * MINUTE - 1), [""; 0]);
    let still = "Still: kill (since 2027-01-15 08:00:00 UTC)";
    assert_eq!(told(&mut office, NOW + 10 * MINUTE), [still]);
    let mut office = restarted(Some(&office), text);
    assert_eq!(told(&mut office, NOW + 20 * MINUTE - 1), [""; 0]);
    assert_eq!(told(&mut office, NOW + 20 * MINUTE), [still]);
    office.watch.open.clear();
    assert_eq!(told(&mut office, NOW + 90 * MINUTE), [""; 0]);
}

#[test]
fn a_clock_set_back_keeps_nothing_from_being_told() {
    let mut office = office("");
    let begun = notice("kill", Severity::Critical).begins();
    office.watch.open.insert(begun.topic(), begun.clone());
    file(&mut office, begun);
    file(&mut office, notice("near", Severity::Warning));
    assert_eq!(told(&mut office, NOW + 1_000 * HOUR).len(), 2, "a clock that was far ahead");
    file(&mut office, notice("near", Severity::Warning));
    assert_eq!(told(&mut office, NOW), [""; 0]);
    assert_eq!(told(&mut office, NOW + 5 * MINUTE).len(), 1);
    assert_eq!(told(&mut office, NOW + HOUR).len(), 1, "still killed");
}

#[test]
fn what_finds_no_room_is_left_out_and_said() {
    let mut office = office("cooldown = { default = '0s' }");
    file(&mut office, notice("first", Severity::Critical));
    for _ in 0..MAX_WAITING + 20 {
        file(&mut office, notice("flood", Severity::Info));
    }
    assert_eq!(office.filed.len(), MAX_WAITING);
    let told = told(&mut office, NOW);
    assert_eq!(told[..3], ["first", "21 messages left out", "flood"]);
    assert_eq!(told.len(), MAX_WAITING + 1);
}

#[test]
fn what_comes_waits_while_every_target_is_behind() {
    let two = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }\n\
               [[target]]\nname = 'b'\nform = 'command'\nrun = ['x']\nquiet = '00:00-12:00'";
    let mut office = restarted(None, two);
    (0..BEHIND).for_each(|_| file(&mut office, notice("flood", Severity::Critical)));
    assert!(!office.is_behind(BEHIND) && !office.is_full());
    file(&mut office, notice("flood", Severity::Critical));
    assert!(office.is_behind(BEHIND) && office.is_full());
    told(&mut office, NOW);
    assert!(!office.is_full() && !office.is_behind(BEHIND), "a takes what comes, and b may lose something");
    // In quiet hours what waits anyway keeps nothing critical from being noticed.
    let mut office = restarted(None, &two.replace("'a'", "'c'").replace("cooldown", "quiet = '00:00-12:00'\ncooldown"));
    (0..=BEHIND).for_each(|_| file(&mut office, notice("flood", Severity::Info)));
    assert!(office.is_behind(BEHIND) && !office.is_full());
}

/// What a target refuses stays, and holds up nothing: its title is tried on beside the others, and then the whole of it.
#[test]
fn what_a_target_refuses_is_kept_and_holds_up_nothing() {
    let mut office = office("");
    file(&mut office, Notice { happened: "poison".to_owned(), ..notice("poison", Severity::Critical) });
    file(&mut office, notice("kill", Severity::Critical));
    let draft = office.next("a", Pace::Brisk, NOW).unwrap();
    assert!(!office.refused("a", &draft, NOW));
    assert!(office.is_deaf("a", NOW), "it took nothing since");
    let draft = office.next("a", Pace::Brisk, NOW).unwrap();
    assert_eq!(draft.notice.title, "kill");
    office.done("a", &draft, NOW);
    assert!(!office.is_deaf("a", NOW));
    // It takes something, so what it refused is tried at once: its title first.
    let draft = office.next("a", Pace::Brisk, NOW).unwrap();
    assert_eq!((draft.notice.title.as_str(), &draft.pick), ("Late: poison", &Pick::Again(1, true)));
    assert!(!draft.notice.happened.contains("poison"));
    assert!(!office.refused("a", &draft, NOW));
    assert_eq!(office.next("a", Pace::Brisk, NOW), None, "after a pause");
    // Over a restart; the whole of it, then its title again, which is taken, and the whole is not.
    let mut office = restarted(Some(&office), "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']");
    let draft = office.next("a", Pace::Brisk, NOW + MINUTE).unwrap();
    assert_eq!((draft.notice.happened.as_str(), &draft.pick), ("poison", &Pick::Again(1, false)));
    office.refused("a", &draft, NOW + MINUTE);
    let draft = office.next("a", Pace::Brisk, NOW + HOUR).unwrap();
    assert_eq!(draft.pick, Pick::Again(1, true));
    office.done("a", &draft, NOW + HOUR);
    let draft = office.next("a", Pace::Brisk, NOW + HOUR).unwrap();
    assert_eq!(draft.pick, Pick::Again(1, false));
    assert!(!office.refused("a", &draft, NOW + HOUR), "its title was told");
    assert_eq!(told(&mut office, NOW + 48 * HOUR), [""; 0]);
}

#[test]
fn a_new_target_hears_what_comes_and_one_that_is_gone_holds_nothing_back() {
    let mut office = office("");
    file(&mut office, notice("before", Severity::Critical));
    let two =
        "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\n[[target]]\nname = 'b'\nform = 'command'\nrun = ['x']";
    let mut office = restarted(Some(&office), two);
    file(&mut office, notice("after", Severity::Critical));
    assert_eq!(office.next("b", Pace::Brisk, NOW).unwrap().notice.title, "after");
    assert_eq!(told(&mut office, NOW), ["before", "after"]);
    assert_eq!(office.filed.len(), 1, "b has not had it");
    let office = restarted(Some(&office), &two.replace("'b'", "'c'"));
    assert!(office.filed.is_empty());
    assert_eq!(office.gone(), [("b".to_owned(), 1)]);
}

/// Deaths between any two steps, targets that fail, clocks that step: every notice that is wanted reaches its target at least
/// once, the critical ones in their order and the others in theirs.
#[test]
fn nothing_is_lost_and_order_is_kept_over_deaths() {
    let text =
        "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }\nquiet = '22:00-07:00'";
    for seed in 1..=400_u64 {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut draw = |most: u64| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % most
        };
        // The guard's record, from which whatever was not kept is taken in again.
        let mut record: Vec<Notice> = Vec::new();
        let mut office = restarted(None, text);
        let (mut kept, mut taken_in, mut kept_taken_in) = (office.clone(), 0, 0);
        let (mut now, mut heard): (u64, Vec<String>) = (NOW, Vec::new());
        for _ in 0..150 {
            now = if draw(20) == 0 { now.saturating_sub(draw(HOUR)) } else { now + draw(HOUR) };
            match draw(6) {
                0 | 1 => {
                    let severity =
                        [Severity::Info, Severity::Warning, Severity::Critical][usize::try_from(draw(3)).unwrap()];
                    record.push(notice(&format!("n{}", record.len()), severity));
                }
                2 => {
                    record[taken_in..].iter().for_each(|notice| file(&mut office, notice.clone()));
                    taken_in = record.len();
                }
                3 => (kept, kept_taken_in) = (office.clone(), taken_in),
                4 => (office, taken_in) = (restarted(Some(&kept), text), kept_taken_in),
                _ => {
                    if let Some(draft) = office.next("a", Pace::Brisk, now) {
                        // Heard, and perhaps dead before its yes is known.
                        heard.push(draft.notice.code.clone());
                        if draw(3) > 0 {
                            office.done("a", &draft, now);
                        }
                    }
                }
            }
        }
        record[taken_in..].iter().for_each(|notice| file(&mut office, notice.clone()));
        let noon = NOW - NOW % (24 * HOUR) + 12 * HOUR;
        heard.extend(told(&mut office, noon + 1_000 * HOUR - 1_000 * HOUR % (24 * HOUR)));
        for lane in [true, false] {
            let is_mine = |notice: &&Notice| (notice.severity == Severity::Critical) == lane;
            let wanted: Vec<&String> = record.iter().filter(is_mine).map(|notice| &notice.code).collect();
            let first: Vec<&String> =
                heard.iter().filter(|code| wanted.contains(code)).fold(Vec::new(), |mut first, code| {
                    if !first.contains(&code) {
                        first.push(code);
                    }
                    first
                });
            assert_eq!(first, wanted, "seed {seed}, critical: {lane}");
        }
    }
}

/// Something begins and ends over and over within its pause: what is told last is how it is.
#[test]
fn the_last_word_of_what_flaps_is_how_it_is() {
    let begins = || notice("feed_down", Severity::Warning).begins();
    let over = || {
        let over = notice("feed_down", Severity::Warning);
        Notice { turn: Turn::Over, title: "Over: feed_down".to_owned(), ..over }
    };
    for turns in 1..=9_u64 {
        let mut office = office("");
        let mut heard = Vec::new();
        for turn in 0..turns {
            file(&mut office, if turn % 2 == 0 { begins() } else { over() });
            heard.extend(told(&mut office, NOW + turn * 20_000));
        }
        for later in 0..1_200 {
            heard.extend(told(&mut office, NOW + turns * 20_000 + later * 1_000));
        }
        let last = heard.last().unwrap();
        assert_eq!(last.starts_with("Over: "), turns % 2 == 0, "{turns}: {heard:?}");
        assert!(heard.len() <= 4, "{turns}: {heard:?}");
        if turns >= 3 {
            assert!(last.contains(if turns < 5 { "1 time more" } else { "times more" }), "{turns}: {heard:?}");
        }
    }
}

/// A target that takes nothing has a place of its own: it costs no other target anything.
#[test]
fn a_dead_targets_backlog_costs_no_other_target_a_message() {
    let two = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }\n\
               [[target]]\nname = 'dead'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }";
    let mut office = restarted(None, two);
    let mut heard = Vec::new();
    for turn in 0..MAX_WAITING + 50 {
        let severity = if turn < MAX_WAITING { Severity::Warning } else { Severity::Info };
        file(&mut office, notice(&format!("n{turn}"), severity));
        heard.extend(told(&mut office, NOW));
    }
    let wanted: Vec<String> = (0..MAX_WAITING + 50).map(|turn| format!("n{turn}")).collect();
    assert_eq!(heard, wanted);
    let dead = office.next("dead", Pace::Brisk, NOW).unwrap();
    assert_eq!(dead.notice.title, "50 messages left out");
    assert_eq!(office.filed.len(), MAX_WAITING);
    let office = restarted(Some(&office), two);
    assert_eq!(office.filed.len(), MAX_WAITING, "what is left out for it is left out after a restart too");
}
