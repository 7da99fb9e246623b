//! A fill as a line of the list that a tax office takes.

use serde_json::Value;

use super::cells::{Cell, Named, csv, object, object_text};
use super::figures::USDC;
use super::sum::Sum;
use super::table::table_line;
use crate::base::moment::iso;
use crate::record::money::Fill;

/// A fill that is asked about, and the number of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FillLine {
    /// The number.
    pub seq: u64,
    /// The fill.
    pub fill: Fill,
}

/// The widths of a table's columns, which are written before all is known.
const WIDTHS: [(&str, usize); 12] = [
    ("time", 24),
    ("market", 8),
    ("side", 4),
    ("px", 12),
    ("size", 12),
    ("value", 14),
    ("closed_pnl", 14),
    ("fee", 12),
    ("fee_token", 9),
    ("net", 14),
    ("client", 8),
    ("note", 0),
];

impl FillLine {
    fn cells(&self) -> [Named<'_>; 22] {
        let FillLine { seq, fill } = self;
        let mut net = Sum::from(fill.closed_pnl);
        net += -fill.fee;
        let liquidation = fill.liquidation.as_ref().map(|told| &told.method);
        let cells = [
            ("time", Cell::Text(iso(fill.time).into())),
            ("market", Cell::Text(fill.coin.as_str().into())),
            ("side", Cell::Text(fill.side.as_ref().into())),
            ("px", Cell::Single(fill.px)),
            ("size", Cell::Single(fill.size)),
            ("value", Cell::Amount(Sum::product(fill.px, fill.size))),
            ("closed_pnl", Cell::Single(fill.closed_pnl)),
            ("fee", Cell::Single(fill.fee)),
            ("fee_token", Cell::Text(fill.fee_token.as_str().into())),
            ("builder_fee", fill.builder_fee.map_or(Cell::None, Cell::Single)),
            // A fee in another token is nothing that could be taken off an amount in USDC.
            ("net", Cell::amount(Some(net).filter(|_| fill.fee_token == USDC))),
            ("position_before", Cell::Single(fill.position_before)),
            ("position_after", fill.position_after.map_or(Cell::None, Cell::Single)),
            ("oid", Cell::Count(fill.oid)),
            ("cloid", Cell::text(fill.cloid.map(|cloid| cloid.to_string()))),
            ("tid", Cell::Count(fill.tid)),
            ("crossed", Cell::Flag(fill.crossed)),
            ("liquidation", Cell::text(liquidation)),
            ("client", Cell::text(fill.client.as_ref())),
            ("intent", fill.intent.map_or(Cell::None, Cell::Count)),
            ("late", Cell::Flag(fill.late)),
            ("seq", Cell::Count(*seq)),
        ];
        cells.map(|(name, cell)| Named::new(name, cell))
    }

    /// The fill as JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        Value::Object(object(&self.cells()))
    }

    /// The text of that.
    #[must_use]
    pub fn to_json_text(&self) -> String {
        object_text(&self.cells())
    }

    /// The fill as a line of csv.
    #[must_use]
    pub fn to_csv(&self) -> String {
        csv(self.cells().iter().map(|named| &named.cell))
    }

    /// The line of csv that names the columns.
    #[must_use]
    pub fn csv_head() -> String {
        let empty = FillLine { seq: 0, fill: Fill::default() };
        csv(empty.cells().map(|named| Cell::Text(named.head().into())).iter())
    }

    /// The fill as a line of a table.
    #[must_use]
    pub fn to_table(&self) -> String {
        let cells = self.cells();
        let of = |name: &str| cells.iter().find(|named| named.name == name).map(|named| named.cell.plain());
        let notes = [self.fill.late.then_some("late"), self.fill.liquidation.as_ref().map(|_| "liquidation")];
        let note = notes.into_iter().flatten().collect::<Vec<_>>().join(", ");
        table_line(WIDTHS.map(|(name, width)| (of(name).unwrap_or_else(|| note.clone()), width)))
    }

    /// The line of a table that names the columns.
    #[must_use]
    pub fn table_head() -> String {
        table_line(WIDTHS.map(|(name, width)| (name.to_owned(), width)))
    }
}

/// Whether a fill liquidated the account. Where the venue does not say whom it liquidated, it was another one if the fill did not
/// bring the account nearer to flat, was sent by somebody for it, or waited in the book: who is liquidated takes.
pub(super) fn liquidates(fill: &Fill, account: &str) -> Option<bool> {
    let Some(told) = &fill.liquidation else { return Some(false) };
    if let Some(user) = &told.user {
        return Some(user.eq_ignore_ascii_case(account));
    }
    let before = fill.position_before;
    let is_reduced = fill.position_after.is_none_or(|after| {
        after.abs() < before.abs() && (after.is_zero() || after.is_sign_positive() == before.is_sign_positive())
    });
    let waited = told.method == "market" && !fill.crossed;
    if !is_reduced || fill.intent.is_some() || waited { Some(false) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_json_is_what_json_says() {
        let cloid = "0x73766367726401000200000000000104".parse().ok();
        let plain = Fill { coin: "ETH".to_owned(), intent: Some(7), cloid, ..Fill::default() };
        let odd = Fill { client: Some("a\"b\\c\u{1}\u{e9}".to_owned()), fee_token: String::new(), ..Fill::default() };
        for fill in [plain, odd] {
            let line = FillLine { seq: 9, fill };
            assert_eq!(line.to_json_text(), line.to_json().to_string());
        }
    }
}
