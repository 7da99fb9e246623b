//! A journal from which something was taken: a halt must not be forgotten because a file, a part of one, or the files that
//! stand beside it are gone.

use std::fs;
use std::path::{Path, PathBuf};

use nix::sys::signal::Signal;
use serde_json::json;

use crate::signing::{ETH, limit, place};
use crate::stand::{ACCOUNT, Mode, Stand, command, run_with, until};

fn state(stand: &Stand) -> String {
    stand.status()["risk"]["state"].as_str().unwrap().to_owned()
}

/// A service that a drawdown stopped, and that was then ended by this signal.
fn stopped(signal: Signal) -> Stand {
    let mut stand = Stand::up(Mode::Paper, "");
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "4", "entry_px": "2500"})).unwrap();
    until("the position", || stand.status()["positions"].as_array().filter(|found| !found.is_empty()).map(|_| ()));
    stand.venue.control(&json!({"op": "price", "coin": "ETH", "px": "2000"})).unwrap();
    until("the halt", || (state(&stand) == "stopped").then_some(()));
    for _ in 0..3 {
        stand.send(&json!({"type": "noop"}));
    }
    stand.stop(signal);
    stand
}

/// What a start says that is refused, and that it leaves everything as it is.
fn refused(stand: &Stand, what: &str) -> String {
    let output = run_with(&stand.home(), &stand.run_args(), "");
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{what}: {said}");
    assert!(said.contains("Nothing was changed") && said.contains("bring the file back"), "{what}: {said}");
    said
}

/// Files of the journal's folder, to be put back.
struct Copy(Vec<(PathBuf, Vec<u8>)>);

impl Copy {
    fn of(folder: &Path) -> Self {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
        Self(files.map(|path| (path.clone(), fs::read(path).unwrap())).collect())
    }

    fn put_back(&self) {
        self.0.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
    }
}

/// The file without its last `lines` lines.
fn cut(file: &Path, lines: usize) {
    let text = fs::read_to_string(file).unwrap();
    let kept: Vec<&str> = text.split_inclusive('\n').collect();
    fs::write(file, kept[..kept.len() - lines].concat()).unwrap();
}

fn lines(file: &Path) -> usize {
    fs::read_to_string(file).unwrap().lines().count()
}

#[test]
fn nothing_can_be_cut_off_a_journal() {
    for signal in [Signal::SIGTERM, Signal::SIGKILL] {
        let mut stand = stopped(signal);
        let (risk, redo) = (stand.journal().join("risk.jsonl"), stand.journal().join("tail.redo"));
        let whole = Copy::of(&stand.journal());
        for file in [risk, stand.events_file()] {
            for (what, helper) in [("gone", true), ("empty", false)] {
                for count in 1..=lines(&file) {
                    cut(&file, count);
                    if helper {
                        fs::remove_file(&redo).unwrap();
                    } else {
                        fs::write(&redo, "").unwrap();
                    }
                    refused(&stand, &format!("{} without its last {count} lines, redo {what}", file.display()));
                    whole.put_back();
                }
            }
            // All but what the redo file brings back is missed with it there, too: no cut makes a start that trades.
            for count in 1..=lines(&file) {
                cut(&file, count);
                let what = format!("{} without its last {count} lines", file.display());
                if count < 6 && stand.try_launch().is_ok() {
                    assert_eq!(state(&stand), "stopped", "{what}");
                    stand.kill();
                    // What this life wrote is made again, or does not belong to what is put back.
                    fs::remove_dir_all(stand.journal().join("index")).unwrap();
                } else {
                    refused(&stand, &what);
                }
                whole.put_back();
            }
            for helpers in [true, false] {
                fs::remove_file(&file).unwrap();
                if helpers {
                    fs::remove_file(&redo).unwrap();
                }
                refused(&stand, &format!("{} removed", file.display()));
                whole.put_back();
            }
        }
        // Whole, it goes on where it was; ended in order, it needs no file beside it.
        if signal == Signal::SIGTERM {
            fs::remove_file(&redo).unwrap();
            fs::remove_dir_all(stand.journal().join("index")).unwrap();
        }
        stand.start();
        assert_eq!(state(&stand), "stopped");
    }
}

#[test]
fn an_older_copy_of_one_journal_is_not_taken_for_it() {
    let mut stand = stopped(Signal::SIGTERM);
    let older = Copy::of(&stand.journal());
    stand.start();
    stand.send(&json!({"type": "noop"}));
    assert_eq!(stand.stop(Signal::SIGTERM), Some(0));
    let newer = Copy::of(&stand.journal());
    for part in ["risk", "events"] {
        let is_part = |path: &Path| path.file_name().unwrap().to_str().unwrap().starts_with(part);
        older.0.iter().filter(|(path, _)| is_part(path)).for_each(|(path, bytes)| fs::write(path, bytes).unwrap());
        for redo in [true, false] {
            if !redo {
                fs::remove_file(stand.journal().join("tail.redo")).unwrap();
            }
            refused(&stand, &format!("an older {part}"));
        }
        newer.put_back();
    }
    stand.start();
}

/// Mainnet asks for a journal that a person started.
#[test]
fn an_empty_file_is_no_mainnet_journal() {
    let stand = Stand::set_up(Mode::Mainnet, "");
    let risk = stand.journal().join("risk.jsonl");
    for text in ["", "{}\n", "{\"kind\":\"day\"}\n"] {
        fs::write(&risk, text).unwrap();
        let mut start = stand.run_command(&stand.run_args());
        let output = start.output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("risk journal") || said.contains("risk.jsonl"), "{said}");
    }
    assert!(stand.venue_saw().is_empty());
    // A whole one is made where the folder was set aside.
    fs::remove_dir_all(stand.journal()).unwrap();
    let mut begin = command(&stand.home(), &["journal-init", "--mode", "mainnet", "--note", "begin"]);
    assert_eq!(begin.env("SVC_MAINNET_CONFIRM", ACCOUNT).output().unwrap().status.code(), Some(0));
}

/// A risk journal that is gone is not begun anew beside its events.
#[test]
fn a_lost_risk_journal_is_not_begun_anew() {
    let mut stand = stopped(Signal::SIGTERM);
    let risk = stand.journal().join("risk.jsonl");
    let good = fs::read(&risk).unwrap();
    fs::remove_file(&risk).unwrap();
    let done = run_with(&stand.home(), &["journal-init", "--mode", "paper", "--note", "anew"], "");
    let said = String::from_utf8(done.stderr).unwrap();
    assert!(done.status.code() == Some(2) && said.contains("the risk journal is gone"), "{said}");
    fs::write(&risk, good).unwrap();
    stand.start();
    let reply = stand.send(&place(&limit(ETH, true, "2000", "0.1")));
    assert_eq!(reply["guard"]["code"], "stopped", "{reply}");
    // One that takes its place knows nothing of the halt, and who begins it hears that.
    stand.kill();
    fs::remove_dir_all(stand.journal()).unwrap();
    let done = run_with(&stand.home(), &["journal-init", "--mode", "paper", "--note", "anew"], "");
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.success() && said.contains("any halt that stood in it are forgotten"), "{said}");
}
