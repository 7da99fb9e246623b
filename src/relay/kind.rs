//! The feeds that the venue serves: what a subscription says, where its frames say whose they are, and what becomes of them
//! where a client is slow or late.
//!
//! Sources: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/subscriptions>, and frames as they were observed.

/// One option of a subscription, in the order in which the venue echoes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    User,
    Coin,
    /// The core perps' where it is left out.
    Dex,
    /// Echoed only where it was given.
    DexIfGiven,
    Interval,
    /// One of these numbers; null where it is left out.
    Number(&'static str, &'static [u64]),
    /// False where it is left out.
    Flag(&'static str),
}

/// What a feed's frames are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// The whole state each time: the newest says all.
    State,
    /// Each counts, and the last one is what a subscription begins with.
    Last,
    /// Each counts, and the last of their rows are what a subscription begins with: under which key they stand, where not by
    /// themselves, and how many.
    Rows(Option<&'static str>, usize),
    /// Each counts, and nothing comes first.
    Events,
    /// Changes of a state that came first; only the venue can tell it whole.
    Changes,
}

/// One feed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) channel: &'static str,
    pub(super) fields: &'static [Field],
    pub(super) manner: Manner,
    /// Whether its frames name no account: only one account's can come on a socket.
    pub(super) is_nameless: bool,
}

const fn feed(name: &'static str, fields: &'static [Field], manner: Manner) -> Kind {
    Kind { name, channel: name, fields, manner, is_nameless: false }
}

const fn nameless(name: &'static str, channel: &'static str) -> Kind {
    Kind { name, channel, fields: USER, manner: Manner::Events, is_nameless: true }
}

const USER: &[Field] = &[Field::User];
const COIN: &[Field] = &[Field::Coin];
const DEX_USER: &[Field] = &[Field::Dex, Field::User];
const BOOK: &[Field] = &[
    Field::Coin,
    Field::Number("nSigFigs", &[2, 3, 4, 5]),
    Field::Number("mantissa", &[1, 2, 5]),
    Field::Flag("fast"),
];
/// As many rows as the venue was seen to begin with.
const FILLS: usize = 30;
const ROWS: usize = 100;
/// The one feed whose newest row stands first.
pub(super) const NEWEST_FIRST: &str = "orderHistory";

const KINDS: &[Kind] = &[
    nameless("orderUpdates", "orderUpdates"),
    nameless("userEvents", "user"),
    nameless("notification", "notification"),
    feed("userFills", &[Field::User, Field::Flag("aggregateByTime")], Manner::Rows(Some("fills"), FILLS)),
    feed("userHistoricalOrders", USER, Manner::Rows(Some(NEWEST_FIRST), ROWS)),
    feed("userFundings", USER, Manner::Rows(Some("fundings"), ROWS)),
    feed("userNonFundingLedgerUpdates", USER, Manner::Rows(Some("nonFundingLedgerUpdates"), ROWS)),
    feed("userTwapHistory", USER, Manner::Rows(Some("history"), ROWS)),
    feed("userTwapSliceFills", USER, Manner::Rows(Some("twapSliceFills"), ROWS)),
    feed("clearinghouseState", DEX_USER, Manner::State),
    feed("allDexsClearinghouseState", USER, Manner::State),
    feed("openOrders", DEX_USER, Manner::State),
    feed("spotState", &[Field::User, Field::Flag("ignorePortfolioMargin")], Manner::State),
    feed("twapStates", DEX_USER, Manner::State),
    feed("webData3", USER, Manner::State),
    feed("activeAssetData", &[Field::User, Field::Coin], Manner::State),
    feed("allMids", &[Field::DexIfGiven], Manner::State),
    feed("l2Book", BOOK, Manner::State),
    feed("bbo", COIN, Manner::State),
    feed("trades", COIN, Manner::Rows(None, FILLS)),
    feed("candle", &[Field::Interval, Field::Coin], Manner::Last),
    feed("activeAssetCtx", COIN, Manner::State),
    feed("assetCtxs", &[Field::Dex], Manner::State),
    feed("spotAssetCtxs", &[], Manner::State),
    feed("allDexsAssetCtxs", &[], Manner::State),
    feed("fastAssetCtxs", &[], Manner::Changes),
    feed("outcomeMetaUpdates", &[], Manner::Events),
];

/// The lengths of a candle.
pub(super) const INTERVALS: &[&str] =
    &["1m", "3m", "5m", "15m", "30m", "1h", "2h", "4h", "8h", "12h", "1d", "3d", "1w", "1M"];

impl Kind {
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Whether it tells its state again at least every five seconds or so, changed or not, as far as that was observed.
    pub(super) fn has_cadence(&self) -> bool {
        const AGAIN: &[&str] = &[
            "clearinghouseState",
            "allDexsClearinghouseState",
            "openOrders",
            "spotState",
            "twapStates",
            "webData3",
            "allMids",
            "l2Book",
            "activeAssetCtx",
        ];
        AGAIN.contains(&self.name)
    }

    /// The feed whose frames come on this channel.
    pub(super) fn of_channel(channel: &str) -> Option<&'static Self> {
        // What is no perp answers on a channel of its own.
        let channel = if channel == "activeSpotAssetCtx" { "activeAssetCtx" } else { channel };
        KINDS.iter().find(|kind| kind.channel == channel)
    }
}
