//! Positions that the feed's account shows and no fill has told of: their fills were lost. Where no read comes either, what it shows
//! for as long as a read may take counts as told, so that it is covered and a kill closes it. It is known by a read only.

use crate::guard::state::guard::Guard;
use crate::venue::side::PositionSide;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// An account that differs from what is known is read by then.
pub(super) const READ_WITHIN_MS: u64 = 3_000;

/// Takes in the sizes, signed, that the account of a time of the venue's shows and nobody has told: as much as was shown all the
/// time counts as told.
pub(super) fn take_for_told(guard: &mut Guard, shown: &BTreeMap<u32, Decimal>, time_ms: u64, now_ms: u64) {
    let Some((begun_ms, held)) = guard.view.account.as_ref().map(|account| (account.begun_ms, &account.positions))
    else {
        return;
    };
    // Of a time that is yet to come no read would ever be later.
    let time_ms = time_ms.min(guard.clock.latest_ms());
    let assets: BTreeSet<u32> = shown.keys().chain(held.keys()).chain(guard.feed.chains.keys()).copied().collect();
    for asset in assets {
        let (size, known) = (shown.get(&asset).copied().unwrap_or_default(), guard.position_told(asset));
        let feed = &mut guard.feed;
        if size == known || feed.chains.get(&asset).is_some_and(|(_, told_ms)| *told_ms >= time_ms) {
            feed.shown_alone.remove(&asset);
            continue;
        }
        let is_beyond = |size: Decimal| !size.is_zero() && !is_within(size, known);
        let (size, since_ms) = match feed.shown_alone.get(&asset).copied() {
            Some((before, since_ms)) if before == size => (size, since_ms),
            Some((before, since_ms)) if is_beyond(before) && is_within(before, size) => (before, since_ms),
            Some((before, since_ms)) if is_beyond(size) && is_within(size, before) => (size, since_ms),
            _ => (size, now_ms),
        };
        feed.shown_alone.insert(asset, (size, since_ms));
        // A read that began since then would show it.
        if now_ms.saturating_sub(since_ms) > READ_WITHIN_MS && begun_ms < since_ms {
            feed.shown_alone.remove(&asset);
            feed.by_account.insert(asset);
            feed.told.note_shown(asset, (known, size), time_ms);
            feed.chains.insert(asset, (size, time_ms));
            feed.unread_ms = Some(feed.unread_ms.map_or(since_ms, |unread_ms| unread_ms.min(since_ms)));
        }
    }
}

/// Whether one position, signed, is a part of the other, or all of it.
pub(super) fn is_within(part: Decimal, whole: Decimal) -> bool {
    PositionSide::of(part) == PositionSide::of(whole) && part.abs() <= whole.abs()
}
