//! The room against signatures and bodies made by the official Python SDK.

use serde::Deserialize;

use super::envelope::{Envelope, body};
use super::json::Node;
use super::recovery::RecoveryError;
use super::signing::{SecretKey, Source, agent_digest, connection_id};
use super::{Address, address::to_hex, msgpack};

#[derive(Deserialize)]
struct Vector {
    name: String,
    private_key: String,
    signer: Address,
    is_mainnet: bool,
    body: Node,
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
fn signed_form(vector: &Vector, envelope: &Envelope) -> Node {
    let canonical = envelope.action.to_node();
    let forms = [canonical, Some(envelope.received.clone())];
    let matching = forms.into_iter().flatten().find(|form| {
        let mut bytes = Vec::new();
        msgpack::write(&mut bytes, form);
        to_hex(&bytes).trim_start_matches("0x") == vector.action_msgpack.trim_start_matches("0x")
    });
    matching.unwrap_or_else(|| panic!("{}: neither form has the bytes that were signed", vector.name))
}

#[test]
fn every_vector_names_its_signer_and_network() {
    for vector in vectors() {
        let envelope = Envelope::parse(vector.body.to_json().as_bytes()).unwrap();
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
        let envelope = Envelope::parse(vector.body.to_json().as_bytes()).unwrap();
        let form = signed_form(&vector, &envelope);
        assert_eq!(to_hex(&connection_id(&form, &envelope.terms)), vector.connection_id, "{}", vector.name);
        let key = SecretKey::parse(&vector.private_key).unwrap();
        assert_eq!(key.address(), vector.signer);
        let signature = key.sign_action(&form, &envelope.terms, source(vector.is_mainnet)).unwrap();
        assert_eq!(signature, envelope.signature, "{}", vector.name);
        let posted = body(form, &envelope.terms, &signature).to_json();
        let read = Envelope::parse(posted.as_bytes()).unwrap();
        assert_eq!((read.terms, read.signature), (envelope.terms, envelope.signature), "{}", vector.name);
    }
}

#[test]
fn a_changed_byte_names_nobody() {
    for vector in vectors() {
        let mut envelope = Envelope::parse(vector.body.to_json().as_bytes()).unwrap();
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
        assert_eq!(super::recovery::Signature { v, ..good }.recover(&digest), Err(RecoveryError::V));
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
        body: Node,
    }
    let cases: Vec<Case> = serde_json::from_str(include_str!("../../tests/data/user_signed_vectors.json")).unwrap();
    assert!(cases.len() >= 10);
    for case in cases {
        let envelope = Envelope::parse(case.body.to_json().as_bytes()).unwrap();
        let signer = envelope.signer(Source::Testnet, |address| *address == case.signer).unwrap();
        assert_eq!(signer.map(|(address, _)| address), Some(case.signer), "{}", case.name);
    }
}
