//! The model disk: what is written survives, what waits to be written does not.

use std::collections::VecDeque;

use serde_json::Value;

use crate::guard::{Command, Config, Effects, Guard};

/// Records on their way to disk, and what is released by them.
#[derive(Debug, Default)]
pub(super) struct Batch {
    events: Vec<Value>,
    risk: Vec<Value>,
    pub(super) deeds: Vec<Command>,
    /// A checkpoint taken after these records.
    checkpoint: Option<Value>,
}

#[derive(Debug, Default)]
pub(super) struct Disk {
    pub(super) events: Vec<Value>,
    risk: Vec<Value>,
    /// The last checkpoint, and the events before it.
    checkpoint: Option<(Value, usize)>,
    pub(super) waiting: VecDeque<Batch>,
}

impl Disk {
    pub(super) fn queue(&mut self, effects: Effects, checkpoint: Option<Value>) {
        let parse = |text: &String| serde_json::from_str(text).unwrap();
        let batch = Batch {
            events: effects.records.iter().map(|record| parse(&record.text)).collect(),
            risk: effects.risk.iter().map(|record| parse(&record.text)).collect(),
            deeds: effects.after_commit,
            checkpoint,
        };
        self.waiting.push_back(batch);
    }

    /// Writes the next batch and gives back what it releases.
    pub(super) fn write(&mut self) -> Option<Vec<Command>> {
        let batch = self.waiting.pop_front()?;
        self.events.extend(batch.events);
        self.risk.extend(batch.risk);
        self.checkpoint = batch.checkpoint.map(|record| (record, self.events.len())).or(self.checkpoint.take());
        Some(batch.deeds)
    }

    /// Fails to write the next batch: its records go with the one after it, and nothing is released. A checkpoint among
    /// them is left out: it would stand for the events of both.
    pub(super) fn fail(&mut self) -> Option<Vec<Command>> {
        let batch = self.waiting.pop_front()?;
        if let Some(next) = self.waiting.front_mut() {
            next.events.splice(0..0, batch.events);
            next.risk.splice(0..0, batch.risk);
        } else {
            self.waiting.push_back(Batch { deeds: Vec::new(), ..batch });
            return Some(batch.deeds);
        }
        Some(batch.deeds)
    }

    /// A guard that knows what the disk knows. The events read begin at the checkpoint, or some before it.
    pub(super) fn guard(&self, config: Config, earlier: usize) -> Guard {
        let last = self.events.last().map_or(0, |event| event["seq"].as_u64().unwrap());
        let mut guard = Guard::new(config, last);
        self.risk.iter().for_each(|record| guard.restore_risk_json(record));
        if let Some((record, _)) = &self.checkpoint {
            guard.restore_checkpoint_json(record);
        }
        let from = self.checkpoint.as_ref().map_or(0, |(_, from)| from.saturating_sub(earlier));
        self.events[from..].iter().for_each(|event| guard.restore_json(event));
        guard
    }
}
