//! Topics to subscribe to, and the frames that do it.

use serde_json::{Value, json};

use crate::base::address::Address;
use crate::base::named_enum;

named_enum! {
    /// Feeds of an account.
    AccountFeed {
        /// Fills. The first frame holds the last ones.
        Fills = "userFills",
        /// What becomes of orders. No first frame, and no frame names the account.
        OrderUpdates = "orderUpdates",
        /// Fills, funding and cancels by the venue. No first frame, and no frame names the account.
        Events = "userEvents",
        /// Deposits, withdrawals and transfers. The first frame holds the last ones.
        Ledger = "userNonFundingLedgerUpdates",
        /// Funding. The first frame holds the last payments.
        Fundings = "userFundings",
        /// Positions and margin, whole each time.
        Account = "clearinghouseState",
        /// Open orders, all of them each time.
        OpenOrders = "openOrders",
        /// Balances of spot tokens, all of them each time.
        Spot = "spotState",
        /// The account's mode, its API wallet and the venue's clock.
        WebData = "webData3",
    }
}

named_enum! {
    /// Feeds of a market.
    MarketFeed {
        /// The best bid and ask, when they change.
        Bbo = "bbo",
        /// Mark, oracle price and mid.
        AssetCtx = "activeAssetCtx",
    }
}

/// The mids of all markets.
const MIDS: &str = "allMids";

impl AccountFeed {
    /// Every feed of an account.
    pub const ALL: [Self; 9] = [
        Self::Fills,
        Self::OrderUpdates,
        Self::Events,
        Self::Ledger,
        Self::Fundings,
        Self::Account,
        Self::OpenOrders,
        Self::Spot,
        Self::WebData,
    ];
}

impl MarketFeed {
    /// Every feed of a market.
    pub const ALL: [Self; 2] = [Self::Bbo, Self::AssetCtx];
}

/// One thing to subscribe to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// A feed of the account.
    Account(AccountFeed),
    /// The mids of all markets.
    Mids,
    /// A feed of a market, by its coin.
    Market(MarketFeed, String),
}

/// A topic with the account that it is about, where it is about one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// What of.
    pub topic: Topic,
    /// The account; none for markets.
    pub user: Option<Address>,
}

impl Topic {
    /// The subscription in the venue's form. An account's state is that of its core perps.
    #[must_use]
    pub fn subscription(&self, account: &Address) -> Value {
        match self {
            Topic::Account(feed @ (AccountFeed::Account | AccountFeed::OpenOrders)) => {
                json!({"type": feed.name(), "user": account, "dex": ""})
            }
            Topic::Account(feed) => json!({"type": feed.name(), "user": account}),
            Topic::Mids => json!({"type": MIDS}),
            Topic::Market(feed, coin) => json!({"type": feed.name(), "coin": coin}),
        }
    }

    /// The frame that subscribes.
    #[must_use]
    pub fn subscribe(&self, account: &Address) -> String {
        json!({"method": "subscribe", "subscription": self.subscription(account)}).to_string()
    }

    /// The frame that ends it.
    #[must_use]
    pub fn unsubscribe(&self, account: &Address) -> String {
        json!({"method": "unsubscribe", "subscription": self.subscription(account)}).to_string()
    }
}

impl Subscription {
    /// Reads a subscription as the venue repeats it: options that were left out are filled in, keys stand in any order.
    /// `None` where it is none of those that [`Topic::subscription`] makes.
    #[must_use]
    pub fn read(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        let kind = text("type")?;
        // Any other option makes another feed of it.
        let is_plain = members.iter().all(|(key, value)| match (key.as_str(), value) {
            ("type" | "user" | "coin", _) | (_, Value::Null | Value::Bool(false)) => true,
            (_, Value::String(text)) => text.is_empty(),
            _ => false,
        });
        if !is_plain {
            return None;
        }
        if let Ok(feed) = kind.parse() {
            let user = Address::parse_lenient(text("user")?).ok()?;
            return Some(Self { topic: Topic::Account(feed), user: Some(user) });
        }
        let topic = match kind.parse() {
            Ok(feed) => Topic::Market(feed, text("coin")?.to_owned()),
            Err(_) => (kind == MIDS).then_some(Topic::Mids)?,
        };
        Some(Self { topic, user: None })
    }
}

/// The frame that asks whether the venue is there: <https://hyperliquid.gitbook.io/hyperliquid-docs/for-developers/api/websocket/timeouts-and-heartbeats>.
pub const PING: &str = r#"{"method":"ping"}"#;
