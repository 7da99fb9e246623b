//! Words of the commands about a journal that are written otherwise than these take them.

use clap::error::{ContextKind, ContextValue};

use crate::base::clock::now_ms;
use crate::base::day::{Day, day_of};
use crate::base::mode::Mode;
use crate::base::text::nearest;

/// Stands for a day that nobody can guess.
pub(super) const DATE: &str = "DATE";

/// How a report is written.
const FORMATS: [&str; 3] = ["table", "csv", "json"];

/// The words of a command about a journal as it takes them; none where nothing in them is known for something else.
pub(super) fn rewritten(command: &str, rest: &[&str]) -> Option<Vec<String>> {
    let (mut line, mut is_other) = (vec![command.to_owned()], false);
    let rest_has_note = rest.iter().any(|word| word.starts_with("--note"));
    let mut rest = rest.iter().copied().peekable();
    while let Some(typed) = rest.next() {
        let (flag, inline) = typed.split_once('=').map_or((typed, None), |(flag, value)| (flag, Some(value)));
        let is_report = command == "report";
        let is_change = matches!(command, "journal-init" | "journal-resume");
        let before = line.len();
        let mut value = || inline.or_else(|| rest.next_if(|next| !next.starts_with("--")));
        match flag {
            "--since" | "--start" | "--after" | "--begin" if is_report => {
                put(&mut line, "--from", &date(value().unwrap_or(DATE)));
            }
            "--until" | "--till" | "--end" | "--before" if is_report => {
                put(&mut line, "--to", &date(value().unwrap_or(DATE)));
            }
            "--from" | "--to" if is_report => {
                let given = value().unwrap_or_default();
                put(&mut line, flag, &date(given));
                is_other |= date(given) != given;
                continue;
            }
            "--day" | "--date" | "--on" if is_report => one_day(&mut line, value().unwrap_or(DATE)),
            "--today" | "--yesterday" if is_report => one_day(&mut line, flag.trim_start_matches('-')),
            "--json" | "--csv" | "--table" if is_report => put(&mut line, "--format", flag.trim_start_matches('-')),
            "--market" | "--markets" | "--coin" | "--coins" | "--symbol" if is_report => {
                value();
                put(&mut line, "--by", "market");
            }
            "--client" | "--clients" | "--bot" if is_report => {
                value();
                put(&mut line, "--by", "client");
            }
            "--by" if is_report => {
                let given = value().unwrap_or_default();
                put(&mut line, flag, row(given));
                is_other |= row(given) != given;
                continue;
            }
            "--format" if is_report => {
                let given = value().unwrap_or_default();
                let meant = format(given);
                put(&mut line, flag, meant);
                is_other |= meant != given;
                continue;
            }
            "-m" | "-n" | "--reason" | "--message" | "--why" | "--comment" if is_change => {
                put(&mut line, "--note", value().unwrap_or("TEXT"));
            }
            "--network" | "--net" => put(&mut line, "--mode", value().unwrap_or("MODE")),
            mode if mode.parse::<Mode>().is_ok() => put(&mut line, "--mode", mode),
            "--fills" if is_report => {
                line.push(typed.to_owned());
                continue;
            }
            "table" | "csv" | "json" if is_report => put(&mut line, "--format", flag),
            note if is_change && !note.starts_with('-') && !rest_has_note => put(&mut line, "--note", typed),
            typed if is_report && day(typed, now_ms()).is_some() => one_day(&mut line, typed),
            _ => {
                line.push(typed.to_owned());
                // A flag's own value is no word without its flag.
                line.extend(rest.next_if(|next| typed.starts_with("--") && !next.starts_with("--")).map(str::to_owned));
                continue;
            }
        }
        is_other |= line.len() > before;
    }
    is_other.then_some(line)
}

fn put(line: &mut Vec<String>, flag: &str, value: &str) {
    line.extend([flag.to_owned(), value.to_owned()]);
}

/// The format that was meant: what a spreadsheet opens is csv.
fn format(typed: &str) -> &'static str {
    let is_sheet =
        ["xls", "ods", "excel", "tsv", "sheet"].into_iter().any(|sheet| typed.to_lowercase().starts_with(sheet));
    let named = || nearest(typed, FORMATS.into_iter()).unwrap_or("table");
    if is_sheet { "csv" } else { named() }
}

/// What a row of the report stands for, by another word for it.
fn row(typed: &str) -> &str {
    match typed {
        "coin" | "coins" | "markets" | "symbol" | "symbols" | "asset" | "assets" => "market",
        "days" | "daily" | "date" => "day",
        "clients" | "bot" | "bots" => "client",
        typed => typed,
    }
}

/// The day that was meant by a word, or by one that is written with other marks between its parts.
pub(super) fn day(typed: &str, now_ms: u64) -> Option<Day> {
    match typed.to_lowercase().as_str() {
        "today" | "now" => Some(day_of(now_ms)),
        "yesterday" => Some(day_of(now_ms).preceding()),
        other => other.replace(['/', '.', '_'], "-").parse().ok(),
    }
}

/// The same as it is written.
fn date(typed: &str) -> String {
    day(typed, now_ms()).map_or_else(|| typed.to_owned(), |day| day.to_string())
}

fn one_day(line: &mut Vec<String>, typed: &str) {
    // What is no day stands in no command.
    let date = day(typed, now_ms()).map_or_else(|| DATE.to_owned(), |day| day.to_string());
    put(line, "--from", &date);
    put(line, "--to", &date);
}

/// Whether a format is like none of those that there are.
pub(super) fn is_no_format(error: &clap::Error, typed: &str) -> bool {
    let is_format =
        matches!(error.get(ContextKind::InvalidArg), Some(ContextValue::String(flag)) if flag.starts_with("--format"));
    is_format && nearest(typed, FORMATS.into_iter()).is_none() && format(typed) != "csv"
}
