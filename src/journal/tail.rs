//! The growing end of one journal: which file comes next, what its lines are, and getting them on disk for certain.

use std::fs::File;
use std::io;

use super::chain::{Chain, LineFault, seal};
use super::folder::{Folder, remove};
use super::in_place::is_whole;
use super::segment::{Position, Segment, Stream, header_text};
use crate::base::day::Day;
use crate::faults::{Faults, Step};

/// More files than one turn at a disk begins, each of which may stay there where the next one is tried.
const FILES_OF_A_TURN: u16 = 8;

/// The end of one journal.
pub(crate) struct Tail {
    stream: Stream,
    /// Up to here all is on disk.
    confirmed: Option<Position>,
    /// The last file name taken.
    newest: Option<Segment>,
    /// The file of `confirmed`, to be written on. `None`: the next lines begin a new file.
    file: Option<File>,
    /// Whether there may be unconfirmed bytes after `confirmed`, so that the next file must say where it continues.
    frayed: bool,
}

/// Where a journal ends: up to where it is on disk, and the last file name taken.
#[derive(Clone, Copy)]
pub(crate) struct TailEnd {
    confirmed: Option<Position>,
    newest: Option<Segment>,
}

/// Where the next lines go.
pub(crate) struct Plan {
    pub(crate) segment: Segment,
    pub(crate) offset: u64,
    pub(crate) from: Chain,
    header: Option<String>,
    new: bool,
}

/// Lines made ready to be written.
#[derive(Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    /// Where each record starts and ends in its file, and the chain after it.
    pub(crate) records: Vec<(u64, u64, Chain)>,
}

impl Tail {
    pub(crate) fn new(
        stream: Stream,
        confirmed: Option<Position>,
        newest: Option<Segment>,
        file: Option<File>,
    ) -> Tail {
        Tail { stream, confirmed, newest, file, frayed: false }
    }

    /// One that goes on from this end beside another, which may still begin files of this day: no two have one name.
    pub(crate) fn beyond(stream: Stream, end: TailEnd, day: Day) -> Tail {
        let mut tail = Tail { stream, confirmed: end.confirmed, newest: end.newest, file: None, frayed: true };
        if let Ok(plan) = tail.plan(day) {
            let n = plan.segment.n.saturating_add(FILES_OF_A_TURN);
            tail.newest = Some(Segment { n, ..plan.segment });
        }
        tail
    }

    pub(crate) fn end(&self) -> TailEnd {
        TailEnd { confirmed: self.confirmed, newest: self.newest }
    }

    /// The place up to which all is on disk.
    pub(crate) fn confirmed(&self) -> Option<Position> {
        self.confirmed
    }

    /// Makes the next lines begin a new file.
    pub(crate) fn leave_file(&mut self) {
        self.file = None;
    }

    /// The same, and the next one says where the journal goes on from: what is in this one's place may be anything.
    pub(crate) fn fray(&mut self) {
        self.leave_file();
        self.frayed = true;
    }

    /// The end of a file that is not under its name any more, or not as it was left.
    pub(crate) fn displaced(&self, folder: &Folder) -> Option<Position> {
        let (file, end) = (self.file.as_ref()?, self.confirmed?);
        (!is_whole(&folder.join(&end.segment.name()), file, end.offset)).then_some(end)
    }

    /// Where lines written now go. A clock set back does not lead back to an older day.
    pub(crate) fn plan(&self, day: Day) -> io::Result<Plan> {
        let day = (self.stream == Stream::Events).then_some(day);
        let from = self.confirmed.map_or(Chain::START, |position| position.chain);
        if let Some(position) = self.confirmed.filter(|position| self.file.is_some() && position.segment.day >= day) {
            return Ok(Plan { segment: position.segment, offset: position.offset, from, header: None, new: false });
        }
        let segment = match self.newest {
            Some(newest) if newest.day >= day => {
                let n = newest.n.checked_add(1).ok_or_else(|| io::Error::other("too many files of one day"))?;
                Segment { day: newest.day, n }
            }
            _ => Segment { day, n: 0 },
        };
        let header = self.frayed.then(|| header_text(self.confirmed.as_ref()));
        Ok(Plan { segment, offset: 0, from, header, new: true })
    }

    /// Puts the lines in the plan's file, for certain. After a failure nothing was confirmed, that file is never written or
    /// synced again, and the next plan is for another one.
    pub(crate) fn append(
        &mut self,
        plan: &Plan,
        encoded: &Encoded,
        folder: &Folder,
        faults: &Faults,
    ) -> io::Result<()> {
        match self.try_append(plan, &encoded.bytes, folder, faults) {
            Ok(()) => {
                let end = encoded.records.last();
                self.confirmed =
                    end.map(|(_, offset, chain)| Position { segment: plan.segment, offset: *offset, chain: *chain });
                if plan.new {
                    (self.newest, self.frayed) = (Some(plan.segment), false);
                }
                Ok(())
            }
            Err(error) => {
                self.abandon(plan, folder, error.kind() == io::ErrorKind::AlreadyExists);
                Err(error)
            }
        }
    }

    fn try_append(&mut self, plan: &Plan, bytes: &[u8], folder: &Folder, faults: &Faults) -> io::Result<()> {
        let [create, write, sync, folder_sync] = match self.stream {
            Stream::Events => [Step::EventsCreate, Step::EventsWrite, Step::EventsSync, Step::EventsFolderSync],
            Stream::Risk => [Step::RiskCreate, Step::RiskWrite, Step::RiskSync, Step::RiskFolderSync],
        };
        if plan.new {
            faults.pass(create)?;
            self.file = Some(folder.create(&plan.segment.name(), 0o644)?);
        }
        let file = self.file.as_ref().ok_or(io::ErrorKind::NotFound)?;
        faults.write(write, file, bytes, plan.offset)?;
        faults.pass(sync)?;
        file.sync_data()?;
        if plan.new {
            faults.pass(folder_sync)?;
            folder.sync()?;
        }
        Ok(())
    }

    /// Takes unconfirmed bytes out of sight where that is possible. The header of the next file is what counts.
    fn abandon(&mut self, plan: &Plan, folder: &Folder, taken: bool) {
        let file = self.file.take();
        self.frayed = true;
        if plan.new {
            if taken || remove(&folder.join(&plan.segment.name())).is_err() {
                self.newest = Some(plan.segment);
            }
        } else if let Some(file) = file {
            let _left_to_the_header = file.set_len(plan.offset);
        }
    }
}

impl Plan {
    /// Makes lines of record texts.
    pub(crate) fn encode<'a>(&self, texts: impl Iterator<Item = &'a str>, out: &mut Encoded) -> Result<(), LineFault> {
        out.bytes.clear();
        out.records.clear();
        let mut chain = self.from;
        if let Some(header) = &self.header {
            chain = seal(chain, header, &mut out.bytes)?;
        }
        let end = |bytes: &[u8]| self.offset + u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        for text in texts {
            let start = end(&out.bytes);
            chain = seal(chain, text, &mut out.bytes)?;
            out.records.push((start, end(&out.bytes), chain));
        }
        Ok(())
    }
}
