//! A body for `/exchange`: what is accepted posts again as itself, and hashes to the same in the order received as in
//! the venue's own order read anew.

use super::*;

const WORDS: &[&str] = &[
    "\"action\":",
    "\"nonce\":1",
    "\"signature\":",
    "\"vaultAddress\":null",
    "\"expiresAfter\":1",
    "\"type\":\"order\"",
    "\"orders\":[",
    "\"type\":\"cancel\"",
    "\"cancels\":",
    "\"type\":\"noop\"",
    "\"grouping\":\"na\"",
    "\"grouping\":{\"p\":1}",
    "\"c\":\"0x\"",
    "\"r\":true",
    "\"t\":{\"limit\":{\"tif\":\"Gtc\"}}",
    "\"builder\":{\"b\":\"0x\",\"f\":1}",
    "0x",
    "null",
    ",",
    "\"type\":\"batchModify\"",
    "\"type\":\"usdSend\"",
    "\"hyperliquidChain\":\"Mainnet\"",
];

fn check(input: &[u8]) -> String {
    let envelope = match Envelope::parse(input) {
        Ok(envelope) => envelope,
        Err((received, error)) => {
            assert!(error.0.len() <= 1024, "{} bytes of refusal", error.0.len());
            assert!(received.is_none_or(|action| action.to_string().len() <= input.len()));
            return error.0.split('`').next().unwrap_or_default().to_owned();
        }
    };
    let posted = body(&envelope.received, &envelope.terms, &envelope.signature);
    let again = Envelope::parse(posted.as_bytes()).expect("what was accepted is accepted again");
    assert_eq!(again, envelope);
    // Equality of JSON passes over the order of keys, which the hash does not.
    assert_eq!(connection_id(&again.received, &again.terms), connection_id(&envelope.received, &envelope.terms));
    let is_typed = !matches!(envelope.action, Action::Other { .. });
    if is_typed {
        let canonical = serde_json::to_string(&envelope.action).unwrap();
        let node = json::parse(canonical.as_bytes()).expect("the venue's own order is JSON that it reads");
        let read = Action::parse(&node).expect("the venue's own order is accepted");
        assert_eq!(read, envelope.action);
        assert_eq!(connection_id(&node, &envelope.terms), connection_id(&envelope.action, &envelope.terms));
    }
    let typed = if is_typed { envelope.action.type_name() } else { "other" };
    // Nobody is a client here: every form is tried, and none may be taken for one.
    match envelope.signer(Source::Mainnet, |_| false) {
        Ok(signer) => assert_eq!(signer, None),
        Err(error) => return format!("{typed} {error}"),
    }
    typed.to_owned()
}

#[test]
fn envelope() {
    crate::fuzz::run("envelope", WORDS, check);
}
