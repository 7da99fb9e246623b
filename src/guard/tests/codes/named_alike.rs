//! Every code has a test named alike: a file here, or a test of the core whose name begins with the code.

use std::collections::BTreeSet;
use std::path::Path;

use crate::guard::code::Code;

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/guard/tests");
/// Files here that are named like no code.
const HELPERS: [&str; 3] = ["mod", "at_limit", "named_alike"];

/// The names of the test functions under a folder.
fn functions(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.append(&mut functions(&path));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let tests = text.split("#[test]\nfn ").skip(1);
        found.extend(tests.filter_map(|rest| rest.split_once('(')).map(|(name, _)| name.to_owned()));
    }
    found
}

#[test]
fn every_code_has_a_test_named_alike() {
    let functions = functions(Path::new(TESTS));
    let folder = std::fs::read_dir(format!("{TESTS}/codes")).unwrap();
    let mut files: BTreeSet<String> =
        folder.map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.retain(|file| !HELPERS.contains(&file.as_str()));
    for code in Code::ALL {
        let is_tested = files.remove(code.as_str())
            || functions.iter().any(|name| name.starts_with(&format!("{}_", code.as_str())));
        assert!(is_tested, "no test named like {code}");
    }
    assert!(files.is_empty(), "files named like no code: {files:?}");
}
