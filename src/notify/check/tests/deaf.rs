//! Targets that could never be told anything: refused, with changes that are enough.

use super::*;
use crate::notify::notice::Severity;

/// What is said of a file with one target, with these keys.
fn target(keys: &str) -> Result<(), String> {
    file("", keys)
}

fn file(top: &str, keys: &str) -> Result<(), String> {
    let text = format!("{top}\n[[target]]\nname = 'a'\nform = 'command'\nrun = ['x']\n{keys}");
    Config::parse(&text, &["price_invalid"]).map(|_| ()).map_err(|problems| problems.join("\n"))
}

/// A target that lets nothing through is refused by name, with the keys that contradict each other and the way out.
#[test]
fn a_target_that_could_never_be_told_anything_is_refused() {
    for (keys, why) in [
        (
            "codes = ['kill']\nwithout = ['flat', 'kill']",
            "its codes and without let nothing through: take \"kill\" out of without",
        ),
        (
            "kinds = ['status']\ncodes = ['kill']",
            "its kinds and codes let nothing through: name the kind \"kill\" in kinds",
        ),
        ("codes = ['price_invalid']", "its codes let nothing through: name the kind \"decision\" in kinds"),
        ("least = 'critical'\ncodes = ['limit_near']", "its least and codes let nothing through: name a code such as"),
        ("least = 'critical'\ncodes = ['limit_near']", "or set least to \"info\""),
        ("kinds = ['summary']", "set summary = \"07:00\" at the top of the file"),
        (
            "kinds = ['kill']\ncodes = ['flat']\nwithout = ['flat']",
            "its kinds and codes and without let nothing through: ",
        ),
    ] {
        let said = target(keys).unwrap_err();
        assert!(
            said.starts_with("target \"a\": it could never be told anything") && said.contains(why),
            "{keys}: {said}"
        );
    }
    for keys in [
        "",
        "kinds = []\ncodes = []",
        "codes = ['kill', 'flat']\nwithout = ['flat']",
        "kinds = ['decision']\ncodes = ['price_invalid']",
        "kinds = ['status']\ncodes = ['uncovered']\nleast = 'critical'",
        "kinds = ['status']\nwithout = ['flat']",
    ] {
        assert_eq!(target(keys), Ok(()), "{keys}");
    }
}

/// The keys of one target, and the top of its file.
#[derive(Clone, Debug)]
struct Keys {
    top: &'static str,
    least: String,
    kinds: Vec<String>,
    codes: Vec<String>,
    without: Vec<String>,
}

impl Keys {
    fn said(&self) -> Result<(), String> {
        let Self { top, least, kinds, codes, without } = self;
        file(top, &format!("least = {least:?}\nkinds = {kinds:?}\ncodes = {codes:?}\nwithout = {without:?}"))
    }

    /// Does what a refusal says, as a person would.
    fn with(mut self, change: &str) -> Self {
        let word = || change.split('"').nth(1).unwrap().to_owned();
        match change.split(" (line ").next().unwrap() {
            "set summary = \"07:00\" at the top of the file" => self.top = "summary = \"07:00\"",
            "leave codes out" => self.codes.clear(),
            "take summary out" => self.top = "",
            change if change.starts_with("take ") && change.ends_with(" out of without") => {
                self.without.retain(|code| *code != word());
            }
            change if change.starts_with("name the kind ") => self.kinds.push(word()),
            change if change.starts_with("name a code such as ") => self.codes.push(word()),
            change if change.starts_with("set least to ") => self.least = word(),
            change => panic!("nobody knows what to do: {change}"),
        }
        self
    }
}

/// The ways out of the first thing that a refusal names, each with its changes.
fn ways(said: &str) -> Vec<Vec<String>> {
    let first = said.lines().next().unwrap();
    let (_, ways) = first.rsplit_once(": ").unwrap_or_else(|| panic!("{said}"));
    // What is taken out of codes or kinds is the name that it began with.
    let own = |way: &str| way.strip_prefix("in target \"a\" ").unwrap_or(way).to_owned();
    ways.split(", or ")
        .map(own)
        .filter(|way| !way.starts_with("take it out"))
        .map(|way| way.split(" and ").map(str::to_owned).collect())
        .collect()
}

/// A name that another key keeps back is refused beside others that are told, and so is a summary that nobody hears.
#[test]
fn a_name_that_is_never_told_is_refused_with_the_way_out() {
    for (top, keys, why) in [
        (
            "summary = '07:00'",
            "codes = ['kill', 'summary']\nleast = 'critical'",
            "codes: \"summary\" could never be told: set least to \"info\", or take it out of codes",
        ),
        (
            "",
            "codes = ['kill', 'summary']",
            "codes: \"summary\" could never be told: set summary = \"07:00\" at the top of the file, or",
        ),
        (
            "",
            "codes = ['kill', 'flat']\nkinds = ['kill']",
            "codes: \"flat\" could never be told: name the kind \"status\" in kinds, or",
        ),
        (
            "",
            "kinds = ['kill', 'sent']\nleast = 'critical'",
            "kinds: \"sent\" could never be told: set least to \"warning\", or take it out of kinds",
        ),
        ("", "kinds = ['kill', 'summary']", "kinds: \"summary\" could never be told: set summary = "),
        (
            "summary = '07:00'",
            "least = 'warning'",
            "summary is set, and no target is told it: in target \"a\" set least to \"info\", or take summary out",
        ),
        ("summary = '07:00'", "without = ['summary']", "in target \"a\" take \"summary\" out of without"),
    ] {
        let said = file(top, keys).unwrap_err();
        assert!(said.contains(why), "{keys}: {said}");
    }
    let other = "[[target]]\nname = 'b'\nform = 'command'\nrun = ['x']";
    assert_eq!(file("summary = '07:00'", &format!("least = 'critical'\n{other}")), Ok(()), "one hears it");
}

#[test]
fn whoever_does_what_the_refusal_of_a_deaf_target_says_has_one_that_is_told_something() {
    let lists: [&[&str]; 7] =
        [&[], &["kill"], &["limit_near"], &["summary"], &["price_invalid"], &["flat", "kill"], &["disk_low"]];
    let kinds: [&[&str]; 7] =
        [&[], &["kill"], &["status"], &["decision"], &["summary"], &["decision", "summary"], &["sent", "started"]];
    let owned = |list: &[&str]| list.iter().map(|word| (*word).to_owned()).collect::<Vec<String>>();
    let (mut refused, mut with_two) = (0, 0);
    for (least, top) in
        ["info", "warning", "critical"].into_iter().flat_map(|least| [(least, ""), (least, "summary = '07:00'")])
    {
        for kinds in kinds {
            for (codes, without) in lists.iter().flat_map(|codes| lists.map(|without| (codes, without))) {
                let [kinds, codes, without] = [kinds, codes, without].map(owned);
                let keys = Keys { top, least: least.to_owned(), kinds, codes, without };
                let Err(said) = keys.said() else { continue };
                for way in ways(&said) {
                    with_two += usize::from(way.len() > 1);
                    let changed = way.iter().fold(keys.clone(), |keys, change| keys.with(change));
                    // What is named in vain beside it is said next.
                    let mut changed = vec![(changed, way)];
                    while let Some((keys, way)) = changed.pop() {
                        let Err(said) = keys.said() else { continue };
                        assert!(!said.contains(" let nothing through: "), "{keys:?}: {way:?} was not enough: {said}");
                        let next = ways(&said).into_iter().next().unwrap();
                        changed.push((next.iter().fold(keys, |keys, change| keys.with(change)), next));
                    }
                }
                refused += 1;
            }
        }
    }
    assert!(refused > 100 && with_two > 20, "{refused} {with_two}");
}

/// By what is really told: under each code, and from which severity on a target hears it.
#[test]
fn every_code_is_refused_exactly_where_it_is_never_told() {
    let told = crate::notify::tests::told_by_code();
    let refusals = ["price_invalid"];
    let known: Vec<&str> = told.keys().map(String::as_str).collect();
    let mut named: Vec<&str> =
        TOLD.iter().map(|(code, ..)| *code).chain(crate::notify::alert_codes()).chain(refusals).collect();
    named.sort_unstable();
    assert_eq!(known, named, "told, and what can be named");
    let levels = [("info", Severity::Info), ("warning", Severity::Warning), ("critical", Severity::Critical)];
    for (code, (kind, severity)) in &told {
        for (name, least) in levels {
            for keys in [
                format!("codes = [{code:?}]\nkinds = [{kind:?}]"),
                format!("codes = ['kill', {code:?}]\nkinds = ['kill', {kind:?}]"),
            ] {
                let said = file(
                    "summary = '07:00'\n[[target]]\nname = 'b'\nform = 'command'\nrun = ['x']",
                    &format!("least = {name:?}\n{keys}"),
                );
                assert_eq!(said.is_ok(), *severity >= least, "{code}: {keys} from {name} on: {said:?}");
                let Err(said) = said else { continue };
                assert!(said.contains("set least to "), "{said}");
            }
        }
    }
}

#[test]
fn what_is_named_as_the_wrong_thing_is_told_apart() {
    for (keys, why) in [
        (
            "kinds = ['flat']",
            "kinds: \"flat\" is a code, told under the kind \"status\": name that, or the code in codes",
        ),
        ("kinds = ['fill']", "kinds: \"fill\" is no kind of what is told: they are decision, error, flatten, health, "),
        ("codes = ['notifier']", "codes: \"notifier\" is no code but a kind, see kinds in"),
        ("codes = ['test']", "codes: \"test\" is no code of what is told"),
        // What passes is told of nobody.
        ("kinds = ['decision']\ncodes = ['allowed']", "codes: \"allowed\" is no code of what is told"),
    ] {
        let said = target(keys).unwrap_err();
        assert!(said.contains(why), "{keys}: {said}");
    }
}

/// The manual names every kind that can be named, and no other.
#[test]
fn the_manual_names_the_kinds() {
    let manual = include_str!("../../../../man/notify.toml.5");
    let (_, kinds) = manual.split_once("\nKinds of what it hears of: ").unwrap();
    let (kinds, _) = kinds.split_once("\n.TP").unwrap();
    let mut named: Vec<&str> = kinds.split('"').skip(1).step_by(2).collect();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named, KINDS);
}
