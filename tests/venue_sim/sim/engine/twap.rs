//! TWAP orders: one slice every thirty seconds, each an IOC within three percent of the mark.
//!
//! Minimal: slices are equal, a slice that does not fill is not caught up, `t` (randomise) is accepted and ignored.

use super::Engine;
use super::news::News;
use super::order::{Kind, Spec, Status, Tif};
use rust_decimal::Decimal;

const SLICE_EVERY_MS: u64 = 30_000;
const SLICES_PER_MINUTE: u64 = 2;
const SLIPPAGE_PCT: u32 = 3;
const MIN_MINUTES: u64 = 5;
const MAX_MINUTES: u64 = 1_440;
/// Smallest value of a TWAP order.
const MIN_USD: u32 = 100;
/// TWAP orders remembered.
const KEPT: usize = 1_000;

/// A TWAP order as asked for.
#[derive(Clone, Debug)]
pub(crate) struct TwapSpec {
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) sz: Decimal,
    pub(crate) reduce_only: bool,
    pub(crate) minutes: u64,
    pub(crate) randomize: bool,
}

/// A TWAP order and how far it has come.
#[derive(Clone, Debug)]
pub(crate) struct Twap {
    pub(crate) spec: TwapSpec,
    pub(crate) started_ms: u64,
    pub(crate) slices_done: u64,
    pub(crate) executed_sz: Decimal,
    pub(crate) executed_usd: Decimal,
    /// `activated`, `finished` or `terminated`.
    pub(crate) status: &'static str,
}

impl Engine {
    /// Starts a TWAP order; its id, or the venue's refusal.
    pub(crate) fn start_twap(&mut self, spec: TwapSpec) -> Result<u64, String> {
        let Some(market) = self.market(spec.asset).filter(|market| !market.delisted) else {
            return Err("Invalid asset".into());
        };
        if !(MIN_MINUTES..=MAX_MINUTES).contains(&spec.minutes) {
            return Err(format!("Invalid TWAP duration: {} min(s)", spec.minutes));
        }
        if !market.sz_valid(spec.sz) || spec.sz.is_zero() {
            return Err("Order has invalid size.".into());
        }
        if spec.sz * market.mark < Decimal::from(MIN_USD) {
            return Err(format!("TWAP order value too small. Min is ${MIN_USD}."));
        }
        if spec.reduce_only && self.reducible(spec.asset, spec.is_buy).is_zero() {
            return Err("Reduce-only TWAP order would increase position.".into());
        }
        let id = self.next_twap;
        self.next_twap = id.saturating_add(1);
        let (executed_sz, executed_usd) = (Decimal::ZERO, Decimal::ZERO);
        let started_ms = self.now_ms;
        let twap = Twap { spec, started_ms, slices_done: 0, executed_sz, executed_usd, status: "activated" };
        self.tell(News::Twap(id, twap.clone()));
        self.twaps.insert(id, twap);
        if self.twaps.len() > KEPT {
            self.twaps.pop_first();
        }
        self.run_twaps();
        Ok(id)
    }

    /// Stops a running TWAP order.
    pub(crate) fn cancel_twap(&mut self, asset: u32, id: u64) -> Result<(), String> {
        let twap = self.twaps.get_mut(&id).filter(|twap| twap.spec.asset == asset && twap.status == "activated");
        let twap = twap.ok_or("TWAP was never placed, already canceled, or filled.")?;
        twap.status = "terminated";
        let ended = twap.clone();
        self.tell(News::Twap(id, ended));
        Ok(())
    }

    /// Sends the slices that have fallen due.
    pub(super) fn run_twaps(&mut self) {
        let running: Vec<u64> =
            self.twaps.iter().filter(|(_, twap)| twap.status == "activated").map(|(&id, _)| id).collect();
        for id in running {
            while self.run_slice(id) {}
        }
    }

    /// Sends one slice if one is due.
    fn run_slice(&mut self, id: u64) -> bool {
        let now_ms = self.now_ms;
        let Some(twap) = self.twaps.get_mut(&id) else { return false };
        let slices = twap.spec.minutes.saturating_mul(SLICES_PER_MINUTE);
        let due_ms = twap.started_ms.saturating_add(twap.slices_done.saturating_mul(SLICE_EVERY_MS));
        if twap.status != "activated" || due_ms > now_ms {
            return false;
        }
        twap.slices_done = twap.slices_done.saturating_add(1);
        if twap.slices_done == slices {
            twap.status = "finished";
        }
        let (spec, left) = (twap.spec.clone(), twap.spec.sz - twap.executed_sz);
        let slices_left = slices.saturating_sub(twap.slices_done).saturating_add(1);
        self.place_slice(id, &spec, left / Decimal::from(slices_left));
        if let Some(ended) = self.twaps.get(&id).filter(|twap| twap.status == "finished").cloned() {
            self.tell(News::Twap(id, ended));
        }
        true
    }

    fn place_slice(&mut self, id: u64, spec: &TwapSpec, sz: Decimal) {
        let Some(market) = self.market(spec.asset) else { return };
        let slip = market.mark * Decimal::from(SLIPPAGE_PCT) / Decimal::ONE_HUNDRED;
        let limit = if spec.is_buy { market.mark + slip } else { market.mark - slip };
        let (px, sz) = (market.round_px(limit, !spec.is_buy), market.floor_sz(sz));
        if sz.is_zero() {
            return;
        }
        let kind = Kind::Limit(Tif::Ioc);
        let TwapSpec { asset, is_buy, reduce_only, .. } = *spec;
        let status = self.place_for_twap(Spec { asset, is_buy, px, sz, reduce_only, kind, cloid: None }, id);
        let (Status::Filled { total_sz, avg_px, .. }, Some(twap)) = (status, self.twaps.get_mut(&id)) else { return };
        twap.executed_sz += total_sz;
        twap.executed_usd += total_sz * avg_px;
    }
}
