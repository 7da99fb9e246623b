//! Cuts an entry to the largest size that every limit on size allows.

use crate::venue::side::Side;
use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::context::JudgeContext;
use super::limits::{exposure_limit, loss_limit, open_risk_limit, order_value_limit, position_limit};
use super::liquidation;
use super::size_limit::{LimitBreach, SizedEntry};
use super::stop::Entry;
use super::veto::Veto;
use crate::base::amount::to_wire;
use crate::guard::state::entry_leg::{EntryLeg, StopAt};
use crate::venue::market::MIN_NOTIONAL;
use crate::venue::order::Order;

/// Every limit on size. Of several that bind alike the first is named.
const LIMITS: [fn(&SizedEntry<'_>) -> Option<LimitBreach>; 6] = [
    loss_limit::check,
    open_risk_limit::check,
    position_limit::check,
    exposure_limit::check,
    order_value_limit::check,
    liquidation::check,
];

/// An entry whose size is searched for.
struct Candidate<'c, 'a> {
    context: &'c mut JudgeContext<'a>,
    entry: &'c Entry<'c>,
    px: Decimal,
    stop: StopAt,
    /// The part of it that closes the opposite position as things stand.
    closing: Decimal,
    /// Whether that part goes as a reduce-only order of its own.
    is_apart: bool,
    may_rest: bool,
}

/// An entry as it fits.
pub(crate) struct Fitted {
    /// What was changed about its size, in words.
    pub(crate) change: Option<String>,
    /// The size that goes ahead of it as a reduce-only order of its own.
    pub(crate) apart: Option<Decimal>,
}

/// Cuts `order` to the largest size within every limit and adds it to the exposure. `stop` is where it is stopped out.
///
/// An order that also closes a position is judged by the whole of what it could open if that position were gone before it
/// fills: an exit or a stop may come first. Where that is too much its closing part goes ahead, reduce-only, so that each
/// part can do one thing only; where it cannot go apart, it is cut no further than to that part.
pub(crate) fn fit_to_limits(
    context: &mut JudgeContext<'_>,
    entry: &Entry<'_>,
    order: &mut Order,
    stop: StopAt,
) -> Result<Fitted, Veto> {
    let asked = order.size;
    let closing = asked.saturating_sub(context.market_exposure(order.asset).entry_part(order));
    let (px, may_rest) = (order.limit_px, order.may_rest());
    let mut candidate = Candidate { context, entry, px, stop, closing, is_apart: false, may_rest };
    let mut broken = candidate.try_size(asked, LIMITS.len());
    if !broken.is_empty() && candidate.goes_apart() {
        broken = candidate.try_size(asked, LIMITS.len());
    }
    let apart = candidate.is_apart.then_some(closing);
    let Some((first, _)) = broken.first() else { return Ok(Fitted { change: apart.map(apart_text), apart }) };
    let (size, binding) = candidate.largest_fit(asked, *first);
    // The limit that stops the last lot decides. It is named with the figures of the size asked for.
    let position = broken.iter().position(|(limit, _)| *limit == binding).unwrap_or_default();
    let (_, breach) = broken.swap_remove(position);

    if size.saturating_sub(closing).saturating_mul(order.limit_px) >= MIN_NOTIONAL {
        order.size = size;
        candidate.add(size);
        let cut = format!("{}; cut from {} to {}", breach.text, to_wire(asked), to_wire(size));
        let change = apart.map_or_else(|| cut.clone(), |closing| format!("{cut}; {}", apart_text(closing)));
        return Ok(Fitted { change: Some(change), apart });
    }
    if closing.is_zero() {
        return Err(breach.veto(format_args!(
            "what is left is under the venue's minimum of {MIN_NOTIONAL} USDC: cancel an entry that rests, or close a part of \
             what is held, and ask again"
        )));
    }
    (order.size, order.reduce_only) = (closing, true);
    if apart.is_none() {
        candidate.add_closing();
    }
    let cut = format!("{}; cut from {} to the {} that closes", breach.text, to_wire(asked), to_wire(closing));
    Ok(Fitted { change: Some(cut), apart: None })
}

fn apart_text(closing: Decimal) -> String {
    format!(
        "the {} that closes goes first, as reduce-only: in one order it would open too much if something else closed the \
         position before it",
        to_wire(closing)
    )
}

impl Candidate<'_, '_> {
    /// Sends the closing part ahead, where there is one and both parts fill at once or not at all.
    fn goes_apart(&mut self) -> bool {
        self.is_apart = self.context.can_split && !self.may_rest && !self.closing.is_zero();
        if self.is_apart {
            self.add_closing();
        }
        self.is_apart
    }

    /// The largest size under `asked` that breaks no limit, and the limit that the next lot would break; `binding` is one
    /// that `asked` breaks. What every limit looks at grows with the size, so it is found by halving.
    fn largest_fit(&mut self, asked: Decimal, mut binding: usize) -> (Decimal, usize) {
        let market = self.entry.market;
        let lot = market.lot();
        let lots = |size: Decimal| size.checked_div(lot).and_then(|lots| lots.trunc().to_i128()).unwrap_or(0);
        let (mut fits, mut breaks) = (lots(self.closing), lots(asked));
        while breaks - fits > 1 {
            let middle = fits + (breaks - fits) / 2;
            match self.try_size(of_lots(middle, lot), 1).first() {
                None => {
                    self.context.exposure.take_back(market.asset, self.entry.is_long);
                    fits = middle;
                }
                Some((limit, _)) => {
                    breaks = middle;
                    binding = *limit;
                }
            }
        }
        (market.floor_size(of_lots(fits, lot)), binding)
    }

    /// Adds the entry at this size to the exposure if it breaks no limit; otherwise leaves it as it was and gives the
    /// first `most` limits that it breaks, each with its place among them.
    fn try_size(&mut self, size: Decimal, most: usize) -> Vec<(usize, LimitBreach)> {
        let guard = self.context.guard;
        let (asset, is_long) = (self.entry.market.asset, self.entry.is_long);
        let opening = self.opening(size);
        let unit_value = self.context.market_exposure(asset).unit_value(Side::of(is_long), self.px);
        self.add(size);
        let sized = SizedEntry {
            guard,
            entry: self.entry,
            stop: self.stop,
            opening,
            value: opening.saturating_mul(unit_value),
            market: self.context.exposure.figures(asset),
            totals: self.context.exposure.totals(),
        };
        let broken = LIMITS.iter().enumerate().filter_map(|(place, check)| Some((place, check(&sized)?)));
        let broken: Vec<(usize, LimitBreach)> = broken.take(most).collect();
        if !broken.is_empty() {
            self.context.exposure.take_back(asset, is_long);
        }
        broken
    }

    /// What could open or enlarge a position of an order of this size.
    fn opening(&self, size: Decimal) -> Decimal {
        if self.is_apart { size.saturating_sub(self.closing) } else { size }
    }

    fn add(&mut self, size: Decimal) {
        self.add_leg(self.opening(size), false);
    }

    fn add_closing(&mut self) {
        self.add_leg(self.closing, true);
    }

    fn add_leg(&mut self, size: Decimal, reduce_only: bool) {
        let leg = EntryLeg { size, px: self.px, stop: Some(self.stop), may_rest: self.may_rest };
        let (asset, is_long) = (self.entry.market.asset, self.entry.is_long);
        self.context.exposure.add(&self.context.guard.view, asset, is_long, reduce_only, leg);
    }
}

fn of_lots(lots: i128, lot: Decimal) -> Decimal {
    Decimal::try_from_i128_with_scale(lots, 0).unwrap_or_default().saturating_mul(lot)
}
