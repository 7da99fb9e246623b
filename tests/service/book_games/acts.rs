//! The acts of a game: trades, money that moves, troubles of reads and of the feed.

use rust_decimal::Decimal;
use serde_json::{Value, json};

use crate::book_games::Game;
use crate::http::Connection;
use crate::signing::{BTC, ETH, closing, limit, place, signed};
use crate::stand::ACCOUNT;

const OTHER: &str = "0x2222222222222222222222222222222222222222";
/// The reads that the book is made of.
const READS: [&str; 5] =
    ["userFillsByTime", "userFunding", "userNonFundingLedgerUpdates", "clearinghouseState", "spotClearinghouseState"];

impl Game {
    /// Whatever may happen while the program runs.
    pub(crate) fn act(&mut self) {
        match self.dice.roll(10) {
            0..=3 => self.ask(),
            4..=7 => self.happen(),
            8 => self.trouble_feed(),
            _ => self.trouble_reads(),
        }
    }

    /// A client asks for something.
    fn ask(&mut self) {
        let is_other = self.dice.is(3);
        let is_btc = self.dice.is(2);
        let asset = if is_btc { BTC } else { ETH };
        let mid = self.mids[if is_btc { "BTC" } else { "ETH" }];
        let px = |pct: i64| {
            let px = mid * Decimal::from(1_000 + pct) / Decimal::from(1_000);
            if is_btc { px.round().to_string() } else { px.round_dp(1).normalize().to_string() }
        };
        let tenth = 1 + self.dice.roll(9);
        let size = if is_btc { format!("0.00{tenth}") } else { format!("0.0{tenth}") };
        let is_buy = self.dice.is(2);
        let mut order = match self.dice.roll(4) {
            0 => limit(asset, is_buy, &px(if is_buy { -2 } else { 2 }), &size),
            1 | 2 => json!({"a": asset, "b": is_buy, "p": px(if is_buy { 5 } else { -5 }), "s": size, "r": false,
                "t": {"limit": {"tif": "Ioc"}}}),
            _ => closing(asset, &px(-5), &size)["orders"][0].clone(),
        };
        if is_other {
            let id = self.dice.roll(1 << 30);
            order["c"] = json!(format!("0xbb{id:030x}"));
        }
        let key = if is_other { &self.other } else { &self.stand.client };
        let rested = if self.dice.is(3) { self.resting.pop() } else { None };
        let action = match rested {
            Some(oid) if order["r"] == false => json!({"type": "modify", "oid": oid, "order": order}),
            Some(oid) => json!({"type": "cancel", "cancels": [{"a": asset, "o": oid}]}),
            None => place(&order),
        };
        let body = signed(key, &action).to_string();
        let address = self.stand.address();
        self.tell(&format!("ask {is_other} {action}"));
        // A program that is killed answers nobody, and one of them is asked while it dies.
        let is_last = self.dice.is(20);
        let asked = std::thread::spawn(move || {
            let mut connection = Connection::try_open(address).ok()?;
            connection.post("/exchange", &body).ok()
        });
        if !is_last {
            let told = asked.join().unwrap().map(|told| told.body).unwrap_or_default();
            let told: Value = serde_json::from_str(&told).unwrap_or_default();
            self.tell(&format!("told {}", told["guard"]["code"]));
            self.resting.extend(told.pointer("/response/data/statuses/0/resting/oid").cloned());
        }
    }

    /// Something happens at the venue.
    pub(crate) fn happen(&mut self) {
        match self.dice.roll(12) {
            0 | 1 => self.by_hand(),
            2 => self.burst(),
            3 | 4 => self.reprice(),
            5 | 6 => self.flow(),
            7 => self.alike(),
            8 | 9 => {
                let rate = *self.dice.of(&["0.0001", "0.00005", "0.001"]);
                let count = 1 + self.dice.roll(2);
                let pay = json!({"op": "funding", "rate": rate});
                self.control(json!(vec![pay; usize::try_from(count).unwrap()]));
            }
            10 => self.resting_by_hand(),
            _ => {
                if self.elsewhere.is_some() {
                    self.trade_elsewhere();
                } else if self.dice.is(3) && !self.is_short {
                    self.change_mode();
                } else {
                    crate::book::one_slice(&self.stand);
                    self.tell("a slice");
                }
            }
        }
    }

    /// What was there before the program ever ran.
    pub(crate) fn history(&mut self) {
        for _ in 0..=self.dice.roll(6) {
            match self.dice.roll(3) {
                0 => self.by_hand(),
                1 => self.flow(),
                _ => self.control(json!([{"op": "funding", "rate": "0.0001"}])),
            }
        }
    }

    fn trade(&mut self, coin: &str) -> Value {
        let mid = self.mids[coin];
        let steps = i64::try_from(self.dice.roll(13)).unwrap() - 6;
        let unit = if coin == "BTC" {
            Decimal::new(2, 3)
        } else if coin == "ETH" {
            Decimal::new(5, 2)
        } else {
            Decimal::ONE
        };
        let szi = (unit * Decimal::from(steps)).normalize().to_string();
        let off = Decimal::from(i64::try_from(self.dice.roll(21)).unwrap() + 990) / Decimal::from(1_000);
        let px = (mid * off).round_dp(1).normalize().to_string();
        json!({"op": "position", "coin": coin, "szi": szi, "entry_px": px})
    }

    /// A trade in another dex and one of tokens, whose money is none of the guarded equity.
    fn trade_elsewhere(&mut self) {
        let Some([held, tokens]) = self.elsewhere else { return };
        let szi = Decimal::from(self.dice.roll(9)) - Decimal::from(4);
        let delta = szi - held;
        let side = if delta.is_sign_positive() { "B" } else { "A" };
        let dex = json!({"op": "fill", "coin": "xyz:GOLD", "side": side, "px": "4000", "sz": delta.abs().to_string(),
            "start": held.to_string(), "closed_pnl": "1.5", "fee": "0.25", "fee_token": "USDC", "builder_fee": "0.05"});
        let is_buy = tokens.is_zero() || self.dice.is(2);
        let (side, fee_token, after) =
            if is_buy { ("B", "HYPE", tokens + Decimal::ONE) } else { ("A", "USDC", tokens - Decimal::ONE) };
        let pair = json!({"op": "fill", "coin": "@107", "side": side, "px": "35.5", "sz": "1", "start": tokens.to_string(),
            "closed_pnl": if is_buy { "0" } else { "-0.5" }, "fee": "0.0007", "fee_token": fee_token});
        self.elsewhere = Some([szi, after]);
        self.control(if delta.is_zero() { json!([pair]) } else { json!([dex, pair]) });
    }

    fn by_hand(&mut self) {
        let coin = *self.dice.of(&["ETH", "BTC", "SOL"]);
        let op = self.trade(coin);
        self.control(json!([op]));
    }

    /// Many trades of one millisecond, in one market or in many.
    fn burst(&mut self) {
        let coins: &[&str] = if self.dice.is(2) { &["ETH"] } else { &["ETH", "BTC", "SOL"] };
        let count = 2 + self.dice.roll(9);
        let mut ops: Vec<Value> = Vec::new();
        for _ in 0..count {
            let coin = *self.dice.of(coins);
            if self.dice.is(6) && !self.is_short {
                ops.push(json!({"op": "feed", "kind": "lose", "on": "userFills", "times": 1}));
            }
            let op = self.trade(coin);
            ops.push(op);
        }
        self.control(json!(ops));
    }

    /// More than the venue shows at once, many of one millisecond.
    pub(crate) fn flood(&mut self) {
        let is_funding = self.dice.is(3);
        let mut left = if is_funding { 200 + self.dice.roll(300) } else { 1_900 + self.dice.roll(3_000) };
        let mut ops: Vec<Value> = Vec::new();
        if is_funding {
            ops.extend(["ETH", "BTC", "SOL"].map(|coin| self.trade(coin)));
        }
        while left > 0 {
            let count = left.min(1 + self.dice.roll(60));
            left -= count;
            for _ in 0..if is_funding { 1 } else { count } {
                let coin = *self.dice.of(&["ETH", "BTC"]);
                let op = if is_funding { json!({"op": "funding", "rate": "0.000001"}) } else { self.trade(coin) };
                ops.push(op);
            }
            ops.push(json!({"op": "clock", "advance_ms": 1 + self.dice.roll(3)}));
        }
        self.tell("a flood");
        self.stand.venue.control(&json!(ops)).unwrap();
    }

    fn reprice(&mut self) {
        let coin = *self.dice.of(&["ETH", "BTC", "SOL"]);
        let mid = self.mids[coin];
        let parts = if self.dice.is(8) { 60 } else { 10 };
        let by = i64::try_from(self.dice.roll(2 * parts + 1)).unwrap() - i64::try_from(parts).unwrap();
        let start = match coin {
            "ETH" => 2_500,
            "BTC" => 60_000,
            _ => return,
        };
        // It stays near where it began.
        let base = if self.dice.is(3) { Decimal::from(start) } else { mid };
        let px = (base * Decimal::from(1_000 + by) / Decimal::from(1_000)).round_dp(1).normalize();
        self.mids.insert(coin, px);
        self.control(json!([{"op": "price", "coin": coin, "px": px.to_string()}]));
    }

    fn delay_ms(&mut self) -> u64 {
        let most_ms = if self.is_short { 1_000 } else { 20_000 };
        if self.dice.is(3) { self.dice.roll(most_ms) } else { 0 }
    }

    fn flow(&mut self) {
        let cents = 1 + self.dice.roll(5_000);
        let usd = Decimal::new(i64::try_from(cents).unwrap(), 2);
        let delay_ms = self.delay_ms();
        match self.dice.roll(4) {
            0 => {
                self.moved.push(Some(usd));
                self.control(json!([{"op": "deposit", "usd": usd, "ledger_delay_ms": delay_ms}]));
            }
            1 => {
                self.moved.push(Some(-usd));
                self.control(json!([{"op": "withdraw", "usd": usd, "ledger_delay_ms": delay_ms}]));
            }
            2 => {
                let is_out = self.dice.is(2);
                let fee = if is_out { Decimal::ONE } else { Decimal::ZERO };
                let (user, destination) = if is_out { (ACCOUNT, OTHER) } else { (OTHER, ACCOUNT) };
                let moved = if is_out { -usd - fee } else { usd };
                self.moved.push(Some(moved));
                let delta = json!({"type": "internalTransfer", "usdc": usd, "user": user, "destination": destination,
                    "fee": fee});
                self.control(
                    json!([{"op": "ledger", "usd": moved.to_string(), "delta": delta, "ledger_delay_ms": delay_ms}]),
                );
            }
            _ => {
                let to_perp = self.dice.is(2);
                let signed = if to_perp { usd } else { -usd };
                let moved = if self.is_unified { Decimal::ZERO } else { signed };
                self.moved.push(Some(moved));
                let delta = json!({"type": "accountClassTransfer", "usdc": usd, "toPerp": to_perp});
                self.control(
                    json!([{"op": "ledger", "usd": moved.to_string(), "delta": delta, "ledger_delay_ms": delay_ms}]),
                );
            }
        }
    }

    /// Rows of one moment that are alike in all but the amount, or in that as well, and are shown at different times.
    fn alike(&mut self) {
        let count = 2 + self.dice.roll(3);
        let mut ops = Vec::new();
        for _ in 0..count {
            let usd = Decimal::from(1 + self.dice.roll(3));
            let delay_ms = self.delay_ms();
            self.moved.push(Some(usd));
            ops.push(json!({"op": "deposit", "usd": usd, "ledger_delay_ms": delay_ms}));
        }
        self.control(json!(ops));
    }

    /// A person's orders that rest, without any id.
    fn resting_by_hand(&mut self) {
        let mid = self.mids["ETH"];
        let is_buy = self.dice.is(2);
        let px = mid * Decimal::from(if is_buy { 998 } else { 1_002 }) / Decimal::from(1_000);
        let px = px.round_dp(1).normalize().to_string();
        self.control(json!([{"op": "order", "order": limit(ETH, is_buy, &px, "0.02")}]));
    }

    fn change_mode(&mut self) {
        self.is_unified = !self.is_unified;
        self.changes += 1;
        let name = if self.is_unified { "unifiedAccount" } else { "disabled" };
        self.set("abstraction", &json!(name));
    }

    fn trouble_feed(&mut self) {
        let times = 1 + self.dice.roll(4);
        let ms = 100 + self.dice.roll(if self.is_short { 400 } else { 4_000 });
        let on = *self.dice.of(&[
            "userFills",
            "userFills",
            "userFundings",
            "userNonFundingLedgerUpdates",
            "clearinghouseState",
        ]);
        let kind = if self.is_short { 1 + self.dice.roll(5) } else { self.dice.roll(11) };
        let op = match kind {
            0 => json!({"kind": "lose", "on": on, "times": times}),
            1 => json!({"kind": "duplicate", "on": on, "times": times}),
            2 => json!({"kind": "reorder", "on": on, "times": times, "ms": ms}),
            3 => json!({"kind": "lag", "on": on, "times": times, "ms": ms}),
            4 => json!({"kind": "lag", "ms": ms, "times": times * 10}),
            5 => json!({"kind": "drop"}),
            6 => json!({"kind": "half_open"}),
            7 => json!({"kind": "dead", "on": on}),
            8 => json!({"kind": "short_snapshot", "keep": times - 1, "on": on, "times": times}),
            9 => json!({"kind": "refuse", "times": times}),
            _ => json!({"kind": "heal"}),
        };
        let mut op = op;
        op["op"] = json!("feed");
        self.control(json!([op]));
    }

    fn trouble_reads(&mut self) {
        let on = *self.dice.of(&READS);
        let ms = 100 + self.dice.roll(if self.is_short { 500 } else { 8_000 });
        let times = 1 + self.dice.roll(3);
        let is_row = !on.ends_with("State");
        let kinds: &[&str] = if is_row && self.lies == 0 && !self.is_short {
            &["stale", "empty", "stranger", "http_502", "garbage", "delay", "stall", "reorder", "drop_before"]
        } else {
            &["http_502", "garbage", "delay", "stall", "reorder", "drop_before"]
        };
        let kind = *self.dice.of(kinds);
        let is_lie = ["stale", "empty", "stranger"].contains(&kind);
        self.lies += u64::from(is_lie);
        let times = if is_lie { 1 } else { times };
        self.control(json!([{"op": "fault", "on": on, "kind": kind, "times": times, "ms": ms}]));
    }
}
