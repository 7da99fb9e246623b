//! Finds the decisions on a nonce or a client order id, and all that was done for them, back to the first day.
//! Reads the journal's files where they lie; needs no lock and holds up nobody.

use std::collections::VecDeque;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, TryLockError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::chain::{MAX_LINE, split};
use super::error::LookupError;
use super::folders::Folders;
use super::index::Index;
use super::index::entry::Location;
use super::unindexed::{self, Gap, Sought};
use crate::base::address::Cloid;
use crate::record::decision_view::DecisionRecord;
use crate::record::event::{Event, Keys, Kind};

/// Decisions given for one question, the oldest; a client may repeat a nonce as often as it likes.
pub const MAX_DECISIONS: usize = 256;

/// Events given for one decision.
const MAX_SERVING: usize = 1024;

/// How long a look-up waits for an index that is catching up before it searches the journal itself.
const CATCH_UP: Duration = Duration::from_millis(100);
/// How long it waits for its turn to do so, or for a spoiled index, before it is told to ask again.
const PATIENCE: Duration = Duration::from_secs(3);

/// Looks up decisions. Cheap to clone; may be used from any thread, also after the journal is closed.
#[derive(Clone)]
pub struct Lookup {
    folders: Folders,
    index: Arc<Index>,
    /// One at a time searches what the index lacks: that reads as much as the journal has there.
    turn: Arc<Mutex<()>>,
}

impl Lookup {
    pub(crate) fn new(folders: Folders, index: Arc<Index>) -> Lookup {
        Lookup { folders, index, turn: Arc::default() }
    }

    /// Every decision on a client's nonce, oldest first, at most [`MAX_DECISIONS`]. What serves an intent of the decision
    /// is among what serves it; `done` is the decision's own.
    pub fn by_nonce(&self, nonce: u64) -> Result<Vec<DecisionRecord<Value>>, LookupError> {
        self.decisions(&Sought::nonce(nonce), |keys| keys.nonce == Some(nonce))
    }

    /// Every decision that names a client order id (`0x` and 32 hex digits), in what was asked or in what was sent for it;
    /// as [`Lookup::by_nonce`].
    pub fn by_cloid(&self, cloid: &str) -> Result<Vec<DecisionRecord<Value>>, LookupError> {
        let cloid: Cloid = cloid.parse().map_err(|_| LookupError::NotACloid)?;
        self.decisions(&Sought::cloid(cloid), |keys| keys.cloids.contains(&cloid))
    }

    fn decisions(
        &self,
        sought: &Sought,
        asked: impl Fn(&Keys) -> bool,
    ) -> Result<Vec<DecisionRecord<Value>>, LookupError> {
        let mut found = Vec::new();
        for location in self.locations(sought, None, MAX_DECISIONS)? {
            let decision = self.event(location)?;
            if asked(&decision.keys()) {
                found.push(self.with_what_served(decision, location)?);
            }
        }
        Ok(found)
    }

    /// Follows what serves the decision, then what serves the intents among that.
    fn with_what_served(&self, decision: Published, location: Location) -> Result<DecisionRecord<Value>, LookupError> {
        let (mut sent, mut intents, mut recovered, mut done) = (Vec::new(), Vec::new(), Vec::new(), None);
        let own = decision.seq();
        let (mut served, mut left) = (VecDeque::from([own]), MAX_SERVING);
        while let Some(of) = served.pop_front() {
            for location in self.locations(&Sought::serving(of), Some(location), left)? {
                let event = self.event(location)?;
                if event.keys().serves != Some(of) {
                    continue;
                }
                left = left.saturating_sub(1);
                match event.kind() {
                    Some(Kind::Sent(_)) => sent.push(event),
                    Some(Kind::Recovered(_)) => recovered.push(event),
                    Some(Kind::Done(_)) if own == of => done = Some(event.text),
                    Some(Kind::Intent(_)) => {
                        served.extend(Some(event.seq()).filter(|seq| *seq > of));
                        intents.push(event);
                    }
                    _ => {}
                }
            }
        }
        let [sent, intents, recovered] = [sent, intents, recovered].map(in_order);
        Ok(DecisionRecord { decision: decision.text, sent, intents, recovered, done })
    }

    /// The places under a key. What the index lacks is waited for a moment, and then searched where it lies.
    fn locations(&self, sought: &Sought, after: Option<Location>, limit: usize) -> Result<Vec<Location>, LookupError> {
        let refuse = |why: String| LookupError::Unreadable { path: self.folders.main.join("index"), why };
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let found =
                self.index.search(sought.tag, sought.key, after, limit).map_err(|error| refuse(error.to_string()))?;
            match found {
                Some((locations, gaps)) if gaps.is_empty() => return Ok(locations),
                Some((locations, gaps)) if began.elapsed() >= CATCH_UP => match self.turn.try_lock() {
                    Err(TryLockError::WouldBlock) => {}
                    _turn => return self.with_gaps(locations, &gaps, sought, after, limit),
                },
                _ => {}
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Err(LookupError::Rebuilding)
    }

    /// The places that the index gave, with those in its gaps.
    fn with_gaps(
        &self,
        mut found: Vec<Location>,
        gaps: &[Gap],
        sought: &Sought,
        after: Option<Location>,
        limit: usize,
    ) -> Result<Vec<Location>, LookupError> {
        for gap in gaps {
            let more = unindexed::search(&self.folders, gap, sought, after, limit);
            found.extend(more.map_err(|error| LookupError::Unreadable {
                path: self.folders.main.path().to_owned(),
                why: error.to_string(),
            })?);
        }
        found.sort_unstable();
        found.dedup();
        found.truncate(limit);
        Ok(found)
    }

    /// Whether the index lacks something.
    #[cfg(test)]
    pub(crate) fn is_behind(&self) -> bool {
        self.index.gap().is_some()
    }

    /// The event that starts at a place, as it was published.
    fn event(&self, location: Location) -> Result<Published, LookupError> {
        let name = location.segment.name();
        let refuse = |path: PathBuf, why: &dyn ToString| LookupError::Unreadable { path, why: why.to_string() };
        let here = |why: &dyn ToString| refuse(self.folders.main.join(&name), why);
        let (path, file) =
            self.folders.open(&name).map_err(|error| here(&error))?.ok_or_else(|| {
                here(&"the file was moved away or compressed; bring it back to look its decisions up")
            })?;
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
        let mut text = split(&line).ok().and_then(|_| serde_json::from_slice::<Map<String, Value>>(&line).ok());
        if let Some(text) = &mut text {
            // The journal's own members.
            text.shift_remove("chain");
            text.shift_remove("seen");
        }
        text.map(Published::of).ok_or_else(|| refuse(path, &format!("there is no event at byte {}", location.offset)))
    }
}

/// An event as it was published, and what it says where its form is known.
struct Published {
    text: Value,
    event: Option<Event<'static>>,
}

impl Published {
    fn of(text: Map<String, Value>) -> Self {
        let text = Value::Object(text);
        Self { event: Event::of(&text), text }
    }

    fn seq(&self) -> u64 {
        self.event.as_ref().map_or(0, |event| event.seq)
    }

    fn kind(&self) -> Option<&Kind<'static>> {
        self.event.as_ref().map(|event| &event.kind)
    }

    fn keys(&self) -> Keys {
        self.kind().map(Kind::keys).unwrap_or_default()
    }
}

/// The events by their numbers.
fn in_order(mut events: Vec<Published>) -> Vec<Value> {
    events.sort_by_key(Published::seq);
    events.into_iter().map(|event| event.text).collect()
}
