//! `bad_signature`: a signature that names no client.

use serde_json::Value;

use crate::guard::RequestBody;
use crate::guard::tests::fixture::*;
use crate::venue::json::parse;

#[test]
fn an_unsigned_request_names_nobody() {
    let received = parse(br#"{"type":"noop"}"#).unwrap();
    let decided = Decided::of(Desk::paper().post_as(RequestBody::Unsigned { received, text: "names none".into() }));
    decided.vetoed("bad_signature");
    for key in ["client", "signed_as", "nonce"] {
        assert_eq!(decided.event[key], Value::Null);
    }
    assert_eq!(decided.event["action"], "noop");
    assert_eq!(decided.reply()["response"], "svc-guard veto (bad_signature): names none");
}
