//! A bot's side of the protocol: orders built and signed with the client key, as any SDK of the venue does.

use rust_decimal::Decimal;
use svc_guard::base::address::Cloid;
use svc_guard::base::key::SecretKey;
use svc_guard::venue::action::{Action, Grouping, OrderAction};
use svc_guard::venue::envelope;
use svc_guard::venue::order::{Order, OrderKind, Tif, Tpsl};
use svc_guard::venue::signing::sign_action;
use svc_guard::venue::signing::{Source, Terms};

/// The body that posts `action`.
pub(crate) fn signed(key: &SecretKey, action: &Action, nonce: u64) -> Result<String, String> {
    let action = action.to_node().ok_or("an action that is never sent")?;
    let terms = Terms { nonce, vault: None, expires_after_ms: None };
    let signature = sign_action(key, &action, &terms, Source::Testnet).map_err(|error| error.to_string())?;
    Ok(envelope::body(&action, &terms, &signature))
}

/// A limit order.
pub(crate) fn limit(
    asset: u32,
    is_buy: bool,
    size: Decimal,
    limit_px: Decimal,
    tif: Tif,
    cloid: Option<Cloid>,
) -> Order {
    Order { asset, is_buy, limit_px, size, reduce_only: false, kind: OrderKind::Limit(tif), cloid }
}

/// A buy and its own market stop, which the venue arms when the buy has filled.
pub(crate) fn with_stop(entry: Order, trigger_px: Decimal) -> Action {
    let stop = Order {
        is_buy: false,
        // As SDKs do: 10% beyond the trigger, and a whole number is on every tick.
        limit_px: (trigger_px * Decimal::new(9, 1)).trunc(),
        reduce_only: true,
        kind: OrderKind::Trigger { is_market: true, trigger_px, tpsl: Tpsl::Sl },
        cloid: None,
        ..entry
    };
    Action::Order(OrderAction { orders: vec![entry, stop], grouping: Grouping::NormalTpsl, builder: None })
}
