//! `nonce_out_of_window`: nonces near the time, and not below those remembered.

use crate::guard::tests::fixture::*;

const DAY_MS: u64 = 24 * 60 * 60 * 1000;

#[test]
fn nonces_reach_two_days_back_and_one_ahead() {
    for (nonce, fits) in
        [(NOW - 2 * DAY_MS, true), (NOW - 2 * DAY_MS - 1, false), (NOW + DAY_MS, true), (NOW + DAY_MS + 1, false)]
    {
        let decided = Decided::of(Desk::live().post_body(body(&noop(), nonce)));
        assert_eq!(decided.code(), if fits { "allowed" } else { "nonce_out_of_window" });
    }
}

#[test]
fn a_restart_does_not_take_refused_nonces_for_used_ones() {
    // A hundred nonces from a broken clock would otherwise stand as the highest for ever, and lock the client out.
    let mut before = Desk::live();
    let mut after = Desk::live();
    for offset in 0..100 {
        let refused = Decided::of(before.post_body(body(&noop(), NOW * 1000 + offset)));
        after.guard.restore_json(&refused.vetoed("nonce_out_of_window").event);
    }
    Decided::of(after.post_body(body(&noop(), NOW))).allowed();
}
