//! `nonce_reused` and `nonce_out_of_window`: a client's nonce serves once, and near its time only. One file, since both
//! are answers of the same window.

use crate::base::address::Address;
use crate::base::moment::span;
use crate::guard::code::Code;
use crate::guard::judge::veto::Veto;
use crate::guard::state::guard::Guard;
use crate::guard::state::nonces::{NonceRefusal, REMEMBERED};

/// Uses a client's nonce up.
pub(crate) fn burn(guard: &mut Guard, client: Address, nonce: u64, now_ms: u64) -> Result<(), Veto> {
    let window = guard.windows.entry(client).or_default();
    window.burn(nonce, now_ms).map_err(|refusal| match refusal {
        NonceRefusal::Reused => Veto::new(Code::NonceReused, format!("nonce {nonce} was used before; use a new one")),
        NonceRefusal::FarFromNow { oldest, newest } => {
            let off = span(nonce.abs_diff(now_ms));
            let side = if nonce < now_ms { "behind" } else { "ahead of" };
            let text = format!(
                "nonce {nonce} is outside {oldest} to {newest}: as a time it is {off} {side} this machine's clock; set \
                 the bot's clock, and use the time in milliseconds"
            );
            Veto::new(Code::NonceOutOfWindow, text)
        }
        NonceRefusal::BelowRemembered { lowest } => {
            let text = format!("nonce {nonce} is below {lowest}, the lowest of the last {REMEMBERED}; use a new one");
            Veto::new(Code::NonceOutOfWindow, text)
        }
    })
}
