//! Which room may use which, and what from outside the crate each must do without.

use std::collections::BTreeSet;

use crate::names::{Arrow, Names, Target};
use crate::tree::Breaches;

/// Each room, and the rooms that it may use besides itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &["faults"]),
    (
        "cli",
        &[
            "base", "faults", "guard", "home", "journal", "mcp", "monitor", "notify", "record", "report", "rules",
            "service", "venue",
        ],
    ),
    ("equity", &["base"]),
    ("faults", &[]),
    ("feed", &["base", "venue"]),
    ("guard", &["base", "venue", "rules", "record"]),
    ("home", &["base", "rules", "faults"]),
    ("journal", &["base", "faults", "record"]),
    ("mcp", &["base", "venue", "record"]),
    ("monitor", &[]),
    ("notify", &["base", "faults", "record"]),
    ("record", &["base", "venue", "rules"]),
    ("relay", &["base", "feed", "venue"]),
    ("report", &["base", "record", "venue"]),
    ("rules", &["base"]),
    (
        "service",
        &[
            "base", "equity", "faults", "feed", "guard", "home", "journal", "monitor", "record", "relay", "report",
            "rules", "venue",
        ],
    ),
    ("venue", &["base", "faults"]),
];

/// Paths from outside that the core, the feed, the relay and the report must do without: they have no I/O, no clock and no thread.
const PURE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::thread",
    "std::time::SystemTime",
    "std::time::Instant",
    "crossbeam",
    "crossbeam_channel",
];
const OUTSIDE: &[(&str, &[&str])] = &[("guard", PURE), ("feed", PURE), ("relay", PURE), ("report", PURE)];

/// The one file that reads the machine's clock, and one that compares the times of a file.
const CLOCKS: &[&str] = &["src/base/clock.rs", "src/faults/script.rs"];

/// The folder below `src` that a file lies in; files beside the folders only put the rooms together.
fn room(path: &str) -> Option<&str> {
    path.strip_prefix("src/")?.split_once('/').map(|(room, _)| room)
}

/// The rooms that an arrow leads to: the one that its path names, and the one where what it names is defined.
fn rooms_of<'a>(names: &'a Names, arrow: &'a Arrow) -> BTreeSet<&'a str> {
    let named = arrow.path.strip_prefix("crate::").and_then(|rest| rest.split("::").next());
    let defined = match &arrow.target {
        Target::Module(module) | Target::Item(module) => room(names.file(module)),
        Target::Outside(_) => None,
    };
    named.filter(|_| !matches!(arrow.target, Target::Outside(_))).into_iter().chain(defined).collect()
}

/// Arrows that the table does not have.
pub(crate) fn arrows(names: &Names) -> Breaches {
    let mut breaches = Breaches::new();
    for arrow in names.arrows() {
        let Some(from) = room(&arrow.from) else { continue };
        let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == from) else {
            breaches.insert(from.to_owned(), "the table of rooms does not have it".to_owned());
            continue;
        };
        for to in rooms_of(names, &arrow) {
            if to != from && !allowed.contains(&to) {
                let told: &mut String = breaches.entry(format!("{from} -> {to}")).or_default();
                if !told.contains(&format!("{}:", arrow.from)) {
                    told.push_str(&format!("\n        {}:{} {}", arrow.from, arrow.line, arrow.path));
                }
            }
        }
    }
    breaches
}

/// What a room uses from outside the crate that it must not.
pub(crate) fn outside(names: &Names) -> Breaches {
    let mut breaches = Breaches::new();
    for arrow in names.arrows() {
        let Target::Outside(path) = &arrow.target else { continue };
        let is_clock = path.split("::").any(|part| part == "SystemTime");
        if is_clock && !CLOCKS.contains(&arrow.from.as_str()) {
            breaches.insert(
                format!("{} SystemTime", arrow.from),
                format!("line {}: only {} reads it", arrow.line, CLOCKS[0]),
            );
        }
        let denied =
            OUTSIDE.iter().find(|(name, _)| Some(*name) == room(&arrow.from)).map_or(&[][..], |(_, paths)| *paths);
        if let Some(denied) = denied.iter().find(|denied| path == *denied || path.starts_with(&format!("{denied}::"))) {
            breaches.insert(format!("{} {denied}", arrow.from), format!("line {}: {path}", arrow.line));
        }
    }
    breaches
}
