//! A set-up over an earlier one: what that had and the new one has no more, for whoever made it.

use super::one_rule::in_words;
use super::running_here::is_running;
use crate::home::{Config, Home};

/// What an earlier set-up had and this one has no more: its clients, and values that are others now, each with the way back.
pub(super) fn notes(home: &Home, earlier: &Config, now: &Config) -> Vec<String> {
    let mut notes = Vec::new();
    let (was, is) = (earlier.mode, now.mode);
    if was != is {
        notes.push(format!(
                "mode was {was} and is {is} now: from its next start on what {was} holds is guarded by nobody; `svc-guard init --force \
                 --network {was}` sets it up for that again, and `svc-guard --home DIR init` sets another home up"
            ));
    }
    if earlier.account != now.account {
        notes.push(format!(
                "account was {was} and is {is} now: from its next start on what {was} holds is guarded by nobody; `svc-guard --home DIR \
                 init` sets another home up for it",
                was = earlier.account,
                is = now.account
            ));
    }
    if is_running(home) {
        notes.push("a guard runs on this home, and goes on as it was started until it is started again".to_owned());
    }
    if !earlier.auth.clients.is_empty() {
        notes.push(format!("{} earlier client keys are no longer accepted", earlier.auth.clients.len()));
    }
    if let Some(fallback) = earlier.journal_fallback.as_ref().filter(|_| now.journal_fallback.is_none()) {
        notes.push(format!(
                "journal_fallback was {} and is none now, for that folder is the earlier journal's; a line in guard.toml names another \
                 one for this one's",
                fallback.display()
            ));
    }
    let cap = |config: &Config| config.equity_cap.map_or_else(|| "none".to_owned(), |usdc| usdc.to_string());
    let values = [
        ("listen", earlier.listen.to_string(), now.listen.to_string()),
        ("ip_share", earlier.ip_share.to_string(), now.ip_share.to_string()),
        ("equity_cap", cap(earlier), cap(now)),
    ];
    notes.extend(values.into_iter().filter(|(_, was, is)| was != is).map(|(name, was, is)| {
        format!("{name} was {was} and is {is} now; `svc-guard config set {name} {was}` brings it back")
    }));
    if earlier.rules != now.rules {
        let code = earlier.rules.to_code();
        notes.push(format!(
            "the rules are others now; `svc-guard config set rules {code}` brings the earlier ones back:"
        ));
        notes.extend(in_words(&earlier.rules, &now.rules));
    }
    notes
}
