//! A report that is done, in each of its formats.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::cells::{Cell, Columns, Named, Recorded, csv, object};
use super::figures::Figures;
use super::key::{Key, OTHERS, TOTAL};
use super::noted::Noted;
use super::question::{By, Question};
use super::table;
use crate::base::day::{Day, start_ms};
use crate::base::text::visible;

/// The version of the JSON's schema.
const SCHEMA: u32 = 1;
/// Most characters of a reason in a warning.
const MOST_SHOWN: usize = 200;

/// A report that is done.
#[derive(Debug)]
pub struct Finished {
    question: Question,
    rows: BTreeMap<Key, Figures>,
    total: Figures,
    noted: Noted,
}

impl Finished {
    pub(super) fn new(question: Question, rows: BTreeMap<Key, Figures>, total: Figures, noted: Noted) -> Finished {
        Finished { question, rows, total, noted }
    }

    /// What was recorded at the time of a row: a row by day is of its day, any other of the whole time.
    fn recorded(&self, key: Option<&str>, row: &Figures) -> Recorded {
        let day = key.filter(|_| self.question.by == By::Day).and_then(|key| key.parse::<Day>().ok());
        let span = day.map_or_else(|| self.question.span(), |day| (start_ms(day), start_ms(day.following())));
        let Recorded { journal, book } = self.noted.recorded(span);
        if self.noted.is_gone(span) {
            return Recorded { journal, book };
        }
        // What happened at the edge of a day may have been written down by a clock that was beyond it.
        Recorded { journal: journal || !self.rows.is_empty(), book: book || row.money.is_recorded }
    }

    /// The cells of each row.
    fn rows<'a>(&'a self, name: impl Fn(&'a Key) -> Cell<'a>) -> Vec<Vec<Named<'a>>> {
        let columns = Columns { by: self.question.by, total: &self.total };
        let cells =
            |(key, row): (&'a Key, &'a Figures)| columns.cells(name(key), row, self.recorded(key.name(), row), false);
        self.rows.iter().map(cells).collect()
    }

    fn total(&self) -> Vec<Named<'_>> {
        let columns = Columns { by: self.question.by, total: &self.total };
        let cells = columns.cells(Cell::Text(TOTAL.into()), &self.total, self.recorded(None, &self.total), true);
        cells.into_iter().filter(|named| named.name != "key").collect()
    }

    /// The report as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Map<String, Value> {
        let Question { mode, account, from, to, by } = &self.question;
        let day = |day: &Option<Day>| day.map(|day| day.to_string());
        let name = |key| match key {
            &Key::Others => Cell::Text(OTHERS.into()),
            key => Cell::text(key.name()),
        };
        let mut rows: Vec<Value> = self.rows(name).iter().map(|row| Value::Object(object(row))).collect();
        // A market may be called like it.
        if self.rows.contains_key(&Key::Others)
            && let Some(last) = rows.last_mut().and_then(Value::as_object_mut)
        {
            last.insert("is_others".to_owned(), Value::from(true));
        }
        let mut whole = json!({
            "schema": SCHEMA,
            "mode": mode,
            "account": account,
            "from": day(from),
            "to": day(to),
            "by": by.name(),
            "rows": rows,
            "total": object(&self.total()),
        });
        let mut report = whole.as_object_mut().map(std::mem::take).unwrap_or_default();
        report.append(&mut self.noted.members(&self.question));
        report
    }

    /// The report as csv: a line of names, a line for each row, and one for the total.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let total = self.total();
        let heads: Vec<String> = std::iter::once("key".to_owned()).chain(total.iter().map(Named::head)).collect();
        let mut text = csv(heads.iter().map(|head| Cell::Text(head.into())).collect::<Vec<_>>().iter());
        for row in self.rows(|key| Cell::Text(key.text().into())) {
            let of = |head: &String| row.iter().find(|named| named.head() == *head);
            text += &csv(heads.iter().map(|head| of(head).map_or(&Cell::None, |named| &named.cell)));
        }
        let name = Cell::Text(TOTAL.into());
        text + &csv(std::iter::once(&name).chain(total.iter().map(|named| &named.cell)))
    }

    /// The report for a person's eyes.
    #[must_use]
    pub fn to_table(&self) -> String {
        let rows = self.rows(|key| Cell::Text(key.text().into()));
        table::text(&self.question, &rows, &self.total(), TOTAL)
    }

    /// What is not in the report, in words.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let not_compared = self.total.measured.why_not_compared.as_ref();
        let not_compared = not_compared.map(|why| {
            format!("how far account and book were apart at last is not known: {}", visible(why, MOST_SHOWN))
        });
        self.noted.warnings(&self.question).into_iter().chain(not_compared).collect()
    }
}
