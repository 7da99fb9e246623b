//! A trade that is done at most once under the agent's name for it, however often it is asked for.

use rust_decimal::Decimal;
use serde_json::Value;

use super::history::lookup;
use crate::base::address::{Address, Cloid};
use crate::base::amount::{parse_wire, to_wire};
use crate::base::key::SecretKey;
use crate::mcp::client_id;
use crate::mcp::context::{Context, InProgress};
use crate::mcp::outcome::{Kind, Outcome, Retry, Rule};
use crate::mcp::send::{await_settlement, conclude, recall, submit};
use crate::mcp::settlement_view::{Record, SettlementView};
use crate::mcp::status::Status;
use crate::mcp::trade_outcome::{Trade, finish};
use crate::venue::action::Action;

/// The right of one call to trade under a name.
pub(super) struct IdempotentTrade<'a> {
    pub(super) cloid: Cloid,
    client: Address,
    _in_progress: InProgress<'a>,
}

/// The terms of a call, compared with those of an earlier call under the same name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TradeTerms {
    pub(super) asset: u32,
    /// `None` where the call leaves it open, as with the size.
    pub(super) is_buy: Option<bool>,
    pub(super) reduce_only: bool,
    pub(super) size: Option<Decimal>,
}

impl<'a> IdempotentTrade<'a> {
    /// Takes the name for this call.
    ///
    /// # Errors
    /// `unavailable` while another call of this process has it.
    pub(super) fn begin(context: &'a Context, name: &str) -> Result<Self, Outcome> {
        let client = context.key.as_ref().map_or(Address([0; 20]), SecretKey::address);
        let cloid = client_id::cloid(client, name);
        match context.begin(name) {
            Some(in_progress) => Ok(Self { cloid, client, _in_progress: in_progress }),
            None => {
                let text = "A call with this client_id is under way; wait for its answer. This one did nothing.";
                Err(Outcome::new(Kind::Unavailable, Retry::Later, text))
            }
        }
    }

    /// The outcome of an earlier call under this name, if there was one; `trade` puts a trade of a size into words.
    ///
    /// # Errors
    /// `unavailable` where that cannot be found out, unless it is an exit: that goes all the same, for it can only
    /// reduce, and the guard itself takes no name twice.
    pub(super) fn earlier_outcome(
        &self,
        context: &Context,
        status: &Status,
        terms: &TradeTerms,
        trade: impl Fn(Option<Decimal>) -> Trade,
    ) -> Result<Option<Outcome>, Outcome> {
        match lookup(context, &self.cloid.to_string()) {
            Ok(found) => Ok(self.first_passed(&found).and_then(|record| {
                Some(self.outcome_of_repeat(context, status, terms, SettlementView::of(&record)?, trade))
            })),
            Err(_) if terms.reduce_only => Ok(None),
            Err(error) => Err(Outcome::unreachable(&error)),
        }
    }

    /// Sends the action. The guard itself refuses the name a second time, so no other process can come in between: then
    /// the outcome is that of the first call.
    pub(super) fn send(
        &self,
        context: &Context,
        status: &Status,
        terms: &TradeTerms,
        trade: &Trade,
        action: &Action,
    ) -> Outcome {
        let sent = match submit(context, status, action, trade) {
            Ok(sent) => sent,
            Err(outcome) => return finish(outcome, status, trade),
        };
        if sent.is_veto("duplicate_order") {
            match lookup(context, &self.cloid.to_string()).map(|found| self.first_passed(&found)) {
                Ok(first) => {
                    if let Some(record) = first.as_ref().and_then(SettlementView::of) {
                        let words = |size| Trade { size, ..trade.clone() };
                        return self.outcome_of_repeat(context, status, terms, record, words);
                    }
                }
                Err(error) => {
                    let text = format!(
                        "The guard refused it as a repeat, and whether this client_id traded before cannot be read now ({error}). \
                         Nothing new was sent. Call again with the same client_id: that never trades twice and tells."
                    );
                    return finish(Outcome::new(Kind::Unknown, Retry::CheckFirst, text), status, trade);
                }
            }
        }
        conclude(context, status, trade, &sent)
    }

    /// This key's decision that passed under this name: whoever else used its id did something else.
    fn first_passed(&self, found: &[Record]) -> Option<Record> {
        let cloid = self.cloid.to_string();
        let passed = |record: &&Record| {
            SettlementView::of(record).is_some_and(|record| {
                record.is_of(self.client) && !record.is_veto() && record.asked_order(&cloid).is_some()
            })
        };
        found.iter().find(passed).cloned()
    }

    fn outcome_of_repeat(
        &self,
        context: &Context,
        status: &Status,
        terms: &TradeTerms,
        record: SettlementView<'_>,
        trade: impl Fn(Option<Decimal>) -> Trade,
    ) -> Outcome {
        let first = record.asked_order(&self.cloid.to_string()).cloned().unwrap_or_default();
        // The outcome is that of the first call: its size counts, not the size that this call would come to now.
        let trade = trade(first.get("s").and_then(Value::as_str).and_then(|size| parse_wire(size).ok()));
        let is = |key: &str, wanted: Value| first.get(key) == Some(&wanted);
        let is_same = is("a", terms.asset.into())
            && terms.is_buy.is_none_or(|is_buy| is("b", is_buy.into()))
            && is("r", terms.reduce_only.into())
            && terms.size.is_none_or(|size| is("s", to_wire(size).into()));
        if is_same {
            let cloid = self.cloid.to_string();
            let settled = await_settlement(|| lookup(context, &cloid).ok().and_then(|found| self.first_passed(&found)));
            let settled = settled.as_ref().and_then(SettlementView::of).unwrap_or(record);
            return recall(context, status, &trade, settled);
        }
        let rule = Rule { id: "client_id_used".to_owned(), limit: None, observed: trade.client_id };
        let text = "This client_id was used before for another trade, so nothing was sent. list_decisions with this client_id \
                    shows that one; choose a new client_id for this one.";
        Outcome { decision_id: Some(record.seq()), ..Outcome::invalid(rule, text) }
    }
}
