//! Reason codes: the one table of them. Stable, documented in `svc-guard-codes(7)`, which a test holds to this file.

use std::fmt;

/// A table of codes: an enum, the text of each, and its meaning in the words of the manual page.
macro_rules! codes {
    ($(#[doc = $what:literal])+ $table:ident: $($(#[doc = $doc:literal])+ $name:ident = $text:literal),* $(,)?) => {
        $(#[doc = $what])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $table {
            $($(#[doc = $doc])+ $name),*
        }

        impl $table {
            /// Every code.
            pub const ALL: &'static [$table] = &[$($table::$name),*];

            /// The code as it stands in events and replies.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $($table::$name => $text),*
                }
            }

            /// What it means, in the words of the manual page.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self {
                    $($table::$name => concat!($($doc),+).trim_ascii()),*
                }
            }
        }
    };
}

pub(in crate::guard) use codes;

codes! {
    /// Why a request was decided as it was.
    Code:

    /// Within every rule, forwarded as it came.
    Allowed = "allowed",
    /// Can only reduce risk, forwarded as it came.
    Reduces = "reduces",
    /// Changed to comply; `changes` says how.
    Resized = "resized",
    /// The body is no request that the venue's protocol knows.
    Malformed = "malformed",
    /// The signature names no client of this guard.
    BadSignature = "bad_signature",
    /// Signed for the other network while `require_network` is set.
    WrongNetwork = "wrong_network",
    /// Names a vault or sub-account that is not the guarded account.
    WrongAccount = "wrong_account",
    /// The nonce was used before.
    NonceReused = "nonce_reused",
    /// The nonce is too old, too new, or below the hundred highest seen.
    NonceOutOfWindow = "nonce_out_of_window",
    /// `expiresAfter` lies in the past.
    Expired = "expired",
    /// An action type that the guard never forwards.
    ActionNotAllowed = "action_not_allowed",
    /// The kill switch is pulled.
    Killed = "killed",
    /// The daily loss stop fired; entries come back with the next UTC day.
    HaltedForDay = "halted_for_day",
    /// The drawdown halt fired; a person must resume.
    Stopped = "stopped",
    /// The account has not been read yet.
    Starting = "starting",
    /// The service is stopping.
    Stopping = "stopping",
    /// The last read of the account, or of its open orders, is too old to judge an entry on.
    AccountStale = "account_stale",
    /// The account is in a mode whose equity cannot be read.
    AccountMode = "account_mode",
    /// The venue's list of markets contradicts the one that is known: which market is which is not sure.
    MarketsChanged = "markets_changed",
    /// The last price read is too old to judge an entry on.
    PriceStale = "price_stale",
    /// A cancel named one of its orders while it waited to be sent.
    Cancelled = "cancelled",
    /// Decisions cannot be written to disk.
    JournalError = "journal_error",
    /// Too much is waiting to be judged, written or sent.
    Busy = "busy",
    /// The market is not in the owner's list, or is no core perp.
    MarketNotAllowed = "market_not_allowed",
    /// The venue lists no such market.
    MarketUnknown = "market_unknown",
    /// The venue no longer trades this market.
    MarketDelisted = "market_delisted",
    /// A trigger order that could open a position.
    TriggerEntryNotAllowed = "trigger_entry_not_allowed",
    /// The price is not on the market's tick.
    PriceInvalid = "price_invalid",
    /// The size is not on the market's lot.
    SizeInvalid = "size_invalid",
    /// The leverage asked for is above the rule.
    LeverageTooHigh = "leverage_too_high",
    /// Takes margin out of a position.
    MarginRemoval = "margin_removal",
    /// The stop stands on the winning side, or the tick leaves none within `max_stop` on the losing side.
    StopWrongSide = "stop_wrong_side",
    /// Would leave a position with a wider, smaller or no stop.
    StopLoosened = "stop_loosened",
    /// Loss per trade leaves no room for the venue's smallest order.
    LossLimit = "loss_limit",
    /// Open risk leaves no room for the venue's smallest order.
    OpenRiskLimit = "open_risk_limit",
    /// The market's position limit leaves no room for the venue's smallest order.
    PositionLimit = "position_limit",
    /// Gross exposure leaves no room for the venue's smallest order.
    ExposureLimit = "exposure_limit",
    /// The order value limit leaves no room for the venue's smallest order.
    OrderValueLimit = "order_value_limit",
    /// Too many entries within a minute.
    OrderRateLimit = "order_rate_limit",
    /// Too many open entries, or one while a stop or close of the guard waits for room among the open orders.
    OpenOrdersLimit = "open_orders_limit",
    /// Too many reduce-only orders that rest, or one more while a stop or close of the guard waits for room among the open orders.
    OpenExitsLimit = "open_exits_limit",
    /// Reduce-only, and nothing is held there.
    NothingToReduce = "nothing_to_reduce",
    /// The same entry again within the window, or a client order id that is live, in doubt, or used up by this client.
    DuplicateOrder = "duplicate_order",
    /// The account's own request allowance at the venue, or the minute's weight of this address, is nearly used up.
    VenueBudget = "venue_budget",
    /// The guard's own order, which clients cannot touch.
    GuardOrder = "guard_order",
    /// An order that the guard does not know.
    OrderUnknown = "order_unknown",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::alert_code::AlertCode;

    /// The entries of one section: each code with what the manual page says of it.
    fn listed<'a>(page: &'a str, section: &str) -> Vec<(&'a str, String)> {
        let (_, rest) = page.split_once(&format!("\n.SH {section}\n")).unwrap();
        let section = rest.split("\n.SH ").next().unwrap();
        let entries = section.split(".TP\n.B ").skip(1).map(|entry| entry.split_once('\n').unwrap());
        entries.map(|(code, text)| (code, text.trim_ascii_end().replace('\n', " "))).collect()
    }

    #[test]
    fn the_manual_page_lists_every_code_with_its_meaning() {
        let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/man/svc-guard-codes.7")).unwrap();
        let codes: Vec<(&str, String)> =
            Code::ALL.iter().map(|code| (code.as_str(), code.meaning().to_owned())).collect();
        assert_eq!(listed(&page, "CODES"), codes);
        let alerts: Vec<(&str, String)> =
            AlertCode::ALL.iter().map(|code| (code.as_str(), code.meaning().to_owned())).collect();
        assert_eq!(listed(&page, "ALERTS"), alerts);
    }
}
