//! Settings for the points on which the venue is uncertain or contradicts itself; the likelier reading is the default.

use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_guard::base::amount::parse_info;

/// Largest number a setting takes; what is computed from it then has room.
const MOST: u64 = 1_000_000_000_000;

/// A setting that could not be set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum SettingError {
    Unknown(String),
    Value { name: &'static str, wants: &'static str },
}

impl std::fmt::Display for SettingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unknown(name) => write!(f, "no setting `{name}`; GET /sim lists them"),
            Self::Value { name, wants } => write!(f, "setting `{name}` wants {wants}"),
        }
    }
}

/// A type a setting may have.
trait Setting: Sized {
    const WANTS: &'static str;
    fn read(value: &Value) -> Option<Self>;
    fn show(&self) -> Value;
}

impl Setting for bool {
    const WANTS: &'static str = "true or false";
    fn read(value: &Value) -> Option<Self> {
        value.as_bool()
    }
    fn show(&self) -> Value {
        json!(self)
    }
}

impl Setting for u64 {
    const WANTS: &'static str = "a whole number";
    fn read(value: &Value) -> Option<Self> {
        value.as_u64()
    }
    fn show(&self) -> Value {
        json!(self)
    }
}

impl Setting for Decimal {
    const WANTS: &'static str = "a decimal string";
    fn read(value: &Value) -> Option<Self> {
        parse_info(value.as_str()?).ok().filter(|value| value.abs() <= Self::from(MOST))
    }
    fn show(&self) -> Value {
        json!(self.normalize().to_string())
    }
}

impl Setting for String {
    const WANTS: &'static str = "a string";
    fn read(value: &Value) -> Option<Self> {
        value.as_str().map(Into::into)
    }
    fn show(&self) -> Value {
        json!(self)
    }
}

impl<T: Setting> Setting for Option<T> {
    const WANTS: &'static str = "null or a value";
    fn read(value: &Value) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value).map(Some) }
    }
    fn show(&self) -> Value {
        self.as_ref().map_or(Value::Null, T::show)
    }
}

/// An enumeration whose names are the setting's values.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub(crate) enum $name { $($(#[$variant_doc])* $variant),+ }

        impl Setting for $name {
            const WANTS: &'static str = concat!("one of", $(" ", $text),+);
            fn read(value: &Value) -> Option<Self> {
                match value.as_str()? { $($text => Some(Self::$variant),)+ _ => None }
            }
            fn show(&self) -> Value {
                json!(match self { $(Self::$variant => $text),+ })
            }
        }
    };
}

choice!(
    /// Whether a reduce-only order below the minimum notional is taken.
    ReduceOnlyMinimum {
        /// Only when it closes the whole position.
        CloseExempt = "close_exempt",
        Exempt = "exempt",
        Rejected = "rejected",
    }
);
choice!(
    /// Which answer a price off the tick gets.
    BadPrice {
        /// Its own order is refused.
        PerOrder = "per_order",
        /// The whole batch is refused with one status.
        Batch = "batch",
    }
);
choice!(
    /// The reply for a stand-alone trigger order.
    TriggerReply { Resting = "resting", Waiting = "waitingForTrigger" }
);
choice!(
    /// What a trigger order does whose condition is met when it is placed.
    MetTrigger { Reject = "reject", Fire = "fire" }
);
choice!(
    /// Where a trigger order's limit price may lie.
    TriggerLimit {
        Free = "free",
        /// At or beyond the trigger price in the order's own direction.
        Beyond = "beyond",
    }
);
choice!(
    /// The reply for a Gtc order of which a part filled at once.
    PartialGtc { Filled = "filled", Resting = "resting" }
);
choice!(
    /// What a reduce-only order larger than the position does.
    Oversized { Cap = "cap", Reject = "reject" }
);
choice!(
    /// What becomes of a `normalTpsl` parent's children when it is an IOC that filled in part.
    PartialParent { Cancel = "cancel", Activate = "activate" }
);
choice!(
    /// The account's mode, by the name `userAbstraction` gives.
    Abstraction {
        Default = "default",
        Disabled = "disabled",
        Unified = "unifiedAccount",
        Portfolio = "portfolioMargin",
        Dex = "dexAbstraction",
    }
);

macro_rules! settings {
    ($($(#[$doc:meta])* $name:ident: $kind:ty = $default:expr;)+) => {
        /// Every setting; `POST /sim {"op":"setting","name","value"}` changes one.
        #[derive(Clone, Debug)]
        pub(crate) struct Settings { $($(#[$doc])* pub(crate) $name: $kind),+ }

        impl Default for Settings {
            fn default() -> Self {
                Self { $($name: $default),+ }
            }
        }

        impl Settings {
            /// Sets one setting by name.
            pub(crate) fn set(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
                match name {
                    $(stringify!($name) => {
                        let wants = SettingError::Value { name: stringify!($name), wants: <$kind>::WANTS };
                        self.$name = <$kind>::read(value).ok_or(wants)?;
                    })+
                    _ => return Err(SettingError::Unknown(name.into())),
                }
                Ok(())
            }

            /// All of them by name.
            pub(crate) fn show(&self) -> Value {
                Value::Object([$((stringify!($name).to_owned(), self.$name.show())),+].into_iter().collect())
            }
        }
    };
}

settings! {
    /// Run-time error texts end in ` asset=<id>`, as live and not as documented.
    asset_suffix: bool = true;
    min_notional_reduce_only: ReduceOnlyMinimum = ReduceOnlyMinimum::CloseExempt;
    /// How far from the mark a limit price may lie, in percent below; null switches the band off.
    price_band_pct: Option<Decimal> = Some(Decimal::from(80u32));
    /// Upper end of the band as a multiple of the mark.
    price_band_upper: Decimal = Decimal::new(18, 1);
    /// A price outside the band is answered for its own order rather than for the whole batch.
    price_band_per_order: bool = false;
    bad_price: BadPrice = BadPrice::PerOrder;
    trigger_reply: TriggerReply = TriggerReply::Resting;
    met_trigger: MetTrigger = MetTrigger::Reject;
    trigger_limit: TriggerLimit = TriggerLimit::Free;
    /// A reduce-only trigger order is refused while there is no position it could reduce.
    reduce_only_trigger_needs_position: bool = true;
    partial_gtc: PartialGtc = PartialGtc::Filled;
    oversized_reduce_only: Oversized = Oversized::Cap;
    partial_parent: PartialParent = PartialParent::Cancel;
    /// Resting orders hold initial margin at their limit price.
    orders_hold_margin: bool = true;
    /// An order's margin check includes the taker fee.
    margin_includes_fee: bool = false;
    /// `withdrawable` leaves out what resting orders hold.
    withdrawable_excludes_orders: bool = true;
    /// The account's answers carry a time this far ahead.
    account_time_ahead_ms: u64 = 0;
    abstraction: Abstraction = Abstraction::Default;
    /// USDC on the account's spot side, in the modes that keep it apart.
    spot_usdc: Decimal = Decimal::ZERO;
    /// When the agent expires, UTC ms; null for an unnamed agent, which `extraAgents` does not list.
    agent_valid_until_ms: Option<u64> = None;
    /// An agent past its time is refused; live, one still traded a quarter of an hour later.
    agent_expiry_enforced: bool = false;
    /// False once the account's owner has removed the agent.
    agent_registered: bool = true;
    /// The account is a vault, and its agent that of somebody who leads it; nothing says who that is.
    is_vault: bool = false;
    /// How far inside its two days back and one day ahead a nonce must lie.
    nonce_margin_ms: u64 = 120_000;
    /// A modify with neither `a` nor a resting new order is refused, and its Gtc is taken as Alo.
    strict_modify: bool = false;
    /// A modify whose new order is refused leaves the old one in place.
    failed_modify_keeps_order: bool = false;
    /// `orderStatus` does not know an order for this long after it was placed.
    order_status_lag_ms: u64 = 0;
    /// Open orders from which on reduce-only and trigger orders are refused, and others without the volume for more.
    open_orders_limit: u64 = 1_000;
    /// Weight an IP may spend a minute; null switches the limit off.
    weight_limit: Option<u64> = Some(1_200);
    /// Leverage of a market the account never set one for.
    default_leverage: u64 = 20;
    taker_fee: Decimal = Decimal::new(45, 5);
    maker_fee: Decimal = Decimal::new(15, 5);
    /// Funding an hour, as a share of notional; longs pay when positive.
    funding_rate: Decimal = Decimal::ZERO;
    /// The account's volume before this venue started, which earns it requests and rights.
    prior_volume: Decimal = Decimal::ZERO;
    /// Requests the account has used of its own allowance before this venue started.
    prior_requests: u64 = 0;
    /// Every trigger order is refused with this text.
    refuse_triggers: Option<String> = None;
    /// How often the account's state feeds say everything again.
    feed_state_ms: u64 = 5_000;
    /// They also say it at once when something has happened; no source knows whether the venue does.
    feed_state_at_once: bool = false;
    /// How often `allMids` is pushed.
    feed_mids_ms: u64 = 5_000;
    /// How often a book of twenty levels is pushed.
    feed_book_ms: u64 = 5_000;
    /// How often a `fast` book of five levels is pushed.
    feed_fast_book_ms: u64 = 500;
    /// How often the context of one market is pushed.
    feed_ctx_ms: u64 = 500;
    /// How often the contexts of all markets are pushed.
    feed_ctxs_ms: u64 = 5_000;
    /// Fills in the first message of `userFills`, and trades in that of `trades`.
    feed_fills_shown: u64 = 30;
    /// Rows in the first message of the other feeds that have one.
    feed_rows_shown: u64 = 100;
    /// Every feed of one coin drops the socket when the coin is not listed; false: only `bbo`, where it was seen.
    feed_unknown_coin_drops: bool = true;
    /// A socket that was sent neither data nor a pong for this long is closed.
    feed_idle_ms: u64 = 60_000;
    /// Sockets at one time; null switches a limit off.
    feed_connections: Option<u64> = Some(10);
    /// New sockets a minute.
    feed_new_connections: Option<u64> = Some(30);
    /// Subscriptions of all sockets together.
    feed_subscriptions: Option<u64> = Some(1_000);
    /// Users that the subscriptions of all sockets name; the page says 10, 14 and 15 were measured.
    feed_users: Option<u64> = Some(15);
    /// Messages a minute that all sockets together may send.
    feed_messages: Option<u64> = Some(2_000);
    /// Posts of all sockets that wait for their answer.
    feed_posts: Option<u64> = Some(100);
}
