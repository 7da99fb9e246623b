//! Who signed: whichever of the venue's forms a client signs and posts, it is known; and nobody else is.

use serde_json::{Map, Value, json};
use svc_guard::base::address::Address;
use svc_guard::base::key::SecretKey;
use svc_guard::venue::signing::Source;
use svc_guard::venue::user_signed;

use crate::events::{is_anonymous_veto, is_clients_veto};
use crate::signing::{fresh_nonce, node, resting, signed, signed_with};
use crate::stand::{Mode, Stand, WALLET, WALLET_KEY, until};

const VECTORS: &str = include_str!("../data/signing_vectors.json");

/// The same value with every object's keys in alphabetical order.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(members.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}

/// The official Rust SDK signs the venue's order of keys and posts the alphabetical one.
#[test]
fn keys_may_come_in_any_order() {
    let stand = Stand::up(Mode::Testnet, "");
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    let mut seen = 0;
    for vector in vectors.iter().filter(|vector| vector["body"]["vaultAddress"].is_null()) {
        let (name, action) = (&vector["name"], &vector["body"]["action"]);
        // What the vectors post is in a canonical order or a sorted one; the canonical is what the venue hashes.
        let action = svc_guard::venue::action::Action::parse(&node(action)).unwrap().to_node();
        let Some(action) = action else { continue };
        let nonce = fresh_nonce();
        let body = signed_with(&stand.client, &action, nonce, Source::Testnet);
        let posted = sorted(&body);
        let reply = stand.post("/exchange", &posted).json();
        let event = stand.event(&reply["guard"]["seq"]);
        assert_eq!(event["client"], json!(stand.client.address()), "{name}: {reply}");
        assert_eq!((&event["nonce"], &event["signed_as"]), (&json!(nonce), &json!("testnet")), "{name}");
        assert_eq!(event["request"].to_string(), posted["action"].to_string(), "{name}: as received");
        // As texts: equality of values does not see the order of keys.
        let (canonical, sent) = (body["action"].to_string(), posted["action"].to_string());
        seen += usize::from(canonical != sent);
    }
    assert!(seen >= 10, "{seen} vectors came in another order than they were signed in");
}

/// Some clients sign what they post, whatever its order.
#[test]
fn the_order_received_may_be_the_one_signed() {
    let stand = Stand::up(Mode::Paper, "");
    let body = signed(&stand.client, &sorted(&resting()));
    let reply = stand.post("/exchange", &body).json();
    assert_eq!((&reply["status"], &reply["guard"]["verdict"]), (&json!("ok"), &json!("resize")), "{reply}");
}

#[test]
fn either_network_may_be_signed_for() {
    let stand = Stand::up(Mode::Paper, "");
    for (source, name) in [(Source::Mainnet, "mainnet"), (Source::Testnet, "testnet"), (Source::Mainnet, "mainnet")] {
        let body = signed_with(&stand.client, &json!({"type": "noop"}), fresh_nonce(), source);
        let reply = stand.post("/exchange", &body).json();
        assert_eq!(stand.event(&reply["guard"]["seq"])["signed_as"], name);
    }
}

#[test]
fn a_strangers_request_names_nobody() {
    let stand = Stand::up(Mode::Paper, "");
    let stranger = SecretKey::parse(&format!("0x{}", "77".repeat(32))).unwrap();
    let response = stand.post("/exchange", &signed(&stranger, &resting()));
    let event = is_anonymous_veto(&stand, &response, 200, "bad_signature");
    assert_eq!(event["request"], resting());
    // Whose key it was is told all the same, to the log and the page.
    let said = event["text"].as_str().unwrap();
    let command = format!("`svc-guard --home {} client add --out FILE`", stand.home().display());
    assert!(said.contains(&stranger.address().to_string()) && said.contains(&command), "{said}");
    until("the log, with a command for this home", || stand.log().contains(&command).then_some(()));
    // Nor may anybody use a stranger's nonce up for a client.
    let nonce = fresh_nonce();
    stand.post("/exchange", &signed_with(&stranger, &json!({"type": "noop"}), nonce, Source::Testnet));
    let own = signed_with(&stand.client, &json!({"type": "noop"}), nonce, Source::Testnet);
    assert_eq!(stand.post("/exchange", &own).json()["status"], "ok");
}

/// The guard's own API wallet in a bot's hands would pass every rule by.
#[test]
fn the_api_wallets_key_in_a_bots_hands_is_named() {
    let stand = Stand::up(Mode::Testnet, "");
    let wallet = SecretKey::parse(WALLET_KEY).unwrap();
    let response = stand.post("/exchange", &signed(&wallet, &resting()));
    let event = is_anonymous_veto(&stand, &response, 200, "bad_signature");
    let said = event["text"].as_str().unwrap();
    assert!(said.contains("this guard's own API wallet") && said.contains(WALLET), "{said}");
}

/// What does not exist says what does; a base URL with a slash at its end is the usual reason.
#[test]
fn a_path_that_is_not_there_is_named() {
    let stand = Stand::up(Mode::Paper, "");
    for (path, part) in [("/status", "/guard/status, /guard/report, "), ("//info", "a base URL ends without a slash")] {
        let response = stand.get(path);
        let said = response.json()["msg"].as_str().unwrap().to_owned();
        assert!(response.status == 404 && said.contains(&format!("{path:?}")) && said.contains(part), "{said}");
    }
}

/// A bot with a wrong account_address shows a stranger's figures, and its owner is told of it once.
#[test]
fn who_reads_another_account_is_told_of_once() {
    let stand = Stand::up(Mode::Paper, "");
    let stranger = "0x2222222222222222222222222222222222222222";
    let hints = || stand.log().matches("which is not the guarded account").count();
    for _ in 0..3 {
        stand.post("/info", &json!({"type": "clearinghouseState", "user": stranger}));
        stand.post("/info", &json!({"type": "clearinghouseState", "user": stand.client.address()}));
    }
    until("the hint", || (hints() > 0).then_some(()));
    assert_eq!(hints(), 1);
    assert!(stand.log().contains(stranger));
}

/// Transfers and approvals are signed over their own fields; they are refused to the client that sent them.
#[test]
fn user_signed_actions_are_refused_to_their_client() {
    let stand = Stand::up(Mode::Testnet, "");
    let to: Address = "0x3333333333333333333333333333333333333333".parse().unwrap();
    let nonce = fresh_nonce();
    for (chain, name) in [("Mainnet", "mainnet"), ("Testnet", "testnet")] {
        for action in [
            json!({"type": "usdSend", "hyperliquidChain": chain, "signatureChainId": "0x66eee", "destination": to,
                "amount": "1", "time": nonce}),
            json!({"type": "withdraw3", "hyperliquidChain": chain, "signatureChainId": "0xa4b1", "destination": to,
                "amount": "1", "time": nonce}),
            json!({"type": "approveBuilderFee", "hyperliquidChain": chain, "signatureChainId": "0x66eee",
                "maxFeeRate": "0.01%", "builder": to, "nonce": nonce}),
            json!({"type": "approveAgent", "hyperliquidChain": chain, "signatureChainId": "0x1",
                "agentAddress": to, "agentName": "", "nonce": nonce}),
        ] {
            let nonce = fresh_nonce();
            let mut action = action;
            let field = if action.get("time").is_some() { "time" } else { "nonce" };
            action[field] = json!(nonce);
            let digest = user_signed::digest(&node(&action)).unwrap();
            let signature = stand.client.sign(&digest).unwrap();
            let body = json!({"action": action, "nonce": nonce, "signature": signature});
            let event = is_clients_veto(&stand, &stand.post("/exchange", &body), "action_not_allowed");
            assert_eq!((&event["action"], &event["signed_as"]), (&action["type"], &json!(name)));
        }
    }
    assert!(stand.venue_saw().is_empty());
}
