//! Whether the venue takes what is signed for the account. Where it does not know the signer there, nothing that the
//! guard sends has any effect, however well it reads.

use crate::base::address::Address;
use crate::guard::flow::step_context::Step;
use crate::guard::state::guard::Guard;
use crate::guard::state::signer::{UnknownSigner, is_of_signer, read_signer};
use crate::record::events::Trouble;
use crate::venue::reply::Reply;

/// Characters kept of the venue's words.
const KEPT: usize = 200;

/// Takes in what an answer says of the signer. The first refusal is told of; whatever is taken ends it.
pub(crate) fn on_reply(step: &mut Step<'_>, reply: &Reply) {
    match reply {
        Reply::Refused(answer) if is_of_signer(answer) => {
            if step.guard.unknown_signer.is_none() {
                step.guard.unknown_signer =
                    Some(UnknownSigner { since_ms: step.now_ms, answer: answer.chars().take(KEPT).collect() });
                let text = unknown_signer_text(step.guard).map(|(text, _)| text).unwrap_or_default();
                step.record(Trouble::new(text));
            }
        }
        // Refused for what was asked, or for its nonce: that may be looked at first.
        Reply::Refused(_) => {}
        Reply::Statuses(_) | Reply::Done => step.guard.unknown_signer = None,
    }
}

/// What to tell of an unknown signer, and since when; `None` while none is.
pub(crate) fn unknown_signer_text(guard: &Guard) -> Option<(String, u64)> {
    let UnknownSigner { since_ms, answer } = guard.unknown_signer.as_ref()?;
    let wallet = guard.config.api_wallet.map_or_else(|| "the API wallet".to_owned(), |wallet| wallet.to_string());
    let account = guard.config.account;
    let owner = match guard.acts_for.flatten() {
        Some(_) => "its owner (a sub-account's master, a vault's leader)",
        None => "the account",
    };
    // The account itself is named where it has nothing at the venue.
    let is_other = |read: &Address| guard.config.api_wallet.is_some_and(|own| own != *read) && *read != account;
    if let Some(other) = read_signer(answer).filter(is_other) {
        let text = format!(
            "the venue does not take what {wallet} signs for {account} ({answer}), so nothing can be sent: no position is covered or \
             closed by this guard; it reads {other} out of the signature, as where a request is signed for another network: this guard \
             signs for {mode}, and the venue that `[venue] url` in guard.toml names must be that network's; without that line the \
             guard talks to the network's own",
            mode = guard.config.mode
        );
        return Some((text, *since_ms));
    }
    let text = format!(
        "the venue does not take {wallet} as an API wallet for {account} ({answer}), so nothing can be sent: no \
         position is covered or closed by this guard; approve that wallet at the venue as {owner}, or give the guard \
         the key of one that is with `svc-guard key replace --key-stdin < FILE`, and restart"
    );
    Some((text, *since_ms))
}
