//! A report as a table for a person's eyes.

use super::cells::{Cell, Named};
use super::question::{By, Question};
use crate::base::text::visible;

/// The columns of a table; the others are below it, of the total.
const COLUMNS: &[&str] = &["key", "fills", "volume", "gross", "fees", "funding", "net"];
/// Those beside them where a row is a day.
const OF_A_DAY: &[&str] = &["transfers", "equity_end", "worst_drawdown"];
/// Those beside them where a row is a client.
const OF_A_CLIENT: &[&str] = &["allowed", "resized", "vetoed"];
/// Most characters of a cell.
const MOST_SHOWN: usize = 48;

/// The table, and the total's cells below it.
pub(super) fn text(question: &Question, rows: &[Vec<Named<'_>>], total: &[Named<'_>], total_name: &str) -> String {
    let more: &[&str] = match question.by {
        By::Day => OF_A_DAY,
        By::Market => &[],
        By::Client => OF_A_CLIENT,
    };
    let names: Vec<&str> = COLUMNS.iter().chain(more).copied().collect();
    let cell =
        |row: &[Named<'_>], name: &str| row.iter().find(|named| named.name == name).map(|named| shown(&named.cell));
    let mut lines: Vec<Vec<String>> = vec![names.iter().map(|name| head(question, name)).collect()];
    lines.extend(rows.iter().map(|row| names.iter().map(|name| cell(row, name).unwrap_or_default()).collect()));
    lines.push(names.iter().map(|name| cell(total, name).unwrap_or_else(|| total_name.to_owned())).collect());
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..names.len()).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = period(question);
    for line in &lines {
        text += &table_line(line.iter().cloned().zip(widths.iter().copied()));
    }
    text.push('\n');
    let heads: Vec<String> = total.iter().map(total_head).collect();
    let widest = heads.iter().map(|head| head.chars().count()).max().unwrap_or(0);
    for (head, named) in heads.iter().zip(total).filter(|(_, named)| named.cell != Cell::None) {
        text += &format!("{head:<widest$}  {}\n", shown(&named.cell));
    }
    text
}

/// One line, the first column to the left and the others to the right.
pub(super) fn table_line(cells: impl IntoIterator<Item = (String, usize)>) -> String {
    let mut line = String::new();
    for (column, (cell, width)) in cells.into_iter().enumerate() {
        let cell = visible(&cell, MOST_SHOWN);
        let padding = " ".repeat(width.saturating_sub(cell.chars().count()));
        line += &if column == 0 { format!("{cell}{padding}") } else { format!("  {padding}{cell}") };
    }
    line.trim_end().to_owned() + "\n"
}

fn shown(cell: &Cell<'_>) -> String {
    visible(&cell.plain(), MOST_SHOWN)
}

fn head(question: &Question, name: &str) -> String {
    if name == "key" { question.by.name().to_owned() } else { words(name) }
}

/// The head of a line of the total; codes and tokens stay as they are.
fn total_head(named: &Named<'_>) -> String {
    let name = visible(&named.name, MOST_SHOWN);
    named.group.map_or_else(|| words(&named.name), |group| format!("{} {name}", words(group)))
}

fn words(name: &str) -> String {
    visible(&name.replace('_', " "), MOST_SHOWN)
}

fn period(question: &Question) -> String {
    let Question { mode, account, from, to, .. } = question;
    let from = from.map_or_else(|| "the first day".to_owned(), |day| day.to_string());
    let to = to.map_or_else(|| "the last".to_owned(), |day| day.to_string());
    format!("{mode} of {account}, {from} to {to}, days in UTC, amounts in USDC\n\n")
}
