//! The owner's report: what the bot did with the money and the guard with the bot, summed up from the journal's lines.
//!
//! [`Report`] takes the lines one by one and holds sums alone, so that a year of them needs no more memory than a day.
//! [`Finished`] is the outcome, as JSON, as a table and as csv: one list of cells is behind all three. No file, no clock,
//! no thread and no verdict may enter here: who reads the lines, and where the text goes, is the caller's.

mod cells;
mod collateral;
mod compared;
mod cuts;
mod equity;
mod figures;
mod fills;
mod finished;
mod gaps;
mod key;
mod lacks;
mod line;
mod members;
mod noted;
mod number;
mod orders;
mod question;
mod stops;
mod sum;
mod summing;
mod table;
#[cfg(test)]
mod tests;

pub use fills::FillLine;
pub use finished::Finished;
pub use question::{BadQuestion, By, Question};
pub use sum::Sum;
pub use summing::Report;
