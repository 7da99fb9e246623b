//! The questions of a start to the two journals: that each holds what the other one saw of it, and that nothing can be missing
//! at their ends. A journal of before they saw each other is taken as it is; its first event now says what the other holds.

use super::error::{OpenError, What};
use super::folders::Folders;
use super::index::entry::Location;
use super::redo;
use super::segment::{Position, Segment, damage, stated_chain};

/// Places of the event journal that the risk journal names, to be met on the way through the events.
pub(super) struct Named(Vec<Position>);

impl Named {
    /// The places that lie after `from`.
    pub(super) fn new(named: [Option<Position>; 2], from: Option<Position>) -> Named {
        Named(named.into_iter().flatten().filter(|named| from != Some(*named)).collect())
    }

    /// Takes note of a place; false where one that is named should have been met by now.
    pub(super) fn reached(&mut self, position: &Position) -> bool {
        self.0.retain(|named| named != position);
        self.0.iter().all(|named| Location::from(named) > Location::from(position))
    }

    /// One that was not met.
    pub(super) fn missing(self) -> Option<Position> {
        self.0.into_iter().next()
    }
}

/// Where the two journals end, and where each saw the other.
pub(super) struct Ends {
    /// The first file of the risk journal that was read.
    pub(super) first_risk: Option<Segment>,
    pub(super) risk: Option<Position>,
    pub(super) events: Option<Position>,
    /// The last place of the event journal that a risk record names.
    pub(super) saw_events: Option<Position>,
    /// The last place of the risk journal that an event names.
    pub(super) saw_risk: Option<Position>,
    /// Whether the last event is that of a service that ended in order.
    pub(super) is_closed: bool,
}

/// Refuses journals of which a part is missing.
pub(super) fn check(folders: &Folders, ends: &Ends) -> Result<(), OpenError> {
    let Some(seen) = ends.saw_risk else { return Ok(()) };
    // What was carried over from there was read, and follows it.
    if ends.first_risk.is_none_or(|first| seen.segment >= first) {
        check_seen(folders, ends.risk, &seen)?;
    }
    // Written to the end in order, the journals say themselves where they end. A killed process leaves that to the redo file.
    let is_closed = ends.is_closed && ends.saw_events == ends.events;
    if !is_closed && !redo::is_there(folders)? {
        return Err(damage(&folders.main.join(redo::NAME), 0, What::NoRedo).into());
    }
    Ok(())
}

/// Refuses a risk journal that is not what an event saw of it.
fn check_seen(folders: &Folders, risk: Option<Position>, seen: &Position) -> Result<(), OpenError> {
    let name = seen.segment.name();
    let path = folders.main.join(&name);
    let reached = risk.filter(|end| Location::from(end) >= Location::from(seen));
    let there = match (reached, folders.open(&name)?) {
        (Some(_), Some((path, file))) => stated_chain(&path, &file, seen.offset).ok(),
        _ => None,
    };
    match there {
        Some(chain) if chain == seen.chain => Ok(()),
        Some(_) => Err(damage(&path, seen.offset, What::NotWhatEventsSaw).into()),
        None => {
            let end = risk.filter(|end| end.segment == seen.segment).map_or(0, |end| end.offset);
            let what = What::Short { reached: seen.offset, says: "the event journal" };
            Err(damage(&path, end, what).into())
        }
    }
}
