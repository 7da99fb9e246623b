//! A command line that cannot be read: the command that was meant, on the home that was meant, or where that is not certain the
//! question which one it is.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Command;
use clap::error::ErrorKind;

use super::home_meant::{self, Meant};
use super::kill_told::kill_file_at;
use super::kill_typed::Typed;
use super::refusal::{Refusal, unsure};
use super::renamed_commands::{self, Named};
use super::{
    configured, environment, here, misplaced, nearly, notify, of_others, reached, running_here, slips, start, usage,
};
use crate::base::mode::Mode;
use crate::base::shell::place;
use crate::base::text::{short, without_keys};
use crate::home::{Home, local_url};

/// The refusal of two homes or configs in one command.
pub(super) fn two_places(is_kill: bool, flag: &str, [one, other]: &[PathBuf; 2]) -> Refusal {
    let (one, other) = (one.display(), other.display());
    let told = format!("{flag} is given twice, as {one} and as {other}, and one of them is meant: leave the other out");
    // Who pulls the switch must not think that it was pulled.
    if is_kill { Refusal::KillOfWhich(told, format!("{flag} may be either")) } else { Refusal::Given(told) }
}

/// The refusal of an option that begins with one dash only.
pub(super) fn one_dash(program: &Command, typed: &[OsString]) -> Option<Refusal> {
    usage::one_dash(program, typed.iter().cloned())
}

/// The refusal of a command line that cannot be read.
pub(super) fn refusal(program: &Command, error: clap::Error, typed: &[OsString]) -> Refusal {
    if error.kind() == ErrorKind::InvalidUtf8 {
        here::typed(typed);
        return of_kill(program, usage::not_text(typed.iter().cloned()), &error, typed);
    }
    let Meant { words: line, misspelt, doubt } = home_meant::read(program, typed);
    here::typed(&line);
    let words = slips::words(line.iter().cloned());
    if let Some(doubt) = doubt {
        let told = slips::key(&error, &words)
            .or_else(|| one_dash(program, typed))
            .unwrap_or_else(|| usage::refusal(&error, None));
        let told = told.to_string();
        if is_kill(program, &error, &line) {
            return Refusal::KillOfWhich(told, doubt);
        }
        return Refusal::Given(format!("{told}; {}", unsure(&doubt)));
    }
    // What else is wrong with it shows where home and config are named.
    let (refusal, error) = match misspelt.map(|flag| (flag, program.clone().try_get_matches_from(&line))) {
        None => (one_dash(program, typed).unwrap_or_else(|| meant(program, &error, &line, &words)), error),
        Some((flag, Ok(_))) => (one_dash(program, typed).unwrap_or_else(|| misspelt_alone(&flag, &line)), error),
        Some((_, Err(other))) => {
            (one_dash(program, typed).unwrap_or_else(|| meant(program, &other, &line, &words)), other)
        }
    };
    of_kill(program, refusal, &error, &line)
}

/// The refusal of a line in which nothing but the flag for home or config is wrong.
fn misspelt_alone(flag: &str, line: &[OsString]) -> Refusal {
    if here::is_kill(line.iter().cloned()) {
        return Refusal::Given(format!("{flag:?} is not taken there"));
    }
    let command = here::command(line.iter().cloned());
    Refusal::Given(format!("{flag:?} is not taken there; `svc-guard {command}` is meant"))
}

fn is_kill(program: &Command, error: &clap::Error, line: &[OsString]) -> bool {
    let words = slips::words(line.iter().cloned());
    slips::instead_of_kill(&words).is_none()
        && (here::is_kill(line.iter().cloned()) || slips::is_kill(program, error, &words))
}

/// A refusal of a line that was to pull the switch says first that it is not pulled.
fn of_kill(program: &Command, refusal: Refusal, error: &clap::Error, line: &[OsString]) -> Refusal {
    if !is_kill(program, error, line) {
        return refusal;
    }
    let words = slips::words(line.iter().cloned());
    let kill = slips::kill(&words);
    match slips::address_of_kill(&words) {
        Some(url) => Refusal::KillOfWhich(refusal.to_string(), of_address(&url, &kill)),
        None => Refusal::KillNotRead(refusal.to_string(), kill),
    }
}

/// Why it is not certain which home a kill is for that names an address, with the command for the guard that answers there.
fn of_address(url: &str, kill: &Typed) -> String {
    let home = kill_file_at(url).and_then(|file| file.parent().map(Path::to_owned));
    match home {
        Some(home) => {
            let (dir, command) = (place(&home), kill.command(&home));
            format!("what answers at {url} is the guard of {dir}, and `{command}` is for that one")
        }
        None => format!("a kill goes by the home of its guard, and none said within 1 s at {url} which one that is"),
    }
}

/// The refusal with the command that was meant, where there is one, as the home's mode needs it.
fn meant(program: &Command, error: &clap::Error, line: &[OsString], words: &[String]) -> Refusal {
    let home = || {
        let (dir, config) = here::named(line.iter().cloned());
        Home::resolve(environment::home(dir), config, false).ok()
    };
    let refusal = as_meant(program, error, words, || home().as_ref().map(named));
    let known = home().and_then(|home| Some((configured::configured(&home).ok()?, home)));
    match known {
        Some((config, home)) if config.mode == Mode::Mainnet => {
            Refusal::Given(start::confirmed(&refusal.to_string(), &home, &config))
        }
        _ => refusal,
    }
}

fn as_meant(program: &Command, error: &clap::Error, words: &[String], home: impl Fn() -> Option<Named>) -> Refusal {
    let mode = || home().and_then(|home| home.mode);
    let other = || {
        let corrected = || nearly::corrected(program, error, words, mode());
        usage::refusal(error, slips::whole(program, error, words, mode()).or_else(corrected))
    };
    if usage::is_answer(error) {
        return other();
    }
    let undone = slips::instead_of_kill(words).and_then(|name| renamed_commands::command(None, name, &home));
    if let Some(Refusal::NoSuchName(_, instead)) = undone {
        return Refusal::NoSuchName(without_keys(&short(&words.join(" "))), instead);
    }
    let slip = slips::rule(words).or_else(|| slips::key(error, words));
    let slip = slip.or_else(|| nearly::flag(program, error, words, mode));
    let slip = slip.or_else(|| of_others::flag(error, words, &home));
    let slip = slip.or_else(|| misplaced::word(error, words, &home));
    let slip = slip.or_else(|| renamed_commands::replacement(error, words, &home));
    slip.or_else(|| nearly::command(program, error, words, &home)).unwrap_or_else(other)
}

/// The home that was named, for whoever looks for a command that there is not.
fn named(home: &Home) -> Named {
    let config = configured::configured(home).ok();
    let listen = running_here::running(home).or(config.as_ref().map(|config| config.listen)).unwrap_or(reached::USUAL);
    Named {
        mode: config.map(|config| config.mode),
        config: home.config_file(),
        kill_file: home.kill_file().path().to_owned(),
        url: local_url(listen),
        targets: notify::targets(home),
    }
}
