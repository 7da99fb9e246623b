//! The guard's status, read: its mode and account, positions and open orders. Pure.

use rust_decimal::Decimal;
use serde::Deserialize;
use serde_json::Value;

use crate::base::address::{Address, Cloid};
use crate::base::kill_file::MAX_REASON_LEN;
use crate::base::mode::Mode;
use crate::base::text::visible;
use crate::record::status;
use crate::venue::order::Tif;
use crate::venue::signing::Source;

/// The alert of a guard whose last read of the account is too old.
const ACCOUNT_STALE: &str = "account_stale";

/// A status as the guard gave it.
#[derive(Debug, Clone)]
pub(super) struct Status {
    known: status::Status,
    mode: Mode,
}

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
    pub(super) fn read(raw: Value) -> Option<Self> {
        let known = status::Status::deserialize(raw).ok().filter(|known| known.schema == status::SCHEMA)?;
        let mode = known.mode.parse().ok()?;
        Some(Self { known, mode })
    }

    /// All that it says.
    pub(super) fn known(&self) -> &status::Status {
        &self.known
    }

    pub(super) fn mode(&self) -> Mode {
        self.mode
    }

    pub(super) fn is_paper(&self) -> bool {
        self.mode == Mode::Paper
    }

    pub(super) fn account(&self) -> Address {
        self.known.account
    }

    /// The network that the guard wants requests signed for, where it cares.
    pub(super) fn network(&self) -> Source {
        if self.known.account_network == "testnet" { Source::Testnet } else { Source::Mainnet }
    }

    /// Why the kill switch is pulled, if it is.
    pub(super) fn killed(&self) -> Option<String> {
        self.known.killed.as_ref().map(|reason| visible(reason, MAX_REASON_LEN))
    }

    pub(super) fn kill_file(&self) -> Option<&str> {
        Some(&self.known.kill_file[..]).filter(|path| !path.is_empty())
    }

    /// The code of the owner's rules.
    pub(super) fn rules_code(&self) -> &str {
        &self.known.rules
    }

    /// Age of the last read of the account, in milliseconds.
    pub(super) fn age_ms(&self) -> Option<u64> {
        self.known.venue.account_age_ms
    }

    /// Whether the guard itself calls its last read of the account too old.
    pub(super) fn is_stale(&self) -> bool {
        self.known.alerts.iter().any(|alert| alert.code == ACCOUNT_STALE)
    }

    pub(super) fn position(&self, coin: &str) -> Option<Position> {
        let held = self.known.positions.iter().find(|position| position.coin == coin)?;
        Some(Position { coin: held.coin.clone(), is_long: held.side == "long", size: held.size, mark_px: held.mark_px })
    }

    pub(super) fn open_order(&self, coin: &str, oid: u64) -> Option<Open> {
        let order = self.known.open_orders.iter().find(|order| order.oid == oid && order.coin == coin)?;
        Some(Open {
            coin: order.coin.clone(),
            oid: order.oid,
            cloid: order.cloid,
            is_buy: order.side == "buy",
            size: order.size,
            px: order.px,
            tif: order.tif.as_deref().and_then(Tif::named),
            trigger_px: order.trigger_px,
            is_market_trigger: order.is_market_trigger,
            is_take_profit: order.order_type.starts_with("take_profit"),
            reduce_only: order.reduce_only,
        })
    }
}
