//! Alerts that are no ill health: limits that come near, an API wallet that expires, money that moved oddly.

use crate::base::amount::{cents, to_wire};
use crate::base::moment::utc;
use crate::guard::alert_code::AlertCode;
use crate::guard::config::Mode;
use crate::guard::flow::over_limit;
use crate::guard::report::problems;
use crate::guard::state::allowance::{KEPT, KEPT_FOR_GUARD};
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::risk_state::RiskState;
use crate::record::status::Alert;

/// An API wallet's end is told of this long before.
const EXPIRY_NOTICE_MS: u64 = 7 * 86_400_000;

/// An action without an answer is told of after this long: by then most are settled.
const DOUBT_NOTICE_MS: u64 = 10_000;

/// Fewer requests that the venue still takes from the account are told of: a batch may be refused already while more than
/// what is kept for exits is left.
const ALLOWANCE_NEAR: u64 = 2 * KEPT;

/// What the book asks for and does not get, with since when. Where the disk takes nothing that is told, not this.
fn book_behind(guard: &Guard) -> impl Iterator<Item = (&'static str, u64)> {
    let (book, now_ms) = (&guard.book, guard.clock.earliest_ms());
    let is_well = guard.journal_error.is_none() && !guard.is_disk_full;
    let reads = [("fills", &book.fill_reads), ("payments of funding", &book.funding_reads)];
    let behind = reads.map(|(what, reads)| reads.behind_since_ms(now_ms).filter(|_| is_well).map(|ms| (what, ms)));
    behind.into_iter().flatten()
}

/// Actions that have had no answer for a while: an order that nobody knows of may rest or have filled.
fn in_doubt(guard: &Guard, now_ms: u64) -> Option<Alert> {
    let since = guard.doubts.values().map(|doubt| doubt.since_ms.saturating_add(DOUBT_NOTICE_MS));
    let due: Vec<u64> = since.filter(|since_ms| now_ms > *since_ms).collect();
    let (count, since_ms) = (due.len(), due.into_iter().min()?);
    let actions = if count == 1 { "action has" } else { "actions have" };
    let text = format!(
        "{count} {actions} had no answer from the venue: what became of that is asked for, and stays counted until it is \
         known; nothing is sent again"
    );
    Some(Alert { code: AlertCode::InDoubt.as_str().into(), about: None, text, since_ms: Some(since_ms) })
}

/// The limits of losses that are near, with since when; what the halt of one tells is no warning any more.
fn near(guard: &Guard) -> Vec<(AlertCode, String, u64)> {
    let Some(figures) = guard.known_equity().and_then(|equity| guard.risk.figures(equity, &guard.config)) else {
        return Vec::new();
    };
    let losses = [
        (AlertCode::DailyLossNear, "the day's loss", -figures.day_pnl, figures.daily_loss_limit),
        (AlertCode::DrawdownNear, "the drawdown", figures.drawdown, figures.drawdown_limit),
    ];
    let is_over = |code: AlertCode| match guard.risk.state {
        RiskState::Active => false,
        RiskState::HaltedForDay => code == AlertCode::DailyLossNear,
        RiskState::DrawdownHalt => true,
    };
    let near = losses.into_iter().zip(guard.risk.near_ms).filter(|((code, ..), _)| !is_over(*code));
    near.filter_map(|((code, what, loss, limit), since_ms)| {
        let how = if loss >= limit { "has reached" } else { "is over 60% of" };
        Some((code, format!("{what} {} {how} its limit {}", cents(loss), cents(limit)), since_ms?))
    })
    .collect()
}

/// What a person should look at although the service is well.
pub(crate) fn warnings(guard: &Guard, now_ms: u64) -> Vec<Alert> {
    let mut alerts: Vec<Alert> = in_doubt(guard, now_ms).into_iter().collect();
    let mut named = |code: AlertCode, about: Option<String>, text: String, since_ms: Option<u64>| {
        alerts.push(Alert { code: code.as_str().into(), about, text, since_ms });
    };
    if let Some((excesses, since_ms)) = over_limit::confirmed(guard) {
        for excess in excesses {
            let text = format!("{}; entries that rest are cancelled until it fits, positions stay", excess.text(guard));
            named(AlertCode::OverLimit, Some(excess.about(guard)), text, since_ms);
        }
    }
    for (text, at_ms) in &guard.risk.oddities {
        // What moved is in its first words.
        let about = text.split("; ").next().map(str::to_owned);
        named(AlertCode::LedgerOdd, about, text.clone(), Some(*at_ms));
    }
    for (text, at_ms) in guard.book.told(guard.clock.latest_ms()) {
        named(AlertCode::BookDiffers, None, text, Some(at_ms));
    }
    for (what, since_ms) in book_behind(guard) {
        let text = format!("{what} could not all be read since {}: the book lacks some until they are", utc(since_ms));
        named(AlertCode::BookDiffers, Some(what.to_owned()), text, Some(since_ms));
    }
    // On paper nothing is covered, so that this is no worse than the rest.
    for (coin, text) in problems::unknown_positions(guard).filter(|_| guard.config.mode == Mode::Paper) {
        named(AlertCode::PositionUnknown, Some(coin), text, None);
    }
    for (asset, size) in guard.watch.dust() {
        let coin = guard.view.coin(asset);
        let text = format!("the position of {} {coin} is too small to be closed", to_wire(size));
        named(AlertCode::Dust, Some(coin), text, None);
    }
    let mut alert = |code: AlertCode, text: String, since_ms: Option<u64>| named(code, None, text, since_ms);
    for (code, text, since_ms) in near(guard) {
        alert(code, text, Some(since_ms));
    }
    // Fewer than the guard needs itself are ill health, and told of there.
    if let Some(left) = guard.allowance.left().filter(|left| (KEPT_FOR_GUARD..ALLOWANCE_NEAR).contains(left)) {
        let text = format!(
            "the venue takes {left} more requests from this account; under {KEPT} only what reduces a position now passes"
        );
        alert(AlertCode::VenueBudget, text, None);
    }
    // An end by the venue's clock: this machine's may be off.
    let now_ms = guard.clock.best_ms();
    if let Some(until_ms) = guard.api_wallet_valid_until_ms
        && until_ms.saturating_sub(now_ms) <= EXPIRY_NOTICE_MS
    {
        let hours = until_ms.saturating_sub(now_ms) / 3_600_000;
        let text = format!(
            "the API wallet's approval ends in {hours} hours; approve a new one at the venue, give its key with `svc-guard \
             key replace --key-stdin < FILE`, and restart"
        );
        alert(AlertCode::ApiWalletExpiring, text, Some(until_ms.saturating_sub(EXPIRY_NOTICE_MS)));
    }
    problems::typed(guard, alerts)
}

impl Guard {
    /// What a person should look at although the service is well.
    #[must_use]
    pub fn warnings(&self, now_ms: u64) -> Vec<Alert> {
        warnings(self, now_ms)
    }
}
