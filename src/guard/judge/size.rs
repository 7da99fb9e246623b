//! Size limits: the largest size of an entry that every cap allows.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::Veto;
use super::stop::Entry;
use crate::guard::book::{Book, EntryLeg, StopAt, percent_of};
use crate::guard::code::Code;
use crate::guard::state::Guard;
use crate::venue::amount::to_wire;
use crate::venue::market::Market;
use crate::venue::order::Order;

/// The venue refuses orders of less notional than this, USDC.
const MIN_NOTIONAL: Decimal = Decimal::TEN;

/// A cap that a size breaks.
#[derive(Debug, Clone)]
struct Breach {
    code: Code,
    /// Broken by the liquidation price, which has no code of its own.
    is_liquidation: bool,
    text: String,
    /// The limit and the actual value.
    figures: (String, String),
}

/// Cuts `order` to the largest size within every cap and adds it to the book. `stop` is where it is stopped out.
///
/// An order that also closes a position is cut no further than to its closing part, which then goes as reduce-only.
pub(super) fn cut(
    guard: &Guard,
    book: &mut Book,
    target: &Entry<'_>,
    order: &mut Order,
    stop: StopAt,
) -> Result<Option<String>, Veto> {
    let market = target.market;
    let closing = order.size.saturating_sub(book.market(guard, market.asset).entry_part(order));
    let mut leg = EntryLeg { size: order.size, px: order.limit_px, stop: Some(stop) };
    let Some(breach) = try_size(guard, book, target, leg, closing) else { return Ok(None) };

    // Every cap grows with the size, so the largest size that fits is found by halving.
    let lot = market.lot();
    let lots = |size: Decimal| size.checked_div(lot).and_then(|lots| lots.trunc().to_i128()).unwrap_or(0);
    let (mut fits, mut breaks, mut binding) = (lots(closing), lots(order.size), breach.clone());
    while breaks - fits > 1 {
        let middle = fits + (breaks - fits) / 2;
        leg.size = of_lots(middle, lot);
        match try_size(guard, book, target, leg, closing) {
            None => {
                book.take_back(market.asset, order.is_buy);
                fits = middle;
            }
            Some(breach) => {
                breaks = middle;
                binding = breach;
            }
        }
    }
    let size = market.floor_size(of_lots(fits, lot));
    let left = size.saturating_sub(closing);
    // The cap that stops the last lot decides; where it is the one that the size asked for breaks, that is told.
    if (binding.code, binding.is_liquidation) == (breach.code, breach.is_liquidation) {
        binding = breach;
    }
    let asked = std::mem::replace(&mut order.size, size);
    if left.saturating_mul(order.limit_px) >= MIN_NOTIONAL {
        leg.size = size;
        book.add(guard, market.asset, order.is_buy, false, leg);
        return Ok(Some(format!("{}; cut from {} to {}", binding.text, to_wire(asked), to_wire(size))));
    }
    if closing.is_zero() {
        let text = format!("{}; what is left is under the venue's minimum of {MIN_NOTIONAL} USDC", binding.text);
        let (limit, actual) = binding.figures;
        return Err(Veto::new(binding.code, text).with(&limit, &actual));
    }
    (order.size, order.reduce_only) = (closing, true);
    leg.size = closing;
    book.add(guard, market.asset, order.is_buy, true, leg);
    Ok(Some(format!("{}; cut from {} to the {} that closes", binding.text, to_wire(asked), to_wire(closing))))
}

/// Adds the leg to the book if it fits; otherwise leaves the book as it was and names the cap.
fn try_size(guard: &Guard, book: &mut Book, entry: &Entry<'_>, leg: EntryLeg, closing: Decimal) -> Option<Breach> {
    let (asset, is_buy) = (entry.market.asset, entry.is_long);
    let opening = leg.size.saturating_sub(closing);
    let value = opening.saturating_mul(book.market(guard, asset).unit_value(is_buy, leg.px));
    book.add(guard, asset, is_buy, false, leg);
    let breach = caps(guard, book, entry.market, value)
        .or_else(|| leg.stop.and_then(|stop| liquidation(guard, entry, stop, opening)));
    if breach.is_some() {
        book.take_back(asset, is_buy);
    }
    breach
}

/// A size at which the position would be liquidated before any stop could be hit.
fn liquidation(guard: &Guard, entry: &Entry<'_>, stop: StopAt, opening: Decimal) -> Option<Breach> {
    if entry.inside_liquidation(guard, stop.px, opening).is_some() {
        return None;
    }
    let liquidated_at = cents(entry.liquidation_px(guard, opening).unwrap_or_default());
    let text = format!(
        "{} would be liquidated at {liquidated_at}, too near to the price {} for a stop in between",
        entry.market.coin,
        to_wire(entry.px),
    );
    Some(Breach { code: Code::LossLimit, is_liquidation: true, text, figures: (to_wire(entry.px), liquidated_at) })
}

/// The first cap that the book breaks with an order of this value in it.
fn caps(guard: &Guard, book: &Book, market: &Market, value: Decimal) -> Option<Breach> {
    let rules = &guard.config.rules;
    let base = guard.config.base_equity(guard.view.equity().unwrap_or_default());
    let (worst, totals) = (book.figures(market.asset), book.totals());
    let coin = market.coin.as_str();
    let checks = [
        (Code::LossLimit, worst.loss, rules.loss_per_trade, coin, " loss if stopped"),
        (Code::OpenRiskLimit, totals.loss, rules.open_risk, "", "open risk of all positions and orders"),
        (Code::PositionLimit, worst.notional, rules.position, coin, " notional"),
        (Code::ExposureLimit, totals.notional, rules.exposure, "", "gross notional of all positions and orders"),
    ];
    for (code, actual, limit_pct, whose, what) in checks {
        let limit = percent_of(base, limit_pct);
        if actual > limit {
            let text = format!("{whose}{what} {} is over {limit_pct}% of equity {}", cents(actual), cents(base));
            return Some(Breach { code, is_liquidation: false, text, figures: (cents(limit), cents(actual)) });
        }
    }
    let limit = rules.order_value.filter(|limit| value > *limit)?;
    let text = format!("{coin} order value {} is over {}", cents(value), cents(limit));
    let figures = (cents(limit), cents(value));
    Some(Breach { code: Code::OrderValueLimit, is_liquidation: false, text, figures })
}

fn of_lots(lots: i128, lot: Decimal) -> Decimal {
    Decimal::try_from_i128_with_scale(lots, 0).unwrap_or_default().saturating_mul(lot)
}

fn cents(amount: Decimal) -> String {
    format!("{:.2}", amount)
}
