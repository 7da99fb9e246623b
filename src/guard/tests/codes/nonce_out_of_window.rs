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

/// A bot's clock that is wrong is the usual reason: how wrong it is stands there.
#[test]
fn how_far_a_nonces_time_is_off_is_told() {
    for (nonce, off) in [(NOW - 3 * DAY_MS, "3 days behind"), (NOW + 3 * DAY_MS, "3 days ahead of")] {
        let decided = Decided::of(Desk::live().post_body(body(&noop(), nonce)));
        decided
            .vetoed("nonce_out_of_window")
            .says(&[&format!("it is {off} this machine's clock; set the bot's clock")]);
    }
    // Seconds for milliseconds.
    let decided = Decided::of(Desk::live().post_body(body(&noop(), NOW / 1_000)));
    decided.vetoed("nonce_out_of_window").says(&["use the time in milliseconds"]);
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
