//! A recorded session of the feed, replayed into the core: all frames of one socket with the account's feeds, and in between what
//! the venue's books held, while the account was traded by hand. `FEED_SESSION=file` replays another one: a line is
//! `{"at_ms", "frame"}` or `{"at_ms", "books": {"positions", "orders", "equity"}}`, with the fixture's account and times.

use std::collections::BTreeMap;

use super::*;

const SESSION: &str = include_str!("../../../../tests/data/feed_session.jsonl");
const COINS: [(&str, u32); 2] = [("ETH", ETH), ("BTC", BTC)];

fn session() -> Vec<Value> {
    let text = std::env::var("FEED_SESSION").map_or(SESSION.to_owned(), |path| std::fs::read_to_string(path).unwrap());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The core beside a session; what it asks to be read is answered by the books.
struct Replay {
    desk: Desk,
    is_account_asked: bool,
    are_orders_asked: bool,
    is_distrusted: bool,
}

impl Replay {
    fn begin() -> Self {
        let mut desk = Desk::blank(Config { feed: true, ..config(Mode::Paper, Rules::default()) });
        desk.read();
        explain(&mut desk, json!([]));
        prove(&mut desk);
        Self { desk, is_account_asked: false, are_orders_asked: false, is_distrusted: false }
    }

    fn play(&mut self, lines: &[Value], mut at_books: impl FnMut(&Desk, &Value)) {
        for line in lines {
            self.desk.now = NOW + line["at_ms"].as_u64().unwrap();
            if let Some(frame) = line.get("frame") {
                self.tell(frame);
            } else {
                at_books(&self.desk, &line["books"]);
                self.read(&line["books"]);
            }
        }
    }

    fn tell(&mut self, frame: &Value) {
        let Ok(Frame::Data(data)) = Frame::read(&frame.to_string()) else { panic!("no frame: {frame}") };
        let news = match data {
            Data::AssetCtx(ctx) => {
                let marks = BTreeMap::from([(ctx.coin, ctx.prices.mark_px)]);
                FeedNews::Prices { marks, mids: BTreeMap::new(), begun_ms: self.desk.now }
            }
            data => FeedNews::Told(Box::new(data)),
        };
        let effects = tell(&mut self.desk, news);
        self.note(&effects);
    }

    fn note(&mut self, effects: &Effects) {
        self.is_account_asked |= reads(effects).iter().any(|read| matches!(read, Read::Account | Read::AccountNow));
        self.are_orders_asked |= reads(effects).iter().any(|read| matches!(read, Read::Orders | Read::OrdersNow));
        self.is_distrusted |= is_distrusted(effects);
    }

    /// What was asked for is read.
    fn read(&mut self, books: &Value) {
        self.desk.positions = COINS.iter().map(|(coin, _)| (*coin, held(books, coin))).collect();
        self.desk.positions.retain(|_, szi| !szi.is_zero());
        self.desk.orders = serde_json::from_value(books["orders"].clone()).unwrap();
        self.desk.equity = books["equity"].as_str().unwrap().parse().unwrap();
        let now = self.desk.now;
        if std::mem::take(&mut self.is_account_asked) {
            let effects = self.desk.read_account(now);
            self.note(&effects);
        }
        if std::mem::take(&mut self.are_orders_asked) {
            let effects = self.desk.read_orders(now);
            self.note(&effects);
        }
        let effects = self.desk.step(Input::Tick);
        self.note(&effects);
    }

    fn missed(&self) -> u64 {
        self.desk.guard.status(self.desk.now, (0, 0)).venue.feed.unwrap().missed
    }
}

fn held(books: &Value, coin: &str) -> Decimal {
    books["positions"][coin].as_str().map_or(Decimal::ZERO, |szi| szi.parse().unwrap())
}

/// What is shown of positions and orders, with their signs.
fn shown(desk: &Desk) -> (Vec<(String, Decimal)>, Vec<u64>) {
    let status = desk.guard.status(desk.now, (0, 0));
    let sign = |side: &str| if side == "short" { Decimal::NEGATIVE_ONE } else { Decimal::ONE };
    let mut positions: Vec<_> =
        status.positions.iter().map(|held| (held.coin.clone(), held.size * sign(&held.side))).collect();
    positions.sort();
    (positions, status.open_orders.iter().map(|order| order.oid).collect())
}

fn of_books(books: &Value) -> (Vec<(String, Decimal)>, Vec<u64>) {
    let mut positions: Vec<_> = COINS.iter().map(|(coin, _)| ((*coin).to_owned(), held(books, coin))).collect();
    positions.retain(|(_, szi)| !szi.is_zero());
    positions.sort();
    (positions, books["orders"].as_array().unwrap().iter().map(|order| order["oid"].as_u64().unwrap()).collect())
}

/// The books that end the session.
fn last(lines: &[Value]) -> &Value {
    &lines.iter().rfind(|line| line.get("books").is_some()).unwrap()["books"]
}

fn has_fills(line: &Value) -> bool {
    let rows = |at: &str| line.pointer(at).and_then(Value::as_array).is_some_and(|rows| !rows.is_empty());
    rows("/frame/data/fills") && line["frame"]["data"]["isSnapshot"] != true
}

/// By each time that the books were looked at, fills had told every position, before any read; and what they have asked to be read
/// shows the rest. Nor does it matter whether a frame comes once or twice.
#[test]
fn what_is_known_is_what_the_books_hold() {
    let once = session();
    let twice: Vec<Value> = once.iter().flat_map(|line| [line.clone(), line.clone()]).collect();
    for lines in [once, twice] {
        let mut replay = Replay::begin();
        let (mut looked, mut open) = (0, 0);
        let mut before = None;
        replay.play(&lines, |desk, books| {
            for (coin, asset) in COINS {
                assert_eq!(desk.guard.position_told(asset), held(books, coin), "{coin} {}", desk.now - NOW);
            }
            // What was read at the last look has been shown since.
            if let Some(before) = before.replace(books.clone()).filter(|before| before == books) {
                assert_eq!(shown(desk), of_books(&before));
            }
            (looked, open) = (looked + 1, open + usize::from(!of_books(books).0.is_empty()));
        });
        assert!(looked > 10 && open > 5, "{looked} {open}");
        assert_eq!(shown(&replay.desk), of_books(last(&lines)));
        assert_eq!((replay.missed(), replay.is_distrusted), (0, false));
    }
}

/// Whichever fill is lost, the next one or the account's state shows it.
#[test]
fn a_fill_that_is_lost_is_found() {
    let lines = session();
    let times = |line: &Value| line["frame"]["data"]["fills"][0]["time"].as_u64();
    let fills: Vec<&Value> = lines.iter().filter(|line| has_fills(line)).collect();
    let mut found_by_the_next = 0;
    for lost in &fills {
        let left: Vec<Value> =
            lines.iter().filter(|line| !has_fills(line) || times(line) != times(lost)).cloned().collect();
        assert_eq!(left.len(), lines.len() - 2, "on both feeds");
        let mut replay = Replay::begin();
        replay.play(&left, |_, _| {});
        assert_eq!(shown(&replay.desk), of_books(last(&lines)), "without the fill of {:?}", times(lost));
        found_by_the_next += replay.missed();
    }
    assert!(found_by_the_next > 0);
}
