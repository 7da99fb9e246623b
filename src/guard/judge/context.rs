//! One request on its way through the rules: by what it is judged, and what the rules altered so far.

use crate::base::address::Address;
use crate::guard::state::exposure::{Exposure, MarketExposure};
use crate::guard::state::guard::Guard;
use crate::venue::action::Action;

pub(crate) struct JudgeContext<'a> {
    pub(crate) guard: &'a Guard,
    pub(crate) client: Address,
    pub(crate) now_ms: u64,
    /// The account's exposure with the orders of this request that passed so far.
    pub(crate) exposure: Exposure,
    /// The alterations so far, in words.
    pub(crate) changes: Vec<String>,
    /// The actions that must go first.
    pub(crate) pre: Vec<Action>,
    /// Whether an order may go out as two: one that closes and one that opens.
    pub(crate) can_split: bool,
}

impl<'a> JudgeContext<'a> {
    pub(crate) fn new(guard: &'a Guard, client: Address, now_ms: u64) -> Self {
        let (changes, pre) = (Vec::new(), Vec::new());
        Self { guard, client, now_ms, exposure: guard.exposure(), changes, pre, can_split: false }
    }

    /// The exposure of one market.
    pub(crate) fn market_exposure(&mut self, asset: u32) -> &MarketExposure {
        self.exposure.market_mut(&self.guard.view, asset)
    }
}
