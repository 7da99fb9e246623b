//! The rest at the venue if the guard goes away now: positions with their stops, entries that rest with the stops
//! that come alive when they fill, and entries without one. Each order fills once and each stop closes once, in whatever
//! order the market goes through them, so the losses of all of them together are the most that can be lost at the stops.

use crate::guard::report::open_entries::{OpenEntry, open_entries};
use crate::guard::state::guard::Guard;
use crate::guard::state::standing_stops::{bare_size, live_for};
use crate::record::status::{IfAway, Left};
use crate::venue::info::Position;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;

/// What is left; `None` before account and open orders were read.
pub(crate) fn if_away(guard: &Guard) -> Option<IfAway> {
    let account = guard.view.account.as_ref().filter(|_| guard.view.orders_ms.is_some())?;
    let held = account.positions.iter().filter_map(|(asset, position)| position_left(guard, *asset, position));
    // What stops a position in no known market has is not known either.
    let unknown = account.unknown.values().map(|position| {
        let value = position.position_value;
        Left { count: 1, value, loss: Decimal::ZERO, without_stop: value }
    });
    let positions = held.chain(unknown).fold(Left::default(), plus);
    let (attended, unattended): (Vec<OpenEntry>, Vec<OpenEntry>) =
        open_entries(guard).into_iter().partition(|entry| !entry.stops.is_empty());
    let [entries, unattended] =
        [attended, unattended].map(|entries| entries.iter().map(entry_left).fold(Left::default(), plus));
    let all = plus(plus(positions, entries), unattended);
    Some(IfAway { loss: all.loss, without_stop: all.without_stop, positions, entries, unattended })
}

/// A position: what stops that the venue has close of it, from its mark on.
fn position_left(guard: &Guard, asset: u32, position: &Position) -> Option<Left> {
    let (side, held) = (PositionSide::of(position.szi)?, position.szi.abs());
    let mark = guard.view.mark(asset)?;
    let bare = bare_size(guard, asset).min(held);
    let mut stops: Vec<(Decimal, Decimal)> = Vec::new();
    stops.extend(live_for(guard, asset, side).into_iter().map(|(px, size)| (px, size.of(held))));
    // The nearest is hit first.
    stops.sort_by_key(|(px, _)| -px.saturating_mul(side.sign()));
    let (loss, _) = loss_at(side, mark, held.saturating_sub(bare), &stops);
    Some(Left { count: 1, value: position.position_value, loss, without_stop: bare.saturating_mul(mark) })
}

/// An entry: filled in full at its price, and closed at its own stops.
fn entry_left(entry: &OpenEntry) -> Left {
    let (loss, bare) = loss_at(entry.side, entry.px, entry.size, &entry.stops);
    let worth = |size: Decimal| size.saturating_mul(entry.px);
    Left { count: 1, value: worth(entry.size), loss, without_stop: worth(bare) }
}

/// What `size` loses from `px` to these stops one after the other, and how much of it none of them closes.
fn loss_at(side: PositionSide, px: Decimal, size: Decimal, stops: &[(Decimal, Decimal)]) -> (Decimal, Decimal) {
    stops.iter().fold((Decimal::ZERO, size), |(loss, left), (stop_px, stop_size)| {
        let part = left.min(*stop_size);
        (loss.saturating_add(side.loss(px, *stop_px).saturating_mul(part)), left.saturating_sub(part))
    })
}

fn plus(one: Left, other: Left) -> Left {
    Left {
        count: one.count.saturating_add(other.count),
        value: one.value.saturating_add(other.value),
        loss: one.loss.saturating_add(other.loss),
        without_stop: one.without_stop.saturating_add(other.without_stop),
    }
}
