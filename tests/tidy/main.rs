//! The order of the house, held by tests: which room may use which, no circle between files, nothing too long to read,
//! no word that says nothing.
//!
//! Breaches that are known stand in `known.rs`, whose lists only shrink.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where it goes wrong"
)]

mod bounds;
mod circles;
mod codes;
mod invariants;
// One entry a line, however short the list is.
#[rustfmt::skip]
mod known;
mod names;
mod red;
mod rooms;
mod sizes;
mod tree;
mod weaknesses;
mod words;

use names::Names;
use tree::{Tree, hold, texts};

/// Where people write: sources, tests, manual, packaging and the documents beside them.
fn written() -> Vec<(String, String)> {
    texts(&[
        "src",
        "tests",
        "man",
        "packaging",
        ".cargo",
        ".ci",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "README.md",
        "Cargo.toml",
        "deny.toml",
    ])
}

#[test]
fn rooms_use_what_the_table_lets_them() {
    let names = Names::of(&Tree::read());
    hold("arrows between rooms (tests/tidy/rooms.rs)", &rooms::arrows(&names), known::ARROWS);
}

#[test]
fn rooms_do_without_what_the_table_denies_them() {
    let names = Names::of(&Tree::read());
    hold("what is used from outside (tests/tidy/rooms.rs)", &rooms::outside(&names), known::OUTSIDE);
}

#[test]
fn no_files_use_each_other_in_a_circle() {
    let names = Names::of(&Tree::read());
    hold("circles between files", &circles::circles(&names), known::CIRCLES);
}

#[test]
fn functions_fit_a_screen() {
    hold("lines of a function", &sizes::long_functions(&Tree::read()), known::LONG_FUNCTIONS);
}

#[test]
fn functions_have_few_parameters() {
    hold("parameters of a function", &sizes::many_parameters(&Tree::read()), known::MANY_PARAMETERS);
}

#[test]
fn files_hold_one_idea() {
    hold("lines of a file", &sizes::long_files(&texts(&["src", "tests"])), known::LONG_FILES);
}

#[test]
fn files_open_with_what_they_are_for() {
    let breaches = words::without_module_doc(&texts(&["src", "tests"]));
    hold("documentation of a file", &breaches, known::WITHOUT_MODULE_DOC);
}

#[test]
fn words_are_plain() {
    hold("banned texts (tests/tidy/words.rs)", &words::banned(&written()), known::BANNED);
}

#[test]
fn codes_stand_in_the_manual() {
    let manual = texts(&["man/svc-guard-codes.7"]).remove(0).1;
    hold("codes", &codes::without_manual(&Tree::read(), &manual), &[]);
}

#[test]
fn bounds_are_those_of_the_manual() {
    let manual = texts(&["man/svc-guard-codes.7"]).remove(0).1;
    hold("bounds (tests/tidy/bounds.rs)", &bounds::unlike_the_source(&manual, &texts(&["src"])), &[]);
}

#[test]
fn rules_have_a_code_and_a_test() {
    hold("files of rules", &codes::without_code_or_test(&Tree::read()), known::RULE_FILES);
}

#[test]
fn invariants_are_held_by_tests_that_are_there() {
    let architecture = texts(&["ARCHITECTURE.md"]).remove(0).1;
    hold("invariants (ARCHITECTURE.md)", &invariants::without_test(&architecture, &texts(&["src", "tests"])), &[]);
}

#[test]
fn weaknesses_can_be_planted() {
    let table = texts(&["tests/weaknesses/table.toml"]).remove(0).1;
    hold("weaknesses (tests/weaknesses/table.toml)", &weaknesses::without_place(&table, &texts(&["src"])), &[]);
}
