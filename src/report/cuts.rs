//! Entries that were cut, and the result that the part cut off would have had.
//!
//! That is said only where the events show it: one entry was cut and what was let through filled wholly from flat, by
//! itself, and then the position was closed wholly by stops, with no other fill in that market in between. The part cut
//! off is then taken to have been filled and stopped at the same prices: its size times what one coin lost or won, before
//! fees. Everything else (an entry that filled in part, a position that was there before, a close by the client, a fill
//! that was heard of late) leaves a cut without a figure.

use std::collections::{BTreeMap, VecDeque};

use rust_decimal::Decimal;

use super::orders::{Order, placed_by, sent_for};
use super::sum::Sum;
use crate::base::address::Cloid;
use crate::record::events::Decision;
use crate::record::money::Fill;

/// Cuts that are followed at a time; over that the oldest stays without a figure.
const MOST_OPEN: usize = 256;

/// The cuts that are followed.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    open: VecDeque<Cut>,
}

/// An entry that was cut.
#[derive(Debug)]
struct Cut {
    decision: u64,
    client: Option<String>,
    is_buy: bool,
    let_through: Decimal,
    cut_off: Decimal,
    /// The entry's id where it has one.
    cloid: Option<Cloid>,
    /// The stops that went out with it.
    stops: Vec<Cloid>,
    /// Set by the entry's first fill.
    market: Option<(String, u64)>,
    entered: Traded,
    left: Traded,
}

#[derive(Clone, Copy, Debug, Default)]
struct Traded {
    size: Decimal,
    value: Decimal,
}

impl Traded {
    fn add(&mut self, fill: &Fill) {
        self.size = self.size.saturating_add(fill.size);
        self.value = self.value.saturating_add(fill.px.saturating_mul(fill.size));
    }
}

/// A cut that was followed to its end.
pub(super) struct Followed {
    pub(super) client: Option<String>,
    pub(super) coin: String,
    /// What the part cut off would have won, to the cent; negative is lost.
    pub(super) result: Sum,
}

/// Whether a cut is to be followed on.
enum Next {
    On,
    GiveUp,
    Done,
}

impl Cuts {
    /// Takes a decision that changed a request; whether it cut the size of an entry.
    pub(super) fn decided(&mut self, seq: u64, decision: &Decision<'_>) -> bool {
        let (asked, sent) = (placed_by(&decision.request), sent_for(decision));
        let mut sizes: BTreeMap<(u64, bool), (Decimal, Decimal)> = BTreeMap::new();
        for order in asked.iter().filter(|order| order.enters()) {
            let (wanted, _) = sizes.entry((order.asset, order.is_buy)).or_default();
            *wanted = wanted.saturating_add(order.size);
        }
        // A flip goes out as an order that closes and one that opens.
        for order in sent.iter().filter(|order| !order.is_trigger) {
            if let Some((_, let_through)) = sizes.get_mut(&(order.asset, order.is_buy)) {
                *let_through = let_through.saturating_add(order.size);
            }
        }
        let is_cut = sizes.values().any(|(wanted, let_through)| wanted > let_through);
        if is_cut && let Some(cut) = followed(seq, decision, &asked, &sent) {
            self.open.push_back(cut);
            if self.open.len() > MOST_OPEN {
                self.open.pop_front();
            }
        }
        is_cut
    }

    /// Takes a fill; the cuts that ended with it. `is_own_stop` says whether it is one of the guard's stops.
    pub(super) fn filled(&mut self, fill: &Fill, is_own_stop: bool) -> Vec<Followed> {
        let mut done = Vec::new();
        self.open.retain_mut(|cut| match cut.next(fill, is_own_stop) {
            Next::On => true,
            Next::GiveUp => false,
            Next::Done => {
                done.extend(cut.result(fill));
                false
            }
        });
        done
    }
}

/// The cut as one to follow: one entry was asked for, and one order goes out for it.
fn followed(seq: u64, decision: &Decision<'_>, asked: &[Order], sent: &[Order]) -> Option<Cut> {
    let mut entries = asked.iter().filter(|order| !order.reduces);
    let asked = entries.next().filter(|order| order.enters() && entries.next().is_none())?;
    let mut goes = sent.iter().filter(|order| !order.is_trigger);
    let sent_entry = goes.next().filter(|order| order.enters() && goes.next().is_none())?;
    Some(Cut {
        decision: seq,
        client: decision.client.map(|client| client.to_string()),
        is_buy: asked.is_buy,
        let_through: sent_entry.size,
        cut_off: asked.size.saturating_sub(sent_entry.size),
        cloid: sent_entry.cloid,
        stops: sent.iter().filter(|order| order.is_stop).filter_map(|order| order.cloid).collect(),
        market: None,
        entered: Traded::default(),
        left: Traded::default(),
    })
}

impl Cut {
    fn next(&mut self, fill: &Fill, is_own_stop: bool) -> Next {
        let is_buy = fill.side == "buy";
        let is_entry = fill.intent == Some(self.decision) && is_buy == self.is_buy && fill.cloid == self.cloid;
        let is_here = self.market.as_ref().is_some_and(|(coin, _)| *coin == fill.coin);
        match &self.market {
            None if !is_entry => return Next::On,
            None if fill.late || !fill.position_before.is_zero() => return Next::GiveUp,
            None => self.market = Some((fill.coin.clone(), fill.oid)),
            Some(_) if !is_here => return Next::On,
            Some(_) if fill.late => return Next::GiveUp,
            Some((_, oid)) if is_entry && *oid != fill.oid => return Next::GiveUp,
            Some(_) => {}
        }
        let is_whole = self.entered.size == self.let_through;
        if is_entry && !is_whole {
            self.entered.add(fill);
            return if self.entered.size > self.let_through { Next::GiveUp } else { Next::On };
        }
        let is_stop = is_own_stop || fill.cloid.is_some_and(|cloid| self.stops.contains(&cloid));
        if !is_whole || !is_stop || is_buy == self.is_buy {
            return Next::GiveUp;
        }
        self.left.add(fill);
        match fill.position_after {
            Some(after) if after.is_zero() && self.left.size == self.let_through => Next::Done,
            Some(after) if !after.is_zero() && self.left.size < self.let_through => Next::On,
            _ => Next::GiveUp,
        }
    }

    fn result(&self, fill: &Fill) -> Option<Followed> {
        let won = self.left.value.checked_sub(self.entered.value)?;
        let won = if self.is_buy { won } else { -won };
        let result = won.checked_mul(self.cut_off)?.checked_div(self.let_through)?.round_dp(2);
        Some(Followed { client: self.client.clone(), coin: fill.coin.clone(), result: result.into() })
    }
}
