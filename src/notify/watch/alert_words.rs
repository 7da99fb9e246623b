//! For each code of an alert: how much it matters, a title, what the guard does about it, what a person has to do.
//!
//! The guard's own text says what happened. A code that is not known here, of a newer guard, is a warning all the same.

use crate::notify::notice::Severity;
use Severity::{Critical, Info, Warning};

/// The words for one code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// How much it matters.
    pub severity: Severity,
    /// In a few words.
    pub title: &'static str,
    /// What the guard does.
    pub did: &'static str,
    /// What a person has to do: a command of this program, `{stop}` and `{restart}` stand for what is typed for one guard.
    pub todo: &'static str,
}

const VETOES: &str = "Entries are refused until then; exits, stops and the kill switch work.";
const BLIND: &str = "Entries are refused until it is read again; stops rest at the venue and exits go out.";
const THERE: &str = "Look at the account on the venue's own page.";

/// What a person has to do who loses.
pub(super) const DECIDE: &str = "Decide whether the bot should go on. To end it now: `svc-guard kill --reason TEXT`";

/// The table: code, severity, title, what the guard does, what a person has to do.
const TABLE: &[(&str, Severity, &str, &str, &str)] = &[
    (
        "account_mode",
        Critical,
        "Account mode cannot be guarded",
        VETOES,
        "Set the account's mode back at the venue, or stop the service: {stop}",
    ),
    (
        "account_stale",
        Warning,
        "Account not read in time",
        BLIND,
        "Nothing, if it passes. If it lasts, look at the way to the venue, and at the account on its own page.",
    ),
    (
        "account_unknown",
        Warning,
        "Nobody's account is guarded",
        "The guard goes on; an account that is none holds nothing, and opens nothing.",
        "Compare its address with the venue's own page. Another account is guarded from a home of its own: `svc-guard \
         --home DIR init` sets one up.",
    ),
    (
        "book_differs",
        Warning,
        "The book of money is not whole",
        "The guard goes on: nothing that it judges or covers goes by the book.",
        "Compare it with the venue's own history of trades and transfers.",
    ),
    (
        "clock_off",
        Warning,
        "This machine's clock is off",
        "Nonces and expiries follow the venue's clock.",
        "Have the clock set by NTP: timedatectl set-ntp true",
    ),
    (
        "daily_loss_near",
        Warning,
        "Daily loss over 60% of its limit",
        "At the limit everything is closed, and entries are refused until the UTC day ends.",
        DECIDE,
    ),
    (
        "discrepancy",
        Warning,
        "Account is not as the venue said",
        "The guard goes by what the account shows.",
        "Compare the account with the venue's own page.",
    ),
    (
        "disk_low",
        Warning,
        "Disk nearly full",
        "The guard goes on; a full disk ends entries.",
        "Free space, or move closed days of the journal away.",
    ),
    (
        "drawdown_near",
        Warning,
        "Drawdown over 60% of its limit",
        "At the limit everything is closed, and entries are refused until a person resumes.",
        DECIDE,
    ),
    (
        "dust",
        Info,
        "Position too small to be closed",
        "It is left as it is.",
        "Close it at the venue's own page, or enlarge it there.",
    ),
    (
        "feed_down",
        Warning,
        "Live feed is down",
        "Everything is read instead, a little later than the feed would tell it.",
        "Nothing, if it passes. If it lasts, look at the way to the venue.",
    ),
    (
        "home_gone",
        Critical,
        "Home is not where it was",
        "The guard goes on, but a kill file may not be seen.",
        "The signed kill works meanwhile. Put the home back, and restart the service: {restart}",
    ),
    (
        "in_doubt",
        Warning,
        "Action without an answer",
        "It asks the venue what became of it. What it could have done stays counted; nothing is sent again.",
        "Nothing, if it passes. If it lasts, look at the account on the venue's own page.",
    ),
    (
        "journal_damaged",
        Warning,
        "Older day of the journal is damaged",
        "The guard goes on with the newer days.",
        "Keep a copy, and put back what was moved or changed.",
    ),
    (
        "journal_error",
        Critical,
        "Decisions cannot be written",
        "Entries are refused; exits and closes go out from a reserve.",
        "Look at the disk, and put back what was moved or replaced.",
    ),
    (
        "ledger_odd",
        Warning,
        "Money moved by an unknown ledger entry",
        "It counts as far as the account shows it.",
        "Compare the account with what you expected.",
    ),
    (
        "ledger_unread",
        Warning,
        "Ledger or account mode not read",
        "What is withdrawn counts as lost after ten seconds, and may fire a halt. A halt by a realised loss waits as long.",
        "Withdraw nothing until it is over. If it lasts, look at the way to the venue.",
    ),
    (
        "markets_changed",
        Warning,
        "Venue's list of markets contradicts the known one",
        VETOES,
        "Compare both. To take the venue's, restart the service: {restart}",
    ),
    (
        "not_flat",
        Critical,
        "Not flat after ten seconds",
        "The guard goes on closing.",
        "Close it at the venue's own page if it lasts.",
    ),
    (
        "orders_stale",
        Warning,
        "Open orders not read in time",
        BLIND,
        "Nothing, if it passes. If it lasts, look at the way to the venue.",
    ),
    (
        "over_limit",
        Warning,
        "More at stake than a rule allows",
        "Resting entries are cancelled until it fits; positions stay.",
        "Nothing, if it passes. Reduce the position if you want it within the rule.",
    ),
    (
        "position_unknown",
        Critical,
        "Position in an unknown market",
        "It is not covered and not closed.",
        "Watch it yourself, on the venue's own page.",
    ),
    (
        "price_stale",
        Warning,
        "Prices not read in time",
        BLIND,
        "Nothing, if it passes. If it lasts, look at the way to the venue.",
    ),
    (
        "role_unread",
        Critical,
        "Nothing can be sent: the wallet's owner is not known",
        "No stop, no close and no exit goes out.",
        "Close at the venue's own page if you must, and run `svc-guard key check --key-stdin < FILE`.",
    ),
    (
        "signer_unknown",
        Critical,
        "Venue refuses the API wallet",
        "Nothing can be sent: no stop, no close, no exit. Stops that rest at the venue stay.",
        "Approve the API wallet at the venue, or give its key with `svc-guard key replace --key-stdin < FILE`. Close at the venue's own page if you must.",
    ),
    (
        "twaps_unread",
        Critical,
        "TWAP orders cannot be read while closing",
        "The guard goes on asking.",
        "End them at the venue's own page.",
    ),
    (
        "uncovered",
        Critical,
        "Position without a known stop",
        "The guard goes on placing its own stop.",
        "Place a stop at the venue's own page, or close the position, if it lasts.",
    ),
    (
        "unsettled",
        Critical,
        "Outcome of an action is not known",
        "What it could have done stays counted; nothing is sent again.",
        THERE,
    ),
    (
        "venue_budget",
        Warning,
        "Request allowance is low",
        "What is left is kept for stops and closes; entries are refused.",
        "Slow the bot down. Trading volume earns more.",
    ),
];

/// The words for a code.
#[must_use]
pub fn words(code: &str) -> Words {
    let found = TABLE.iter().find(|(known, ..)| *known == code);
    let (_, severity, title, did, todo) = *found.unwrap_or(&(
        "",
        Warning,
        "Something needs a look",
        "The guard goes on as far as it can.",
        "svc-guard-codes(7) says what this code means.",
    ));
    Words { severity, title, did, todo }
}

/// Every code that has words of its own.
pub fn codes() -> impl Iterator<Item = &'static str> {
    TABLE.iter().map(|(code, ..)| *code)
}
