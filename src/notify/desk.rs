//! The next message of one target: pure. It sees the notices in their order, its own place among them and the time.
//!
//! Its place moves only when the target said yes. What is critical goes by a place of its own, so that it waits behind a few
//! others at most, and quiet hours hold back everything else and nothing more.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

use super::aside::{Again, Aside};
use super::draft::{Draft, Pace, Pick, View};
use super::hours::Clock;
use super::notice::{Notice, Severity};
use super::topics::Topics;
use super::wishes::Wishes;
use super::words::count;
use crate::base::moment::utc;

/// Notices that wait for one target at most.
pub(super) const MAX_WAITING: usize = 400;
/// What is critical waits for its turn behind so many others, and goes before them where there are more.
const MOST_BEFORE: usize = 20;
/// How long that something was left out waits where the target refuses that too.
const LOST_AGAIN_MS: u64 = 900_000;

/// A target's place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Desk {
    /// The last critical notice that it took.
    urgent: u64,
    /// The last other one.
    calm: u64,
    /// Those behind these places that it is not told, for want of room.
    skipped: BTreeSet<u64>,
    /// Those behind these places that it was told before their turn.
    ahead: BTreeSet<u64>,
    /// Notices left out because it took none for too long.
    lost: u64,
    /// When that may be said.
    lost_after_ms: u64,
    /// What it is being told beside the notices, and the number that this message has until it is told.
    own: Option<(String, u64)>,
    /// What it refused.
    aside: Aside,
    #[serde(rename = "told")]
    topics: Topics,
    /// Whether the last that it took was that something lasts still.
    #[serde(skip)]
    is_reminded: bool,
}

impl Desk {
    /// A desk that begins behind this notice.
    pub(super) fn after(id: u64) -> Self {
        Self { urgent: id, calm: id, ..Self::default() }
    }

    /// The highest number of a message that it knows of.
    pub(super) fn highest(&self) -> u64 {
        let beside = self.skipped.last().into_iter().chain(self.ahead.last()).copied();
        let own = self.own.iter().map(|(_, id)| *id);
        beside.chain(own).fold(self.urgent.max(self.calm), u64::max)
    }

    /// Whether the target has had this notice, or waits for another one before it.
    pub(super) fn has_passed(&self, notice: &Notice) -> bool {
        let place = if notice.is_urgent() { self.urgent } else { self.calm };
        notice.id <= place || self.skipped.contains(&notice.id) || self.ahead.contains(&notice.id)
    }

    /// Whether the target is to be told this notice now.
    pub(super) fn waits_for(&self, notice: &Notice, wishes: &Wishes, is_quiet: bool) -> bool {
        !self.has_passed(notice) && wishes.want(notice) && (notice.is_urgent() || !is_quiet)
    }

    /// How many messages wait for the target, whatever it is told of these.
    pub(super) fn waiting(&self, filed: &VecDeque<Notice>) -> usize {
        let filed = filed.iter().filter(|notice| !self.has_passed(notice)).count();
        filed.saturating_add(self.aside.len())
    }

    /// Leaves the oldest of the least important out while more waits for the target than there is room for.
    pub(super) fn make_room(&mut self, filed: &VecDeque<Notice>, wishes: &Wishes) {
        let mut waiting: Vec<&Notice> = filed.iter().filter(|notice| self.waits_for(notice, wishes, false)).collect();
        while waiting.len() > MAX_WAITING {
            let least = waiting.iter().map(|notice| notice.severity).min();
            let Some(place) = waiting.iter().position(|notice| Some(notice.severity) == least) else { return };
            self.skipped.insert(waiting.remove(place).id);
            self.lose();
        }
        if let Some(oldest) = filed.front() {
            self.skipped = self.skipped.split_off(&oldest.id);
        }
    }

    /// A notice is gone before the target took it.
    fn lose(&mut self) {
        self.lost = self.lost.saturating_add(1);
    }

    /// Whether the target refuses everything, and something waits for it now.
    pub(super) fn is_deaf(&self, wishes: &Wishes, clock: Clock, now_ms: u64) -> bool {
        self.aside.is_deaf(wishes.is_quiet(clock, now_ms))
    }

    /// The next message, if one is due; one that is no notice of its own takes the number behind the last.
    pub(super) fn next(&mut self, view: View<'_>, last_id: &mut u64) -> Option<Draft> {
        let mut draft = self.due(view)?;
        let own = match &draft.pick {
            Pick::Repeat(topic) => format!("repeat {topic}"),
            Pick::Lost(lost) => format!("lost {lost}"),
            // Whoever knows a message by its number must not take its title for the whole of it.
            Pick::Again(id, true) => format!("short {id}"),
            Pick::Filed(_) | Pick::Held(_) | Pick::Again(_, false) => return Some(draft),
        };
        let before = self.own.take().filter(|(known, _)| *known == own);
        let (_, id) = self.own.insert(before.unwrap_or_else(|| {
            *last_id = last_id.saturating_add(1);
            (own, *last_id)
        }));
        draft.notice.id = *id;
        Some(draft)
    }

    /// Whatever is critical goes in its order, and the others in theirs.
    fn due(&mut self, view: View<'_>) -> Option<Draft> {
        self.topics.tidy(view);
        self.lost_after_ms = self.lost_after_ms.min(view.now_ms.saturating_add(LOST_AGAIN_MS));
        self.ahead = view.filed.front().map(|oldest| self.ahead.split_off(&oldest.id)).unwrap_or_default();
        self.filed(view, true)
            .or_else(|| self.again(view, true))
            .or_else(|| self.held(view, true))
            // What has been told already must not keep the rest from being told, however slow the target is.
            .or_else(|| self.repeat(view, true).filter(|_| !self.is_reminded))
            .or_else(|| if view.is_quiet() { None } else { self.due_of_others(view) })
            // What it waited behind may be left out by now.
            .or_else(|| self.filed(view, true))
            .or_else(|| self.repeat(view, true))
    }

    fn due_of_others(&mut self, view: View<'_>) -> Option<Draft> {
        if self.lost > 0 && view.now_ms >= self.lost_after_ms {
            return Some(self.left_out(view.now_ms));
        }
        self.again(view, false)
            .or_else(|| self.filed(view, false))
            .or_else(|| self.held(view, false))
            .or_else(|| self.repeat(view, false))
    }

    /// What was refused before and is tried again.
    fn again(&mut self, view: View<'_>, only_urgent: bool) -> Option<Draft> {
        let Again { notice, in_short } = self.aside.due(only_urgent, view.now_ms)?;
        let pick = Pick::Again(notice.id, in_short);
        Some(Draft { notice, pick })
    }

    /// The next notice of those that are critical, or of the others.
    fn filed(&mut self, view: View<'_>, is_urgent: bool) -> Option<Draft> {
        // Whether the guard is there at all waits behind nothing that it said before.
        let first = view.filed.iter().filter(|notice| is_of_life(notice));
        for notice in first.chain(view.filed).filter(|notice| notice.is_urgent() == is_urgent) {
            if self.has_passed(notice) {
                continue;
            }
            self.topics.void_by(notice);
            if view.wishes.want(notice) && !self.topics.is_held_back(notice, view) {
                if is_urgent && self.has_its_turn_later(notice, view) {
                    return None;
                }
                return Some(Draft { notice: notice.clone(), pick: Pick::Filed(notice.id) });
            }
            self.pass(notice);
        }
        None
    }

    /// Whether a critical notice waits for the others before it: for a few, where they may be told now and are soon told.
    fn has_its_turn_later(&self, notice: &Notice, view: View<'_>) -> bool {
        let waits = |other: &&Notice| !other.is_urgent() && self.waits_for(other, view.wishes, false);
        let before = view.filed.iter().take_while(|other| other.id < notice.id).filter(waits).count();
        view.pace == Pace::Brisk && !view.is_quiet() && !is_of_life(notice) && (1..=MOST_BEFORE).contains(&before)
    }

    /// What was held back, now that its pause is over.
    fn held(&self, view: View<'_>, only_urgent: bool) -> Option<Draft> {
        let (notice, place) = self.topics.held(view, only_urgent)?;
        Some(Draft { notice, pick: Pick::Held(place) })
    }

    /// What lasts and is to be told again.
    fn repeat(&self, view: View<'_>, only_urgent: bool) -> Option<Draft> {
        view.open.values().find_map(|notice| {
            let span_ms = view.wishes.repeat_ms(&notice.code)?;
            if !view.wishes.want(notice) || (only_urgent && !notice.is_urgent()) {
                return None;
            }
            let topic = notice.topic();
            let last_ms = self.topics.told_ms(&topic).unwrap_or(notice.at_ms);
            if view.now_ms.saturating_sub(last_ms) < span_ms {
                return None;
            }
            let title = format!("Still: {} (since {})", notice.title, utc(notice.at_ms));
            Some(Draft { notice: Notice { title, at_ms: view.now_ms, ..notice.clone() }, pick: Pick::Repeat(topic) })
        })
    }

    fn left_out(&self, now_ms: u64) -> Draft {
        let title = format!("{} left out", count(usize::try_from(self.lost).unwrap_or(usize::MAX), "message"));
        let notice = Notice::once("notifier", "left_out", Severity::Warning, title).words(
            "They were not taken here for too long, or were refused for a day, and there was no room to keep them.",
            "It goes on, and what lasts is told all the same.",
            "Look at the guard's page, its journal and the notifier's log.",
        );
        Draft { notice: notice.at(now_ms), pick: Pick::Lost(self.lost) }
    }

    /// The target said yes.
    pub(super) fn done(&mut self, draft: &Draft, wishes: &Wishes, now_ms: u64) {
        self.aside.heard(now_ms);
        self.own.take_if(|(_, id)| *id == draft.notice.id);
        self.is_reminded = matches!(draft.pick, Pick::Repeat(_));
        match &draft.pick {
            Pick::Again(id, in_short) => self.aside.taken(*id, *in_short, now_ms),
            Pick::Lost(told) => self.lost = self.lost.saturating_sub(*told),
            Pick::Filed(_) | Pick::Held(_) | Pick::Repeat(_) => self.had(draft, wishes, now_ms),
        }
    }

    /// The target refuses this one, which goes on beside the others. Says whether it is given up for good.
    pub(super) fn refused(&mut self, draft: &Draft, wishes: &Wishes, now_ms: u64) -> bool {
        self.own.take_if(|(_, id)| *id == draft.notice.id);
        self.is_reminded = matches!(draft.pick, Pick::Repeat(_));
        let is_lost = match &draft.pick {
            Pick::Again(id, _) => self.aside.again(*id, now_ms),
            Pick::Lost(_) => {
                self.lost_after_ms = now_ms.saturating_add(LOST_AGAIN_MS);
                false
            }
            Pick::Filed(_) | Pick::Held(_) => {
                self.had(draft, wishes, now_ms);
                self.aside.put(draft.notice.clone(), now_ms)
            }
            // It comes again by itself.
            Pick::Repeat(_) => {
                self.had(draft, wishes, now_ms);
                false
            }
        };
        if is_lost {
            self.lose();
        }
        is_lost
    }

    /// The place moves behind this one.
    fn had(&mut self, draft: &Draft, wishes: &Wishes, now_ms: u64) {
        if matches!(draft.pick, Pick::Filed(_)) {
            self.pass(&draft.notice);
        }
        self.topics.told(draft, wishes, now_ms);
    }

    fn pass(&mut self, notice: &Notice) {
        if is_of_life(notice) {
            self.ahead.insert(notice.id);
            return;
        }
        let place = if notice.is_urgent() { &mut self.urgent } else { &mut self.calm };
        *place = (*place).max(notice.id);
    }
}

/// Whether it says that the guard does not answer or is not well, or that this is over: what is known of it and not from it.
fn is_of_life(notice: &Notice) -> bool {
    notice.kind == "health"
}
