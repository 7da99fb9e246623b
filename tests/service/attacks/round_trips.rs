//! A loss by round trips, each over before a read shows it, is no withdrawal: the day's stop fires near its limit.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::signing::{BTC, ETH, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, is_flat};

/// A market with a wide book: what a trip buys and sells at.
struct Market {
    asset: u32,
    coin: &'static str,
    spread: &'static str,
    buy: [&'static str; 4],
    sell: &'static str,
    size: &'static str,
}

const MARKETS: [Market; 2] = [
    Market {
        asset: ETH,
        coin: "ETH",
        spread: "22",
        buy: ["2512", "2511.9", "2511.8", "2511.7"],
        sell: "2375",
        size: "3.9",
    },
    Market {
        asset: BTC,
        coin: "BTC",
        spread: "530",
        buy: ["60290", "60289", "60288", "60287"],
        sell: "57000",
        size: "0.16",
    },
];

#[test]
fn round_trips_lose_little_more_than_the_days_limit() {
    let stand = Stand::up(Mode::Testnet, "orders_per_minute = 1200\n");
    for market in &MARKETS {
        let book = json!({"op": "book", "coin": market.coin, "spread": market.spread, "depth": "10000"});
        stand.venue.control(&book).unwrap();
    }
    let over = AtomicBool::new(false);
    let order = |market: &Market, is_buy: bool, px: &str| {
        let tif = json!({"limit": {"tif": "Ioc"}});
        let order = json!({"a": market.asset, "b": is_buy, "p": px, "s": market.size, "r": !is_buy, "t": tif});
        let _answer = stand.post("/exchange", &signed(&stand.client, &place(&order)));
        // Before the next read of the account.
        std::thread::sleep(Duration::from_millis(250));
    };
    std::thread::scope(|scope| {
        for market in &MARKETS {
            let (over, order) = (&over, &order);
            scope.spawn(move || {
                for px in market.buy.iter().cycle() {
                    if over.load(Ordering::SeqCst) {
                        break;
                    }
                    order(market, true, px);
                    order(market, false, market.sell);
                }
            });
        }
        let _ends = Ends(&over);
        until("the halt", || (stand.status()["risk"]["state"] != "active").then_some(()));
    });
    until("the account to be flat", || is_flat(&stand).then_some(()));
    let truth = stand.venue.truth();
    let equity = truth["account"]["account_value"].as_str().unwrap().parse::<f64>().unwrap();
    // The limit is 500 of 10,000, and each trip in both markets loses 130 at most.
    assert!(equity > 9_100.0, "{equity} of 10,000 are left: {}", stand.status()["risk"]);
    assert_eq!(stand.status()["risk"]["state"], "halted_for_day");
}
