//! Games of the book: seeded histories on the real program, and at their end all that is on record held to the venue's own record.
//!
//! Two clients, a person and the guard trade, money moves, the mode changes, reads lag, lie and hang, the feed loses, doubles and
//! mixes up, and the program is killed at any moment. Nothing of what the guard takes for true is believed.

mod acts;
mod record;

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use nix::sys::signal::Signal;
use rust_decimal::Decimal;
use serde_json::{Value, json};
use svc_guard::base::key::SecretKey;

use crate::book::number;
use crate::clients::another;
use crate::stand::{Mode, Stand};
use crate::watched::WIDE;

/// Numbers that are the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn roll(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }

    pub(crate) fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let count = u64::try_from(all.len()).unwrap();
        &all[usize::try_from(self.roll(count)).unwrap()]
    }

    pub(crate) fn is(&mut self, one_of: u64) -> bool {
        self.roll(one_of) == 0
    }
}

/// A game that is being played.
pub(crate) struct Game {
    pub(crate) stand: Stand,
    pub(crate) dice: Dice,
    pub(crate) other: SecretKey,
    /// Each row of the ledger in its order: what it moved in the guarded equity.
    pub(crate) moved: Vec<Option<Decimal>>,
    pub(crate) is_unified: bool,
    /// When the first life began, by the venue's clock.
    pub(crate) born_ms: u64,
    /// Trades of other dexes and of tokens.
    pub(crate) elsewhere: Option<[Decimal; 2]>,
    /// Orders of the clients that rested.
    pub(crate) resting: Vec<Value>,
    pub(crate) mids: BTreeMap<&'static str, Decimal>,
    /// How often that changed.
    pub(crate) changes: u64,
    /// Short lives, and no trouble that a read of the book alone mends: none comes in the first quarter of a minute.
    pub(crate) is_short: bool,
    /// Lies of this life: of two alike nobody could know.
    pub(crate) lies: u64,
    pub(crate) told: Vec<String>,
    begun: Instant,
}

const DAY_MS: u64 = 86_400_000;
const PATIENCE: Duration = Duration::from_secs(240);

/// Waits for what must come; a long journal is not read all the time.
pub(crate) fn wait<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(begun.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

impl Game {
    fn set_up(seed: u64, is_short: bool) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1));
        dice.roll(2);
        let stand = Stand::set_up(Mode::Testnet, WIDE);
        let other = another(&stand);
        // What a unified account holds elsewhere is known by a read of the book.
        let is_unified = dice.is(3) && !is_short;
        let prices = stand.venue.truth()["prices"].clone();
        let mids = ["ETH", "BTC", "SOL"].map(|coin| (coin, number(&prices[coin]["mid"]))).into();
        let elsewhere = (!is_unified && dice.is(3)).then_some([Decimal::ZERO; 2]);
        let mut game = Self {
            stand,
            dice,
            other,
            moved: Vec::new(),
            is_unified,
            born_ms: 0,
            elsewhere,
            mids,
            resting: Vec::new(),
            changes: 0,
            is_short,
            lies: 0,
            told: Vec::new(),
            begun: Instant::now(),
        };
        game.set("weight_limit", &Value::Null);
        game.set("feed_new_connections", &Value::Null);
        game.set("feed_connections", &Value::Null);
        if is_unified {
            game.set("abstraction", &json!("unifiedAccount"));
        }
        if game.dice.is(3) {
            game.set("maker_fee", &json!("-0.0001"));
        }
        if game.dice.is(3) {
            let now_ms = game.stand.venue.truth()["now_ms"].as_u64().unwrap();
            let left_ms = DAY_MS - now_ms % DAY_MS;
            let before_ms = 5_000 + game.dice.roll(60_000);
            game.control(json!([{"op": "clock", "advance_ms": left_ms.saturating_sub(before_ms)}]));
        }
        if game.dice.is(2) {
            game.history();
        }
        if game.dice.is(5) && !is_short {
            game.control(json!([{"op": "feed", "kind": "refuse"}]));
        }
        game
    }

    /// Moves the venue's world; the ops are told when the game fails.
    #[allow(clippy::needless_pass_by_value, reason = "a test reads better with its JSON in place")]
    pub(crate) fn control(&mut self, ops: Value) {
        self.tell(&ops.to_string());
        self.stand.venue.control(&ops).unwrap();
    }

    fn now_ms(&self) -> u64 {
        let now = self.stand.venue.control(&json!({"op": "clock", "advance_ms": 0})).unwrap();
        now[0]["now_ms"].as_u64().unwrap()
    }

    pub(crate) fn tell(&mut self, what: &str) {
        let at = self.begun.elapsed().as_millis();
        let now_ms = self.now_ms();
        self.told.push(format!("{at} ({now_ms}) {what}"));
    }

    pub(crate) fn set(&mut self, name: &str, value: &Value) {
        self.control(json!([{"op": "setting", "name": name, "value": value}]));
    }

    pub(crate) fn pause(&mut self, most_ms: u64) {
        let ms = self.dice.roll(if self.is_short { most_ms.min(60) } else { most_ms });
        std::thread::sleep(Duration::from_millis(ms));
    }

    fn life(&mut self, ends_well: bool) {
        self.lies = 0;
        self.tell("start");
        self.stand.forget_spent_weight();
        self.stand.launch();
        let count = 4 + self.dice.roll(16);
        // Some die before they know anything, some live for long.
        if !self.dice.is(4) {
            let patience = if self.is_short { 800 } else { 1_000 + self.dice.roll(9_000) };
            std::thread::sleep(Duration::from_millis(patience));
        }
        if self.dice.is(5) && !self.is_short {
            self.tell("wait for a sum");
            let started = crate::book::kept(&self.stand, "started").pop().and_then(|event| event["seq"].as_u64());
            wait("a sum", || {
                crate::book::kept(&self.stand, "balance").pop().filter(|sum| sum["seq"].as_u64() > started)
            });
        }
        for _ in 0..count {
            self.act();
            let most_ms = if self.dice.is(4) { 3_000 } else { 300 };
            self.pause(most_ms);
        }
        if self.dice.is(4) || ends_well {
            self.tell("SIGTERM");
            assert_eq!(self.stand.stop(Signal::SIGTERM), Some(0));
        } else {
            self.tell("SIGKILL");
            self.stand.kill();
        }
    }

    /// What happens while nobody watches.
    fn away(&mut self) {
        for _ in 0..self.dice.roll(6) {
            self.happen();
            self.pause(30);
        }
        if self.dice.is(6) && !self.is_short {
            self.flood();
        }
    }

    fn play(&mut self) {
        let lives = if self.is_short { 2 } else { 1 + self.dice.roll(4) };
        self.born_ms = self.now_ms();
        for life in 0..lives {
            // A sum of an earlier life is what the last word of a short one is compared with.
            self.life(self.is_short && life == 0);
            self.away();
        }
        self.tell("the end");
        self.control(json!([{"op": "clear"}]));
        self.lies = 0;
        self.stand.forget_spent_weight();
        self.stand.launch();
        for _ in 0..self.dice.roll(8) {
            self.act();
            self.pause(400);
        }
        self.tell("clear");
        self.control(json!([{"op": "clear"}]));
        self.hold();
    }
}

/// Games of every run, of a few seconds each. `BOOK_SEEDS=1..200` plays others, of minutes.
const SHORT: [u64; 2] = [12, 16];

/// What is played, and whether with short waits.
fn seeds() -> (Vec<u64>, bool) {
    let Ok(text) = std::env::var("BOOK_SEEDS") else { return (SHORT.to_vec(), true) };
    let (text, is_short) = text.strip_prefix("short:").map_or((text.as_str(), false), |rest| (rest, true));
    let (from, to) = text.split_once("..").unwrap();
    ((from.parse().unwrap()..to.parse().unwrap()).collect(), is_short)
}

/// How many games are played side by side.
const AT_ONCE: usize = 10;

#[test]
fn whatever_happens_the_book_is_the_venues_record() {
    let (seeds, is_short) = seeds();
    let left = Mutex::new(seeds);
    let lost = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().pop();
                    let Some(seed) = next else { return };
                    let mut game = Game::set_up(seed, is_short);
                    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| game.play()));
                    let begun = game.begun.elapsed().as_secs();
                    eprintln!("seed {seed}: {} in {begun} s", if caught.is_ok() { "held" } else { "LOST" });
                    if caught.is_err() {
                        let journal: Vec<String> = game.stand.on_disk().iter().map(Value::to_string).collect();
                        let text = format!(
                            "{}\n\n{}\n\n{}",
                            game.told.join("\n"),
                            journal.join("\n"),
                            game.stand.venue.truth()
                        );
                        let file = std::env::temp_dir().join(format!("book-game-{seed}.txt"));
                        std::fs::write(&file, text).unwrap();
                        lost.lock().unwrap().push((seed, file));
                    }
                }
            });
        }
    });
    let lost = lost.into_inner().unwrap();
    assert!(lost.is_empty(), "{lost:?}");
}
