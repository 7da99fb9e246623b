//! Rows that the guard told to be missing in the book, until they have come.

use super::question::Question;
use crate::base::text::visible;
use crate::record::lack::Lack;
use crate::record::money::Fill;

/// Most characters of what the guard told.
const MOST_SHOWN: usize = 200;
/// As many as this are followed until they have come; of more it is only counted that they were told.
const MOST: usize = 1_024;

/// All of it.
#[derive(Debug, Default)]
pub(super) struct Lacks {
    /// Fills that a position says to be missing, with the guard's words.
    awaited: Vec<(Lack, String)>,
    /// How often more was told that nothing shows to have come, and the last words.
    others: u64,
    last_text: String,
}

impl Lacks {
    /// The guard told at this moment that rows are missing, in a time that is asked about or not.
    pub(super) fn add(&mut self, lack: Lack, text: &str, at_ms: u64, question: &Question) {
        let (from_ms, to_ms) = (lack.from_ms.unwrap_or(at_ms), lack.to_ms.unwrap_or(at_ms));
        let (first_ms, end_ms) = question.span();
        if from_ms >= end_ms || first_ms > to_ms {
            return;
        }
        let text = visible(text, MOST_SHOWN);
        if lack.size.is_some() && self.awaited.len() < MOST {
            self.awaited.push((lack, text));
        } else {
            self.others = self.others.saturating_add(1);
            self.last_text = text;
        }
    }

    /// Takes in a fill that the journal tells of later.
    pub(super) fn take(&mut self, fill: &Fill) {
        self.awaited.retain_mut(|(lack, _)| !lack.take(fill));
    }

    /// How often it was told of what has not come.
    pub(super) fn count(&self) -> u64 {
        self.others.saturating_add(u64::try_from(self.awaited.len()).unwrap_or(u64::MAX))
    }

    /// The guard's words about one of them; empty where there is none.
    pub(super) fn text(&self) -> &str {
        self.awaited.last().map_or(&self.last_text, |(_, text)| text)
    }
}
