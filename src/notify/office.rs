//! The notices in their order and each target's place among them: pure, and kept on disk as one.
//!
//! One file holds what was taken in, what came of it and who has had it, so that a death between any two steps either
//! finds an event told or tells it again.

use std::collections::{BTreeMap, VecDeque};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::desk::{Desk, Draft, MAX_WAITING, View};
use super::hours::Clock;
use super::notice::Notice;
use super::watch::Watch;
use super::wishes::Wishes;

/// A target with more than these before it is behind: what comes can wait in the guard's journal, where nothing is lost.
const BEHIND: usize = 200;

/// The whole state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Office {
    /// The version of this file's form.
    schema: u32,
    pub(super) watch: Watch,
    last_id: u64,
    #[serde(default)]
    filed: VecDeque<Notice>,
    desks: BTreeMap<String, Desk>,
    #[serde(skip)]
    wishes: BTreeMap<String, Wishes>,
    #[serde(skip)]
    clock: Clock,
    #[serde(skip)]
    gone: Vec<(String, usize)>,
}

/// What every state says first.
#[derive(Deserialize)]
struct Version {
    schema: u32,
}

/// What no state lacks of what is known of the guard, whose other parts came over time.
#[derive(Deserialize)]
struct Place {
    #[serde(rename = "watch")]
    _watch: Cursor,
}

#[derive(Deserialize)]
struct Cursor {
    #[serde(rename = "cursor")]
    _cursor: IgnoredAny,
}

/// The version of the file's form.
const SCHEMA: u32 = 1;
/// The last number that every reader of JSON has exactly.
const LAST_NUMBER: u64 = 1 << 53;
/// Numbers of messages for each millisecond before a start: more than any life uses, and few enough for every reader of JSON.
const NUMBERS_A_MS: u64 = 1_000;

impl Office {
    /// The state that was kept, for these targets. A target that is new hears what comes from now on.
    pub(super) fn of(kept: Option<Self>, wishes: BTreeMap<String, Wishes>, clock: Clock) -> Self {
        let mut office = kept.unwrap_or_default();
        (office.schema, office.clock) = (SCHEMA, clock);
        let last_id = office.last_id;
        let mut before = std::mem::take(&mut office.desks);
        for name in wishes.keys() {
            let desk = before.remove(name).unwrap_or_else(|| Desk::after(last_id));
            office.desks.insert(name.clone(), desk);
        }
        office.wishes = wishes;
        office.gone = before.iter().map(|(name, desk)| (name.clone(), desk.waiting(&office.filed))).collect();
        office.gone.retain(|(_, waiting)| *waiting > 0);
        office.trim();
        office
    }

    /// Targets that are not there any more, and how many messages waited for each.
    pub(super) fn gone(&self) -> &[(String, usize)] {
        &self.gone
    }

    /// The numbers of messages go on from the time: no message of an earlier life has one of these, also where what that one
    /// had counted was not kept.
    pub(super) fn numbered_from(mut self, now_ms: u64) -> Self {
        self.last_id = self.last_id.max(now_ms.saturating_mul(NUMBERS_A_MS));
        self
    }

    /// The state in a file, or why it is none. One that lacks a part, or whose numbers cannot be, would keep quiet of what
    /// happened since, and nobody would know.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let version: Version = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version.schema != SCHEMA {
            return Err("it is of another version".to_owned());
        }
        serde_json::from_str::<Place>(text).map_err(|error| error.to_string())?;
        let office: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let last_id = office.last_id;
        let filed = office.filed.iter().map(|notice| notice.id);
        let highest = filed.chain(office.desks.values().map(Desk::highest)).max().unwrap_or(0);
        if last_id > LAST_NUMBER || highest > last_id {
            return Err("it has numbers of messages that there cannot be".to_owned());
        }
        // Whoever has read an event has a place.
        if office.watch.cursor.is_none() && office.watch.mark.is_some() {
            return Err("it does not say how far the guard's events were read".to_owned());
        }
        Ok(office)
    }

    /// The local time.
    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    /// Files what was noticed, if anybody wants to hear of it. Says whether there was anything.
    pub(super) fn file(&mut self) -> bool {
        let made = self.watch.take();
        let is_news = !made.is_empty();
        for notice in made {
            if !self.wishes.values().any(|wishes| wishes.want(&notice)) {
                continue;
            }
            self.last_id = self.last_id.saturating_add(1);
            self.filed.push_back(Notice { id: self.last_id, ..notice });
        }
        if self.filed.len() > MAX_WAITING {
            for (name, desk) in &mut self.desks {
                self.wishes.get(name).into_iter().for_each(|wishes| desk.make_room(&self.filed, wishes));
            }
            self.trim();
        }
        is_news
    }

    /// Whether every target has so much before it that it could take now, that what comes had better wait where it is.
    pub(super) fn is_behind(&self, now_ms: u64) -> bool {
        if self.filed.len() <= BEHIND {
            return false;
        }
        let mut desks = self.desks.iter().filter_map(|(name, desk)| Some((desk, self.wishes.get(name)?))).peekable();
        let is_any = desks.peek().is_some();
        is_any
            && desks.all(|(desk, wishes)| {
                let is_quiet = wishes.is_quiet(self.clock, now_ms);
                let due = self.filed.iter().filter(|notice| desk.waits_for(notice, wishes, is_quiet));
                due.count() > BEHIND
            })
    }

    /// The next message for a target.
    pub(super) fn next(&mut self, name: &str, now_ms: u64) -> Option<Draft> {
        let (desk, wishes) = (self.desks.get_mut(name)?, self.wishes.get(name)?);
        let open = &self.watch.open;
        desk.next(View { wishes, filed: &self.filed, open, clock: self.clock, now_ms }, &mut self.last_id)
    }

    /// A target took a message.
    pub(super) fn done(&mut self, name: &str, draft: &Draft, now_ms: u64) {
        if let Some(desk) = self.desks.get_mut(name) {
            desk.done(draft, now_ms);
        }
        self.trim();
    }

    /// A target refuses a message, which is kept aside for it. Says whether it is given up for good.
    pub(super) fn refused(&mut self, name: &str, draft: &Draft, now_ms: u64) -> bool {
        let is_lost = self.desks.get_mut(name).is_some_and(|desk| desk.refused(draft, now_ms));
        self.trim();
        is_lost
    }

    /// Whether a target refuses everything, and something waits for it now.
    pub(super) fn is_deaf(&self, name: &str, now_ms: u64) -> bool {
        let desk = self.desks.get(name).zip(self.wishes.get(name));
        desk.is_some_and(|(desk, wishes)| desk.is_deaf(wishes, self.clock, now_ms))
    }

    /// Leaves out what everybody has had.
    fn trim(&mut self) {
        let (desks, wishes) = (&self.desks, &self.wishes);
        let is_done = |notice: &Notice| {
            desks.iter().all(|(name, desk)| {
                desk.has_passed(notice) || wishes.get(name).is_none_or(|wishes| !wishes.want(notice))
            })
        };
        self.filed.retain(|notice| !is_done(notice));
    }
}

#[cfg(test)]
mod tests;
