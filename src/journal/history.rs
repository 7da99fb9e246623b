//! The work behind the journal's live end, for a thread of its own: filling the gaps of the index, and verifying the days
//! that a start does not read. Reads the journal's files beside the writer and never holds it up.

use super::error::{OpenError, What};
use super::folder::Folders;
use super::index::Index;
use super::index::entry::{Location, entries};
use super::index::table::MemTable;
use super::segment::{Position, Scanner, SegmentsNewestFirst, Stream, damage};
use super::stored::keys_of;

use std::sync::Arc;

/// The part of a journal that lies before what was verified when it was opened.
pub struct History {
    folders: Folders,
    index: Arc<Index>,
    until: Option<Position>,
}

impl std::fmt::Debug for History {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("History").field("until", &self.until).finish_non_exhaustive()
    }
}

impl History {
    pub(super) fn new(folders: Folders, index: Arc<Index>, until: Option<Position>) -> History {
        History { folders, index, until }
    }

    /// Fills the index, verifies the older days, and then fills each gap of the index as it comes up, until the journal is
    /// closed. `report` hears of damage to the older days.
    pub fn run(&self, report: impl Fn(&OpenError)) {
        // Look-ups wait for the index, and nobody for the verification.
        self.fill_gaps();
        if let Err(damage) = self.verify() {
            report(&damage);
        }
        while self.index.wait() {
            self.fill_gaps();
        }
    }

    /// Verifies the older days, from the first on, one line in memory at a time. Ends early, without complaint, once the
    /// journal is closed.
    pub fn verify(&self) -> Result<(), OpenError> {
        let Some(until) = self.until else { return Ok(()) };
        let mut files = SegmentsNewestFirst::of(&self.folders, Stream::Events)?.all()?;
        files.retain(|file| file.segment <= until.segment);
        let mut scanner = Scanner::of_all(&self.folders, files)?;
        let mut reached = None;
        while !self.index.is_closed() {
            if self.index.is_woken() && self.index.wait() {
                self.fill_gaps();
            }
            if !scanner.advance()? {
                let path = self.folders.main.join(&until.segment.name());
                let what = What::Short { reached: until.offset, says: "the start of the service" };
                return Err(damage(&path, reached.map_or(0, |position: Position| position.offset), what).into());
            }
            reached = scanner.position();
            if reached == Some(until) {
                break;
            }
            if reached.is_some_and(|position| Location::from(&position) >= Location::from(&until)) {
                return Err(scanner.refuse(What::NotTheCheckpoint));
            }
        }
        Ok(())
    }

    /// A gap that cannot be filled now is tried again when a look-up meets it; until then look-ups say that they wait.
    fn fill_gaps(&self) {
        while let Some((from, to)) = self.index.gap() {
            if !matches!(self.fill(from, to), Ok(true)) {
                return;
            }
        }
    }

    /// Reads one gap from the journal into the index. False when the journal was closed meanwhile, or ends before the gap.
    fn fill(&self, from: Option<Position>, to: Position) -> Result<bool, OpenError> {
        let unwritten = OpenError::io(self.folders.main.path());
        let mut files = SegmentsNewestFirst::of(&self.folders, Stream::Events)?.all()?;
        files.retain(|file| from.is_none_or(|from| file.segment >= from.segment));
        let mut scanner = match from {
            Some(_) => Scanner::new(&self.folders, files, from),
            None => Scanner::of_all(&self.folders, files)?,
        };
        let mut table = MemTable::after(from);
        while table.to != Some(to) {
            if self.index.is_closed() || !scanner.advance()? {
                return Ok(false);
            }
            let (Some((segment, offset, body)), Some(end)) = (scanner.record(), scanner.position()) else {
                return Ok(false);
            };
            let start = Location { segment, offset };
            if start >= Location::from(&to) {
                // The gap ends behind a header, which is no event.
                break;
            }
            let keys = keys_of(body).map_err(|fault| scanner.refuse(What::Line(fault)))?;
            if let Some(full) = table.add(entries(&keys, start), end) {
                self.index.insert(full).map_err(&unwritten)?;
            }
        }
        table.to = Some(to);
        self.index.insert(table).map_err(&unwritten)?;
        Ok(true)
    }
}
