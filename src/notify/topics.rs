//! The topics that one target was told of, and all that is held back of them since: pure.
//!
//! Bounded, and nothing is thrown away uncounted: a topic is forgotten when nothing of it is held back and its pause is over.
//! Where so many are remembered that a new one finds no room, what happens once shares a place with the others of its code.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::draft::{Draft, Pick, View};
use super::notice::{Notice, Turn};
use super::wishes::Wishes;
use super::words::count;
use crate::base::moment::utc;

/// Topics whose last message is remembered before those that happen once share a place, and places at most.
const MAX_TOLD: usize = 256;
const MAX_PLACES: usize = 1_024;
/// The end of the name of a place that topics of one code share; no topic has such a letter.
const SHARED: &str = "\n";

/// The notices of one closing: each takes the place of what was held back of the others.
const OF_CLOSING: [&str; 3] = ["flat", "flat_ended", "flat_unconfirmed"];
/// With the end of one of these its closing is over as well.
const CLOSES: [&str; 3] = ["kill", "halted_for_day", "stopped"];

/// When a topic was told last, and what came since. A topic has one of these for its beginnings and its ends, so that the
/// last that is told of it is how it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Told {
    /// When it was told to be, and not when it was told to be over.
    at_ms: u64,
    /// How long it is not told again.
    pause_ms: u64,
    /// Whether it was told to be over since.
    is_over: bool,
    /// How often it was again since.
    held: usize,
    /// The newest that was held back.
    last: Option<Notice>,
}

/// The topics, by the name of their place.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Topics(BTreeMap<String, Told>);

impl Topics {
    /// Makes good for a machine whose clock was set back, which must not keep what is due from being told; and forgets what is of no
    /// use any more, where there are many. Of something that lasts it says when that is told again.
    pub(super) fn tidy(&mut self, view: View<'_>) {
        self.0.values_mut().for_each(|told| told.at_ms = told.at_ms.min(view.now_ms));
        if self.0.len() < MAX_TOLD {
            return;
        }
        let is_in_use = |topic: &String, told: &mut Told| {
            let is_resting = view.now_ms.saturating_sub(told.at_ms) < told.pause_ms;
            told.last.is_some() || is_resting || view.open.contains_key(topic)
        };
        self.0.retain(is_in_use);
    }

    fn len_of_own(&self) -> usize {
        self.0.keys().filter(|name| !name.ends_with(SHARED)).count()
    }

    /// The name of a notice's place.
    fn place(&self, notice: &Notice) -> String {
        let topic = notice.topic();
        let has_own = self.0.contains_key(&topic) || self.len_of_own() < MAX_TOLD;
        if has_own || notice.turn != Turn::Once { topic } else { format!("{}{SHARED}", notice.code) }
    }

    /// When a topic was told to be.
    pub(super) fn told_ms(&self, topic: &str) -> Option<u64> {
        self.0.get(topic).map(|told| told.at_ms)
    }

    /// Forgets what was held back and is not so any more: a flat account is told of by more than one topic, and the last that is
    /// told must be how it is.
    pub(super) fn void_by(&mut self, notice: &Notice) {
        let code = notice.code.as_str();
        let is_end = notice.turn == Turn::Over && CLOSES.contains(&code);
        if is_end || OF_CLOSING.contains(&code) {
            let held = self.0.iter_mut().filter(|(topic, _)| *topic != code && OF_CLOSING.contains(&topic.as_str()));
            held.for_each(|(_, told)| (told.held, told.last) = (0, None));
        }
    }

    /// Whether another was told last of what a closing has come to: then this is no more of the same.
    fn tells_another(&self, notice: &Notice) -> bool {
        let of_closing = OF_CLOSING.into_iter().filter_map(|code| Some((code, self.0.get(code)?.at_ms)));
        let (others, own): (Vec<_>, Vec<_>) = of_closing.partition(|(code, _)| *code != notice.code);
        own.first().is_some_and(|(_, own_ms)| others.iter().any(|(_, other_ms)| other_ms >= own_ms))
    }

    /// Whether the topic was told just now; then it is counted, and told with the others when its pause ends. That it is over is
    /// told at once where it was told to be, and with the others where they are held back.
    pub(super) fn is_held_back(&mut self, notice: &Notice, view: View<'_>) -> bool {
        let pause_ms = view.wishes.cooldown_ms(notice);
        let is_changed = self.tells_another(notice);
        let place = self.place(notice);
        let Some(told) = self.0.get_mut(&place).filter(|_| !is_changed) else { return false };
        let ends = notice.turn == Turn::Over;
        if view.now_ms.saturating_sub(told.at_ms) >= pause_ms || (ends && !told.is_over) {
            return false;
        }
        told.held = told.held.saturating_add(usize::from(!ends));
        told.last = Some(notice.clone());
        true
    }

    /// What was held back, now that its pause is over, with the name of its place.
    pub(super) fn held(&self, view: View<'_>, only_urgent: bool) -> Option<(Notice, String)> {
        self.0.iter().find_map(|(place, told)| {
            let last = told.last.as_ref().filter(|last| last.is_urgent() || !only_urgent)?;
            if view.now_ms.saturating_sub(told.at_ms) < view.wishes.cooldown_ms(last) {
                return None;
            }
            let which = if place.ends_with(SHARED) { ", of one kind or another," } else { "" };
            let more = format!("{} more{which} since {}", count(told.held, "time"), utc(told.at_ms));
            let title = format!("{} ({more})", last.title);
            Some((Notice { title, ..last.clone() }, place.clone()))
        })
    }

    /// A message was told: whatever of its topic was held back is older, and is not told behind it.
    pub(super) fn told(&mut self, draft: &Draft, wishes: &Wishes, now_ms: u64) {
        let Draft { notice, pick } = draft;
        let place = if let Pick::Held(place) = pick { place.clone() } else { self.place(notice) };
        if notice.turn == Turn::Over {
            if let Some(told) = self.0.get_mut(&place) {
                *told = Told { at_ms: told.at_ms, pause_ms: told.pause_ms, is_over: true, ..Told::default() };
            }
            return;
        }
        // What finds no room is told again without a pause, and so is not lost. What is repeated lasts, and few things do.
        let has_room = self.0.len() < MAX_PLACES || self.0.contains_key(&place);
        if has_room || matches!(pick, Pick::Repeat(_)) {
            let pause_ms = wishes.cooldown_ms(notice);
            self.0.insert(place, Told { at_ms: now_ms, pause_ms, ..Told::default() });
        }
    }
}
