//! Opens a journal to be written: locks it, completes the batch that a killed process left unfinished, and verifies what
//! the service is about to rely on. Whatever else is not as it was written is refused; nothing is repaired.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::de::IgnoredAny;

use super::carry::carry_over;
use super::chain::{Chain, LineFault, MAX_LINE, seal};
use super::error::{OpenError, What};
use super::folder::Folder;
use super::folders::Folders;
use super::history::History;
use super::index::Index;
use super::index::entry::{Location, entries};
use super::lock::lock;
use super::redo;
use super::seen::place_of;
use super::segment::{
    Position, Scanner, Segment, SegmentRef, SegmentsNewestFirst, Stream, count_back, damage, has_older, list,
    stated_chain,
};
use super::store::{Parts, Store};
use super::stored::StoredEvent;
use super::tail::Tail;
use super::vouch;
use super::witness::{self, Witness};
use crate::faults::Faults;
use crate::record::event::Kind;
use crate::record::risk_record::{Checkpoint, RiskRecord};

/// Events read at start also when the last checkpoint is nearer.
const RECENT: u64 = 1000;

/// How a journal is opened.
#[derive(Clone, Default)]
pub struct Options {
    /// A folder of this journal's own on another disk, which takes over when the journal's folder fails. It is made
    /// where missing; once used, the journal is not opened without it.
    pub fallback: Option<PathBuf>,
    /// A file outside the journal's folder that says where its events end, so that an older copy of it all is refused.
    pub witness: Option<PathBuf>,
    /// How many clients share what a full disk keeps for their exits.
    pub clients: usize,
    /// Makes steps fail, in builds that can.
    pub faults: Faults,
    /// Members with their values that the risk journal's first record and every `started` event must agree with, so that a
    /// journal of another account or mode is refused. A record without the member is accepted.
    pub owner: Vec<(&'static str, String)>,
}

/// The contents of a journal that its owner goes on from.
#[derive(Debug)]
pub struct Opened {
    /// All risk records in order, of the checkpoints only the last: their texts.
    pub risk: Vec<String>,
    /// The events since the last checkpoint, and at least the last 1,000 there are.
    pub events: LastEvents,
    /// The highest `seq` given out; 0 before the first event.
    pub last_seq: u64,
    /// The events before these, not verified yet.
    pub history: History,
}

/// Why there is nothing to open: none was begun, or it was taken away.
fn no_journal(dir: &Path, options: &Options) -> OpenError {
    let is_lost = options.witness.as_ref().is_some_and(|witness| witness.symlink_metadata().is_ok());
    if is_lost { OpenError::Lost(dir.to_owned()) } else { OpenError::NoRiskJournal(dir.to_owned()) }
}

/// Opens the journal in `dir` (a folder of its own, mode 0755), which [`create_risk`] has started.
pub fn open(dir: &Path, options: &Options) -> Result<(Store, Opened), OpenError> {
    if std::fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(no_journal(dir, options));
    }
    let lock = lock(&Folder::own(dir)?)?;
    let folders = Folders::own(dir, options.fallback.as_deref())?;
    if list(&folders, Stream::Risk)?.is_empty() {
        refuse_orphans(&folders)?;
        return Err(no_journal(dir, options));
    }
    redo::complete(&folders, &options.faults)?;

    let risk = read_risk(&folders, &options.owner)?;
    let index = Arc::new(Index::open(&folders, options.faults.clone())?);
    let events = read_events(&folders, &risk, &index, &options.owner)?;
    let ends = vouch::Ends {
        first_risk: risk.first,
        risk: risk.end,
        events: events.end,
        saw_events: risk.saw_events,
        saw_risk: events.saw_risk,
        is_closed: events.is_closed,
    };
    vouch::check(&folders, &ends)?;
    options.witness.as_ref().map_or(Ok(()), |path| witness::check(path, &folders))?;
    let risk_end = risk.end.map(|end| carry_over(&folders, &risk.records, risk.bytes, end));
    let last_seq = events.last_seq.max(risk.checkpoint_seq);

    let parts = Parts {
        events: resume(&folders, Stream::Events, events.end)?,
        risk: resume(&folders, Stream::Risk, risk_end)?,
        folders: folders.clone(),
        witness: Witness::new(options.witness.clone(), events.end),
        clients: options.clients,
        faults: options.faults.clone(),
        index: Arc::clone(&index),
        lock,
    };
    let events = LastEvents { folders: folders.clone(), files: events.files, from: events.from, end: events.end };
    let history = History::new(folders, index, events.from);
    Ok((Store::new(parts)?, Opened { risk: risk.records, events, last_seq, history }))
}

/// Verifies the risk journal in `dir`, which nobody writes meanwhile, as [`open`] does, and that it is none of before what the
/// `witness` says, and leaves everything as it is. A last line that is cut off is none of its business: a start makes it whole,
/// or says what is missing.
pub fn check_risk(dir: &Path, owner: &[(&'static str, String)], witness: Option<&Path>) -> Result<(), OpenError> {
    if std::fs::symlink_metadata(dir).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
        return Err(OpenError::NoRiskJournal(dir.to_owned()));
    }
    let folders = Folders::of(dir)?;
    let checked =
        read_risk(&folders, owner).and_then(|_| witness.map_or(Ok(()), |path| witness::check(path, &folders)));
    let is_cut = |error: &OpenError| matches!(error, OpenError::Damaged(damage) if matches!(damage.what, What::Line(LineFault::Cut)));
    checked.or_else(|error| if is_cut(&error) { Ok(()) } else { Err(error) })
}

/// Starts a risk journal in `dir` with its first record (one JSON object on one line). Never replaces one. What the `witness` says of
/// one that was set aside is forgotten.
pub fn create_risk(dir: &Path, first_record: &str, witness: Option<&Path>) -> Result<(), OpenError> {
    let folder = Folder::own(dir)?;
    let _held = lock(&folder)?;
    let folders = Folders::of(dir)?;
    if let Some(there) = list(&folders, Stream::Risk)?.first() {
        return Err(OpenError::Exists(folder.join(&there.name())));
    }
    refuse_orphans(&folders)?;
    let name = Segment { day: None, n: 0 }.name();
    let failed = OpenError::io(dir);
    let mut line = Vec::new();
    seal(Chain::START, first_record, &mut line).map_err(|fault| failed(io::Error::other(fault)))?;
    folder.replace(&name, &line).map_err(&failed)?;
    match witness.map_or(Ok(()), std::fs::remove_file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(error)),
        _ => Ok(()),
    }
}

/// Refuses events whose risk journal is gone: with a new one nothing would be known of their halts.
fn refuse_orphans(folders: &Folders) -> Result<(), OpenError> {
    let Some(events) = list(folders, Stream::Events)?.last().copied() else { return Ok(()) };
    let risk = Segment { day: None, n: 0 }.name();
    Err(damage(&folders.main.join(&risk), 0, What::Gone { beside: events.name() }).into())
}

/// The end of a journal to write on: its last file, if that stands where it belongs.
fn resume(folders: &Folders, stream: Stream, end: Option<Position>) -> Result<Tail, OpenError> {
    let newest = list(folders, stream)?.last().copied();
    let file = match end {
        Some(position) if newest == Some(position.segment) => folders.main.open(&position.segment.name(), true)?,
        _ => None,
    };
    Ok(Tail::new(stream, end, newest, file))
}

/// The risk journal as a start finds it.
#[derive(Default)]
struct Risk {
    records: Vec<String>,
    /// The last record of each position's line since the last checkpoint, which holds them all.
    lines: BTreeMap<u32, String>,
    /// Where among the records the last checkpoint stands.
    last_checkpoint: Option<usize>,
    /// The last event that it covers.
    checkpoint_seq: u64,
    /// The place of the events that it names.
    checkpoint: Option<Position>,
    /// The last place of the event journal that a record names.
    saw_events: Option<Position>,
    /// The first file that was read.
    first: Option<Segment>,
    /// What was read, bytes.
    bytes: u64,
    end: Option<Position>,
}

/// Verifies and reads the whole risk journal.
fn read_risk(folders: &Folders, owner: &[(&'static str, String)]) -> Result<Risk, OpenError> {
    let mut risk = Risk::default();
    let mut scanner = Scanner::new(folders, SegmentsNewestFirst::of(folders, Stream::Risk)?.all()?, None);
    while scanner.advance()? {
        let not_json = || scanner.refuse(What::Line(LineFault::NotJson));
        let text = scanner.record().and_then(|(_, _, body)| std::str::from_utf8(body).ok()).ok_or_else(not_json)?;
        let record = RiskRecord::parse(text);
        if record.is_none() && serde_json::from_str::<IgnoredAny>(text).is_err() {
            return Err(not_json());
        }
        match &record {
            Some(RiskRecord::Init(init)) if risk.records.is_empty() => {
                let stated = [&init.account[..], &init.mode[..], &init.account_network[..]];
                refuse_foreign(&scanner, stated, owner)?;
            }
            _ if risk.records.is_empty() => return Err(scanner.refuse(What::NoBeginning)),
            _ => {}
        }
        risk.bytes += u64::try_from(text.len()).unwrap_or_default();
        risk.first = risk.first.or(scanner.record().map(|(segment, ..)| segment));
        risk.saw_events = place_of(text).or(risk.saw_events);
        risk.end = scanner.position();
        if let Some(RiskRecord::Line(moved)) = &record {
            risk.lines.insert(moved.line.asset, text.to_owned());
            continue;
        }
        if let Some(RiskRecord::Checkpoint(checkpoint)) = &record {
            if checkpoint.events_file.is_some() {
                risk.checkpoint = Some(checkpoint_position(checkpoint).ok_or_else(not_json)?);
            }
            risk.checkpoint_seq = checkpoint.seq;
            risk.lines.clear();
            if let Some(superseded) = risk.last_checkpoint {
                risk.records.remove(superseded);
            }
            risk.last_checkpoint = Some(risk.records.len());
        }
        risk.records.push(text.to_owned());
    }
    if risk.records.is_empty() {
        let file = folders.main.join(&Segment { day: None, n: 0 }.name());
        return Err(damage(&file, 0, What::NoBeginning).into());
    }
    risk.records.extend(std::mem::take(&mut risk.lines).into_values());
    Ok(risk)
}

/// Refuses a record that says to be of another account, mode or network.
fn refuse_foreign(scanner: &Scanner<'_>, stated: [&str; 3], owner: &[(&'static str, String)]) -> Result<(), OpenError> {
    let foreign = ["account", "mode", "account_network"].into_iter().zip(stated).find_map(|(key, stated)| {
        let (_, wanted) = owner.iter().find(|(named, _)| *named == key)?;
        let wanted = Some(wanted).filter(|wanted| !stated.is_empty() && !stated.eq_ignore_ascii_case(wanted))?;
        Some(What::Foreign { key, stated: stated.to_owned(), wanted: wanted.clone() })
    });
    foreign.map_or(Ok(()), |what| Err(scanner.refuse(what)))
}

fn checkpoint_position(checkpoint: &Checkpoint) -> Option<Position> {
    Some(Position {
        segment: Segment::parse(checkpoint.events_file.as_deref()?)
            .filter(|segment| segment.stream() == Stream::Events)?,
        offset: checkpoint.events_offset?,
        chain: checkpoint.events_chain.as_deref()?.parse().ok()?,
    })
}

/// The end of the event journal as a start finds it.
struct Events {
    last_seq: u64,
    files: VecDeque<SegmentRef>,
    from: Option<Position>,
    end: Option<Position>,
    /// The last place of the risk journal that an event names.
    saw_risk: Option<Position>,
    /// Whether the last event is that of a service that ended in order.
    is_closed: bool,
}

/// Verifies the events at the journal's end, one at a time, and gives them to the index.
fn read_events(
    folders: &Folders,
    risk: &Risk,
    index: &Index,
    owner: &[(&'static str, String)],
) -> Result<Events, OpenError> {
    let (files, from) = recent(folders, risk.checkpoint.as_ref())?;
    let begin = index.begin(from).map_err(OpenError::io(folders.main.path()))?;
    let begin = begin.as_ref().map(Location::from);
    let mut events = Events { last_seq: 0, files: files.clone(), from, end: from, saw_risk: None, is_closed: false };
    let mut scanner = Scanner::new(folders, files, from);
    let mut named = vouch::Named::new([risk.checkpoint, risk.saw_events], from);
    while scanner.advance()? {
        let (Some((segment, offset, body)), Some(position)) = (scanner.record(), scanner.position()) else { break };
        let stored = StoredEvent::read(body).map_err(|fault| scanner.refuse(What::Line(fault)))?;
        if let Some(Kind::Started(started)) = stored.as_ref().map(|stored| &stored.event.kind) {
            refuse_foreign(&scanner, [&started.account, &started.mode, ""], owner)?;
        }
        if !named.reached(&position) {
            return Err(scanner.refuse(What::NotTheCheckpoint));
        }
        let location = Location { segment, offset };
        if begin.is_none_or(|begin| begin <= location) {
            let keys = stored.as_ref().map(|stored| stored.event.kind.keys()).unwrap_or_default();
            index.add(entries(&keys, location), position);
            index.write_full();
        }
        if let Some(stored) = stored {
            events.last_seq = stored.event.seq;
            events.is_closed = matches!(stored.event.kind, Kind::Stopped(_));
            events.saw_risk = stored.seen.or(events.saw_risk);
        }
        events.end = Some(position);
    }
    match named.missing() {
        Some(position) => {
            let path = folders.main.join(&position.segment.name());
            let what = What::Short { reached: position.offset, says: "the risk journal" };
            let is_there = |end: &Position| end.segment == position.segment;
            Err(damage(&path, events.end.filter(is_there).map_or(0, |end| end.offset), what).into())
        }
        None => Ok(events),
    }
}

/// The events that a start reads: verified when the journal was opened, and read again one at a time by who needs them.
#[derive(Debug)]
pub struct LastEvents {
    folders: Folders,
    files: VecDeque<SegmentRef>,
    from: Option<Position>,
    end: Option<Position>,
}

impl LastEvents {
    /// Hands them over in order; only one is in memory at a time. To be called before anything is written.
    pub fn each(&self, mut take: impl FnMut(StoredEvent)) -> Result<(), OpenError> {
        let mut scanner = Scanner::new(&self.folders, self.files.clone(), self.from);
        while scanner.position() != self.end && scanner.advance()? {
            let Some((_, _, body)) = scanner.record() else { break };
            let stored = StoredEvent::read(body).map_err(|fault| scanner.refuse(What::Line(fault)))?;
            stored.into_iter().for_each(&mut take);
        }
        Ok(())
    }
}

/// The last files of events and where in the first of them to begin: at the checkpoint, or earlier for the sake of the
/// last 1,000 events. `None` is the journal's beginning; where that was moved away, it begins behind the first line there is.
fn recent(
    folders: &Folders,
    checkpoint: Option<&Position>,
) -> Result<(VecDeque<SegmentRef>, Option<Position>), OpenError> {
    let mut segments = SegmentsNewestFirst::of(folders, Stream::Events)?;
    let (mut files, mut wanted, mut reached) = (VecDeque::new(), RECENT, false);
    while let Some(segment_ref) = segments.older()? {
        let Some((path, file)) = folders.open(&segment_ref.segment.name())? else { break };
        let failed = OpenError::io(&path);
        let (mut offset, lines) = if reached && wanted == 0 {
            (segment_ref.end, 0)
        } else {
            count_back(&file, segment_ref.end, wanted + u64::from(segment_ref.headed)).map_err(&failed)?
        };
        let headers = u64::from(segment_ref.headed && offset == 0);
        wanted = wanted.saturating_sub(lines.saturating_sub(headers));
        if let Some(position) = checkpoint.filter(|position| position.segment >= segment_ref.segment && !reached) {
            reached = true;
            offset = if position.segment == segment_ref.segment { offset.min(position.offset) } else { offset };
        } else if !reached {
            offset = 0;
        }
        let enough = reached && wanted == 0 && offset > 0;
        let segment = segment_ref.segment;
        files.push_front(segment_ref);
        if enough {
            let chain = stated_chain(&path, &file, offset)?;
            return Ok((files, Some(Position { segment, offset, chain })));
        }
    }
    let first = files.front().filter(|_| reached);
    let from = first.map(|first| behind_first_line(folders, first, checkpoint)).transpose()?.flatten();
    Ok((files, from))
}

/// The place behind the first line of the oldest file, where its owner moved older ones away: nothing that a start needs may
/// be missing, so it is not behind the checkpoint.
fn behind_first_line(
    folders: &Folders,
    first: &SegmentRef,
    checkpoint: Option<&Position>,
) -> Result<Option<Position>, OpenError> {
    let segment = first.segment;
    if !has_older(folders, Some(segment))? {
        return Ok(None);
    }
    let Some((path, file)) = folders.open(&segment.name())? else { return Ok(None) };
    let most = u64::try_from(MAX_LINE).unwrap_or(u64::MAX);
    let mut line = Vec::new();
    BufReader::new(&file).take(most).read_until(b'\n', &mut line).map_err(OpenError::io(&path))?;
    let offset = u64::try_from(line.len()).unwrap_or(u64::MAX);
    if checkpoint.is_some_and(|position| position.segment == segment && position.offset < offset) {
        return Ok(None);
    }
    let chain = stated_chain(&path, &file, offset)?;
    Ok(Some(Position { segment, offset, chain }))
}
