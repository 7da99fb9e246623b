//! However many topics there are, none of what is held back is thrown away, and what is told of it is true.

use super::*;

fn about(number: usize) -> Notice {
    notice("error", Severity::Warning).about(format!("a{number:04}"))
}

#[test]
fn a_pause_holds_with_any_number_of_topics_and_every_one_that_is_held_back_is_counted() {
    let mut office = office("cooldown = { default = '1m' }");
    let mut heard = Vec::new();
    for _ in 0..2 {
        for number in 0..300 {
            file(&mut office, about(number));
            heard.extend(told(&mut office, NOW));
        }
    }
    assert_eq!(heard.len(), 257, "256 by themselves, and one for those that share a place");
    // In one and the same place the others are counted: 43 twice without the one that was told.
    let held = told(&mut office, NOW + MINUTE);
    assert_eq!(held.len(), 257);
    let since = "since 2027-01-15 08:00:00 UTC";
    let one = held.iter().filter(|title| **title == format!("error (1 time more {since})")).count();
    let shared = format!("error (87 times more, of one kind or another, {since})");
    assert!(one == 256 && held.contains(&shared), "{held:?}");
    assert_eq!(told(&mut office, NOW + HOUR), [""; 0]);
    // Pauses are over, so there is room again.
    file(&mut office, about(5_000));
    file(&mut office, about(5_001));
    assert_eq!(told(&mut office, NOW + HOUR).len(), 2);
    assert!(serde_json::to_string(&office).unwrap().len() < 10_000, "what is of no use is forgotten");
}

/// What lasts has a place whatever there is: it is repeated when it is due, not more often, and its end is told.
#[test]
fn what_lasts_keeps_its_pause_and_its_end_among_many_topics() {
    let mut office = office("cooldown = { default = '1h' }\nrepeat = { kill = '10m' }");
    (0..2_000).for_each(|number| _ = (file(&mut office, about(number)), told(&mut office, NOW)));
    let begun = notice("kill", Severity::Critical).begins();
    office.watch.open.insert(begun.topic(), begun.clone());
    file(&mut office, begun.clone());
    assert_eq!(told(&mut office, NOW), ["kill"]);
    assert_eq!(told(&mut office, NOW + 10 * MINUTE).len(), 1);
    assert_eq!(told(&mut office, NOW + 20 * MINUTE - 1), [""; 0]);
    assert_eq!(told(&mut office, NOW + 20 * MINUTE).len(), 1);
    office.watch.open.clear();
    file(&mut office, Notice { turn: Turn::Over, title: "over".to_owned(), ..begun });
    assert_eq!(told(&mut office, NOW + 20 * MINUTE), ["over"]);
}
