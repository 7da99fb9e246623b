//! The guard's status, read: its mode and account, positions and open orders. Pure.

use rust_decimal::Decimal;
use serde_json::Value;

use crate::base::address::{Address, Cloid};
use crate::base::amount::parse_info;
use crate::base::kill_file::MAX_REASON_LEN;
use crate::base::mode::Mode;
use crate::base::text::visible;
use crate::venue::order::Tif;
use crate::venue::signing::Source;

/// The alert of a guard whose last read of the account is too old.
const ACCOUNT_STALE: &str = "account_stale";

/// A status as the guard gave it.
#[derive(Debug, Clone)]
pub(super) struct Status(Value);

/// A position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) coin: String,
    pub(super) is_long: bool,
    pub(super) size: Decimal,
    pub(super) mark_px: Option<Decimal>,
}

/// An open order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) coin: String,
    pub(super) oid: u64,
    pub(super) cloid: Option<Cloid>,
    pub(super) is_buy: bool,
    pub(super) size: Decimal,
    pub(super) px: Decimal,
    /// None where the venue names none, as for a trigger, or one that is not known here.
    pub(super) tif: Option<Tif>,
    pub(super) trigger_px: Option<Decimal>,
    pub(super) is_market_trigger: bool,
    pub(super) is_take_profit: bool,
    pub(super) reduce_only: bool,
}

impl Status {
    /// Takes a status; `None` where it is not one of this schema.
    pub(super) fn read(value: Value) -> Option<Self> {
        let status = Self(value);
        let is_known = status.0.get("schema").and_then(Value::as_u64) == Some(1);
        (is_known && status.mode().is_some() && status.account().is_some()).then_some(status)
    }

    /// The status as it came.
    pub(super) fn raw(&self) -> &Value {
        &self.0
    }

    fn text(&self, pointer: &str) -> Option<&str> {
        self.0.pointer(pointer).and_then(Value::as_str)
    }

    /// A decimal of the status.
    pub(super) fn amount(&self, pointer: &str) -> Option<Decimal> {
        parse_info(self.text(pointer)?).ok()
    }

    pub(super) fn mode(&self) -> Option<Mode> {
        self.text("/mode")?.parse().ok()
    }

    pub(super) fn is_paper(&self) -> bool {
        self.mode() == Some(Mode::Paper)
    }

    pub(super) fn account(&self) -> Option<Address> {
        self.text("/account")?.parse().ok()
    }

    /// The network that the guard wants requests signed for, where it cares.
    pub(super) fn network(&self) -> Source {
        if self.text("/account_network") == Some("testnet") { Source::Testnet } else { Source::Mainnet }
    }

    /// Why the kill switch is pulled, if it is.
    pub(super) fn killed(&self) -> Option<String> {
        self.text("/killed").map(|reason| visible(reason, MAX_REASON_LEN))
    }

    pub(super) fn kill_file(&self) -> Option<&str> {
        self.text("/kill_file")
    }

    /// The code of the owner's rules.
    pub(super) fn rules_code(&self) -> Option<&str> {
        self.text("/rules")
    }

    /// Age of the last read of the account, in milliseconds.
    pub(super) fn age_ms(&self) -> Option<u64> {
        self.0.pointer("/venue/account_age_ms")?.as_u64()
    }

    /// Whether the guard itself calls its last read of the account too old.
    pub(super) fn is_stale(&self) -> bool {
        let is = |alert: &Value| alert.get("code").and_then(Value::as_str) == Some(ACCOUNT_STALE);
        self.list("/alerts").any(is)
    }

    pub(super) fn position(&self, coin: &str) -> Option<Position> {
        self.list("/positions").filter_map(position).find(|position| position.coin == coin)
    }

    pub(super) fn open_order(&self, coin: &str, oid: u64) -> Option<Open> {
        self.list("/open_orders").filter_map(open).find(|order| order.oid == oid && order.coin == coin)
    }

    fn list(&self, pointer: &str) -> impl Iterator<Item = &Value> {
        self.0.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
    }
}

fn amount(value: &Value, key: &str) -> Option<Decimal> {
    parse_info(value.get(key)?.as_str()?).ok()
}

fn position(value: &Value) -> Option<Position> {
    Some(Position {
        coin: value.get("coin")?.as_str()?.to_owned(),
        is_long: value.get("side")?.as_str()? == "long",
        size: amount(value, "size")?,
        mark_px: amount(value, "mark_px"),
    })
}

fn open(value: &Value) -> Option<Open> {
    Some(Open {
        coin: value.get("coin")?.as_str()?.to_owned(),
        oid: value.get("oid")?.as_u64()?,
        cloid: value.get("cloid").and_then(Value::as_str).and_then(|text| text.parse().ok()),
        is_buy: value.get("side")?.as_str()? == "buy",
        size: amount(value, "size")?,
        px: amount(value, "px")?,
        tif: value.get("tif").and_then(Value::as_str).and_then(Tif::named),
        trigger_px: amount(value, "trigger_px"),
        is_market_trigger: value.get("is_market_trigger")?.as_bool()?,
        is_take_profit: value.get("order_type")?.as_str()?.starts_with("take_profit"),
        reduce_only: value.get("reduce_only")?.as_bool()?,
    })
}
