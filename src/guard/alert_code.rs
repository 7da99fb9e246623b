//! Codes of alerts: the one table of them. Stable, documented in `svc-guard-codes(7)`, which a test holds to this file.
//!
//! Each says what it tells of and what a person should do. Nothing that judges or decides may stand here.

use super::code::codes;

codes! {
    /// What a person should look at.
    AlertCode:

    /// The account's mode is one whose equity cannot be read; set it back at the venue, or stop the service.
    AccountMode = "account_mode",
    /// The account was not read in time, or stands still in the venue's answers; entries are refused. Look there if it lasts.
    AccountStale = "account_stale",
    /// The venue knows no such account, or knows it as an API wallet; guard the account that was meant, in a home of its own.
    AccountUnknown = "account_unknown",
    /// The API wallet's approval ends within a week; approve a new one and install it.
    ApiWalletExpiring = "api_wallet_expiring",
    /// Fills are missing in the book of money, or it does not add up; compare it with the venue's own history.
    BookDiffers = "book_differs",
    /// This machine's clock is over a second from the venue's; have it set, by NTP.
    ClockOff = "clock_off",
    /// The day's loss is over 60% of its limit; decide whether the bot should go on. Over once the halt of that limit fires, which tells more.
    DailyLossNear = "daily_loss_near",
    /// The venue said that something filled or is cancelled, or its live feed did, and does not show it; compare the account with its own page.
    Discrepancy = "discrepancy",
    /// The disk is nearly full; free space, or move closed days of the journal away.
    DiskLow = "disk_low",
    /// The drawdown is over 60% of its limit; decide whether the bot should go on. Over once the halt of that limit fires.
    DrawdownNear = "drawdown_near",
    /// What is left of a position is too small to be closed; close it at the venue's own page, or enlarge it there.
    Dust = "dust",
    /// The live feed told what cannot be, or did not prove itself for a minute; everything is read instead. Look at the venue.
    FeedDown = "feed_down",
    /// The home is not where the guard found it, so that a kill file may not be seen; put it back and restart.
    HomeGone = "home_gone",
    /// An action has had no answer for ten seconds, and what became of it is being found out; look at the account if it lasts.
    InDoubt = "in_doubt",
    /// An older day of the journal is damaged; keep a copy, and put back what was moved or changed.
    JournalDamaged = "journal_damaged",
    /// Decisions cannot be kept and entries are refused; look at the disk, and put back what was moved or replaced.
    JournalError = "journal_error",
    /// Money moved by a ledger entry of a type that is not known; compare the account with what was expected.
    LedgerOdd = "ledger_odd",
    /// The ledger or the account's mode was not read for a minute: what is withdrawn may count as lost. Look at the way to the venue if it lasts.
    LedgerUnread = "ledger_unread",
    /// The venue's list of markets contradicts the one that is known; entries are refused. Compare, and restart to take it.
    MarketsChanged = "markets_changed",
    /// Everything must be closed and is not after ten seconds; close it at the venue's own page if it lasts.
    NotFlat = "not_flat",
    /// The open orders were not read in time and entries are refused; look at the way to the venue if it lasts.
    OrdersStale = "orders_stale",
    /// What is held and rests could come to over 5% more than a rule allows; resting entries go, positions stay.
    OverLimit = "over_limit",
    /// A position is in no market that is known here: it has no stop of the guard's and counts in no limit. Close it at the venue, or watch it.
    PositionUnknown = "position_unknown",
    /// Prices were not read in time and entries are refused; look at the way to the venue if it lasts.
    PriceStale = "price_stale",
    /// The API wallet's owner could not be read, and so nothing is sent; close at the venue's own page, and run `key check`.
    RoleUnread = "role_unread",
    /// The venue does not know the API wallet; approve it, or install the right key.
    SignerUnknown = "signer_unknown",
    /// TWAP orders cannot be read while everything must be closed; end them at the venue's own page.
    TwapsUnread = "twaps_unread",
    /// A position was not covered in full for five seconds; place a stop, or close it, if it lasts.
    Uncovered = "uncovered",
    /// The outcome of an action could not be settled; look at the account.
    Unsettled = "unsettled",
    /// The account's own request allowance is low, or was not read since the start; trading volume earns more.
    VenueBudget = "venue_budget",
}
