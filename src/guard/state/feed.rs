//! The live feed's part of the state: what it has told, and what of that is believed.
//!
//! Reads stay the truth. The feed says when to read, covers what has just filled, and shows that nothing has changed since.

use crate::guard::feed_news::{FeedCommand, FeedFigures, Pace};
use crate::guard::state::fills_told::FillsTold;
use crate::venue::fill::{Fill, FillId};
use crate::venue::info::SpotState;
use crate::venue::stream::topic::{AccountFeed, Topic};
use rust_decimal::Decimal;
use std::collections::{BTreeMap, BTreeSet};

/// A feed that told what cannot be is not believed for so long.
const DISTRUST_MS: u64 = 60_000;
/// Fills that are remembered, so that none counts twice.
const MOST_FILLS: usize = 4_096;

/// Account, without which no position is known by the feed.
const OF_ACCOUNT: [Topic; 3] =
    [Topic::Account(AccountFeed::Account), Topic::Account(AccountFeed::Fills), Topic::Account(AccountFeed::Events)];
const OF_ORDERS: [Topic; 2] = [Topic::Account(AccountFeed::OpenOrders), Topic::Account(AccountFeed::OrderUpdates)];
const OF_THE_REST: [Topic; 2] = [Topic::Account(AccountFeed::Ledger), Topic::Account(AccountFeed::WebData)];

/// A price that is too far from the known one to be believed before a read.
#[derive(Debug, Clone)]
pub(crate) struct DoubtedPrice {
    pub(crate) price: Decimal,
    /// What it is if the read does not show it.
    pub(crate) reason: &'static str,
    /// When it was told, by the machine's clock and by the venue's.
    pub(crate) at_ms: u64,
    pub(crate) venue_ms: u64,
    /// The fill that has this price, while nothing was made of it.
    pub(crate) fill: Option<DoubtedFill>,
}

/// A fill of which only the price is in doubt.
#[derive(Debug, Clone)]
pub(crate) struct DoubtedFill {
    pub(crate) fill: Fill,
    /// What was held before it.
    pub(crate) held: Decimal,
}

/// A socket that waits for reads.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) socket: u64,
    /// Since when.
    pub(crate) since_ms: u64,
    /// The fills since the newest that is known, once they were read.
    pub(crate) fills: Option<Vec<Fill>>,
}

/// What the feed has told.
#[derive(Debug, Default)]
pub(crate) struct FeedState {
    /// What can be believed.
    pub(crate) proved: BTreeSet<Topic>,
    /// The socket that waits for reads.
    pub(crate) opened: Option<Opened>,
    /// The venue's time of the newest fill that is known; before there is one, of the first account that was.
    pub(crate) known_ms: u64,
    pub(crate) figures: FeedFigures,
    /// What the feed was last told to do about it.
    pub(crate) pace: Pace,
    pub(crate) wanted: BTreeSet<String>,
    /// Since when nothing is on its way and nothing is in doubt.
    pub(crate) calm_ms: Option<u64>,
    /// Since when not everything is proved.
    pub(crate) down_ms: Option<u64>,
    /// What it told that cannot be, and when.
    pub(crate) nonsense: Option<(String, u64)>,
    /// How often reads showed something else than was told; what that was and when, until everything is proved again.
    pub(crate) differences: u64,
    pub(crate) difference: Option<(String, u64)>,
    /// The machine's time that the newest state of the account holds for at the earliest.
    pub(crate) as_of_ms: u64,
    /// When the open orders were told last.
    pub(crate) orders_told_ms: u64,
    /// When a fill, and when what became of an order, was told last.
    pub(crate) filled_ms: u64,
    /// Since when fills are told that no read has begun after.
    pub(crate) unread_ms: Option<u64>,
    pub(crate) updated_ms: u64,
    /// Each market's position after the newest fill, with the venue's time of that.
    pub(crate) chains: BTreeMap<u32, (Decimal, u64)>,
    /// What fills have told beside that since the account was read.
    pub(crate) told: FillsTold,
    /// The position after the newest fill of each coin that is in no known market: it may have been listed a moment ago.
    pub(crate) unlisted: BTreeMap<String, Decimal>,
    /// Positions that a read showed changed and no fill has told of yet, since when.
    pub(crate) unexplained: BTreeMap<u32, (Decimal, u64)>,
    /// What its account alone shows of positions, signed, since when.
    pub(crate) shown_alone: BTreeMap<u32, (Decimal, u64)>,
    /// Markets in which something counts as told by that, until a read shows it.
    pub(crate) by_account: BTreeSet<u32>,
    /// The machine's time that the newest account holds for which shows just what is taken for held.
    pub(crate) agreed_ms: u64,
    /// Prices that a read has to confirm, by market.
    pub(crate) doubted: BTreeMap<u32, DoubtedPrice>,
    /// When the feed's account last differed from what was read.
    pub(crate) account_differs_ms: Option<u64>,
    /// Since when its open orders differ from these, which were read.
    pub(crate) orders_differ: Option<(u64, BTreeMap<u64, Decimal>)>,
    /// Fills that were missed, by the position that others began at.
    pub(crate) missed: u64,
    pub(crate) missed_told_ms: Option<u64>,
    /// When the account was last read because marks make another equity of it.
    pub(crate) value_asked_ms: Option<u64>,
    pub(crate) spot: Option<SpotState>,
    pub(crate) mode: Option<String>,
    fills: BTreeSet<FillId>,
}

impl FeedState {
    /// Remembers a fill; whether it is new.
    pub(crate) fn is_new(&mut self, fill: FillId) -> bool {
        self.known_ms = self.known_ms.max(fill.time);
        let is_new = self.fills.insert(fill);
        if self.fills.len() > MOST_FILLS {
            self.fills.pop_first();
        }
        is_new
    }

    /// Whether it is remembered.
    pub(crate) fn is_known(&self, fill: FillId) -> bool {
        self.fills.contains(&fill)
    }

    /// Whether a fill of this order is remembered.
    pub(crate) fn has_fill_of(&self, oid: u64) -> bool {
        self.fills.iter().any(|fill| fill.oid == oid)
    }

    fn has(&self, topics: &[Topic]) -> bool {
        topics.iter().all(|topic| self.proved.contains(topic))
    }

    /// Whether it may be believed at all.
    pub(crate) fn is_trusted(&self, now_ms: u64) -> bool {
        self.nonsense.as_ref().is_none_or(|(_, at_ms)| now_ms.saturating_sub(*at_ms) >= DISTRUST_MS)
    }

    /// Whether its account alone shows something of a market, whether that counts as told or not yet.
    pub(crate) fn is_shown_alone(&self, asset: u32) -> bool {
        self.shown_alone.contains_key(&asset) || self.by_account.contains(&asset)
    }

    /// Whether anything counts as told by its account alone.
    pub(crate) fn has_shown_alone(&self) -> bool {
        !self.by_account.is_empty()
    }

    pub(crate) fn tells_account(&self) -> bool {
        self.has(&OF_ACCOUNT)
    }

    pub(crate) fn tells_orders(&self) -> bool {
        self.has(&OF_ORDERS)
    }

    pub(crate) fn tells_prices(&self) -> bool {
        self.proved.contains(&Topic::Mids)
    }

    /// Whether it tells all that the guard goes by.
    pub(crate) fn is_whole(&self) -> bool {
        self.tells_account() && self.tells_orders() && self.tells_prices() && self.has(&OF_THE_REST)
    }

    /// Whether the rest, ledger and mode, is told.
    pub(crate) fn tells_the_rest(&self) -> bool {
        self.has(&OF_THE_REST)
    }

    /// The command that has the feed's socket end; nothing of it is believed from here on.
    pub(crate) fn distrust(&mut self, reason: &'static str) -> FeedCommand {
        self.proved.clear();
        self.doubted.clear();
        self.shown_alone.clear();
        (self.account_differs_ms, self.orders_differ) = (None, None);
        FeedCommand::Distrust(reason)
    }
}
