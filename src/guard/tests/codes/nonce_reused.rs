//! `nonce_reused`: a nonce serves once.

use serde_json::json;

use crate::guard::tests::fixture::*;

#[test]
fn a_nonce_serves_once_also_when_the_request_is_vetoed() {
    let mut desk = Desk::live();
    let vetoed = json!({"type": "withdraw3"});
    Decided::of(desk.post_body(body(&vetoed, NOW + 1))).vetoed("action_not_allowed");
    let again = Decided::of(desk.post_body(body(&noop(), NOW + 1)));
    again.vetoed("nonce_reused").says(&[&(NOW + 1).to_string()]);
    Decided::of(desk.post_body(body(&noop(), NOW + 2))).allowed();
}

#[test]
fn a_restart_keeps_the_nonces_that_were_used() {
    let mut before = Desk::live();
    let used = Decided::of(before.post_body(body(&noop(), NOW + 5)));
    let own = used.event["nonces"][0].as_u64().unwrap();
    let mut after = Desk::live();
    after.guard.restore_json(&used.event);
    Decided::of(after.post_body(body(&noop(), NOW + 5))).vetoed("nonce_reused");
    let next = Decided::of(after.post_body(body(&noop(), NOW + 6)));
    assert!(next.allowed().event["nonces"][0].as_u64().unwrap() > own);
}
