//! One subscription at the venue: who has it, how far it is, and what a late client begins with.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use super::frame::{Frame, Kept, Lent, Memory};
use super::heard::Data;
use super::kind::{Manner, NEWEST_FIRST};
use super::line::OWN_LINE;
use super::messages::ClientId;
use super::subscription::{Subscription, respelled};
use crate::base::address::Address;

/// Most rows and bytes of them that are kept, whatever the venue begins with.
const MOST_ROWS: usize = 2_000;
const MOST_ROW_BYTES: usize = 1024 * 1024;
/// A state that comes about every five seconds is told three times in it; a first frame comes at once. Where nothing came for so
/// long, the venue has forgotten the feed, whatever its socket does.
const SILENCE_MS: u64 = 15_000;
/// A state that is told on a change alone may be this old, and be given to who comes late.
const OLD_MS: u64 = 60_000;

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// To be asked for.
    Unasked,
    Asked {
        since_ms: u64,
        tries: u8,
        /// Which of all that was asked for.
        turn: u64,
    },
    Held,
    /// Its end was asked for. Until the venue says that it ended, frames may be its.
    Ending {
        since_ms: u64,
        tries: u8,
    },
}

/// A client that has it.
#[derive(Debug)]
pub(super) struct Holder {
    /// The client's own address as it wrote it, where that stands for the account.
    pub(super) spelled: Option<String>,
    pub(super) is_told: bool,
    /// How often it asked again before it was told: the venue answers that after it.
    pub(super) again: u8,
}

/// So often who asks again waits for that; after it who asks is answered out of turn.
const MOST_AGAIN: u8 = 16;

impl Holder {
    /// Whether it waits for the answer to the same once more.
    pub(super) fn ask_again(&mut self) -> bool {
        let waits = !self.is_told && self.again < MOST_AGAIN;
        self.again = self.again.saturating_add(u8::from(waits));
        waits
    }
}

/// A frame, and where the address of its account stands in it.
#[derive(Debug)]
pub(super) struct Passed {
    pub(super) frame: Frame,
    pub(super) user_at: Option<Range<usize>>,
}

/// One subscription.
#[derive(Debug)]
pub(super) struct Feed {
    pub(super) subscription: Subscription,
    pub(super) line: usize,
    pub(super) phase: Phase,
    /// The subscription as the venue has it, once it said so.
    pub(super) said: String,
    /// By the client, and by its own address where it asked for the account under that: at the venue these are two.
    pub(super) holders: BTreeMap<(ClientId, Option<Address>), Holder>,
    /// What it told last, and where the address of its account stands in that.
    last: Option<(Kept, Option<Range<usize>>)>,
    rows: VecDeque<Kept>,
    /// What a client that came late began with: another begins with the same text.
    whole: Lent,
    /// What was kept took too much memory: the venue has to tell it again to who comes late.
    has_let_go: bool,
    row_bytes: usize,
    most_rows: usize,
    pub(super) has_first: bool,
    /// When it last told something, or began.
    heard_ms: u64,
    /// Until when what it told last is of now: a candle is over with its interval, whether another came or not.
    pub(super) holds_until_ms: Option<u64>,
    /// Somebody waits for a first frame that only the venue can tell.
    pub(super) is_stale: bool,
    /// When it was last begun anew.
    pub(super) renewed_ms: Option<u64>,
    /// Until when it need not be looked at.
    pub(super) rests_until_ms: u64,
    /// Its socket ended while an answer to it was waited for: so it may be what the venue ends sockets over.
    pub(super) is_suspect: bool,
    /// How often its socket ended while no other was waited for.
    pub(super) ends_alone: u8,
    /// How often since it last told something.
    renewals: u32,
}

impl Feed {
    pub(super) fn new(subscription: Subscription, line: usize) -> Self {
        let said = subscription.normal();
        Self {
            subscription,
            line,
            phase: Phase::Unasked,
            said,
            holders: BTreeMap::new(),
            last: None,
            rows: VecDeque::new(),
            whole: Lent::default(),
            has_let_go: false,
            row_bytes: 0,
            most_rows: 0,
            has_first: false,
            heard_ms: 0,
            holds_until_ms: None,
            is_stale: false,
            renewed_ms: None,
            rests_until_ms: 0,
            is_suspect: false,
            ends_alone: 0,
            renewals: 0,
        }
    }

    /// Whether the guard listens to it for itself: then it lasts, whoever has it.
    pub(super) fn is_own(&self) -> bool {
        self.line == OWN_LINE
    }

    /// Whether the venue has to hear something of it, or clients of what the venue says.
    pub(super) fn needs_line(&self) -> bool {
        !self.holders.is_empty() || !matches!(self.phase, Phase::Ending { .. })
    }

    pub(super) fn manner(&self) -> Manner {
        self.subscription.kind.manner
    }

    /// What was told holds no longer: the venue tells it from the beginning.
    pub(super) fn forget(&mut self) {
        (self.phase, self.last, self.has_first, self.is_stale) = (Phase::Unasked, None, false, false);
        (self.holds_until_ms, self.rests_until_ms) = (None, 0);
        self.keep_no_rows();
    }

    /// Its socket is no more.
    pub(super) fn lose(&mut self) {
        self.forget();
        (self.renewed_ms, self.renewals) = (None, 0);
    }

    /// The venue holds it from now on.
    pub(super) fn begin(&mut self, now_ms: u64) {
        (self.phase, self.heard_ms) = (Phase::Held, now_ms);
        (self.is_suspect, self.ends_alone) = (false, 0);
    }

    /// Its end is asked for, so that it can begin anew.
    pub(super) fn renew(&mut self, now_ms: u64) {
        if !self.is_stale {
            self.renewals = self.renewals.saturating_add(1).min(4);
        }
        self.renewed_ms = Some(now_ms);
    }

    /// Whether the venue should have told something since: in vain begun anew, it is waited for longer each time.
    pub(super) fn is_silent(&self, now_ms: u64) -> bool {
        let has_more = self.subscription.kind.has_cadence() || !self.has_first && self.manner() != Manner::Events;
        let patience_ms = SILENCE_MS << self.renewals;
        !self.is_own() && has_more && self.phase == Phase::Held && self.silence_ms(now_ms) >= patience_ms
    }

    /// How many messages to the venue one more client costs now: what it does not hold or cannot tell late has to begin anew.
    pub(super) fn join_costs(&self, now_ms: u64) -> usize {
        match self.phase {
            Phase::Held if !self.is_own() && !self.is_stale && !self.can_begin(now_ms) => 2,
            Phase::Ending { .. } if self.holders.is_empty() => 1,
            _ => 0,
        }
    }

    /// Whether who comes late can be told what the venue would begin with now.
    pub(super) fn can_begin(&self, now_ms: u64) -> bool {
        match self.manner() {
            Manner::Events => true,
            Manner::Rows(..) => !self.has_first || !self.has_let_go,
            Manner::Changes => !self.has_first,
            Manner::State | Manner::Last => !self.has_first || !self.has_let_go && !self.is_old(now_ms),
        }
    }

    fn is_old(&self, now_ms: u64) -> bool {
        let is_over = self.holds_until_ms.is_some_and(|until_ms| now_ms > until_ms);
        is_over || self.silence_ms(now_ms) >= if self.subscription.kind.has_cadence() { SILENCE_MS } else { OLD_MS }
    }

    fn silence_ms(&self, now_ms: u64) -> u64 {
        now_ms.saturating_sub(self.heard_ms)
    }

    fn keep_no_rows(&mut self) {
        (self.row_bytes, self.most_rows, self.whole, self.has_let_go) = (0, 0, Lent::default(), false);
        self.rows.clear();
    }

    /// Bytes of what is kept for who comes late.
    pub(super) fn kept_bytes(&self) -> usize {
        self.rows.iter().chain(self.last.iter().map(|(last, _)| last)).map(Kept::bytes).sum()
    }

    /// Keeps nothing for who comes late until it is told whole again.
    pub(super) fn let_go(&mut self) {
        self.keep_no_rows();
        (self.last, self.has_let_go) = (None, true);
    }

    /// Keeps what a late client needs of a frame.
    pub(super) fn keep(&mut self, text: &str, data: &Data<'_>, kept: &Memory, now_ms: u64) {
        (self.heard_ms, self.renewals) = (now_ms, 0);
        match self.manner() {
            Manner::State | Manner::Last => {
                (self.last, self.has_let_go) = (Some((kept.keep(text), data.user_at.clone())), false);
                self.whole = Lent::default();
            }
            // What comes before the first frame says nothing of what was before it.
            Manner::Rows(Some(_), _) if !self.has_first && !data.is_snapshot => return,
            Manner::Rows(key, usual) => {
                if !self.has_first || data.is_snapshot {
                    self.keep_no_rows();
                    self.most_rows = usual.max(data.rows.len()).min(MOST_ROWS);
                }
                self.whole = Lent::default();
                if self.has_let_go {
                    return;
                }
                // A snapshot with its newest row first is kept as it is; what comes later stands before it.
                let in_turn: Vec<&str> = match key {
                    Some(NEWEST_FIRST) => data.rows.iter().rev().copied().collect(),
                    _ => data.rows.clone(),
                };
                for row in in_turn {
                    self.row_bytes = self.row_bytes.saturating_add(row.len());
                    self.rows.push_back(kept.keep(row));
                }
                while self.rows.len() > self.most_rows || self.row_bytes > MOST_ROW_BYTES {
                    let Some(oldest) = self.rows.pop_front() else { break };
                    self.row_bytes = self.row_bytes.saturating_sub(oldest.text().len());
                }
            }
            Manner::Events | Manner::Changes => {}
        }
        self.has_first = true;
    }

    /// Whether a frame is one that its subscription begins with.
    pub(super) fn is_first(&self, data: &Data<'_>) -> bool {
        !self.has_first && (data.is_snapshot || !matches!(self.manner(), Manner::Rows(Some(_), _)))
    }

    /// What a late client begins with, as the venue would say it now.
    pub(super) fn first(&mut self, memory: &Memory, now_ms: u64) -> Option<Passed> {
        let Manner::Rows(key, _) = self.manner() else { return self.last_first(memory, now_ms) };
        if !self.has_first || self.has_let_go {
            return None;
        }
        let (channel, account) = (self.subscription.kind.channel, key.zip(self.subscription.user));
        let (before, user, after) = match account {
            Some((key, user)) => (
                format!(r#"{{"channel":"{channel}","data":{{"isSnapshot":true,"user":""#),
                user.to_string(),
                format!(r#"","{key}":["#),
            ),
            None => (format!(r#"{{"channel":"{channel}","data":["#), String::new(), String::new()),
        };
        let user_at = account.map(|_| before.len()..before.len().saturating_add(user.len()));
        let frame = self.whole.frame().unwrap_or_else(|| {
            let rows: Vec<&str> = match key {
                Some(NEWEST_FIRST) => self.rows.iter().rev().map(Kept::text).collect(),
                _ => self.rows.iter().map(Kept::text).collect(),
            };
            let end = if account.is_some() { "]}}" } else { "]}" };
            memory.frame([&before, &user, &after, &*rows.join(","), end].concat())
        });
        self.whole = frame.lent();
        Some(Passed { frame, user_at })
    }

    /// The same of a state.
    fn last_first(&mut self, memory: &Memory, now_ms: u64) -> Option<Passed> {
        let is_old = self.is_old(now_ms);
        let (last, user_at) = self.last.as_ref().filter(|_| !is_old)?;
        let frame = self.whole.frame().unwrap_or_else(|| memory.frame(last.text()));
        self.whole = frame.lent();
        Some(Passed { frame, user_at: user_at.clone() })
    }

    /// The subscription as this client is told of it.
    pub(super) fn said_to(&self, spelled: Option<&str>) -> String {
        respelled(&self.said, self.subscription.user, spelled)
    }
}

impl Passed {
    /// The frame with the account's address as the client wrote its own.
    pub(super) fn to(&self, spelled: Option<&str>, memory: &Memory) -> Frame {
        let whole = || self.frame.clone();
        let (Some(spelled), Some(at)) = (spelled, self.user_at.as_ref()) else { return whole() };
        let (before, after) = (self.frame.get(..at.start), self.frame.get(at.end..));
        before.zip(after).map_or_else(whole, |(before, after)| memory.frame([before, spelled, after].concat()))
    }
}
