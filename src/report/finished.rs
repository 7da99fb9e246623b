//! A report that is done, in each of its formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cells::{Cell, Columns, Named, csv, object, utc};
use super::figures::Figures;
use super::question::{By, Question};
use super::table;
use crate::base::day::{Day, day_of};

/// The version of the JSON's schema.
const SCHEMA: u32 = 1;
/// The row of what is nobody's, in texts.
const NOBODY: &str = "(nobody)";
/// The row of all rows together, in texts.
const TOTAL: &str = "(total)";

/// What the lines showed beside the figures.
#[derive(Debug, Default)]
pub(super) struct Noted {
    /// The first moment that the book tells of.
    recorded_from_ms: Option<u64>,
    /// Events that are not in the journal's files.
    pub(super) missing: u64,
    /// Lines that could not be read.
    pub(super) unreadable: u64,
}

impl Noted {
    pub(super) fn recorded_from(&mut self, ms: u64) {
        self.recorded_from_ms = Some(self.recorded_from_ms.map_or(ms, |from| from.min(ms)));
    }
}

/// A report that is done.
#[derive(Debug)]
pub struct Finished {
    question: Question,
    rows: BTreeMap<Option<String>, Figures>,
    total: Figures,
    noted: Noted,
}

impl Finished {
    pub(super) fn new(
        question: Question,
        rows: BTreeMap<Option<String>, Figures>,
        total: Figures,
        noted: Noted,
    ) -> Finished {
        Finished { question, rows, total, noted }
    }

    /// Whether the book was kept at the time of a row.
    fn is_recorded(&self, key: Option<&str>, row: &Figures) -> bool {
        let Some(from_ms) = self.noted.recorded_from_ms else { return false };
        let day = key.filter(|_| self.question.by == By::Day).and_then(|key| key.parse::<Day>().ok());
        row.money.is_recorded || day.map_or(from_ms < self.question.span().1, |day| day >= day_of(from_ms))
    }

    /// The cells of each row.
    fn rows(&self, nobody: &Cell) -> Vec<Vec<Named>> {
        let columns = Columns { by: self.question.by, total: &self.total };
        let cells = |(key, row): (&Option<String>, &Figures)| {
            let name = key.as_ref().map_or_else(|| nobody.clone(), |key| Cell::Text(key.clone()));
            columns.cells(name, row, self.is_recorded(key.as_deref(), row), false)
        };
        self.rows.iter().map(cells).collect()
    }

    fn total(&self) -> Vec<Named> {
        let columns = Columns { by: self.question.by, total: &self.total };
        let cells = columns.cells(Cell::Text(TOTAL.to_owned()), &self.total, self.is_recorded(None, &self.total), true);
        cells.into_iter().filter(|named| named.name != "key").collect()
    }

    /// The report as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let Question { mode, account, from, to, by } = &self.question;
        let day = |day: &Option<Day>| day.map(|day| day.to_string());
        let rows: Vec<Value> = self.rows(&Cell::None).iter().map(|row| Value::Object(object(row))).collect();
        let whole = json!({
            "schema": SCHEMA,
            "mode": mode,
            "account": account,
            "from": day(from),
            "to": day(to),
            "by": by.name(),
            "recorded_from": self.noted.recorded_from_ms.map(utc),
            "missing_events": self.noted.missing,
            "unreadable_lines": self.noted.unreadable,
            "rows": rows,
            "total": object(&self.total()),
        });
        whole.as_object().cloned().unwrap_or_default()
    }

    /// The report as csv: a line of names, a line for each row, and one for the total.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let total = self.total();
        let heads: Vec<String> = std::iter::once("key".to_owned()).chain(total.iter().map(Named::head)).collect();
        let mut text = csv(heads.iter().map(|head| Cell::Text(head.clone())));
        for row in self.rows(&Cell::Text(NOBODY.to_owned())) {
            let of = |head: &String| row.iter().find(|named| named.head() == *head);
            text += &csv(heads.iter().map(|head| of(head).map_or(Cell::None, |named| named.cell.clone())));
        }
        let last = std::iter::once(Cell::Text(TOTAL.to_owned())).chain(total.into_iter().map(|named| named.cell));
        text + &csv(last)
    }

    /// The report for a person's eyes.
    #[must_use]
    pub fn to_table(&self) -> String {
        let rows = self.rows(&Cell::Text(NOBODY.to_owned()));
        table::text(&self.question, &rows, &self.total(), TOTAL)
    }

    /// What is not in the report, in words.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let Noted { recorded_from_ms, missing, unreadable } = &self.noted;
        let mut warnings = Vec::new();
        let (from_ms, to_ms) = self.question.span();
        match recorded_from_ms {
            Some(begun) if *begun < to_ms => {
                let is_late = self.question.from.is_some() && day_of(*begun) > day_of(from_ms);
                warnings.extend(is_late.then(|| {
                    format!(
                        "fills, fees and equity are recorded from {} on; what was before is not in the figures",
                        utc(*begun)
                    )
                }));
            }
            _ => warnings.push("no fills, fees or equity are recorded for this time".to_owned()),
        }
        if *missing > 0 {
            warnings.push(format!(
                "{missing} events are not in the journal's folder, and not in the figures; bring the files of those days back"
            ));
        }
        if *unreadable > 0 {
            warnings.push(format!("{unreadable} lines of the journal could not be read, and are not in the figures"));
        }
        warnings
    }
}
