//! The table that is printed.

use std::fmt;

use rust_decimal::Decimal;

use crate::phases::Flood;
use crate::samples::Nanos;

const SECOND_NS: u64 = 1_000_000_000;

/// Rows, in order.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Row>,
}

struct Row {
    what: String,
    measured: String,
    reference: String,
    ratio: String,
    figure: String,
    reached: bool,
}

impl Table {
    /// A time that may be at most `figure` times the reference.
    pub(crate) fn ratio(&mut self, what: String, measured: Nanos, (told, reference): (String, Nanos), figure: &str) {
        let ratio = measured.ratio(reference);
        let reached = figure.parse::<Decimal>().is_ok_and(|most| ratio <= most);
        let (measured, ratio, figure) = (measured.to_string(), ratio.to_string(), format!("at most {figure}"));
        self.rows.push(Row { what, measured, reference: told, ratio, figure, reached });
    }

    /// A time that nothing of the guard's is in, as so many times the reference.
    pub(crate) fn least(&mut self, what: String, measured: Nanos, reference: Nanos) {
        let (measured, ratio) = (measured.to_string(), measured.ratio(reference).to_string());
        let (reference, figure) = (reference.to_string(), "-".to_owned());
        self.rows.push(Row { what, measured, reference, ratio, figure, reached: true });
    }

    /// Decisions a second, of what the cores could recover keys in.
    pub(crate) fn rate(&mut self, what: String, flood: &Flood, recovery: Nanos) -> Result<(), String> {
        let cores = std::thread::available_parallelism().map_err(|error| error.to_string())?.get();
        let second = u128::from(SECOND_NS);
        let rate = second.saturating_mul(flood.decisions as u128).checked_div(u128::from(flood.took.0)).unwrap_or(0);
        let bound = second.saturating_mul(cores as u128).checked_div(u128::from(recovery.0)).unwrap_or(u128::MAX);
        let percent = rate.saturating_mul(100).checked_div(bound).unwrap_or(0);
        self.rows.push(Row {
            what,
            measured: format!("{rate}/s"),
            reference: format!("{cores} cores / recovery = {bound}/s"),
            ratio: format!("{percent}%"),
            figure: "at least 50%".to_owned(),
            reached: percent >= 50,
        });
        Ok(())
    }

    /// A number with a fixed bound.
    pub(crate) fn most(&mut self, what: &str, measured: u64, unit: &str, most: u64) {
        self.rows.push(Row {
            what: what.to_owned(),
            measured: format!("{measured} {unit}"),
            reference: "-".to_owned(),
            ratio: "-".to_owned(),
            figure: format!("at most {most} {unit}"),
            reached: measured <= most,
        });
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |cells: [&str; 6]| {
            let [what, measured, reference, ratio, figure, reached] = cells;
            writeln!(f, "{what:<48}{measured:>10}  {reference:<50}{ratio:>6}  {figure:<18}{reached}")
        };
        row(["what", "measured", "reference", "ratio", "figure", ""])?;
        for Row { what, measured, reference, ratio, figure, reached } in &self.rows {
            row([what, measured, reference, ratio, figure, if *reached { "reached" } else { "missed" }])?;
        }
        Ok(())
    }
}
