//! A withdrawal that the ledger shows late is no loss, also of an account whose bot trades all the while.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::json;

use crate::signing::{ETH, closing, place, signed};
use crate::stand::{Mode, Stand, until};
use crate::watched::Ends;

#[test]
fn a_withdrawal_while_a_bot_trades_fires_nothing() {
    let stand = Stand::up(Mode::Testnet, "orders_per_minute = 1200\nduplicate_window = \"0\"\n");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let entry =
                json!({"a": ETH, "b": true, "p": "2505", "s": "0.1", "r": false, "t": {"limit": {"tif": "Ioc"}}});
            while !over.load(Ordering::SeqCst) {
                for action in [place(&entry), closing(ETH, "2400", "0.1")] {
                    let _answer = stand.post("/exchange", &signed(&stand.client, &action));
                    std::thread::sleep(Duration::from_millis(400));
                }
            }
        });
        let _ends = Ends(&over);
        let has_traded =
            || stand.venue.truth()["account"]["volume"].as_str().is_some_and(|volume| !volume.starts_with("0"));
        until("trades", || has_traded().then_some(()));
        let delta = json!({"type": "accountClassTransfer", "usdc": "2000.0", "toPerp": false});
        let flow = json!({"op": "ledger", "delta": delta, "usd": "-2000", "ledger_delay_ms": 2_500});
        stand.venue.control(&flow).unwrap();
        let risk = until("the ledger to tell of it", || {
            let risk = stand.status()["risk"].clone();
            let start = risk["day_start_equity"].as_str()?.parse::<f64>().ok()?;
            (start < 8_100.0 || risk["state"] != "active").then_some(risk)
        });
        assert_eq!(risk["state"], "active", "{risk}");
    });
    assert!(stand.events_of("flatten").is_empty());
}
