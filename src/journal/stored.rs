//! Events as the journal's files hold them, taken for what they say. One whose form is not known is no reason to refuse
//! a journal whose chain holds.

use serde::de::IgnoredAny;

use super::chain::LineFault;
use super::seen::take_seen;
use super::segment::Position;
use crate::record::event::{Event, Keys};

/// An event that was read from the journal.
#[derive(Clone, Debug)]
pub struct StoredEvent {
    /// Its text, as it was published.
    pub text: String,
    /// What it says.
    pub event: Event<'static>,
    /// What the risk journal held by then, where its line says so.
    pub(super) seen: Option<Position>,
}

impl StoredEvent {
    /// Reads a body; `None` where it is JSON of no known form.
    ///
    /// # Errors
    /// Where it is no JSON.
    pub(crate) fn read(body: &[u8]) -> Result<Option<Self>, LineFault> {
        let (text, seen) = take_seen(std::str::from_utf8(body).map_err(|_| LineFault::NotJson)?);
        match Event::parse(&text) {
            Some(event) => Ok(Some(Self { text: text.into_owned(), event, seen })),
            None => serde_json::from_str::<IgnoredAny>(&text).map(|_| None).map_err(|_| LineFault::NotJson),
        }
    }
}

/// What the event in a body is found by.
///
/// # Errors
/// Where it is no JSON.
pub(crate) fn keys_of(body: &[u8]) -> Result<Keys, LineFault> {
    StoredEvent::read(body).map(|stored| stored.map(|stored| stored.event.kind.keys()).unwrap_or_default())
}
