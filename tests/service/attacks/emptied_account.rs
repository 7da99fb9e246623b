//! Whoever takes everything out after a loss, however small, has lost no more by it, and comes back with the same loss.

use serde_json::{Value, json};

use crate::signing::{ETH, place};
use crate::stand::{Mode, Stand, until};
use crate::watched::{hold, until_flat};

fn risk(stand: &Stand) -> Value {
    stand.status()["risk"].clone()
}

fn equity_at_the_venue(stand: &Stand) -> String {
    stand.venue.truth()["account"]["account_value"].as_str().unwrap().to_owned()
}

/// Loses this much by hand, and holds nothing.
fn lose(stand: &Stand, usd: u32) {
    hold(stand, "ETH", "1");
    until("the position to be read", || stand.status()["positions"].as_array()?.first().map(|_| ()));
    let px = (2_500 - usd).to_string();
    stand.venue.control(&json!({"op": "position", "coin": "ETH", "szi": "0", "entry_px": px})).unwrap();
    until_flat(stand);
    until("the loss to be read", || (risk(stand)["day_pnl"] == format!("-{usd}")).then_some(()));
}

fn flow(stand: &Stand, op: &str, usd: &str) {
    stand.venue.control(&json!({"op": op, "usd": usd, "ledger_delay_ms": 500})).unwrap();
}

#[test]
fn taking_everything_out_fires_no_halt_and_hides_no_loss() {
    // The halt at 15% must neither fire here nor be any further away afterwards.
    for (lost, back_lost) in [(1, "1"), (400, "400")] {
        let stand = Stand::up(Mode::Testnet, "");
        lose(&stand, lost);
        let usd = equity_at_the_venue(&stand);
        flow(&stand, "withdraw", &usd);
        until("the ledger to be read", || (risk(&stand)["peak_equity"] == "0").then_some(()));
        let now = risk(&stand);
        assert_eq!((&now["state"], &now["drawdown"], &now["day_pnl"]), (&json!("active"), &json!("0"), &json!("0")));
        flow(&stand, "deposit", &usd);
        until("the deposit to be taken", || (risk(&stand)["peak_equity"] == "10000").then_some(()));
        let now = risk(&stand);
        assert_eq!((&now["state"], &now["day_start_equity"]), (&json!("active"), &json!("10000")), "{now}");
        assert_eq!((&now["drawdown"], &now["day_pnl"]), (&json!(back_lost), &json!(format!("-{back_lost}"))), "{now}");
        assert!(stand.events_of("flatten").is_empty());
        let order = json!({"a": ETH, "b": true, "p": "2510", "s": "0.01", "r": false, "t": {"limit": {"tif": "Ioc"}}});
        assert_eq!(stand.send(&place(&order))["status"], "ok");
    }
}
