//! An action whose outcome is not known, and what its orders' status says about it.

use crate::base::address::Cloid;
use crate::base::amount::parse_info;
use crate::guard::state::intent::Planned;
use crate::guard::state::sent::order::SHOWN_WITHIN_MS;
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::order::Order;
use crate::venue::side::Side;
use crate::venue::signing::Terms;
use serde_json::{Value, json};

/// An order that reached the venue may be unknown for a while after: reads may lag behind answers. So many answers in a row,
/// and one from after the usual time, settle that asking tells nothing.
const UNKNOWN_ANSWERS: u32 = 3;

/// An action cannot take effect later than this after its expiry, whatever the clocks say.
const EXPIRY_MARGIN_MS: u64 = 60_000;

/// After so long a time of asking an action is given up, answered or not; one with an expiry not before that is over.
const GIVE_UP_MS: u64 = 120_000;

/// Between two questions about the same order, and between those that only time can settle.
const ASK_EVERY_MS: u64 = 1_000;
const ASK_LATER_MS: u64 = 5_000;

/// A question whose end was not heard of is counted as one without an answer after so long.
const LOST_MS: u64 = 30_000;

/// Evidence kept of one settlement: the first answers tell, the rest repeat.
const MAX_EVIDENCE: usize = 8;

/// What the venue calls a trigger that was taken and failed only when it fired.
const FIRED_IN_VAIN: [&str; 2] = ["marketOrderNoLiquidityRejected", "perpMarginRejected"];

/// An action whose outcome is not known.
#[derive(Debug)]
pub(crate) struct InDoubtAction {
    pub(crate) action: Action,
    pub(crate) node: Node,
    pub(crate) terms: Terms,
    pub(crate) proof: Proof,
    /// Since when it is in doubt in this life: reads that began before prove nothing about it.
    pub(crate) since_ms: u64,
    /// An earlier life sent it: what it placed is in the first reads, or nowhere.
    pub(crate) is_earlier: bool,
    /// When it was asked about first.
    asked_ms: Option<u64>,
    /// Until when the question that is at the venue is waited for.
    asking_until_ms: Option<u64>,
    /// Noops sent with its nonce.
    pub(crate) burns: u32,
    pub(crate) next_ms: u64,
    pub(crate) evidence: Vec<Value>,
    /// Its intent counts as unfinished until this is settled: no `sent` event tells of the action, so a `done` before
    /// would say that it was never sent, and a second crash would forget it.
    pub(crate) holds_done: bool,
    orders: Vec<StatusQuery>,
}

/// One order of an action in doubt.
#[derive(Debug)]
struct StatusQuery {
    order: Order,
    cloid: Cloid,
    /// Questions since an answer came, and answers that did not know it.
    asked: u32,
    unknown: u32,
    /// The venue has a record that it refused this order.
    is_refused: bool,
}

/// What the burning of its nonce proved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proof {
    /// Not tried yet.
    Wanted,
    /// The noop is on its way.
    Waiting,
    /// The nonce was used up by this time: what has not happened by then never will.
    Used(u64),
    /// Nothing.
    None,
}

/// What is known of an action in doubt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outlook {
    Settled(Resolution),
    /// Nothing more can come of it, and no answer has told of its orders: that they are not shown is no proof that there are
    /// none.
    Lost,
}

/// How an action turned out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resolution {
    Happened,
    DidNotHappen,
    /// The effect holds, and nothing says that this action caused it.
    Moot,
    Unknown,
}

impl Resolution {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Resolution::Happened => "happened",
            Resolution::DidNotHappen => "did_not_happen",
            Resolution::Moot => "moot",
            Resolution::Unknown => "unknown",
        }
    }
}

impl InDoubtAction {
    pub(crate) fn new(planned: Planned, proof: Proof, now_ms: u64) -> Self {
        let Planned { action, node, terms, .. } = planned;
        let asked = |order: &Order| {
            let cloid = order.cloid?;
            Some(StatusQuery { order: order.clone(), cloid, asked: 0, unknown: 0, is_refused: false })
        };
        let orders = action.orders().filter_map(asked).collect();
        let evidence = match proof {
            // Its own answer stands in the journal of that life.
            Proof::Used(at_ms) => vec![json!({
                "request": {"type": "noop", "nonce": terms.nonce}, "reply": format!("a duplicate nonce, at {at_ms}"),
            })],
            _ => Vec::new(),
        };
        Self {
            action,
            node,
            terms,
            proof,
            since_ms: now_ms,
            is_earlier: false,
            asked_ms: None,
            asking_until_ms: None,
            burns: 0,
            next_ms: now_ms,
            evidence,
            holds_done: false,
            orders,
        }
    }

    /// By when its nonce was known to be used up.
    pub(crate) fn used_ms(&self) -> Option<u64> {
        if let Proof::Used(at_ms) = self.proof { Some(at_ms) } else { None }
    }

    /// Whether it places an order in this market.
    pub(crate) fn is_about(&self, asset: u32) -> bool {
        self.action.orders().any(|order| order.asset == asset)
    }

    /// Whether it may have placed a stop in this market that no read has shown, and since when it is in doubt.
    pub(crate) fn may_cover(&self, asset: u32) -> Option<u64> {
        let has_stop = self.action.orders().any(|order| order.asset == asset && order.market_stop_px().is_some());
        (has_stop && !self.is_earlier).then_some(self.since_ms)
    }

    /// Whether its orders can be asked for.
    pub(crate) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The id to ask for now: the one asked for least. One question is at the venue at a time. An entry and its stop may
    /// share an id.
    pub(crate) fn question(&mut self, now_ms: u64) -> Option<Cloid> {
        let asked = self.orders.iter_mut().filter(|asked| !asked.is_refused).min_by_key(|asked| asked.asked)?;
        asked.asked = asked.asked.saturating_add(1);
        let cloid = asked.cloid;
        self.begin_asking(now_ms);
        self.asking_until_ms = Some(now_ms.saturating_add(LOST_MS));
        Some(cloid)
    }

    /// Takes note of since when it is asked about.
    pub(crate) fn begin_asking(&mut self, now_ms: u64) {
        self.asked_ms.get_or_insert(now_ms);
    }

    /// Whether a question about it is at the venue.
    pub(crate) fn is_asking(&self, now_ms: u64) -> bool {
        self.asking_until_ms.is_some_and(|until_ms| now_ms < until_ms)
    }

    /// Takes note of the end of a question. The next one follows at once where orders were not asked about as often.
    pub(crate) fn on_asked(&mut self, is_answered: bool, now_ms: u64) {
        self.asking_until_ms = None;
        let asked = || self.orders.iter().filter(|asked| !asked.is_refused).map(|asked| asked.asked);
        let is_round_over = asked().min() == asked().max();
        let pause_ms = match is_answered && !is_round_over {
            true => 0,
            false if self.least_unknown(UNKNOWN_ANSWERS) => ASK_LATER_MS,
            false => ASK_EVERY_MS,
        };
        self.next_ms = now_ms.saturating_add(pause_ms);
    }

    /// Whether it was asked about for long enough.
    pub(crate) fn is_given_up(&self, earliest_ms: u64, now_ms: u64) -> bool {
        let is_over = self.terms.expires_after_ms.is_none() || self.is_past(earliest_ms);
        is_over && self.asked_ms.is_some_and(|asked_ms| now_ms.saturating_sub(asked_ms) >= GIVE_UP_MS)
    }

    /// Whether it can no longer take effect, at a time that has passed by every clock.
    pub(crate) fn is_past(&self, earliest_ms: u64) -> bool {
        self.terms.expires_after_ms.is_some_and(|expiry| earliest_ms > expiry.saturating_add(EXPIRY_MARGIN_MS))
    }

    pub(crate) fn note(&mut self, request: &Value, reply: &Value) {
        if self.evidence.len() < MAX_EVIDENCE {
            self.evidence.push(json!({"request": request, "reply": reply}));
        }
    }

    /// Takes in the status of the orders under this id, and tells what that says of the action.
    pub(crate) fn order_status(
        &mut self,
        cloid: Cloid,
        answer: &Value,
        (earliest_ms, now_ms): (u64, u64),
    ) -> Option<Outlook> {
        let is_unknown = match answer.get("status").and_then(Value::as_str) {
            Some("order") => false,
            Some("unknownOid") => true,
            _ => return None,
        };
        self.note(&json!({"type": "orderStatus", "oid": cloid}), answer);
        // A modify may keep the id of the order that it replaces, and an entry share it with its stop.
        let is_shared = matches!(self.action, Action::Modify { .. } | Action::BatchModify { .. })
            || self.orders.iter().filter(|asked| asked.cloid == cloid).count() > 1;
        for asked in self.orders.iter_mut().filter(|asked| asked.cloid == cloid) {
            if is_unknown || (is_shared && !shows(answer, &asked.order)) {
                asked.unknown = asked.unknown.saturating_add(1);
            } else if is_refused(answer, &asked.order) {
                asked.is_refused = true;
            } else {
                return Some(Outlook::Settled(Resolution::Happened));
            }
        }
        self.without_orders(earliest_ms, now_ms)
    }

    /// What is known when no order of it was found so far.
    fn without_orders(&self, earliest_ms: u64, now_ms: u64) -> Option<Outlook> {
        if self.least_unknown(UNKNOWN_ANSWERS) && self.orders.iter().any(|asked| asked.is_refused) {
            return Some(Outlook::Settled(Resolution::DidNotHappen));
        }
        // Who used the nonce up was this action, as a rule.
        let is_late = self.used_ms().is_some_and(|at_ms| now_ms >= at_ms.saturating_add(SHOWN_WITHIN_MS));
        let is_lost =
            self.least_unknown(UNKNOWN_ANSWERS) && is_late || self.least_unknown(1) && self.is_past(earliest_ms);
        is_lost.then_some(Outlook::Lost)
    }

    /// Whether the venue said so often of each order that it does not know it, or that it refused it.
    fn least_unknown(&self, answers: u32) -> bool {
        self.orders.iter().all(|asked| asked.is_refused || asked.unknown >= answers)
    }
}

/// Whether a refusal's text says that the nonce is taken already.
pub(crate) fn says_duplicate(text: &str) -> bool {
    text.contains("duplicate nonce")
}

/// Whether the order that an answer shows is this one, as far as its wire form says.
fn shows(answer: &Value, order: &Order) -> bool {
    let Some(shown) = answer.pointer("/order/order") else { return false };
    let amount = |key: &str| shown.get(key).and_then(Value::as_str).and_then(|text| parse_info(text).ok());
    let side = shown.get("side").cloned().and_then(|side| serde_json::from_value::<Side>(side).ok());
    // The venue may cut what can only reduce.
    let same_size = order.reduce_only || amount("origSz").is_none_or(|size| size == order.size);
    side == Some(Side::of(order.is_buy))
        && amount("limitPx") == Some(order.limit_px)
        && shown.get("reduceOnly").and_then(Value::as_bool).is_none_or(|reduces| reduces == order.reduce_only)
        && same_size
}

/// Whether the venue's record of an order is that it was refused.
fn is_refused(answer: &Value, order: &Order) -> bool {
    let status = answer.pointer("/order/status").and_then(Value::as_str).unwrap_or_default();
    let failed_later = order.is_trigger() && FIRED_IN_VAIN.contains(&status);
    (status == "rejected" || status.ends_with("Rejected")) && !failed_later
}
