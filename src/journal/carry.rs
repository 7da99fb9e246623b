//! Bounds the risk journal: one that has grown goes on in a new file, which begins with all records that a start needs: all but superseded checkpoints and peaks long passed.
//! The old file stays as it is, and is the owner's to compress or move away.

use super::chain::seal;
use super::folders::Folders;
use super::segment::{Position, Segment, Stream, base_text, list};
use crate::record::risk_record::RiskRecord;

/// A risk journal of more bytes than this is carried over, if at least half of them were superseded.
const MOST: u64 = 4 * 1024 * 1024;

/// Peaks that are carried over: as many as a start keeps.
const PEAKS: usize = 1_440;

/// Writes the records that matter to a file of their own, if the journal has grown to `bytes`. Where it ends then.
/// Without room on the disk it goes on as it is.
pub(super) fn carry_over(folders: &Folders, records: &[String], bytes: u64, end: Position) -> Position {
    if bytes <= MOST {
        return end;
    }
    let is_peak = |record: &&String| matches!(RiskRecord::parse(record), Some(RiskRecord::Peak(_)));
    let mut old_peaks = records.iter().filter(is_peak).count().saturating_sub(PEAKS);
    let mut kept = records.to_vec();
    kept.retain(|record| {
        let is_old = old_peaks > 0 && is_peak(&record);
        old_peaks -= usize::from(is_old);
        !is_old
    });
    let size = kept.iter().map(|record| u64::try_from(record.len()).unwrap_or(u64::MAX));
    if size.fold(0, u64::saturating_add) > bytes / 2 {
        return end;
    }
    written(folders, &kept, end).unwrap_or(end)
}

fn written(folders: &Folders, records: &[String], end: Position) -> Option<Position> {
    let newest = list(folders, Stream::Risk).ok()?.last().copied()?;
    let segment = Segment { day: None, n: newest.n.checked_add(1)? };
    let mut lines = Vec::new();
    let mut chain = seal(end.chain, &base_text(&end), &mut lines).ok()?;
    for record in records {
        chain = seal(chain, record, &mut lines).ok()?;
    }
    // Under its name only once it is whole and on disk.
    folders.main.replace(&segment.name(), &lines).ok()?;
    Some(Position { segment, offset: u64::try_from(lines.len()).ok()?, chain })
}
