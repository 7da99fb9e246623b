//! One fixed-width record of the index, ordered as it is searched: what is looked for first, then where it stands.

use crate::base::address::Cloid;
use crate::base::day::Day;
use crate::journal::segment::{Position, Segment};
use crate::record::event::Keys;

/// Bytes of an entry.
pub(crate) const SIZE: usize = 20;

/// Big-endian: tag (1), key (8), day (3), segment number (2), byte offset (6). Byte order is search order.
pub(crate) type Entry = [u8; SIZE];

/// The kind of a key that an event can be found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// A decision by the client's nonce.
    Nonce,
    /// A decision by a client order id in it.
    Cloid,
    /// An event by the event that it serves.
    Serves,
}

impl Tag {
    pub(crate) const ALL: [Tag; 3] = [Tag::Nonce, Tag::Cloid, Tag::Serves];

    pub(crate) fn byte(self) -> u8 {
        match self {
            Tag::Nonce => 0,
            Tag::Cloid => 1,
            Tag::Serves => 2,
        }
    }
}

/// Where an event starts. Ordered as the journal runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Location {
    pub(crate) segment: Segment,
    pub(crate) offset: u64,
}

impl From<&Position> for Location {
    fn from(position: &Position) -> Location {
        Location { segment: position.segment, offset: position.offset }
    }
}

impl Location {
    /// The last 11 bytes of an entry. The day is stored one up: zero is before every day.
    pub(crate) fn to_bytes(self) -> [u8; 11] {
        let [_, a, b, c] = self.segment.day.map_or(0, |day| day.number() + 1).to_be_bytes();
        let [d, e] = self.segment.n.to_be_bytes();
        let [_, _, f, g, h, i, j, k] = self.offset.to_be_bytes();
        [a, b, c, d, e, f, g, h, i, j, k]
    }

    pub(crate) fn from_bytes(bytes: [u8; 11]) -> Location {
        let [a, b, c, d, e, f, g, h, i, j, k] = bytes;
        let day = u32::from_be_bytes([0, a, b, c]).checked_sub(1).and_then(Day::from_number);
        let segment = Segment { day, n: u16::from_be_bytes([d, e]) };
        Location { segment, offset: u64::from_be_bytes([0, 0, f, g, h, i, j, k]) }
    }
}

/// The entry under a key for an event at a place.
pub(crate) fn entry(tag: Tag, key: u64, location: Location) -> Entry {
    bound(tag, key, location.to_bytes())
}

/// The first and the last entry there can be under a key.
pub(crate) fn range(tag: Tag, key: u64) -> (Entry, Entry) {
    (bound(tag, key, [0; 11]), bound(tag, key, [u8::MAX; 11]))
}

fn bound(tag: Tag, key: u64, location: [u8; 11]) -> Entry {
    let mut entry = [tag.byte(); SIZE];
    let bytes = key.to_be_bytes().into_iter().chain(location);
    entry.iter_mut().skip(1).zip(bytes).for_each(|(to, from)| *to = from);
    entry
}

/// The place an entry names.
pub(crate) fn location(entry: &Entry) -> Location {
    let mut bytes = [0; 11];
    bytes.iter_mut().zip(entry.iter().skip(9)).for_each(|(to, from)| *to = *from);
    Location::from_bytes(bytes)
}

/// The tag and the key of an entry.
pub(crate) fn tag_and_key(entry: &Entry) -> (u8, u64) {
    let [tag, a, b, c, d, e, f, g, h, ..] = *entry;
    (tag, u64::from_be_bytes([a, b, c, d, e, f, g, h]))
}

/// The entries of an event at a place.
pub(crate) fn entries(keys: &Keys, location: Location) -> impl Iterator<Item = Entry> + '_ {
    let cloids = keys.cloids.iter().map(|cloid| (Tag::Cloid, fold(*cloid)));
    let others = [(Tag::Nonce, keys.nonce), (Tag::Serves, keys.serves)];
    let others = others.into_iter().filter_map(|(tag, key)| Some((tag, key?)));
    others.chain(cloids).map(move |(tag, key)| entry(tag, key, location))
}

/// A client order id as an index key. Two ids may share one: what is found is compared in full.
pub(crate) fn fold(cloid: Cloid) -> u64 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = cloid.0;
    u64::from_be_bytes([a, b, c, d, e, f, g, h]) ^ u64::from_be_bytes([i, j, k, l, m, n, o, p]).rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::day::day_of;

    #[test]
    fn places_read_back_and_sort_as_they_are() {
        let days = [None, Some(day_of(0)), Some(day_of(1_772_366_400_000)), Some(day_of(u64::MAX))];
        let segments = days.into_iter().flat_map(|day| [0, 1, u16::MAX].map(|n| Segment { day, n }));
        let locations = segments.flat_map(|segment| [0, 1, (1 << 48) - 1].map(|offset| Location { segment, offset }));
        let locations: Vec<_> = locations.collect();
        for pair in locations.windows(2) {
            assert!(pair[0] < pair[1] && pair[0].to_bytes() < pair[1].to_bytes(), "{pair:?}");
        }
        for at in locations {
            assert_eq!(Location::from_bytes(at.to_bytes()), at);
            assert_eq!(location(&entry(Tag::Cloid, u64::MAX, at)), at);
        }
    }
}
