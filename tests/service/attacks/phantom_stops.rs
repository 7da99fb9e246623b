//! Stops that the venue refuses cover nothing: while a client sends them without a pause, a position that has filled gets
//! the guard's own.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rust_decimal::Decimal;
use serde_json::json;

use super::loosened_stop::sell_stop;
use crate::signing::{ETH, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::{Ends, WIDE, held, stops};

const POSTERS: usize = 16;

/// So often the account may be read before the stop is there.
const READS: u64 = 20;

#[test]
fn stops_that_the_venue_refuses_keep_nothing_bare() {
    let stand = Stand::up(Mode::Testnet, WIDE);
    let buy = json!({"a": ETH, "b": true, "p": "2490", "s": "1", "r": false, "t": {"limit": {"tif": "Gtc"}}});
    stand.venue.control(&json!({"op": "order", "order": [buy, buy, buy]})).unwrap();
    until("the buys to be read", || (stand.status()["open_orders"].as_array()?.len() == 3).then_some(()));
    // A quarter of a second from here to the venue: one of them is on its way at any moment.
    stand
        .venue
        .control(&json!({"op": "fault", "on": "order", "kind": "delay", "times": 1_000_000, "ms": 250}))
        .unwrap();
    let reads = || stand.venue.truth()["reads"]["clearinghouseState"].as_u64().unwrap();
    let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..POSTERS {
            scope.spawn(|| {
                let mut connection = stand.connect();
                while !over.load(Ordering::SeqCst) {
                    // On the wrong side of the price.
                    let body = signed(&stand.client, &place(&sell_stop("2700", "3"))).to_string();
                    if connection.post("/exchange", &body).is_err() {
                        connection = stand.connect();
                    }
                    answered.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let _ends = Ends(&over);
        until("a flood", || (answered.load(Ordering::SeqCst) > POSTERS).then_some(()));
        let first = reads();
        stand.venue.price("ETH", "2485").unwrap();
        assert_eq!(held(&stand, "ETH").as_deref(), Some("3"));
        until("cover of it all", || {
            let sizes = stops(&stand, "ETH").into_iter().map(|stop| stop["sz"].as_str().unwrap().parse::<Decimal>());
            let covered: Decimal = sizes.map(Result::unwrap).sum();
            let read = reads() - first;
            assert!(read < READS, "after {read} reads of the account only {covered} of 3 is covered");
            (covered >= Decimal::from(3)).then_some(())
        });
    });
}
