//! The account's state feeds: everything there is, each time.

use super::super::info::{self, Answer, twap_state};
use super::super::show::usd;
use super::super::venue::Venue;
use super::subscription::Subscription;
use rust_decimal::Decimal;
use serde_json::{Map, Value, json};

/// The data of a state feed's message; none when `of` is none of these or there is nothing to say.
pub(crate) fn content(venue: &Venue, of: &Subscription) -> Option<Value> {
    let user = of.user_json();
    let dex = of.text("dex");
    Some(match of.kind.name {
        "clearinghouseState" => {
            json!({"dex": dex, "user": user, "clearinghouseState": ask(venue, of, "clearinghouseState")?})
        }
        "allDexsClearinghouseState" => {
            let states = json!([["", ask(venue, of, "clearinghouseState")?]]);
            json!({"user": user, "clearinghouseStates": states})
        }
        "openOrders" => json!({"dex": dex, "user": user, "orders": ask(venue, of, "frontendOpenOrders")?}),
        "spotState" => json!({"user": user, "spotState": ask(venue, of, "spotClearinghouseState")?}),
        "twapStates" => json!({"dex": dex, "user": user, "states": twaps(venue, of)}),
        "webData3" => web_data(venue, of),
        "activeAssetData" => ask(venue, of, "activeAssetData")?,
        _ => return None,
    })
}

/// The answer to the read of the same thing.
pub(super) fn ask(venue: &Venue, of: &Subscription, kind: &str) -> Option<Value> {
    let mut request = of.normal.clone();
    request.as_object_mut()?.insert("type".into(), json!(kind));
    match info::answer(venue, &venue.engine, &request) {
        Answer::Json(answer) => Some(answer),
        Answer::Shape | Answer::Failed => None,
    }
}

/// Whether the subscription is of the account that trades here; everybody else is an empty user.
pub(super) fn is_account(venue: &Venue, of: &Subscription) -> bool {
    of.user == Some(venue.identity.account)
}

fn twaps(venue: &Venue, of: &Subscription) -> Vec<Value> {
    let running = venue.engine.twaps.iter().filter(|(_, twap)| twap.status == "activated");
    let shown = running.filter(|_| is_account(venue, of) && of.text("dex").is_empty());
    shown.map(|(id, twap)| json!([id, twap_state(&venue.engine, venue.identity.account, twap)])).collect()
}

/// Clock, mode and the API wallet's end; positions and orders have feeds of their own.
fn web_data(venue: &Venue, of: &Subscription) -> Value {
    let settings = &venue.engine.settings;
    let known = is_account(venue, of);
    let agent = venue.identity.agents.first().filter(|_| known && settings.agent_registered);
    let deposited: Decimal = venue.engine.ledger.iter().filter(|_| known).map(|entry| entry.usd).sum();
    let is_vault = known && settings.is_vault;
    let mut user = Map::new();
    user.insert("agentAddress".into(), json!(agent));
    user.insert("agentValidUntil".into(), json!(agent.and(settings.agent_valid_until_ms)));
    user.insert("cumLedger".into(), json!(usd(deposited)));
    user.insert("serverTime".into(), json!(venue.engine.now_ms));
    user.insert("isVault".into(), json!(is_vault));
    user.insert("user".into(), of.user_json());
    if !is_vault {
        let mode = settings.show().get("abstraction").filter(|_| known).cloned();
        user.insert("dexAbstractionEnabled".into(), json!(false));
        user.insert("abstraction".into(), mode.unwrap_or_else(|| json!("default")));
    }
    json!({"userState": user, "perpDexStates": [{"totalVaultEquity": "0.0"}]})
}
