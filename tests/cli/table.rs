//! Holds `table.txt`, which maps what was promised of the command line to the tests that show it.

use std::fs;
use std::path::Path;

use crate::place::*;

const TABLE: &str = include_str!("table.txt");

/// Each promise with its tests.
fn promises() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut found: Vec<(&str, Vec<&str>)> = Vec::new();
    for line in TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#') && !line.starts_with("== ")) {
        match line.strip_prefix("    ") {
            Some(test) => found.last_mut().unwrap().1.push(test),
            None => found.push((line, Vec::new())),
        }
    }
    found
}

/// Whether a test of this name stands in this file, and is run.
fn exists(test: &str) -> Result<(), String> {
    let (file, name) = test.split_once("::").ok_or("is not file::test")?;
    let path = match file.strip_prefix("lib/") {
        Some(file) => Path::new("src").join(file),
        None => Path::new("tests").join(file),
    };
    let source =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(&path)).map_err(|error| error.to_string())?;
    if file.ends_with(".py") {
        return in_python(&source, name);
    }
    let (before, _) = source.split_once(&format!("fn {name}()")).ok_or("stands in no such test")?;
    let attributes: Vec<&str> =
        before.trim_end().lines().rev().take_while(|line| line.trim().starts_with("#[")).collect();
    if attributes.iter().any(|line| line.trim() == "#[test]") && !attributes.iter().any(|line| line.contains("ignore"))
    {
        Ok(())
    } else {
        Err("is no test that is run".to_owned())
    }
}

/// The same for a test of the agents' side, which is in Python.
fn in_python(source: &str, name: &str) -> Result<(), String> {
    let (before, _) = source.split_once(&format!("\ndef {name}(")).ok_or("stands in no such test")?;
    let decorated: Vec<&str> = before.lines().rev().take_while(|line| !line.is_empty()).collect();
    if name.starts_with("test_") && !decorated.iter().any(|line| line.contains("skip") || line.contains("xfail")) {
        Ok(())
    } else {
        Err("is no test that is run".to_owned())
    }
}

#[test]
fn every_promise_has_tests_that_exist() {
    let promises = promises();
    assert!(promises.len() > 90, "{}", promises.len());
    let mut wrong = Vec::new();
    for (promise, tests) in &promises {
        if tests.is_empty() {
            wrong.push(format!("no test shows: {promise}"));
        }
        wrong.extend(tests.iter().filter_map(|test| exists(test).err().map(|why| format!("{test}: {why}"))));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_flag_has_a_promise() {
    let promises = promises();
    let commands = [
        "init",
        "config get",
        "config set",
        "key check",
        "key replace",
        "pair",
        "client add",
        "run",
        "health",
        "journal-init",
    ];
    let more = ["journal-resume", "journal-show", "report", "kill", "check-config", "mcp", "notify", "notify test"];
    for command in commands.iter().chain(&more) {
        assert!(promises.iter().any(|(promise, _)| promise.starts_with(command)), "{command}");
        let args: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = succeeded(&bare(&args).output().unwrap());
        let flags = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        for flag in flags.map(|flag| flag.trim_end_matches(|letter: char| !letter.is_alphanumeric())) {
            let everywhere = ["--home", "--config", "--help", "--version"].contains(&flag);
            let promise = if everywhere { flag.to_owned() } else { format!("{command} {flag}") };
            let found =
                promises.iter().any(|(line, _)| line.starts_with(&promise) || (everywhere && line.contains(flag)));
            assert!(found, "{promise} has no line in the table");
        }
    }
}
