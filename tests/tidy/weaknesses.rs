//! The weaknesses that `tests/weaknesses/run.py` plants: each old text stands once where it is looked for, and a test that one of them
//! names is there.

use std::collections::BTreeMap;

use crate::tree::Breaches;

/// Those that cannot be planted, by the table and the texts of the sources.
pub(crate) fn without_place(table: &str, sources: &[(String, String)]) -> Breaches {
    let table: toml::Table = table.parse().unwrap();
    let sources: BTreeMap<&str, &str> = sources.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let weaknesses = table["weakness"].as_array().unwrap().iter();
    let breach = |weakness: &toml::Value| {
        let text = |name: &str| weakness[name].as_str().unwrap();
        let count = sources.get(text("file")).map_or(0, |source| source.matches(text("old")).count());
        let is_switched = text("new").contains("PLANTED");
        let is_test_there = weakness.get("test").is_none_or(|test| has_test(&sources, test.as_str().unwrap()));
        let told = format!(
            "its old text stands {count} times in {}, its new one has a switch: {is_switched}, its test is there: {is_test_there}",
            text("file")
        );
        (count != 1 || !is_switched || !is_test_there).then(|| (text("name").to_owned(), told))
    };
    weaknesses.filter_map(breach).collect()
}

/// Whether there is a test of this whole name, `guard::tests::FILE::TEST`.
fn has_test(sources: &BTreeMap<&str, &str>, test: &str) -> bool {
    let (file, name) = test.rsplit_once("::").unwrap();
    let path = format!("src/{}.rs", file.replace("::", "/"));
    sources.get(path.as_str()).is_some_and(|source| source.contains(&format!("fn {name}()")))
}
