//! A client's answer made from two: what the first reply said, and what became of the orders sent again.

use serde_json::Value;

/// The client's answer, waiting for what becomes of the orders sent again.
#[derive(Debug)]
pub(crate) struct MergedReply {
    /// The venue's first answer.
    answer: Value,
    /// The places in it of the orders sent again, in their order.
    places: Vec<usize>,
}

impl MergedReply {
    /// `answer` stands, but for the orders at these places of it.
    pub(crate) fn new(answer: Value, places: Vec<usize>) -> Self {
        Self { answer, places }
    }

    /// The same where some of the request's orders were left out of what `answer` is about, as `before` has it.
    pub(crate) fn over(before: Option<Self>, answer: Value, places: Vec<usize>) -> Self {
        let Some(before) = before else { return Self::new(answer, places) };
        let left = places.iter().filter_map(|place| before.places.get(*place).copied()).collect();
        // A refusal of the whole leaves nothing to take over.
        let answer = if statuses_of(&answer).is_some() { before.with(&answer) } else { before.answer };
        Self { answer, places: left }
    }

    /// The first answer with the statuses of the orders sent again in their places.
    pub(crate) fn with(self, again: &Value) -> Value {
        let (Some(statuses), Some(first)) = (statuses_of(again), statuses_of(&self.answer)) else {
            return again.clone();
        };
        let mut merged = first.clone();
        for (place, status) in self.places.iter().zip(statuses) {
            if let Some(slot) = merged.get_mut(*place) {
                slot.clone_from(status);
            }
        }
        let mut answer = self.answer;
        if let Some(slot) = answer.pointer_mut("/response/data/statuses") {
            *slot = Value::Array(merged);
        }
        answer
    }
}

fn statuses_of(answer: &Value) -> Option<&Vec<Value>> {
    answer.pointer("/response/data/statuses").and_then(Value::as_array)
}
