//! Cover: what market stops close of a position, given its line. The one definition of it; whoever asks whether a position
//! is covered, whether a stop may go, or what a client's stop replaces, asks here.

use crate::guard::state::view::Resting;
use crate::venue::action::Grouping;
use crate::venue::order::Order;
use crate::venue::side::{PositionSide, Side};
use rust_decimal::Decimal;

/// How much of a position a stop closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CoverSize {
    /// Whatever the position is when it fires: a position's stop without a size of its own.
    Whole,
    /// At most this much.
    Part(Decimal),
}

impl CoverSize {
    /// Of an order's size. Only a stop that belongs to the position closes the whole of it, and only without a size.
    pub(crate) fn new(size: Decimal, is_position_tpsl: bool) -> Self {
        if is_position_tpsl && size.is_zero() { CoverSize::Whole } else { CoverSize::Part(size) }
    }

    /// How much of `held` it closes.
    pub(crate) fn of(self, held: Decimal) -> Decimal {
        match self {
            CoverSize::Part(size) => size,
            CoverSize::Whole => held,
        }
    }
}

/// A part of a position and the farthest trigger that covers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LinePart {
    pub(crate) px: Decimal,
    pub(crate) size: Decimal,
}

/// What stops with these triggers leave without cover of a position in parts, the nearest of both in front. A stop covers
/// only parts whose line is no nearer than its trigger, so the nearest part has the fewest to choose from: it goes first.
pub(crate) fn bare_parts(side: PositionSide, parts: &[LinePart], stops: &[(Decimal, CoverSize)]) -> Vec<LinePart> {
    let held = total_size(parts);
    let mut stops = stops.to_vec();
    stops.sort_by_key(|(px, _)| -px.saturating_mul(side.sign()));
    let (mut stops, mut room) = (stops.into_iter().peekable(), Decimal::ZERO);
    let mut bare = Vec::new();
    for part in parts {
        while let Some((_, size)) = stops.next_if(|(px, _)| !side.nearer(part.px, *px)) {
            room = room.saturating_add(size.of(held));
        }
        let covered = room.min(part.size);
        room = room.saturating_sub(covered);
        let left = LinePart { size: part.size.saturating_sub(covered), ..*part };
        bare.extend((left.size > Decimal::ZERO).then_some(left));
    }
    bare
}

/// The sizes of these parts together.
pub(crate) fn total_size(parts: &[LinePart]) -> Decimal {
    parts.iter().fold(Decimal::ZERO, |sum, part| sum.saturating_add(part.size))
}

/// The triggers that a line remembers.
const MAX_PARTS: usize = 64;

/// Of more triggers than are remembered the two nearest to each other become the tighter of both; the nearest of all is in front.
pub(crate) fn bound_parts(parts: &mut Vec<LinePart>) {
    while parts.len() > MAX_PARTS {
        let gap = |pair: &[LinePart]| match pair {
            [near, far] => near.px.saturating_sub(far.px).abs(),
            _ => Decimal::MAX,
        };
        let nearest = parts.windows(2).enumerate().min_by_key(|(_, pair)| gap(pair));
        let Some(place) = nearest.map(|(place, _)| place) else { return };
        let far = parts.remove(place.saturating_add(1));
        if let Some(near) = parts.get_mut(place) {
            near.size = near.size.saturating_add(far.size);
        }
    }
}

/// Takes so much of what is in front away.
pub(crate) fn take_front(parts: &mut Vec<LinePart>, size: Decimal) {
    let mut left = size.max(Decimal::ZERO);
    parts.retain_mut(|part| {
        let taken = left.min(part.size);
        left = left.saturating_sub(taken);
        part.size = part.size.saturating_sub(taken);
        part.size > Decimal::ZERO
    });
}

/// Takes as much as `others` name at each trigger out of these parts, and gives it.
pub(crate) fn take_out(parts: &mut Vec<LinePart>, others: &[LinePart]) -> Vec<LinePart> {
    let mut taken = Vec::new();
    for other in others {
        let mut left = other.size;
        for part in parts.iter_mut().filter(|part| part.px == other.px) {
            let size = left.min(part.size);
            (part.size, left) = (part.size.saturating_sub(size), left.saturating_sub(size));
            taken.push(LinePart { px: part.px, size });
        }
    }
    parts.retain(|part| part.size > Decimal::ZERO);
    taken.retain(|part| part.size > Decimal::ZERO);
    taken
}

/// Puts the nearest trigger in front.
pub(crate) fn sort_parts(side: PositionSide, parts: &mut [LinePart]) {
    parts.sort_by_key(|part| -part.px.saturating_mul(side.sign()));
}

/// How much of `held` stops of these sizes close together; more than `held` where they overlap.
pub(crate) fn total(sizes: impl IntoIterator<Item = CoverSize>, held: Decimal) -> Decimal {
    sizes.into_iter().fold(Decimal::ZERO, |sum, size| sum.saturating_add(size.of(held)))
}

/// The side of the positions that a stop with this `is_buy` covers.
pub(crate) fn side_covered(is_buy: bool) -> PositionSide {
    PositionSide::reduced_by(Side::of(is_buy))
}

/// What an open order closes of a position of its market, if it is a market stop.
pub(crate) fn of_resting(order: &Resting) -> Option<CoverSize> {
    order.stop_px.map(|_| CoverSize::new(order.size, order.is_position_tpsl))
}

/// What an order of a request closes once the venue has taken it, if it is a market stop. The child of an entry closes
/// nothing: it waits for that to fill, and dies with it.
pub(crate) fn of_order(order: &Order, grouping: Grouping) -> Option<CoverSize> {
    let is_child = grouping == Grouping::NormalTpsl;
    order.market_stop_px().filter(|_| !is_child)?;
    Some(CoverSize::new(order.size, grouping == Grouping::PositionTpsl))
}

/// Whether an open order is a market stop that closes a part at least of the position of signed size `szi`.
pub(crate) fn covers(order: &Resting, szi: Decimal) -> bool {
    order.stop_px.is_some() && PositionSide::of(szi) == Some(side_covered(order.is_buy))
}

/// At each depth the tighter of two lines, the nearest trigger of both in front.
pub(crate) fn tighter(side: PositionSide, one: &[LinePart], other: &[LinePart]) -> Vec<LinePart> {
    let (mut one, mut other) = (one.iter().copied().peekable(), other.iter().copied().peekable());
    let mut found: Vec<LinePart> = Vec::new();
    loop {
        let part = match (one.peek_mut(), other.peek_mut()) {
            (None, None) => return found,
            (Some(only), None) | (None, Some(only)) => {
                let part = *only;
                only.size = Decimal::ZERO;
                part
            }
            (Some(a), Some(b)) => {
                let size = a.size.min(b.size);
                (a.size, b.size) = (a.size.saturating_sub(size), b.size.saturating_sub(size));
                LinePart { px: side.nearer_of(a.px, b.px), size }
            }
        };
        match found.last_mut().filter(|last| last.px == part.px) {
            Some(last) => last.size = last.size.saturating_add(part.size),
            None => found.push(part),
        }
        one.next_if(|part| part.size.is_zero());
        other.next_if(|part| part.size.is_zero());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::dec;

    #[test]
    fn a_stop_covers_what_has_its_line_no_nearer() {
        let part = |px, size| LinePart { px, size };
        let long = [part(dec!(2490), dec!(1)), part(dec!(2450), dec!(2))];
        for (stops, bare) in [
            (vec![], vec![long[0], long[1]]),
            (vec![(dec!(2490), dec!(3))], vec![]),
            (vec![(dec!(2489.9), dec!(3))], vec![long[0]]),
            (vec![(dec!(2450), dec!(2)), (dec!(2490), dec!(1))], vec![]),
            (vec![(dec!(2449.9), dec!(9)), (dec!(2490), dec!(2))], vec![part(dec!(2450), dec!(1))]),
        ] {
            let stops: Vec<_> = stops.into_iter().map(|(px, size)| (px, CoverSize::Part(size))).collect();
            assert_eq!(bare_parts(PositionSide::Long, &long, &stops), bare, "{stops:?}");
        }
        let short = [part(dec!(2510), dec!(1))];
        for (px, is_cover) in [(dec!(2510), true), (dec!(2510.1), false)] {
            assert_eq!(bare_parts(PositionSide::Short, &short, &[(px, CoverSize::Whole)]).is_empty(), is_cover);
        }
    }

    #[test]
    fn only_a_position_s_stop_without_a_size_covers_the_whole() {
        for (size, is_position_tpsl, of_three) in [
            (dec!(0), true, dec!(3)),
            (dec!(0.01), true, dec!(0.01)),
            (dec!(2), false, dec!(2)),
            (dec!(0), false, dec!(0)),
        ] {
            assert_eq!(CoverSize::new(size, is_position_tpsl).of(dec!(3)), of_three, "{size} {is_position_tpsl}");
        }
        let sizes = [CoverSize::Part(dec!(1)), CoverSize::Whole];
        assert_eq!(total(sizes, dec!(3)), dec!(4));
        assert_eq!([true, false].map(side_covered), [PositionSide::Short, PositionSide::Long]);
    }
}
