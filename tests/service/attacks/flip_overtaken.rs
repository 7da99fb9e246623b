//! A flip that fills at once is overtaken by what closes the position before it.

use std::time::Duration;

use rust_decimal::{Decimal, dec};
use serde_json::{Value, json};

use crate::signing::{ETH, closing, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{fault, held, is_same};

fn ioc(is_buy: bool, px: &str, size: &str) -> Value {
    place(&json!({"a": ETH, "b": is_buy, "p": px, "s": size, "r": false, "t": {"limit": {"tif": "Ioc"}}}))
}

/// Long of 3.9 ETH, nearly the position cap.
fn long() -> Stand {
    let stand = Stand::up(Mode::Testnet, "duplicate_window = \"0\"\n");
    stand.send(&ioc(true, "2505", "3.9"));
    until("the guard to see it", || (stand.status()["positions"][0]["size"] == "3.9").then_some(()));
    stand
}

fn size(stand: &Stand) -> Decimal {
    held(stand, "ETH").map_or(Decimal::ZERO, |size| size.parse().unwrap())
}

#[test]
fn a_flip_turns_the_position_around() {
    let stand = long();
    let reply = stand.send(&ioc(false, "2490", "7.8"));
    let filled = &reply["response"]["data"]["statuses"][0]["filled"];
    assert!(is_same(filled["totalSz"].as_str().unwrap(), "7.8"), "{reply}");
    until("the guard's stop", || (stand.status()["positions"][0]["covered_size"] == "3.9").then_some(()));
    assert!(is_same(&held(&stand, "ETH").unwrap(), "-3.9"));
}

/// The venue does the next order before the one that was sent first.
#[test]
fn an_exit_that_comes_before_it_leaves_it_no_more_than_the_cap() {
    let stand = long();
    fault(&stand, "order", "reorder", 1, "");
    let replies = std::thread::scope(|scope| {
        let flip = scope.spawn(|| stand.send(&ioc(false, "2490", "7.8")));
        std::thread::sleep(Duration::from_millis(150));
        let exit = stand.send(&closing(ETH, "2400", "3.9"));
        (flip.join().unwrap(), exit)
    });
    assert_eq!(replies.1["guard"]["code"], "reduces", "{replies:?}");
    let size = size(&stand);
    assert!(size.abs() * dec!(2500) <= dec!(10000), "{size} is over the position cap: {replies:?}");
}
