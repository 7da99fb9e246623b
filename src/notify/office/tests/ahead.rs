//! Whether the guard is there at all is told before what it said, however much of that waits.

use super::*;

fn health(code: &str) -> Notice {
    Notice::once("health", code, Severity::Critical, code).at(NOW).begins()
}

#[test]
fn a_guard_that_is_gone_waits_behind_nothing_that_it_said() {
    let mut office = office("cooldown = { default = '0s' }\nkinds = ['risk', 'health']");
    for number in 0..5 {
        let severity = if number % 2 == 0 { Severity::Info } else { Severity::Critical };
        file(&mut office, notice(&format!("n{number}"), severity));
    }
    file(&mut office, health("unreachable"));
    assert_eq!(office.next("a", Pace::Brisk, NOW).unwrap().notice.title, "unreachable");
    let draft = office.next("a", Pace::Brisk, NOW).unwrap();
    office.done("a", &draft, NOW);
    // Over a restart nothing is told twice and nothing is passed over; that it is over overtakes as well.
    let kept = "[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\ncooldown = { default = '0s' }\nkinds = ['risk', 'health']";
    let mut office = restarted(Some(&office), kept);
    assert_eq!(office.next("a", Pace::Brisk, NOW).unwrap().notice.title, "n0");
    file(&mut office, Notice { turn: Turn::Over, title: "back".to_owned(), ..health("unreachable") });
    file(&mut office, notice("last", Severity::Info));
    assert_eq!(told(&mut office, NOW), ["back", "n0", "n1", "n2", "n3", "n4", "last"]);
    assert!(office.filed.is_empty());
    // What was told before its turn is not kept in mind for ever.
    for _ in 0..300 {
        file(&mut office, health("unwell"));
        file(&mut office, notice("n0", Severity::Info));
        assert_eq!(told(&mut office, NOW), ["unwell", "n0"]);
    }
    assert!(serde_json::to_string(&office).unwrap().len() < 10_000);
}
