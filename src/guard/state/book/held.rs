//! A market's position as its fills tell it: how large it is, and since when it is open.

use crate::venue::fill::FillId;
use rust_decimal::Decimal;

/// What a fill made of a market's position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Link {
    pub(crate) id: FillId,
    pub(crate) before: Decimal,
    pub(crate) after: Decimal,
}

/// How far rows of before the book were looked at for what is held in other dexes, UTC ms.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere {
    pub(crate) fills_ms: Option<u64>,
    pub(crate) fundings_ms: Option<u64>,
}

/// A market's position after its newest fill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Held {
    /// How large it is, signed.
    pub(crate) after: Decimal,
    /// When that fill was.
    pub(crate) time_ms: u64,
    /// When it was opened; known where the fill that opened it is, and every one since.
    pub(crate) opened_ms: Option<u64>,
}

impl Held {
    /// What is held of a market of whose fills none is known.
    pub(crate) fn unknown(after: Decimal, time_ms: u64) -> Self {
        Self { after, time_ms, opened_ms: None }
    }

    /// The position that a fill has left behind, where this one was before it.
    pub(crate) fn next(before: Option<Self>, link: &Link) -> Self {
        let opened_ms = match (side(link.before), side(link.after)) {
            (_, None) => None,
            (from, to) if from != to => Some(link.id.time),
            // Something may have closed and opened it where fills are missing.
            _ => before.filter(|held| held.after == link.before).and_then(|held| held.opened_ms),
        };
        Self { after: link.after, time_ms: link.id.time, opened_ms }
    }
}

/// Whether a position is long; `None` where nothing is held.
fn side(size: Decimal) -> Option<bool> {
    (!size.is_zero()).then(|| size.is_sign_positive())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    fn after(fills: &[(u64, Decimal, Decimal)]) -> Option<u64> {
        let mut held = None;
        for (time, before, after) in fills.iter().copied() {
            let id = FillId { time, tid: time, oid: 1 };
            held = Some(Held::next(held, &Link { id, before, after }));
        }
        held.and_then(|held| held.opened_ms)
    }

    #[test]
    fn a_position_is_open_since_the_fill_that_opened_or_turned_it() {
        let opened = (10, dec!(0), dec!(1));
        assert_eq!(after(&[opened]), Some(10));
        assert_eq!(after(&[opened, (20, dec!(1), dec!(3)), (30, dec!(3), dec!(2))]), Some(10));
        assert_eq!(after(&[opened, (20, dec!(1), dec!(-1))]), Some(20), "turned");
        assert_eq!(after(&[opened, (20, dec!(1), dec!(0))]), None, "closed");
        assert_eq!(after(&[opened, (20, dec!(1), dec!(0.0)), (30, dec!(0.0), dec!(-2))]), Some(30));
    }

    #[test]
    fn since_when_is_not_known_where_a_fill_is_missing() {
        assert_eq!(after(&[(10, dec!(1), dec!(2))]), None, "open before the first one");
        assert_eq!(after(&[(10, dec!(0), dec!(1)), (20, dec!(2), dec!(3)), (30, dec!(3), dec!(4))]), None);
        assert_eq!(after(&[(10, dec!(1), dec!(2)), (20, dec!(2), dec!(-1))]), Some(20), "known again");
    }
}
