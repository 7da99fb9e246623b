//! Finds the decisions on a nonce or a client order id, and all that was done for them, back to the first day.
//! Reads the journal's files where they lie; needs no lock and holds up nobody.

use std::collections::VecDeque;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::chain::{MAX_LINE, split};
use super::error::LookupError;
use super::folder::Folders;
use super::index::Index;
use super::index::entry::{Keys, Location, Tag, fold, parse_cloid};

/// Decisions given for one question, the oldest; a client may repeat a nonce as often as it likes.
pub const MAX_DECISIONS: usize = 256;

/// Events given for one decision.
const MAX_SERVING: usize = 1024;

/// How long a look-up waits for an index that is catching up.
const PATIENCE: Duration = Duration::from_secs(1);

/// Looks up decisions. Cheap to clone; may be used from any thread, also after the journal is closed.
#[derive(Clone)]
pub struct Lookup {
    folders: Folders,
    index: Arc<Index>,
}

impl Lookup {
    pub(crate) fn new(folders: Folders, index: Arc<Index>) -> Lookup {
        Lookup { folders, index }
    }

    /// Every decision on a client's nonce, oldest first, at most [`MAX_DECISIONS`]; each
    /// `{"decision":<event>,"sent":[…],"intents":[…],"recovered":[…],"done":<event>|null}`. What serves an intent of the
    /// decision is among them; `done` is the decision's own.
    pub fn by_nonce(&self, nonce: u64) -> Result<Vec<Value>, LookupError> {
        self.decisions(Tag::Nonce, nonce, |keys| keys.nonce == Some(nonce))
    }

    /// Every decision that names a client order id (`0x` and 32 hex digits), in what was asked or in what was sent for it;
    /// shaped as [`Lookup::by_nonce`].
    pub fn by_cloid(&self, cloid: &str) -> Result<Vec<Value>, LookupError> {
        let cloid = parse_cloid(cloid).ok_or(LookupError::NotACloid)?;
        self.decisions(Tag::Cloid, fold(cloid), |keys| keys.cloids.contains(&cloid))
    }

    fn decisions(&self, tag: Tag, key: u64, asked: impl Fn(&Keys) -> bool) -> Result<Vec<Value>, LookupError> {
        let mut found = Vec::new();
        for location in self.locations(tag, key, None, MAX_DECISIONS)? {
            let decision = self.event(location)?;
            if asked(&Keys::of(&decision)) {
                found.push(self.with_what_served(decision, location)?);
            }
        }
        Ok(found)
    }

    /// Follows what serves the decision, then what serves the intents among that.
    fn with_what_served(&self, decision: Value, location: Location) -> Result<Value, LookupError> {
        let (mut sent, mut intents, mut recovered, mut done) = (Vec::new(), Vec::new(), Vec::new(), Value::Null);
        let own = seq(&decision);
        let (mut served, mut left) = (VecDeque::from_iter(own), MAX_SERVING);
        while let Some(of) = served.pop_front() {
            for location in self.locations(Tag::Serves, of, Some(location), left)? {
                let event = self.event(location)?;
                if Keys::of(&event).serves != Some(of) {
                    continue;
                }
                left = left.saturating_sub(1);
                match event.get("kind").and_then(Value::as_str) {
                    Some("sent") => sent.push(event),
                    Some("recovered") => recovered.push(event),
                    Some("done") if own == Some(of) => done = event,
                    Some("intent") => {
                        served.extend(seq(&event).filter(|seq| *seq > of));
                        intents.push(event);
                    }
                    _ => {}
                }
            }
        }
        for events in [&mut sent, &mut intents, &mut recovered] {
            events.sort_by_key(seq);
        }
        let lists = [("sent", sent), ("intents", intents), ("recovered", recovered)];
        let lists = lists.map(|(name, events)| (name, Value::Array(events)));
        let members = std::iter::once(("decision", decision)).chain(lists).chain([("done", done)]);
        Ok(Value::Object(members.map(|(name, value)| (name.to_owned(), value)).collect()))
    }

    /// A search that knows itself to be incomplete is repeated until the index has caught up.
    fn locations(
        &self,
        tag: Tag,
        key: u64,
        after: Option<Location>,
        limit: usize,
    ) -> Result<Vec<Location>, LookupError> {
        let began = Instant::now();
        loop {
            let found = self.index.search(tag, key, after, limit).map_err(|error| LookupError::Unreadable {
                path: self.folders.main.join("index"),
                why: error.to_string(),
            })?;
            if let Some(locations) = found {
                return Ok(locations);
            }
            if began.elapsed() >= PATIENCE {
                return Err(LookupError::Rebuilding);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The event that starts at a place, as it was published.
    fn event(&self, location: Location) -> Result<Value, LookupError> {
        let name = location.segment.name();
        let refuse = |path: PathBuf, why: &dyn ToString| LookupError::Unreadable { path, why: why.to_string() };
        let here = |why: &dyn ToString| refuse(self.folders.main.join(&name), why);
        let (path, file) =
            self.folders.open(&name).map_err(|error| here(&error))?.ok_or_else(|| here(&"the file is gone"))?;
        let mut line = Vec::with_capacity(4096);
        let mut block = [0; 4096];
        let end = loop {
            let at = location.offset + u64::try_from(line.len()).unwrap_or(0);
            let read = file.read_at(&mut block, at).map_err(|error| refuse(path.clone(), &error))?;
            let new = block.get(..read).unwrap_or_default();
            line.extend_from_slice(new);
            if let Some(end) = new.iter().position(|byte| *byte == b'\n') {
                break line.len() - new.len() + end;
            }
            if read == 0 || line.len() > MAX_LINE {
                return Err(refuse(path, &format!("there is no line at byte {}", location.offset)));
            }
        };
        line.truncate(end);
        let mut event = split(&line).ok().and_then(|_| serde_json::from_slice::<Map<String, Value>>(&line).ok());
        if let Some(event) = &mut event {
            event.shift_remove("chain");
        }
        event.map(Value::Object).ok_or_else(|| refuse(path, &format!("there is no event at byte {}", location.offset)))
    }
}

fn seq(event: &Value) -> Option<u64> {
    event.get("seq").and_then(Value::as_u64)
}
