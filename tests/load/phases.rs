//! The measurements, each on a guard and a venue of its own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use svc_guard::base::address::Address;
use svc_guard::base::key::SecretKey;
use svc_guard::rules::Rules;
use svc_guard::venue::client::{Client, Timeouts};
use svc_guard::venue::market::Universe;

use crate::guard::{Guard, Plan, get};
use crate::orders::{entry, exit, pairs, rules};
use crate::reference::Reference;
use crate::samples::{Nanos, Samples};
use crate::sim::{Sim, SimConfig, SimHandle};
use crate::wire::Connection;

/// Counted up, so that nobody takes it for a key.
const API_WALLET_KEY: &str = "0x0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
pub(crate) const ACCOUNT: Address = Address([0x11; 20]);
/// Unmeasured first pairs: connections open, the market's leverage setting is read, caches fill.
const WARM_UP: u64 = 50;
/// A reference is taken after so many requests.
const EVERY: usize = 4;
/// And so many before a flood, which leaves no time between requests.
const BEFORE_FLOOD: u32 = 300;

/// A venue with a guard in front of it, and what the market is called there.
pub(crate) struct Pair {
    pub(crate) guard: Guard,
    /// Runs as long as this is kept.
    pub(crate) venue: SimHandle,
    pub(crate) asset: u32,
}

/// How a pair runs.
pub(crate) struct Way<'a> {
    /// With the venue taken for the testnet, rather than in paper mode.
    pub(crate) is_live: bool,
    pub(crate) clients: usize,
    /// Of the venue's request budget.
    pub(crate) share: &'a str,
    pub(crate) rules: Rules,
}

impl Pair {
    /// In paper mode, or live with the venue taken for the testnet.
    pub(crate) fn start(program: &Path, folder: &Path, live: bool, clients: usize) -> Result<Self, String> {
        let pair = Self::start_as(program, folder, &Way { is_live: live, clients, share: "1", rules: rules() })?;
        // Something to reduce.
        pair.venue.control(&json!({"op": "position", "coin": "BTC", "szi": "0.1", "entry_px": "60000"}))?;
        let url = format!("{}/guard/status", pair.guard.url);
        while get(&url)?.pointer("/positions/0").is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(pair)
    }

    /// The same in a way of its own, with nothing held.
    pub(crate) fn start_as(program: &Path, folder: &Path, way: &Way<'_>) -> Result<Self, String> {
        let venue = venue()?;
        let plan = Plan {
            parent: Some(folder),
            venue_url: &venue.url(),
            account: ACCOUNT,
            api_wallet: way.is_live.then_some(API_WALLET_KEY),
            rules: &way.rules,
            listen: "127.0.0.1:0",
            clients: way.clients,
            ip_share: way.share,
        };
        let guard = Guard::start(program, &plan)?;
        let client = Client::new(&venue.url(), Timeouts::default()).map_err(|error| error.to_string())?;
        let meta = client.info(&json!({"type": "meta"})).map_err(|error| format!("meta: {error}"))?;
        let asset = Universe::from_meta(&meta)?.by_coin("BTC").map(|market| market.asset).ok_or("no BTC")?;
        Ok(Self { guard, venue, asset })
    }

    pub(crate) fn key(&self) -> Result<&SecretKey, String> {
        self.guard.client_keys.first().ok_or_else(|| "no client key".to_owned())
    }

    /// The mean length of the decisions' events so far.
    pub(crate) fn event_bytes(&self) -> Result<usize, String> {
        let events = get(&format!("{}/guard/events", self.guard.url))?;
        let events = events.get("events").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_decision = |event: &&Value| event.get("kind").and_then(Value::as_str) == Some("decision");
        let sizes: Vec<usize> = events.iter().filter(is_decision).map(|event| event.to_string().len()).collect();
        sizes.iter().sum::<usize>().checked_div(sizes.len()).ok_or_else(|| "no decision to measure".to_owned())
    }
}

fn venue() -> Result<SimHandle, String> {
    Sim::start(SimConfig::new(ACCOUNT, api_wallet()?.address())).map_err(|error| format!("no venue: {error}"))
}

fn api_wallet() -> Result<SecretKey, String> {
    SecretKey::parse(API_WALLET_KEY).map_err(|error| error.to_string())
}

pub(crate) fn now_ms() -> Result<u64, String> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    u64::try_from(now.as_millis()).map_err(|error| error.to_string())
}

/// Decisions one after the other on one kept connection.
pub(crate) struct Paper {
    connection: Connection,
    pairs: std::vec::IntoIter<[Vec<u8>; 2]>,
}

impl Paper {
    /// Signs `count` requests and the warm-up before them, and posts the warm-up.
    pub(crate) fn prepare(pair: &Pair, count: u64) -> Result<Self, String> {
        let order = |number| entry(pair.asset, number);
        let mut pairs = pairs(pair.key()?, now_ms()?, WARM_UP + count / 2, order)?.into_iter();
        let mut connection = Connection::open(&pair.guard.url)?;
        for request in pairs.by_ref().take(usize::try_from(WARM_UP).unwrap_or_default()).flatten() {
            connection.time(&request)?;
        }
        Ok(Self { connection, pairs })
    }

    /// Posts the rest and times each, and the reference after every few.
    pub(crate) fn run(mut self, reference: &mut Reference) -> Result<Samples, String> {
        let mut samples = Samples::default();
        for (number, request) in self.pairs.flatten().enumerate() {
            samples.add(self.connection.time(&request)?);
            if number % EVERY == 0 {
                reference.measure()?;
            }
        }
        Ok(samples)
    }
}

/// The same requests through the guard and, signed by the API wallet, straight to a venue like the guard's, in turn: what
/// is gathered is how much longer each took through the guard. Few enough for a minute's budget at the venue.
pub(crate) fn live(pair: &Pair, count: u64, reference: &mut Reference) -> Result<[Samples; 2], String> {
    const WARM_UP: u64 = 5;
    let other = venue()?;
    let order = |number| entry(pair.asset, number);
    let nonce = now_ms()?;
    let guarded = pairs(pair.key()?, nonce, WARM_UP + count / 2, order)?;
    let straight = pairs(&api_wallet()?, nonce, WARM_UP + count / 2, order)?;
    let (mut to_guard, mut to_venue) = (Connection::open(&pair.guard.url)?, Connection::open(&other.url())?);
    let (mut added, mut direct) = (Samples::default(), Samples::default());
    for (number, (guarded, straight)) in (0..).zip(guarded.iter().zip(&straight)) {
        for (guarded, straight) in guarded.iter().zip(straight) {
            let (through, past) = (to_guard.time(guarded)?, to_venue.time(straight)?);
            if number >= WARM_UP {
                added.add(through.minus(past));
                direct.add(past);
                reference.measure()?;
            }
        }
    }
    Ok([added, direct])
}

/// What a flood came to.
pub(crate) struct Flood {
    pub(crate) decisions: usize,
    pub(crate) took: Nanos,
    /// The guard's processor time for one of them: what is left of the rate when others share the machine.
    pub(crate) each: Nanos,
}

/// Decisions on as many connections as there are clients until each has made `most` or `at_most` is over. They are exits
/// and their cancels, because no rules allow more than 1200 entries a minute; exits pass through the same path. Each
/// connection has a key of its own: the nonces of one key may not overtake each other by more than a hundred.
pub(crate) fn flood(pair: &Pair, most: u64, at_most: Duration, reference: &mut Reference) -> Result<Flood, String> {
    let nonce = now_ms()?;
    let clients = (0..).zip(&pair.guard.client_keys).map(|(client, key): (u64, _)| {
        let order = |number: u64| exit(pair.asset, client.saturating_mul(most).saturating_add(number));
        Ok((Connection::open(&pair.guard.url)?, pairs(key, nonce, most / 2, order)?))
    });
    let clients = clients.collect::<Result<Vec<_>, String>>()?;
    (0..BEFORE_FLOOD).try_for_each(|_| reference.measure())?;
    let done = AtomicUsize::new(0);
    let cpu_before = cpu_time(&pair.guard)?;
    let begun = Instant::now();
    let post = |(mut connection, pairs): (Connection, Vec<[Vec<u8>; 2]>)| {
        for request in pairs.iter().flatten().take_while(|_| begun.elapsed() < at_most) {
            connection.time(request)?;
            done.fetch_add(1, Ordering::Relaxed);
        }
        Ok::<(), String>(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = clients.into_iter().map(|client| scope.spawn(|| post(client))).collect();
        let mut ends = threads.into_iter().map(|thread| thread.join().map_err(|_| "a client panicked".to_owned())?);
        ends.find(Result::is_err).unwrap_or(Ok(()))
    })?;
    let (took, decisions) = (Nanos::of(begun.elapsed()), done.into_inner());
    let each = cpu_time(&pair.guard)?.minus(cpu_before).0.checked_div(decisions as u64);
    Ok(Flood { decisions, took, each: Nanos(each.unwrap_or_default()) })
}

/// Decisions of the first client one after the other: while nobody else asks, and while the second keeps
/// [`GREEDY`] connections busy.
pub(crate) fn beside_another(pair: &Pair, count: u64) -> Result<[Samples; 2], String> {
    const GREEDY: u64 = 4;
    /// More pairs than one connection makes in the time.
    const MOST: u64 = 5_000;
    let [first, second] = pair.guard.client_keys.as_slice() else { return Err("two clients are needed".to_owned()) };
    let nonce = now_ms()?;
    let asked = |key: &SecretKey, part: u64, pairs_of: u64| {
        let order = |number: u64| exit(pair.asset, part.saturating_mul(MOST).saturating_add(number));
        pairs(key, nonce.saturating_add(part.saturating_mul(MOST).saturating_mul(2)), pairs_of, order)
    };
    let mut connection = Connection::open(&pair.guard.url)?;
    for request in asked(first, 1, WARM_UP)?.iter().flatten() {
        connection.time(request)?;
    }
    let mut time = |part: u64| {
        let mut samples = Samples::default();
        for request in asked(first, part, count / 2)?.iter().flatten() {
            samples.add(connection.time(request)?);
        }
        Ok::<_, String>(samples)
    };
    let quiet = time(2)?;
    // Connections of one key share its nonces, and those may not overtake each other by much: each in its turn.
    let greedy = asked(second, 3, MOST)?;
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let flood = || {
        let mut connection = Connection::open(&pair.guard.url)?;
        while !is_over.load(Ordering::Relaxed) {
            let Some(requests) = greedy.get(next.fetch_add(1, Ordering::Relaxed)) else { return Ok(()) };
            requests.iter().try_for_each(|request| connection.time(request).map(drop))?;
        }
        Ok::<(), String>(())
    };
    let (beside, floods) = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..GREEDY).map(|_| scope.spawn(flood)).collect();
        let beside = time(4);
        is_over.store(true, Ordering::Relaxed);
        let joined = threads.into_iter().map(|thread| thread.join().map_err(|_| "a client panicked".to_owned())?);
        (beside, joined.collect::<Result<Vec<()>, String>>())
    });
    floods?;
    Ok([quiet, beside?])
}

/// The processor time that the guard has taken.
fn cpu_time(guard: &Guard) -> Result<Nanos, String> {
    /// The kernel counts in hundredths of a second, on every machine (`USER_HZ`).
    const TICK_NS: u64 = 10_000_000;
    let path = format!("/proc/{}/stat", guard.pid());
    let stat = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    // Behind the program's name, which stands in brackets, user time is the twelfth field and system time the next.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    let ticks: Vec<u64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    Ok(Nanos(ticks.iter().sum::<u64>().saturating_mul(TICK_NS)))
}

/// The guard's resident memory in KiB.
pub(crate) fn resident_kib(guard: &Guard) -> Result<u64, String> {
    kib_of(guard.pid(), "VmRSS:")
}

/// A figure of a process's memory.
pub(crate) fn kib_of(pid: u32, name: &str) -> Result<u64, String> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
    kib.ok_or_else(|| format!("no {name} in {path}"))
}
