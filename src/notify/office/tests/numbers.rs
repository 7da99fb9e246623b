//! The number of a message is no other message's, whatever becomes of the state; told again, it has the same.

use super::*;

/// The number and title of what `a` is told next; `taken` is its answer.
fn next(office: &mut Office, now_ms: u64, taken: bool) -> (u64, String) {
    let draft = office.next("a", Pace::Brisk, now_ms).unwrap();
    if taken {
        office.done("a", &draft, now_ms);
    }
    (draft.notice.id, draft.notice.title)
}

#[test]
fn numbers_do_not_come_again_where_the_state_is_lost() {
    let mut office = office("").numbered_from(NOW);
    file(&mut office, notice("one", Severity::Info));
    let kept = restarted(Some(&office), "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']");
    file(&mut office, notice("two", Severity::Info));
    let mut before = vec![next(&mut office, NOW, true).0, next(&mut office, NOW, true).0];
    // One life goes on from a state of before the last message, the other one from none.
    for mut later in [kept.numbered_from(NOW + 1), super::office("").numbered_from(NOW + 2)] {
        file(&mut later, notice("three", Severity::Info));
        while let Some(draft) = later.next("a", Pace::Brisk, NOW) {
            later.done("a", &draft, NOW);
            if draft.notice.title == "three" {
                assert!(before.iter().all(|id| *id < draft.notice.id), "{before:?}, {}", draft.notice.id);
                before.push(draft.notice.id);
            }
        }
    }
    assert_eq!(before.len(), 4);
    // A clock that was set back makes no number come again while the state is there.
    let mut back = restarted(Some(&office), "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']").numbered_from(7);
    file(&mut back, notice("four", Severity::Info));
    assert!(next(&mut back, NOW, true).0 > before[1]);
    assert!(before.iter().all(|id| *id < 1 << 53), "every reader of JSON knows it whole");
}

#[test]
fn what_is_told_again_has_a_number_of_its_own_each_time_and_keeps_it_until_it_is_taken() {
    let mut office =
        restarted(None, "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\nrepeat = { kill = '10m' }");
    let begun = notice("kill", Severity::Critical).begins();
    office.watch.open.insert(begun.topic(), begun.clone());
    file(&mut office, begun);
    let first = next(&mut office, NOW, true).0;
    let again = next(&mut office, NOW + 10 * MINUTE, false);
    assert!(again.0 > first && again.1.starts_with("Still: kill"), "{again:?}");
    assert_eq!(next(&mut office, NOW + 11 * MINUTE, true), again, "no answer came");
    let third = next(&mut office, NOW + 21 * MINUTE, true);
    assert!(third.0 > again.0, "{third:?}");
    file(&mut office, notice("later", Severity::Critical));
    assert!(next(&mut office, NOW + 22 * MINUTE, true).0 > third.0);
}

#[test]
fn what_was_left_out_has_a_number_and_so_has_a_title_alone() {
    let mut office = office("cooldown = { default = '0s' }");
    (0..=MAX_WAITING).for_each(|turn| file(&mut office, notice(&format!("n{turn}"), Severity::Warning)));
    let left_out = next(&mut office, NOW, false);
    assert!(left_out.0 > 0 && left_out.1 == "1 message left out", "{left_out:?}");
    assert_eq!(next(&mut office, NOW, true), left_out);
    let mut office = super::office("");
    file(&mut office, notice("long", Severity::Critical));
    let draft = office.next("a", Pace::Brisk, NOW).unwrap();
    assert!(!office.refused("a", &draft, NOW));
    let short = (1..300).find_map(|minute| office.next("a", Pace::Brisk, NOW + minute * MINUTE)).unwrap();
    assert_eq!(matches!(short.pick, Pick::Again(_, true)), short.notice.id != draft.notice.id, "{short:?}");
    office.done("a", &short, NOW + 300 * MINUTE);
    let whole = office.next("a", Pace::Brisk, NOW + 301 * MINUTE).unwrap();
    assert_eq!((whole.pick, whole.notice.id), (Pick::Again(draft.notice.id, false), draft.notice.id));
}
