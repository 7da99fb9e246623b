//! The venue as last read: markets, mids, the account and its open orders. Knows no verdict and sends nothing.

use crate::base::address::Cloid;
use crate::guard::state::by_fill::ByFill;
use crate::guard::state::own_cloid::is_guard_stop;
use crate::venue::info::{ClearinghouseState, Leverage, OpenOrder, Position};
use crate::venue::market::{Market, Universe};
use crate::venue::order::{Order, OrderKind, Tpsl};
use crate::venue::side::PositionSide;
use crate::venue::side::Side;
use rust_decimal::Decimal;
use std::collections::BTreeMap;

/// The venue as last read.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) universe: Universe,
    /// How the last list of the markets contradicts the known one, and since when one has.
    pub(crate) contradiction: Option<(String, u64)>,
    pub(crate) mids: BTreeMap<u32, Decimal>,
    /// When the read of the mids began.
    pub(crate) mids_ms: Option<u64>,
    /// Marks, each with when the read of it began.
    pub(crate) marks: BTreeMap<u32, (Decimal, u64)>,
    pub(crate) account: Option<AccountView>,
    /// Open orders of core perps by order id.
    pub(crate) orders: BTreeMap<u64, Resting>,
    /// When the read of the orders began.
    pub(crate) orders_ms: Option<u64>,
    /// When the live feed last told just what was read of them.
    pub(crate) orders_agreed_ms: Option<u64>,
    /// When the first read of them was taken in.
    pub(crate) orders_since_ms: Option<u64>,
    /// Orders of other markets, for the status only.
    pub(crate) foreign_orders: Vec<OpenOrder>,
    /// The highest order id that anything told: the venue counts upwards, so a new order gets a higher one.
    newest_oid: u64,
    /// Leverage settings with the time they were learnt.
    pub(crate) leverage: BTreeMap<u32, (Leverage, u64)>,
}

/// The live feed stands in for reads of the account for so long: an audit that fails shows in its age.
const MOST_UNREAD_MS: u64 = 40_000;

/// The account as last read.
#[derive(Debug, Clone)]
pub(crate) struct AccountView {
    pub(crate) equity: Decimal,
    /// When the last read began that told the equity; `None` until one did.
    pub(crate) valued_ms: Option<u64>,
    pub(crate) cross_maintenance: Decimal,
    pub(crate) positions: BTreeMap<u32, Position>,
    /// Where each is liquidated, as far as two reads in a row say so.
    pub(crate) liquidation_px: BTreeMap<u32, Decimal>,
    /// Positions in no market that is known, by coin.
    pub(crate) unknown: BTreeMap<String, Position>,
    pub(crate) venue_ms: u64,
    /// When the read began.
    pub(crate) begun_ms: u64,
    /// When the first read began that showed the account as of this time of the venue's.
    pub(crate) moved_ms: u64,
    /// When the live feed last told just the positions that were read.
    pub(crate) agreed_ms: u64,
    /// The equity at the newest marks, where any is newer than the read.
    pub(crate) marked: Option<Decimal>,
    /// Positions that fills have opened or enlarged since: each with what the read showed.
    pub(crate) by_fill: BTreeMap<u32, ByFill>,
}

impl AccountView {
    /// Since when it is known as it is: by reads, and by the live feed.
    pub(crate) fn known_ms(&self) -> u64 {
        self.begun_ms.max(self.agreed_ms.min(self.begun_ms.saturating_add(MOST_UNREAD_MS)))
    }

    /// The same of what the venue shows, where its answers stand still.
    pub(crate) fn shown_ms(&self) -> u64 {
        self.moved_ms.max(self.agreed_ms.min(self.begun_ms.saturating_add(MOST_UNREAD_MS)))
    }

    /// The equity by now.
    pub(crate) fn equity_now(&self) -> Decimal {
        self.marked.unwrap_or(self.equity)
    }

    /// How old the account is: by the reads, and where the venue goes on showing one and the same moment, by that.
    pub(crate) fn age_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.shown_ms())
    }

    /// Whether the read of it told the equity as well.
    pub(crate) fn is_valued(&self) -> bool {
        self.valued_ms == Some(self.begun_ms)
    }

    /// Whether it shows no position.
    pub(crate) fn is_flat(&self) -> bool {
        self.positions.is_empty() && self.unknown.is_empty()
    }
}

/// An open order of a core perp.
#[derive(Debug, Clone)]
pub(crate) struct Resting {
    pub(crate) asset: u32,
    pub(crate) oid: u64,
    pub(crate) cloid: Option<Cloid>,
    pub(crate) is_buy: bool,
    pub(crate) px: Decimal,
    pub(crate) size: Decimal,
    /// Waits for its trigger and so cannot fill now.
    pub(crate) is_trigger: bool,
    /// Set for a market stop: the only kind that covers.
    pub(crate) stop_px: Option<Decimal>,
    pub(crate) is_position_tpsl: bool,
    pub(crate) reduce_only: bool,
    /// The stop that comes alive when this order fills.
    pub(crate) child_stop_px: Option<Decimal>,
    /// The stop that it was judged with as an entry, where it brings none: one that stands by itself, or comes when it fills, or was
    /// its child.
    pub(crate) judged_px: Option<Decimal>,
    /// When a read first showed it.
    pub(crate) seen_ms: u64,
    /// The trigger and size of the stop that the read before showed it as, or the venue's answer told.
    pub(crate) before: Option<(Decimal, Decimal)>,
    pub(crate) order: OpenOrder,
}

impl Resting {
    fn of(order: OpenOrder, asset: u32, seen_ms: u64) -> Self {
        Self {
            asset,
            oid: order.oid,
            cloid: order.cloid,
            is_buy: order.side == Side::Buy,
            px: order.limit_px,
            size: order.sz,
            is_trigger: order.is_trigger,
            stop_px: order.market_stop_px(),
            is_position_tpsl: order.is_position_tpsl,
            reduce_only: order.reduce_only,
            child_stop_px: order.children.iter().find_map(OpenOrder::market_stop_px),
            judged_px: None,
            seen_ms,
            before: None,
            order,
        }
    }

    /// An order that the venue has just accepted.
    pub(crate) fn accepted(order: &Order, oid: u64, coin: &str, is_position_tpsl: bool, now_ms: u64) -> Self {
        let (trigger_px, order_type) = match &order.kind {
            OrderKind::Limit(_) => (None, "Limit"),
            OrderKind::Trigger { is_market, trigger_px, tpsl } => {
                let order_type = match (tpsl, is_market) {
                    (Tpsl::Sl, true) => "Stop Market",
                    (Tpsl::Sl, false) => "Stop Limit",
                    (Tpsl::Tp, true) => "Take Profit Market",
                    (Tpsl::Tp, false) => "Take Profit Limit",
                };
                (Some(*trigger_px), order_type)
            }
        };
        let open = OpenOrder {
            coin: coin.to_owned(),
            side: if order.is_buy { Side::Buy } else { Side::Sell },
            limit_px: order.limit_px,
            sz: order.size,
            oid,
            is_trigger: trigger_px.is_some(),
            trigger_px: trigger_px.unwrap_or_default(),
            is_position_tpsl,
            reduce_only: order.reduce_only,
            order_type: order_type.to_owned(),
            tif: order.tif().map(|tif| tif.name().to_owned()),
            cloid: order.cloid,
            children: Vec::new(),
        };
        Self::of(open, order.asset, now_ms)
    }

    /// Whether the guard placed this as its own stop.
    pub(crate) fn is_guards(&self) -> bool {
        self.cloid.is_some_and(|cloid| is_guard_stop(&cloid))
    }

    /// Whether this order can open a position when it fills.
    pub(crate) fn is_entry(&self) -> bool {
        !self.reduce_only && !self.is_trigger
    }
}

/// Where a position is liquidated. A price that one read alone shows nearer than the one before is not believed yet: a stop
/// would move there for good, or find no place at all.
fn liquidation_px(now: &Position, before: Option<&Position>) -> Option<Decimal> {
    let px = |position: &Position| position.liquidation_px.filter(|px| *px > Decimal::ZERO);
    match (before.filter(|before| before.szi == now.szi), PositionSide::of(now.szi)) {
        (Some(before), Some(side)) => Some(side.further_of(px(before)?, px(now)?)),
        _ => px(now),
    }
}

impl View {
    pub(crate) fn market(&self, asset: u32) -> Option<&Market> {
        self.universe.get(asset)
    }

    /// The name of an asset's market, or its number where it is in none that is known.
    pub(crate) fn coin(&self, asset: u32) -> String {
        self.market(asset).map_or_else(|| format!("asset {asset}"), |market| market.coin.clone())
    }

    /// The equity that limits go by, the less of what was read and what the newest marks make of it; `None` until it is known.
    pub(crate) fn equity(&self) -> Option<Decimal> {
        Some(self.valued()?.equity.min(self.equity_now()?))
    }

    /// The account's equity by now; `None` until it is known.
    pub(crate) fn equity_now(&self) -> Option<Decimal> {
        self.valued().map(AccountView::equity_now)
    }

    fn valued(&self) -> Option<&AccountView> {
        self.account.as_ref().filter(|account| account.valued_ms.is_some())
    }

    /// Since when the open orders are known as they are: by reads, and by the live feed.
    pub(crate) fn orders_known_ms(&self) -> Option<u64> {
        self.orders_ms.max(self.orders_agreed_ms.filter(|_| self.orders_ms.is_some()))
    }

    /// Signed position size; zero when flat or not read.
    pub(crate) fn position(&self, asset: u32) -> Decimal {
        let position = self.account.as_ref().and_then(|account| account.positions.get(&asset));
        position.map_or(Decimal::ZERO, |position| position.szi)
    }

    /// The mid, or the mark of the position where no mid is known.
    pub(crate) fn price(&self, asset: u32) -> Option<Decimal> {
        self.mids.get(&asset).copied().or_else(|| self.mark(asset))
    }

    /// The mark price that the position's value implies.
    pub(crate) fn mark(&self, asset: u32) -> Option<Decimal> {
        let position = self.account.as_ref()?.positions.get(&asset)?;
        position.position_value.checked_div(position.szi.abs())
    }

    pub(crate) fn set_mids(&mut self, mids: &BTreeMap<String, Decimal>, begun_ms: u64) {
        if self.mids_ms.is_some_and(|held| held > begun_ms) {
            return;
        }
        self.mids = self
            .universe
            .iter()
            .filter_map(|market| Some((market.asset, *mids.get(&market.coin)?)))
            .filter(|(_, mid)| *mid > Decimal::ZERO)
            .collect();
        self.mids_ms = (!self.mids.is_empty()).then_some(begun_ms).or(self.mids_ms);
    }

    /// Takes an account read unless a newer one is held. Returns by how much each position has changed, signed, or `None`
    /// if dropped.
    pub(crate) fn set_account(
        &mut self,
        state: ClearinghouseState,
        equity: Option<Decimal>,
        begun_ms: u64,
    ) -> Option<BTreeMap<u32, Decimal>> {
        if self.universe.is_empty() {
            // Not one position could be told.
            return None;
        }
        if let Some(held) = &self.account
            && (held.begun_ms > begun_ms || held.venue_ms > state.time)
        {
            return None;
        }
        let (mut positions, mut unknown) = (BTreeMap::new(), BTreeMap::new());
        let elements = state.asset_positions.into_iter().map(|element| element.position);
        for position in elements.filter(|position| !position.szi.is_zero()) {
            match self.universe.by_coin(&position.coin) {
                Some(market) => drop(positions.insert(market.asset, position)),
                None => drop(unknown.insert(position.coin.clone(), position)),
            }
        }
        for (asset, position) in &positions {
            self.leverage.insert(*asset, (position.leverage.clone(), begun_ms));
        }
        let held = self.account.as_ref().map(AccountView::positions_read).unwrap_or_default();
        let held = &held;
        let size = |positions: &BTreeMap<u32, Position>, asset: &u32| {
            positions.get(asset).map_or(Decimal::ZERO, |position| position.szi)
        };
        // One of the same size at another price was closed and opened anew.
        let entry = |positions: &BTreeMap<u32, Position>, asset: &u32| {
            positions.get(asset).map(|position| (position.szi, position.entry_px))
        };
        let assets = held.keys().chain(positions.keys());
        let changed = assets.filter(|asset| entry(held, asset) != entry(&positions, asset));
        let changes =
            changed.map(|asset| (*asset, size(&positions, asset).saturating_sub(size(held, asset)))).collect();
        let liquidation_px = positions
            .iter()
            .filter_map(|(asset, position)| Some((*asset, liquidation_px(position, held.get(asset))?)))
            .collect();
        let same = self.account.as_ref().filter(|account| account.venue_ms == state.time);
        let moved_ms = same.map_or(begun_ms, |account| account.moved_ms);
        let known = self.account.as_ref().map(|account| (account.equity, account.valued_ms)).unwrap_or_default();
        let (equity, valued_ms) = equity.map_or(known, |equity| (equity, Some(begun_ms)));
        let agreed_ms = self.account.as_ref().map_or(0, |account| account.agreed_ms.min(begun_ms));
        let by_fill = self.account.as_ref().map(|account| account.filled_after(state.time, begun_ms));
        let by_fill = by_fill.unwrap_or_default();
        self.account = Some(AccountView {
            equity,
            valued_ms,
            cross_maintenance: state.cross_maintenance_margin_used,
            positions,
            liquidation_px,
            unknown,
            venue_ms: state.time,
            begun_ms,
            moved_ms,
            agreed_ms,
            marked: None,
            by_fill: BTreeMap::new(),
        });
        by_fill.into_iter().for_each(|(asset, (held, by_fill))| self.put_filled(asset, held, &by_fill));
        Some(changes)
    }

    /// Takes an orders read unless a newer one is held. Returns what has left the exposure since the last one, orders and
    /// parts of orders, or `None` if dropped.
    pub(crate) fn set_orders(&mut self, orders: Vec<OpenOrder>, begun_ms: u64, now_ms: u64) -> Option<Vec<Resting>> {
        if self.universe.is_empty() || self.orders_ms.is_some_and(|held| held > begun_ms) {
            return None;
        }
        let mut core = BTreeMap::new();
        self.foreign_orders.clear();
        for order in orders {
            self.note_oid(order.oid);
            match self.universe.by_coin(&order.coin).map(|market| market.asset) {
                Some(asset) => {
                    let known = self.orders.get(&order.oid);
                    let before = known.and_then(|known| Some((known.stop_px?, known.size)));
                    let seen_ms = known.map_or(now_ms, |known| known.seen_ms);
                    // One whose child its client has cancelled is stopped out where that stood.
                    let judged_px = known.and_then(|known| known.child_stop_px.or(known.judged_px));
                    core.insert(order.oid, Resting { before, judged_px, ..Resting::of(order, asset, seen_ms) });
                }
                None => self.foreign_orders.push(order),
            }
        }
        let held = std::mem::replace(&mut self.orders, core);
        self.orders_ms = Some(begun_ms);
        self.orders_since_ms.get_or_insert(now_ms);
        let left = held.into_values().filter_map(|mut order| match self.orders.get(&order.oid) {
            None => Some(order),
            Some(shown) => {
                order.size = order.size.saturating_sub(shown.size);
                (order.size > Decimal::ZERO).then_some(order)
            }
        });
        Some(left.collect())
    }

    /// The venue has given this order id to something.
    pub(crate) fn note_oid(&mut self, oid: u64) {
        self.newest_oid = self.newest_oid.max(oid);
    }

    /// Whether an order that is placed now may get this id.
    pub(crate) fn may_be_next(&self, oid: u64) -> bool {
        oid > self.newest_oid
    }

    /// Takes in what the venue's answer told of a stop that a read shows now.
    pub(crate) fn confirm(&mut self, told: &Resting) {
        if let (Some(order), Some(px)) = (self.orders.get_mut(&told.oid), told.stop_px) {
            order.before = Some((px, told.size));
        }
    }

    /// Whether the last read shows an order with this client order id.
    pub(crate) fn shows(&self, cloid: &Cloid) -> bool {
        self.orders.values().any(|order| order.cloid.as_ref() == Some(cloid))
    }
}
