//! A trade booked to the account, and the three histories: fills, ledger, funding.

use super::account::Position;
use super::news::News;
use super::order::Spec;
use super::{Engine, FILLS_KEPT, HISTORY_KEPT, push_bounded};
use rust_decimal::Decimal;

/// Decimals of USDC; fees are cut off behind them.
const USDC_DECIMALS: u32 = 6;

/// A fill as `userFills` tells it.
#[derive(Clone, Debug)]
pub(crate) struct Fill {
    pub(crate) asset: u32,
    pub(crate) px: Decimal,
    pub(crate) sz: Decimal,
    pub(crate) is_buy: bool,
    pub(crate) at_ms: u64,
    pub(crate) start_position: Decimal,
    pub(crate) dir: &'static str,
    pub(crate) closed_pnl: Decimal,
    pub(crate) oid: u64,
    pub(crate) crossed: bool,
    pub(crate) fee: Decimal,
    pub(crate) tid: u64,
    pub(crate) twap_id: Option<u64>,
    pub(crate) cloid: Option<String>,
    /// The mark at which the account was liquidated, when this fill is part of that.
    pub(crate) liquidation_mark: Option<Decimal>,
    /// Set where the market is none of those that are traded here.
    pub(crate) elsewhere: Option<Elsewhere>,
}

/// What a fill of a pair of tokens, or of another dex, has apart.
#[derive(Clone, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) coin: String,
    pub(crate) fee_token: String,
    pub(crate) builder_fee: Option<Decimal>,
}

/// A deposit or a withdrawal.
#[derive(Clone, Debug)]
pub(crate) struct LedgerEntry {
    pub(crate) at_ms: u64,
    /// The balance moves at once; the ledger may show why later.
    pub(crate) visible_ms: u64,
    /// Negative for a withdrawal.
    pub(crate) usd: Decimal,
    /// What the ledger says of it; a deposit or withdrawal where nothing stands here.
    pub(crate) delta: Option<serde_json::Value>,
}

/// One funding payment.
#[derive(Clone, Debug)]
pub(crate) struct Funding {
    pub(crate) at_ms: u64,
    pub(crate) asset: u32,
    /// Negative when paid.
    pub(crate) usd: Decimal,
    pub(crate) szi: Decimal,
    pub(crate) rate: Decimal,
}

/// What a trade is part of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Origin {
    pub(crate) oid: u64,
    pub(crate) cloid: Option<String>,
    pub(crate) twap_id: Option<u64>,
    pub(crate) liquidation_mark: Option<Decimal>,
}

impl Origin {
    pub(crate) fn of(oid: u64, spec: &Spec, twap_id: Option<u64>) -> Self {
        Self { oid, cloid: spec.cloid.clone(), twap_id, liquidation_mark: None }
    }
}

/// One trade: how much, at what price, and whether it took liquidity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trade {
    pub(crate) asset: u32,
    pub(crate) is_buy: bool,
    pub(crate) px: Decimal,
    pub(crate) sz: Decimal,
    pub(crate) crossed: bool,
}

impl Engine {
    /// Books a trade: position, cash, fee, volume, fill. What follows for other orders is the caller's business
    /// (`after_position_changed`).
    pub(crate) fn book(&mut self, trade: Trade, origin: Origin) {
        let rate = if trade.crossed { self.settings.taker_fee } else { self.settings.maker_fee };
        self.book_at(trade, origin, rate);
    }

    /// Books a trade with its own fee rate.
    pub(crate) fn book_at(&mut self, trade: Trade, origin: Origin, fee_rate: Decimal) {
        let Trade { asset, is_buy, px, sz, crossed } = trade;
        let fee = (px * sz * fee_rate).trunc_with_scale(USDC_DECIMALS);
        let signed = if is_buy { sz } else { -sz };
        let start = self.szi(asset);
        let closed_pnl = self.move_position(asset, signed, px);
        self.account.cross_usd -= fee;
        self.account.volume += px * sz;
        let fill = Fill {
            asset,
            px,
            sz,
            is_buy,
            at_ms: self.now_ms,
            start_position: start,
            dir: direction(start, signed),
            closed_pnl,
            oid: origin.oid,
            crossed,
            fee,
            tid: self.next_tid,
            twap_id: origin.twap_id,
            cloid: origin.cloid,
            liquidation_mark: origin.liquidation_mark,
            elsewhere: None,
        };
        self.next_tid = self.next_tid.saturating_add(1);
        self.tell(News::Fill(fill.clone()));
        push_bounded(&mut self.fills, fill, FILLS_KEPT);
    }

    /// Moves cash and position; the realised profit, fee apart.
    fn move_position(&mut self, asset: u32, signed: Decimal, px: Decimal) -> Decimal {
        let start = self.szi(asset);
        let opposite = !start.is_zero() && start.is_sign_positive() != signed.is_sign_positive();
        let closing = if opposite { signed.abs().min(start.abs()) } else { Decimal::ZERO };
        let mut closed_pnl = Decimal::ZERO;
        if !closing.is_zero() {
            closed_pnl = self.close_part(asset, closing, px);
        }
        let opening = signed.abs() - closing;
        if !opening.is_zero() {
            let signed = if signed.is_sign_positive() { opening } else { -opening };
            self.open_part(asset, signed, px);
        }
        closed_pnl
    }

    /// Closes `closing` of the position. An isolated position keeps its cash in proportion; the rest comes free.
    fn close_part(&mut self, asset: u32, closing: Decimal, px: Decimal) -> Decimal {
        let Some(position) = self.account.positions.get_mut(&asset) else { return Decimal::ZERO };
        let signed = if position.is_long() { closing } else { -closing };
        let pnl = signed * (px - position.entry_px);
        let left = position.szi - signed;
        let proceeds = signed * px;
        match &mut position.isolated_usd {
            None => self.account.cross_usd += proceeds,
            Some(usd) => {
                let kept = *usd * left / position.szi;
                self.account.cross_usd += *usd + proceeds - kept;
                *usd = kept;
            }
        }
        position.szi = left;
        if left.is_zero() {
            self.account.positions.remove(&asset);
        }
        pnl
    }

    /// Opens `signed` more at `px`; an isolated position brings its initial margin along.
    fn open_part(&mut self, asset: u32, signed: Decimal, px: Decimal) {
        let margin = self.initial_margin(asset, signed.abs() * px);
        let is_cross = self.leverage(asset).is_cross;
        let position = self.account.positions.entry(asset).or_insert_with(|| Position {
            szi: Decimal::ZERO,
            entry_px: px,
            isolated_usd: (!is_cross).then_some(Decimal::ZERO),
            funding_since_open: Decimal::ZERO,
        });
        let total = position.szi + signed;
        position.entry_px = (position.szi * position.entry_px + signed * px) / total;
        position.szi = total;
        match &mut position.isolated_usd {
            None => self.account.cross_usd -= signed * px,
            Some(usd) => {
                self.account.cross_usd -= margin;
                *usd += margin - signed * px;
            }
        }
    }

    /// Deposits (or, negative, withdraws); the ledger tells of it `ledger_delay_ms` later.
    pub(crate) fn deposit(&mut self, usd: Decimal, ledger_delay_ms: u64) {
        self.note_in_ledger(usd, ledger_delay_ms, None);
    }

    /// A fill of a market that is none of those that are traded here: nothing moves but what it says.
    pub(crate) fn fill_elsewhere(
        &mut self,
        trade: Trade,
        elsewhere: Elsewhere,
        [start, closed_pnl, fee]: [Decimal; 3],
    ) {
        let Trade { asset, is_buy, px, sz, crossed } = trade;
        let (oid, tid) = (self.take_oid(), self.next_tid);
        self.next_tid = tid.saturating_add(1);
        let dir = if is_buy { "Buy" } else { "Sell" };
        let (at_ms, start_position) = (self.now_ms, start);
        let fill = Fill {
            asset,
            px,
            sz,
            is_buy,
            at_ms,
            start_position,
            dir,
            closed_pnl,
            oid,
            crossed,
            fee,
            tid,
            twap_id: None,
            cloid: None,
            liquidation_mark: None,
            elsewhere: Some(elsewhere),
        };
        self.tell(News::Fill(fill.clone()));
        push_bounded(&mut self.fills, fill, FILLS_KEPT);
    }

    /// Moves the cash by `usd`, with these words of the ledger.
    pub(crate) fn note_in_ledger(&mut self, usd: Decimal, ledger_delay_ms: u64, delta: Option<serde_json::Value>) {
        self.account.cross_usd += usd;
        let visible_ms = self.now_ms.saturating_add(ledger_delay_ms);
        let entry = LedgerEntry { at_ms: self.now_ms, visible_ms, usd, delta };
        self.tell(News::Ledger(entry.clone()));
        push_bounded(&mut self.ledger, entry, HISTORY_KEPT);
        self.liquidate();
    }

    /// A trade made by hand: what it takes to hold `szi`, done at `px` without a fee.
    pub(crate) fn trade_by_hand(&mut self, asset: u32, szi: Decimal, px: Decimal) {
        let delta = szi - self.szi(asset);
        if delta.is_zero() {
            return;
        }
        let trade = Trade { asset, is_buy: delta.is_sign_positive(), px, sz: delta.abs(), crossed: true };
        let origin = Origin { oid: self.take_oid(), ..Origin::default() };
        self.book_at(trade, origin, Decimal::ZERO);
        self.after_position_changed(asset);
        self.liquidate();
    }
}

/// The fill's direction in the venue's words.
fn direction(start: Decimal, signed: Decimal) -> &'static str {
    let end = start + signed;
    let buys = signed.is_sign_positive();
    if start.is_zero() || start.is_sign_positive() == buys {
        return if buys { "Open Long" } else { "Open Short" };
    }
    match (end.is_zero() || end.is_sign_positive() == start.is_sign_positive(), buys) {
        (true, true) => "Close Short",
        (true, false) => "Close Long",
        (false, true) => "Short > Long",
        (false, false) => "Long > Short",
    }
}
