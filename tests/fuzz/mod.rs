//! Fuzzing of whatever reads bytes of strangers: each target's corpus, and inputs grown from it by seeded mutation.
//!
//! The targets stand beside this file, one a parser, and are modules of the parser that they drive, so that nothing is
//! public for their sake. Each says what must hold for every input, and gives its outcome in a word or two: an input
//! with an outcome that was not seen before is grown from as well, which leads past the first check of a parser.
//!
//! `FUZZ_INPUTS=1000000 FUZZ_SEED=7 cargo test --lib fuzz::` searches longer. A failure is told in hex and left in a file
//! that can be kept in the corpus.

mod grow_json;
mod mutate;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::{Path, PathBuf};
use std::sync::Once;

use mutate::Mutator;

/// How many inputs each target is given in a run of the tests.
const INPUTS: u64 = 20_000;
const SEED: u64 = 20_260_811;
/// Inputs that are grown from, the corpus included.
const MAX_POOL: usize = 2_000;
/// An input is made smaller in so many attempts.
const MAX_ATTEMPTS: usize = 500;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What is asked of a parser: panics where something does not hold, and otherwise names the outcome.
pub(crate) type Check = fn(&[u8]) -> String;

/// Runs the target `name` over its corpus and over inputs grown from it; `words` are texts that its parser knows.
pub(crate) fn run(name: &str, words: &[&str], check: Check) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut pool = corpus(&root.join("tests/fuzz/corpus").join(name));
    let mut outcomes = BTreeSet::new();
    for input in &pool {
        outcomes.insert(outcome(name, input, check));
    }
    let mut mutator = Mutator::new(number("FUZZ_SEED", SEED), words);
    for _ in 0..number("FUZZ_INPUTS", INPUTS) {
        let tree = if mutator.below(2) == 0 { grow_json::grow(&mut mutator, &pool) } else { None };
        let input = tree.unwrap_or_else(|| mutator.grow(&pool));
        if outcomes.insert(outcome(name, &input, check)) && pool.len() < MAX_POOL {
            pool.push(input);
        }
    }
    println!("{name}: {} outcomes, {} inputs to grow from", outcomes.len(), pool.len());
}

/// The inputs that are kept, in the order of their names.
fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{}: nothing to grow from", folder.display());
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name}: not a number")))
}

/// What became of an input, in letters alone; an input that breaks the check is made smaller, told and kept.
fn outcome(name: &str, input: &[u8], check: Check) -> String {
    match catch_unwind(AssertUnwindSafe(|| check(input))) {
        Ok(outcome) => {
            outcome.chars().filter(|letter| letter.is_ascii_alphabetic() || *letter == ' ').take(48).collect()
        }
        Err(_) => {
            let input = quietly(|| smaller(input, |input| catch_unwind(AssertUnwindSafe(|| check(input))).is_err()));
            panic!("{name}: {}\nleft in {}", hex(&input), keep(name, &input).display());
        }
    }
}

/// Runs what panics many times over; this thread tells none of it.
fn quietly<T>(run: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let others = take_hook();
        set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                others(info);
            }
        }));
    });
    let before = IS_QUIET.replace(true);
    let done = run();
    IS_QUIET.set(before);
    done
}

/// The input without what is not needed for it to break the check.
fn smaller(input: &[u8], breaks: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut kept = input.to_vec();
    let mut attempts = 0;
    let mut length = kept.len() / 2;
    while length > 0 && attempts < MAX_ATTEMPTS {
        let mut start = 0;
        while start < kept.len() && attempts < MAX_ATTEMPTS {
            attempts += 1;
            let end = (start + length).min(kept.len());
            let shorter = [&kept[..start], &kept[end..]].concat();
            if breaks(&shorter) {
                kept = shorter;
            } else {
                start = end;
            }
        }
        length /= 2;
    }
    kept
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

/// Writes the input where it is found, and no commit takes it along.
fn keep(name: &str, input: &[u8]) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target"), PathBuf::from);
    let path = target.join("fuzz-failures").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, input).unwrap();
    path
}

#[test]
fn a_panic_is_told_in_hex_with_no_byte_too_many() {
    let picky: Check = |input| {
        assert!(!input.windows(2).any(|pair| pair == b"!?"), "a defect");
        String::new()
    };
    let told = quietly(|| catch_unwind(|| outcome("self-test", b"much before !? and after", picky)).unwrap_err());
    let told = told.downcast_ref::<String>().unwrap();
    assert!(told.starts_with("self-test: 213f\nleft in "), "{told}");
    let path = told.rsplit_once("left in ").unwrap().1;
    assert_eq!(fs::read(path).unwrap(), b"!?");
    fs::remove_file(path).unwrap();
}
