//! What every file says of itself, and what none may say.

use crate::tree::Breaches;

/// This list, and the inputs of the fuzz targets, which hold whatever a stranger sends.
const LEFT_OUT: &[&str] = &["tests/tidy/", "tests/fuzz/corpus/"];

/// Texts that stand nowhere in the repository, with what to write instead.
const ANYWHERE: &[(&str, &str)] = &[
    ("/Users/", "a path of one machine; take one from the environment or beside the file"),
    ("TODO", "do it, or leave it out"),
    ("FIXME", "mend it, or leave it out"),
];

/// Starts of comments that are riddles, with what to write instead.
const OPENINGS: &[(&str, &str)] = &[
    ("//! What ", "name the thing"),
    ("/// What is told", "name the thing that is told"),
    ("/// Whose", "name the owner"),
];

/// The mark that a line of a documenting comment starts with.
fn marker(line: &str) -> Option<&str> {
    line.get(..3).filter(|start| matches!(*start, "//!" | "///"))
}

/// Files with a text that may not stand there.
pub(crate) fn banned(texts: &[(String, String)]) -> Breaches {
    let mut breaches = Breaches::new();
    for (path, text) in texts.iter().filter(|(path, _)| !LEFT_OUT.iter().any(|start| path.starts_with(start))) {
        let mut before = "";
        for (index, line) in text.lines().map(str::trim_start).enumerate() {
            let anywhere = ANYWHERE.iter().filter(|(banned, _)| line.contains(banned));
            let begins = marker(line) != marker(before);
            let opening = OPENINGS.iter().filter(|(banned, _)| begins && line.starts_with(banned));
            before = line;
            for (banned, instead) in anywhere.chain(opening) {
                breaches.insert(format!("{path} {banned}"), format!("line {}: {instead}", index + 1));
            }
        }
    }
    breaches
}

/// Files of code that do not open with what they are for.
pub(crate) fn without_module_doc(texts: &[(String, String)]) -> Breaches {
    let opening = |path: &str| match path.rsplit_once('.')?.1 {
        "rs" => Some("//!"),
        "py" => Some("\"\"\""),
        _ => None,
    };
    texts
        .iter()
        .filter(|(path, text)| opening(path).is_some_and(|opening| !text.starts_with(opening)))
        .map(|(path, _)| (path.clone(), "its first line is no documentation of the file".to_owned()))
        .collect()
}
