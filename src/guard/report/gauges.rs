//! Figures for a monitor: what the status tells, as numbers.

use crate::base::amount::percent_of;
use crate::guard::report::{alerts, feed, if_away, open_orders, problems};
use crate::guard::state::exposure::Exposure;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::risk_state::RiskState;
use crate::guard::state::standing_stops::bare_size;
use crate::record::status::{FeedStatus, IfAway};
use rust_decimal::Decimal;

/// Every risk state.
pub const RISK_STATES: [&str; 3] =
    [RiskState::Active.name(), RiskState::HaltedForDay.name(), RiskState::DrawdownHalt.name()];

/// Every owner that an open order can have.
pub const OWNERS: [&str; 3] = ["bot", "guard", "other"];

/// The figures at one moment. What is not known yet is `None`.
#[derive(Debug)]
pub struct Gauges {
    /// The risk state's name, one of [`RISK_STATES`].
    pub risk_state: &'static str,
    /// Whether the kill switch is pulled.
    pub is_killed: bool,
    /// Whether nothing keeps the guard from being healthy.
    pub is_healthy: bool,
    /// Equity, limits and what is used of them.
    pub money: Money,
    /// Age of the last account read.
    pub account_age_ms: Option<u64>,
    /// Age of the last price read.
    pub prices_age_ms: Option<u64>,
    /// Age of the last read of the open orders.
    pub orders_age_ms: Option<u64>,
    /// The live feed; none where it is not listened to.
    pub feed: Option<FeedStatus>,
    /// Positions held.
    pub positions: usize,
    /// How many of them market stops do not cover in full.
    pub uncovered: usize,
    /// What the venue is left with if the guard goes away; `None` before it was read.
    pub if_away: Option<IfAway>,
    /// The owner of each open order, of [`OWNERS`].
    pub order_owners: Vec<&'static str>,
    /// The code of each alert.
    pub alerts: Vec<String>,
    /// When the API wallet's approval ends, where the venue says it.
    pub api_wallet_valid_until_ms: Option<u64>,
    /// By how much this machine's clock is ahead of the venue's at least; behind is negative.
    pub clock_offset_ms: Option<i64>,
    /// What the book of money is off by, where it can be compared.
    pub book_difference: Option<Decimal>,
    /// How often it did not add up.
    pub book_discrepancies: u64,
    /// Intents with actions still to send or to be answered.
    pub intents: usize,
    /// Actions without an answer.
    pub in_doubt: usize,
}

/// Amounts in USDC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Money {
    /// The account's equity.
    pub equity: Option<Decimal>,
    /// Equity at the day's start.
    pub day_start: Option<Decimal>,
    /// Profit since the day's start, a loss with a minus.
    pub day_pnl: Option<Decimal>,
    /// The loss of a day that stops it.
    pub daily_loss_limit: Option<Decimal>,
    /// The highest equity.
    pub peak: Option<Decimal>,
    /// What is lost since the peak.
    pub drawdown: Option<Decimal>,
    /// The drawdown that halts.
    pub drawdown_limit: Option<Decimal>,
    /// What is lost if every stop is hit.
    pub open_risk: Option<Decimal>,
    /// The most of it.
    pub open_risk_limit: Option<Decimal>,
    /// Gross exposure.
    pub exposure: Option<Decimal>,
    /// The most of it.
    pub exposure_limit: Option<Decimal>,
}

impl Guard {
    /// The figures now.
    #[must_use]
    pub fn gauges(&self, now_ms: u64) -> Gauges {
        let age = |at_ms: Option<u64>| at_ms.map(|at_ms| now_ms.saturating_sub(at_ms));
        let problems = problems::problems(self, now_ms);
        let is_healthy = problems.is_empty();
        let alerts = [problems, alerts::warnings(self, now_ms)].concat();
        let exposure = self.exposure();
        let money = money(self, &exposure);
        let (positions, uncovered) = position_counts(self);
        Gauges {
            risk_state: self.risk.state.name(),
            is_killed: self.killed.is_some(),
            is_healthy,
            money,
            account_age_ms: age(self.view.account.as_ref().map(|account| account.shown_ms())),
            prices_age_ms: age(self.view.mids_ms),
            orders_age_ms: age(self.view.orders_known_ms()),
            feed: feed::status(self, now_ms),
            positions,
            uncovered,
            if_away: if_away::if_away(self),
            order_owners: open_orders::order_owners(self),
            alerts: alerts.into_iter().map(|alert| alert.code.into_owned()).collect(),
            api_wallet_valid_until_ms: self.api_wallet_valid_until_ms,
            clock_offset_ms: self.clock.offset_ms(),
            book_difference: self.book.audit.difference,
            book_discrepancies: self.book.audit.discrepancies,
            intents: self.intents.len(),
            in_doubt: self.doubts.len(),
        }
    }
}

/// Equity, limits and what is used of them.
pub(crate) fn money(guard: &Guard, exposure: &Exposure) -> Money {
    let Some((equity, least)) = guard.equity_now().zip(guard.known_equity()) else { return Money::default() };
    let rules = &guard.config.rules;
    let (totals, base) = (exposure.totals(), guard.config.base_equity(least));
    let figures = guard.risk.figures(equity, &guard.config);
    Money {
        equity: Some(equity),
        day_start: figures.map(|figures| figures.day_start),
        day_pnl: figures.map(|figures| figures.day_pnl),
        daily_loss_limit: figures.map(|figures| figures.daily_loss_limit),
        peak: figures.map(|figures| figures.peak),
        drawdown: figures.map(|figures| figures.drawdown),
        drawdown_limit: figures.map(|figures| figures.drawdown_limit),
        open_risk: Some(totals.loss),
        open_risk_limit: Some(percent_of(base, rules.open_risk)),
        exposure: Some(totals.notional),
        exposure_limit: Some(percent_of(base, rules.exposure)),
    }
}

/// How many positions there are, and how many of them are not covered in full.
fn position_counts(guard: &Guard) -> (usize, usize) {
    let positions = guard.view.account.iter().flat_map(|account| account.positions.keys());
    positions.fold((0, 0), |(all, bare), asset| {
        (all.saturating_add(1), bare.saturating_add(usize::from(!bare_size(guard, *asset).is_zero())))
    })
}
