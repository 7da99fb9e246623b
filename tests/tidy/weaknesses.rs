//! The weaknesses that `tests/weaknesses/run.py` plants: each old text stands once where it is looked for.

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
        let told =
            format!("its old text stands {count} times in {}, its new one has a switch: {is_switched}", text("file"));
        (count != 1 || !is_switched).then(|| (text("name").to_owned(), told))
    };
    weaknesses.filter_map(breach).collect()
}
