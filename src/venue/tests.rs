//! The room against signatures and bodies made by the official Python SDK.

use serde::Deserialize;
use serde_json::Value;

use super::envelope::{Envelope, body};
use super::json;
use super::signing::{Source, Terms, agent_digest, connection_id, sign_action};
use crate::base::address::Address;
use crate::base::hex::to_hex;
use crate::base::key::SecretKey;
use crate::base::signature::RecoveryError;

#[derive(Deserialize)]
struct Vector {
    name: String,
    private_key: String,
    signer: Address,
    is_mainnet: bool,
    body: Value,
    action_msgpack: String,
    connection_id: String,
}

fn vectors() -> Vec<Vector> {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("../../tests/data/signing_vectors.json")).unwrap();
    assert!(vectors.len() >= 27);
    vectors
}

fn source(is_mainnet: bool) -> Source {
    if is_mainnet { Source::Mainnet } else { Source::Testnet }
}

/// The form of the action that the vector's signer hashed.
fn signed_form(vector: &Vector, envelope: &Envelope) -> Value {
    let canonical = envelope.action.to_node();
    let forms = [canonical, Some(envelope.received.clone())];
    let matching = forms.into_iter().flatten().find(|form| {
        let bytes = rmp_serde::to_vec_named(form).unwrap();
        to_hex(&bytes).trim_start_matches("0x") == vector.action_msgpack.trim_start_matches("0x")
    });
    matching.unwrap_or_else(|| panic!("{}: neither form has the bytes that were signed", vector.name))
}

#[test]
fn every_vector_names_its_signer_and_network() {
    for vector in vectors() {
        let envelope = Envelope::parse(vector.body.to_string().as_bytes()).unwrap();
        let expected = (vector.signer, source(vector.is_mainnet));
        for first in [Source::Mainnet, Source::Testnet] {
            let signer = envelope.signer(first, |address| *address == vector.signer).unwrap();
            assert_eq!(signer, Some(expected), "{}", vector.name);
        }
        assert_eq!(envelope.signer(Source::Testnet, |_| false).unwrap(), None, "{}", vector.name);
    }
}

#[test]
fn every_vector_is_signed_to_the_same_bytes() {
    for vector in vectors() {
        let envelope = Envelope::parse(vector.body.to_string().as_bytes()).unwrap();
        let form = signed_form(&vector, &envelope);
        assert_eq!(to_hex(&connection_id(&form, &envelope.terms)), vector.connection_id, "{}", vector.name);
        let key = SecretKey::parse(&vector.private_key).unwrap();
        assert_eq!(key.address(), vector.signer);
        let signature = sign_action(&key, &form, &envelope.terms, source(vector.is_mainnet)).unwrap();
        assert_eq!(signature, envelope.signature, "{}", vector.name);
        let posted = body(&form, &envelope.terms, &signature);
        let read = Envelope::parse(posted.as_bytes()).unwrap();
        assert_eq!((read.terms, read.signature), (envelope.terms, envelope.signature), "{}", vector.name);
    }
}

#[test]
fn integers_are_hashed_in_their_shortest_form() {
    for (number, bytes) in [
        ("0", "0x00"),
        ("127", "0x7f"),
        ("128", "0xcc80"),
        ("255", "0xccff"),
        ("256", "0xcd0100"),
        ("65535", "0xcdffff"),
        ("65536", "0xce00010000"),
        ("4294967295", "0xceffffffff"),
        ("4294967296", "0xcf0000000100000000"),
        ("18446744073709551615", "0xcfffffffffffffffff"),
        ("-1", "0xff"),
        ("-32", "0xe0"),
        ("-33", "0xd0df"),
        ("-128", "0xd080"),
        ("-129", "0xd1ff7f"),
        ("-32769", "0xd2ffff7fff"),
        ("-2147483649", "0xd3ffffffff7fffffff"),
    ] {
        let number = json::parse(number.as_bytes()).unwrap();
        assert_eq!(to_hex(&rmp_serde::to_vec_named(&number).unwrap()), bytes, "{number}");
    }
}

#[test]
fn a_changed_byte_names_nobody() {
    for vector in vectors() {
        let mut envelope = Envelope::parse(vector.body.to_string().as_bytes()).unwrap();
        envelope.terms.nonce += 1;
        let signer = envelope.signer(Source::Testnet, |address| *address == vector.signer).unwrap();
        assert_eq!(signer, None, "{}", vector.name);
    }
}

#[test]
fn signatures_that_no_key_makes_are_refused() {
    let key = SecretKey::parse(&format!("0x{}", "01".repeat(32))).unwrap();
    let digest = agent_digest(&[7; 32], Source::Testnet);
    let good = key.sign(&digest).unwrap();
    assert_eq!(good.recover(&digest), Ok(key.address()));

    for v in [0, 1, 26, 29, 255] {
        assert_eq!(crate::base::signature::Signature { v, ..good }.recover(&digest), Err(RecoveryError::V));
    }
    let mut zero_r = good;
    zero_r.r = [0; 32];
    assert_eq!(zero_r.recover(&digest), Err(RecoveryError::Range));
    let mut zero_s = good;
    zero_s.s = [0; 32];
    assert_eq!(zero_s.recover(&digest), Err(RecoveryError::Range));
    let mut large_r = good;
    large_r.r = [0xff; 32];
    assert_eq!(large_r.recover(&digest), Err(RecoveryError::Range));

    // The mirrored signature verifies under plain ECDSA and would name the same key.
    let s = k256::ecdsa::Signature::from_scalars(good.r, good.s).unwrap();
    let (_, s) = s.split_scalars();
    let mut high = good;
    high.s = (-*s).to_bytes().into();
    high.v = if good.v == 27 { 28 } else { 27 };
    assert_eq!(high.recover(&digest), Err(RecoveryError::HighS));
}

#[test]
fn short_r_and_s_are_padded() {
    let body =
        |r: &str| format!(r#"{{"action":{{"type":"noop"}},"nonce":1,"signature":{{"r":"{r}","s":"0x2","v":27}}}}"#);
    let envelope = Envelope::parse(body("0x1").as_bytes()).unwrap();
    assert_eq!((envelope.signature.r[31], envelope.signature.s[31]), (1, 2));
    for bad in ["", "0x", "1", "0xg", &format!("0x{}", "1".repeat(65))] {
        let (_, error) = Envelope::parse(body(bad).as_bytes()).unwrap_err();
        assert!(error.0.contains("signature.r"), "{bad}: {error}");
    }
}

#[test]
fn the_bare_parity_is_as_good_as_v() {
    for vector in vectors() {
        let bare = vector.body.to_string().replace(r#""v":27"#, r#""v":0"#).replace(r#""v":28"#, r#""v":1"#);
        assert_ne!(bare, vector.body.to_string(), "{}", vector.name);
        let given = Envelope::parse(vector.body.to_string().as_bytes()).unwrap().signature;
        assert_eq!(Envelope::parse(bare.as_bytes()).unwrap().signature, given, "{}", vector.name);
    }
}

/// The same value with every object's keys in alphabetical order, as the official Rust SDK posts it.
fn sorted(node: &Value) -> Value {
    let mut sorted = node.clone();
    sorted.sort_all_objects();
    sorted
}

#[test]
fn what_is_never_forwarded_names_its_client_in_any_order_of_keys() {
    let key = SecretKey::parse(&format!("0x{}", "01".repeat(32))).unwrap();
    let vault = "0x2222222222222222222222222222222222222222".parse().unwrap();
    for action in [
        r#"{"type":"scheduleCancel","time":1790000005000}"#,
        r#"{"type":"twapOrder","twap":{"a":0,"b":true,"s":"1","r":false,"m":30,"t":false}}"#,
        r#"{"type":"topUpIsolatedOnlyMargin","asset":0,"leverage":"3"}"#,
        r#"{"type":"vaultTransfer","vaultAddress":"0x2222222222222222222222222222222222222222","isDeposit":true,"usd":5}"#,
        r#"{"type":"vaultModify","vaultAddress":"0x22","allowDeposits":true,"alwaysCloseOnWithdraw":null}"#,
        r#"{"type":"createVault","name":"n","description":"d","initialUsd":1,"nonce":1}"#,
        r#"{"type":"subAccountTransfer","subAccountUser":"0x22","isDeposit":false,"usd":5}"#,
        r#"{"type":"subAccountSpotTransfer","subAccountUser":"0x22","isDeposit":true,"token":"T","amount":"1"}"#,
        r#"{"type":"subAccountModify","subAccountUser":"0x22","name":"n"}"#,
        r#"{"type":"agentSendAsset","destination":"0x22","sourceDex":"","destinationDex":"","token":"T","amount":"1","fromSubAccount":"","nonce":1}"#,
        r#"{"type":"spotUser","classTransfer":{"usdc":1000000,"toPerp":true}}"#,
        r#"{"type":"borrowLend","operation":"supply","token":0,"amount":"1"}"#,
        r#"{"type":"setReferrer","code":"X"}"#,
        r#"{"type":"evmUserModify","usingBigBlocks":true}"#,
        r#"{"type":"reserveRequestWeight","weight":1,"destination":"0x22"}"#,
        r#"{"type":"gossipPriorityBid","slotId":0,"ip":"127.0.0.1","maxGas":1}"#,
        r#"{"type":"approveBuilderFee","maxFeeRate":"0.01%","builder":"0x22","nonce":1,"signatureChainId":"0x66eee","hyperliquidChain":"Testnet"}"#,
        r#"{"type":"notKnownYet","zeta":1}"#,
    ] {
        let node = json::parse(action.as_bytes()).unwrap();
        for (signed_vault, posted_vault) in [(None, None), (Some(vault), Some(vault)), (None, Some(vault))] {
            let terms =
                Terms { nonce: 1_790_000_000_000, vault: signed_vault, expires_after_ms: Some(1_790_000_005_000) };
            let signature = sign_action(&key, &node, &terms, Source::Testnet).unwrap();
            let posted = body(&sorted(&node), &Terms { vault: posted_vault, ..terms }, &signature);
            let envelope = Envelope::parse(posted.as_bytes()).unwrap();
            let signer = envelope.signer(Source::Mainnet, |address| *address == key.address()).unwrap();
            assert_eq!(signer, Some((key.address(), Source::Testnet)), "{action}");
        }
    }
}

/// The vault of an action that may be forwarded is part of what was signed, always.
#[test]
fn a_vault_added_to_a_judged_action_names_nobody() {
    let key = SecretKey::parse(&format!("0x{}", "01".repeat(32))).unwrap();
    let node = json::parse(br#"{"type":"noop"}"#).unwrap();
    let terms = Terms { nonce: 1, vault: None, expires_after_ms: None };
    let signature = sign_action(&key, &node, &terms, Source::Testnet).unwrap();
    let posted = body(&node, &Terms { vault: Some(key.address()), ..terms }, &signature);
    let envelope = Envelope::parse(posted.as_bytes()).unwrap();
    assert_eq!(envelope.signer(Source::Testnet, |address| *address == key.address()).unwrap(), None);
}

#[test]
fn wrong_shapes_are_named() {
    let order = |inner: &str| {
        format!(
            r#"{{"action":{{"type":"order","orders":[{inner}],"grouping":"na"}},"nonce":1,"signature":{{"r":"0x1","s":"0x2","v":27}}}}"#
        )
    };
    let good = r#"{"a":0,"b":true,"p":"1","s":"1","r":false,"t":{"limit":{"tif":"Gtc"}}}"#;
    assert!(Envelope::parse(order(good).as_bytes()).is_ok());
    for (from, to, part) in [
        (r#""a":0"#, r#""a":-1"#, "orders[0].a"),
        (r#""a":0"#, r#""a":4294967296"#, "orders[0].a"),
        (r#""b":true"#, r#""b":1"#, "orders[0].b"),
        (r#""p":"1""#, r#""p":1"#, "orders[0].p"),
        (r#""p":"1""#, r#""p":"1e5""#, "orders[0].p"),
        (r#""s":"1""#, r#""s":"0.000000001""#, "orders[0].s"),
        (r#""s":"1","#, "", "missing key `s`"),
        (r#""r":false"#, r#""r":false,"x":1"#, "unknown key `x`"),
        (r#""Gtc""#, r#""GTC""#, "tif"),
        (r#"{"limit""#, r#"{"limits""#, "unknown key `limits`"),
        (r#""r":false"#, r#""r":false,"c":"0x12""#, "orders[0].c"),
    ] {
        let (_, error) = Envelope::parse(order(&good.replace(from, to)).as_bytes()).unwrap_err();
        assert!(error.0.contains(part), "{to}: {error}");
    }
}

#[test]
fn a_user_signed_action_names_its_client() {
    #[derive(Deserialize)]
    struct Case {
        name: String,
        signer: Address,
        body: Value,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/data/user_signed_vectors.json")).unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let envelope = Envelope::parse(case.body.to_string().as_bytes()).unwrap();
        let signer = envelope.signer(Source::Testnet, |address| *address == case.signer).unwrap();
        assert_eq!(signer.map(|(address, _)| address), Some(case.signer), "{}", case.name);
    }
}
