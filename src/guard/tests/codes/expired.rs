//! `expired`: the client's own `expiresAfter`.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn a_request_expires_after_its_last_millisecond() {
    for (expires_ms, code) in [(NOW, "allowed"), (NOW - 1, "expired")] {
        let request = with(body(&noop(), NOW), "/expiresAfter", json!(expires_ms));
        let decided = Decided::of(Desk::live().post_body(request));
        assert_eq!(decided.code(), code, "{}", decided.text());
    }
}
