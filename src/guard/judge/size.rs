//! Size limits: the largest size of an entry that every cap allows.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use super::stop::Entry;
use super::veto::Veto;
use crate::base::amount::percent_of;
use crate::base::amount::to_wire;
use crate::guard::code::Code;
use crate::guard::state::exposure::{Book, EntryLeg, StopAt};
use crate::guard::state::guard::Guard;
use crate::venue::market::{MIN_NOTIONAL, Market};
use crate::venue::order::Order;

/// A cap that a size breaks.
#[derive(Debug)]
struct Breach {
    code: Code,
    /// Broken by the liquidation price, which has no code of its own.
    is_liquidation: bool,
    text: String,
    /// The limit and the actual value.
    figures: (String, String),
}

impl Breach {
    /// Which cap it is.
    fn cap(&self) -> (Code, bool) {
        (self.code, self.is_liquidation)
    }
}

/// How many caps there are.
const CAPS: usize = 6;

/// Cuts `order` to the largest size within every cap and adds it to the book. `stop` is where it is stopped out.
///
/// An order that also closes a position is cut no further than to its closing part, which then goes as reduce-only.
pub(crate) fn cut(
    guard: &Guard,
    book: &mut Book,
    target: &Entry<'_>,
    order: &mut Order,
    stop: StopAt,
) -> Result<Option<String>, Veto> {
    let market = target.market;
    let closing = order.size.saturating_sub(book.market(guard, market.asset).entry_part(order));
    let mut leg = EntryLeg { size: order.size, px: order.limit_px, stop: Some(stop) };
    let asked = try_size(guard, book, target, leg, closing, CAPS);
    let Some(first) = asked.first() else { return Ok(None) };

    // Every cap grows with the size, so the largest size that fits is found by halving.
    let lot = market.lot();
    let lots = |size: Decimal| size.checked_div(lot).and_then(|lots| lots.trunc().to_i128()).unwrap_or(0);
    let (mut fits, mut breaks, mut binding) = (lots(closing), lots(order.size), first.cap());
    while breaks - fits > 1 {
        let middle = fits + (breaks - fits) / 2;
        leg.size = of_lots(middle, lot);
        match try_size(guard, book, target, leg, closing, 1).first() {
            None => {
                book.take_back(market.asset, order.is_buy);
                fits = middle;
            }
            Some(breach) => {
                breaks = middle;
                binding = breach.cap();
            }
        }
    }
    let size = market.floor_size(of_lots(fits, lot));
    let left = size.saturating_sub(closing);
    // The cap that stops the last lot decides. It is told with what the size asked for would have come to.
    let binding = asked.iter().find(|breach| breach.cap() == binding).unwrap_or(first);
    let asked = std::mem::replace(&mut order.size, size);
    if left.saturating_mul(order.limit_px) >= MIN_NOTIONAL {
        leg.size = size;
        book.add(guard, market.asset, order.is_buy, false, leg);
        return Ok(Some(format!("{}; cut from {} to {}", binding.text, to_wire(asked), to_wire(size))));
    }
    if closing.is_zero() {
        let text = format!("{}; what is left is under the venue's minimum of {MIN_NOTIONAL} USDC", binding.text);
        let (limit, actual) = &binding.figures;
        return Err(Veto::new(binding.code, text).with(limit, actual));
    }
    (order.size, order.reduce_only) = (closing, true);
    leg.size = closing;
    book.add(guard, market.asset, order.is_buy, true, leg);
    Ok(Some(format!("{}; cut from {} to the {} that closes", binding.text, to_wire(asked), to_wire(closing))))
}

/// Adds the leg to the book if it fits; otherwise leaves the book as it was and names the caps that it breaks, the first
/// `most` of them.
fn try_size(
    guard: &Guard,
    book: &mut Book,
    entry: &Entry<'_>,
    leg: EntryLeg,
    closing: Decimal,
    most: usize,
) -> Vec<Breach> {
    let (asset, is_buy) = (entry.market.asset, entry.is_long);
    let opening = leg.size.saturating_sub(closing);
    let value = opening.saturating_mul(book.market(guard, asset).unit_value(is_buy, leg.px));
    book.add(guard, asset, is_buy, false, leg);
    let liquidated = || leg.stop.and_then(|stop| liquidation(guard, entry, stop, opening));
    let broken = caps(guard, book, entry.market, value).chain(std::iter::once_with(liquidated).flatten());
    let broken: Vec<Breach> = broken.take(most).collect();
    if !broken.is_empty() {
        book.take_back(asset, is_buy);
    }
    broken
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

/// The caps that the book breaks with an order of this value in it.
fn caps<'a>(
    guard: &'a Guard,
    book: &Book,
    market: &'a Market,
    value: Decimal,
) -> impl Iterator<Item = Breach> + use<'a> {
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
    let of_equity = checks.into_iter().filter_map(move |(code, actual, limit_pct, whose, what)| {
        let limit = percent_of(base, limit_pct);
        (actual > limit).then(|| Breach {
            code,
            is_liquidation: false,
            text: format!("{whose}{what} {} is over {limit_pct}% of equity {}", cents(actual), cents(base)),
            figures: (cents(limit), cents(actual)),
        })
    });
    let of_value = rules.order_value.filter(|limit| value > *limit).map(|limit| Breach {
        code: Code::OrderValueLimit,
        is_liquidation: false,
        text: format!("{coin} order value {} is over {}", cents(value), cents(limit)),
        figures: (cents(limit), cents(value)),
    });
    of_equity.chain(of_value)
}

fn of_lots(lots: i128, lot: Decimal) -> Decimal {
    Decimal::try_from_i128_with_scale(lots, 0).unwrap_or_default().saturating_mul(lot)
}

fn cents(amount: Decimal) -> String {
    format!("{:.2}", amount)
}
