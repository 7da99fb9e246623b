//! Whatever is worth telling: pure. Events, the status and whether the guard answers go in, with the times; notices come out.
//!
//! It is kept on disk with the notices that it made, so that a death loses neither: each event is taken in once, and what
//! lasts is known to last.

mod alert_words;
mod alerts;
mod book;
mod closing;
mod commands;
mod counts;
mod events;
mod halts;
mod placing;
mod reach;
mod since;
mod status;
mod summary;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

pub use alert_words::{codes as alert_codes, words as alert_words};
pub(super) use book::Report;
pub use commands::Guard;
pub(super) use since::Seen;
pub(super) use summary::Due;

use super::notice::{Notice, Turn};
use crate::base::moment::{span, utc};
use counts::Counts;
use placing::Placing;
use since::{Flattening, Reach};

/// Events of the guard's own doing that answers are recognised for.
const MAX_OWN: usize = 256;

/// What is known of the guard, and the notices that came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Watch {
    /// The last event taken in; none before the guard was first heard.
    pub(super) cursor: Option<u64>,
    /// The number and the time of the last event that was taken in: whose journal the place is in.
    pub(super) mark: Option<(u64, u64)>,
    /// Events of before are no news: they were in another journal while this one was read. What was not in it yet then is.
    news_ms: u64,
    news_seq: u64,
    /// The number and the time of the last event that pulled the switch, changed the risk state or says how far closing is.
    ruled: Option<(u64, u64)>,
    /// Which guard it is.
    pub(super) guard: Guard,
    /// What lasts, by topic, as it was told when it began. Nothing that lasts is ever left out of it: alerts alone can be many,
    /// and those have a bound of their own.
    pub(super) open: BTreeMap<String, Notice>,
    /// The risk state that was told last.
    risk_state: String,
    /// Everything has to be closed, and what was told of that.
    flattening: Option<Flattening>,
    /// When the guard's life began, as far as an event told.
    started_ms: Option<u64>,
    /// Whether the last event said that the service stopped.
    stopped: bool,
    /// The guard's own stops and closes: the event's number, and whether it closes.
    own: VecDeque<(u64, bool)>,
    /// The guard's own stops that the venue has not taken yet.
    placing: Placing,
    /// Rules whose limit is nearly used.
    near: BTreeSet<String>,
    /// The end of the wallet's approval that was told of, and how many days before.
    wallet: Option<(u64, u64)>,
    /// What happened since the last summary.
    counts: Counts,
    /// The day whose summary was told last.
    summary_round: Option<u64>,
    /// The last UTC day whose book was told, counted from 1970; and the last of the days that the last summary was about, with their
    /// book or without.
    summary_day: Option<u32>,
    summary_to: Option<u32>,
    /// Why events that are missing are not in the journal.
    #[serde(skip)]
    pub(super) not_in_journal: String,
    #[serde(skip)]
    reach: Reach,
    /// Notices made and not yet filed.
    #[serde(skip)]
    made: Vec<Notice>,
}

impl Watch {
    /// Takes in which guard it is by its home, for what is told before it was ever heard.
    pub(super) fn expect(&mut self, guard: Guard) {
        if self.cursor.is_none() {
            self.guard = guard;
        }
    }

    /// The notices made since this was last asked, in order.
    pub(super) fn take(&mut self) -> Vec<Notice> {
        std::mem::take(&mut self.made)
    }

    fn tell(&mut self, notice: Notice) {
        // What is over counted when it began.
        if notice.turn != Turn::Over && !notice.is_good() {
            self.counts.told(notice.severity);
        }
        self.made.push(notice);
    }

    /// Tells of something that lasts from now on, if it did not before.
    fn begin(&mut self, notice: Notice) {
        if !self.open.contains_key(&notice.topic()) {
            self.begin_again(notice);
        }
    }

    /// The same, also where it is known already.
    fn begin_again(&mut self, notice: Notice) {
        let notice = notice.begins();
        self.open.insert(notice.topic(), notice.clone());
        self.tell(notice);
    }

    /// Tells that something is over, if it was known to last.
    fn end(&mut self, topic: &str, now_ms: u64) {
        self.end_as(topic, now_ms, false);
    }

    /// The same; where a halt fired in the place of a loss near its limit, that is no good news.
    fn end_as(&mut self, topic: &str, now_ms: u64, is_halted: bool) {
        let Some(began) = self.open.remove(topic) else { return };
        let (word, why) = if is_halted { ("A halt fired", ", until a halt fired in its place") } else { ("Over", "") };
        let lasted = span(now_ms.saturating_sub(began.at_ms));
        let happened = format!("It began at {} and lasted {lasted}{why}.", utc(began.at_ms));
        let title = format!("{word}: {}", began.title);
        let over = Notice { id: 0, at_ms: now_ms, turn: Turn::Over, title, is_worse: is_halted, ..began };
        self.tell(over.words(happened, "", ""));
    }

    /// Whether something is known to last.
    fn lasts(&self, topic: &str) -> bool {
        self.open.contains_key(topic)
    }

    /// Remembers an event of the guard's own doing.
    fn remember_own(&mut self, seq: u64, closes: bool) {
        if self.own.len() >= MAX_OWN {
            self.own.pop_front();
        }
        self.own.push_back((seq, closes));
    }

    /// Whether an event is one of the guard's own stops or closes, and closes.
    fn own_of(&self, seq: u64) -> Option<bool> {
        self.own.iter().find(|(own, _)| *own == seq).map(|(_, closes)| *closes)
    }
}

#[cfg(test)]
impl Watch {
    /// Makes a notice as it is.
    pub(super) fn tell_for_test(&mut self, notice: Notice) {
        self.tell(notice);
    }
}

#[cfg(test)]
mod tests;
