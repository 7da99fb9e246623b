//! The work behind the journal's live end, for a thread of its own: filling the gaps of the index, and verifying the days
//! that a start does not read. Reads the journal's files beside the writer and never holds it up.

use super::error::{OpenError, What};
use super::folders::Folders;
use super::index::Index;
use super::index::entry::{Location, entries};
use super::index::table::MemTable;
use super::segment::{Position, Scanner, Segment, SegmentsNewestFirst, Stream, damage};
use super::stored::keys_of;

use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::time::Duration;

/// How often the files of damaged days are looked at: who puts them back is told so without a restart.
const LOOK: Duration = Duration::from_secs(2);

/// A file as it stands in its folder, for telling whether somebody changed it.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Trace {
    name: String,
    file: u64,
    size: u64,
    at: (i64, i64),
}

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
    /// closed. `report` hears of damage to the older days, and of `None` once it is gone.
    pub fn run(&self, report: impl Fn(Option<&OpenError>)) {
        // Look-ups wait for the index, and nobody for the verification.
        self.fill_gaps();
        let mut damaged = self.look(false, &report);
        while self.index.wait(damaged.as_ref().map(|_| LOOK)) {
            self.fill_gaps();
            if damaged.is_some() && damaged != Some(self.older_files()) {
                damaged = self.look(true, &report);
            }
        }
    }

    /// Verifies the older days and tells what is new; their files as they were, where they are damaged.
    fn look(&self, was_damaged: bool, report: impl Fn(Option<&OpenError>)) -> Option<Vec<Trace>> {
        let files = self.older_files();
        match self.verify() {
            Err(damage) => report(Some(&damage)),
            // Verifying ends early, without complaint, once the journal is closed.
            Ok(()) if self.index.is_closed() => {}
            Ok(()) => {
                if was_damaged {
                    report(None);
                }
                return None;
            }
        }
        Some(files)
    }

    /// What the folders hold of the days before the one that was verified at the start, whatever its owner made of them.
    fn older_files(&self) -> Vec<Trace> {
        let mut found = Vec::new();
        for folder in self.folders.all() {
            // A folder that cannot be read now is one more change once it can.
            let mut names = folder.names().unwrap_or_default();
            let is_newer = |name: &str| Segment::parse(name).is_some_and(|segment| !self.is_older(segment));
            names.retain(|name| name.starts_with("events-") && !is_newer(name));
            let trace = |name: String| {
                let meta = std::fs::symlink_metadata(folder.join(&name)).ok()?;
                Some(Trace { name, file: meta.ino(), size: meta.size(), at: (meta.mtime(), meta.mtime_nsec()) })
            };
            found.extend(names.into_iter().filter_map(trace));
        }
        found.sort_unstable();
        found
    }

    fn is_older(&self, segment: Segment) -> bool {
        self.until.is_some_and(|until| segment < until.segment)
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
            if self.index.is_woken() && self.index.wait(None) {
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
