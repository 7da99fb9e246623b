//! Each check goes red: trees of a few lines that break a rule, and their neighbours that do not.

use crate::names::Names;
use crate::tree::{Breaches, Tree, hold};
use crate::{circles, codes, rooms, sizes, weaknesses, words};

fn files(files: &[(&str, &str)]) -> Vec<(String, String)> {
    files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
}

fn tree(list: &[(&str, &str)]) -> Tree {
    Tree::of(files(list))
}

fn keys(breaches: &Breaches) -> Vec<&str> {
    breaches.keys().map(String::as_str).collect()
}

/// The arrows that `text` in the room `venue` breaks the table with.
fn arrows_of(text: &str) -> Vec<String> {
    let tree = tree(&[
        ("src/lib.rs", "pub mod base; pub mod rules; pub mod venue;"),
        ("src/base/mod.rs", "pub struct Day; pub struct Amount;"),
        ("src/rules/mod.rs", "mod table; pub use table::Rules; pub use crate::base::Day;"),
        ("src/rules/table.rs", "pub struct Rules;"),
        ("src/venue/mod.rs", "mod order;"),
        ("src/venue/order.rs", text),
    ]);
    rooms::arrows(&Names::of(&tree)).into_keys().collect()
}

#[test]
fn an_arrow_is_seen_however_it_is_written() {
    for text in [
        "use crate::rules::Rules;",
        "use crate::{base::Day, rules::{self, Rules as Limits}};",
        "use crate::rules; fn f(_: &rules::Rules) {}",
        "use super::super::rules::Rules;",
        "fn f() -> Option<crate::rules::Rules> { None }",
        "fn f() { println!(\"{:?}\", crate::rules::Rules); }",
        "fn f() { let _ = || crate::rules::table::Rules; }",
        // The path names the room, though what it leads to is at home elsewhere.
        "use crate::rules::Day;",
        "pub(crate) use crate::rules::Rules; fn f(_: Rules) {}",
        "mod inner { use super::super::super::rules::Rules; }",
        "struct S { #[cfg(feature = \"faults\")] rules: crate::rules::Rules }",
    ] {
        assert_eq!(arrows_of(text), ["venue -> rules"], "{text}");
    }
    for text in [
        "use crate::base::Day;",
        "/// See [`crate::rules::Rules`].\npub(in crate::venue) struct S;",
        "#[cfg(test)] use crate::rules::Rules;",
        "#[cfg(test)] mod tests { use crate::rules::Rules; }",
        "#[cfg(all(test, unix))] fn f(_: crate::rules::Rules) {}",
        "struct S; impl S { #[cfg(test)] fn f(_: crate::rules::Rules) {} }",
    ] {
        assert_eq!(arrows_of(text), [""; 0], "{text}");
    }
}

#[test]
fn a_room_needs_a_row_in_the_table() {
    let tree = tree(&[("src/cellar/mod.rs", "use crate::base::Day;"), ("src/base/mod.rs", "pub struct Day;")]);
    assert_eq!(keys(&rooms::arrows(&Names::of(&tree))), ["cellar"]);
}

#[test]
fn the_core_does_without_clocks_disks_and_threads() {
    let guard = |text: &str| rooms::outside(&Names::of(&tree(&[("src/guard/step.rs", text)])));
    for text in [
        "use std::{fs::File, cmp::Ordering};",
        "use std::time; fn f() -> time::Instant { time::Instant::now() }",
        "fn f() { std::thread::yield_now(); }",
        "use crossbeam_channel::Sender;",
        "use std::net::{IpAddr, TcpStream};",
    ] {
        assert_eq!(guard(text).len(), 1, "{text}");
    }
    assert_eq!(keys(&guard("use std::time::Duration; use std::{fmt, collections::BTreeMap};")), [""; 0]);
    let elsewhere = tree(&[
        ("src/mcp/desk.rs", "use std::time::SystemTime; fn f() { SystemTime::now(); }"),
        ("src/base/clock.rs", "use std::time::SystemTime;"),
        ("src/service/tests.rs", "use std::time::SystemTime;"),
    ]);
    assert_eq!(keys(&rooms::outside(&Names::of(&elsewhere))), ["src/mcp/desk.rs SystemTime"]);
}

#[test]
fn a_circle_is_seen_through_reexports_and_parents() {
    let found = |list: &[(&str, &str)]| circles::circles(&Names::of(&tree(list))).into_keys().collect::<Vec<_>>();
    let two = [("src/lib.rs", "mod a; mod b;"), ("src/a.rs", "use crate::b::B; pub struct A(B);")];
    assert_eq!(
        found(&[two[0], two[1], ("src/b.rs", "pub struct B; fn f(_: crate::a::A) {}")]),
        ["src/a.rs", "src/b.rs"]
    );
    assert_eq!(found(&[two[0], two[1], ("src/b.rs", "pub struct B; #[cfg(test)] use crate::a::A;")]), [""; 0]);

    // What a parent only passes on is no arrow to the parent; what it defines and what it uses is.
    let house = |parent: &'static str| {
        found(&[
            ("src/lib.rs", "mod room;"),
            ("src/room/mod.rs", parent),
            ("src/room/a.rs", "use super::B; pub struct A;"),
            ("src/room/b.rs", "pub struct B; pub struct C;"),
        ])
    };
    assert_eq!(house("mod a; mod b; pub use a::A; pub use b::{B, C};"), [""; 0]);
    assert_eq!(house("mod a; mod b; pub use a::A; pub struct B;"), [""; 0]);
    assert_eq!(house("mod a; mod b; pub use a::A; pub struct B; fn f(_: A) {}"), ["src/room/a.rs", "src/room/mod.rs"]);
    assert_eq!(house("mod a; mod b; pub struct B(a::A);"), ["src/room/a.rs", "src/room/mod.rs"]);
}

#[test]
fn long_functions_and_many_parameters_are_counted() {
    let function = |lines: usize| format!("fn f() {{\n{}}}", "    g();\n".repeat(lines - 2));
    let found = |text: &str| sizes::long_functions(&tree(&[("src/a.rs", text)])).len();
    assert_eq!((found(&function(70)), found(&function(71))), (0, 1));
    assert_eq!(found(&format!("struct S; impl S {{ {} }}", function(71))), 1);
    assert_eq!(found(&format!("trait T {{ {} }}", function(71))), 1);
    assert_eq!(found(&format!("fn outer() {{ {} }}", function(71))), 2);
    let test = |lines: usize| format!("#[cfg(test)] mod tests {{ {} }}", function(lines));
    assert_eq!((found(&test(120)), found(&test(121))), (0, 1));

    let many = |text: &str| sizes::many_parameters(&tree(&[("src/a.rs", text)]));
    let six = "a: u8, b: u8, c: u8, d: u8, e: u8, f: u8";
    assert!(many(&format!("struct S; impl S {{ fn f(&self, {six}) {{}} }}")).is_empty());
    assert_eq!(keys(&many(&format!("struct S; impl S {{ fn f({six}, g: u8) {{}} }}"))), ["src/a.rs S::f"]);
}

#[test]
fn long_files_and_bare_ones_are_found() {
    let long = "//! Doc.\n".repeat(401);
    assert_eq!(keys(&sizes::long_files(&files(&[("src/a.rs", &long), ("man/a.1", &long)]))), ["src/a.rs"]);
    assert!(sizes::long_files(&files(&[("src/a.rs", &"//! Doc.\n".repeat(400))])).is_empty());
    let bare = files(&[("src/a.rs", "use b;"), ("tests/a.py", "import b"), ("tests/b.py", "\"\"\"B.\"\"\"")]);
    assert_eq!(keys(&words::without_module_doc(&bare)), ["src/a.rs", "tests/a.py"]);
}

#[test]
fn banned_texts_are_found() {
    let found = words::banned(&files(&[
        ("src/a.rs", "//! What is told of it.\n"),
        ("src/b.rs", "//! The reply. What it says.\n    /// Whose it is.\n"),
        ("src/c.rs", "//! A reply.\n//! What it says.\n"),
        ("README.md", "see /Users/me/notes\n"),
        ("tests/fuzz/corpus/json/a", "/Users/"),
    ]));
    assert_eq!(keys(&found), ["README.md /Users/", "src/a.rs //! What ", "src/b.rs /// Whose"]);
}

#[test]
fn a_code_needs_its_manual_entry_and_a_rule_its_code_and_test() {
    let list = ("src/guard/code.rs", "codes! { /// A.\n LossLimit = \"loss_limit\", /// B.\n Tick = \"tick\", }");
    let missing = codes::without_manual(&tree(&[list]), ".TP\n.B loss_limit\nA.\n");
    assert_eq!(keys(&missing), ["tick"]);

    let rule = |path: &str, text: &str, tests: &str| {
        codes::without_code_or_test(&tree(&[list, (path, text), ("src/guard/tests/limits.rs", tests)])).len()
    };
    let limit = "src/guard/judge/limits/loss.rs";
    let test = "#[test]\nfn loss_is_cut() {}";
    assert_eq!(rule(limit, "fn f() -> Code { Code::LossLimit }", test), 0);
    assert_eq!(rule(limit, "fn f() -> Code { Code::LossLimit }", "#[test]\nfn nothing() {}"), 1);
    assert_eq!(rule(limit, "fn f() {}", test), 1);
    assert_eq!(rule(limit, "fn f() -> [Code; 2] { [Code::LossLimit, Code::Tick] }", test), 1);
    assert_eq!(rule("src/guard/judge/limits/lot.rs", "fn f() -> Code { Code::Tick }", "#[test]\nfn lot() {}"), 1);
}

#[test]
#[should_panic(expected = "src/a.rs: too long")]
fn a_breach_that_is_not_in_the_list_fails() {
    hold("lines", &Breaches::from([("src/a.rs".to_owned(), "too long".to_owned())]), &[]);
}

#[test]
#[should_panic(expected = "remove it from the list")]
fn an_entry_that_is_no_breach_any_more_fails() {
    hold("lines", &Breaches::new(), &["src/a.rs"]);
}

#[test]
fn weaknesses_whose_text_is_gone() {
    let table =
        |old: &str, new: &str| format!("[[weakness]]\nname = 'one'\nfile = 'src/a.rs'\nold = '{old}'\nnew = '{new}'\n");
    let sources = files(&[("src/a.rs", "if a { b } else { b }")]);
    for (old, new, is_well) in
        [("if a", "if PLANTED", true), ("if c", "if PLANTED", false), ("b", "PLANTED", false), ("if a", "if c", false)]
    {
        assert_eq!(weaknesses::without_place(&table(old, new), &sources).is_empty(), is_well, "{old} {new}");
    }
    let sources = files(&[("src/a.rs", "if a { b }"), ("src/guard/tests/c.rs", "fn it_holds() {}")]);
    for (test, is_well) in [("guard::tests::c::it_holds", true), ("guard::tests::c::it_is_gone", false)] {
        let table = format!("{}test = '{test}'\n", table("if a", "if PLANTED"));
        assert_eq!(weaknesses::without_place(&table, &sources).is_empty(), is_well, "{test}");
    }
}
