//! Lines that stops tighten, part by part.

use rust_decimal::{Decimal, dec};

use crate::guard::state::cover::CoverSize;
use crate::guard::state::cover_line::CoverLine;
use crate::venue::side::PositionSide;

/// A stop that has fired, or that somebody took away, leaves its part of the line bare: the other stops cover what lies behind it, and
/// tighten all of that.
#[test]
fn stops_tighten_what_they_cover_behind_a_part_that_stays_bare() {
    for (stops, line) in [
        (&[(1985, 2)][..], &[(1990, 1), (1985, 2)][..]),
        (&[(1985, 1)], &[(1990, 1), (1985, 1), (1980, 1)]),
        (&[(1985, 3)], &[(1990, 1), (1985, 2)]),
        (&[(1995, 1)], &[(1995, 1), (1980, 2)]),
        (&[(1995, 2)], &[(1995, 2), (1980, 1)]),
        (&[], &[(1990, 1), (1980, 2)]),
    ] {
        let mut of = CoverLine::new(PositionSide::Long, dec!(3), Some(dec!(2000)));
        let part = |(px, size): &(u32, u32)| (Decimal::from(*px), CoverSize::Part(Decimal::from(*size)));
        of.tighten(&[(1990, 1), (1980, 2)].each_ref().map(part), Decimal::ZERO);
        of.tighten(&stops.iter().map(part).collect::<Vec<_>>(), Decimal::ZERO);
        let parts = of.covered_parts().iter().map(|part| (part.px, part.size));
        let line = line.iter().map(|(px, size)| (Decimal::from(*px), Decimal::from(*size)));
        assert!(parts.clone().eq(line), "{stops:?}: {:?}", parts.collect::<Vec<_>>());
    }
}
