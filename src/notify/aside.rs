//! Messages that a target refused for what they are, and not for the state that the target is in: pure.
//!
//! A refusal may be about the message, or about a wrong chat, or come from a proxy on the way; nobody can tell which. So none
//! is thrown away and none holds up the others: it is put aside and tried on beside them, with growing pauses, for a day. Every
//! other try is the title alone, which is taken where something in the rest was not.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::notice::{Notice, Severity};

/// How long a message is tried on.
const DAY_MS: u64 = 86_400_000;
/// The first pause before it is tried again, and the longest.
const FIRST_MS: u64 = 15_000;
const LONGEST_MS: u64 = 1_800_000;
/// Messages kept aside for one target.
const MOST: usize = 100;

/// A message that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    notice: Notice,
    /// When it was refused first, and when it is tried next.
    since_ms: u64,
    next_ms: u64,
    tries: u32,
    /// Whether its title was taken.
    #[serde(default)]
    in_short: bool,
}

impl Refused {
    /// Whether the next try is the title alone.
    fn is_short(&self) -> bool {
        !self.in_short && self.tries.is_multiple_of(2)
    }
}

/// What one target refused.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Aside {
    list: VecDeque<Refused>,
    /// Whether it took nothing since it refused one.
    is_deaf: bool,
}

/// A message that is due again: what is sent, and whether that is its title alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Again {
    pub(super) notice: Notice,
    pub(super) in_short: bool,
}

impl Aside {
    /// Keeps a message that was refused. Says whether another one had to go for it.
    pub(super) fn put(&mut self, notice: Notice, now_ms: u64) -> bool {
        self.is_deaf = true;
        let next_ms = now_ms.saturating_add(FIRST_MS);
        self.list.push_back(Refused { notice, since_ms: now_ms, next_ms, tries: 0, in_short: false });
        if self.list.len() <= MOST {
            return false;
        }
        let least = self.list.iter().map(|refused| refused.notice.severity).min();
        let place = self.list.iter().position(|refused| Some(refused.notice.severity) == least);
        place.and_then(|place| self.list.remove(place)).is_some()
    }

    /// How many it keeps.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The message that is to be tried again now, if there is one.
    pub(super) fn due(&mut self, is_quiet: bool, now_ms: u64) -> Option<Again> {
        // A clock that was ahead must keep none from being tried.
        for refused in &mut self.list {
            refused.since_ms = refused.since_ms.min(now_ms);
            refused.next_ms = refused.next_ms.min(now_ms.saturating_add(LONGEST_MS));
        }
        let due = self.list.iter().find(|refused| refused.next_ms <= now_ms && is_free(refused, is_quiet))?;
        let in_short = due.is_short();
        let mut notice = Notice { title: format!("Late: {}", due.notice.title), ..due.notice.clone() };
        if in_short {
            notice.about.clear();
            notice =
                notice.words("This is all of it that is taken here.", "", "Look at the guard's page for the rest.");
        }
        Some(Again { notice, in_short })
    }

    /// The target took something: whatever it refused before is tried at once where it took nothing since.
    pub(super) fn heard(&mut self, now_ms: u64) {
        if std::mem::take(&mut self.is_deaf) {
            self.list.iter_mut().for_each(|refused| refused.next_ms = now_ms);
        }
    }

    /// The target took this one, or its title, which is followed by the whole of it.
    pub(super) fn taken(&mut self, id: u64, in_short: bool, now_ms: u64) {
        self.is_deaf = true;
        self.heard(now_ms);
        if in_short {
            self.list.iter_mut().filter(|refused| refused.notice.id == id).for_each(|refused| refused.in_short = true);
        } else {
            self.list.retain(|refused| refused.notice.id != id);
        }
    }

    /// The target refused this one again. Says whether it is given up, and nothing of it was told.
    pub(super) fn again(&mut self, id: u64, now_ms: u64) -> bool {
        let Some(place) = self.list.iter().position(|refused| refused.notice.id == id) else { return false };
        let Some(refused) = self.list.get_mut(place) else { return false };
        // Where the target takes nothing it is not the message.
        let is_old = !self.is_deaf && now_ms.saturating_sub(refused.since_ms) >= DAY_MS;
        if refused.in_short || is_old {
            return self.list.remove(place).is_some_and(|refused| !refused.in_short);
        }
        refused.tries = refused.tries.saturating_add(1);
        refused.next_ms = now_ms.saturating_add(pause_ms(refused.tries));
        false
    }

    /// Whether the target refuses everything, and something waits for it.
    pub(super) fn is_deaf(&self, is_quiet: bool) -> bool {
        self.is_deaf && self.list.iter().any(|refused| is_free(refused, is_quiet))
    }
}

/// Whether quiet hours let it be told.
fn is_free(refused: &Refused, is_quiet: bool) -> bool {
    !is_quiet || refused.notice.severity == Severity::Critical
}

/// The pause after so many tries: doubled each time.
fn pause_ms(tries: u32) -> u64 {
    FIRST_MS.saturating_mul(1_u64.checked_shl(tries.min(16)).unwrap_or(u64::MAX)).min(LONGEST_MS)
}
