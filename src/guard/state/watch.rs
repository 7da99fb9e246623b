//! Memory of the supervision of the account from one step to the next.

use crate::guard::state::flatten::Flatten;
use crate::guard::state::order_attempts::Care;
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// What the watch keeps in mind.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    pub(crate) flatten: Flatten,
    /// The bare positions last told of in paper mode.
    pub(crate) told_bare: BTreeSet<(u32, bool)>,
    care: BTreeMap<u32, Care>,
    /// When a market's position was last seen to change, and when one of its stops was last seen gone.
    pub(crate) changed_ms: BTreeMap<u32, u64>,
    pub(crate) gone_ms: BTreeMap<u32, u64>,
}

impl Watch {
    /// The efforts in one market.
    pub(crate) fn care_of(&mut self, asset: u32) -> &mut Care {
        self.care.entry(asset).or_default()
    }

    /// The efforts in one market, if there are any.
    pub(crate) fn care(&self, asset: u32) -> Option<&Care> {
        self.care.get(&asset)
    }

    /// Forgets the efforts in a market that needs none, but for what was learnt about its size.
    pub(crate) fn settle(&mut self, asset: u32) {
        match self.care.get_mut(&asset) {
            Some(care) if care.dust.is_some() => care.settle(),
            Some(_) => drop(self.care.remove(&asset)),
            None => {}
        }
    }

    /// Sizes found too small to be closed, by market.
    pub(crate) fn dust(&self) -> impl Iterator<Item = (u32, Decimal)> {
        self.care.iter().filter_map(|(asset, care)| Some((*asset, care.dust?)))
    }

    /// Markets with efforts.
    pub(crate) fn cared_for(&self) -> Vec<u32> {
        self.care.keys().copied().collect()
    }
}
