//! Positions that the feed's account shows and no fill has told of: their fills were lost. Where no read comes either, what it shows
//! for as long as a read may take counts as told, so that it is covered and a kill closes it. It is known by a read only.

use crate::guard::state::feed::ShownAlone;
use crate::guard::state::guard::Guard;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// An account that differs from what is known is read by then.
pub(super) const READ_WITHIN_MS: u64 = 3_000;

/// Takes in the sizes, signed, that the account of a time of the venue's shows and nobody has told. Returns whether anything counts
/// as told by that from now on.
pub(super) fn take_for_told(guard: &mut Guard, shown: &BTreeMap<u32, Decimal>, time_ms: u64, now_ms: u64) -> bool {
    let Some((begun_ms, held)) = guard.view.account.as_ref().map(|account| (account.begun_ms, &account.positions))
    else {
        return false;
    };
    let assets: BTreeSet<u32> = shown.keys().chain(held.keys()).chain(guard.feed.chains.keys()).copied().collect();
    let mut is_any = false;
    for asset in assets {
        let (size, known) = (shown.get(&asset).copied().unwrap_or_default(), guard.position_told(asset));
        let feed = &mut guard.feed;
        if size == known || feed.chains.get(&asset).is_some_and(|(_, told_ms)| *told_ms >= time_ms) {
            feed.shown_alone.retain(|other, alone| *other != asset || alone.is_taken);
            continue;
        }
        let alone = ShownAlone { size, since_ms: now_ms, is_taken: false };
        let before = feed.shown_alone.get(&asset).filter(|before| before.size == size);
        let since_ms = before.map_or(now_ms, |before| before.since_ms);
        // A read that began since then would show it.
        let is_taken = now_ms.saturating_sub(since_ms) > READ_WITHIN_MS && begun_ms < since_ms;
        feed.shown_alone.insert(asset, ShownAlone { since_ms, is_taken, ..alone });
        if is_taken {
            feed.told.note_shown(asset, (known, size), time_ms);
            feed.chains.insert(asset, (size, time_ms));
            feed.unread_ms = Some(feed.unread_ms.map_or(since_ms, |unread_ms| unread_ms.min(since_ms)));
        }
        is_any |= is_taken;
    }
    is_any
}
