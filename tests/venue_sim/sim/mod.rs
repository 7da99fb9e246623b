//! A simulated venue: what a bot, a guard or the official SDK talks to in tests and demos, on loopback only.
//!
//! Modelled: the `/exchange` envelope (strictness, canonical hashing, agents, vaults, nonces, expiry, the account's
//! own request allowance), orders of every time in force, triggers, `normalTpsl` and `positionTpsl`, reduce-only
//! rules, cancels, modifies, leverage and isolated margin, TWAP and scheduled cancels in outline; one account with
//! cross and isolated positions, fees, funding when asked for, margin, liquidation; every `/info` read that an SDK
//! makes; weights and 429; the live feed of `/ws` with every subscription the venue is known to serve, its limits and
//! closes, and posts. Each point where the sources on the venue are uncertain or contradict one
//! another is a setting.
//!
//! Not modelled: other traders (the book is synthetic and replenishes itself, so an order larger than a level walks
//! on, and one that rests stays where a moved mid has left it), spot and builder-deployed markets, block order,
//! several accounts, stepwise liquidation, auto-deleveraging, transfers (user-signed actions get the refusal that an
//! agent's signature gets; other actions are answered `default` and only recorded), price history, the one request in ten seconds of an account that has used up its allowance.
//!
//! Test support: nothing here is shipped, and the crate's own reading of the venue's language is used, held to the
//! official SDK by running that SDK against this.

mod actions;
mod control;
pub(crate) mod engine;
mod exchange;
mod faults;
mod feed;
mod http;
mod info;
pub(crate) mod nonces;
mod service;
mod show;
mod venue;
mod waits;
mod walk;
pub(crate) mod weights;
mod ws;

use engine::Engine;
use http::{Handler, Server};
use rust_decimal::Decimal;
use serde_json::{Value, json};
use service::Service;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::thread::JoinHandle;
use svc_guard::base::address::Address;
use svc_guard::venue::signing::Source;
use venue::{Identity, Venue};
use walk::Walk;

/// How often time passes when nobody asks anything.
const TICK_MS: u64 = 100;

/// What a venue is started with.
#[derive(Clone, Debug)]
pub(crate) struct SimConfig {
    /// Loopback only; port 0 takes a free one.
    pub(crate) listen: SocketAddr,
    /// The account that trades.
    pub(crate) account: Address,
    /// Its API wallets.
    pub(crate) agents: Vec<Address>,
    /// The owner, when the account is a sub-account or vault.
    pub(crate) master: Option<Address>,
    /// USDC the account starts with.
    pub(crate) equity: Decimal,
    /// Prices walk at random from this seed; without one they stand still until told.
    pub(crate) seed: Option<u64>,
    /// The network that signatures and asset ids are of.
    pub(crate) network: Source,
}

impl SimConfig {
    /// An account of 10,000 USDC with one agent, standing prices, testnet, on a free port.
    #[allow(dead_code, reason = "for tests that embed the venue")]
    pub(crate) fn new(account: Address, agent: Address) -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            account,
            agents: vec![agent],
            master: None,
            equity: Decimal::from(10_000u32),
            seed: None,
            network: Source::Testnet,
        }
    }
}

/// Starts venues.
pub(crate) struct Sim;

impl Sim {
    /// Starts a venue on its own threads. A listen address that is not loopback is refused.
    pub(crate) fn start(config: SimConfig) -> io::Result<SimHandle> {
        if !config.listen.ip().is_loopback() {
            let text = format!("listen address {} is not loopback; use 127.0.0.1:PORT", config.listen);
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let now_ms = venue::wall_clock_ms();
        let SimConfig { listen, account, agents, master, equity, seed, network } = config;
        let engine = Engine::new(network, equity, now_ms);
        let walk = seed.map(|seed| Walk::new(seed, now_ms));
        let service = Arc::new(Service::new(Venue::new(network, Identity { account, agents, master }, engine, walk)));
        let handler: Arc<dyn Handler> = service.clone();
        let server = Server::start(listen, handler)?;
        let ticking = Arc::clone(&service);
        let ticker = std::thread::Builder::new().name("venue-clock".into()).spawn(move || {
            while !ticking.stop().is_set() {
                ticking.stop().wait_ms(TICK_MS);
                drop(ticking.venue());
            }
        })?;
        Ok(SimHandle { service, server: Some(server), ticker: Some(ticker) })
    }
}

/// A running venue; it stops when dropped.
pub(crate) struct SimHandle {
    service: Arc<Service>,
    server: Option<Server>,
    ticker: Option<JoinHandle<()>>,
}

impl SimHandle {
    /// Where it listens.
    pub(crate) fn addr(&self) -> SocketAddr {
        self.server.as_ref().map_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), Server::addr)
    }

    /// `http://127.0.0.1:PORT`.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.addr())
    }
}

/// Control and truth in process, the same as `POST /sim` and `GET /sim`.
#[allow(dead_code, reason = "each program that embeds the venue uses its own part of this")]
impl SimHandle {
    /// The port it listens on.
    pub(crate) fn port(&self) -> u16 {
        self.addr().port()
    }

    /// Does one control object or an array of them.
    pub(crate) fn control(&self, ops: &Value) -> Result<Vec<Value>, String> {
        control::apply(&mut self.service.venue(), ops)
    }

    /// The truth, with every exchange request still remembered.
    pub(crate) fn truth(&self) -> Value {
        self.truth_since(0)
    }

    /// The truth, with the exchange requests from index `since` on.
    pub(crate) fn truth_since(&self, since: u64) -> Value {
        control::truth(&mut self.service.venue(), since)
    }

    /// Moves a coin's mid and mark.
    pub(crate) fn price(&self, coin: &str, px: &str) -> Result<Vec<Value>, String> {
        self.control(&json!({"op": "price", "coin": coin, "px": px}))
    }

    /// Changes a setting.
    pub(crate) fn setting(&self, name: &str, value: impl Into<Value>) -> Result<Vec<Value>, String> {
        let value = value.into();
        self.control(&json!({"op": "setting", "name": name, "value": value}))
    }

    /// Sets a fault on the next `times` requests of a kind.
    pub(crate) fn fault(&self, on: &str, kind: &str, times: u64) -> Result<Vec<Value>, String> {
        self.control(&json!({"op": "fault", "on": on, "kind": kind, "times": times}))
    }
}

impl Drop for SimHandle {
    fn drop(&mut self) {
        self.service.stop().set();
        self.server.take();
        if let Some(ticker) = self.ticker.take() {
            // It only waits and ticks; if it panicked, its message is already out.
            let _ = ticker.join();
        }
    }
}
