//! Each reason code stands in the manual, and each rule's file has a code of its own and a test named alike.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenTree;
use syn::Item;

use crate::names::Names;
use crate::tree::{Breaches, Tree};

const CODES: &str = "src/guard/code.rs";
const MANUAL: &str = "man/svc-guard-codes.7";
/// One rule a file.
const RULES: &str = "src/guard/judge/limits/";
const TESTS: &str = "src/guard/";

/// Codes by their name in Rust: the text of each.
fn codes(tree: &Tree) -> BTreeMap<String, String> {
    let source = tree.sources.iter().find(|source| source.path == CODES).expect("the file of the codes");
    let list = source.syntax.items.iter().find_map(|item| match item {
        Item::Macro(item) if item.mac.path.is_ident("codes") => Some(item.mac.tokens.clone()),
        _ => None,
    });
    let tokens: Vec<TokenTree> = list.expect("the list of codes").into_iter().collect();
    tokens.windows(3).filter_map(code).collect()
}

/// `Name = "text"`.
fn code(tokens: &[TokenTree]) -> Option<(String, String)> {
    match tokens {
        [TokenTree::Ident(name), TokenTree::Punct(is), TokenTree::Literal(text)] if is.as_char() == '=' => {
            Some((name.to_string(), text.to_string().trim_matches('"').to_owned()))
        }
        _ => None,
    }
}

/// Codes without an entry in the manual.
pub(crate) fn without_manual(tree: &Tree, manual: &str) -> Breaches {
    codes(tree)
        .into_values()
        .filter(|code| !manual.lines().any(|line| line.strip_prefix(".B ") == Some(code)))
        .map(|code| (code, format!("not in {MANUAL}")))
        .collect()
}

/// Files of rules that name no code or several, or that no test is named like.
pub(crate) fn without_code_or_test(tree: &Tree) -> Breaches {
    let codes = codes(tree);
    let tests = tests(tree);
    let names = Names::of(tree);
    let mut breaches = Breaches::new();
    for source in tree.production().filter(|source| source.path.starts_with(RULES)) {
        let stem = source.path.trim_start_matches(RULES).trim_end_matches(".rs");
        if stem == "mod" {
            continue;
        }
        let named = named_codes(&names, &source.path, &codes);
        let [code] = named.as_slice() else {
            let told = format!("one rule a file has one code, this has {}: {}", named.len(), named.join(", "));
            breaches.insert(source.path.clone(), told);
            continue;
        };
        if !code.starts_with(stem) && !stem.starts_with(code.as_str()) {
            breaches.insert(source.path.clone(), format!("its code is {code}: name the file after it"));
        } else if !tests.iter().any(|test| test.contains(stem)) {
            breaches.insert(source.path.clone(), format!("no test in {TESTS} has {stem} in its name"));
        }
    }
    breaches
}

/// The codes that a file names as `Code::Name`, each once, test code left out.
fn named_codes(names: &Names, path: &str, codes: &BTreeMap<String, String>) -> Vec<String> {
    let named: BTreeSet<String> = names
        .arrows()
        .iter()
        .filter(|arrow| arrow.from == path)
        .filter_map(|arrow| codes.get(arrow.path.split_once("Code::")?.1).cloned())
        .collect();
    named.into_iter().collect()
}

/// The names of the test functions and the test files of the core.
fn tests(tree: &Tree) -> Vec<String> {
    let mut found = Vec::new();
    for source in tree.sources.iter().filter(|source| source.path.starts_with(TESTS)) {
        if source.is_test {
            found.extend(source.module.iter().filter_map(|module| module.last().cloned()));
        }
        let lines: Vec<&str> = source.text.lines().map(str::trim).collect();
        for pair in lines.windows(2) {
            if let [attribute, function] = pair
                && *attribute == "#[test]"
            {
                found.extend(
                    function.strip_prefix("fn ").and_then(|name| name.split_once('(')).map(|(name, _)| name.to_owned()),
                );
            }
        }
    }
    found
}
