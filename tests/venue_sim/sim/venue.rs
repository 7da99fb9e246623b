//! All state of the venue in one place, behind one lock: the exchange, who may act on it, and what a test asked for.

use super::engine::Engine;
use super::exchange::Request;
use super::faults::Faults;
use super::feed::Feeds;
use super::nonces::Nonces;
use super::walk::Walk;
use super::weights::Weights;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};
use svc_guard::base::address::Address;
use svc_guard::venue::signing::Source;

/// Exchange requests remembered for the truth.
const REQUESTS_KEPT: usize = 10_000;

/// Who trades here.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    /// The account that trades.
    pub(crate) account: Address,
    /// Its API wallets.
    pub(crate) agents: Vec<Address>,
    /// The account's owner, when the account is a sub-account or vault: agents then belong to the owner.
    pub(crate) master: Option<Address>,
}

/// One exchange request as the venue saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at_ms: u64,
    /// `http` or `websocket`.
    pub(crate) via: &'static str,
    pub(crate) signer: Option<Address>,
    pub(crate) nonce: Option<u64>,
    pub(crate) vault: Option<Address>,
    pub(crate) expires_after_ms: Option<u64>,
    /// As received; null when the body could not be read.
    pub(crate) action: Value,
    pub(crate) verdict: &'static str,
    pub(crate) fault: Option<&'static str>,
    /// The reply made, whether or not a fault let it out.
    pub(crate) reply: Value,
}

impl Seen {
    /// A request that was read; what became of it is yet to be said.
    pub(crate) fn of(request: &Request, via: &'static str) -> Self {
        let envelope = &request.envelope;
        Self {
            at_ms: 0,
            via,
            signer: request.signer,
            nonce: Some(envelope.terms.nonce),
            vault: envelope.terms.vault,
            expires_after_ms: envelope.terms.expires_after_ms,
            action: serde_json::to_value(&envelope.received).unwrap_or_default(),
            verdict: "not_done",
            fault: None,
            reply: Value::Null,
        }
    }

    /// A body that could not be read as a request.
    pub(crate) fn malformed(body: &Value, via: &'static str) -> Self {
        Self {
            at_ms: 0,
            via,
            signer: None,
            nonce: body.get("nonce").and_then(Value::as_u64),
            vault: None,
            expires_after_ms: None,
            action: body.get("action").cloned().unwrap_or_default(),
            verdict: "malformed",
            fault: None,
            reply: Value::Null,
        }
    }

    fn show(&self, index: u64) -> Value {
        json!({
            "index": index, "at_ms": self.at_ms, "via": self.via, "signer": self.signer, "nonce": self.nonce,
            "vault": self.vault, "expires_after_ms": self.expires_after_ms,
            "type": self.action.get("type").cloned().unwrap_or_default(), "action": self.action,
            "verdict": self.verdict, "fault": self.fault, "reply": self.reply,
        })
    }
}

/// The venue's state.
pub(crate) struct Venue {
    pub(crate) engine: Engine,
    pub(crate) network: Source,
    pub(crate) identity: Identity,
    pub(crate) nonces: Nonces,
    pub(crate) weights: Weights,
    pub(crate) faults: Faults,
    pub(crate) feeds: Feeds,
    pub(crate) walk: Option<Walk>,
    /// How far the venue's clock is ahead of the machine's.
    pub(crate) clock_ahead_ms: u64,
    /// Reads answered, by type.
    pub(crate) reads: BTreeMap<String, u64>,
    seen: VecDeque<Seen>,
    /// Requests forgotten, which is also the index of the oldest remembered.
    forgotten: u64,
}

/// Leads the account where it is a vault.
const LEADER: Address = Address([0x33; 20]);

impl Venue {
    /// The account's owner, when it is a sub-account or vault.
    pub(crate) fn master(&self) -> Option<Address> {
        self.identity.master.or(self.engine.settings.is_vault.then_some(LEADER))
    }

    pub(crate) fn new(network: Source, identity: Identity, engine: Engine, walk: Option<Walk>) -> Self {
        Self {
            engine,
            network,
            identity,
            nonces: Nonces::default(),
            weights: Weights::default(),
            faults: Faults::default(),
            feeds: Feeds::default(),
            walk,
            clock_ahead_ms: 0,
            reads: BTreeMap::new(),
            seen: VecDeque::new(),
            forgotten: 0,
        }
    }

    /// Lets time pass up to now.
    pub(crate) fn tick(&mut self) {
        let now_ms = wall_clock_ms().saturating_add(self.clock_ahead_ms);
        self.engine.advance_to(now_ms);
        if let Some(walk) = &mut self.walk {
            walk.step(&mut self.engine);
        }
    }

    /// Whether an address is an API wallet that may act now.
    pub(crate) fn is_agent(&self, address: &Address) -> bool {
        let settings = &self.engine.settings;
        let expired = settings.agent_expiry_enforced
            && settings.agent_valid_until_ms.is_some_and(|until_ms| until_ms < self.engine.now_ms);
        settings.agent_registered && !expired && self.identity.agents.contains(address)
    }

    pub(crate) fn remember(&mut self, seen: Seen) {
        if self.seen.len() >= REQUESTS_KEPT {
            self.seen.pop_front();
            self.forgotten = self.forgotten.saturating_add(1);
        }
        self.seen.push_back(seen);
    }

    /// The requests from index `since` on.
    pub(crate) fn seen_since(&self, since: u64) -> Value {
        let indexed = (self.forgotten..).zip(&self.seen);
        indexed.filter(|(index, _)| *index >= since).map(|(index, seen)| seen.show(index)).collect()
    }
}

/// UTC milliseconds by the machine's clock.
pub(crate) fn wall_clock_ms() -> u64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX)
}
