//! The notices in their order and each target's place among them: pure, and kept on disk as one.
//!
//! One file holds what was taken in, what came of it and who has had it, so that a death between any two steps either
//! finds an event told or tells it again.

use std::collections::{BTreeMap, VecDeque};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::desk::{Desk, MAX_WAITING};
use super::draft::{Draft, Pace, View};
use super::hours::Clock;
use super::notice::Notice;
use super::watch::Watch;
use super::wishes::Wishes;
use crate::record::event::Event;
use crate::record::status::Status;

/// Why events whose notices waited are missed where the journal has become another one.
const ANOTHER_JOURNAL: &str = "the journal in which they stood is another one now";
/// A target with more than these before it is behind: what comes can wait in the guard's journal, where nothing is lost. It is read on
/// from there when there are half as many.
const BEHIND: usize = 200;

/// The whole state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Office {
    /// The version of this file's form.
    schema: u32,
    pub(super) watch: Watch,
    /// The same watch further back, where targets are behind: it stands at the first event whose notices wait in the guard's
    /// journal. What is critical does not wait there, so the watch goes on, and this one makes the others good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    later: Option<Box<Watch>>,
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
        if office.later.as_ref().is_some_and(|later| later.cursor.is_none() || later.cursor > office.watch.cursor) {
            return Err("it says that events are told of which were not read".to_owned());
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
        self.file_all(made)
    }

    fn file_all(&mut self, made: Vec<Notice>) -> bool {
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

    /// Takes an event in and files what came of it; where every target is behind, only what is critical. Says whether there was
    /// anything.
    pub(super) fn event(&mut self, event: &Event<'_>) -> bool {
        if self.later.is_none() && self.watch.cursor.is_some() && self.is_behind(BEHIND) {
            self.later = Some(Box::new(self.watch.clone()));
        }
        self.watch.event(event);
        let mut made = self.watch.take();
        if self.later.is_some() {
            made.retain(Notice::is_urgent);
        }
        self.file_all(made)
    }

    /// Where events are read on from whose notices wait in the guard's journal, if there is room for these now.
    pub(super) fn later(&self) -> Option<u64> {
        self.later.as_ref().filter(|_| !self.is_behind(BEHIND / 2))?.cursor
    }

    /// Takes in events that were taken in before and whose notices waited, as many as there is room for; those missing among them
    /// are missing for this reason. Says whether it moved on, and whether anything was filed.
    pub(super) fn event_later(&mut self, events: &[Event<'_>], not_there: String, now_ms: u64) -> (bool, bool) {
        let Some(mut later) = self.later.take() else { return (false, false) };
        let before = later.cursor;
        later.not_in_journal = not_there;
        let (mut is_news, mut has_room) = (false, true);
        // Whatever is behind the watch is news to that one.
        let end = self.watch.cursor;
        for event in events.iter().take_while(|event| Some(event.seq) <= end) {
            later.event(event);
            is_news |= self.file_others(later.take());
            has_room = !self.is_behind(BEHIND);
            if !has_room {
                break;
            }
        }
        let is_beyond = events.last().is_some_and(|event| Some(event.seq) > end);
        if let Some(end) = end.filter(|_| has_room && is_beyond) {
            later.gone_up_to(end, now_ms);
            is_news |= self.file_others(later.take());
        }
        let is_moved = later.cursor != before;
        self.later = Some(later).filter(|later| later.cursor < end);
        (is_moved, is_news)
    }

    /// Files what is not critical of these.
    fn file_others(&mut self, mut made: Vec<Notice>) -> bool {
        made.retain(|notice| !notice.is_urgent());
        self.file_all(made)
    }

    /// Whether another guard answers now than before. What waited in the journal of that one is missed.
    pub(super) fn is_another(&mut self, status: &Status, now_ms: u64) -> bool {
        let is_another = self.watch.is_another(status);
        if is_another {
            self.begin_anew(now_ms);
        }
        is_another
    }

    /// The guard's events do not go on where they ended: what waited in its journal is missed, and it is told how many events that
    /// are.
    pub(super) fn begin_anew(&mut self, now_ms: u64) {
        let Some((mut later, end)) = self.later.take().zip(self.watch.cursor) else { return };
        later.not_in_journal = ANOTHER_JOURNAL.to_owned();
        later.gone_up_to(end, now_ms);
        self.file_others(later.take());
    }

    /// Whether every target has so much that is critical before it, that even that had better wait where it is.
    pub(super) fn is_full(&self) -> bool {
        self.have_all(BEHIND, |desk, notice, wishes| notice.is_urgent() && desk.waits_for(notice, wishes, true))
    }

    /// Whether every target has so much before it, for now or for the end of its quiet hours, that what comes had better wait where
    /// it is.
    fn is_behind(&self, most: usize) -> bool {
        self.have_all(most, |desk, notice, wishes| desk.waits_for(notice, wishes, false))
    }

    /// Whether every target has more than so many of these before it.
    fn have_all(&self, most: usize, is_counted: impl Fn(&Desk, &Notice, &Wishes) -> bool) -> bool {
        if self.filed.len() <= most {
            return false;
        }
        let mut desks = self.desks.iter().filter_map(|(name, desk)| Some((desk, self.wishes.get(name)?))).peekable();
        let is_any = desks.peek().is_some();
        let count = |(desk, wishes)| self.filed.iter().filter(|notice| is_counted(desk, notice, wishes)).count();
        is_any && desks.all(|of| count(of) > most)
    }

    /// The next message for a target that takes them so.
    pub(super) fn next(&mut self, name: &str, pace: Pace, now_ms: u64) -> Option<Draft> {
        let (desk, wishes) = (self.desks.get_mut(name)?, self.wishes.get(name)?);
        let open = &self.watch.open;
        desk.next(View { wishes, filed: &self.filed, open, clock: self.clock, now_ms, pace }, &mut self.last_id)
    }

    /// The newest of what is critical that a target is still to be told.
    pub(super) fn newest_urgent(&self, name: &str) -> Option<u64> {
        let (desk, wishes) = (self.desks.get(name)?, self.wishes.get(name)?);
        self.filed
            .iter()
            .rev()
            .find(|notice| notice.is_urgent() && desk.waits_for(notice, wishes, true))
            .map(|notice| notice.id)
    }

    /// A target took a message.
    pub(super) fn done(&mut self, name: &str, draft: &Draft, now_ms: u64) {
        if let Some((desk, wishes)) = self.desks.get_mut(name).zip(self.wishes.get(name)) {
            desk.done(draft, wishes, now_ms);
        }
        self.trim();
    }

    /// A target refuses a message, which is kept aside for it. Says whether it is given up for good.
    pub(super) fn refused(&mut self, name: &str, draft: &Draft, now_ms: u64) -> bool {
        let desk = self.desks.get_mut(name).zip(self.wishes.get(name));
        let is_lost = desk.is_some_and(|(desk, wishes)| desk.refused(draft, wishes, now_ms));
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
