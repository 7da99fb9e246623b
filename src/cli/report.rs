//! `report`: sums up the journal, whether a service runs or not.

use std::io::{BufWriter, Write};

use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::configured::configured;
use super::output::{check_open, say, unwritten};
use super::refusal::Refusal;
use super::running_here::is_running;
use super::{journal, print_beside, read_ahead, values};
use crate::base::clock::now_ms;
use crate::base::day::{Day, NotADay};
use crate::base::mode::Mode;
use crate::home::{Config, Home};
use crate::journal::{OpenError, Reached, reached, read_days};
use crate::report::{BadQuestion, By, FillLine, Finished, Question, Report};

/// Bytes written together: a list of a year has hundreds of megabytes.
const WRITTEN_TOGETHER: usize = 64 * 1024;

const TABLE: &str = "table";
const CSV: &str = "csv";
const JSON: &str = "json";

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The journal's mode
    #[arg(long, value_parser = values::mode())]
    mode: Mode,
    /// The first day, YYYY-MM-DD in UTC [default: the journal's first]
    #[arg(long, value_name = "DATE", value_parser = day)]
    from: Option<Day>,
    /// The last day, YYYY-MM-DD in UTC [default: the journal's last]
    #[arg(long, value_name = "DATE", value_parser = day)]
    to: Option<Day>,
    /// What a row stands for [default: day]
    #[arg(long, value_name = "ROW", value_parser = PossibleValuesParser::new(By::NAMES))]
    by: Option<String>,
    /// How it is written [default: table]
    #[arg(long, value_parser = format())]
    format: Option<Format>,
    /// List each fill
    #[arg(long)]
    fills: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    #[default]
    Table,
    Csv,
    Json,
}

fn format() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new([TABLE, CSV, JSON]).map(|name| match name.as_str() {
        CSV => Format::Csv,
        JSON => Format::Json,
        _ => Format::Table,
    })
}

fn day(text: &str) -> Result<Day, String> {
    text.parse().map_err(|NotADay| "is no day; write it as 2026-01-31".to_owned())
}

/// The command with its days in their order.
fn turned(args: &Args, BadQuestion { from, to }: &BadQuestion) -> String {
    let by = args.by.as_ref().map_or_else(String::new, |by| format!(" --by {by}"));
    let format = match args.format {
        None => "",
        Some(Format::Table) => " --format table",
        Some(Format::Csv) => " --format csv",
        Some(Format::Json) => " --format json",
    };
    let fills = if args.fills { " --fills" } else { "" };
    format!("report --mode {} --from {to} --to {from}{by}{format}{fills}", args.mode)
}

/// Prints the report.
pub(super) fn run(args: &Args, home: &Home) -> Result<(), Refusal> {
    let config = configured(home)?;
    check_open()?;
    let Config { account, mode: own_mode, .. } = config;
    let by = args.by.as_deref().and_then(By::named).unwrap_or_default();
    let (mode, account_name) = (args.mode.name().to_owned(), account.to_string());
    let question = Question { mode, account: account_name, from: args.from, to: args.to, by };
    question.check().map_err(|error| Refusal::Given(format!("{error}: `svc-guard {}`", turned(args, &error))))?;
    let dir = home.journal_dir(args.mode, account);
    let out = BufWriter::with_capacity(WRITTEN_TOGETHER, std::io::stdout());
    let mut out = Printer { out, format: args.format.unwrap_or_default(), listed: 0 };
    if args.fills {
        out.begin_fills()?;
    }
    let read_from = question.read_from();
    let mut report = Report::new(question);
    if matches!(dir.try_exists(), Ok(false)) {
        // A folder that is not there is no journal.
        return Err(journal::unread("report", OpenError::NoRiskJournal(dir), args.mode, &config, home));
    }
    // Before the lines: what a guard writes meanwhile is in none of both, or in the lines.
    let runs = || args.mode == own_mode && is_running(home);
    let (ran, reached) = (runs(), reached(&dir).ok().flatten());
    let lines = read_days(&dir, read_from).map_err(|error| Refusal::Journal(error, args.mode))?;
    let mut take = |line: read_ahead::Read<'_>| {
        let line = line.map_err(|error| Refusal::Journal(error, args.mode))?;
        Ok(report.take(line.text, line.is_chained))
    };
    if args.fills {
        let print = |fill: &FillLine| out.fill(fill);
        print_beside::beside(print, |list| {
            read_ahead::each(lines, |line| take(line)?.map_or(Ok(()), |fill| list.put(fill)))
        })?;
    } else {
        read_ahead::each(lines, |line| take(line).map(drop))?;
    }
    let runs = runs();
    if runs {
        report.runs_at(now_ms());
    }
    if let Some(Reached { before, last }) = reached {
        report.was_written_up_to(if ran || runs { before } else { last });
    }
    out.end(&report.finish(), args.fills)
}

/// Writes what is there as it comes: a year of fills is never held.
struct Printer<W: Write> {
    out: W,
    format: Format,
    listed: u64,
}

impl<W: Write> Printer<W> {
    fn print(&mut self, text: impl AsRef<[u8]>) -> Result<(), Refusal> {
        self.out.write_all(text.as_ref()).map_err(unwritten)
    }

    fn begin_fills(&mut self) -> Result<(), Refusal> {
        match self.format {
            Format::Table => self.print(FillLine::table_head()),
            Format::Csv => self.print(FillLine::csv_head()),
            Format::Json => self.print("{\"fills\":["),
        }
    }

    fn fill(&mut self, fill: &FillLine) -> Result<(), Refusal> {
        let is_first = self.listed == 0;
        self.listed = self.listed.saturating_add(1);
        match self.format {
            Format::Table => self.print(fill.to_table()),
            Format::Csv => self.print(fill.to_csv()),
            Format::Json if is_first => self.print(fill.to_json_text()),
            Format::Json => self.print(",\n").and_then(|()| self.print(fill.to_json_text())),
        }
    }

    fn end(&mut self, report: &Finished, has_fills: bool) -> Result<(), Refusal> {
        let json = || serde_json::to_string(&report.to_json()).unwrap_or_default();
        match (self.format, has_fills) {
            (Format::Table, false) => self.print(report.to_table())?,
            (Format::Table, true) => self.print(format!("\n{}", report.to_table()))?,
            (Format::Csv, false) => self.print(report.to_csv())?,
            // The list alone, so that whatever reads it finds one table.
            (Format::Csv, true) => {}
            (Format::Json, false) => self.print(json() + "\n")?,
            (Format::Json, true) => self.print(format!("],{}\n", json().trim_start_matches('{')))?,
        }
        self.out.flush().map_err(unwritten)?;
        report.warnings().iter().for_each(|warning| say(warning));
        Ok(())
    }
}
