//! The stage of every scene: the venue, the guard in front of it, and the bot.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_guard::base::address::Address;
use svc_guard::base::key::SecretKey;
use svc_guard::rules::{Coin, Markets, Rules};
use svc_guard::venue::action::Action;
use svc_guard::venue::client::{Client, Timeouts};
use svc_guard::venue::json;
use svc_guard::venue::market::Universe;
use svc_guard::venue::user_signed;

use crate::guard::{Guard, Plan};
use crate::sim::{Sim, SimConfig, SimHandle};
use crate::{bot, program, say};

/// Counted up, so that nobody takes it for a key.
const API_WALLET_KEY: &str = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const ACCOUNT: Address = Address([0x11; 20]);
/// The guard reads its account every second; on a slow machine what it shows may be this late.
const READ_WITHIN: Duration = Duration::from_secs(60);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// The stage.
pub(crate) struct Stage {
    pub(crate) venue: SimHandle,
    pub(crate) guard: Guard,
    /// The bot's connection, to the guard.
    client: Client,
    /// The markets, as the bot read them through the guard.
    universe: Universe,
    nonce: AtomicU64,
}

impl Stage {
    /// Starts the venue and the guard.
    pub(crate) fn set(listen: &str) -> Result<Self, String> {
        let program = program::find()?;
        let api_wallet = SecretKey::parse(API_WALLET_KEY).map_err(|error| error.to_string())?.address();
        let venue = Sim::start(SimConfig::new(ACCOUNT, api_wallet)).map_err(|error| format!("no venue: {error}"))?;
        say(format_args!("A simulated venue at {}; its account {ACCOUNT} holds 10000 USDC.", venue.url()));
        let rules = rules()?;
        let plan = Plan {
            parent: None,
            venue_url: &venue.url(),
            account: ACCOUNT,
            api_wallet: Some(API_WALLET_KEY),
            rules: &rules,
            listen,
            clients: 1,
            ip_share: "1",
        };
        let guard = Guard::start(&program, &plan)?;
        say(format_args!("svc-guard in front of it at {}, in a throw-away home; its rules:", guard.url));
        rules.describe().iter().for_each(|rule| say(format_args!("  {}", rule.words)));
        let client = Client::new(&guard.url, Timeouts::default()).map_err(|error| error.to_string())?;
        let meta = client.info(&json!({"type": "meta"})).map_err(|error| format!("meta: {error}"))?;
        let universe = Universe::from_meta(&meta).map_err(|error| format!("meta: {error}"))?;
        say("A bot whose base URL is the guard's and whose key is the client key.");
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
        let nonce = AtomicU64::new(u64::try_from(now.as_millis()).map_err(|error| error.to_string())?);
        Ok(Self { venue, guard, client, universe, nonce })
    }

    /// Ends the guard as a service manager does.
    pub(crate) fn clear(self) -> Result<(), String> {
        let (took, status) = self.guard.stop()?;
        if !status.success() {
            return Err(format!("svc-guard ended with {status} after SIGTERM"));
        }
        say(format_args!("\nsvc-guard stopped cleanly in {} ms; its home is removed.", took.as_millis()));
        Ok(())
    }

    /// The id that the venue's list gives a coin.
    pub(crate) fn asset(&self, coin: &str) -> Result<u32, String> {
        let market = self.universe.by_coin(coin);
        market.map(|market| market.asset).ok_or_else(|| format!("the venue lists no {coin}"))
    }

    /// The bot signs an action and posts it to the guard.
    pub(crate) fn post(&self, action: &Action) -> Result<Value, String> {
        let body = bot::signed(self.key()?, action, self.next_nonce())?;
        self.exchange(&body)
    }

    /// The bot signs a withdrawal to somebody else, and posts it.
    pub(crate) fn withdraw(&self, usd: &str) -> Result<Value, String> {
        let (nonce, chain) = (self.next_nonce(), "Testnet");
        let action = json!({
            "type": "withdraw3", "hyperliquidChain": chain, "signatureChainId": "0x66eee",
            "destination": Address([0x66; 20]), "amount": usd, "time": nonce,
        });
        let node = json::parse(action.to_string().as_bytes())?;
        let digest = user_signed::digest(&node).ok_or("a withdrawal that cannot be signed")?;
        let signature = self.key()?.sign(&digest).map_err(|error| error.to_string())?;
        let body = json!({"action": action, "nonce": nonce, "signature": signature});
        self.exchange(&body.to_string())
    }

    fn exchange(&self, body: &str) -> Result<Value, String> {
        let reply = self.client.exchange(body.as_bytes()).map_err(|error| format!("the guard: {error}"))?;
        let told = |key: &str| reply.pointer(&format!("/guard/{key}")).and_then(Value::as_str).unwrap_or("?");
        say(format_args!("  Guard: {} ({})", told("verdict"), told("code")));
        match array(&reply, "/guard/changes") {
            [] => say(format_args!("         {}", told("text"))),
            changes => {
                let told = changes.iter().filter_map(Value::as_str);
                told.for_each(|change| say(format_args!("         {change}")));
            }
        }
        Ok(reply)
    }

    fn key(&self) -> Result<&SecretKey, String> {
        self.guard.client_keys.first().ok_or_else(|| "no client key".to_owned())
    }

    fn next_nonce(&self) -> u64 {
        self.nonce.fetch_add(1, Ordering::Relaxed)
    }

    /// How many requests the venue has been sent.
    pub(crate) fn sent(&self) -> usize {
        array(&self.venue.truth(), "/requests").len()
    }

    /// A person ends the service and starts it anew; the bot connects again.
    pub(crate) fn restart_guard(&mut self) -> Result<(), String> {
        self.guard.restart()?;
        self.client = Client::new(&self.guard.url, Timeouts::default()).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// The last event of a kind of which this holds, once there is one.
    pub(crate) fn event_when(&self, kind: &str, holds: impl Fn(&Value) -> bool) -> Result<Value, String> {
        when(&format!("an event of the kind {kind}"), || {
            let events = crate::guard::get(&format!("{}/guard/events", self.guard.url))?;
            let is_it = |event: &&Value| event.get("kind").and_then(Value::as_str) == Some(kind) && holds(event);
            Ok(array(&events, "/events").iter().rev().find(is_it).cloned())
        })
    }

    /// The venue's record once it shows this.
    pub(crate) fn truth_when(&self, what: &str, holds: impl Fn(&Value) -> bool) -> Result<Value, String> {
        when(what, || Ok(Some(self.venue.truth()).filter(&holds)))
    }

    /// The guard's report of all days once it shows this; an answer is given again for some seconds.
    pub(crate) fn report_when(&self, holds: impl Fn(&Value) -> bool) -> Result<Value, String> {
        when("a report that shows it", || {
            let report = crate::guard::get(&format!("{}/guard/report?from=1970-01-01", self.guard.url))?;
            Ok(Some(report).filter(&holds))
        })
    }

    /// The guard's status once it says what the venue does; it reads its account once a second.
    pub(crate) fn status_when(&self, holds: impl Fn(&Value) -> bool) -> Result<Value, String> {
        when("a status that shows it", || {
            let status = crate::guard::get(&format!("{}/guard/status", self.guard.url))?;
            Ok(Some(status).filter(&holds))
        })
    }
}

/// Asks again until there is something.
fn when(what: &str, mut ask: impl FnMut() -> Result<Option<Value>, String>) -> Result<Value, String> {
    let until = std::time::Instant::now() + READ_WITHIN;
    loop {
        if let Some(found) = ask()? {
            return Ok(found);
        }
        if std::time::Instant::now() >= until {
            return Err(format!("waited in vain for {what}"));
        }
        std::thread::sleep(LOOK_AGAIN);
    }
}

/// The default rules, in two markets only.
fn rules() -> Result<Rules, String> {
    let coins = ["BTC", "ETH"].into_iter().map(Coin::parse).collect::<Option<_>>().ok_or("a coin that is none")?;
    Ok(Rules { markets: Markets::List(coins), ..Rules::default() })
}

/// The elements of an array inside a value; none where there is no array.
pub(crate) fn array<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text inside a value.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Result<&'a str, String> {
    value.pointer(pointer).and_then(Value::as_str).ok_or_else(|| format!("no text at {pointer} in {value}"))
}

/// The amount inside a value.
pub(crate) fn amount(value: &Value, pointer: &str) -> Result<Decimal, String> {
    text(value, pointer)?.parse().map_err(|error| format!("{pointer} in {value}: {error}"))
}
