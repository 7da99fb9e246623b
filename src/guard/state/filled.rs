//! Positions that fills have opened or enlarged, or opened anew where the feed's account shows that too, and no read shows yet. What
//! a fill closes waits for the read: a stop that is too large for a moment can only reduce, and a fill that never was must close
//! nothing. Where no read comes all of it stays: only one that began long after the fill, and does not show it, takes it back.

use crate::guard::state::by_fill::ByFill;
use crate::guard::state::view::{AccountView, View};
use crate::venue::info::{Leverage, MarginMode, Position};
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// A read that began so long after a fill was told, or after the feed's account showed it last, is not older than the fill.
const MOST_MS: u64 = 10_000;

impl AccountView {
    /// The positions as they were read.
    pub(crate) fn positions_read(&self) -> BTreeMap<u32, Position> {
        let mut positions = self.positions.clone();
        for (asset, by_fill) in &self.by_fill {
            match &by_fill.read {
                Some(read) => drop(positions.insert(*asset, read.clone())),
                None => drop(positions.remove(asset)),
            }
        }
        positions
    }

    /// What fills have made of positions after this time of the venue's: an answer that is older takes nothing of it back.
    pub(crate) fn filled_after(&self, venue_ms: u64, begun_ms: u64) -> BTreeMap<u32, (Position, ByFill)> {
        let is_later =
            |by_fill: &ByFill| by_fill.time_ms > venue_ms && begun_ms.saturating_sub(by_fill.at_ms) < MOST_MS;
        let later = self.by_fill.iter().filter(|(_, by_fill)| is_later(by_fill));
        let later =
            later.filter_map(|(asset, by_fill)| Some((*asset, (self.positions.get(asset)?.clone(), by_fill.clone()))));
        later.collect()
    }
}

impl View {
    /// A market's position as it was read.
    pub(crate) fn position_read(&self, asset: u32) -> Decimal {
        let by_fill = self.account.as_ref().and_then(|account| account.by_fill.get(&asset));
        let read = by_fill.map(|by_fill| by_fill.read.as_ref().map_or(Decimal::ZERO, |read| read.szi));
        read.unwrap_or_else(|| self.position(asset))
    }

    /// Whether a market's position is by a fill, and no read has shown it.
    pub(crate) fn is_by_fill(&self, asset: u32) -> bool {
        self.account.as_ref().is_some_and(|account| account.by_fill.contains_key(&asset))
    }

    /// Whether fills are known to have made this of it, signed, which is another than was read.
    pub(crate) fn is_another(&self, asset: u32, size: Decimal) -> bool {
        let by_fill = self.account.as_ref().and_then(|account| account.by_fill.get(&asset));
        by_fill.is_some_and(|by_fill| by_fill.is_another) && self.position(asset) == size
    }

    /// Takes in that fills at about `px` up to a time of the venue's have brought a position to `size`, signed. Returns whether
    /// it is opened or enlarged by that.
    pub(crate) fn on_filled(&mut self, asset: u32, (size, px): (Decimal, Decimal), time_ms: u64, at_ms: u64) -> bool {
        let held = self.account.as_ref().and_then(|account| account.positions.get(&asset));
        let before = held.map_or(Decimal::ZERO, |position| position.szi);
        let is_same_side = before.is_zero() || before.is_sign_positive() == size.is_sign_positive();
        if !is_same_side || size.abs() <= before.abs() {
            return false;
        }
        let more = size.saturating_sub(before);
        let paid = held.and_then(|position| position.entry_px).unwrap_or(px).saturating_mul(before);
        let entry_px = paid.saturating_add(px.saturating_mul(more)).checked_div(size);
        let Some(new) = self.opened_by_fills(asset, size, px) else { return false };
        let position = match held {
            Some(held) => Position { szi: size, entry_px, position_value: new.position_value, ..held.clone() },
            None => new,
        };
        self.put_filled(asset, position, &ByFill { read: None, time_ms, at_ms, is_another: false });
        true
    }

    /// Takes in that fills at about `px` up to a time of the venue's have closed what was held and opened this, signed.
    pub(crate) fn on_opened_anew(&mut self, asset: u32, (size, px): (Decimal, Decimal), time_ms: u64, at_ms: u64) {
        if let Some(position) = self.opened_by_fills(asset, size, px) {
            self.put_filled(asset, position, &ByFill { read: None, time_ms, at_ms, is_another: true });
        }
    }

    /// A position that was opened at about `px`.
    fn opened_by_fills(&self, asset: u32, size: Decimal, px: Decimal) -> Option<Position> {
        let mark = self.last_mark(asset).map(|(mark, _)| mark);
        let price = mark.or_else(|| self.mids.get(&asset).copied()).unwrap_or(px);
        let leverage = self.leverage.get(&asset).map(|(leverage, _)| leverage.clone());
        Some(Position {
            coin: self.market(asset)?.coin.clone(),
            szi: size,
            leverage: leverage.unwrap_or(Leverage { mode: MarginMode::Cross, value: 1 }),
            entry_px: Some(px),
            position_value: price.saturating_mul(size.abs()),
            unrealized_pnl: Decimal::ZERO,
            liquidation_px: None,
            margin_used: Decimal::ZERO,
            paid_funding: None,
        })
    }

    /// Puts a position that fills have made in the place of the one that was read, if it is larger than that, or another.
    pub(crate) fn put_filled(&mut self, asset: u32, position: Position, by_fill: &ByFill) {
        let Some(account) = &mut self.account else { return };
        let read = match account.by_fill.remove(&asset) {
            Some(by_fill) => by_fill.read,
            None => account.positions.get(&asset).cloned(),
        };
        let is_larger = |read: &Position| {
            read.szi.is_sign_positive() == position.szi.is_sign_positive() && position.szi.abs() > read.szi.abs()
        };
        if by_fill.is_another || read.as_ref().is_none_or(is_larger) {
            account.positions.insert(asset, position);
            account.by_fill.insert(asset, ByFill { read, ..by_fill.clone() });
        }
    }

    /// The feed's account shows these sizes: what a fill has told of that is remembered on.
    pub(crate) fn show_fills(&mut self, shown: &BTreeMap<u32, Decimal>, at_ms: u64) {
        let Some(account) = &mut self.account else { return };
        let AccountView { positions, by_fill, .. } = account;
        let is_shown = |asset: &u32| shown.get(asset) == positions.get(asset).map(|position| &position.szi);
        let all = by_fill.iter_mut().filter(|(asset, _)| is_shown(asset));
        all.for_each(|(_, by_fill)| by_fill.at_ms = by_fill.at_ms.max(at_ms));
    }

    /// Values what was read of the account at the newest marks.
    pub(crate) fn revalue(&mut self) {
        let Some(account) = &mut self.account else { return };
        let gained = account.positions_read();
        let gained = gained.iter().filter_map(|(asset, position)| {
            let (mark, begun_ms) = self.marks.get(asset)?;
            let read = position.position_value.checked_div(position.szi.abs())?;
            let is_newer = *begun_ms > account.begun_ms;
            is_newer.then(|| mark.saturating_sub(read).saturating_mul(position.szi))
        });
        let gained: Vec<Decimal> = gained.collect();
        account.marked = (!gained.is_empty())
            .then(|| gained.iter().fold(account.equity, |equity, gain| equity.saturating_add(*gain)));
    }

    /// Takes in mids of some markets; the others stay as old as they are.
    pub(crate) fn move_mids(&mut self, mids: &BTreeMap<String, Decimal>, begun_ms: u64) {
        if self.mids_ms.is_none_or(|held| held > begun_ms) {
            return;
        }
        for (coin, mid) in mids.iter().filter(|(_, mid)| **mid > Decimal::ZERO) {
            if let Some(market) = self.universe.by_coin(coin) {
                self.mids.insert(market.asset, *mid);
            }
        }
    }
}
