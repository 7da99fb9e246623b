//! The tests that ARCHITECTURE.md names as what holds its invariants: each of them is there, under that name.

use crate::tree::Breaches;

/// The invariants that name no test or one that is nowhere, by the document and all files with their paths.
pub(crate) fn without_test(architecture: &str, files: &[(String, String)]) -> Breaches {
    let section = architecture.split("\n## ").find(|section| section.starts_with("Invariants\n")).unwrap_or_default();
    let mut breaches = Breaches::new();
    for item in items(section) {
        let number = item.split('.').next().unwrap_or_default();
        let held = item.split_once("Held by ").map(|(_, held)| named(held)).unwrap_or_default();
        if held.is_empty() {
            breaches.insert(number.to_owned(), "it names no test that holds it".to_owned());
        }
        for (folder, name) in held.into_iter().filter(|(folder, name)| !is_there(folder, name, files)) {
            breaches.insert(format!("{number} {name}"), format!("no test of this name in {folder:?}"));
        }
    }
    breaches
}

/// The numbered items of a section, each with what is indented below it.
fn items(section: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    let mut is_inside = false;
    for line in section.lines() {
        let is_first = line.split_once(". **").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        is_inside = is_first || is_inside && (line.is_empty() || line.starts_with(' '));
        if is_first {
            items.push(line.to_owned());
        } else if let Some(item) = items.last_mut().filter(|_| is_inside) {
            item.extend([" ", line.trim()]);
        }
    }
    items
}

/// The files, folders and functions that a text names, each with the folder in whose brackets it stands. Commands and variables are
/// none.
fn named(text: &str) -> Vec<(String, String)> {
    let (mut found, mut folder, mut is_bracketed) = (Vec::new(), String::new(), false);
    for (place, part) in text.split('`').enumerate() {
        if place % 2 == 0 {
            let mut brackets = part.chars().filter(|one| "()".contains(*one));
            is_bracketed = brackets.next_back().map_or(is_bracketed, |last| last == '(');
        } else if !part.contains([' ', '=']) {
            let around = if is_bracketed { folder.clone() } else { String::new() };
            found.push((around, part.to_owned()));
            folder = if is_bracketed { folder } else { part.to_owned() };
        }
    }
    found
}

fn is_there(folder: &str, name: &str, files: &[(String, String)]) -> bool {
    let steps = |path: &str| -> Vec<String> {
        path.trim_end_matches(".rs").split('/').filter(|step| !step.is_empty()).map(str::to_owned).collect()
    };
    let (around, inside) = (steps(folder), [steps(folder), steps(name)].concat());
    let lies_in = |path: &str, wanted: &[String]| {
        wanted.is_empty() || steps(path).windows(wanted.len()).any(|window| window == wanted)
    };
    let declared = format!("fn {name}(");
    files.iter().any(|(path, text)| lies_in(path, &inside) || lies_in(path, &around) && text.contains(&declared))
}

#[test]
fn a_name_that_is_nowhere_is_found() {
    let files = [("src/guard/tests/exits.rs".to_owned(), "fn nothing_waits() {}".to_owned())];
    let breaches = |held: &str| {
        let text = format!("# A\n\n## Invariants\n\n1. **This** and\n   that. {held}\n\n**More.** `nowhere`\n");
        without_test(&text, &files).into_keys().collect::<Vec<String>>()
    };
    assert_eq!(breaches("Held by `guard/tests` (`exits`, `nothing_waits`) and `exits.rs`; `LIVES=3 cargo`."), [""; 0]);
    assert_eq!(breaches("Held by `guard/tests` (`entries`) and `service`."), ["1 entries", "1 service"]);
    assert_eq!(breaches("Held by `exits` (`guard`)."), ["1 guard"]);
    assert_eq!(breaches("Held by nobody."), ["1"]);
}
