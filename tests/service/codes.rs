//! Every reason code from outside: what just passes, and the step past it that is refused.

use std::collections::BTreeSet;
use std::fs;

use nix::sys::signal::Signal;
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;
use svc_guard::guard::Code;
use svc_guard::venue::signing::{Source, Terms};

use crate::signing::{BTC, ETH, clock_ms, closing, fresh_nonce, limit, place, signed, signed_for, signed_with};
use crate::stand::{ACCOUNT, Mode, Stand, until};

/// The other markets of the simulated venue's test network.
const SOL: u32 = 0;
const DELISTED: u32 = 2;
const UNLISTED: u32 = 9_999;
const DAY_MS: u64 = 86_400_000;

/// The codes that were seen, in whatever order the scenes come.
type Seen = BTreeSet<String>;

/// The code that a body is decided with.
fn code_of(stand: &Stand, body: &Value) -> String {
    let reply = stand.post("/exchange", body).json();
    reply["guard"]["code"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
}

/// One stand, and the codes that its scene produced.
struct Scene {
    stand: Stand,
    seen: Seen,
}

impl Scene {
    fn on(mode: Mode, rules: &str) -> Self {
        Self { stand: Stand::up(mode, rules), seen: Seen::new() }
    }

    fn body(&mut self, body: &Value, code: &str) {
        let decided = code_of(&self.stand, body);
        assert_eq!(decided, code, "{body}");
        self.seen.insert(decided);
    }

    fn ask(&mut self, action: &Value, code: &str) {
        let body = signed(&self.stand.client, action);
        self.body(&body, code);
    }

    fn control(&self, op: &Value) {
        self.stand.venue.control(op).unwrap();
    }

    /// Waits until the venue's truth makes the guard decide an entry so.
    fn until_decided(&mut self, action: impl Fn() -> Value, code: &str) {
        let stand = &self.stand;
        until(code, || (code_of(stand, &signed(&stand.client, &action())) == code).then_some(()));
        self.seen.insert(code.to_owned());
    }
}

/// A buy near the mid that no other scene's step repeats.
fn entry(px: u32) -> Value {
    place(&limit(BTC, true, &px.to_string(), "0.01"))
}

fn stop(asset: u32, trigger_px: &str, size: &str) -> Value {
    let trigger = json!({"isMarket": true, "triggerPx": trigger_px, "tpsl": "sl"});
    json!({"a": asset, "b": false, "p": trigger_px, "s": size, "r": true, "t": {"trigger": trigger}})
}

fn heads() -> Seen {
    let mut scene = Scene::on(Mode::Paper, "");
    scene.ask(&json!({"type": "noop"}), "allowed");
    let body = signed(&scene.stand.client, &json!({"type": "noop"}));
    scene.body(
        &json!({"action": body["action"], "nonce": body["nonce"], "signature": body["signature"], "more": 1}),
        "malformed",
    );
    scene.body(&body, "allowed");
    scene.body(&body, "nonce_reused");
    let stranger = SecretKey::parse(&format!("0x{}", "77".repeat(32))).unwrap();
    scene.body(&signed(&stranger, &json!({"type": "noop"})), "bad_signature");
    for source in [Source::Mainnet, Source::Testnet] {
        scene.body(&signed_with(&scene.stand.client, &json!({"type": "noop"}), fresh_nonce(), source), "allowed");
    }
    let now = fresh_nonce();
    for (nonce, code) in [
        (now + DAY_MS - 60_000, "allowed"),
        (now + DAY_MS + 60_000, "nonce_out_of_window"),
        (now - 2 * DAY_MS + 60_000, "allowed"),
        (now - 2 * DAY_MS - 60_000, "nonce_out_of_window"),
    ] {
        scene.body(&signed_with(&scene.stand.client, &json!({"type": "noop"}), nonce, Source::Testnet), code);
    }
    let on = |key: &SecretKey, vault: Option<&str>, expires_after_ms: Option<u64>| {
        let terms = Terms { nonce: fresh_nonce(), vault: vault.map(|vault| vault.parse().unwrap()), expires_after_ms };
        signed_for(key, &json!({"type": "noop"}), &terms, Source::Testnet)
    };
    scene.body(&on(&scene.stand.client, Some(ACCOUNT), None), "allowed");
    scene.body(&on(&scene.stand.client, Some("0x2222222222222222222222222222222222222222"), None), "wrong_account");
    scene.body(&on(&scene.stand.client, None, Some(now + 600_000)), "allowed");
    scene.body(&on(&scene.stand.client, None, Some(clock_ms() - 1)), "expired");
    scene.ask(&json!({"type": "scheduleCancel"}), "action_not_allowed");
    scene.seen
}

fn networks() -> Seen {
    let mut stand = Stand::set_up(Mode::Paper, "");
    let file = stand.home().join("guard.toml");
    let config = fs::read_to_string(&file).unwrap();
    fs::write(&file, config.replacen("require_network = false", "require_network = true", 1)).unwrap();
    stand.start();
    let mut scene = Scene { stand, seen: Seen::new() };
    // Paper mode stands for the network whose account it reads.
    scene.body(&signed_with(&scene.stand.client, &json!({"type": "noop"}), fresh_nonce(), Source::Testnet), "allowed");
    scene.body(
        &signed_with(&scene.stand.client, &json!({"type": "noop"}), fresh_nonce(), Source::Mainnet),
        "wrong_network",
    );
    scene.seen
}

fn orders() -> Seen {
    let mut scene = Scene::on(Mode::Paper, "markets = [\"BTC\", \"ETH\", \"MATIC\"]\nduplicate_window = \"60\"\n");
    scene.ask(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 5}), "allowed");
    scene.ask(&json!({"type": "updateLeverage", "asset": BTC, "isCross": true, "leverage": 6}), "leverage_too_high");
    let margin = |ntli: i64| json!({"type": "updateIsolatedMargin", "asset": BTC, "isBuy": true, "ntli": ntli});
    scene.ask(&margin(0), "allowed");
    scene.ask(&margin(-1), "margin_removal");
    scene.ask(&entry(59_800), "resized");
    scene.ask(&entry(59_800), "duplicate_order");
    scene.ask(&place(&limit(SOL, true, "149", "1")), "market_not_allowed");
    scene.ask(&place(&limit(DELISTED, true, "0.4", "100")), "market_delisted");
    scene.ask(&place(&limit(UNLISTED, true, "1", "100")), "market_unknown");
    scene.ask(&place(&limit(BTC, true, "59801", "0.01")), "resized");
    scene.ask(&place(&limit(BTC, true, "59802.5", "0.01")), "price_invalid");
    scene.ask(&place(&limit(BTC, true, "59803", "0.01001")), "resized");
    scene.ask(&place(&limit(BTC, true, "59804", "0.010001")), "size_invalid");
    let trigger = |reduce_only: bool| {
        let mut order = stop(ETH, "2450", "1");
        order["r"] = json!(reduce_only);
        place(&order)
    };
    scene.ask(&trigger(true), "reduces");
    scene.ask(&trigger(false), "trigger_entry_not_allowed");
    let grouped = |trigger_px: &str| {
        let orders = [limit(ETH, true, "2499", "0.1"), stop(ETH, trigger_px, "0.1")];
        json!({"type": "order", "orders": orders, "grouping": "normalTpsl"})
    };
    scene.ask(&grouped("2498.9"), "resized");
    scene.ask(&grouped("2499"), "stop_wrong_side");
    scene.seen
}

/// Caps of one order of 598 USDC: it fits, and what comes after finds no room for the venue's smallest order.
fn caps() -> Seen {
    let mut seen = Seen::new();
    let btc = || entry(59_700);
    let eth = || place(&limit(ETH, true, "2499", "0.1"));
    for (rules, next, code) in [
        ("loss_per_trade = \"0.12\"\n", btc(), "loss_limit"),
        ("open_risk = \"0.12\"\n", eth(), "open_risk_limit"),
        ("position = \"6\"\n", btc(), "position_limit"),
        ("exposure = \"6\"\n", eth(), "exposure_limit"),
        ("orders_per_minute = 1\n", eth(), "order_rate_limit"),
        ("open_orders = 1\n", eth(), "open_orders_limit"),
    ] {
        let mut scene = Scene::on(Mode::Paper, rules);
        scene.ask(&entry(59_800), "resized");
        scene.ask(&next, code);
        seen.append(&mut scene.seen);
    }
    let mut scene = Scene::on(Mode::Paper, "order_value = \"10\"\n");
    scene.ask(&place(&limit(ETH, true, "2500", "0.004")), "resized");
    scene.ask(&place(&limit(ETH, true, "2501", "0.005")), "order_value_limit");
    seen.append(&mut scene.seen);
    seen
}

/// The account's own allowance: 500 requests are kept for exits and stops.
fn allowance() -> Seen {
    let mut seen = Seen::new();
    for (used, code) in [(9_500, "resized"), (9_501, "venue_budget")] {
        let mut stand = Stand::set_up(Mode::Testnet, "");
        stand.venue.setting("prior_requests", json!(used)).unwrap();
        stand.start();
        let mut scene = Scene { stand, seen: Seen::new() };
        scene.until_decided(|| entry(59_800), code);
        seen.append(&mut scene.seen);
    }
    seen
}

fn stops() -> Seen {
    let mut scene = Scene::on(Mode::Testnet, "");
    scene.ask(&closing(ETH, "2400", "0.1"), "nothing_to_reduce");
    scene.control(&json!({"op": "position", "coin": "ETH", "szi": "1", "entry_px": "2500"}));
    let stand = &scene.stand;
    let own = until("the guard's own stop", || {
        let status = stand.status();
        status["open_orders"].as_array()?.iter().find(|order| order["owner"] == "guard")?["oid"].as_u64()
    });
    let cancel = |oid: u64| json!({"type": "cancel", "cancels": [{"a": ETH, "o": oid}]});
    scene.ask(&cancel(own), "guard_order");
    let reply = scene.stand.send(&place(&stop(ETH, "2480", "1")));
    let oid = reply["response"]["data"]["statuses"][0]["resting"]["oid"].as_u64().unwrap_or_else(|| panic!("{reply}"));
    let stand = &scene.stand;
    // The client's stop is tighter: the guard's makes room for it.
    until("the client's stop alone", || {
        let status = stand.status();
        let orders = status["open_orders"].as_array()?;
        (orders.len() == 1 && orders[0]["oid"] == json!(oid)).then_some(())
    });
    let moved = |oid: u64, px: &str| json!({"type": "modify", "oid": oid, "order": stop(ETH, px, "1")});
    scene.ask(&moved(oid, "2479.9"), "stop_loosened");
    scene.ask(&moved(oid + 1_000, "2480"), "order_unknown");
    scene.ask(&moved(oid, "2480.1"), "reduces");
    scene.seen
}

/// Reduce-only orders that rest: a hundred of one client.
fn exits() -> Seen {
    let mut scene = Scene::on(Mode::Testnet, "");
    scene.control(&json!({"op": "position", "coin": "ETH", "szi": "1", "entry_px": "2500"}));
    until("the position to be read", || (scene.stand.status()["positions"][0]["size"] == "1").then_some(()));
    let exit = |px: u32| {
        let mut order = limit(ETH, false, &px.to_string(), "0.01");
        order["r"] = json!(true);
        order
    };
    let hundred: Vec<Value> = (2_600..2_700).map(exit).collect();
    scene.ask(&json!({"type": "order", "orders": hundred, "grouping": "na"}), "reduces");
    scene.ask(&place(&exit(2_700)), "open_exits_limit");
    scene.ask(&closing(ETH, "2400", "0.1"), "reduces");
    scene.seen
}

/// An entry that waits for its market's leverage setting while a cancel names it.
fn waits() -> Seen {
    let mut scene = Scene::on(Mode::Testnet, "");
    scene.control(&json!({"op": "fault", "on": "activeAssetData", "kind": "delay", "times": 1_000, "ms": 1_500}));
    let cloid = "0x19191919191919191919191919191919";
    let mut entry = limit(ETH, true, "2490", "0.1");
    entry["c"] = json!(cloid);
    let stand = &scene.stand;
    let code = std::thread::scope(|scope| {
        let waiting = scope.spawn(|| code_of(stand, &signed(&stand.client, &place(&entry))));
        until("it to wait", || (stand.venue.truth()["faults"][0]["times"] != 1_000).then_some(()));
        stand.send(&json!({"type": "cancelByCloid", "cancels": [{"asset": ETH, "cloid": cloid}]}));
        waiting.join().unwrap()
    });
    assert_eq!(code, "cancelled");
    scene.seen.insert(code);
    scene.seen
}

fn kills() -> Seen {
    let mut scene = Scene::on(Mode::Paper, "");
    scene.ask(&entry(59_800), "resized");
    scene.stand.pull("enough");
    scene.until_decided(|| entry(59_700), "killed");
    scene.seen
}

/// A day's loss and a drawdown, each just inside its limit and then past it.
fn halts() -> Seen {
    let mut seen = Seen::new();
    for (rules, paid, code) in [("", 2_999, "halted_for_day"), ("daily_loss = \"90\"\n", 3_999, "stopped")] {
        let mut scene = Scene::on(Mode::Testnet, rules);
        // The mid stays at 2500: what was paid above it is lost at once.
        let buy = |szi: &str, px: u32| json!({"op": "position", "coin": "ETH", "szi": szi, "entry_px": px.to_string()});
        scene.control(&buy("1", paid));
        let stand = &scene.stand;
        let left = json!((10_000 - (paid - 2_500)).to_string());
        until("the loss to be seen", || (stand.status()["equity"] == left).then_some(()));
        assert_eq!(scene.stand.status()["risk"]["state"], "active");
        scene.ask(&entry(59_800), "resized");
        scene.control(&buy("2", 2_502));
        scene.until_decided(|| entry(59_700), code);
        seen.append(&mut scene.seen);
    }
    seen
}

/// A venue that answers some questions no longer: what was read grows old.
fn staleness() -> Seen {
    let mut seen = Seen::new();
    for (question, code) in [("clearinghouseState", "account_stale"), ("allMids", "price_stale")] {
        let mut scene = Scene::on(Mode::Paper, "");
        scene.ask(&entry(59_800), "resized");
        let fault = json!({"op": "fault", "on": question, "kind": "http_502", "times": 1_000_000});
        // Nor does a feed tell of it.
        scene.control(&json!([fault, {"op": "feed", "kind": "refuse"}, {"op": "feed", "kind": "drop"}]));
        let px = std::cell::Cell::new(59_700);
        let next = || {
            px.set(px.get() - 1);
            entry(px.get())
        };
        scene.until_decided(next, code);
        seen.append(&mut scene.seen);
    }
    // An account in a mode by which its equity cannot be read.
    let mut scene = Scene::on(Mode::Testnet, "");
    scene.ask(&entry(59_800), "resized");
    scene.stand.venue.setting("abstraction", json!("portfolioMargin")).unwrap();
    scene.until_decided(|| entry(59_700), "account_mode");
    seen.append(&mut scene.seen);
    // Two markets in each other's place, in answers that a position in a coin just listed calls for.
    let mut scene = Scene::on(Mode::Testnet, "");
    scene.ask(&entry(59_800), "resized");
    scene.control(&json!([
        {"op": "fault", "on": "metaAndAssetCtxs", "kind": "swapped", "times": 1_000_000},
        {"op": "list", "coin": "NEWC", "px": "20"},
        {"op": "position", "coin": "NEWC", "szi": "1", "entry_px": "20"},
    ]));
    scene.until_decided(|| entry(59_700), "markets_changed");
    seen.append(&mut scene.seen);
    seen
}

fn start_and_stop() -> Seen {
    let mut stand = Stand::set_up(Mode::Testnet, "");
    stand.start();
    stand.stop(Signal::SIGTERM);
    stand
        .venue
        .control(&json!({"op": "fault", "on": "clearinghouseState", "kind": "http_502", "times": 1_000_000}))
        .unwrap();
    stand.launch();
    let mut scene = Scene { stand, seen: Seen::new() };
    scene.ask(&entry(59_800), "starting");
    scene.control(&json!({"op": "clear"}));
    scene.until_decided(|| entry(59_800), "resized");

    scene.control(&json!({"op": "fault", "on": "noop", "kind": "delay", "times": 1, "ms": 3_000}));
    let (mut first, mut second) = (scene.stand.connect(), scene.stand.connect());
    let slow = signed(&scene.stand.client, &json!({"type": "noop"}));
    let stand = &scene.stand;
    std::thread::scope(|scope| {
        let slow = scope.spawn(move || first.post("/exchange", &slow.to_string()));
        until("the slow one to be on its way", || {
            stand.events_of("decision").into_iter().find(|event| event["action"] == "noop")
        });
        stand.signal(Signal::SIGTERM);
        until("the stop", || {
            let next = signed(&stand.client, &entry(59_600)).to_string();
            let decided = second.post("/exchange", &next).unwrap().json();
            (decided["guard"]["code"] == "stopping").then_some(())
        });
        slow.join().unwrap().unwrap();
    });
    scene.seen.insert("stopping".to_owned());
    assert_eq!(scene.stand.stop(Signal::SIGTERM), Some(0));
    scene.seen
}

/// Those that a failing or slow disk gives: a build that can make one fail shows them.
const OF_THE_DISK: [Code; 2] = [Code::JournalError, Code::Busy];

#[test]
fn every_code_is_given_at_its_step_and_not_before() {
    let scenes: [fn() -> Seen; 12] =
        [heads, networks, orders, caps, allowance, stops, exits, waits, kills, halts, staleness, start_and_stop];
    let seen: Seen = std::thread::scope(|scope| {
        let played: Vec<_> = scenes.into_iter().map(|scene| scope.spawn(scene)).collect();
        played.into_iter().flat_map(|scene| scene.join().unwrap()).collect()
    });
    let all: Seen = Code::ALL.iter().filter(|code| !OF_THE_DISK.contains(code)).map(ToString::to_string).collect();
    assert_eq!(seen, all);
}
