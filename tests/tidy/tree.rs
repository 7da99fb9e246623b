//! The sources as text and as syntax: which files there are, which module each is, and which are test code.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

/// A module's path below the crate; the crate's root is empty.
pub(crate) type Module = Vec<String>;

/// A Rust file.
pub(crate) struct Source {
    /// Its path from the repository's root.
    pub(crate) path: String,
    pub(crate) text: String,
    pub(crate) syntax: syn::File,
    /// Set for `src` alone.
    pub(crate) module: Option<Module>,
    /// Nothing of it is in the program.
    pub(crate) is_test: bool,
}

/// All Rust files of `src` and `tests`.
pub(crate) struct Tree {
    pub(crate) sources: Vec<Source>,
}

impl Tree {
    /// The repository's.
    pub(crate) fn read() -> Self {
        Self::of(texts(&["src", "tests"]).into_iter().filter(|(path, _)| path.ends_with(".rs")))
    }

    /// From paths and texts.
    pub(crate) fn of(files: impl IntoIterator<Item = (String, String)>) -> Self {
        let mut sources: Vec<Source> = files
            .into_iter()
            .map(|(path, text)| {
                let syntax = syn::parse_file(&text).unwrap_or_else(|error| panic!("{path}: {error}"));
                let module = module_of(&path);
                let is_test = path.starts_with("tests/") || path.ends_with("/tests.rs") || path.contains("/tests/");
                Source { path, text, syntax, module, is_test }
            })
            .collect();
        mark_tests(&mut sources);
        Self { sources }
    }

    /// The files that the program is made of.
    pub(crate) fn production(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| !source.is_test)
    }
}

/// The text files below these folders, with their paths from the repository's root.
pub(crate) fn texts(folders: &[&str]) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in folders {
        collect(root, &root.join(folder), &mut found);
    }
    found.sort();
    found
}

fn collect(root: &Path, path: &Path, found: &mut Vec<(String, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            collect(root, &entry.unwrap().path(), found);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        found.push((path.strip_prefix(root).unwrap().to_str().unwrap().to_owned(), text));
    }
}

/// The module that a file of `src` is; the program's `main.rs` is none of the library's.
fn module_of(path: &str) -> Option<Module> {
    let inner = path.strip_prefix("src/")?.strip_suffix(".rs")?;
    if inner == "main" {
        return None;
    }
    let inner = if inner == "lib" { "" } else { inner.strip_suffix("/mod").unwrap_or(inner) };
    Some(inner.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect())
}

/// Marks the files that are declared under `#[cfg(test)]`, and what lies below them.
fn mark_tests(sources: &mut [Source]) {
    let mut declared: BTreeSet<Module> = BTreeSet::new();
    for source in sources.iter() {
        let Some(module) = &source.module else { continue };
        for item in &source.syntax.items {
            if let Item::Mod(inner) = item
                && inner.content.is_none()
                && is_test_only(&inner.attrs)
            {
                declared.insert([module.as_slice(), &[inner.ident.to_string()]].concat());
            }
        }
    }
    for source in sources.iter_mut() {
        let Some(module) = &source.module else { continue };
        source.is_test |= (1..=module.len()).any(|depth| declared.contains(&module[..depth]));
    }
}

/// Whether something with these attributes is built for tests alone.
pub(crate) fn is_test_only(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        attr.path().is_ident("test")
            || (attr.path().is_ident("cfg") && attr.parse_args().is_ok_and(|meta| wants_test(&meta)))
    })
}

fn wants_test(meta: &Meta) -> bool {
    match meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("all") => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|parts| parts.iter().any(wants_test)),
        _ => false,
    }
}

/// The attributes of an item, whatever its kind.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// What breaks a rule: by the name that the lists of known breaches have it under, what to tell of it.
pub(crate) type Breaches = BTreeMap<String, String>;

/// Fails for a breach that is not in the list, and for an entry of the list that is no breach any more.
pub(crate) fn hold(rule: &str, breaches: &Breaches, known: &[&str]) {
    let fresh: Vec<String> = breaches
        .iter()
        .filter(|(name, _)| !known.contains(&name.as_str()))
        .map(|(name, detail)| format!("    {name}: {detail}"))
        .collect();
    let stale: Vec<String> = known
        .iter()
        .filter(|name| !breaches.contains_key(**name))
        .map(|name| format!("    {name}: is no breach any more, remove it from the list in tests/tidy/known.rs"))
        .collect();
    let told = [fresh, stale].concat();
    assert!(told.is_empty(), "{rule}\n{}", told.join("\n"));
}
