//! The feeds there are: their names, their channels, what a subscription to them says, and when they speak.

use super::super::engine::settings::Settings;

/// What a subscription says, in the order in which the acknowledgement echoes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Field {
    User,
    Coin,
    /// A dex, the first one when left out.
    Dex,
    /// A dex that is echoed only where it was given.
    DexIfGiven,
    Interval,
    /// A number, null when left out.
    Number(&'static str),
    /// A flag, false when left out.
    Flag(&'static str),
}

/// When a feed speaks after its first message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Beat {
    /// As soon as something has happened that it tells of.
    OnNews,
    /// As soon as what it shows has changed.
    OnChange,
    /// Everything again, whether it has changed or not.
    Again(Again),
}

/// Which setting says how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Again {
    State,
    Mids,
    Book,
    Context,
    Contexts,
}

/// One feed.
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    pub(crate) channel: &'static str,
    pub(crate) fields: &'static [Field],
    pub(crate) beat: Beat,
}

impl PartialEq for Kind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

const fn feed(name: &'static str, fields: &'static [Field], beat: Beat) -> Kind {
    Kind { name, channel: name, fields, beat }
}

const STATE: Beat = Beat::Again(Again::State);
const CONTEXTS: Beat = Beat::Again(Again::Contexts);
const USER: &[Field] = &[Field::User];
const COIN: &[Field] = &[Field::Coin];
const DEX_USER: &[Field] = &[Field::Dex, Field::User];

/// Every feed that is served. `webData2` is not among them: the venue serves it no longer.
pub(crate) const KINDS: &[Kind] = &[
    feed("orderUpdates", USER, Beat::OnNews),
    Kind { name: "userEvents", channel: "user", fields: USER, beat: Beat::OnNews },
    feed("notification", USER, Beat::OnNews),
    feed("userFills", &[Field::User, Field::Flag("aggregateByTime")], Beat::OnNews),
    feed("userHistoricalOrders", USER, Beat::OnNews),
    feed("userFundings", USER, Beat::OnNews),
    feed("userNonFundingLedgerUpdates", USER, Beat::OnNews),
    feed("userTwapHistory", USER, Beat::OnNews),
    feed("userTwapSliceFills", USER, Beat::OnNews),
    feed("clearinghouseState", DEX_USER, STATE),
    feed("allDexsClearinghouseState", USER, STATE),
    feed("openOrders", DEX_USER, STATE),
    feed("spotState", &[Field::User, Field::Flag("ignorePortfolioMargin")], STATE),
    feed("twapStates", DEX_USER, STATE),
    feed("webData3", USER, STATE),
    feed("activeAssetData", &[Field::User, Field::Coin], STATE),
    feed("allMids", &[Field::DexIfGiven], Beat::Again(Again::Mids)),
    feed(
        "l2Book",
        &[Field::Coin, Field::Number("nSigFigs"), Field::Number("mantissa"), Field::Flag("fast")],
        Beat::Again(Again::Book),
    ),
    feed("bbo", COIN, Beat::OnChange),
    feed("trades", COIN, Beat::OnNews),
    feed("candle", &[Field::Interval, Field::Coin], Beat::OnChange),
    feed("activeAssetCtx", COIN, Beat::Again(Again::Context)),
    feed("assetCtxs", &[Field::Dex], CONTEXTS),
    feed("spotAssetCtxs", &[], CONTEXTS),
    feed("allDexsAssetCtxs", &[], CONTEXTS),
    feed("fastAssetCtxs", &[], CONTEXTS),
    feed("outcomeMetaUpdates", &[], Beat::OnNews),
];

impl Kind {
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// How long it is silent between two of its messages; none when it waits for something to happen.
    pub(crate) fn every_ms(&self, settings: &Settings, fast: bool) -> Option<u64> {
        let Beat::Again(again) = self.beat else { return None };
        Some(match again {
            Again::State => settings.feed_state_ms,
            Again::Mids => settings.feed_mids_ms,
            Again::Book if fast => settings.feed_fast_book_ms,
            Again::Book => settings.feed_book_ms,
            Again::Context => settings.feed_ctx_ms,
            Again::Contexts => settings.feed_ctxs_ms,
        })
    }
}
