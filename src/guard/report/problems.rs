//! Problems: the conditions that keep the guard from being healthy.

use crate::base::amount::to_wire;
use crate::base::moment::{span, utc};
use crate::guard::alert_code::AlertCode;
use crate::guard::config::Mode;
use crate::guard::flow::{discrepancies, hindrances, signer};
use crate::guard::judge::admission::{halted, killed};
use crate::guard::report::feed;
use crate::guard::state::allowance::KEPT_FOR_GUARD;
use crate::guard::state::guard::Guard;
use crate::guard::state::risk::unconfirmed_loss::MAX_DOUBT_MS;
use crate::guard::state::standing_stops::{bare_size, too_far};
use crate::guard::state::view::AccountView;
use crate::record::error_body::Health;
use crate::record::status::Alert;

/// Closing everything and reading its TWAP orders may take this long before it is told.
const NOTICE_MS: u64 = 10_000;
/// Ledger or mode unread are told of after this long: a loss is believed without them sooner.
const UNREAD_NOTICE_MS: u64 = 60_000;
/// A position that its stops do not cover in full is told of after this long.
const BARE_NOTICE_MS: u64 = 5_000;

pub(crate) fn problems(guard: &Guard, now_ms: u64) -> Vec<Alert> {
    let mut alerts = Vec::new();
    let mut named = |code: AlertCode, about: Option<String>, text: String, since_ms: Option<u64>| {
        alerts.push(Alert { code: code.as_str().into(), about, text, since_ms });
    };
    for (coin, text, since_ms) in uncovered(guard, now_ms).chain(unshown(guard, now_ms)) {
        named(AlertCode::Uncovered, Some(coin), text, Some(since_ms));
    }
    for (coin, text) in unknown_positions(guard).filter(|_| guard.config.mode != Mode::Paper) {
        named(AlertCode::PositionUnknown, Some(coin), text, None);
    }
    for (about, text, since_ms) in discrepancies::told(guard) {
        let text = format!("{text}; compare it with the venue's own page");
        named(AlertCode::Discrepancy, about, text, Some(since_ms));
    }
    let mut alert = |code: AlertCode, text: String, since_ms: Option<u64>| named(code, None, text, since_ms);
    for (code, text, since_ms) in stale(guard, now_ms) {
        alert(code, text, since_ms);
    }
    if let Some((text, since_ms)) = unvalued(guard) {
        alert(AlertCode::AccountMode, text, Some(since_ms));
    }
    if let Some((off_ms, since_ms)) = guard.clock.off_by() {
        let where_to = if off_ms > 0 { "ahead of" } else { "behind" };
        let by = span(off_ms.unsigned_abs());
        let text = format!(
            "this machine's clock is {by} {where_to} the venue's; set it right, by NTP: `timedatectl set-ntp true`"
        );
        alert(AlertCode::ClockOff, text, Some(since_ms));
    }
    if guard.unsettled.len() > 0 {
        let count = guard.unsettled.len();
        let actions = if count == 1 { "action" } else { "actions" };
        let text = format!("{count} {actions} whose outcome could not be settled; look at the account");
        alert(AlertCode::Unsettled, text, None);
    }
    if let Some((text, since_ms)) = signer::unknown_signer_text(guard) {
        alert(AlertCode::SignerUnknown, text, Some(since_ms));
    }
    if let Some(problem) = &guard.journal_error {
        alert(AlertCode::JournalError, format!("decisions cannot be written: {problem}"), None);
    }
    for (code, (text, since_ms)) in &guard.concerns {
        alert(*code, text.clone(), Some(*since_ms));
    }
    alerts.extend(equity_unread(guard, now_ms).into_iter().chain(account_alone(guard, now_ms)));
    alerts.extend(ledger_unread(guard, now_ms));
    alerts.extend(role_unread(guard).into_iter().chain(markets_changed(guard)));
    alerts.extend(feed::feed_down(guard, now_ms).into_iter().chain(not_flat(guard, now_ms)));
    alerts.extend(allowance_unread(guard).or_else(|| allowance_low(guard)));
    alerts.extend(twaps_unread(guard, now_ms));
    typed(guard, alerts)
}

/// The same alerts with their commands for this home.
pub(crate) fn typed(guard: &Guard, mut alerts: Vec<Alert>) -> Vec<Alert> {
    alerts.iter_mut().for_each(|alert| alert.text = guard.config.typed(&alert.text));
    alerts
}

/// What was read too long ago to open anything by, or never.
fn stale(guard: &Guard, now_ms: u64) -> impl Iterator<Item = (AlertCode, String, Option<u64>)> {
    let account = guard.view.account.as_ref().filter(|_| !guard.is_account_older());
    let reads = [
        (AlertCode::AccountStale, "account", account.map(|account| account.shown_ms()), guard.account_max_age_ms()),
        (AlertCode::OrdersStale, "open orders", guard.view.orders_known_ms(), guard.orders_max_age_ms()),
        (AlertCode::PriceStale, "prices", guard.view.mids_ms, guard.prices_max_age_ms()),
    ];
    reads.into_iter().filter_map(move |(code, name, at_ms, limit_ms)| {
        let what = if code == AlertCode::PriceStale { name.to_owned() } else { format!("the {name}") };
        let why = guard.failing_reads.get(name).map_or_else(String::new, |(why, _)| format!("; {why}"));
        let Some(at_ms) = at_ms else { return Some((code, format!("{what}: not read yet{why}"), None)) };
        if now_ms.saturating_sub(at_ms) <= limit_ms {
            return None;
        }
        let limit = span(limit_ms);
        let text = if code == AlertCode::AccountStale && guard.is_account_held(now_ms) {
            format!("{what}: the venue's answers stand still, as of over {limit} ago")
        } else {
            format!("{what}: last read over {limit} ago{why}")
        };
        Some((code, text, Some(at_ms.saturating_add(limit_ms))))
    })
}

/// The account is read, but not what it is worth.
fn equity_unread(guard: &Guard, now_ms: u64) -> Option<Alert> {
    let account = guard.view.account.as_ref().filter(|account| !account.is_valued())?;
    let limit_ms = guard.config.account_max_age_ms;
    let since_ms = account.valued_ms.map(|valued_ms| valued_ms.saturating_add(limit_ms));
    if since_ms.is_some_and(|since_ms| now_ms <= since_ms) {
        return None;
    }
    let (when, since) = match since_ms {
        Some(_) => (format!("for over {}", span(limit_ms)), "it was"),
        None => ("yet".to_owned(), "the start, as if nothing had been lost before"),
    };
    let text = format!(
        "the account's equity: not read {when}; what is held has its cover, entries are vetoed, and halts go by what the \
         positions win and lose since {since}"
    );
    let about = Some("equity".to_owned());
    Some(Alert { code: AlertCode::AccountStale.as_str().into(), about, text, since_ms })
}

/// The account was read, and nothing has said yet that the read was right.
fn account_alone(guard: &Guard, now_ms: u64) -> Option<Alert> {
    guard.risk.first.as_ref().filter(|first| first.is_pressing(now_ms))?;
    let text = "the account: read once since the start, and another read has not agreed with that yet".to_owned();
    let about = Some("first read".to_owned());
    Some(Alert { code: AlertCode::AccountStale.as_str().into(), about, text, since_ms: None })
}

/// Nobody can say for long what of the equity was paid in or out, or in which purse it is.
fn ledger_unread(guard: &Guard, now_ms: u64) -> Option<Alert> {
    let failing = ["ledger", "mode"].into_iter().filter_map(|name| Some((name, guard.failing_reads.get(name)?)));
    let (name, (why, since_ms)) = failing.min_by_key(|(_, (_, since_ms))| *since_ms)?;
    let since_ms = since_ms.saturating_add(UNREAD_NOTICE_MS);
    let of = if name == "ledger" { "the ledger" } else { "the account's mode" };
    let text = format!(
        "{of}: not read for over {}; {why}; until it is, what is withdrawn counts as lost after {}, and a halt by a loss that was \
         realised waits as long",
        span(UNREAD_NOTICE_MS),
        span(MAX_DOUBT_MS)
    );
    let code = AlertCode::LedgerUnread.as_str().into();
    (now_ms > since_ms).then(|| Alert { code, about: Some(name.to_owned()), text, since_ms: Some(since_ms) })
}

/// What the account is worth is not known.
const MODE_UNREAD: &str = "the account's mode could not be read since the start, and so its equity is not known: entries are \
     vetoed and no loss is measured";

/// The account's mode is one whose equity cannot be valued, or is not known.
fn unvalued(guard: &Guard) -> Option<(String, u64)> {
    let (mode, since_ms) = guard.risk.unvalued.as_ref()?;
    let text = if guard.risk.is_mode_unread {
        // Before account and open orders are read nothing is covered, and nothing that could be closed is known.
        let is_read = guard.is_account_known() && guard.view.orders_known_ms().is_some();
        let rest = if is_read { "; positions are covered, exits and the kill switch work" } else { "" };
        format!("{MODE_UNREAD}{rest}")
    } else {
        format!(
            "the account's mode is {mode}, whose equity cannot be valued surely: entries are vetoed, and halts go by what \
             the positions win and lose; set the mode back, or stop the service"
        )
    };
    Some((text, *since_ms))
}

/// Positions that have been bare for a while.
fn uncovered(guard: &Guard, now_ms: u64) -> impl Iterator<Item = (String, String, u64)> {
    let bare = guard.watch.bare_ms.iter().filter(move |(_, since_ms)| {
        guard.config.mode != Mode::Paper && now_ms.saturating_sub(**since_ms) > BARE_NOTICE_MS
    });
    let unread = orders_unread(guard, now_ms);
    bare.map(move |(asset, since_ms)| {
        let (coin, bare) = (guard.view.coin(*asset), to_wire(bare_size(guard, *asset)));
        let text = match &unread {
            None => {
                let why = guard.watch.retry(*asset).and_then(|retry| retry.failed_stop().or(retry.failed_close()));
                let why = why
                    .map_or_else(String::new, |why| format!(": {why}; close it at the venue's own page if it lasts"));
                // Whoever looks at the venue finds that one, and would not believe the rest.
                let far = too_far(guard, *asset).map_or_else(String::new, |px| {
                    format!(" that counts (the one at {} stands too far off)", to_wire(px))
                });
                format!("{bare} of the position in {coin} has no stop{far}{why}")
            }
            Some(unread) => format!("whether {bare} of the position in {coin} has a stop is not known: {unread}"),
        };
        (coin, text, *since_ms)
    })
}

/// Positions of which the guard knows no market, nor any stop.
pub(crate) fn unknown_positions(guard: &Guard) -> impl Iterator<Item = (String, String)> {
    guard.view.account.iter().flat_map(|account| account.unknown.keys()).map(|coin| {
        let text = format!(
            "the position in {coin} is in no market that is known here: it has no stop of the guard's and counts in no limit; watch \
             it, or close it, at the venue's own page"
        );
        (coin.clone(), text)
    })
}

/// Markets in which a fill was told that no read has shown for a while: far from the known price, so that nothing was made of it.
fn unshown(guard: &Guard, now_ms: u64) -> impl Iterator<Item = (String, String, u64)> {
    let doubted = guard.feed.doubted.iter().filter(move |(asset, doubted)| {
        let is_larger = guard.position_told(**asset).abs() > guard.view.position(**asset).abs();
        is_larger
            && doubted.fill.is_some()
            && guard.config.mode != Mode::Paper
            && now_ms.saturating_sub(doubted.at_ms) > BARE_NOTICE_MS
    });
    doubted.map(|(asset, doubted)| {
        let (coin, px) = (guard.view.coin(*asset), to_wire(doubted.price));
        let text = format!(
            "a fill in {coin} at {px} was told, far from the price that is known, and the account was not read since: what it opened has \
             no stop; look at the venue's own page"
        );
        (coin, text, doubted.at_ms)
    })
}

/// Why nobody can say which stops rest, where nobody can.
fn orders_unread(guard: &Guard, now_ms: u64) -> Option<String> {
    let Some(known_ms) = guard.view.orders_known_ms() else {
        return Some("the open orders were not read since the start".to_owned());
    };
    let is_old = now_ms.saturating_sub(known_ms) > guard.orders_max_age_ms();
    is_old.then(|| format!("the open orders were last read at {}", utc(known_ms)))
}

/// Sent without knowing whom it is for, an action could reach another account.
fn role_unread(guard: &Guard) -> Option<Alert> {
    let is_unread = guard.config.mode != Mode::Paper && guard.acts_for.is_none();
    let text = "the venue has not said yet whose API wallet signs, and the config does not either (api_wallet_owner): nothing \
                is sent, no exit, no stop and no close; close at the venue's own page if it lasts, and have `svc-guard key \
                check --key-stdin < FILE` record it once the venue answers";
    is_unread.then(|| Alert {
        code: AlertCode::RoleUnread.as_str().into(),
        about: None,
        text: text.into(),
        since_ms: None,
    })
}

/// The venue's list of markets is another one.
fn markets_changed(guard: &Guard) -> Option<Alert> {
    let (how, since_ms) = guard.view.contradiction.as_ref()?;
    let text = format!(
        "the venue's list of markets is not the one that is known ({how}): entries are vetoed, and stops and closes go by the \
         known one; compare both, and restart the guard to take the venue's"
    );
    Some(Alert { code: AlertCode::MarketsChanged.as_str().into(), about: None, text, since_ms: Some(*since_ms) })
}

/// How much may be sent was not read since the start, and so nothing is opened.
fn allowance_unread(guard: &Guard) -> Option<Alert> {
    let is_sent = guard.config.mode != Mode::Paper && guard.view.account.is_some();
    let is_unread = is_sent && guard.allowance.left().is_none();
    let text = "how many requests the venue takes from this account was not read since the start: only what reduces a \
                position now passes until it is";
    is_unread.then(|| Alert {
        code: AlertCode::VenueBudget.as_str().into(),
        about: None,
        text: text.into(),
        since_ms: None,
    })
}

/// Fewer requests are left than are kept for the guard: a stop or a close may find no room.
fn allowance_low(guard: &Guard) -> Option<Alert> {
    let left = guard.allowance.left().filter(|left| *left < KEPT_FOR_GUARD)?;
    let text = match left {
        0 => "the venue takes no more requests from this account but one in 10 s, the guard's stops and closes too; \
              trading volume earns more"
            .to_owned(),
        _ => format!(
            "the venue takes {left} more requests from this account, under the {KEPT_FOR_GUARD} kept for the guard's stops \
             and closes; trading volume earns more"
        ),
    };
    Some(Alert { code: AlertCode::VenueBudget.as_str().into(), about: None, text, since_ms: None })
}

/// Everything must be closed and is not.
fn not_flat(guard: &Guard, now_ms: u64) -> Option<Alert> {
    let flatten = &guard.watch.flatten;
    let since_ms = flatten.unflat_ms.into_iter().chain(flatten.foreign_ms).min().filter(|_| guard.must_be_flat())?;
    let since_ms = since_ms.saturating_add(NOTICE_MS);
    let all = |account: &AccountView| account.positions.len().saturating_add(account.unknown.len());
    let held = guard.view.account.as_ref().map(all);
    let orders = guard.view.orders.len().saturating_add(guard.view.foreign_orders.len());
    let twaps = guard.watch.flatten.twaps.running();
    let left = match held {
        None => "the account was not read yet".to_owned(),
        Some(0) if orders == 0 && twaps == 0 => return None,
        Some(held) => {
            let many = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
            let (held, orders) = (many(held, "position"), many(orders, "order"));
            match guard.watch.flatten.twaps.known() {
                Some(_) => format!("{held}, {orders} and {} are left", many(twaps, "TWAP order")),
                None => format!("{held} and {orders} are left, and of TWAP orders nobody can say"),
            }
        }
    };
    let why: String = hindrances::of_closing(guard).iter().map(|why| format!("; {why}")).collect();
    let why = if why.is_empty() { "; close it at the venue's own page if it lasts" } else { &why };
    let text = format!("everything must be closed and is not: {left}{why}");
    (now_ms > since_ms).then(|| Alert {
        code: AlertCode::NotFlat.as_str().into(),
        about: None,
        text,
        since_ms: Some(since_ms),
    })
}

/// Nobody can say whether a TWAP order trades on while everything must be closed.
fn twaps_unread(guard: &Guard, now_ms: u64) -> Option<Alert> {
    let unread_ms = guard.watch.flatten.twaps.unread_ms().filter(|_| guard.must_be_flat())?;
    let since_ms = unread_ms.saturating_add(NOTICE_MS);
    let text = "TWAP orders cannot be read while everything must be closed; end them at the venue's own page";
    (now_ms > since_ms).then(|| Alert {
        code: AlertCode::TwapsUnread.as_str().into(),
        about: None,
        text: text.into(),
        since_ms: Some(since_ms),
    })
}

impl Guard {
    /// What keeps the guard from being healthy. A pulled kill switch is none of it.
    #[must_use]
    pub fn problems(&self, now_ms: u64) -> Vec<String> {
        problems(self, now_ms).into_iter().map(|alert| alert.text).collect()
    }

    /// The problems, and what keeps the guard from opening anything although it is healthy.
    #[must_use]
    pub fn health(&self, now_ms: u64) -> Health<'static> {
        let problems = self.problems(now_ms);
        let not_trading = [killed::check(self), halted::check(self)];
        let not_trading = not_trading.into_iter().filter_map(Result::err).map(|veto| veto.text).collect();
        Health { ok: problems.is_empty(), problems, not_trading, error: None }
    }
}
