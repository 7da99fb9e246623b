//! The cells of a row: one list, from which every format is written.

use std::borrow::Cow;
use std::fmt::Write;

use rust_decimal::Decimal;
use serde_json::{Map, Value};

use super::equity::At;
use super::figures::Figures;
use super::question::By;
use super::sum::{Shown, Sum};
use crate::base::moment::iso;

const NOT_RECORDED: &str = "not recorded";
/// Most lines of a list are shorter, bytes.
const USUAL_LINE: usize = 640;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cell<'a> {
    Text(Cow<'a, str>),
    Count(u64),
    Amount(Sum),
    /// An amount that is no sum.
    Single(Decimal),
    Flag(bool),
    /// Nothing was recorded that could tell.
    NotRecorded,
    /// It cannot be told, or there is none.
    None,
}

impl<'a> Cell<'a> {
    pub(super) fn text(text: Option<impl Into<Cow<'a, str>>>) -> Self {
        text.map_or(Cell::None, |text| Cell::Text(text.into()))
    }

    pub(super) fn amount(amount: Option<impl Into<Sum>>) -> Self {
        amount.map_or(Cell::None, |amount| Cell::Amount(amount.into()))
    }

    /// What was measured, which nothing was recorded of where there is none.
    fn measured(amount: Option<impl Into<Sum>>) -> Self {
        amount.map_or(Cell::NotRecorded, |amount| Cell::Amount(amount.into()))
    }

    /// It, where it was recorded.
    fn if_recorded(self, is_recorded: bool) -> Self {
        if is_recorded { self } else { Cell::NotRecorded }
    }

    /// As JSON: amounts are texts.
    pub(super) fn json(&self) -> Value {
        match self {
            Cell::Text(text) => Value::from(text.as_ref()),
            Cell::Count(count) => Value::from(*count),
            Cell::Amount(amount) => Value::from(amount.to_string()),
            Cell::Single(amount) => Value::from(Shown(*amount).to_string()),
            Cell::Flag(flag) => Value::from(*flag),
            Cell::NotRecorded | Cell::None => Value::Null,
        }
    }

    /// As plain text.
    pub(super) fn plain(&self) -> String {
        match self {
            Cell::Text(text) => text.to_string(),
            Cell::Count(count) => count.to_string(),
            Cell::Amount(amount) => amount.to_string(),
            Cell::Single(amount) => Shown(*amount).to_string(),
            Cell::Flag(flag) => flag.to_string(),
            Cell::NotRecorded => NOT_RECORDED.to_owned(),
            Cell::None => String::new(),
        }
    }

    /// Adds it as one field of csv, quoted. A text that a spreadsheet would take for a formula has an
    /// apostrophe before it, and so has one that begins with an apostrophe.
    fn push_csv(&self, line: &mut String) {
        line.push('"');
        // Writing to a String cannot fail.
        match self {
            Cell::Text(text) => {
                if text.starts_with(['=', '+', '-', '@', '\'', '\t', '\r', '\n']) {
                    line.push('\'');
                }
                let mut parts = text.split('"');
                line.push_str(parts.next().unwrap_or_default());
                parts.for_each(|part| line.extend(["\"\"", part]));
            }
            Cell::Count(count) => _ = write!(line, "{count}"),
            Cell::Amount(amount) => _ = write!(line, "{amount}"),
            Cell::Single(amount) => _ = write!(line, "{}", Shown(*amount)),
            Cell::Flag(flag) => _ = write!(line, "{flag}"),
            Cell::NotRecorded => line.push_str(NOT_RECORDED),
            Cell::None => {}
        }
        line.push('"');
    }
}

/// The same as [`Cell::json`] writes it, put to a text.
fn push_json(cell: &Cell<'_>, text: &mut String) {
    // Writing to a String cannot fail.
    match cell {
        Cell::Text(told) => {
            let is_plain = told.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
            if is_plain {
                text.extend(["\"", told, "\""]);
            } else {
                text.push_str(&Value::from(told.as_ref()).to_string());
            }
        }
        Cell::Amount(amount) => _ = write!(text, "\"{amount}\""),
        Cell::Single(amount) => _ = write!(text, "\"{}\"", Shown(*amount)),
        Cell::Count(count) => _ = write!(text, "{count}"),
        Cell::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Cell::NotRecorded | Cell::None => text.push_str("null"),
    }
}

/// What was recorded of some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Recorded {
    /// Whether the journal was written in it.
    pub(super) journal: bool,
    /// Whether the book was kept in it.
    pub(super) book: bool,
}

/// A cell and its name; cells of a group stand together in JSON.
pub(super) struct Named<'a> {
    pub(super) group: Option<&'static str>,
    pub(super) name: Cow<'static, str>,
    pub(super) cell: Cell<'a>,
}

impl<'a> Named<'a> {
    pub(super) fn new(name: impl Into<Cow<'static, str>>, cell: Cell<'a>) -> Self {
        Named { group: None, name: name.into(), cell }
    }

    /// The head of its column.
    pub(super) fn head(&self) -> String {
        self.group.map_or_else(|| self.name.to_string(), |group| format!("{group} {}", self.name))
    }
}

/// A row as JSON.
pub(super) fn object(cells: &[Named<'_>]) -> Map<String, Value> {
    let mut object = Map::new();
    for named in cells {
        match named.group {
            None => _ = object.insert(named.name.to_string(), named.cell.json()),
            Some(group) => {
                let group = object.entry(group).or_insert_with(|| Value::Object(Map::new()));
                if let Some(group) = group.as_object_mut() {
                    group.insert(named.name.to_string(), named.cell.json());
                }
            }
        }
    }
    object
}

/// A row without groups as JSON's text: that of many rows, which are not held.
pub(super) fn object_text(cells: &[Named<'_>]) -> String {
    let mut text = String::with_capacity(USUAL_LINE);
    for named in cells {
        // The names of such rows are this program's own.
        text.push_str(if text.is_empty() { "{\"" } else { ",\"" });
        text.push_str(&named.name);
        text.push_str("\":");
        push_json(&named.cell, &mut text);
    }
    text + "}"
}

/// A line of csv.
pub(super) fn csv<'a>(cells: impl Iterator<Item = &'a Cell<'a>>) -> String {
    let mut line = String::with_capacity(USUAL_LINE);
    for cell in cells {
        if !line.is_empty() {
            line.push(',');
        }
        cell.push_csv(&mut line);
    }
    line.push('\n');
    line
}

/// The columns of a report: those that every row has, and one for each name that the total has.
pub(super) struct Columns<'a> {
    pub(super) by: By,
    pub(super) total: &'a Figures,
}

impl Columns<'_> {
    /// The cells of a row; `is_total` has those too that rows of this kind do not.
    pub(super) fn cells<'a>(
        &self,
        key: Cell<'a>,
        row: &'a Figures,
        recorded: Recorded,
        is_total: bool,
    ) -> Vec<Named<'a>> {
        let mut cells = vec![Named::new("key", key)];
        self.money(row, recorded.book, &mut cells);
        if is_total || self.by == By::Day {
            measured(row, recorded, &mut cells);
        }
        if is_total || self.by != By::Market {
            self.decisions(row, recorded.journal, &mut cells);
        }
        let deeds = &row.deeds;
        let result = (deeds.cuts_followed > 0).then_some(deeds.cut_result);
        let of_journal = |count: u64| Cell::Count(count).if_recorded(recorded.journal);
        cells.push(Named::new("stops_fired", Cell::Count(deeds.stops_fired).if_recorded(recorded.book)));
        cells.push(Named::new("cuts_followed", of_journal(deeds.cuts_followed)));
        cells.push(Named::new("cut_result", Cell::amount(result)));
        if is_total || self.by == By::Day {
            for (name, count) in [("halts", deeds.halts), ("kills", deeds.kills), ("flattens", deeds.flattens)] {
                cells.push(Named::new(name, of_journal(count)));
            }
        }
        cells
    }

    fn money<'a>(&self, row: &'a Figures, is_recorded: bool, cells: &mut Vec<Named<'a>>) {
        let money = &row.money;
        let recorded = |cell: Cell<'a>| cell.if_recorded(is_recorded);
        let counts = [("fills", money.fills), ("late_fills", money.late_fills), ("liquidations", money.liquidations)];
        cells.extend(counts.map(|(name, count)| Named::new(name, recorded(Cell::Count(count)))));
        let why = money.why_unknown();
        let known = |amount: Sum| if why.is_none() { Cell::Amount(amount) } else { Cell::None };
        let amounts = [
            ("volume", known(money.volume)),
            ("gross", known(money.gross)),
            ("fees", Cell::Amount(money.fees)),
            ("builder_fees", Cell::Amount(money.builder_fees)),
            ("funding", known(money.funding)),
            ("net", known(money.net())),
        ];
        cells.extend(amounts.map(|(name, amount)| Named::new(name, recorded(amount))));
        cells.push(Named::new("net_why", recorded(Cell::text(why))));
        cells.push(Named::new("liquidations_unknown", recorded(Cell::Count(money.liquidations_unknown))));
        for token in self.total.money.fees_in.keys() {
            let fee = money.fees_in.get(token).copied().unwrap_or_default();
            cells.push(Named { group: Some("fees_in"), name: token.clone().into(), cell: recorded(Cell::Amount(fee)) });
        }
    }

    fn decisions(&self, row: &Figures, is_recorded: bool, cells: &mut Vec<Named<'_>>) {
        let deeds = &row.deeds;
        let counts = [
            ("allowed", deeds.allowed),
            ("resized", deeds.resized),
            ("vetoed", deeds.vetoed),
            ("cuts", deeds.cuts),
            ("stops_placed", deeds.stops_placed),
        ];
        let recorded = |count: u64| Cell::Count(count).if_recorded(is_recorded);
        cells.extend(counts.map(|(name, count)| Named::new(name, recorded(count))));
        for code in self.total.deeds.codes.keys() {
            let count = deeds.codes.get(code).copied().unwrap_or_default();
            cells.push(Named { group: Some("codes"), name: code.clone().into(), cell: recorded(count) });
        }
    }
}

/// The transfers, and the equity as it was measured.
fn measured<'a>(row: &'a Figures, recorded: Recorded, cells: &mut Vec<Named<'a>>) {
    let (money, measured) = (&row.money, &row.measured);
    let of_book = |cell: Cell<'a>| cell.if_recorded(recorded.book);
    cells.push(Named::new("transfers", of_book(Cell::Amount(money.transfers))));
    cells.push(Named::new("transfers_unknown", of_book(Cell::Count(money.transfers_unknown))));
    for (name, at) in [("equity_start", measured.ends.start), ("equity_end", measured.ends.end)] {
        // A measurement of the day before stands for a time that the journal tells of, and for no other.
        let at = at.filter(|_| recorded.journal);
        cells.push(Named::new(name, Cell::measured(at.map(|at| at.usdc))));
        cells.push(Named::new(format!("{name}_at"), Cell::text(at.map(|At { ms, .. }| iso(ms)))));
    }
    cells.push(Named::new("worst_drawdown", Cell::measured(measured.worst_fall())));
    cells.push(Named::new("worst_drawdown_why", Cell::text(measured.why_gone())));
    cells.push(Named::new("difference", Cell::measured(measured.difference())));
    let why = measured.why_unknown().filter(|_| recorded.book);
    cells.push(Named::new("difference_why", Cell::text(why)));
}
