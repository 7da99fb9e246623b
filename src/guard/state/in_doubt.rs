//! An action whose outcome is not known, and what its orders' status says about it.

use crate::base::address::Cloid;
use crate::base::amount::parse_info;
use crate::guard::state::intent::Planned;
use crate::venue::action::Action;
use crate::venue::json::Node;
use crate::venue::order::Order;
use crate::venue::side::Side;
use crate::venue::signing::Terms;
use serde_json::{Value, json};

/// An order that reached the venue may be unknown for a moment after; so many answers in a row settle that it was
/// refused.
const UNKNOWN_ANSWERS: u32 = 3;

/// An action cannot take effect later than this after its expiry, whatever the clocks say.
const EXPIRY_MARGIN_MS: u64 = 60_000;

/// An action without expiry is given up after so many questions.
pub(crate) const MAX_QUESTIONS: u32 = 120;

/// Orders of one action asked about at once.
const ASKED_AT_ONCE: usize = 4;

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
    pub(crate) questions: u32,
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
            questions: 0,
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

    /// Whether it places an order in this market, and since when it is in doubt.
    pub(crate) fn about(&self, asset: u32) -> Option<u64> {
        self.action.orders().any(|order| order.asset == asset).then_some(self.since_ms)
    }

    /// Whether its orders can be asked for.
    pub(crate) fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// The ids to ask for now: those asked for least. An entry and its stop may share one.
    pub(crate) fn questions(&mut self) -> Vec<Cloid> {
        self.questions = self.questions.saturating_add(1);
        let mut waiting: Vec<&mut StatusQuery> = self.orders.iter_mut().filter(|asked| !asked.is_refused).collect();
        waiting.sort_by_key(|asked| asked.asked);
        let mut cloids = Vec::new();
        for asked in waiting.into_iter().take(ASKED_AT_ONCE) {
            asked.asked = asked.asked.saturating_add(1);
            if !cloids.contains(&asked.cloid) {
                cloids.push(asked.cloid);
            }
        }
        cloids
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

    /// Takes in the status of the orders under this id, and tells how the action turned out if that settles it.
    pub(crate) fn order_status(&mut self, cloid: Cloid, answer: &Value, earliest_ms: u64) -> Option<Resolution> {
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
                return Some(Resolution::Happened);
            }
        }
        self.without_orders(earliest_ms)
    }

    /// How it turned out when no order of it was found so far.
    fn without_orders(&self, earliest_ms: u64) -> Option<Resolution> {
        let used = matches!(self.proof, Proof::Used(_)) || self.orders.iter().any(|asked| asked.is_refused);
        let least = |answers: u32| self.orders.iter().all(|asked| asked.is_refused || asked.unknown >= answers);
        if least(UNKNOWN_ANSWERS) && used || least(1) && self.is_past(earliest_ms) {
            Some(Resolution::DidNotHappen)
        } else if self.terms.expires_after_ms.is_none() && self.questions >= MAX_QUESTIONS {
            Some(Resolution::Unknown)
        } else {
            None
        }
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
